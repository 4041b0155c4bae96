"""Junctions for tests: a crossing of four one-lane-each-way arms, and a straight one-way road of several lanes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from map import xodr
from tuling_fsm.map.road_map import RoadMap

HALF_M = 12.0
ARM_M = 80.0


def crossing(folder: Path, inside: Mapping[int, str] | None = None, *more: str) -> RoadMap:
    """Arms 1 to 4 lead away from the origin to the east, north, west and south; junction 9 joins them.

    `inside` gives further elements of a road by its number; connecting roads are numbered 100 * from + to.
    """
    inside = inside or {}
    parts = []
    for arm in range(1, 5):
        angle = 0.5 * math.pi * (arm - 1)
        plan = xodr.geometry(0.0, HALF_M * math.cos(angle), HALF_M * math.sin(angle), angle, ARM_M)
        parts.append(
            xodr.road(
                [xodr.section([xodr.lane(1), xodr.lane(-1)], centre="solid")],
                number=str(arm),
                geometries=plan,
                length=ARM_M,
                link=xodr.road_link("junction", "9", which="predecessor"),
                inside=inside.get(arm, ""),
            )
        )
    connections = []
    for one in range(1, 5):
        for other in range(1, 5):
            if one != other:
                parts.append(_connecting(one, other, inside.get(100 * one + other, "")))
                connections.append(
                    f'<connection id="{100 * one + other}" incomingRoad="{one}" connectingRoad="{100 * one + other}" '
                    'contactPoint="start"><laneLink from="1" to="-1"/></connection>'
                )
    return xodr.read(folder, *parts, f'<junction id="9">{"".join(connections)}{inside.get(9, "")}</junction>', *more)


def _connecting(one: int, other: int, inside: str) -> str:
    angle = 0.5 * math.pi * (one - 1)
    turn = {1: 0.5 * math.pi * -1.0, 2: 0.0, 3: 0.5 * math.pi}[(other - one) % 4]
    length = 2.0 * HALF_M if turn == 0.0 else HALF_M * 0.5 * math.pi
    shape = xodr.LINE if turn == 0.0 else f'<arc curvature="{math.copysign(1.0 / HALF_M, turn)}"/>'
    x, y = HALF_M * math.cos(angle), HALF_M * math.sin(angle)
    return xodr.road(
        [xodr.section([xodr.lane(-1, links=((1,), (-1,)))])],
        number=str(100 * one + other),
        geometries=xodr.geometry(0.0, x, y, angle + math.pi, length, shape),
        length=length,
        junction="9",
        link=xodr.road_link("road", str(one), "start", "predecessor") + xodr.road_link("road", str(other), "start"),
        inside=inside,
    )


def straight(folder: Path, lanes: int = 3, length: float = 400.0, mark: str = "broken") -> RoadMap:
    """A one-way road along x; lane -1 is the left one."""
    texts = [xodr.lane(-n, mark=mark if n < lanes else "solid") for n in range(1, lanes + 1)]
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, length)
    return xodr.read(folder, xodr.road([xodr.section(texts)], geometries=plan, length=length))
