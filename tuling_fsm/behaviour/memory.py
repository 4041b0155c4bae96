"""What the states remember from tick to tick: frozen values that are replaced, never changed.

Every time in here is on the machine's active clock (s), so that an emergency stop does not use it up (EST-2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tuling_fsm.behaviour.intersection.memory import Intersection
from tuling_fsm.behaviour.mission.memory import Book
from tuling_fsm.behaviour.on_road.memory import OnRoad
from tuling_fsm.behaviour.parking.memory import Parking
from tuling_fsm.behaviour.temporary_stop.memory import Stop
from tuling_fsm.behaviour.traffic.rules import RuleMemory, Rules
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Limit, PlanResult, Reason
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import RouteRequest
from tuling_fsm.world.world import RouteMatch

YIELDS = (Reason.RED_LIGHT, Reason.PEDESTRIAN)
"""Stopping for these is never "no path" (NOR-7)."""


@dataclass(frozen=True)
class Outcome:
    """What is kept of a plan: whether there is one, what limits it, and how far it gets (m)."""

    known: bool = False
    feasible: bool = True
    reason: Reason = Reason.NONE
    limit: Limit = field(default_factory=lambda: Limit(Reason.NONE))
    uses_reverse: bool = False
    travel: float = 0.0

    @classmethod
    def of(cls, result: PlanResult | None) -> Outcome:
        """The outcome of a result; of none at all, an unknown one."""
        if result is None:
            return cls()
        travel = 0.0 if result.trajectory is None else result.trajectory.length
        return cls(True, result.feasible, result.reason, result.limit, result.uses_reverse, travel)

    @property
    def yields(self) -> bool:
        """Whether it stops for a light or a pedestrian."""
        return self.limit.reason in YIELDS or self.reason in YIELDS

    @property
    def failed(self) -> bool:
        """Whether there is no path."""
        return self.known and not self.feasible and not self.yields


@dataclass(frozen=True)
class Question:
    """A question to the route server that is asked until it is answered (DEP-2).

    `first` is the number of its first request: a late answer to any of them still counts. `asked_at` is None while
    waiting to ask again at `due_at`.
    """

    purpose: str = "initial"
    first: int = 0
    failures: int = 0
    asked_at: float | None = None
    due_at: float = 0.0
    answered: bool = False


@dataclass(frozen=True, eq=False)
class Routing:
    """The route in use, and the traffic with the route server."""

    route: Route | None = None
    kept: Route | None = None
    """A newer one that cannot be switched to yet (RRF-2)."""
    switched: bool = False
    """The route in use was replaced on this tick."""
    arrived: bool = False
    """The route in use has been driven to its end (NOR-10)."""
    number: int = 0
    """Of the latest request."""
    outbox: tuple[RouteRequest, ...] = ()
    """Requests of this tick."""
    held: tuple[RouteMatch, ...] = ()
    """Answers that came during an emergency stop (EST-1)."""
    question: Question = field(default_factory=Question)
    refresh: int = -1
    """Number of the open refresh request, -1 for none."""
    refreshed_at: float = 0.0
    ticket: int = 0
    """Of the errand that the latest request was for, see `Book.ticket`."""
    serves: int = 0
    """The same for the route in use."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """Attempts at free-space driving, one after the other: goals, and the lines that hold for the present one."""

    goals: tuple[Pose, ...] = ()
    rung: int = 0
    lines: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    failing_since: float | None = None
    """The present attempt; of an exhausted ladder, since when it is."""
    route: Route | None = None
    """The World's when the goals were chosen."""

    @property
    def exhausted(self) -> bool:
        """Whether every attempt has failed, or there was none to make."""
        return self.rung >= len(self.goals)

    @property
    def goal(self) -> Pose:
        """Of the present attempt, or of the last one."""
        return self.goals[min(self.rung, len(self.goals) - 1)]


@dataclass(frozen=True)
class Progress:
    """Where on the route the car last came on (m), and when (NOR-7)."""

    s: float = 0.0
    at: float = 0.0


@dataclass(frozen=True, eq=False)
class Memory:
    """Everything that the states remember."""

    entered: bool = False
    """The initial state has been entered: the machine has run."""
    routing: Routing = field(default_factory=Routing)
    book: Book = field(default_factory=Book)
    """Of the mission."""
    on_road: OnRoad = field(default_factory=OnRoad)
    stop: Stop = field(default_factory=Stop)
    parking: Parking = field(default_factory=Parking)
    intersection: Intersection = field(default_factory=Intersection)
    ladder: Ladder = field(default_factory=Ladder)
    progress: Progress = field(default_factory=Progress)
    plan: Outcome = field(default_factory=Outcome)
    """Of the request of the tick before."""
    probe: Outcome = field(default_factory=Outcome)
    """Of the latest probe of the present state."""
    probed_at: float = -math.inf
    unexplained_s: float = 0.0
    """Time in the present state without the stops that NOR-7 calls feasible."""
    rules: Rules = field(default_factory=lambda: Rules((), RuleMemory()))
    """What the traffic rules say on this tick."""
    reports: tuple[str, ...] = ()
    """One line each, of this tick."""


def report(memory: Memory, line: str) -> Memory:
    """Add a line for people."""
    return replace(memory, reports=(*memory.reports, line))
