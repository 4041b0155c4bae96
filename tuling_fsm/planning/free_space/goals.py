"""Which poses are usable: the goal itself, or the nearest free one within its tolerance."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.planning.free_space.sweep import Body
from tuling_fsm.planning.free_space.walls import Walls, occupied

RINGS, SPOKES = 4, 12
"""Distances and directions in which a goal is moved."""
TURNS = (0.0, 0.5, -0.5, 1.0, -1.0)
"""Shares of the heading tolerance by which it is turned."""
HEADINGS = 12
"""Headings that are tried where any will do."""


def shifts(tolerance: float) -> list[tuple[float, float]]:
    """Offsets (m) from a goal, nearest first."""
    found = [(0.0, 0.0)]
    for ring in range(1, RINGS + 1):
        radius = tolerance * ring / RINGS
        if radius > 0.0:
            angles = 2.0 * math.pi * np.arange(SPOKES) / SPOKES
            found += [(radius * elementary.cos(a), radius * elementary.sin(a)) for a in angles]
    return found


def usable_goals(request: FreeSpace, walls: Walls, body: Body, goal: FloatArray) -> list[tuple[float, float, float]]:
    """Free poses as (ahead, left, turn) against the goal, all at the place nearest to it that has one; empty when
    none has.

    `goal` (3,) is in the frame of the walls. A free heading gives up to `HEADINGS` poses, a given one the pose turned
    least.
    """
    if request.free_heading:
        turns = [2.0 * math.pi * k / HEADINGS for k in range(HEADINGS)]
    else:
        turns = [share * request.goal_heading_tolerance for share in TURNS]
        turns = turns if request.goal_heading_tolerance > 0.0 else turns[:1]
    c, s = elementary.cos(goal[2]), elementary.sin(goal[2])
    for ahead, left in shifts(request.goal_tolerance):
        x, y = goal[0] + c * ahead - s * left, goal[1] + s * ahead + c * left
        free = [(ahead, left, turn) for turn in turns if not occupied(walls, body, x, y, goal[2] + turn)]
        if free:
            return free if request.free_heading else free[:1]
    return []


def moved(goal: Pose, offset: tuple[float, float, float], mirror: float) -> Pose:
    """A goal of `map` moved by an offset that was found in a frame mirrored or not."""
    ahead, left, turn = offset[0], mirror * offset[1], mirror * offset[2]
    c, s = elementary.cos(goal.heading), elementary.sin(goal.heading)
    return Pose(goal.x + c * ahead - s * left, goal.y + s * ahead + c * left, goal.heading + turn)


def arrived(request: FreeSpace, pose: Pose) -> bool:
    """Whether a pose is within the tolerance of the goal."""
    near = elementary.hypot(pose.x - request.goal.x, pose.y - request.goal.y) <= request.goal_tolerance
    turn = abs(math.remainder(pose.heading - request.goal.heading, 2.0 * math.pi))
    return near and (request.free_heading or turn <= request.goal_heading_tolerance)
