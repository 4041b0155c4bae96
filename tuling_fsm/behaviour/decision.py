"""What the behaviour says on one tick, and all that it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from tuling_fsm.behaviour.deadlines import Timeout
from tuling_fsm.behaviour.flaps import Flaps
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.supervisors.rain_fog import RainFogMemory
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.machine.engine import Pending
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import RouteRequest
from tuling_fsm.world.mission import Mission
from tuling_fsm.world.world import World


@dataclass(frozen=True)
class TransitionEvent:
    """A transition that was made, as it goes over the wire. `rejected` are rows that had matured too, but lost."""

    seq: int
    stamp: float
    source: str
    dest: str
    clause: str
    guard: str
    dwell_s: float
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BehaviourRecord:
    """The whole behaviour as a value: plain and picklable. `Behaviour.restore` goes on from it."""

    machine: StateRecord[Memory]
    emergency_stop: StateRecord[None]
    rain_fog: StateRecord[RainFogMemory]
    route_refresh: StateRecord[None]
    seq: int = 0
    """Of the latest transition."""
    flaps: Flaps = field(default_factory=Flaps)
    route_s: float = 0.0
    """Where the car was on the route in use (m): a second lap is gone on with as such."""

    @property
    def mission(self) -> Mission | None:
        """The one that is being carried out."""
        return self.machine.memory.mission.mission


@dataclass(frozen=True, eq=False)
class Decision:
    """What to do on this tick, and why (EXPL-1)."""

    stamp: float
    world: World
    """What the decision was made on, and what is to be planned in: without a sensor that is off (RFG-1)."""
    state: str
    """Path of the leaf; during an emergency stop the one that will be gone on with."""
    time_in_state_s: float
    request: PlanningRequest
    regulations: Regulations
    """What the independent check holds against the plan, whatever the request (SAF-2)."""
    probe: PlanningRequest | None
    """To be planned too, without being driven; its result is given back with the next World."""
    route: Route | None
    """The one in use, for the next World."""
    route_requests: tuple[RouteRequest, ...]
    route_blocked: FloatArray | None
    """Poses (N, 3) of the part of the route that cannot be driven, on the tick on which that is found (RPL-1)."""
    transition: TransitionEvent | None
    supervisor_transitions: tuple[TransitionEvent, ...]
    supervisors: tuple[tuple[str, str], ...]
    """Name and state of each supervisor."""
    pending: tuple[Pending, ...]
    """Rows whose guard holds and whose dwell has not passed."""
    reports: tuple[str, ...]
    """Lines for the log, of this tick."""
    flaps: int
    """How often states have flapped so far (USE-1)."""
    record: BehaviourRecord
    timeout: Timeout | None = None
    """What the state's patience has left; None where it waits without end."""

    @property
    def hold_reason(self) -> Reason | None:
        """Why the car is to stand, or None when it is to drive."""
        return self.request.reason if isinstance(self.request, Hold) else None

    @property
    def rejected(self) -> tuple[str, ...]:
        """Rows that had matured on this tick but lost to the one that fired."""
        return () if self.transition is None else self.transition.rejected
