"""One tick of the planner: the same call for the node on the vehicle, the simulator and the replay of a bag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.decision import BehaviourRecord, Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.queue_ahead import told_of_queue
from tuling_fsm.behaviour.traffic.lines import told_of_light
from tuling_fsm.behaviour.traffic.pedestrians import among_released, told_of_person
from tuling_fsm.behaviour.traffic.rules import warm_up as warm_up_rules
from tuling_fsm.core.parameters import group, refuse_above, refuse_below
from tuling_fsm.core.request import Hold, Limit, PlanningRequest, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.parking import parking_areas
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.fallback import FallbackLadder, FallbackRung, accept, fall_back, is_stopping
from tuling_fsm.planning.start_state import planned_ego
from tuling_fsm.planning.warm_up import warm_up_free_space, warm_up_planner
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import Inputs
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.warm_up import warm_up_inputs
from tuling_fsm.world.world import World


@dataclass(frozen=True)
class Parameters:
    """Everything that can be set, by room.

    Raises:
        InputError: values that contradict one another.
    """

    vehicle: Vehicle = group(Vehicle)
    world: WorldParameters = group(WorldParameters)
    behaviour: BehaviourParameters = group(BehaviourParameters)
    planning: PlanningParameters = group(PlanningParameters)

    def __post_init__(self) -> None:
        comfort, emergency = self.vehicle.comfort_decel, self.vehicle.emergency_decel
        refuse_above("vehicle.comfort_decel", comfort, "vehicle.emergency_decel", emergency, "m/s^2")
        # The check sends no plan that ends while the car could not have come to stand within its time.
        stopping, horizon = self.vehicle.max_speed / emergency, self.planning.speed.horizon
        refuse_below("planning.speed.horizon", horizon, "vehicle.max_speed / vehicle.emergency_decel", stopping, "s")


@dataclass(frozen=True, eq=False)
class Tick:
    """The answer to one tick, with all that explains it (EXPL-1)."""

    stamp: float
    trajectory: Trajectory
    """What is sent: the plan, or the fallback in its place."""
    result: PlanResult
    """What is behind it; `result.trajectory` is `trajectory` before `World.pose_correction` was taken off."""
    decision: Decision

    @property
    def world(self) -> World:
        """What the decision was made on, and the plan in."""
        return self.decision.world

    @property
    def state(self) -> str:
        """Path of the active state, e.g. `on_road/normal`."""
        return self.decision.state

    @property
    def limit(self) -> Limit:
        """What limits the speed now."""
        return self.result.limit


class AgentMemory(NamedTuple):
    """All that is remembered from tick to tick: a value that a tick is given, and answers with the next one."""

    behaviour: BehaviourRecord
    world: World | None = None
    """What the last tick was decided on and planned in; the next World is built on it."""
    result: PlanResult | None = None
    probed: PlanResult | None = None
    ladder: FallbackLadder = FallbackLadder()
    """Of stops."""

    @property
    def route(self) -> Route | None:
        """The one in use."""
        return self.behaviour.machine.memory.routing.route


class Agent:
    """The planner as a whole."""

    def __init__(self, road_map: RoadMap, parameters: Parameters | None = None) -> None:
        p = parameters or Parameters()
        self._road_map = road_map
        self._behaviour = Behaviour(road_map, p.vehicle, p.behaviour, p.world)
        self._take(p)
        self._memory = AgentMemory(self._behaviour.record)
        self._last: tuple[AgentMemory, Inputs] | None = None
        """What the last tick was given."""

    @property
    def road_map(self) -> RoadMap:
        """The map that it drives on."""
        return self._road_map

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
        return self._memory.behaviour

    def restore(self, record: BehaviourRecord) -> None:
        """Go on from a record, in this process or another one; the plan is made anew from the present pose.

        Raises:
            InputError: a record of another state machine.
        """
        self._behaviour.restore(record)
        self._memory = AgentMemory(record, self._memory.world)
        self._last = None

    def warm_up(self) -> None:
        """Compile and load every kernel and gather what is kept of the map, so that no tick has to; the agent itself
        stays as it is.
        """
        warm_up_planner(self._planner)
        warm_up_free_space(self.parameters.vehicle, self.parameters.planning.free_space)
        self._builder.warm_up()
        warm_up_rules()
        parking_areas(self._road_map)
        trial = Agent(self._road_map, self.parameters)
        for inputs in warm_up_inputs(self._road_map):
            trial.step(inputs)

    def step(self, inputs: Inputs) -> Tick:
        """One tick: see, decide, plan, check, answer. One that raises an error leaves the memory as it was."""
        before, self._last = self._memory, None
        self._memory, tick = self._tick(before, inputs)
        self._last = before, inputs
        return tick

    def repeat(self) -> None:
        """Do the last tick once more, if it was one that succeeded, and drop what comes of it.

        The agent stays as it is. It takes the way that the last tick has taken, and so no longer than that, with the
        same memory and code.
        """
        if self._last is not None:
            self._tick(*self._last)

    def _tick(self, memory: AgentMemory, inputs: Inputs) -> tuple[AgentMemory, Tick]:
        """What one tick makes of a memory and its inputs; nothing else is read or kept."""
        built = self._builder.build(inputs, memory.world, memory.route, memory.behaviour.route_s)
        self._behaviour.restore(memory.behaviour)
        decision = self._behaviour.step(built, memory.result, memory.probed)
        world, last = decision.world, memory.result
        scene = self._scene(decision, last)
        planned = self._told(self._planner.plan(decision.request, scene, last), decision.request, decision)
        result, trajectory, ladder = self._checked(planned, decision, scene, memory.ladder)
        probe = decision.probe
        probed = None if probe is None else self._told(self._planner.plan(probe, scene, None), probe, decision)
        tick = Tick(world.stamp, world.pose_correction.sent(trajectory), result, decision)
        return AgentMemory(decision.record, world, result, probed, ladder), tick

    def _scene(self, decision: Decision, last: PlanResult | None) -> Scene:
        """What is planned in: without odometry the car is where the last plan has led it (SAF-1), and pedestrians that
        are crept past stand (USE-5).
        """
        world, released = decision.world, decision.record.machine.memory.rules.memory.released
        scene = among_released(
            world.scene, released, self.parameters.vehicle, self.parameters.planning.clearance.person
        )
        if world.odometry_fresh or last is None or last.trajectory is None:
            return scene
        return replace(scene, ego=planned_ego(last.trajectory, world.stamp))

    def _told(self, planned: PlanResult, request: PlanningRequest, decision: Decision) -> PlanResult:
        """A plan that says for what it stops, where the planner knows no more than what is in the way (EXPL-1)."""
        world, rules = decision.world, decision.record.machine.memory.rules.memory
        waited_for = set(rules.released) - set(rules.given_up)
        told = told_of_person(told_of_queue(planned, world), request, waited_for)
        return told_of_light(told, request, world, self.parameters.vehicle)

    def _checked(
        self, planned: PlanResult, decision: Decision, scene: Scene, ladder: FallbackLadder
    ) -> tuple[PlanResult, Trajectory, FallbackLadder]:
        """The plan if it may be sent, else what the ladder of stops puts in its place (SAF-1, SAF-2).

        Nothing is sent that the check has not seen, but for an emergency stop, below which there is nothing. A stop
        that is asked for, or for want of a plan, tells its own reason, whatever stops the car instead.
        """
        request, regulations, detail, least = decision.request, decision.regulations, "no plan", FallbackRung.REST
        valid: Trajectory | None = None
        if planned.trajectory is not None:
            planned, violation = self._planner.checked(planned, request, scene, regulations)
            valid = planned.trajectory if violation is None else None
            detail = "a stop has begun" if violation is None else f"{violation.breach.value}: {violation.detail}"
            least = _first_rung(planned, request)
        is_sent, ladder = self._accepted(ladder, valid, request, scene)
        if is_sent and valid is not None:
            return planned, valid, ladder
        p = self.parameters
        instead, ladder = fall_back(ladder, scene, regulations, p.vehicle, p.planning, least)
        if planned.trajectory is not None and _is_stop(planned, request):
            return replace(planned, trajectory=instead), instead, ladder
        limit = Limit(Reason.PLAN_REJECTED, detail=detail)
        reason = Reason.PLAN_REJECTED if valid is None else planned.reason
        rejected = replace(planned, feasible=False, trajectory=instead, limit=limit, reason=reason)
        return rejected, instead, ladder

    def _accepted(
        self, ladder: FallbackLadder, valid: Trajectory | None, request: PlanningRequest, scene: Scene
    ) -> tuple[bool, FallbackLadder]:
        """As `accept`; an emergency stop is no less than any stop that has begun."""
        if valid is not None and isinstance(request, Hold) and request.emergency and is_stopping(ladder, scene):
            return True, replace(ladder, last=valid)
        return accept(ladder, valid, scene, self.parameters.planning.fallback)


def _is_stop(planned: PlanResult, request: PlanningRequest) -> bool:
    return isinstance(request, Hold) or not planned.feasible


def _first_rung(planned: PlanResult, request: PlanningRequest) -> FallbackRung:
    """Where the ladder begins instead of a plan that is not sent: where a stop was due, no older plan is driven on."""
    if isinstance(request, Hold) and request.emergency:
        return FallbackRung.EMERGENCY
    return FallbackRung.COMFORT if _is_stop(planned, request) else FallbackRung.REST
