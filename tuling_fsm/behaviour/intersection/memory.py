"""What the states of `intersection` remember."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IntersectionMemory:
    """Memory of the composite."""

    standing_s: float = 0.0
    """For how long the car has stood without a reason, in a row (INT-4)."""
