"""Stretches of the route that are driven slowly because of what may come (USE-13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import LaneLine

_EASE_DECEL = 1.0
_ONSET_S = 0.8
"""A zone that comes up late is entered faster: it is not braked for harder than this, nor before this time."""


class SlowZone(NamedTuple):
    """The rear axle goes no faster than `speed` (m/s) from `s_from` to `s_to` of the route's reference (m)."""

    s_from: float
    s_to: float
    speed: float


def slowed(lanes: tuple[LaneLine, ...], zones: Sequence[SlowZone], s: float, v: float) -> tuple[LaneLine, ...]:
    """The lanes with their speed limits lowered in the zones, as far as the car at `s` with speed `v` can ease off."""
    if not zones:
        return lanes
    table = np.array(zones, dtype=np.float64)
    return tuple(replace(lane, limit=_lowered(lane, table, s, v)) for lane in lanes)


def _lowered(lane: LaneLine, zones: FloatArray, s: float, v: float) -> FloatArray:
    limit = np.empty(len(lane.limit))
    _lower(lane.center.s, lane.route_s0, np.ascontiguousarray(lane.limit), zones, s, v, limit)
    return limit


@kernel
def _lower(
    along: FloatArray, begin: float, limit: FloatArray, zones: FloatArray, s: float, v: float, out: FloatArray
) -> None:
    for i in range(len(along)):
        at, out[i] = begin + along[i], limit[i]
        ahead = max(at - s - _ONSET_S * v, 0.0)
        least = math.sqrt(max(v * v - 2.0 * _EASE_DECEL * ahead, 0.0))
        for k in range(len(zones)):
            if zones[k, 0] <= at <= zones[k, 1]:
                out[i] = min(out[i], max(zones[k, 2], least))


def warm_up() -> None:
    """Compile and load the kernel of the zones, so that no tick has to."""
    slowed((LaneLine.along(((0.0, 0.0), (1.0, 0.0)), 3.0),), (SlowZone(0.0, 1.0, 1.0),), 0.0, 1.0)
