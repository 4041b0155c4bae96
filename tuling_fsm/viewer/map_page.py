"""A map as one HTML file: what lies under the pointer, poses to be pasted into a scenario, and a route if there is one.

What the page says of a point is what `map.query.at` says: the same search over the same lanes, thinned
(`lane_columns`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import shapely

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.lane_columns import add_lanes
from tuling_fsm.viewer.road_columns import add_roads
from tuling_fsm.viewer.single_file import single_file

ROUTE_TOLERANCE_M = 0.05
"""How far the drawn route may lie from the planned one."""


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
    columns = ColumnWriter()
    number = {lane_id: row for row, lane_id in enumerate(road_map.lanes)}
    header = {
        "format": 1,
        "name": road_map.name,
        "left_hand": road_map.left_hand,
        "bounds": [round(value, 2) for value in road_map.bounds],
        "roads": add_roads(columns, road_map),
        "lanes": add_lanes(columns, road_map),
        "signals": list(_signals(road_map)),
        "stop_lines": list(_stop_lines(road_map, number)),
        "slots": [_placed(slot.id, slot.pose) for slot in road_map.slots],
        "route": None if route is None else _route(route, number),
        "ends": [[round(pose.x, 3), round(pose.y, 3)] for pose in ends],
    }
    return columns.packed(header)


def _placed(name: str, pose: Pose) -> dict[str, object]:
    return {"id": name, "x": round(pose.x, 2), "y": round(pose.y, 2), "heading": round(pose.heading, 4)}


def _signals(road_map: RoadMap) -> Iterator[dict[str, object]]:
    for signal in road_map.signals.values():
        kind = f"{signal.type} {signal.subtype}".replace(" -1", "").strip()
        more = {"number": signal.number, "type": kind, "dynamic": signal.dynamic, "controller": signal.controller}
        yield {**_placed(signal.id, signal.pose), **more}


def _stop_lines(road_map: RoadMap, number: dict[LaneId, int]) -> Iterator[dict[str, object]]:
    for line in road_map.stop_lines:
        ends = [round(value, 2) for value in (line.x0, line.y0, line.x1, line.y1)]
        yield {"lane": number[line.lane], "s": round(line.s, 2), "kind": line.kind, "signal": line.signal, "ends": ends}


def _route(route: Route, number: dict[LaneId, int]) -> dict[str, object]:
    """Its line as x and y in turn, its length (m), its lanes by row and where they begin along it (m)."""
    return {
        "length": round(route.length, 2),
        "xy": np.round(_simplified(route.reference.xy), 2).ravel().tolist(),
        "lanes": [
            {"lane": number[each.lane], "s": round(each.s_from, 2), "change": each.change} for each in route.lanes
        ],
    }


def _simplified(line: FloatArray) -> FloatArray:
    if len(line) < 2:
        return line
    return np.asarray(shapely.get_coordinates(shapely.simplify(shapely.linestrings(line), ROUTE_TOLERANCE_M)))
