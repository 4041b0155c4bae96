"""A map as one HTML file: what lies under the pointer, poses to be pasted into a scenario, and a route if there is one.

What the page says of a point is what `map.query.at` says: the same search over the same lanes, thinned
(`lane_columns`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.lane_columns import add_lanes
from tuling_fsm.viewer.origin import PageOrigin, origin_of
from tuling_fsm.viewer.road_columns import add_roads, simplified, stop_line_ends
from tuling_fsm.viewer.routes import ROUTE_TOLERANCE_M
from tuling_fsm.viewer.single_file import single_file


def write_map_page(file: Path, road_map: RoadMap, route: Route | None = None, ends: tuple[Pose, ...] = ()) -> None:
    """Write the page.

    Args:
        file: where to.
        road_map: all of it is shown.
        route: shown in it, if there is one.
        ends: places that were asked for, start and goal; they are marked even where no route joins them.

    Raises:
        InputError: the file cannot be written.
    """
    title = f"{road_map.name}: a route" if ends else f"{road_map.name}: the map"
    write_file(file, single_file("map", title, [map_data(road_map, route, ends)]))


def map_data(road_map: RoadMap, route: Route | None = None, ends: tuple[Pose, ...] = ()) -> bytes:
    """What the page shows, packed."""
    columns, origin = ColumnWriter(), origin_of(road_map)
    number = {lane_id: row for row, lane_id in enumerate(road_map.lanes)}
    header = {
        "format": 1,
        "name": road_map.name,
        "origin": origin._asdict(),
        "left_hand": road_map.left_hand,
        "bounds": origin.flat(np.array(road_map.bounds)),
        "roads": add_roads(columns, road_map, origin),
        "lanes": add_lanes(columns, road_map, origin),
        "signals": list(_signals(road_map, origin)),
        "stop_lines": list(_stop_lines(road_map, origin, number)),
        "slots": [_placed(slot.id, slot.pose, origin) for slot in road_map.slots],
        "route": None if route is None else _route(route, origin, number),
        "ends": [origin.flat(np.array((pose.x, pose.y)), 3) for pose in ends],
    }
    return columns.packed(header)


def _placed(name: str, pose: Pose, origin: PageOrigin) -> dict[str, object]:
    x, y = origin.flat(np.array((pose.x, pose.y)))
    return {"id": name, "x": x, "y": y, "heading": round(pose.heading, 4)}


def _signals(road_map: RoadMap, origin: PageOrigin) -> Iterator[dict[str, object]]:
    for signal in road_map.signals.values():
        kind = f"{signal.type} {signal.subtype}".replace(" -1", "").strip()
        more = {"number": signal.number, "type": kind, "dynamic": signal.dynamic, "controller": signal.controller}
        yield {**_placed(signal.id, signal.pose, origin), **more}


def _stop_lines(road_map: RoadMap, origin: PageOrigin, number: dict[LaneId, int]) -> Iterator[dict[str, object]]:
    for line in road_map.stop_lines:
        ends, (lane, s) = stop_line_ends(line, origin), road_map.place_of(line)
        yield {"lane": number[lane], "s": round(s, 2), "kind": line.kind, "signal": line.signal, "ends": ends}


def _route(route: Route, origin: PageOrigin, number: dict[LaneId, int]) -> dict[str, object]:
    """Its line as x and y in turn, its length (m), its lanes by row and where they begin along it (m)."""
    return {
        "length": round(route.length, 2),
        "xy": origin.flat(simplified(route.reference.xy, ROUTE_TOLERANCE_M)),
        "lanes": [
            {"lane": number[each.lane], "s": round(each.s_from, 2), "change": each.change} for each in route.lanes
        ],
    }
