"""Which lanes a point lies on: a uniform grid over all lane samples, searched by one compiled kernel."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, Int32Array
from tuling_fsm.core.cells import boxes_by_cell
from tuling_fsm.core.kernels import array_kernel, inlined_kernel, kernel
from tuling_fsm.map.lanes import Lane, LaneId

CELL_M = 5.0
"""Edge of a grid cell, m; doubled until the grid has at most `MAX_CELLS`."""

MAX_CELLS = 4_000_000

REACH_STEP_M = 0.2
"""Steps in which the surface beside a lane is followed, m."""

_SURELY = 1.0 + 1e-9
"""So much farther than rounding could take it."""

MAX_FOUND = 256
"""Lanes that one search reports at most."""

X, Y, S, HEADING, LEFT, RIGHT, Z = range(7)
"""Columns of `SurfaceIndex.samples`."""


@dataclass(frozen=True, eq=False)
class SurfaceIndex:
    """All lane samples in flat arrays, and the samples whose stretch of lane touches each grid cell.

    `samples` (N, 7): x, y, s, heading, left, right, z; `lane` (N,): index of the sample's lane, samples of a lane
    in order.
    `items[first[c] : first[c + 1]]` are the samples that start a stretch touching cell `c` = row * `shape[0]` + column.
    """

    samples: FloatArray
    lane: Int32Array
    first: Int32Array
    items: Int32Array
    origin: FloatArray
    """x, y of the grid's corner and edge of a cell, m (3,)."""
    shape: Int32Array
    """Columns, rows (2,)."""

    def search(self, x: float, y: float, radius: float, mask: BoolArray) -> tuple[FloatArray, Int32Array]:
        """Every masked lane whose surface is within `radius` of the point.

        Rows (K, 6): s, offset, distance from the surface, width, heading, z; and lane indices (K,), both in no
        special order.
        """
        if not (math.isfinite(x) and math.isfinite(y)):
            return np.zeros((0, 6)), np.zeros(0, np.int32)
        rows, numbers = _search(
            self.samples, self.lane, self.first, self.items, self.origin, self.shape, mask, x, y, radius
        )
        return rows, numbers

    def reach(self, rows: FloatArray, mask: BoolArray, most: float, gap: float) -> FloatArray:
        """How far (N, 2) the masked lanes' surface goes on to the left and right of rows (N, 5) x, y, heading, left,
        right: at most `most` beyond these, which are taken for surface. Gaps of up to `gap` between lanes are none.
        """
        return _reach(self.samples, self.first, self.items, self.lane, self.origin, self.shape, mask, rows, most, gap)


def build_index(lanes: Sequence[Lane]) -> SurfaceIndex:
    """Index lanes in the order given."""
    samples = np.vstack(
        [
            np.column_stack((each.center.xy, each.center.s, each.center.heading, each.left, each.right, each.z))
            for each in lanes
        ]
    )
    lane = np.repeat(np.arange(len(lanes), dtype=np.int32), [len(each.center.s) for each in lanes])
    starts = np.flatnonzero(lane[:-1] == lane[1:]).astype(np.int32)
    reach = np.maximum(samples[:, LEFT], samples[:, RIGHT])
    reach = np.maximum(reach[starts], reach[starts + 1]) + 0.1
    low = np.minimum(samples[starts, :2], samples[starts + 1, :2]) - reach[:, None]
    high = np.maximum(samples[starts, :2], samples[starts + 1, :2]) + reach[:, None]
    corner, extent = low.min(axis=0), high.max(axis=0) - low.min(axis=0)
    cell = CELL_M
    while math.prod(np.floor(extent / cell) + 1.0) > MAX_CELLS:
        cell *= 2.0
    shape = (np.floor(extent / cell) + 1.0).astype(np.int32)
    low_cell, high_cell = ((corners / cell).astype(np.int32) for corners in (low - corner, high - corner))
    first, stretches = boxes_by_cell(low_cell, high_cell, int(shape[0]), int(shape[1]))
    return SurfaceIndex(samples, lane, first, starts[stretches], np.array([*corner, cell]), shape)


def covered(
    index: SurfaceIndex, points: FloatArray, lanes: Mapping[LaneId, Lane], types: Collection[str], depth: float
) -> BoolArray:
    """Which of the points (N, 2) lie deeper than `depth` (m) inside the surface of some lane of the given types."""
    mask = np.array([lane.type in types for lane in lanes.values()], dtype=np.bool_)
    found = np.zeros(len(points), dtype=np.bool_)
    for i, (x, y) in enumerate(points.tolist()):
        rows, _ = index.search(x, y, 0.0, mask)
        found[i] = bool(np.any(0.5 * rows[:, 3] - np.abs(rows[:, 1]) > depth))
    return found


class _Nearest(NamedTuple):
    """Room for `MAX_FOUND` lanes: each with the sample that starts its stretch nearest to the point, and how far that
    is, squared, m^2.
    """

    lane: Int32Array
    start: Int32Array
    apart_sq: FloatArray


@inlined_kernel
def _apart_sq(samples: FloatArray, i: int, x: float, y: float) -> float:
    """Squared distance of a point from the centre line between sample `i` and the next, m^2."""
    dx, dy = samples[i + 1, X] - samples[i, X], samples[i + 1, Y] - samples[i, Y]
    px, py = x - samples[i, X], y - samples[i, Y]
    u = min(1.0, max(0.0, (px * dx + py * dy) / max(dx * dx + dy * dy, 1e-18)))
    return float((px - u * dx) ** 2 + (py - u * dy) ** 2)


@inlined_kernel
def _row_of(nearest: _Nearest, n: int, lane: int) -> int:
    """Row of a lane among the first `n`; `n` where it is not."""
    k = 0
    while k < n and nearest.lane[k] != lane:
        k += 1
    return k


@inlined_kernel
def _look_into(
    starts: Int32Array, samples: FloatArray, lane: Int32Array, mask: BoolArray, x: float, y: float,
    nearest: _Nearest, n: int,
) -> int:  # fmt: skip
    """Let the stretches that start at some samples compete with the nearest ones of the `n` lanes so far; returns how
    many lanes there are then.
    """
    k, known = -1, -1
    for i in starts:
        if not mask[lane[i]]:
            continue
        if lane[i] != known:
            known, k = lane[i], _row_of(nearest, n, lane[i])
            if k == n:
                if n == MAX_FOUND:
                    known = -1
                    continue
                nearest.lane[k], nearest.apart_sq[k], n = known, np.inf, n + 1
        apart_sq = _apart_sq(samples, i, x, y)
        if apart_sq < nearest.apart_sq[k]:
            nearest.apart_sq[k], nearest.start[k] = apart_sq, i
    return n


@array_kernel
def _search(
    samples: FloatArray,
    lane: Int32Array,
    first: Int32Array,
    items: Int32Array,
    origin: FloatArray,
    shape: Int32Array,
    mask: BoolArray,
    x: float,
    y: float,
    radius: float,
) -> tuple[FloatArray, Int32Array]:
    """Nearest stretch of every lane near the point, then what lies within the radius of its surface."""
    nearest = _Nearest(np.empty(MAX_FOUND, np.int32), np.empty(MAX_FOUND, np.int32), np.empty(MAX_FOUND, np.float64))
    n = 0
    c0 = max(0, math.floor((x - radius - origin[0]) / origin[2]))
    c1 = min(shape[0] - 1, math.floor((x + radius - origin[0]) / origin[2]))
    r0 = max(0, math.floor((y - radius - origin[1]) / origin[2]))
    r1 = min(shape[1] - 1, math.floor((y + radius - origin[1]) / origin[2]))
    for row in range(r0, r1 + 1):
        for column in range(c0, c1 + 1):
            cell = row * shape[0] + column
            n = _look_into(items[first[cell] : first[cell + 1]], samples, lane, mask, x, y, nearest, n)
    rows = np.empty((n, 6), np.float64)
    kept = 0
    for k in range(n):
        _describe(samples, lane, nearest.start[k], x, y, rows[kept])
        if rows[kept, 2] <= radius:
            nearest.lane[kept] = nearest.lane[k]
            kept += 1
    return rows[:kept], nearest.lane[:kept].copy()


@inlined_kernel
def _holds(samples: FloatArray, i: int, x: float, y: float, gap: float) -> bool:
    """Whether the stretch of lane from sample `i` to the next holds a point, or is within `gap` of it."""
    dx, dy = samples[i + 1, X] - samples[i, X], samples[i + 1, Y] - samples[i, Y]
    px, py = x - samples[i, X], y - samples[i, Y]
    dot, length_sq = px * dx + py * dy, max(dx * dx + dy * dy, 1e-18)
    # Most stretches of a cell are far behind or ahead: that is seen without their length, which is at most half of
    # 1 + its square.
    if dot > _SURELY * (length_sq + 0.5 * gap * (1.0 + length_sq)):
        return False
    if dot < 0.0 and dot * dot > _SURELY * gap * gap * length_sq:
        return False
    length = max(elementary.hypot(dx, dy), 1e-9)
    along, offset = dot / length, (dx * py - dy * px) / length
    if along < -gap or along > length + gap:
        return False
    u = min(1.0, max(0.0, along / length))
    left = samples[i, LEFT] + u * (samples[i + 1, LEFT] - samples[i, LEFT])
    right = samples[i, RIGHT] + u * (samples[i + 1, RIGHT] - samples[i, RIGHT])
    return bool(-right - gap <= offset <= left + gap)


@array_kernel
def _reach(
    samples: FloatArray,
    first: Int32Array,
    items: Int32Array,
    lane: Int32Array,
    origin: FloatArray,
    shape: Int32Array,
    mask: BoolArray,
    rows: FloatArray,
    most: float,
    gap: float,
) -> FloatArray:
    """`SurfaceIndex.reach`."""
    reach = rows[:, 3:5].copy()
    steps = int(most / REACH_STEP_M)
    for row in range(len(rows)):
        sin, cos = elementary.sin_cos(rows[row, 2])
        for side in range(2):
            cell, holder = -1, -1
            for step in range(1, steps + 1):
                across = (1.0 - 2.0 * side) * (rows[row, 3 + side] + step * REACH_STEP_M)
                x, y = rows[row, 0] - across * sin, rows[row, 1] + across * cos
                column, line = int((x - origin[0]) // origin[2]), int((y - origin[1]) // origin[2])
                if not (0 <= column < shape[0] and 0 <= line < shape[1]):
                    break
                # What holds one point holds most likely the next as well.
                if line * shape[0] + column != cell or not _holds(samples, holder, x, y, gap):
                    cell = line * shape[0] + column
                    holder = _holder(items[first[cell] : first[cell + 1]], samples, lane, mask, x, y, gap)
                if holder < 0:
                    break
                reach[row, side] = abs(across)
    return reach


@kernel
def _holder(
    items: Int32Array, samples: FloatArray, lane: Int32Array, mask: BoolArray, x: float, y: float, gap: float
) -> int:
    """The sample that starts a masked stretch that holds a point or is within `gap` of it; -1 if none does."""
    for i in items:
        if mask[lane[i]] and _holds(samples, i, x, y, gap):
            return int(i)
    return -1


@array_kernel
def _describe(samples: FloatArray, lane: Int32Array, i: int, x: float, y: float, row: FloatArray) -> None:
    """Fill a row for the stretch from sample `i`: s, offset, distance from the surface, width, heading, z."""
    dx, dy = samples[i + 1, X] - samples[i, X], samples[i + 1, Y] - samples[i, Y]
    px, py = x - samples[i, X], y - samples[i, Y]
    step = max(elementary.hypot(dx, dy), 1e-9)
    free = (px * dx + py * dy) / (step * step)
    u = min(1.0, max(0.0, free))
    ex, ey = px - u * dx, py - u * dy
    starts = i == 0 or lane[i - 1] != lane[i]
    ends = i + 2 == len(lane) or lane[i + 2] != lane[i]
    beyond = max(-free if starts else 0.0, free - 1.0 if ends else 0.0, 0.0) * step
    cross = (dx * py - dy * px) / step
    offset = cross if beyond > 0.0 else math.copysign(elementary.hypot(ex, ey), cross)
    left = samples[i, LEFT] + u * (samples[i + 1, LEFT] - samples[i, LEFT])
    right = samples[i, RIGHT] + u * (samples[i + 1, RIGHT] - samples[i, RIGHT])
    aside = max(offset - left, -offset - right, 0.0)
    row[0] = samples[i, S] + u * (samples[i + 1, S] - samples[i, S])
    row[1] = offset
    row[2] = elementary.hypot(aside, beyond)
    row[3] = left + right
    row[4] = samples[i, HEADING] + u * (samples[i + 1, HEADING] - samples[i, HEADING])
    row[5] = samples[i, Z] + u * (samples[i + 1, Z] - samples[i, Z])
