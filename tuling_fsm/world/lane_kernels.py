"""Which lanes objects are on, and which chains of lanes they may follow. Numba kernels over `LaneIndex.arrays`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.world import objects as ob
from tuling_fsm.world import tracks as tr
from tuling_fsm.world.lane_index import LaneArrays

CANDIDATES = 6
"""Lanes kept for one object."""
BRANCHES = 3
"""Chains kept for one object."""
DEPTH = 16
"""Lanes of one chain."""

_BESIDE_M = 0.2
_BEYOND_END_M = 0.6
_ALIKE = 2.0
"""A lane that fits worse than the best one by no more than this may be followed as well. One that has just entered a
junction does not turn yet: with less, the way straight on would be the only one."""
_BACK_RAD = 2.4
"""A way through a junction that turns by more than this leads back."""
_GRIP = 2.0
"""As many times as hard as drivers do, a car can brake and turn at most."""


class LanePlaces(NamedTuple):
    """The lanes that hold each of N bodies with a matching heading, best first (N, CANDIDATES)."""

    lane: IntArray
    """Numbers, -1 for none."""
    arc: FloatArray
    """Arc length, m."""
    offset: FloatArray
    """From the centre, + left, m."""
    turn: FloatArray
    """Heading of the body minus that of the lane, rad."""


class LaneChains(NamedTuple):
    """M chains of lanes that objects may follow, grouped by object."""

    row: IntArray
    """Of the object (M,)."""
    chain: IntArray
    """Lane numbers, padded with -1 (M, DEPTH)."""
    begin: FloatArray
    """From the object's centre to the beginning of each, negative for the lane it is on, m (M, DEPTH)."""
    side: FloatArray
    """Offset from the first lane, m (M,)."""


class _Fit(NamedTuple):
    """One lane that may hold a body; `cost` says how badly it fits."""

    lane: int
    arc: float
    offset: float
    turn: float
    cost: float


class _Starts(NamedTuple):
    """Lanes that one object may be following, likeliest first (BRANCHES,)."""

    lane: IntArray
    arc: FloatArray
    offset: FloatArray


class _Forks(NamedTuple):
    """What is asked of lanes where chains fork: columns of `LaneArrays`."""

    length: FloatArray
    turn: FloatArray
    bend: FloatArray
    bend_at: FloatArray
    successor_start: IntArray
    successor: IntArray


class _Driver(NamedTuple):
    """How an object drives: speed, m/s, and what it brakes and turns with, m/s^2."""

    speed: float
    lateral: float
    decel: float


@array_kernel
def locate(lanes: LaneArrays, body: FloatArray, follows: BoolArray, max_heading: float) -> LanePlaces:
    """The places of the bodies (N, BODY) that follow lanes."""
    start, px, py, ps, ph, left, right = lanes.start, lanes.x, lanes.y, lanes.s, lanes.heading, lanes.left, lanes.right
    grid, cell_start = lanes.grid, lanes.cell_start
    n = len(body)
    lane = np.full((n, CANDIDATES), -1, dtype=np.int64)
    arc, offset, turn = np.zeros((n, CANDIDATES)), np.zeros((n, CANDIDATES)), np.zeros((n, CANDIDATES))
    places, cost = LanePlaces(lane, arc, offset, turn), np.full((n, CANDIDATES), np.inf)
    for i in range(n):
        x, y, heading = body[i, ob.X], body[i, ob.Y], body[i, ob.HEADING]
        column, row = math.floor((x - grid[0]) / grid[2]), math.floor((y - grid[1]) / grid[2])
        if not follows[i] or column < 0 or row < 0 or column >= grid[3] or row >= grid[4]:
            continue
        cell = int(row * grid[3] + column)
        for k in range(cell_start[cell], cell_start[cell + 1]):
            p = lanes.cell_segment[k]
            dx, dy = px[p + 1] - px[p], py[p + 1] - py[p]
            step = elementary.hypot(dx, dy)
            if step < 1e-6:
                continue
            along = ((x - px[p]) * dx + (y - py[p]) * dy) / step
            side = (dx * (y - py[p]) - dy * (x - px[p])) / step
            number = lanes.point_lane[p]
            before = _BEYOND_END_M if p == start[number] else 0.05
            after = _BEYOND_END_M if p + 2 == start[number + 1] else 0.05
            if along < -before or along > step + after:
                continue
            u = min(1.0, max(0.0, along / step))
            if side > left[p] + u * (left[p + 1] - left[p]) + _BESIDE_M:
                continue
            if -side > right[p] + u * (right[p + 1] - right[p]) + _BESIDE_M:
                continue
            difference = wrap_angle(heading - ph[p] - u * (ph[p + 1] - ph[p]))
            if abs(difference) > max_heading:
                continue
            value = abs(side) + 2.0 * abs(difference) + max(0.0, -along) + max(0.0, along - step)
            s = ps[p] + along / step * (ps[p + 1] - ps[p])
            _keep(places, cost, i, _Fit(number, s, side, difference, value))
    return places


@kernel
def _keep(places: LanePlaces, cost: FloatArray, i: int, fit: _Fit) -> None:
    """Insert a lane into the ordered short list of body `i`, in which each lane occurs once."""
    lane, arc, offset, turn, costs = places.lane[i], places.arc[i], places.offset[i], places.turn[i], cost[i]
    at = len(lane) - 1
    for j in range(len(lane)):
        if lane[j] == fit.lane:
            at = j
            break
    if fit.cost >= costs[at]:
        return
    while at > 0 and costs[at - 1] > fit.cost:
        lane[at], arc[at], offset[at] = lane[at - 1], arc[at - 1], offset[at - 1]
        turn[at], costs[at] = turn[at - 1], costs[at - 1]
        at -= 1
    lane[at], arc[at], offset[at], turn[at], costs[at] = fit


@kernel
def _on_lane(lanes: LaneArrays, number: int, x: float, y: float) -> tuple[float, float]:
    """Arc length and offset of a point on one lane."""
    start, px, py, ps = lanes.start, lanes.x, lanes.y, lanes.s
    best, arc, offset = np.inf, 0.0, 0.0
    for p in range(start[number], start[number + 1] - 1):
        dx, dy = px[p + 1] - px[p], py[p + 1] - py[p]
        step2 = max(dx * dx + dy * dy, 1e-12)
        u = min(1.0, max(0.0, ((x - px[p]) * dx + (y - py[p]) * dy) / step2))
        ex, ey = x - px[p] - u * dx, y - py[p] - u * dy
        if ex * ex + ey * ey < best:
            best, arc = ex * ex + ey * ey, ps[p] + u * (ps[p + 1] - ps[p])
            offset = math.copysign(math.sqrt(best), dx * (y - py[p]) - dy * (x - px[p]))
    return arc, offset


@kernel
def _leads_to(successor_start: IntArray, successor: IntArray, from_lane: int, to_lane: int) -> bool:
    found = False
    if from_lane >= 0:
        for k in range(successor_start[from_lane], successor_start[from_lane + 1]):
            found = found or successor[k] == to_lane
    return found


@kernel
def _too_fast(bend: float, distance: float, driver: _Driver) -> bool:
    """Whether a driver, `distance` (m) before the middle of a bend (1/m), cannot slow down for it."""
    excess = driver.speed * driver.speed - driver.lateral / max(bend, 1e-6)
    return bool(excess > 2.0 * driver.decel * max(distance, 0.5))


@kernel
def _beyond_grip(lanes: LaneArrays, number: int, arc: float, driver: _Driver) -> bool:
    """Whether it is a way through a junction that no car at this arc length could follow, braking to the middle of its
    bend and turning as hard as it can.
    """
    if not lanes.in_junction[number] or arc > lanes.bend_at[number]:
        return False
    able = _Driver(driver.speed, _GRIP * driver.lateral, _GRIP * driver.decel)
    return _too_fast(lanes.bend[number], lanes.bend_at[number] - arc, able)


@kernel
def _misfits(
    lanes: LaneArrays, driver: _Driver, past: FloatArray, places: LanePlaces, i: int, cost: FloatArray
) -> None:
    """How badly object `i` fits each of its candidate lanes; inf for those it cannot have come to, and for ways through
    a junction that it is too fast for, unless it is for all.
    """
    speed, yaw_rate, road_lane = driver.speed, past[tr.YAW_RATE], int(past[tr.ROAD_LANE])
    lane, arc, offset, turn = places.lane[i], places.arc[i], places.offset[i], places.turn[i]
    in_junction, successor_start, successor = lanes.in_junction, lanes.successor_start, lanes.successor
    start, ps, ph = lanes.start, lanes.s, lanes.heading
    cost[:] = np.inf
    known = False
    for j in range(CANDIDATES):
        if lane[j] >= 0 and in_junction[lane[j]]:
            known = known or _leads_to(successor_start, successor, road_lane, lane[j])
    for j in range(CANDIDATES):
        number = lane[j]
        if number < 0:
            break
        if known and in_junction[number] and not _leads_to(successor_start, successor, road_lane, number):
            continue
        cost[j] = abs(offset[j]) + 4.0 * abs(turn[j])
        if in_junction[number] and speed > 1.0:
            cost[j] += 1.5 * abs(yaw_rate - speed * _curvature(start, ps, ph, number, arc[j]))
    _leave_out_too_bent(lanes, driver, lane, arc, cost)


@kernel
def _leave_out_too_bent(lanes: LaneArrays, driver: _Driver, lane: IntArray, arc: FloatArray, cost: FloatArray) -> None:
    possible = False
    for j in range(CANDIDATES):
        possible = possible or (cost[j] < np.inf and not _beyond_grip(lanes, lane[j], arc[j], driver))
    for j in range(CANDIDATES):
        if possible and cost[j] < np.inf and _beyond_grip(lanes, lane[j], arc[j], driver):
            cost[j] = np.inf


@kernel
def _starts(
    lanes: LaneArrays, body: FloatArray, past: FloatArray, places: LanePlaces, i: int, driver: _Driver,
    cost: FloatArray, found: _Starts,
) -> int:  # fmt: skip
    """The lanes object `i` may be following, likeliest first, at most BRANCHES; returns how many.

    Inside a junction many lanes lie over one another: those that come from the lane it was last seen on go
    before all others, and among them the ones that fit its offset, heading and turning. An object that drifts
    over a lane's edge is given the lane beside it as well. `cost` (CANDIDATES,) is overwritten.
    """
    speed = driver.speed
    lane, arc, offset, turn = places.lane[i], places.arc[i], places.offset[i], places.turn[i]
    found_lane, found_arc, found_offset = found
    _misfits(lanes, driver, past, places, i, cost)
    limit, count = np.inf, 0
    while count < BRANCHES:
        j = 0
        for k in range(1, CANDIDATES):
            j = k if cost[k] < cost[j] else j
        if not cost[j] < np.inf or cost[j] > limit:
            break
        limit = cost[j] + _ALIKE if count == 0 else limit
        found_lane[count], found_arc[count], found_offset[count] = lane[j], arc[j], offset[j]
        cost[j] = np.inf
        count += 1
    if count == 0 or count == BRANCHES or speed < 1.0 or lane[0] != found_lane[0]:
        return count
    sideways = speed * elementary.sin(turn[0])
    other = lanes.beside[lane[0], 0 if sideways > 0.0 else 1]
    half = (lanes.left if sideways > 0.0 else lanes.right)[lanes.start[lane[0]]]
    room = half - math.copysign(offset[0], offset[0] * sideways)
    if other >= 0 and abs(sideways) > 0.4 and room < 1.5 * abs(sideways):
        found_arc[count], found_offset[count] = _on_lane(lanes, other, body[ob.X], body[ob.Y])
        found_lane[count] = other
        count += 1
    return count


@kernel
def _curvature(start: IntArray, ps: FloatArray, ph: FloatArray, number: int, s: float) -> float:
    p = start[number]
    while p + 2 < start[number + 1] and ps[p + 1] < s:
        p += 1
    return float((ph[p + 1] - ph[p]) / max(ps[p + 1] - ps[p], 0.2))


@kernel
def _choices(forks: _Forks, number: int, distance: float, driver: _Driver, out: IntArray) -> int:
    """Successors that a driver, `distance` before them, may take, at most BRANCHES: the straightest, the outer ones,
    then the straightest of the others; ways back (U-turns) last. Those that are too bent to be taken at this speed are
    left out, unless all of them are: then the driver may take any.
    """
    _, turn, bend, bend_at, successor_start, successor = forks
    count, any_slow_enough = 0, False
    for k in range(successor_start[number], successor_start[number + 1]):
        n = successor[k]
        any_slow_enough = any_slow_enough or not _too_fast(bend[n], distance + bend_at[n], driver)
    for rule in range(2 + BRANCHES):
        best, value = -1, np.inf
        for k in range(successor_start[number], successor_start[number + 1]):
            n = successor[k]
            taken = False
            for j in range(count):
                taken = taken or out[j] == n
            back = abs(turn[n]) > _BACK_RAD
            too_fast = any_slow_enough and _too_fast(bend[n], distance + bend_at[n], driver)
            if taken or too_fast or (back and rule in (1, 2)):
                continue
            cost = abs(turn[n]) + (_BACK_RAD if back else 0.0)
            if rule in (1, 2):
                cost = -turn[n] if rule == 1 else turn[n]
            if cost < value:
                best, value = n, cost
        if best >= 0 and count < BRANCHES:
            out[count] = best
            count += 1
    return count


@kernel
def _extend(
    forks: _Forks, made: LaneChains, b: int, base: int, count: int, horizon: float, driver: _Driver, options: IntArray
) -> int:
    """Follow chain `b` to the horizon; at forks, copies take the other ways. Returns the new count."""
    row, chain, begin, side = made
    depth = 0
    while depth + 1 < DEPTH and chain[b, depth + 1] >= 0:
        depth += 1
    while depth + 1 < DEPTH:
        end = begin[b, depth] + forks.length[chain[b, depth]]
        if end > horizon:
            break
        m = _choices(forks, chain[b, depth], end, driver, options)
        if m == 0:
            break
        for j in range(1, m):
            if count - base < BRANCHES:
                row[count], side[count] = row[b], side[b]
                for k in range(DEPTH):
                    chain[count, k], begin[count, k] = chain[b, k], begin[b, k]
                chain[count, depth + 1], begin[count, depth + 1] = options[j], end
                count += 1
        depth += 1
        chain[b, depth], begin[b, depth] = options[0], end
    return count


@array_kernel
def chains(
    lanes: LaneArrays, body: FloatArray, past: FloatArray, places: LanePlaces,
    reach: float, lateral: float, decel: float,
) -> LaneChains:  # fmt: skip
    """The chains of lanes that each object, known by its `past` (N, PAST), may follow for `reach` (m) plus 6 s of its
    speed.
    """
    forks = _Forks(lanes.length, lanes.turn, lanes.bend, lanes.bend_at, lanes.successor_start, lanes.successor)
    options, cost = np.zeros(BRANCHES, dtype=np.int64), np.empty(CANDIDATES)
    n = len(past)
    # A literal 0 would compile `_extend` once for itself and once for every other number.
    row, count = np.empty(n * BRANCHES, dtype=np.int64), int(np.int64(0))
    chain, begin = np.empty((n * BRANCHES, DEPTH), dtype=np.int64), np.empty((n * BRANCHES, DEPTH))
    side = np.empty(n * BRANCHES)
    made = LaneChains(row, chain, begin, side)
    first = _Starts(np.zeros(BRANCHES, dtype=np.int64), np.zeros(BRANCHES), np.zeros(BRANCHES))
    for i in range(n):
        driver = _Driver(body[i, ob.SPEED], lateral, decel)
        found = _starts(lanes, body[i], past[i], places, i, driver, cost, first)
        base = count
        for j in range(found):
            row[count], side[count] = i, first.offset[j]
            for k in range(DEPTH):
                chain[count, k], begin[count, k] = -1, 0.0
            chain[count, 0], begin[count, 0] = first.lane[j], -first.arc[j]
            count += 1
        b, horizon = base, reach + 6.0 * driver.speed
        while b < count:
            count = _extend(forks, made, b=b, base=base, count=count, horizon=horizon, driver=driver, options=options)
            b += 1
    return LaneChains(row[:count], chain[:count], begin[:count], side[:count])
