"""One tick of the planner: the same call for the node on the vehicle, the simulator and the replay of a bag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.decision import BehaviourRecord, Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.traffic.rules import warm_up as warm_up_rules
from tuling_fsm.core.parameters import group
from tuling_fsm.core.request import Hold, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.planning.continuity import planned_ego
from tuling_fsm.planning.fallback import Ladder, accept, fall_back
from tuling_fsm.planning.free_space import warm_up as warm_up_free_space
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.rehearsal import rehearse
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import Inputs
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.rehearsal import rehearsal
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
    """What the decision was made on."""

    @property
    def state(self) -> str:
        """Path of the active state, e.g. `on_road/normal`."""
        return self.decision.state

    @property
    def limit(self) -> Limit:
        """What limits the speed now."""
        return self.result.limit


class _Memory(NamedTuple):
    """What an agent remembers: the last tick, the behaviour's record and the ladder of stops."""

    world: World | None
    route: Route | None
    result: PlanResult | None
    probed: PlanResult | None
    ladder: Ladder
    behaviour: BehaviourRecord


class Agent:
    """The planner as a whole."""

    def __init__(self, road_map: RoadMap, parameters: Parameters | None = None) -> None:
        p = parameters or Parameters()
        self._road_map = road_map
        self._behaviour = Behaviour(road_map, p.vehicle, p.behaviour, p.world)
        self._take(p)
        self._ladder = Ladder()
        self._world: World | None = None
        self._route: Route | None = None
        self._result: PlanResult | None = None
        self._probed: PlanResult | None = None
        self._last: tuple[Inputs, _Memory] | None = None
        """What the last tick was given, and what was remembered before it."""

    def _take(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._builder = WorldBuilder(self._road_map, parameters.vehicle, parameters.world)
        self._planner = Planner(parameters.vehicle, parameters.planning)

    def reconfigure(self, parameters: Parameters) -> None:
        """Take other parameters from the next tick on (USE-12); the state is kept."""
        self._take(parameters)
        self._last = None
        self._behaviour.adjust(parameters.vehicle, parameters.behaviour, parameters.world)

    @property
    def record(self) -> BehaviourRecord:
        """The state, plain and picklable: an agent that is given it goes on from there (EST-2)."""
        return self._behaviour.record

    def restore(self, record: BehaviourRecord) -> None:
        """Go on from a record, in this process or another one; the plan is made anew from the present pose.

        Raises:
            InputError: a record of another state machine.
        """
        self._behaviour.restore(record)
        self._route = record.machine.memory.routing.route
        self._last = None

    def warm_up(self) -> None:
        """Compile and load every kernel, so that no tick has to; the agent itself stays as it is."""
        rehearse(self._planner)
        warm_up_free_space(self.parameters.vehicle, self.parameters.planning.free_space)
        self._builder.warm_up()
        warm_up_rules()
        rehearsing = Agent(self._road_map, self.parameters)
        for inputs in rehearsal(self._road_map):
            rehearsing.step(inputs)

    def step(self, inputs: Inputs) -> Tick:
        """One tick: see, decide, plan, check, answer."""
        before, self._last = self._memory, None
        world = self._builder.build(inputs, self._world, self._route)
        decision = self._behaviour.step(world, self._result, self._probed)
        scene = self._scene(decision.world)
        planned = self._planner.plan(decision.request, scene, self._result)
        result, trajectory = self._checked(planned, decision, scene)
        probed = None if decision.probe is None else self._planner.plan(decision.probe, scene, None)
        self._world, self._route, self._result, self._probed = world, decision.route, result, probed
        self._last = inputs, before
        return Tick(world.stamp, trajectory, result, decision, decision.world)

    def repeat(self) -> None:
        """Do the last tick once more, if it was one that succeeded; the agent itself stays as it is.

        It takes the way that the last tick has taken, and so no longer than that, with the same memory and code.
        """
        if self._last is None:
            return
        last, now = self._last, self._memory
        inputs, before = last
        self._go_back(before)
        try:
            self.step(inputs)
        finally:
            self._go_back(now)
            self._last = last

    @property
    def _memory(self) -> _Memory:
        return _Memory(self._world, self._route, self._result, self._probed, self._ladder, self._behaviour.record)

    def _go_back(self, memory: _Memory) -> None:
        self._world, self._route, self._result, self._probed, self._ladder, record = memory
        self._behaviour.go_back(record)

    def _scene(self, world: World) -> Scene:
        """What is planned in: without odometry the car is where the last plan has led it (SAF-1)."""
        last = None if self._result is None else self._result.trajectory
        if world.odometry_fresh or last is None:
            return world.scene
        return replace(world.scene, ego=planned_ego(last, world.stamp))

    def _checked(self, planned: PlanResult, decision: Decision, scene: Scene) -> tuple[PlanResult, Trajectory]:
        """The plan if it may be sent, else what the ladder of stops puts in its place (SAF-1, SAF-2)."""
        p, trajectory = self.parameters, planned.trajectory
        if trajectory is not None and (isinstance(decision.request, Hold) or not planned.feasible):
            self._ladder = Ladder(trajectory)
            return planned, trajectory
        detail, violation = "no plan", None
        if trajectory is not None:
            planned, violation = self._planner.checked(planned, decision.request, scene)
            trajectory = planned.trajectory or trajectory
            accepted = accept(self._ladder, trajectory, scene) if violation is None else None
            if accepted is not None:
                self._ladder = accepted
                return planned, trajectory
            detail = "a stop has begun" if violation is None else f"{violation.breach.value}: {violation.detail}"
        breach = None if violation is None else violation.breach
        instead, self._ladder = fall_back(self._ladder, scene, p.vehicle, p.planning, breach)
        limit = Limit(Reason.PLAN_REJECTED, detail=detail)
        rejected = replace(planned, feasible=False, trajectory=instead, limit=limit, reason=Reason.PLAN_REJECTED)
        return rejected, instead
