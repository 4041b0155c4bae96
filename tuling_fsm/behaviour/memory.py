"""What the states remember from tick to tick: frozen values that are replaced, never changed.

Every time in here is on the machine's active clock (s), so that an emergency stop does not use it up (EST-2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tuling_fsm.behaviour.intersection.memory import IntersectionMemory
from tuling_fsm.behaviour.mission.memory import MissionProgress
from tuling_fsm.behaviour.on_road.memory import OnRoadMemory
from tuling_fsm.behaviour.parking.memory import ParkingMemory
from tuling_fsm.behaviour.temporary_stop.memory import TemporaryStop
from tuling_fsm.behaviour.traffic.rules import TrafficRuleMemory, TrafficRules
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Limit, PlanResult, Reason
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import RouteRequest
from tuling_fsm.world.world import RouteMatch

YIELDS = (Reason.RED_LIGHT, Reason.PEDESTRIAN)
"""Stopping for these is never "no path" (NOR-7)."""


@dataclass(frozen=True)
class PlanOutcome:
    """What is kept of a plan: whether there is one, what limits it, and how far it gets (m)."""

    known: bool = False
    feasible: bool = True
    reason: Reason = Reason.NONE
    limit: Limit = field(default_factory=lambda: Limit(Reason.NONE))
    uses_reverse: bool = False
    travel: float = 0.0

    @classmethod
    def of(cls, result: PlanResult | None) -> PlanOutcome:
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
    def waits_for_a_stop(self) -> bool:
        """Whether there is a path, and a stop that has begun keeps it from being driven (USE-11)."""
        return self.limit.reason is Reason.PLAN_REJECTED and self.reason is Reason.NONE

    @property
    def failed(self) -> bool:
        """Whether there is no path."""
        return self.known and not self.feasible and not self.yields and not self.waits_for_a_stop

    @property
    def drives(self) -> bool:
        """Whether a motion has been found and is driven."""
        return self.known and self.feasible and self.travel > 0.0 and self.limit.reason is not Reason.PLANNING


@dataclass(frozen=True)
class RouteQuestion:
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
    status: str = ""
    """What the map's own search said of start and goal after the last failure, see `RouteResult`."""
    ticket: int = 0
    """Of the mission goal that it is asked for, see `MissionProgress.ticket`."""


@dataclass(frozen=True, eq=False)
class TurnSearch:
    """Whether there is a plan that turns the car to an opposite route (RRF-2)."""

    route: Route | None = None
    """To which one; None where none has been looked at."""
    at: float = -math.inf
    """When the planner was asked."""
    open: bool = False
    """The planner is asked on this tick, and answers on the next."""
    found: bool = False


@dataclass(frozen=True, eq=False)
class RoutingMemory:
    """The route in use, and the traffic with the route server."""

    route: Route | None = None
    kept: Route | None = None
    """A newer one that cannot be switched to yet (RRF-2)."""
    kept_unasked: bool = False
    """It was pushed: it is for no mission goal in particular, and may answer the next question."""
    kept_ticket: int = 0
    """Of the mission goal that it was asked for."""
    switched: bool = False
    """The route in use was replaced on this tick."""
    turn: TurnSearch = field(default_factory=TurnSearch)
    switches: int = 0
    """How many followed one another sooner than a server that knows its mind would send them."""
    switched_at: float = -math.inf
    arrived: bool = False
    """The route in use has been driven to its end (NOR-10)."""
    number: int = 0
    """Of the latest request."""
    outbox: tuple[RouteRequest, ...] = ()
    """Requests of this tick."""
    held: tuple[RouteMatch, ...] = ()
    """Answers that came during an emergency stop (EST-1)."""
    question: RouteQuestion = field(default_factory=RouteQuestion)
    refresh: int = -1
    """Number of the open refresh request, -1 for none."""
    refreshed_at: float = 0.0
    ticket: int = 0
    """Of the mission goal that the latest request was for, see `MissionProgress.ticket`."""
    serves: int = 0
    """The same for the route in use."""


@dataclass(frozen=True, eq=False)
class FreeDrivingLadder:
    """Attempts at free-space driving, one after the other: goals, and the lines that hold for the present one."""

    goals: tuple[Pose, ...] = ()
    rung: int = 0
    lines: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    failing_since: float | None = None
    """The present attempt; of an exhausted ladder, since when it is."""
    route: Route | None = None
    """The World's when the goals were chosen."""
    inherited: bool = False
    """The motion was begun by the state before."""
    occupied: bool = False
    """There is nothing to try as long as every place at the end of the route is taken (USE-7)."""

    @property
    def exhausted(self) -> bool:
        """Whether every attempt has failed, or there was none to make."""
        return self.rung >= len(self.goals)

    @property
    def goal(self) -> Pose:
        """Of the present attempt, or of the last one."""
        return self.goals[min(self.rung, len(self.goals) - 1)]


@dataclass(frozen=True)
class RouteProgress:
    """Where on the route the car last came on (m), and when (NOR-7)."""

    s: float = 0.0
    at: float = 0.0


@dataclass(frozen=True, eq=False)
class Memory:
    """Everything that the states remember."""

    entered: bool = False
    """The initial state has been entered: the machine has run."""
    routing: RoutingMemory = field(default_factory=RoutingMemory)
    mission: MissionProgress = field(default_factory=MissionProgress)
    """Of the mission."""
    on_road: OnRoadMemory = field(default_factory=OnRoadMemory)
    stop: TemporaryStop = field(default_factory=TemporaryStop)
    parking: ParkingMemory = field(default_factory=ParkingMemory)
    intersection: IntersectionMemory = field(default_factory=IntersectionMemory)
    ladder: FreeDrivingLadder = field(default_factory=FreeDrivingLadder)
    progress: RouteProgress = field(default_factory=RouteProgress)
    plan: PlanOutcome = field(default_factory=PlanOutcome)
    """Of the request of the tick before."""
    probe: PlanOutcome = field(default_factory=PlanOutcome)
    """Of the latest probe of the present state."""
    probed_at: float = -math.inf
    unexplained_s: float = 0.0
    """Time in the present state and its twin without the stops that NOR-7 calls feasible."""
    rules: TrafficRules = field(default_factory=lambda: TrafficRules((), TrafficRuleMemory()))
    """What the traffic rules say on this tick."""
    reset: bool = False
    """An operator has called for the car to set off again, during an emergency stop (PRK-5)."""
    queue_given_up: bool = False
    """That the line ahead has been given up has been said (NOR-11)."""
    reports: tuple[str, ...] = ()
    """One line each, of this tick."""


def report(memory: Memory, line: str) -> Memory:
    """Add a line for the log."""
    return replace(memory, reports=(*memory.reports, line))
