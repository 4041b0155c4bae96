"""A route: a chain of lanes and its reference line."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.map.lanes import LaneId


class RouteLane(NamedTuple):
    """A stretch of one lane, `lane_from` to `lane_to` along its centre, at `s_from` to `s_to` of the route's
    reference (m).

    `change` is -1 or +1 where the route leaves this stretch sideways to the right or left, else 0.
    """

    lane: LaneId
    lane_from: float
    lane_to: float
    s_from: float
    s_to: float
    change: int

    @property
    def scale(self) -> float:
        """Metres of the reference for one metre of the lane's centre."""
        return (self.s_to - self.s_from) / max(self.lane_to - self.lane_from, 1e-6)

    def route_s(self, lane_s: float) -> float:
        """Arc length on the reference of a place along the lane, m."""
        return self.s_from + self.scale * (lane_s - self.lane_from)


@dataclass(frozen=True, eq=False)
class Route:
    """Lanes in driving order without gap or overlap in s, and the reference line through their centres."""

    lanes: tuple[RouteLane, ...]
    reference: Polyline

    @property
    def length(self) -> float:
        """Length of the reference line, m."""
        return self.reference.length

    def index_at(self, s: float) -> int:
        """Index of the stretch at arc length `s` of the reference, clamped to the ends."""
        return min(bisect_right(self._ends, s), len(self.lanes) - 1)

    def lane_before(self, i: int) -> LaneId | None:
        """The lane from whose end stretch `i` is reached; None for the first one, and after a change of lanes."""
        before = self.lanes[i - 1] if i > 0 else None
        return None if before is None or before.change else before.lane

    @cached_property
    def _ends(self) -> tuple[float, ...]:
        return tuple(lane.s_to for lane in self.lanes)

    def poses(self) -> FloatArray:
        """The reference as rows x, y, heading (N, 3): the route as it goes over the wire."""
        return np.column_stack((self.reference.xy, self.reference.heading))
