"""Crossroads with a car on one arm, and others that come in on the other arms."""

from __future__ import annotations

import math
from pathlib import Path

from crossroads import HALF_M, LIGHT, STOP_SIGN, YIELD_SIGN, crossroads
from scenes import row
from traffic_drive import Drive, route_between

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap

EAST, NORTH, WEST, SOUTH = 0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi
IN = {
    "S": Pose(1.75, -110.0, NORTH),
    "N": Pose(-1.75, 110.0, SOUTH),
    "E": Pose(110.0, 1.75, WEST),
    "W": Pose(-110.0, -1.75, EAST),
}
OUT = {
    "S": Pose(-1.75, -110.0, SOUTH),
    "N": Pose(1.75, 110.0, NORTH),
    "E": Pose(110.0, -1.75, EAST),
    "W": Pose(-110.0, 1.75, WEST),
}
ENTRY_S = 110.0 - HALF_M
"""Arc length at which every route enters the junction."""


def crossings(folder: Path) -> dict[str, RoadMap]:
    """The same crossroads without signs, with lights, and with signs on two arms."""
    return {
        "plain": crossroads(folder, "plain"),
        "lit": crossroads(folder, "lit", dict.fromkeys("ENWS", LIGHT)),
        "minor": crossroads(folder, "minor", {"S": YIELD_SIGN, "N": YIELD_SIGN}),
        "stops": crossroads(folder, "stops", {"E": STOP_SIGN, "W": STOP_SIGN}),
    }


def drive_from(road_map: RoadMap, start: str, goal: str, gap: float, v: float) -> Drive:
    """The car with its front bumper `gap` before the junction."""
    drive = Drive(road_map, route_between(road_map, IN[start], OUT[goal]), v=v)
    drive.put_front(ENTRY_S - gap)
    return drive


def other(number: int, arm: str, gap: float, v: float) -> tuple[float, ...]:
    """A car that comes in on an arm with its front bumper `gap` before the junction."""
    pose = IN[arm]
    along = 110.0 - HALF_M - gap - 2.25
    x, y = pose.x + along * math.cos(pose.heading), pose.y + along * math.sin(pose.heading)
    return row(number, x, y, pose.heading, v)
