"""People, standing or slow vehicles and what hides people beside the lines, and how fast each may be passed (USE-15).

Apollo's `speed_bounds_decider` ([apollo][]) drives at 0.6 of the limit past whatever stands within 1 m
(`collision_safety_range`, `static_obs_nudge_speed_ratio`), never below 2.5 m/s; Autoware's `obstacle_slow_down` goes
from 2 m/s (what moves) or 4 m/s (what stands) at 0.2 m linearly to 8 m/s at 1.0 m. Here, too, the speed rises linearly
with the gap, and goes on to rise beyond the second of the two points that are set. Past a vehicle that goes along the
road, either way, it is higher by the speed of that, so that one that crawls is passed as one that stands is, and one
that keeps the road's pace slows nobody; past one that comes towards the car over its bounds it is lower. Where people
may step out from behind a bus or a van, the car may be no faster than it can stop from while a person walks over from
there (Autoware's `occlusion_spot`, [autoware][]).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, inlined_kernel, kernel, sqrt
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.obstacles.boxes import CarOnLines, ObstacleColumns, is_vulnerable
from tuling_fsm.planning.obstacles.moving import ALONG, ASIDE, SAME_WAY, MovingObstacles, oversteps
from tuling_fsm.planning.obstacles.static import StaticObstacles
from tuling_fsm.planning.parameters import PassingParameters
from tuling_fsm.planning.paths.footprint import Footprint, nearest
from tuling_fsm.planning.paths.reference_line import COS, SIN, S, X, Y
from tuling_fsm.world.inputs import Kind

PERSON, STANDING, HIDING, ONCOMING = range(4)
"""What is passed: a person, a vehicle that stands or is slow, the front of one that may hide people, a vehicle that
comes towards the car and does not keep to its lane."""
_CAR, _TRUCK, _BUS = int(Kind.CAR), int(Kind.TRUCK), int(Kind.BUS)
LOW, HIGH, FROM, TO, LEAST = range(5)
"""Columns of `ObstaclesBeside.span`."""
_SPAN = 5
_ASIDE = 2.5
"""Candidates lead no farther than this (m) from their line, or from the car's offset, towards what they pass."""
_EARLY = 0.5
"""The car is slow from this far (m) before a person on, and this far beyond the place where one may step out."""
_HIDING_PACE = 3.0
"""By so many times its pace more may be driven where people may step out before a vehicle: before one that is faster
than people walk nobody does.
"""
_ONCOMING_LEAST = 0.5
"""So much of the speed past one that stands is driven at least past one that comes towards the car over its bounds."""
_SOONER, _LEAST_PACE = 1.0, 1.0
"""When the car is where a person will be: it drives no faster than now by the one (m/s), and no slower than half of
that, or than the other (m/s)."""


class PassingCurve(NamedTuple):
    """Speed (m/s) by the gap (m): `speed` up to `near`, `slope` (1/s) more for each metre beyond."""

    near: float
    speed: float
    slope: float

    @classmethod
    def through(cls, near: float, speed: float, far: float, far_speed: float) -> PassingCurve:
        """The curve through two points; it never falls."""
        return cls(near, speed, max(0.0, far_speed - speed) / max(far - near, 0.05))


class PassingLimits(NamedTuple):
    """`PassingParameters` as kernels read them: a curve for each of `PERSON`, `STANDING`, `HIDING`, delay (s) and
    braking (m/s^2) before a person who steps out, the length (m) from which on a vehicle hides people, and the speed
    (m/s) above which nothing has to be limited.
    """

    person: PassingCurve
    standing: PassingCurve
    hiding: PassingCurve
    delay: float
    decel: float
    hiding_length: float
    top_speed: float

    @classmethod
    def of(cls, vehicle: Vehicle, p: PassingParameters) -> PassingLimits:
        """The numbers for a vehicle. It has stopped before a person who walks over the gap has come to its side."""
        slope = vehicle.emergency_decel / p.hidden_walk
        return cls(
            person=PassingCurve.through(p.person_near, p.person_near_speed, p.person_far, p.person_far_speed),
            standing=PassingCurve.through(p.standing_near, p.standing_near_speed, p.standing_far, p.standing_far_speed),
            hiding=PassingCurve(p.hidden_delay * p.hidden_walk + p.hidden_speed / slope, p.hidden_speed, slope),
            delay=p.hidden_delay,
            decel=vehicle.emergency_decel,
            hiding_length=p.hiding_length,
            top_speed=vehicle.max_speed,
        )


class ObstaclesBeside(NamedTuple):
    """M things that are passed on any of L lines with K samples.

    `row` (M,) is the row in `Obstacles`, `kind` (M,) as above, `curve` (M, 3) a `PassingCurve`, `clear` (M,) the gap
    (m) from which on it limits nothing. `begin` (L, M) is the arc length where it begins, `cover` (L, M, 2) its least
    and largest offset, `reach` (L, M, 2) the first and last sample at which the body would be beside it. `span`
    (L, M, K, 5) says for each of these what offsets it covers (`LOW` above `HIGH`: none), what part of the body is
    beside it (m before the rear axle, `FROM` behind to `TO` in front), and a speed (m/s) that is slow enough there
    whatever the gap.
    """

    row: IntArray
    kind: IntArray
    curve: FloatArray
    clear: FloatArray
    begin: FloatArray
    cover: FloatArray
    reach: IntArray
    span: FloatArray


class _Extent(NamedTuple):
    """What a thing covers: first and last arc length, least and largest offset (m)."""

    begin: float
    end: float
    low: float
    high: float


@inlined_kernel
def passing_speed(near: float, speed: float, slope: float, gap: float) -> float:
    """Speed (m/s) of a `PassingCurve` at a gap (m)."""
    return speed + slope * max(0.0, gap - near)


@inlined_kernel
def speed_to_stop_within(room: float, delay: float, decel: float) -> float:
    """Speed (m/s) from which a car that begins to brake after `delay` (s) stands within `room` (m)."""
    if room <= 0.0:
        return 0.0
    return float(decel * (sqrt(delay * delay + 2.0 * room / decel) - delay))


@inlined_kernel
def _first_from(line: FloatArray, n: int, s: float) -> int:
    """The first sample at an arc length or beyond it, `n` for none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if line[middle, S] < s:
            low = middle + 1
        else:
            high = middle
    return low


@inlined_kernel
def _enter(span: FloatArray, k: int, it: _Extent, begin: float, end: float, reach: IntArray) -> None:
    """Enter at sample `k` what covers the offsets of `it` beside the body from `begin` to `end`."""
    if span[k, LOW] > span[k, HIGH]:
        span[k, LOW], span[k, HIGH], span[k, FROM], span[k, TO] = it.low, it.high, begin, end
    span[k, LOW], span[k, HIGH] = min(span[k, LOW], it.low), max(span[k, HIGH], it.high)
    span[k, FROM], span[k, TO] = min(span[k, FROM], begin), max(span[k, TO], end)
    reach[0], reach[1] = min(reach[0], k), max(reach[1], k)


@kernel
def _put_beside(
    line: FloatArray, n: int, it: _Extent, within: tuple[float, float], body: Footprint, span: FloatArray,
    reach: IntArray,
) -> None:  # fmt: skip
    """Enter a thing at the samples at which the body is beside it, as far as their arc lengths are `within` bounds."""
    last = min(it.end + body.rear, within[1])
    for k in range(_first_from(line, n, max(it.begin - body.front, within[0])), n):
        s = line[k, S]
        if s > last:
            break
        _enter(span, k, it, max(-body.rear, it.begin - s), min(body.front, it.end - s), reach)


@kernel
def _put_front(
    line: FloatArray, n: int, it: _Extent, within: tuple[float, float], limits: PassingLimits, body: Footprint,
    span: FloatArray, reach: IntArray,
) -> None:  # fmt: skip
    """Enter the place before a vehicle where people may step out, from as far as the car could not stop any more, at
    the samples whose arc lengths are `within` bounds.
    """
    v = limits.top_speed
    stop = v * limits.delay + 0.5 * v * v / limits.decel
    for k in range(_first_from(line, n, max(it.end - stop - body.front, within[0])), n):
        room = it.end - line[k, S] - body.front
        if room < -_EARLY or line[k, S] > within[1]:
            break
        least = speed_to_stop_within(room, limits.delay, limits.decel)
        span[k, LEAST] = least if span[k, LOW] > span[k, HIGH] else min(span[k, LEAST], least)
        _enter(span, k, it, body.front, body.front, reach)


@inlined_kernel
def _extent_now(line: FloatArray, moving: MovingObstacles, at: int, i: int, j: int) -> _Extent:
    """What moving object `i` covers at prediction step `j`, where it is beside a sample of the line."""
    k, box, half = moving.node[at, i, j], moving.box[i, j], moving.half[at, i, j]
    arc = line[k, S] + (box[0] - line[k, X]) * line[k, COS] + (box[1] - line[k, Y]) * line[k, SIN]
    across = moving.across[at, i, j]
    return _Extent(arc - half[ALONG], arc + half[ALONG], across - half[ASIDE], across + half[ASIDE])


@inlined_kernel
def _goes_along(line: FloatArray, moving: MovingObstacles, at: int, i: int, j: int) -> bool:
    """Whether moving object `i` goes along the line, either way, at prediction step `j`, where it is beside a sample of
    that.
    """
    k, box = moving.node[at, i, j], moving.box[i, j]
    return bool(abs(box[2] * line[k, COS] + box[3] * line[k, SIN]) > SAME_WAY)


@kernel
def _put_moving(
    line: FloatArray, n: int, moving: MovingObstacles, at: int, i: int, kind: int, limits: PassingLimits,
    car: tuple[float, float], body: Footprint, span: FloatArray, reach: IntArray,
) -> None:  # fmt: skip
    """Enter a person, or a vehicle while it goes along the line, at the samples where the body is beside it when the
    car comes there; `car` is its arc length and its speed.
    """
    slow, fast, steps = max(0.5 * car[1], _LEAST_PACE), car[1] + _SOONER, moving.node.shape[2]
    for j in range(steps):
        if moving.node[at, i, j] < 0 or (kind != PERSON and not _goes_along(line, moving, at, i, j)):
            continue
        now = _extent_now(line, moving, at, i, j)
        first = car[0] + slow * (j - 1) * PREDICTION_STEP_S if j > 0 else -np.inf
        last = car[0] + fast * (j + 1) * PREDICTION_STEP_S if j + 1 < steps else np.inf
        if kind == HIDING:
            _put_front(line, n, now, (first, last), limits, body, span, reach)
        else:
            begin = now.begin - (_EARLY if kind == PERSON else 0.0)
            _put_beside(line, n, _Extent(begin, now.end, now.low, now.high), (first, last), body, span, reach)


@inlined_kernel
def _put_cover(span: FloatArray, reach: IntArray, cover: FloatArray) -> None:
    """Fill in the least and the largest offset of all samples."""
    for k in range(reach[0], reach[1] + 1):
        if span[k, LOW] <= span[k, HIGH]:
            cover[0], cover[1] = min(cover[0], span[k, LOW]), max(cover[1], span[k, HIGH])


@inlined_kernel
def _pace(around: ObstacleColumns, row: int) -> float:
    """By how much (m/s) a row is faster than what stands."""
    return float(max(0.0, around.speed[row] - AGENT_STANDS))


@inlined_kernel
def _is_slow(around: ObstacleColumns, row: int, limits: PassingLimits) -> bool:
    """Whether a row is a vehicle with doors that stands, or so slow that there are gaps at which it limits the car."""
    least, pace = min(limits.standing.speed, limits.hiding.speed), _pace(around, row)
    return bool(around.kind[row] in (_CAR, _TRUCK, _BUS) and least + pace < limits.top_speed)


@inlined_kernel
def _hides(around: ObstacleColumns, row: int, limits: PassingLimits) -> bool:
    """Whether one cannot look over a vehicle, by its class or its size."""
    return bool(around.kind[row] != _CAR or around.length[row] >= limits.hiding_length)


@kernel
def _oversteps(moving: MovingObstacles, i: int, car: CarOnLines, here: IntArray) -> bool:
    """Whether moving object `i` comes towards the car over the bounds of any line; `here` (L,) is where that is."""
    over = False
    for at in range(len(car.points)):
        over = over or oversteps(car.lines[at], moving, at, i, here[at])
    return over


@inlined_kernel
def _is_aside(low: float, high: float, offset: float, body: Footprint, clear: float) -> bool:
    """Whether offsets are near enough to a line for a path to be limited there."""
    within = clear + body.half_width + _ASIDE
    return bool(low < max(offset, 0.0) + within and high > min(offset, 0.0) - within)


@kernel
def _clear_from(curve: PassingCurve, top_speed: float) -> float:
    """Gap (m) from which on a curve limits nothing."""
    if curve.speed >= top_speed:
        return 0.0
    return curve.near + (top_speed - curve.speed) / max(curve.slope, 1e-3)


@kernel
def _curve_of(kind: int, pace: float, limits: PassingLimits) -> PassingCurve:
    """That of a kind: the greater the `pace` (m/s) of a vehicle is, the lower for one that comes towards the car over
    its bounds, and the higher for any other.
    """
    standing, hiding = limits.standing, limits.hiding
    if kind == PERSON:
        return limits.person
    if kind == STANDING:
        return PassingCurve(standing.near, standing.speed + pace, standing.slope)
    if kind == ONCOMING:
        slower = max(standing.speed - pace, _ONCOMING_LEAST * standing.speed)
        return PassingCurve(standing.near, slower, standing.slope)
    return PassingCurve(hiding.near, hiding.speed + _HIDING_PACE * pace, hiding.slope)


@kernel
def _choose(
    around: ObstacleColumns, static: StaticObstacles, moving: MovingObstacles, limits: PassingLimits, car: CarOnLines,
    here: IntArray, source: IntArray, kinds: IntArray,
) -> int:  # fmt: skip
    """Fill `source` with the static (their row) and moving obstacles (-1 - their row) that are passed, `kinds` with
    what they are; returns how many.
    """
    total, statics = 0, len(static.id)
    person, widest = _clear_from(limits.person, limits.top_speed), _clear_from(limits.hiding, limits.top_speed)
    widest = max(widest, _clear_from(_curve_of(ONCOMING, np.inf, limits), limits.top_speed))
    for m in range(statics + len(moving.id)):
        i = m - statics
        row = static.id[m] if i < 0 else moving.id[i]
        walks = row >= 0 and is_vulnerable(around.kind[row])
        comes = i >= 0 and not walks and _oversteps(moving, i, car, here)
        slow = row >= 0 and _is_slow(around, row, limits)
        if not (walks or comes or slow):
            continue
        aside = False
        for at in range(len(car.points)):
            low = static.extent[at, m, 2] if i < 0 else moving.band[at, i, 0]
            high = static.extent[at, m, 3] if i < 0 else moving.band[at, i, 1]
            aside |= low <= high and _is_aside(low, high, car.offsets[at], car.body, person if walks else widest)
        if not aside:
            continue
        source[total], kinds[total] = m if i < 0 else -1 - i, PERSON if walks else ONCOMING if comes else STANDING
        total += 1
        if slow and _hides(around, row, limits):
            source[total], kinds[total] = source[total - 1], HIDING
            total += 1
    return total


@inlined_kernel
def _there(line: FloatArray, static: StaticObstacles, moving: MovingObstacles, at: int, source: int) -> _Extent:
    """What a static obstacle, or a moving one now, covers on a line; nothing where it is not beside that."""
    if source >= 0:
        extent = static.extent[at, source]
        return _Extent(extent[0], extent[1], extent[2], extent[3])
    if moving.node[at, -1 - source, 0] < 0:
        return _Extent(np.inf, -np.inf, np.inf, -np.inf)
    return _extent_now(line, moving, at, -1 - source, 0)


@kernel
def _put_on_line(
    at: int, source: IntArray, static: StaticObstacles, moving: MovingObstacles, limits: PassingLimits, car: CarOnLines,
    k_car: int, beside: ObstaclesBeside,
) -> None:  # fmt: skip
    """Fill in all that is passed on one line."""
    line, n = car.lines[at], car.points[at]
    here = (line[k_car, S], car.v)
    for m in range(len(beside.kind)):
        span, reach, cover = beside.span[at, m], beside.reach[at, m], beside.cover[at, m]
        for k in range(n):
            span[k, LOW], span[k, HIGH], span[k, LEAST] = np.inf, -np.inf, 0.0
        reach[0], reach[1], cover[0], cover[1] = n, -1, np.inf, -np.inf
        now = _there(line, static, moving, at, source[m])
        beside.begin[at, m] = now.begin
        i = -1 - source[m]
        if i >= 0 and (beside.kind[m] == PERSON or moving.speed[i] >= AGENT_STANDS):
            # A vehicle behind the car is not passed: it follows, or comes past.
            if beside.kind[m] == PERSON or now.end > here[0] - car.body.rear:
                _put_moving(
                    line, n=n, moving=moving, at=at, i=i, kind=beside.kind[m], limits=limits, car=here, body=car.body,
                    span=span, reach=reach,
                )  # fmt: skip
        elif now.begin <= now.end and beside.kind[m] == HIDING:
            _put_front(line, n, now, (-np.inf, np.inf), limits, car.body, span, reach)
        elif now.begin <= now.end:
            _put_beside(line, n, now, (-np.inf, np.inf), car.body, span, reach)
        _put_cover(span, reach, cover)


@array_kernel
def gather_beside(
    around: ObstacleColumns, static: StaticObstacles, moving: MovingObstacles, limits: PassingLimits, car: CarOnLines
) -> ObstaclesBeside:
    """People, standing or slow vehicles, and those that come towards the car over its bounds, which a path along any of
    the lines may pass so closely that it has to be slow.

    What moves is where it is predicted to be when the car comes by.
    """
    many, most = len(car.points), 2 * (len(static.id) + len(moving.id))
    source, kind = np.empty(most, np.int64), np.empty(most, np.int64)
    here = np.empty(many, np.int64)
    for at in range(many):
        here[at] = nearest(car.lines[at], 0, car.points[at], car.pose[0], car.pose[1])
    total = _choose(around, static, moving, limits, car, here, source, kind)
    row, curve, clear = np.empty(total, np.int64), np.empty((total, 3)), np.empty(total)
    for m in range(total):
        row[m] = static.id[source[m]] if source[m] >= 0 else moving.id[-1 - source[m]]
        chosen = _curve_of(kind[m], _pace(around, row[m]), limits)
        curve[m, 0], curve[m, 1], curve[m, 2] = chosen.near, chosen.speed, chosen.slope
        clear[m] = _clear_from(chosen, limits.top_speed)
    beside = ObstaclesBeside(
        row=row, kind=kind[:total].copy(), curve=curve, clear=clear, begin=np.empty((many, total)),
        cover=np.empty((many, total, 2)), reach=np.empty((many, total, 2), np.int64),
        span=np.empty((many, total, car.lines.shape[1], _SPAN)),
    )  # fmt: skip
    for at in range(many):
        _put_on_line(at, source, static, moving, limits, car, here[at], beside)
    return beside
