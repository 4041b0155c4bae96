"""Where objects will be, 0 to 6 s ahead. Numba kernels."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.world.lane_index import STOP, BoolArray, IntArray, LaneArrays
from tuling_fsm.world.lane_kernels import CANDIDATES, DEPTH

_SETTLE_M = 12.0
"""Over this distance an object's offset from its lane's centre falls to a third."""
_ALIGN_M = 4.0
_LINE_GAP_M = 0.3
_OVER_LINE_M = 2.5
"""One who stands this far over a line still stands at it."""
_STOP_SIGN_DONE_M = 2.0
_TURN_FADE_S = 2.0
"""Off the lanes a turn is carried on for about this long."""


@kernel
def _lines_ahead(
    line_start: IntArray, line_s: FloatArray, line_kind: IntArray, line_closed: BoolArray,
    lane_closed: BoolArray, in_junction: BoolArray,
    chain: IntArray, begin: FloatArray, front: float, v: float, decel: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Distances from the front bumper along a chain, inf for none: to the first closed line or lane that one can still
    stop at, to the first closed light, to the first line or junction.
    """
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
            if room < -_OVER_LINE_M:
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


@njit(cache=True)
def _occupants(lane_count: int, lane: IntArray, offset: FloatArray, width: FloatArray) -> tuple[IntArray, IntArray]:
    """Linked lists of the objects on each lane: entry `i * CANDIDATES + j` is object i by its candidate j."""
    first = np.full(lane_count, -1, dtype=np.int64)
    following = np.full(len(lane) * CANDIDATES, -1, dtype=np.int64)
    for i in range(len(lane)):
        for j in range(CANDIDATES):
            if lane[i, j] >= 0 and abs(offset[i, j]) < 0.5 * width[i] + 1.0:
                following[i * CANDIDATES + j] = first[lane[i, j]]
                first[lane[i, j]] = i * CANDIDATES + j
    return first, following


@kernel
def _leader(
    i: int, length_i: float, chain: IntArray, begin: FloatArray, first: IntArray, following: IntArray, arc: FloatArray,
    length: FloatArray,
) -> tuple[int, float]:  # fmt: skip
    """The next object ahead along a chain and the gap to it, bumper to bumper (m); -1, inf for none."""
    best, gap = -1, np.inf
    for depth in range(DEPTH):
        if chain[depth] < 0 or begin[depth] > gap + 60.0:
            break
        entry = first[chain[depth]]
        while entry >= 0:
            j = entry // CANDIDATES
            ahead = begin[depth] + arc[j, entry % CANDIDATES]
            if j != i and ahead > 0.4 * length_i and ahead - 0.5 * (length_i + length[j]) < gap:
                best, gap = j, ahead - 0.5 * (length_i + length[j])
            entry = following[entry]
        if best >= 0:
            break
    return best, gap


@kernel
def _sample(
    start: IntArray, ps: FloatArray, px: FloatArray, py: FloatArray, ph: FloatArray, chain: IntArray, begin: FloatArray,
    speed: float, side: float, heading: float, lateral: float, limit: float, gap: float, speed_ahead: float,
    out_x: FloatArray, out_y: FloatArray, out_heading: FloatArray,
) -> None:  # fmt: skip
    """Walk along one chain; `limit` and `gap` (m) bound how far one may have come, the latter grows with the leader."""
    travelled, depth, p, skew = 0.0, 0, start[chain[0]], 0.0
    settle, align = 1.0, 1.0
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
        if k == 0:
            skew = (heading - on + math.pi) % (2.0 * math.pi) - math.pi
        out_x[k] = px[p] + u * dx - settle * side * dy / step
        out_y[k] = py[p] + u * dy + settle * side * dx / step
        out_heading[k] = on + skew * align
        v = speed
        if step > 0.2 and v * v * abs(turn) > lateral * step:
            v = math.sqrt(lateral * step / abs(turn))
        bound = min(limit, gap + speed_ahead * (k + 1) * PREDICTION_STEP_S)
        advance = max(min(travelled + v * PREDICTION_STEP_S, bound) - travelled, 0.0)
        travelled += advance
        settle /= 1.0 + advance / _SETTLE_M
        align /= 1.0 + advance / _ALIGN_M


@njit(cache=True)
def follow_chains(
    lanes: LaneArrays, line_closed: BoolArray, held: IntArray,
    row: IntArray, chain: IntArray, begin: FloatArray, side: FloatArray,
    x: FloatArray, y: FloatArray, heading: FloatArray, speed: FloatArray, length: FloatArray, width: FloatArray,
    lane: IntArray, arc: FloatArray, offset: FloatArray,
    standing: float, lateral: float, decel: float, follow_gap: float,
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """Predict each chain: constant speed, but no faster than bends allow, nor over a closed line or into the leader.

    The last of the objects is the car itself; its followers are taken to be ready for its stopping at once.
    Lanes that conflict with those that the car holds (`held`) are not entered by those who can still stop before them.
    Returns x, y, heading (M, T), not filled for those slower than `standing`; who is ahead (M,), -1 for none, and the
    gap to him; and the distances to the first closed light, and to the first line or junction (M,), m.
    """
    lane_closed = np.zeros(len(lanes.length), dtype=np.bool_)
    for number in held:
        for k in range(lanes.conflict_start[number], lanes.conflict_start[number + 1]):
            lane_closed[lanes.conflict[k]] = True
    own = len(x) - 1
    first, following = _occupants(len(lanes.length), lane, offset, width)
    start, ps, px, py, ph = lanes.start, lanes.s, lanes.x, lanes.y, lanes.heading
    line_start, line_s, line_kind = lanes.line_start, lanes.line_s, lanes.line_kind
    m = len(row)
    out_x, out_y, out_heading = (
        np.empty((m, PREDICTION_STEPS)), np.empty((m, PREDICTION_STEPS)), np.empty((m, PREDICTION_STEPS)),
    )  # fmt: skip
    leader, gap, light, line = np.empty(m, dtype=np.int64), np.empty(m), np.empty(m), np.empty(m)
    for b in range(m):
        i = row[b]
        limit, light[b], line[b] = _lines_ahead(
            line_start, line_s, line_kind, line_closed, lane_closed, lanes.in_junction,
            chain[b], begin[b], 0.5 * length[i], speed[i], decel,
        )  # fmt: skip
        leader[b], gap[b] = _leader(i, length[i], chain[b], begin[b], first, following, arc, length)
        if speed[i] <= standing:
            continue
        behind, speed_ahead = np.inf, 0.0
        if leader[b] >= 0:
            behind = max(gap[b] - follow_gap, 0.0)
            speed_ahead = speed[leader[b]] if leader[b] < own else 0.0
        _sample(
            start, ps, px, py, ph, chain[b], begin[b],
            speed[i], side[b], heading[i], lateral, limit, behind, speed_ahead,
            out_x[b], out_y[b], out_heading[b],
        )  # fmt: skip
        out_x[b, 0], out_y[b, 0] = x[i], y[i]
    return out_x, out_y, out_heading, leader, gap, light, line


@kernel
def drift(
    x: FloatArray, y: FloatArray, heading: FloatArray, vx: FloatArray, vy: FloatArray, yaw_rate: FloatArray,
    out_x: FloatArray, out_y: FloatArray, out_heading: FloatArray,
) -> None:  # fmt: skip
    """Predict objects off the lanes: constant velocity, whose direction goes on turning at a rate that fades away."""
    for i in range(len(x)):
        px, py, turned = x[i], y[i], 0.0
        for k in range(PREDICTION_STEPS):
            out_x[i, k], out_y[i, k], out_heading[i, k] = px, py, heading[i] + turned
            turned += yaw_rate[i] * math.exp(-k * PREDICTION_STEP_S / _TURN_FADE_S) * PREDICTION_STEP_S
            c, s = math.cos(turned), math.sin(turned)
            px += (c * vx[i] - s * vy[i]) * PREDICTION_STEP_S
            py += (s * vx[i] + c * vy[i]) * PREDICTION_STEP_S
