"""What the states of `on_road` remember."""

from __future__ import annotations

from dataclasses import dataclass, field

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.lanes import LaneId


@dataclass(frozen=True, eq=False)
class RouteBlock:
    """A part of the route that cannot be driven: poses (N, 3) and stretches of lanes (lane, from, to; m) (RPL-1)."""

    poses: FloatArray
    stretches: tuple[tuple[LaneId, float, float], ...]


@dataclass(frozen=True)
class ExploreMemory:
    """EXP-4's counts, kept from visit to visit until `normal` is reached."""

    spent_s: float = 0.0
    timeouts: int = 0
    visits: int = 0
    timed_out: bool = False
    """On this visit."""


@dataclass(frozen=True, eq=False)
class OnRoadMemory:
    """Memory of the composite."""

    block: RouteBlock | None = None
    exploring: ExploreMemory = field(default_factory=ExploreMemory)
