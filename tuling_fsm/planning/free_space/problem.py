"""A free-space problem in the frame of its goal, mirrored so that the start lies to the left; and which goals are free.

In that frame a case that is moved, turned or mirrored is the same case, digit for digit but for the rounding of the
input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.analytic_expansion import SearchArea, SearchCosts
from tuling_fsm.planning.free_space.collision import InflatedFootprint, SegmentGrid, bin_segments, occupied
from tuling_fsm.planning.free_space.heuristic import ReedsSheppTable, build_reeds_shepp_table
from tuling_fsm.planning.parameters import FreeSpaceParameters

REACH = 2.0
"""How far (m) the moves from a node look."""
TABLE_SIZE, TABLE_STEP, TABLE_HEADINGS = 15.0, 0.5, 36
ROOM = 8.0
"""What lies farther than this (m) outside the area cannot be touched by a car inside it."""


class GoalFrame(NamedTuple):
    """Origin (m), its direction and -1 where y is mirrored: how local coordinates lie in `map`."""

    x: float
    y: float
    heading: float
    mirror: float

    def to_local(self, points: FloatArray) -> FloatArray:
        """Points (..., 2) of `map` in this frame."""
        s, c = elementary.sin_cos(self.heading)
        dx, dy = points[..., 0] - self.x, points[..., 1] - self.y
        return np.stack((c * dx + s * dy, self.mirror * (c * dy - s * dx)), axis=-1)

    def point_to_local(self, x: float, y: float) -> tuple[float, float]:
        """A point of `map` in this frame."""
        s, c = elementary.sin_cos(self.heading)
        dx, dy = x - self.x, y - self.y
        return c * dx + s * dy, self.mirror * (c * dy - s * dx)

    def pose_to_local(self, pose: Pose) -> FloatArray:
        """A pose of `map` in this frame, (3,), with its heading in [-pi, pi]."""
        turn = math.remainder(pose.heading - self.heading, 2.0 * math.pi)
        return np.array((*self.point_to_local(pose.x, pose.y), self.mirror * turn))

    def to_map(self, x: FloatArray, y: FloatArray, heading: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Local coordinates in `map`."""
        s, c = elementary.sin_cos(self.heading)
        y = self.mirror * y
        return self.x + c * x - s * y, self.y + s * x + c * y, self.heading + self.mirror * heading


@array_kernel
def segments_to_local(frame: GoalFrame, segments: FloatArray) -> FloatArray:
    """Segments (M, 4) of `map` in a frame."""
    s, c = elementary.sin_cos(frame.heading)
    local = np.empty((len(segments), 4))
    for m in range(len(segments)):
        for i in (0, 2):
            dx, dy = segments[m, i] - frame.x, segments[m, i + 1] - frame.y
            local[m, i], local[m, i + 1] = c * dx + s * dy, frame.mirror * (c * dy - s * dx)
    return local


@dataclass(frozen=True, eq=False)
class FreeSpaceProblem:
    """Start (3,), goals (G, 3), walls and area in the local frame; `gear` the car rolls in (0: it stands)."""

    frame: GoalFrame
    walls: SegmentGrid
    area: SearchArea
    rules: SearchCosts
    table: ReedsSheppTable
    start: FloatArray
    goals: FloatArray
    gear: int


@functools.lru_cache(maxsize=8)
def cost_table(radius: float, gear_cost: float) -> ReedsSheppTable:
    """The table of Reeds-Shepp costs of a car, kept by its two numbers: a constant, which nothing writes to."""
    return ReedsSheppTable(
        build_reeds_shepp_table(radius, gear_cost, TABLE_SIZE, TABLE_STEP, TABLE_HEADINGS), TABLE_STEP
    )


def body_of(vehicle: Vehicle, margin: float) -> InflatedFootprint:
    """The footprint grown by a margin (m)."""
    return InflatedFootprint(vehicle.rear_overhang + margin, vehicle.front + margin, vehicle.width / 2.0 + margin)


def full_steer(vehicle: Vehicle) -> float:
    """Steering angle (rad) of the tightest arc that is driven: its centre lies outside the car with any margin."""
    least_radius = vehicle.width / 2.0 + 1.1
    return min(vehicle.max_steer, elementary.atan(vehicle.wheelbase / least_radius))


def pose_frame(start: Pose, goal: Pose) -> GoalFrame:
    """The frame of the goal, mirrored where the start lies to its right."""
    frame = GoalFrame(goal.x, goal.y, goal.heading, 1.0)
    _, y, turn = frame.pose_to_local(start)
    right = y < 0.0 or (y == 0.0 and turn < 0.0)
    return frame._replace(mirror=-1.0) if right else frame


def build_problem(
    start: Pose,
    goals: Sequence[Pose],
    segments: FloatArray,
    vehicle: Vehicle,
    parameters: FreeSpaceParameters,
    gear: int = 0,
    reverse: bool = True,
) -> FreeSpaceProblem:
    """The problem of driving from a start to any of some goals among segments (M, 4), all in `map`."""
    frame = pose_frame(start, goals[0])
    local = segments_to_local(frame, segments)
    area, x0, y0, x1, y1 = _area(frame, start, goals, parameters.search_margin)
    curvature = elementary.tan(full_steer(vehicle)) / vehicle.wheelbase
    return FreeSpaceProblem(
        frame=frame,
        walls=bin_segments(local, x0 - ROOM, y0 - ROOM, x1 + ROOM, y1 + ROOM),
        area=area,
        rules=SearchCosts(curvature, parameters.gear_cost, parameters.greed, REACH, 0 if reverse else 1),
        table=cost_table(1.0 / curvature, parameters.gear_cost),
        start=frame.pose_to_local(start),
        goals=np.array([frame.pose_to_local(goal) for goal in goals]),
        gear=gear,
    )


def _area(
    frame: GoalFrame, start: Pose, goals: Sequence[Pose], margin: float
) -> tuple[SearchArea, float, float, float, float]:
    """The box around start and goals along the axes of `map`, and its bounds in the local frame."""
    poses = (start, *goals)
    u0, u1 = min(pose.x for pose in poses) - margin, max(pose.x for pose in poses) + margin
    v0, v1 = min(pose.y for pose in poses) - margin, max(pose.y for pose in poses) + margin
    s, c = elementary.sin_cos(frame.heading)
    box = (u0 - frame.x, v0 - frame.y, u1 - frame.x, v1 - frame.y)
    area = SearchArea(c, -s * frame.mirror, s, c * frame.mirror, *box)
    xs, ys = zip(*(frame.point_to_local(u, v) for u in (u0, u1) for v in (v0, v1)), strict=True)
    return area, min(xs), min(ys), max(xs), max(ys)


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


def usable_goals(
    request: FreeSpace,
    walls: SegmentGrid,
    body: InflatedFootprint,
    goal: FloatArray,
    taken: Callable[[float, float], bool],
) -> list[tuple[float, float, float]]:
    """Free poses as (ahead, left, turn) against the goal, all at the place nearest to it that has one; empty when
    none has.

    `goal` (3,) is in the frame of the walls; `taken` tells of a place so far ahead of it and to its left (m) whether it
    is inside a thing, whose edges a body may be clear of. A free heading gives up to `HEADINGS` poses, a given one the
    pose turned least.
    """
    if request.free_heading:
        turns = [2.0 * math.pi * k / HEADINGS for k in range(HEADINGS)]
    else:
        turns = [share * request.goal_heading_tolerance for share in TURNS]
        turns = turns if request.goal_heading_tolerance > 0.0 else turns[:1]
    s, c = elementary.sin_cos(goal[2])
    for ahead, left in shifts(request.goal_tolerance):
        x, y = goal[0] + c * ahead - s * left, goal[1] + s * ahead + c * left
        free = [(ahead, left, turn) for turn in turns if not occupied(walls, body, x, y, goal[2] + turn)]
        if free and not taken(ahead, left):
            return free if request.free_heading else free[:1]
    return []


def moved(goal: Pose, offset: tuple[float, float, float], mirror: float) -> Pose:
    """A goal of `map` moved by an offset that was found in a frame mirrored or not."""
    ahead, left, turn = offset[0], mirror * offset[1], mirror * offset[2]
    s, c = elementary.sin_cos(goal.heading)
    return Pose(goal.x + c * ahead - s * left, goal.y + s * ahead + c * left, goal.heading + turn)


def arrived(request: FreeSpace, pose: Pose) -> bool:
    """Whether a pose is within the tolerance of the goal."""
    near = elementary.hypot(pose.x - request.goal.x, pose.y - request.goal.y) <= request.goal_tolerance
    turn = abs(math.remainder(pose.heading - request.goal.heading, 2.0 * math.pi))
    return near and (request.free_heading or turn <= request.goal_heading_tolerance)
