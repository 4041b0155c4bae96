"""A one-way road along x, a junction from 100 m to 124 m with a road for each way through, and the road behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from map import xodr
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route

LANE_M = 3.5
BEGIN_M, END_M = 100.0, 124.0


def middle(lane: int) -> float:
    """y of the middle of a lane, the left one being 1, m."""
    return -LANE_M * (lane - 0.5)


def way(start: int, end: int) -> LaneId:
    """The connecting lane from a lane to a lane, both counted from the left."""
    return LaneId(f"{start}0{end}", 0, -1)


def ways(
    folder: Path,
    *through: tuple[int, int],
    lanes: tuple[int, int] = (2, 2),
    aside: Mapping[tuple[int, int], float] = {},
) -> RoadMap:
    """`lanes` lead to the junction and away from it, `through` says from which to which; some swing out to the right by
    `aside` (m) halfway. Every lane before the junction has a light of its number at 99 m.
    """
    parts = [_road("1", 0.0, lanes[0], "successor", _lights(lanes[0])), _road("2", END_M, lanes[1], "predecessor")]
    connections = []
    for start, end in through:
        number = way(start, end).road
        parts.append(_connecting(number, start, end, aside.get((start, end), 0.0)))
        connections.append(
            f'<connection id="{number}" incomingRoad="1" connectingRoad="{number}" contactPoint="start">'
            f'<laneLink from="{-start}" to="-1"/></connection>'
        )
    return xodr.read(folder, *parts, f'<junction id="9">{"".join(connections)}</junction>')


def route_in(road_map: RoadMap, start: int, end: int) -> Route:
    """From 10 m on a lane before the junction to 90 m on one behind it."""
    there = Pose(END_M + 90.0, middle(end), 0.0)
    found = plan_route(road_map, Pose(10.0, middle(start), 0.0), there).route
    assert found is not None
    return found


def _road(number: str, x: float, lanes: int, which: str, inside: str = "") -> str:
    texts = [xodr.lane(-n, mark="broken" if n < lanes else "solid") for n in range(1, lanes + 1)]
    plan, link = xodr.geometry(0.0, x, 0.0, 0.0, 100.0), xodr.road_link("junction", "9", which=which)
    return xodr.road([xodr.section(texts)], number=number, geometries=plan, link=link, inside=inside)


def _connecting(number: str, start: int, end: int, aside: float) -> str:
    y0, y1 = -LANE_M * (start - 1), -LANE_M * (end - 1)
    points = [(BEGIN_M, y0), (0.5 * (BEGIN_M + END_M), 0.5 * (y0 + y1) - aside), (END_M, y1)]
    plan, s = "", 0.0
    for (ax, ay), (bx, by) in pairwise(points):
        length = math.hypot(bx - ax, by - ay)
        plan += xodr.geometry(s, ax, ay, math.atan2(by - ay, bx - ax), length)
        s += length
    link = xodr.road_link("road", "1", "end", "predecessor") + xodr.road_link("road", "2", "start")
    lanes = [xodr.section([xodr.lane(-1, links=((-start,), (-end,)))])]
    return xodr.road(lanes, number=number, geometries=plan, length=s, junction="9", link=link)


def _lights(lanes: int) -> str:
    lights = "".join(
        f'<signal id="{n}" s="99" t="{middle(n)}" orientation="+" dynamic="yes" type="1000001" subtype="-1">'
        f'<validity fromLane="{-n}" toLane="{-n}"/></signal>'
        for n in range(1, lanes + 1)
    )
    return f"<signals>{lights}</signals>"
