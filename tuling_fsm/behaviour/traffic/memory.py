"""What the traffic rules remember from tick to tick."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from tuling_fsm.map.route import Route


class LightDecision(str, Enum):
    """What was decided at a light that is not green; kept until it is green or the line is passed (USE-4)."""

    OPEN = "open"
    STOP = "stop"
    GO = "go"


class LineKey(NamedTuple):
    """A stop line of the route: a second lap of the same route meets it at another arc length (dm)."""

    signal: int
    s_dm: int


@dataclass(frozen=True)
class LineMemory:
    """One stop line ahead."""

    choice: LightDecision = LightDecision.OPEN
    served: bool = False
    """The car has stood at the stop sign for as long as it must."""
    stood_s: float = 0.0
    """How long it has stood before the sign."""


class JunctionKey(NamedTuple):
    """A junction of the route, told apart from a later visit by its arc length (dm)."""

    junction: str
    s_dm: int


@dataclass(frozen=True)
class JunctionMemory:
    """One junction ahead in which vehicles may have to be let by."""

    arrived: float = math.inf
    """Stamp at which the car came to the line."""
    other_arrivals: dict[int, float] = field(default_factory=dict)
    """Stamp at which each other vehicle came to its own."""
    held: bool = False
    clear_since: float = math.inf
    """Stamp since which no vehicle is in the way."""
    going: bool = False
    """The car has been given its turn."""


class PedestrianWait(NamedTuple):
    """Where one stands that is waited for, along and beside the route (m), whatever its id; since when, and when one
    was seen there last, s; where the front bumper was on the route when that began, m.
    """

    s: float
    offset: float
    since: float
    seen: float
    front: float


@dataclass(frozen=True)
class TrafficRuleMemory:
    """All of it; it belongs to one route and is dropped with it (USE-3)."""

    route: Route | None = None
    lines: dict[LineKey, LineMemory] = field(default_factory=dict)
    junctions: dict[JunctionKey, JunctionMemory] = field(default_factory=dict)
    released: tuple[int, ...] = ()
    """Pedestrians that stand and are crept past (USE-5)."""
    given_up: tuple[int, ...] = ()
    """Those of them that have been waited for long enough: they are gone round (USE-2)."""
    beside: tuple[int, ...] = ()
    """Those given up that are not in the way along the route, but of a motion elsewhere."""
    pedestrian_waits: tuple[PedestrianWait, ...] = ()
    """One a place; forgotten when nobody has been seen there for the stand-off."""
    start_blocked: bool = False
    start_clear_since: float = -math.inf
