"""How fast a path may be driven past people, vehicles, and those who may step out from behind one (USE-15)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.planning.obstacles.beside import FROM, HIGH, LEAST, LOW, TO, ObstaclesBeside, passing_speed
from tuling_fsm.planning.obstacles.occupancy import SweptPath
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import PD, PTURN, FrenetPath
from tuling_fsm.planning.paths.reference_line import KAPPA, S
from tuling_fsm.planning.speed.roll_out import AT_LIMIT, PASSING


class PassingGap(NamedTuple):
    """How near (m) a path comes to what it passes, negative to the right, and how far ahead of the bumper that is."""

    gap: float
    distance: float


@inlined_kernel
def _gap(frenet: FrenetPath, i: int, span: FloatArray, kappa: float, body: Footprint) -> float:
    """Gap (m) across the line between the body at point `i` and what `span` (5,) says is beside it, negative to the
    right of the car; 0 where they overlap.
    """
    d, turn = frenet.path[i, PD], frenet.path[i, PTURN]
    behind = d + span[FROM] * (turn - 0.5 * kappa * span[FROM])
    before = d + span[TO] * (turn - 0.5 * kappa * span[TO])
    left = span[LOW] - max(behind, before) - body.half_width
    right = min(behind, before) - body.half_width - span[HIGH]
    return float(max(left, 0.0) if left >= right else -max(right, 0.0))


@inlined_kernel
def limit_passing(swept: SweptPath, beside: ObstaclesBeside, limit: FloatArray, cause: FloatArray) -> None:
    """Lower the speed `limit` (n,) of a path to what the gaps beside it allow; `cause` (n,) becomes `AT_LIMIT`, or
    `PASSING` plus the row of what is passed.
    """
    frenet, body, at = swept.frenet, swept.body, swept.frenet.at
    side = body.half_width + swept.band.turn * body.front
    for i in range(frenet.points):
        cause[i] = AT_LIMIT
    for m in range(len(beside.kind)):
        cover, reach, clear = beside.cover[at, m], beside.reach[at, m], beside.clear[m]
        if cover[0] > swept.band.high + side + clear or cover[1] < swept.band.low - side - clear:
            continue
        near, speed, slope = beside.curve[m, 0], beside.curve[m, 1], beside.curve[m, 2]
        for i in range(max(0, reach[0] - frenet.first + 1), min(frenet.points, reach[1] - frenet.first + 2)):
            k = max(0, frenet.first + i - 1)
            span = beside.span[at, m, k]
            if span[LOW] > span[HIGH]:
                continue
            gap = abs(_gap(frenet, i, span, frenet.line[k, KAPPA], body))
            v = max(span[LEAST], passing_speed(near, speed, slope, gap))
            if v < limit[i]:
                limit[i], cause[i] = v, PASSING + m


@kernel
def nearest_pass(frenet: FrenetPath, beside: ObstaclesBeside, m: int, body: Footprint) -> PassingGap:
    """Where a path comes nearest to thing `m` beside it, and how far ahead of the car that begins."""
    least, reach = np.inf, beside.reach[frenet.at, m]
    for i in range(max(0, reach[0] - frenet.first + 1), min(frenet.points, reach[1] - frenet.first + 2)):
        k = max(0, frenet.first + i - 1)
        span = beside.span[frenet.at, m, k]
        if span[LOW] <= span[HIGH]:
            gap = _gap(frenet, i, span, frenet.line[k, KAPPA], body)
            least = gap if abs(gap) < abs(least) else least
    front = frenet.line[max(0, frenet.first - 1), S] + body.front
    return PassingGap(least, max(0.0, beside.begin[frenet.at, m] - front))
