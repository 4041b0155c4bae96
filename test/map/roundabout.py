"""A roundabout of one lane about the origin, written as four junctions with short links between them."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

from map import xodr
from tuling_fsm.map.road_map import RoadMap

RADIUS_M, LANE_M = 16.0, 3.5
ARM_FROM_M, ARM_M = 30.0, 80.0
INNER_M = RADIUS_M - 0.5 * LANE_M
KIND = '<type s="0" type="town"><speed max="50" unit="km/h"/></type>'

End = tuple[float, float, float]
"""Place and heading of a reference line where a way through a junction begins or ends."""


def roundabout(folder: Path, link_m: float) -> RoadMap:
    """It is driven counter-clockwise; between two of its junctions lie `link_m` of lane.

    The arms are the roads 1 to 4, which lead away to the east, north, west and south, one lane each way: +1 comes in.
    Links are the roads 11 to 14, each behind the arm of its last digit; that arm's junction is 21 to 24. In this lead
    101, 102, ... on along the ring, 201, 202, ... out of it and 301, 302, ... into it.
    """
    half = 0.25 * math.pi - 0.5 * link_m / RADIUS_M
    roads, junctions = [], []
    for k in range(4):
        at, behind, before = 0.5 * math.pi * k, k + 1, (k - 1) % 4 + 1
        arm, junction = (ARM_FROM_M * math.cos(at), ARM_FROM_M * math.sin(at)), f"2{behind}"
        enters, leaves = _on_ring(at - half), _on_ring(at + half)
        out = xodr.road_link("junction", junction, which="predecessor")
        roads.append(_road(f"{behind}", xodr.geometry(0.0, *arm, at, ARM_M), ARM_M, out, both=True))
        on = xodr.road_link("junction", f"2{(k + 1) % 4 + 1}")
        length = link_m * INNER_M / RADIUS_M
        roads.append(_road(f"1{behind}", _arc(leaves, length), length, out + on))
        ring = 2.0 * half * INNER_M
        ways = (
            (f"10{behind}", _arc(enters, ring), ring, f"1{before}", f"1{behind}", -1),
            (f"20{behind}", *_bend(enters, (*arm, at)), f"1{before}", f"{behind}", -1),
            (f"30{behind}", *_bend((*arm, at + math.pi), leaves), f"{behind}", f"1{behind}", 1),
        )
        connections = ""
        for number, geometry, long, origin, to, lane in ways:
            contact = "start" if lane > 0 else "end"
            link = xodr.road_link("road", origin, contact, "predecessor") + xodr.road_link("road", to)
            roads.append(_road(number, geometry, long, link, junction, lane))
            connections += (
                f'<connection id="{number}" incomingRoad="{origin}" connectingRoad="{number}" contactPoint="start">'
                f'<laneLink from="{lane}" to="-1"/></connection>'
            )
        junctions.append(f'<junction id="{junction}">{connections}</junction>')
    return xodr.read(folder, *roads, *junctions)


def _on_ring(at: float) -> End:
    return INNER_M * math.cos(at), INNER_M * math.sin(at), at + 0.5 * math.pi


def _arc(begin: End, length: float) -> str:
    return xodr.geometry(0.0, *begin, length, f'<arc curvature="{1.0 / INNER_M!r}"/>')


def _bend(begin: End, end: End) -> tuple[str, float]:
    """A cubic curve, and its length (m)."""
    reach = math.dist(begin[:2], end[:2])
    cosine, sine = math.cos(begin[2]), math.sin(begin[2])
    u, v = (
        (end[0] - begin[0]) * cosine + (end[1] - begin[1]) * sine,
        (end[1] - begin[1]) * cosine - (end[0] - begin[0]) * sine,
    )
    turn = end[2] - begin[2]
    du, dv = reach * math.cos(turn), reach * math.sin(turn)
    a_u, b_u, a_v, b_v = 3.0 * u - 2.0 * reach - du, reach + du - 2.0 * u, 3.0 * v - dv, dv - 2.0 * v
    points = [(p * (reach + p * (a_u + p * b_u)), p * p * (a_v + p * b_v)) for p in (k / 1000.0 for k in range(1001))]
    length = math.fsum(math.dist(one, other) for one, other in pairwise(points))
    shape = (
        f'<paramPoly3 pRange="normalized" aU="0" bU="{reach!r}" cU="{a_u!r}" dU="{b_u!r}" '
        f'aV="0" bV="0" cV="{a_v!r}" dV="{b_v!r}"/>'
    )
    return xodr.geometry(0.0, *begin, length, shape), length


def _road(
    number: str, geometry: str, length: float, link: str, junction: str = "-1", before: int = -1, both: bool = False
) -> str:
    """Of one lane, or `both`; `before` is the number of the lane that leads into it."""
    numbers = (1, -1) if both else (-1,)
    lanes = [
        xodr.lane(n, LANE_M, mark="solid", links=((before,), (-1,)) if junction != "-1" or not both else ((), ()))
        for n in numbers
    ]
    return xodr.road(
        [xodr.section(lanes, centre="broken" if both else "solid")], number, geometry, length, junction, link, kind=KIND
    )
