"""Where the reference point of an actor is put, or where a route leads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OnLane:
    """On a lane (OpenDRIVE road, lane number, road s in m), facing its travel; offset m, + left of it."""

    road: str
    lane: int
    s: float
    offset: float = 0.0


@dataclass(frozen=True)
class AtPose:
    """At a pose in `map` (m, rad); without a heading, that of the lane there (0 off the road)."""

    x: float
    y: float
    heading: float | None = None


@dataclass(frozen=True)
class InSlot:
    """The body centred in a parking space (OpenDRIVE object id), facing its heading or, `backed_in`, away."""

    slot: str
    backed_in: bool = False


@dataclass(frozen=True)
class RelativeTo:
    """`ahead` m (negative: behind) along the lane of another actor, `lanes` to its left (negative: right)."""

    actor: str
    ahead: float
    lanes: int = 0


@dataclass(frozen=True)
class Anywhere:
    """On a driving lane (a person: beside the road), drawn by the simulation's seed."""


OnMap = OnLane | AtPose | InSlot
"""Where these are the map alone decides."""
Placement = OnMap | RelativeTo | Anywhere
