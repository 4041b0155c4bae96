"""Reference routes and blocked parts of them, as lines for the header of a film."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.viewer.origin import PageOrigin
from tuling_fsm.viewer.road_columns import simplified

ROUTE_TOLERANCE_M = 0.05
"""How far a simplified line may lie from the one that it replaces."""


@dataclass
class RouteHistory:
    """Lines of one kind, each of which holds until the next.

    Args:
        name: of the kind, for the page.
        origin: of the film.
    """

    name: str
    origin: PageOrigin
    found: list[dict[str, Any]] = field(default_factory=list)

    def take(self, t: float, points: FloatArray) -> None:
        """A line (N, 2 or more) from a time (s) of the film on; none where it has no points."""
        flat = self.origin.flat(simplified(points[:, :2], ROUTE_TOLERANCE_M))
        if not self.found or self.found[-1]["xy"] != flat:
            self.found.append({"name": self.name, "t": round(t, 3), "xy": flat})
