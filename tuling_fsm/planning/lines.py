"""The lane lines of a request made ready: smooth references, bounds, and the car's place on each."""

from __future__ import annotations

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.request import FollowLanes, LaneEnd, LaneLine
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.body import Body, nearest, prepare_bounds
from tuling_fsm.planning.continuity import StartState
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths import REACHABLE, START, START_D, START_S, frenet_start
from tuling_fsm.planning.reference import COLUMNS, MAX_POINTS, S, reference_line
from tuling_fsm.planning.solids import IntArray

_CAR_WITHIN = 40.0
"""The car is looked for on this much of a line from its first point (m), so that a line that comes by again is not
jumped on."""
_BEFORE_START = -2.0
"""A lane that begins farther ahead than this (m) cannot be joined yet."""


class Lines(NamedTuple):
    """L lane lines ready for planning.

    `row` (L, MAX_POINTS, COLUMNS), `points` (L,) how many of these are filled, `start` (L, START); `stop` (L,) arc
    length to stand at because line or route end, `end` (L,) the same for the line alone, `ends` (L,) where the car
    must have left it (`inf` for never), `shift` (L,) lanes from the route's own, `phase` (L,) the route's arc length
    of the first points. `home` is the line that the car is on, `route` the one that progress is measured along.
    """

    row: FloatArray
    points: IntArray
    start: FloatArray
    stop: FloatArray
    end: FloatArray
    ends: FloatArray
    shift: IntArray
    phase: FloatArray
    home: int
    route: int


class LineShape(NamedTuple):
    """Numbers of the reference lines, see `reference_line`."""

    step: float
    smoothing: float
    max_curvature: float


class _Ready(NamedTuple):
    """A lane made ready (MAX_POINTS, COLUMNS), its number of points, and arc lengths of its end and of the goal."""

    row: FloatArray
    points: int
    end: float
    goal: float


@njit(cache=True)
def _prepare(
    center: FloatArray, wide: FloatArray, phase: float, goal: float, shape: LineShape, body: Body, line: FloatArray
) -> tuple[int, float, float]:
    """Fill a line; returns the number of points and the arc lengths of its end and of the goal."""
    n, end, goal = reference_line(
        center, wide, phase, shape.step, shape.smoothing, shape.max_curvature, body.front, body.half_width, goal, line
    )
    prepare_bounds(line, n, body)
    return n, end, goal


@kernel
def _place(
    rows: FloatArray,
    points: IntArray,
    pose: tuple[float, float, float, float],
    max_turn: float,
    starts: FloatArray,
) -> None:
    """Fill the car's place on each of the lines."""
    for i in range(len(points)):
        line, n, last = rows[i], points[i], 0
        while last < n and line[last, S] < _CAR_WITHIN:
            last += 1
        k = nearest(line, 0, max(2, last), pose[0], pose[1])
        frenet_start(line, n, k, pose[0], pose[1], pose[2], pose[3], max_turn, starts[i])


_LAST: WeakKeyDictionary[LaneLine, tuple[tuple[object, ...], _Ready]] = WeakKeyDictionary()
"""A lane comes again on the next ticks, until the view along the route is made anew."""


def _made_ready(lane: LaneLine, goal: float, keep_lane: bool, shape: LineShape, body: Body) -> _Ready:
    key, last = (goal, keep_lane, shape, body), _LAST.get(lane)
    if last is None or last[0] != key:
        row = np.empty((MAX_POINTS, COLUMNS))
        center, wide = _columns(lane, keep_lane)
        last = _LAST[lane] = (key, _Ready(row, *_prepare(center, wide, lane.route_s0, goal, shape, body, row)))
    return last[1]


def prepare_lines(
    request: FollowLanes, state: StartState, vehicle: Vehicle, parameters: PlanningParameters
) -> Lines | None:
    """The request's lines with a car at `state`; `None` where it can join none of them."""
    many = len(request.lanes)
    rows, starts = np.empty((many, MAX_POINTS, COLUMNS)), np.zeros((many, START))
    count, shift = np.empty(many, np.int64), np.empty(many, np.int64)
    stop, last, ends, phase = np.empty(many), np.empty(many), np.full(many, math.inf), np.empty(many)
    lateral, body = parameters.lateral, Body.of(vehicle)
    shape = LineShape(lateral.step, lateral.smoothing, lateral.curvature_share * vehicle.max_curvature)
    pose = (state.pose.x, state.pose.y, state.pose.heading, state.curvature)
    route = min(range(many), key=lambda i: (abs(request.lanes[i].shift), i), default=-1)
    for i, lane in enumerate(request.lanes):
        goal = _goal_on(lane, request.lanes[route], request.goal_s)
        rows[i], count[i], end, goal = _made_ready(lane, goal, request.keep_lane, shape, body)
        last[i] = end - _margin(lane.end, vehicle.front, parameters.speed.end_gap)
        stop[i] = min(goal, last[i])
        if lane.end is LaneEnd.LANE_END:
            ends[i] = end
        elif i != route:
            # The route ends on its own lane: one beside it has to be left by then.
            ends[i] = goal
        shift[i], phase[i] = lane.shift, lane.route_s0
    _place(rows, count, pose, lateral.max_heading, starts)
    starts[starts[:, START_S] < _BEFORE_START, REACHABLE] = 0.0
    usable = np.flatnonzero(starts[:, REACHABLE] > 0.0)
    if len(usable) == 0:
        return None
    home = int(usable[np.argmin(np.abs(starts[usable, START_D]))])
    return Lines(rows, count, starts, stop, last, ends, shift, phase, home, route)


def _columns(lane: LaneLine, keep_lane: bool) -> tuple[FloatArray, FloatArray]:
    """Centre (n, 4) x, y, s, heading, and (5, n) the distances to the lane's and to the free bounds and the limit.

    A car that must keep its lane (INT-1) is bound by the lane itself, whatever the marks would allow.
    """
    center = np.empty((len(lane.center.s), 4))
    center[:, :2], center[:, 2], center[:, 3] = lane.center.xy, lane.center.s, lane.center.heading
    left_free, right_free = lane.left_free, lane.right_free
    if keep_lane:
        left_free, right_free = np.minimum(lane.left, left_free), np.minimum(lane.right, right_free)
    return center, np.stack((lane.left, lane.right, left_free, right_free, lane.limit))


def _goal_on(lane: LaneLine, route_lane: LaneLine, goal_s: float | None) -> float:
    """Arc length of the goal on a lane's centre, `inf` where it lies beyond."""
    if goal_s is None:
        return math.inf
    along = goal_s - route_lane.route_s0
    if along > route_lane.center.length + 0.5:
        return math.inf
    if lane is route_lane:
        return along
    pose = route_lane.center.at(along)
    return lane.center.project(pose.x, pose.y).s


def _margin(end: LaneEnd, front: float, gap: float) -> float:
    """How far before a line's end the rear axle has to stand: on a route's last pose, else with the bumper before the
    end.
    """
    return {LaneEnd.ROUTE_END: 0.0, LaneEnd.LANE_END: front + gap, LaneEnd.HORIZON: front}[end]
