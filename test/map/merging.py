"""Two lanes along x that lead into one connecting lane, and each into another, with lights and lines of their own."""

from __future__ import annotations

import math
from pathlib import Path

from map import xodr
from map.ways import BEGIN_M, END_M, LANE_M, middle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap

SHARED = LaneId("30", 0, -1)
"""The connecting lane that both lanes lead into."""
LINES_M = {1: 92.0, 2: 96.0}
"""Where the line of each lane before the junction is painted, m."""
LIGHTS = {1: (11, 12), 2: (21, 22)}
"""Of each lane: the light of the way into the shared lane, and that of its other way."""


def merging(folder: Path) -> RoadMap:
    """Lanes 1 (left) and 2 of road 1 lead over road 30 to lane 1 of road 2, and over 31 and 32 to lanes 1 and 2."""
    lights = "".join(
        f'<signal id="{number}" s="{LINES_M[lane]}" t="{middle(lane)}" orientation="+" dynamic="yes" type="1000001" '
        f'subtype="-1"><validity fromLane="{-lane}" toLane="{-lane}"/></signal>'
        for lane, (number, _) in LIGHTS.items()
    )
    parts = [
        _road("1", 0.0, "successor", f"<signals>{lights}</signals>"), _road("2", END_M, "predecessor"),
        _connecting("30", 1, 1, (-1, -2)), _connecting("31", 1, 1, (-1,), _light(12)),
        _connecting("32", 2, 2, (-2,), _light(22)),
    ]  # fmt: skip
    links = {"30": (-1, -2), "31": (-1,), "32": (-2,)}
    connections = "".join(
        f'<connection id="{road}" incomingRoad="1" connectingRoad="{road}" contactPoint="start">'
        + "".join(f'<laneLink from="{lane}" to="-1"/>' for lane in lanes)
        + "</connection>"
        for road, lanes in links.items()
    )
    return xodr.read(folder, *parts, f'<junction id="9">{connections}</junction>')


def _light(number: int) -> str:
    head = f'<signal id="{number}" s="0" t="-1.75" orientation="+" dynamic="yes" type="1000001" subtype="-1"/>'
    return f"<signals>{head}</signals>"


def _road(number: str, x: float, which: str, inside: str = "") -> str:
    lanes = [xodr.lane(-1, mark="broken"), xodr.lane(-2)]
    plan, link = xodr.geometry(0.0, x, 0.0, 0.0, 100.0), xodr.road_link("junction", "9", which=which)
    return xodr.road([xodr.section(lanes)], number=number, geometries=plan, link=link, inside=inside)


def _connecting(number: str, start: int, end: int, before: tuple[int, ...], inside: str = "") -> str:
    y0, y1 = -LANE_M * (start - 1), -LANE_M * (end - 1)
    length = math.hypot(END_M - BEGIN_M, y1 - y0)
    plan = xodr.geometry(0.0, BEGIN_M, y0, math.atan2(y1 - y0, END_M - BEGIN_M), length)
    link = xodr.road_link("road", "1", "end", "predecessor") + xodr.road_link("road", "2", "start")
    lanes = [xodr.section([xodr.lane(-1, links=(before, (-end,)))])]
    return xodr.road(lanes, number=number, geometries=plan, length=length, junction="9", link=link, inside=inside)
