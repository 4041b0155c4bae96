"""Where objects will be, 0 to 6 s ahead. Numba kernels over `world.objects` bodies and `world.tracks` pasts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.world import objects as ob
from tuling_fsm.world.lane_index import STOP, LaneArrays
from tuling_fsm.world.lane_kernels import CANDIDATES, DEPTH, LaneChains, LanePlaces
from tuling_fsm.world.objects import VULNERABLE, ByteArray
from tuling_fsm.world.tracks import ASIDE_SINCE, GAINS, YAW_RATE

GAP, STOP_AT, LIGHT, LINE = range(4)
"""Distances along a chain from the front bumper, m, inf for none: to the one ahead, to the first closed line or lane
that one can still stop at, to the first closed light, to the first line or junction.
"""

_SETTLE_M = 12.0
"""Over this distance an object's offset from its lane's centre falls to a third."""
_SIDEWAYS_MPS = 1.2
"""But it falls no faster than this, m/s, or than it does already: a lane is changed in about five seconds, and about
twice as fast in the middle ([toledo2007][]).
"""
_STEER_BACK_MPS2 = 0.4
"""One that moves away from the centres of all lanes that it may follow, at most as fast as lanes are changed, slows
down sideways by this much: one that only wavers comes back at once, one that swings out goes on for two seconds.
"""
_HELD_S, _HELD_M = 1.0, 0.4
"""One that comes towards the car over an edge of its lane, at the same offset for the one (s), at least the other (m):
why should it fall back just now?
"""
_ALIGN_M = 4.0
_NARROW_M, _FILTERING_M = 1.2, 0.1
"""What is no wider than the one is a two-wheeler, and rides past what leaves it the other beside it."""
_LINE_GAP_M = 0.3
_OVER_LINE_M = 2.5
"""A vehicle that stands this far over a line still stands at it."""
_STOP_SIGN_DONE_M = 2.0
_TURN_FADE_S = 2.0
"""Off the lanes a turn is carried on for about this long."""
_ACCEL_FADE_S = 3.6
"""An acceleration falls to a third in this time, to half in 2.5 s, as Autoware has it."""
_FARTHER_M, _FARTHER = 3.0, 0.25
"""One that gathers speed, and comes no farther for it than by the one, or by that share, is predicted as if it did not.
"""


def _ways_gained() -> FloatArray:
    """How much farther one comes by each step and the one after the last, m for each m/s^2 with which it began."""
    fade = _ACCEL_FADE_S
    t = [PREDICTION_STEP_S * k for k in range(PREDICTION_STEPS + 1)]
    return np.array([fade * (each - fade * (1.0 - elementary.exp(-each / fade))) for each in t])


_GAINED_M = _ways_gained()
_GAINED_MPS = np.diff(_GAINED_M) / PREDICTION_STEP_S
"""And how much faster it is in each step, m/s."""


class PredictionParameters(NamedTuple):
    """What is expected of other vehicles: as `WorldParameters` has it."""

    lane_heading: float
    lateral: float
    decel: float
    follow_gap: float
    standing: float
    """An object that is no faster stands, m/s."""
    stopped_leader: float


class LookAhead(NamedTuple):
    """What each of M chains leads to."""

    leader: IntArray
    """Row of the body ahead, -1 for none (M,)."""
    distance: FloatArray
    """The distances `GAP` to `LINE`, m (M, 4)."""


class _Closures(NamedTuple):
    """Stop lines of the lanes as in `LaneArrays`; which of them, and which lanes, are closed to other vehicles."""

    line_start: IntArray
    line_s: FloatArray
    line_kind: IntArray
    line_approach: IntArray
    line_closed: BoolArray
    lane_closed: BoolArray
    in_junction: BoolArray


class _Occupants(NamedTuple):
    """Linked lists of the objects on each lane: entry `i * CANDIDATES + j` is object i by its candidate j."""

    first: IntArray
    following: IntArray


class _Centers(NamedTuple):
    """The centre lines of all lanes: columns of `LaneArrays`."""

    start: IntArray
    s: FloatArray
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    widened: FloatArray
    top: FloatArray
    """`LaneArrays.limit`."""


class _Motion(NamedTuple):
    """How one object moves along a chain: speed (m/s), slip angle of its middle and its direction against the lane's
    (rad), by how much that differs at least from the lanes that it may follow, how far it may come at most, and how far
    behind its leader at first (m), which moves at `speed_ahead`. Whether its offset from the lane's centre is `kept`.
    What both accelerate with (m/s^2).
    """

    speed: float
    slip: float
    skew: float
    least_skew: float
    lateral: float
    limit: float
    gap: float
    speed_ahead: float
    kept: bool
    accel: float
    accel_ahead: float


class _Poses(NamedTuple):
    """Where objects will be, a row each (R, T)."""

    x: FloatArray
    y: FloatArray
    heading: FloatArray


@kernel
def _lines_ahead(
    closures: _Closures, chain: IntArray, begin: FloatArray, front: float, v: float, decel: float
) -> tuple[float, float, float]:
    """The distances `STOP_AT`, `LIGHT` and `LINE`."""
    line_start, line_s, line_kind, line_approach, line_closed, lane_closed, in_junction = closures
    limit, light, line = np.inf, np.inf, np.inf
    for depth in range(DEPTH):
        number = chain[depth]
        if number < 0:
            break
        entry = begin[depth] - front
        if in_junction[number] and entry > -_OVER_LINE_M:
            line = min(line, entry)
        if lane_closed[number] and entry > -_LINE_GAP_M and v * v <= 2.0 * decel * max(entry, 0.1):
            limit = min(limit, max(entry, 0.0))
        for k in range(line_start[number], line_start[number + 1]):
            room = begin[depth] + line_s[k] - front
            elsewhere = depth > 0 and line_approach[k] >= 0 and line_approach[k] != chain[depth - 1]
            if elsewhere or room < -_OVER_LINE_M:
                continue
            line = min(line, room)
            if line_closed[k] and line_kind[k] != STOP:
                light = min(light, room)
            if not line_closed[k] or room < -_LINE_GAP_M:
                continue
            if line_kind[k] == STOP and v < 2.0 and room < _STOP_SIGN_DONE_M:
                continue
            if v * v <= 2.0 * decel * max(room, 0.1):
                limit = min(limit, max(room, 0.0))
    return limit, light, line


@array_kernel
def _occupants(lane_count: int, places: LanePlaces, body: FloatArray) -> _Occupants:
    lane, offset = places.lane, places.offset
    first = np.full(lane_count, -1, dtype=np.int64)
    following = np.full(len(lane) * CANDIDATES, -1, dtype=np.int64)
    for i in range(len(lane)):
        for j in range(CANDIDATES):
            if lane[i, j] >= 0 and abs(offset[i, j]) < 0.5 * body[i, ob.WIDTH] + 1.0:
                following[i * CANDIDATES + j] = first[lane[i, j]]
                first[lane[i, j]] = i * CANDIDATES + j
    return _Occupants(first, following)


@kernel
def _leader(
    i: int, chain: IntArray, begin: FloatArray, side: float, occupants: _Occupants, places: LanePlaces, body: FloatArray
) -> tuple[int, float]:
    """The next object ahead along a chain and the gap to it, bumper to bumper (m); -1, inf for none. What a two-wheeler
    `side` (m, + left) of the chain's centre may ride past is none.
    """
    best, gap, own = -1, np.inf, body[i, ob.LENGTH]
    for depth in range(DEPTH):
        if chain[depth] < 0:
            break
        entry = occupants.first[chain[depth]]
        while entry >= 0:
            j, at = entry // CANDIDATES, entry % CANDIDATES
            ahead = begin[depth] + places.arc[j, at]
            room = ahead - 0.5 * (own + body[j, ob.LENGTH])
            apart = abs(places.offset[j, at] - side) - 0.5 * (body[i, ob.WIDTH] + body[j, ob.WIDTH])
            passes = body[i, ob.WIDTH] < _NARROW_M and apart > _FILTERING_M
            if j != i and ahead > 0.4 * own and room < gap and not passes:
                best, gap = j, room
            entry = occupants.following[entry]
        if best >= 0:
            break
    return best, gap


@kernel
def _here(centers: _Centers, chain: IntArray, begin: FloatArray) -> tuple[int, float]:
    """The segment on which a chain begins, and which share of it lies behind, 0 to 1."""
    start, ps, depth = centers.start, centers.s, 0
    while depth + 1 < DEPTH and chain[depth + 1] >= 0 and begin[depth + 1] <= 0.0:
        depth += 1
    p, last = start[chain[depth]], start[chain[depth] + 1] - 2
    while p < last and ps[p + 1] < -begin[depth]:
        p += 1
    u = (-begin[depth] - ps[p]) / max(ps[p + 1] - ps[p], 1e-6)
    return p, min(max(u, 0.0), 1.0)


@kernel
def _comes_on(one: FloatArray, car: FloatArray) -> bool:
    """Whether a body points against the car."""
    return bool(abs(wrap_angle(one[ob.HEADING] - car[ob.HEADING])) > 0.5 * math.pi)


@kernel
def _over_edge(lanes: LaneArrays, p: int, u: float, side: float, width: float) -> bool:
    """Whether a body `side` (m, + left) of its lane's centre reaches over an edge of the lane, on its segment `p`."""
    edge = lanes.left if side > 0.0 else lanes.right
    return bool(abs(side) >= _HELD_M and abs(side) + 0.5 * width > edge[p] + u * (edge[p + 1] - edge[p]))


@kernel
def _skew(centers: _Centers, p: int, u: float, direction: float) -> float:
    """A direction against that of a segment's lane, rad in [-pi, pi)."""
    ph = centers.heading
    on = ph[p] + u * (ph[p + 1] - ph[p])
    return float((direction - on + math.pi) % (2.0 * math.pi) - math.pi)


@kernel
def _sample(
    centers: _Centers, chain: IntArray, begin: FloatArray, side: float, motion: _Motion, out: _Poses, row: int
) -> float:
    """Walk along one chain; `limit` and `gap` bound how far the object may have come. Returns how far it comes, m."""
    start, ps, px, py, ph, widened, top = centers
    speed, slip, skew, least_skew, lateral, limit, gap, speed_ahead, kept, accel, accel_ahead = motion
    out_x, out_y, out_heading = out.x[row], out.y[row], out.heading[row]
    travelled, depth, p, settle, lag = 0.0, 0, start[chain[0]], 1.0, -slip
    outward = math.copysign(1.0, side) * speed
    fastest = max(_SIDEWAYS_MPS, -outward * elementary.sin(skew)) * PREDICTION_STEP_S
    # What another of its lanes explains is no swinging out of this one.
    away = min(outward * elementary.sin(min(max(skew, -least_skew), least_skew)), _SIDEWAYS_MPS)
    for k in range(PREDICTION_STEPS):
        while depth + 1 < DEPTH and chain[depth + 1] >= 0 and travelled >= begin[depth + 1]:
            depth += 1
            p = start[chain[depth]]
        last, s = start[chain[depth] + 1] - 2, travelled - begin[depth]
        while p < last and ps[p + 1] < s:
            p += 1
        dx, dy, step = px[p + 1] - px[p], py[p + 1] - py[p], max(ps[p + 1] - ps[p], 1e-6)
        u, turn = (s - ps[p]) / step, ph[p + 1] - ph[p]
        on = ph[p] + min(max(u, 0.0), 1.0) * turn
        out_x[k] = px[p] + u * dx - settle * side * dy / step
        out_y[k] = py[p] + u * dy + settle * side * dx / step
        out_heading[k] = on + skew + lag
        free = speed + min(accel * _GAINED_MPS[k], max(top[chain[depth]] - speed, 0.0))
        v = free
        # In a bend the lateral acceleration is v^2 * turn / step.
        v2_turn = lateral * widened[chain[depth]] * step
        if step > 0.2 and v * v * abs(turn) > v2_turn:
            v = math.sqrt(v2_turn / abs(turn))
        bound = min(limit, gap + speed_ahead * (k + 1) * PREDICTION_STEP_S + accel_ahead * _GAINED_M[k + 1])
        advance = max(min(travelled + v * PREDICTION_STEP_S, bound) - travelled, 0.0)
        travelled += advance
        lag /= 1.0 + advance / _ALIGN_M
        if away > 0.0:
            side += math.copysign(away, side) * advance / free
            away -= _STEER_BACK_MPS2 * PREDICTION_STEP_S
            continue
        if not kept:
            settle = max(settle / (1.0 + advance / _SETTLE_M), settle - fastest / max(abs(side), 1e-6))
        skew /= 1.0 + advance / _ALIGN_M
    return travelled


@array_kernel
def look_ahead(
    lanes: LaneArrays, line_closed: BoolArray, held: IntArray, body: FloatArray, places: LanePlaces,
    found: LaneChains, decel: float,
) -> LookAhead:  # fmt: skip
    """What the chains lead to.

    The last body is the car itself. Lanes that conflict with those that it holds (`held`) are not entered by vehicles
    that can still stop before them, unless the car gives way to them.
    """
    row, chain, begin = found.row, found.chain, found.begin
    lane_closed = np.zeros(len(lanes.length), dtype=np.bool_)
    for number in held:
        for k in range(lanes.conflict_start[number], lanes.conflict_start[number + 1]):
            if not lanes.gives_way[k]:
                lane_closed[lanes.conflict[k]] = True
    occupants = _occupants(len(lanes.length), places, body)
    closures = _Closures(
        lanes.line_start, lanes.line_s, lanes.line_kind, lanes.line_approach, line_closed, lane_closed,
        lanes.in_junction,
    )  # fmt: skip
    leader, distance = np.empty(len(row), dtype=np.int64), np.empty((len(row), 4))
    for b in range(len(row)):
        i = row[b]
        limit, light, line = _lines_ahead(
            closures, chain[b], begin[b], 0.5 * body[i, ob.LENGTH], body[i, ob.SPEED], decel
        )
        leader[b], gap = _leader(i, chain[b], begin[b], found.side[b], occupants, places, body)
        distance[b, GAP], distance[b, STOP_AT], distance[b, LIGHT], distance[b, LINE] = gap, limit, light, line
    return LookAhead(leader, distance)


@kernel
def _drift(body: FloatArray, moves: bool, yaw_rate: float, out: _Poses, row: int) -> None:
    """Constant velocity, whose direction goes on turning at a rate that fades away."""
    x, y, heading = body[ob.X], body[ob.Y], body[ob.HEADING]
    vx, vy = (body[ob.VX], body[ob.VY]) if moves else (0.0, 0.0)
    out_x, out_y, out_heading = out.x[row], out.y[row], out.heading[row]
    turned, c, s = 0.0, 1.0, 0.0
    for k in range(PREDICTION_STEPS):
        out_x[k], out_y[k], out_heading[k] = x, y, heading + turned
        if yaw_rate != 0.0:
            turned += yaw_rate * elementary.exp(-k * PREDICTION_STEP_S / _TURN_FADE_S) * PREDICTION_STEP_S
            s, c = elementary.sin_cos(turned)
        x += (c * vx - s * vy) * PREDICTION_STEP_S
        y += (s * vx + c * vy) * PREDICTION_STEP_S


@kernel
def _slip(body: FloatArray) -> float:
    """Angle (rad) from the heading to where the middle moves: in a turn it goes farther into it. 0 for one that moves
    sideways or back.
    """
    s, c = elementary.sin_cos(body[ob.HEADING])
    forward, left = c * body[ob.VX] + s * body[ob.VY], c * body[ob.VY] - s * body[ob.VX]
    return elementary.atan(left / forward) if forward > abs(left) else 0.0


@kernel
def _motion(
    b: int, one: FloatArray, body: FloatArray, ahead: LookAhead, expected: PredictionParameters,
    skew: float, least_skew: float, kept: bool,
) -> _Motion:  # fmt: skip
    """How a body moves along chain `b` at a steady speed: the last of all is the car, which is taken to be ready for
    its stopping.
    """
    behind, speed_ahead, leader = np.inf, 0.0, ahead.leader[b]
    if leader >= 0:
        behind = max(ahead.distance[b, GAP] - expected.follow_gap, 0.0)
        speed_ahead = body[leader, ob.SPEED] if leader < len(body) - 1 else 0.0
    return _Motion(
        one[ob.SPEED], _slip(one), skew, least_skew, lateral=expected.lateral,
        limit=ahead.distance[b, STOP_AT], gap=behind, speed_ahead=speed_ahead, kept=kept, accel=0.0, accel_ahead=0.0,
    )  # fmt: skip


@kernel
def _along(
    centers: _Centers, chain: IntArray, begin: FloatArray, side: float, motion: _Motion, accel: float,
    accel_ahead: float, out: _Poses, row: int,
) -> int:  # fmt: skip
    """Fill a row with a motion along a chain at a steady speed and, where that leads farther, the next one with that of
    one which gathers speed, behind a leader that does. Returns the row after these.
    """
    steady = _sample(centers, chain, begin, side, motion, out, row)
    if accel == 0.0:
        return row + 1
    speed, slip, skew, least_skew, lateral, limit, gap, speed_ahead, kept, _, _ = motion
    motion = _Motion(speed, slip, skew, least_skew, lateral, limit, gap, speed_ahead, kept, accel, accel_ahead)
    farther = _sample(centers, chain, begin, side, motion, out, row + 1) - steady
    return row + (2 if farther > max(_FARTHER_M, _FARTHER * steady) else 1)


@array_kernel
def predict(
    lanes: LaneArrays, kind: ByteArray, body: FloatArray, past: FloatArray, stamp: float, found: LaneChains,
    ahead: LookAhead, expected: PredictionParameters,
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """Where each object will be: one row for each of its chains where it moves along lanes, else one row.

    Along a chain the speed is constant, but no higher than bends allow, nor over a closed line or into the leader; an
    object behind the car, the last of the bodies, is taken to be ready for its stopping at once. One that gathers speed
    has one row as if it did so no more, and one as if it went on. One that stands stays where it is.
    Returns the object of each row (R,), and x, y, heading (R, T).
    """
    centers = _Centers(lanes.start, lanes.s, lanes.x, lanes.y, lanes.heading, lanes.widened, lanes.limit)
    row, chain, begin, side = found
    own, most = len(kind), len(kind) + 2 * len(row)
    rows, count, end, skew = np.empty(most, dtype=np.int64), 0, int(np.int64(0)), np.empty(len(row))
    kept = np.empty(len(row), np.bool_)
    x, y, heading = (
        np.empty((most, PREDICTION_STEPS)), np.empty((most, PREDICTION_STEPS)), np.empty((most, PREDICTION_STEPS)),
    )  # fmt: skip
    out = _Poses(x, y, heading)
    for i in range(own):
        one, walks = body[i], VULNERABLE[kind[i]]
        moves = one[ob.SPEED] > (0.0 if walks else expected.standing)
        first, least_skew = end, np.inf
        keeps = stamp - past[i, ASIDE_SINCE] >= _HELD_S and _comes_on(one, body[own])
        while end < len(row) and row[end] == i:
            p, u = _here(centers, chain[end], begin[end])
            skew[end] = _skew(centers, p, u, one[ob.HEADING] + _slip(one))
            kept[end] = keeps and _over_edge(lanes, p, u, side[end], one[ob.WIDTH])
            least_skew = min(least_skew, abs(skew[end]))
            end += 1
        for b in range(first, end if moves else first):
            motion = _motion(b, one, body, ahead, expected, skew=skew[b], least_skew=least_skew, kept=kept[b])
            gains_ahead = past[ahead.leader[b], GAINS] if 0 <= ahead.leader[b] < own else 0.0
            done = _along(
                centers, chain[b], begin[b], side[b], motion, accel=past[i, GAINS], accel_ahead=gains_ahead, out=out,
                row=count,
            )  # fmt: skip
            rows[count:done], count = i, done
        if end == first or not moves:
            _drift(one, moves, past[i, YAW_RATE] if moves and not walks else 0.0, out, count)
            rows[count], count = i, count + 1
    for r in range(count):
        x[r, 0], y[r, 0] = body[rows[r], ob.X], body[rows[r], ob.Y]
    return rows[:count], x[:count], y[:count], heading[:count]
