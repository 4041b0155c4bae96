"""Stretches of the route that are driven slowly because of what may come (USE-13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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
    return tuple(_slowed(lane, zones, s, v) for lane in lanes) if zones else lanes


def _slowed(lane: LaneLine, zones: Sequence[SlowZone], s: float, v: float) -> LaneLine:
    at = lane.route_s0 + lane.center.s
    ahead = np.maximum(at - s - _ONSET_S * v, 0.0)
    least = np.sqrt(np.maximum(v * v - 2.0 * _EASE_DECEL * ahead, 0.0))
    limit = lane.limit
    for zone in zones:
        inside = (at >= zone.s_from) & (at <= zone.s_to)
        limit = np.where(inside, np.minimum(limit, np.maximum(zone.speed, least)), limit)
    return replace(lane, limit=limit)
