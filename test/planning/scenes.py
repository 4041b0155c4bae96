"""Roads, objects and closed loops for the planner's tests, without a map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from shapely.geometry import Polygon

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.regulations import ClosedLine, Regulations
from tuling_fsm.core.request import (
    FollowLanes,
    Hold,
    LaneEnd,
    LaneLine,
    PlanningRequest,
    PlanResult,
    Reason,
    StopWall,
)
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS, Ego, Obstacles, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.start_state import state_at

TICK_S = 0.05
LANE = 3.5
CAR, PEDESTRIAN = 1, 6
Log = list[tuple[float, Scene, PlanResult]]
"""Stamp, scene and result of every tick."""


def bent(*pieces: tuple[float, float], step: float = 0.25) -> FloatArray:
    """Points (N, 3) x, y, heading along pieces of (length, curvature)."""
    return _bent(pieces, step).copy()


@cache
def _bent(pieces: Sequence[tuple[float, float]], step: float) -> FloatArray:
    """A closed loop asks for the same road on every tick: to make it takes thrice as long as to plan on it."""
    rows = [Pose(0.0, 0.0, 0.0)]
    for length, kappa in pieces:
        x, y, heading = rows[-1]
        n = max(1, round(length / step))
        for i in range(1, n + 1):
            s = length * i / n
            if abs(kappa) < 1e-9:
                rows.append(Pose(x + s * math.cos(heading), y + s * math.sin(heading), heading))
            else:
                turned = heading + kappa * s
                dx, dy = (math.sin(turned) - math.sin(heading)) / kappa, (math.cos(heading) - math.cos(turned)) / kappa
                rows.append(Pose(x + dx, y + dy, turned))
    return np.array(rows)


def lane_line(
    points: FloatArray,
    offset: float = 0.0,
    *,
    width: float = LANE,
    free: tuple[float, float] | None = None,
    surface: tuple[float, float] | None = None,
    limit: float = 8.33,
    shift: int = 0,
    end: LaneEnd = LaneEnd.HORIZON,
    route_s0: float = 0.0,
) -> LaneLine:
    """The lane `offset` to the left of a line of points; `free` is left and right, by default the lane itself (solid
    marks), and `surface` how far the road goes, by default as far as that.
    """
    x = points[:, 0] - offset * np.sin(points[:, 2])
    y = points[:, 1] + offset * np.cos(points[:, 2])
    center = Polyline.of(np.column_stack((x, y)), points[:, 2])
    half = np.full(len(center.s), 0.5 * width)
    left, right = (0.5 * width, 0.5 * width) if free is None else free
    left_road, right_road = surface or (left, right)
    return LaneLine(
        center,
        half,
        half,
        np.full(len(half), left),
        np.full(len(half), right),
        np.full(len(half), limit),
        np.full(len(half), left_road),
        np.full(len(half), right_road),
        shift,
        end,
        route_s0,
    )


def road(
    lanes: int = 1,
    own: int = 0,
    *,
    pieces: Sequence[tuple[float, float]] = ((120.0, 0.0),),
    dashed: bool = True,
    window: tuple[float, float] = (-10.0, 80.0),
    limit: float = 8.33,
    end: LaneEnd = LaneEnd.HORIZON,
    at: float = 20.0,
    width: float = LANE,
) -> tuple[LaneLine, ...]:
    """Same-direction lanes, numbered from the right, cut `window` around arc length `at` of lane `own`, the route's
    own.
    """
    points = bent(*pieces)
    s = np.concatenate((np.zeros(1), np.cumsum(np.hypot(*np.diff(points[:, :2], axis=0).T))))
    inside = (s >= at + window[0] - 1e-9) & (s <= at + window[1] + 1e-9)
    reached = s[-1] <= at + window[1] + 1e-9
    lines = []
    for number in reversed(range(lanes)):
        left = (lanes - 1 - number + 0.5) * width if dashed else 0.5 * width
        right = (number + 0.5) * width if dashed else 0.5 * width
        lines.append(
            lane_line(
                points[inside], (number - own) * width, width=width, free=(left, right), limit=limit,
                shift=number - own,
                end=end if reached else LaneEnd.HORIZON, route_s0=float(s[inside][0]),
            )
        )  # fmt: skip
    return tuple(lines)


@dataclass(frozen=True)
class Thing:
    """A box that moves straight on at constant speed and acceleration, or along a line of points."""

    number: int
    x: float
    y: float
    heading: float = 0.0
    v: float = 0.0
    a: float = 0.0
    length: float = 4.5
    width: float = 1.9
    kind: int = CAR
    moving: bool | None = None

    def at(self, t: float) -> Thing:
        """The same a while later; braking ends in a standstill."""
        if self.a < 0.0:
            t_stop = -self.v / self.a
            along = self.v * min(t, t_stop) + 0.5 * self.a * min(t, t_stop) ** 2
        else:
            along = self.v * t + 0.5 * self.a * t * t
        v = max(0.0, self.v + self.a * t)
        moving = self.v > 0.3 if self.moving is None else self.moving
        return replace(
            self,
            x=self.x + along * math.cos(self.heading),
            y=self.y + along * math.sin(self.heading),
            v=v,
            moving=moving,
        )


def obstacles(things: Sequence[Thing]) -> Obstacles:
    """Objects as perceived now: predictions go on at constant speed."""
    t = PREDICTION_STEP_S * np.arange(PREDICTION_STEPS)
    n = len(things)
    x, y, h = (np.zeros((n, PREDICTION_STEPS)) for _ in range(3))
    for i, thing in enumerate(things):
        x[i] = thing.x + thing.v * t * math.cos(thing.heading)
        y[i] = thing.y + thing.v * t * math.sin(thing.heading)
        h[i] = thing.heading
    moving = [thing.v > 0.3 if thing.moving is None else thing.moving for thing in things]
    return Obstacles(
        np.array([thing.number for thing in things], np.uint32), np.array([thing.kind for thing in things], np.uint8),
        np.array(moving, np.bool_), np.array([thing.length for thing in things], float),
        np.array([thing.width for thing in things], float), x, y, h, np.array([thing.v for thing in things], float),
    )  # fmt: skip


def scene(
    x: float = 20.0,
    y: float = 0.0,
    heading: float = 0.0,
    v: float = 0.0,
    *,
    stamp: float = 0.0,
    a: float = 0.0,
    curvature: float = 0.0,
    things: Sequence[Thing] = (),
    segments: npt.ArrayLike = (),
) -> Scene:
    """A scene with the ego car at a pose."""
    edges = np.asarray(segments, dtype=np.float64).reshape(-1, 4)
    return Scene(stamp, Ego(Pose(x, y, heading), v, a, curvature), obstacles(things), edges)


def wall_across(x: float, y: float = 0.0, half: float = 1.75, reason: Reason = Reason.RED_LIGHT) -> StopWall:
    """A stop wall across a road along x."""
    return StopWall(x, y + half, x, y - half, reason, "signal 1", 1)


def follow(lanes: tuple[LaneLine, ...], *walls: StopWall, speed_limit: float = 8.33, **more: Any) -> FollowLanes:
    """A request to follow lanes."""
    return FollowLanes(lanes, walls, speed_limit, **more)


def regulations_for(request: PlanningRequest) -> Regulations:
    """What the world would forbid where a request is right: its lanes, its red lines (along x), its speed limit."""
    if isinstance(request, Hold):
        return Regulations()
    red = [wall for wall in request.walls if wall.reason is Reason.RED_LIGHT]
    lines = tuple(ClosedLine(wall.x0, wall.y0, wall.x1, wall.y1, 0.0, 6.0, wall.detail) for wall in red)
    return Regulations(request.lanes if isinstance(request, FollowLanes) else (), lines, request.speed_limit)


def drive(
    plan: Callable[[float, Scene, PlanResult | None], PlanResult],
    start: Scene,
    seconds: float,
    things: Sequence[Thing] = (),
) -> Log:
    """A closed loop in which the car is where the last plan says; returns stamp, scene and result of every tick."""
    log: Log = []
    previous: PlanResult | None = None
    ego = start.ego
    for tick in range(round(seconds / TICK_S)):
        stamp = start.stamp + tick * TICK_S
        if previous is not None and previous.trajectory is not None:
            state = state_at(previous.trajectory, stamp)
            ego = Ego(state.pose, state.v, state.a, state.curvature)
        moved = obstacles([thing.at(stamp - start.stamp) for thing in things])
        tick_scene = Scene(stamp, ego, moved, start.static_segments)
        result = plan(stamp, tick_scene, previous)
        log.append((stamp, tick_scene, result))
        previous = result
    return log


def gap_to(thing: Thing, pose: Pose, vehicle: Vehicle) -> float:
    """Distance between the outlines of a thing and of the car, m."""
    c, s = math.cos(thing.heading), math.sin(thing.heading)
    half = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    corners = [(0.5 * thing.length * a, 0.5 * thing.width * b) for a, b in half]
    other = Polygon([(thing.x + c * a - s * b, thing.y + s * a + c * b) for a, b in corners])
    return float(Polygon(vehicle.footprint(pose)).distance(other))


def mirrored_line(line: LaneLine) -> LaneLine:
    """The same lane seen in a mirror along the x axis."""
    center = Polyline(line.center.xy * (1.0, -1.0), line.center.s, -line.center.heading)
    return replace(
        line,
        center=center,
        left=line.right,
        right=line.left,
        left_free=line.right_free,
        right_free=line.left_free,
        left_road=line.right_road,
        right_road=line.left_road,
        shift=-line.shift,
    )


def mirrored_trajectory(trajectory: Trajectory) -> Trajectory:
    """The same motion seen in a mirror along the x axis."""
    return replace(trajectory, y=-trajectory.y, heading=-trajectory.heading, curvature=-trajectory.curvature)
