"""One tick of the planner: the same call for the node on the vehicle, the simulator and the replay of a bag."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.parameters import group
from tuling_fsm.core.request import Limit, PlanResult
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safeguard import Safeguard
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import Inputs
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import World


@dataclass(frozen=True)
class Parameters:
    """Everything that can be set, by room."""

    vehicle: Vehicle = group(Vehicle)
    world: WorldParameters = group(WorldParameters)
    behaviour: BehaviourParameters = group(BehaviourParameters)
    planning: PlanningParameters = group(PlanningParameters)


@dataclass(frozen=True, eq=False)
class Tick:
    """The answer to one tick, with all that explains it (EXPL-1)."""

    stamp: float
    trajectory: Trajectory
    """What is sent: the plan, or the fallback in its place."""
    result: PlanResult
    """What is behind it; `result.trajectory` is `trajectory`."""
    decision: Decision
    world: World

    @property
    def state(self) -> str:
        """Path of the active state, e.g. `on_road/normal`."""
        return self.decision.state

    @property
    def limit(self) -> Limit:
        """What limits the speed now."""
        return self.result.limit


class Agent:
    """The planner as a whole. Everything that it remembers is the last tick and the behaviour's record."""

    def __init__(self, road_map: RoadMap, parameters: Parameters | None = None) -> None:
        self.parameters = parameters or Parameters()
        p = self.parameters
        self._builder = WorldBuilder(road_map, p.vehicle, p.world)
        self._behaviour = Behaviour(road_map, p.vehicle, p.behaviour)
        self._planner = Planner(p.vehicle, p.planning)
        self._world: World | None = None
        self._route: Route | None = None
        self._result: PlanResult | None = None
        self._probed: PlanResult | None = None

    def warm_up(self) -> None:
        """Compile and load every kernel, so that no tick has to."""
        self._planner.warm_up()

    def step(self, inputs: Inputs) -> Tick:
        """One tick: see, decide, plan, check, answer."""
        world = self._builder.build(inputs, self._world, self._route)
        decision = self._behaviour.step(world, self._result, self._probed)
        planned = self._planner.plan(decision.request, world.scene, self._result)
        probed = None if decision.probe is None else self._planner.plan(decision.probe, world.scene, None)
        self._world, self._route, self._result, self._probed = world, decision.route, planned, probed
        return Tick(world.stamp, planned.trajectory, planned, decision, world)
