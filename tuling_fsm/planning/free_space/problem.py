"""A free-space problem in the frame of its goal, mirrored so that the start lies to the left.

In that frame a case that is moved, turned or mirrored is the same case, digit for digit but for the rounding of the
input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.estimate import Table, build_table
from tuling_fsm.planning.free_space.parameters import FreeSpaceParameters
from tuling_fsm.planning.free_space.shot import Area, Rules
from tuling_fsm.planning.free_space.sweep import Body
from tuling_fsm.planning.free_space.walls import Walls, bin_segments

REACH = 2.0
"""How far (m) the moves from a node look."""
TABLE_SIZE, TABLE_STEP, TABLE_HEADINGS = 15.0, 0.5, 36
ROOM = 8.0
"""What lies farther than this (m) outside the area cannot be touched by a car inside it."""


class Frame(NamedTuple):
    """Origin (m), its direction and -1 where y is mirrored: how local coordinates lie in `map`."""

    x: float
    y: float
    heading: float
    mirror: float

    def to_local(self, points: FloatArray) -> FloatArray:
        """Points (..., 2) of `map` in this frame."""
        c, s = elementary.cos(self.heading), elementary.sin(self.heading)
        dx, dy = points[..., 0] - self.x, points[..., 1] - self.y
        return np.stack((c * dx + s * dy, self.mirror * (c * dy - s * dx)), axis=-1)

    def point_to_local(self, x: float, y: float) -> tuple[float, float]:
        """A point of `map` in this frame."""
        c, s = elementary.cos(self.heading), elementary.sin(self.heading)
        dx, dy = x - self.x, y - self.y
        return c * dx + s * dy, self.mirror * (c * dy - s * dx)

    def pose_to_local(self, pose: Pose) -> FloatArray:
        """A pose of `map` in this frame, (3,), with its heading in [-pi, pi]."""
        turn = math.remainder(pose.heading - self.heading, 2.0 * math.pi)
        return np.array((*self.point_to_local(pose.x, pose.y), self.mirror * turn))

    def to_map(self, x: FloatArray, y: FloatArray, heading: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Local coordinates in `map`."""
        c, s = elementary.cos(self.heading), elementary.sin(self.heading)
        y = self.mirror * y
        return self.x + c * x - s * y, self.y + s * x + c * y, self.heading + self.mirror * heading


@njit(cache=True, error_model="numpy")
def segments_to_local(frame: Frame, segments: FloatArray) -> FloatArray:
    """Segments (M, 4) of `map` in a frame."""
    c, s = elementary.cos(frame.heading), elementary.sin(frame.heading)
    local = np.empty((len(segments), 4))
    for m in range(len(segments)):
        for i in (0, 2):
            dx, dy = segments[m, i] - frame.x, segments[m, i + 1] - frame.y
            local[m, i], local[m, i + 1] = c * dx + s * dy, frame.mirror * (c * dy - s * dx)
    return local


@dataclass(frozen=True, eq=False)
class Problem:
    """Start (3,), goals (G, 3), walls and area in the local frame; `gear` the car rolls in (0: it stands)."""

    frame: Frame
    walls: Walls
    area: Area
    rules: Rules
    table: Table
    start: FloatArray
    goals: FloatArray
    gear: int


@functools.lru_cache(maxsize=8)
def cost_table(radius: float, gear_cost: float) -> Table:
    """The table of Reeds-Shepp costs of a car, made once."""
    return Table(build_table(radius, gear_cost, TABLE_SIZE, TABLE_STEP, TABLE_HEADINGS), TABLE_STEP)


def body_of(vehicle: Vehicle, margin: float) -> Body:
    """The footprint grown by a margin (m)."""
    return Body(vehicle.rear_overhang + margin, vehicle.front + margin, vehicle.width / 2.0 + margin)


def full_steer(vehicle: Vehicle) -> float:
    """Steering angle (rad) of the tightest arc that is driven: its centre lies outside the car with any margin."""
    least_radius = vehicle.width / 2.0 + 1.1
    return min(vehicle.max_steer, elementary.atan(vehicle.wheelbase / least_radius))


def pose_frame(start: Pose, goal: Pose) -> Frame:
    """The frame of the goal, mirrored where the start lies to its right."""
    frame = Frame(goal.x, goal.y, goal.heading, 1.0)
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
) -> Problem:
    """The problem of driving from a start to any of some goals among segments (M, 4), all in `map`."""
    frame = pose_frame(start, goals[0])
    local = segments_to_local(frame, segments)
    area, x0, y0, x1, y1 = _area(frame, start, goals, parameters.search_margin)
    curvature = elementary.tan(full_steer(vehicle)) / vehicle.wheelbase
    return Problem(
        frame=frame,
        walls=bin_segments(local, x0 - ROOM, y0 - ROOM, x1 + ROOM, y1 + ROOM),
        area=area,
        rules=Rules(curvature, parameters.gear_cost, parameters.greed, REACH, 0 if reverse else 1),
        table=cost_table(1.0 / curvature, parameters.gear_cost),
        start=frame.pose_to_local(start),
        goals=np.array([frame.pose_to_local(goal) for goal in goals]),
        gear=gear,
    )


def _area(frame: Frame, start: Pose, goals: Sequence[Pose], margin: float) -> tuple[Area, float, float, float, float]:
    """The box around start and goals along the axes of `map`, and its bounds in the local frame."""
    poses = (start, *goals)
    u0, u1 = min(pose.x for pose in poses) - margin, max(pose.x for pose in poses) + margin
    v0, v1 = min(pose.y for pose in poses) - margin, max(pose.y for pose in poses) + margin
    c, s = elementary.cos(frame.heading), elementary.sin(frame.heading)
    box = (u0 - frame.x, v0 - frame.y, u1 - frame.x, v1 - frame.y)
    area = Area(c, -s * frame.mirror, s, c * frame.mirror, *box)
    xs, ys = zip(*(frame.point_to_local(u, v) for u in (u0, u1) for v in (v0, v1)), strict=True)
    return area, min(xs), min(ys), max(xs), max(ys)
