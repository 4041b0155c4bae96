"""What a state does, and what it sees while doing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.permissions import Permissions
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import PlanningRequest
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.machine.elements import Row
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import RouteMatch, World


@dataclass(frozen=True, eq=False)
class BehaviourContext:
    """What stays the same from tick to tick."""

    road_map: RoadMap
    vehicle: Vehicle
    parameters: BehaviourParameters
    seeing: WorldParameters = field(default_factory=WorldParameters)
    """For a World that has to be seen anew, without a sensor (RFG-1)."""


@dataclass(frozen=True, eq=False)
class BehaviourView:
    """All that guards and states look at. Times are on the active clock of the machine that looks (s)."""

    context: BehaviourContext
    world: World
    memory: Memory
    clock: float
    in_state_s: float
    step_s: float
    """How far the clock has moved since the last tick."""
    answers: tuple[RouteMatch, ...]
    """Of the route server: this tick's, and after an emergency stop those held back."""

    def having(self, memory: Memory) -> BehaviourView:
        """The same view with another memory."""
        return self if memory is self.memory else replace(self, memory=memory)


def keep(view: BehaviourView) -> Memory:
    """The memory as it is."""
    return view.memory


def no_probe(_: BehaviourView) -> PlanningRequest | None:
    """Nothing to try beside the request."""
    return None


@dataclass(frozen=True)
class LeafBehaviour:
    """The body of a leaf: pure functions of the view.

    `enter` gives the memory on entering, `update` on every later tick before the guards are tried, `request` what the
    planner is to do. `probe` is a second request whose plan is not driven: it tells of a way out of the state.
    """

    request: Callable[[BehaviourView], PlanningRequest]
    enter: Callable[[BehaviourView], Memory] = keep
    update: Callable[[BehaviourView], Memory] = keep
    probe: Callable[[BehaviourView], PlanningRequest | None] = no_probe
    _: KW_ONLY
    may: Permissions
    defers_route: bool = False
    """A new route is not switched to in this state (RRF-2)."""
    turning_back: bool = False
    """The car may be about to turn round: another change of direction is only made while it still points that way
    (USE-8).
    """
    leads_back: bool = False
    """Its motions end on the reference road: `regression` finishes one that is under way (USE-8)."""
    by_hand: bool = False
    """The junction is taken to be directed by hand: only a light that is known to be red stops the car (INT-5)."""
    asks_itself: bool = False
    """The state has a question of its own to the route server, or none to ask, so that none is asked beside."""
    takes_pushed: bool = False
    """A pushed route is an answer to the state's own question (DEP-1)."""


BehaviourRow = Row[BehaviourView]
