"""The lane lines of a request made ready: smooth references, bounds, and the car's place on each."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.core.request import FollowLanes, LaneEnd, LaneLine, RoutePlace
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint, nearest, prepare_bounds
from tuling_fsm.planning.paths.frenet_path import REACHABLE, START, START_D, START_S, frenet_start
from tuling_fsm.planning.paths.reference_line import COLUMNS, MAX_POINTS, LineSmoothing, S, reference_line
from tuling_fsm.planning.start_state import StartState

_CAR_WITHIN = 40.0
"""The car is looked for on this much of a line from its first point (m), so that a line that comes by again is not
jumped on."""
_BEFORE_START = -2.0
"""A lane that begins farther ahead than this (m) cannot be joined yet."""

_CROSSED = 0.5
"""A line may be crossed where the car is free to be so far beyond it (m)."""
_ASIDE_M = 20.0
"""Over this length (m) a line moves to the side on which a place is passed, and back."""


class LaneLines(NamedTuple):
    """L lane lines ready for planning.

    `row` (L, MAX_POINTS, COLUMNS), `points` (L,) how many of these are filled, `start` (L, START); `stop` (L,) arc
    length to stand at because line or route end or the car has to change lanes before, `spare` (L,) how much road there
    is behind that to change on (m), `goal` (L,) where the route ends (`inf` for beyond the line) and `end` (L,) where
    the line does, for a car that stands there, `ends` (L,) where the car must have left it (`inf` for never), `leave`
    (L,) up to where it can (`-inf` for nowhere), `window` (L,) where it should, `shift` (L,) lanes from the route's
    own, `phase` (L,) the route's arc length of the first points. `home` is the line that the car is on, `route` the one
    of progress.
    """

    row: FloatArray
    points: IntArray
    start: FloatArray
    stop: FloatArray
    spare: FloatArray
    goal: FloatArray
    end: FloatArray
    ends: FloatArray
    leave: FloatArray
    window: FloatArray
    shift: IntArray
    phase: FloatArray
    home: int
    route: int


class ReferenceLineParameters(NamedTuple):
    """Numbers of the reference lines: `step`, `smoothing` and `max_curvature` as in `LineSmoothing`, the steepest
    angle (rad) at which one can be joined, and how far before the end of a lane to stop (m), without and with room to
    change lanes.
    """

    step: float
    smoothing: float
    max_curvature: float
    max_turn: float
    end_gap: float
    merge_gap: float

    @classmethod
    def of(cls, vehicle: Vehicle, parameters: PlanningParameters) -> ReferenceLineParameters:
        """The numbers for a vehicle."""
        lateral = parameters.lateral
        bend = lateral.curvature_share * vehicle.max_curvature
        gaps = (parameters.speed.end_gap, parameters.speed.merge_gap)
        return cls(lateral.step, lateral.smoothing, bend, lateral.max_heading, *gaps)


@array_kernel
def _prepare(
    center: FloatArray,
    wide: FloatArray,
    phase: float,
    goal: float,
    shape: ReferenceLineParameters,
    body: Footprint,
    line: FloatArray,
) -> tuple[int, float, float]:
    """Fill a line; returns the number of points and the arc lengths of its end and of the goal."""
    smoothing = LineSmoothing(shape.step, shape.smoothing, shape.max_curvature, body.front, body.rear, body.half_width)
    n, end, goal = reference_line(center, wide, phase, goal, smoothing, line)
    prepare_bounds(line, n, body)
    return n, end, goal


@kernel
def _place(
    rows: FloatArray,
    points: IntArray,
    pose: tuple[float, float, float, float],
    max_turn: float,
    starts: FloatArray,
) -> int:
    """Fill the car's place on each of the lines; returns the nearest of those that it can join, -1 for none."""
    home = -1
    for i in range(len(points)):
        line, n, last, start = rows[i], points[i], 0, starts[i]
        while last < n and line[last, S] < _CAR_WITHIN:
            last += 1
        k = nearest(line, 0, max(2, last), pose[0], pose[1])
        frenet_start(line, n, k, pose, max_turn, start)
        if start[START_S] < _BEFORE_START or start[START_S] >= line[n - 1, S]:
            start[REACHABLE] = 0.0
        if start[REACHABLE] > 0.0 and (home < 0 or abs(start[START_D]) < abs(starts[home, START_D])):
            home = i
    return home


def smooth_lines(
    lanes: tuple[LaneLine, ...],
    goal_s: float | None,
    keep_lane: bool,
    shape: ReferenceLineParameters,
    body: Footprint,
    window: RoutePlace | None = None,
) -> LaneLines:
    """The lanes without a car on them."""
    many = len(lanes)
    rows, count = np.empty((many, MAX_POINTS, COLUMNS)), np.empty(many, np.int64)
    stop, spare, goals, last = np.empty((4, many))
    ends, leave, left_by = np.full((3, many), math.inf)
    route = min(range(many), key=lambda i: (abs(lanes[i].shift), i), default=-1)
    asked = route if window is None else _lane_of(window, lanes, route)
    for i, lane in enumerate(lanes):
        on_lane = _goal_on(lane, lanes[route], goal_s)
        center, wide = _columns(lane, keep_lane)
        if i == asked and window is not None and window.offset != 0.0:
            _move_aside(center, wide, window.s - lane.route_s0, window, body.half_width)
        count[i], end, goals[i] = _prepare(center, wide, lane.route_s0, on_lane, shape, body, rows[i])
        if lane.end is LaneEnd.LANE_END:
            ends[i] = end
        elif i != route:
            # The route ends on its own lane: one beside it has to be left by then.
            ends[i] = goals[i]
        changes, margin = i != route and not keep_lane, _margin(lane.end, body.front, shape.end_gap)
        leave[i] = _last_change(lane, lanes[route], float(ends[i])) if changes else ends[i]
        is_left = changes and lane.end is LaneEnd.LANE_END
        spare[i] = shape.merge_gap - shape.end_gap if is_left else 0.0
        # Where the line becomes solid all of the body has to be across: that takes twice the room.
        sooner = shape.merge_gap if leave[i] < end else 0.0
        last[i] = end - margin
        stop[i] = min(goals[i], (leave[i] - sooner if is_left else end) - margin - spare[i])
        if i != asked and window is not None:
            left_by[i] = lane.center.s[0] + window.s - lane.route_s0
    shift, phase = np.array([lane.shift for lane in lanes], np.int64), np.array([lane.route_s0 for lane in lanes])
    return LaneLines(
        row=rows, points=count, start=np.zeros((many, START)), stop=stop, spare=spare, goal=goals, end=last,
        ends=ends, leave=leave, window=left_by, shift=shift, phase=phase, home=-1, route=route,
    )  # fmt: skip


_Key = tuple[tuple[LaneLine, ...], float | None, bool, ReferenceLineParameters, Footprint, RoutePlace | None]


class LaneLineCache:
    """The smoothed lines of the last requests: the same lanes come again on the next ticks, until the view along the
    route is made anew.
    """

    KEPT = 8

    def __init__(self) -> None:
        self._lines: dict[_Key, LaneLines] = {}

    def smoothed(self, request: FollowLanes, shape: ReferenceLineParameters, body: Footprint) -> LaneLines:
        """`smooth_lines` of a request, kept if it has come lately; lanes are the same if they are the same objects."""
        key = (request.lanes, request.goal_s, request.keep_lane, shape, body, request.window)
        lines = self._lines.pop(key, None)
        if lines is None:
            lines = smooth_lines(*key)
            if len(self._lines) >= self.KEPT:
                del self._lines[next(iter(self._lines))]
        self._lines[key] = lines
        return lines


def prepare_lines(
    request: FollowLanes, state: StartState, shape: ReferenceLineParameters, body: Footprint, cache: LaneLineCache
) -> LaneLines | None:
    """The request's lines with a car at `state`; `None` where it can join none of them."""
    lines = cache.smoothed(request, shape, body)
    pose = (state.pose.x, state.pose.y, state.pose.heading, state.curvature)
    starts = np.zeros((len(request.lanes), START))
    home = _place(lines.row, lines.points, pose, shape.max_turn, starts)
    return None if home < 0 else _past_the_change(lines._replace(start=starts, home=home), body.front + shape.merge_gap)


def _past_the_change(lines: LaneLines, room: float) -> LaneLines:
    """The same lines; one that the car has not even `room` (m) left to change out of is driven on to its end."""
    past = (lines.leave < lines.ends) & (lines.start[:, START_S] + room > lines.leave)
    if not past.any():
        return lines
    stop = np.where(past, np.minimum(lines.goal, lines.end), lines.stop)
    spare, leave = np.where(past, 0.0, lines.spare), np.where(past, lines.ends, lines.leave)
    return lines._replace(stop=stop, spare=spare, leave=leave)


def _columns(lane: LaneLine, keep_lane: bool) -> tuple[FloatArray, FloatArray]:
    """Centre (n, 4) x, y, s, heading, and (7, n) the distances to the lane's and to the free bounds, the limit, and the
    distances to the road's edges.

    A car that must keep its lane (INT-1) is bound by the lane itself, whatever the marks would allow.
    """
    center = np.empty((len(lane.center.s), 4))
    center[:, :2], center[:, 2], center[:, 3] = lane.center.xy, lane.center.s, lane.center.heading
    left_free, right_free = lane.left_free, lane.right_free
    if keep_lane:
        left_free, right_free = np.minimum(lane.left, left_free), np.minimum(lane.right, right_free)
    return center, np.stack((lane.left, lane.right, left_free, right_free, lane.limit, lane.left_road, lane.right_road))


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


def _last_change(lane: LaneLine, route_lane: LaneLine, end: float) -> float:
    """Arc length up to which (m, `end` at most) the line to the route's side may be crossed, `-inf` for nowhere."""
    to_left = lane.shift < route_lane.shift
    free, line = (lane.left_free, lane.left) if to_left else (lane.right_free, lane.right)
    before = lane.center.s <= end
    crossed = np.flatnonzero((free > line + _CROSSED) & before)
    if len(crossed) == 0:
        return -math.inf
    return end if crossed[-1] == np.flatnonzero(before)[-1] else float(lane.center.s[crossed[-1]])


def _lane_of(place: RoutePlace, lanes: tuple[LaneLine, ...], route: int) -> int:
    """The lane that leads over a place; the route's own as long as none in view does."""
    found: list[tuple[float, int]] = []
    for i, lane in enumerate(lanes):
        at = lane.center.project(place.x, place.y)
        row = min(int(np.searchsorted(lane.center.s, at.s)), len(lane.left) - 1)
        if lane.center.s[0] < at.s < lane.center.s[-1] and -lane.right[row] <= at.offset <= lane.left[row]:
            found.append((abs(at.offset), i))
    return min(found)[1] if found else route


def _move_aside(center: FloatArray, wide: FloatArray, along: float, place: RoutePlace, half_width: float) -> None:
    """Move a lane to the side on which a place `along` it (m) is to be passed, as far as the body is free to be there,
    and what is `wide` on both sides with it.
    """
    away = np.maximum(along - center[:, 2], center[:, 2] - along - place.length)
    share = 1.0 - np.clip(away / _ASIDE_M, 0.0, 1.0)
    most_left, most_right = (np.maximum(free - half_width, 0.0) for free in wide[2:4])
    aside = share * share * (3.0 - 2.0 * share) * np.clip(place.offset, -most_right, most_left)
    sine, cosine = elementwise.sin_cos(center[:, 3])
    center[:, 0] -= aside * sine
    center[:, 1] += aside * cosine
    wide[[0, 2, 5]] -= aside
    wide[[1, 3, 6]] += aside


def _margin(end: LaneEnd, front: float, gap: float) -> float:
    """How far before a line's end the rear axle has to stand: on a route's last pose, else with the bumper before the
    end.
    """
    return {LaneEnd.ROUTE_END: 0.0, LaneEnd.LANE_END: front + gap, LaneEnd.HORIZON: front}[end]
