"""One tick of behaviour: the supervisors, then the state machine, then what the active state asks of the planner."""

from __future__ import annotations

import math
from typing import Any

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.deadlines import Timeout, time_left, timed
from tuling_fsm.behaviour.decision import BehaviourRecord, Decision, TransitionEvent
from tuling_fsm.behaviour.flaps import Flaps
from tuling_fsm.behaviour.guards import waits_rightly
from tuling_fsm.behaviour.leaf import BehaviourContext, BehaviourView, LeafBehaviour, keep
from tuling_fsm.behaviour.memory import FreeDrivingLadder, Memory, PlanOutcome, RoutingMemory, report
from tuling_fsm.behaviour.mission.progress import run_clock, update_mission
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.queue_ahead import watch_queue
from tuling_fsm.behaviour.regulations import regulations
from tuling_fsm.behaviour.supervisors import emergency_stop, rain_fog, route_refresh
from tuling_fsm.behaviour.tables import table
from tuling_fsm.behaviour.traffic.rules import TrafficRules, traffic_rules
from tuling_fsm.core.records import replace
from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.request import FollowLanes, Hold, PlanningRequest, PlanResult, Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.machine.engine import Engine, Pending, StepResult
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import World

__all__ = ["Behaviour", "BehaviourRecord", "Decision", "TransitionEvent"]


class Behaviour:
    """The running state machine. `record` is all of its state; everything else comes with each tick."""

    def __init__(
        self,
        road_map: RoadMap,
        vehicle: Vehicle,
        parameters: BehaviourParameters,
        seeing: WorldParameters | None = None,
    ) -> None:
        self.context = BehaviourContext(road_map, vehicle, parameters, seeing or WorldParameters())
        self._table = table(parameters)
        self._timed = {path: timed(rows) for path, rows in self._table.rows_from.items()}
        stop, rain, refresh = self._table.beside
        gap = parameters.switching.max_gap
        self._machine: Engine[BehaviourView, LeafBehaviour, Memory] = Engine(
            self._table, self._table.start(Memory()), gap
        )
        self._stop: Engine[BehaviourView, None, None] = Engine(stop, stop.start(None), gap)
        weather = rain.start(rain_fog.RainFogMemory())
        self._rain: Engine[BehaviourView, None, rain_fog.RainFogMemory] = Engine(rain, weather, gap)
        self._refresh: Engine[BehaviourView, None, None] = Engine(refresh, refresh.start(None), gap)
        self._seq, self._flaps, self._route_s = 0, Flaps(), 0.0

    def adjust(self, vehicle: Vehicle, parameters: BehaviourParameters, seeing: WorldParameters | None = None) -> None:
        """Take other parameters from the next tick on (USE-12), but for the dwell times, which the tables keep."""
        self.context = replace(
            self.context, vehicle=vehicle, parameters=parameters, seeing=seeing or self.context.seeing
        )

    @property
    def record(self) -> BehaviourRecord:
        """Everything that `restore` needs, in this process or another one."""
        stop, rain, refresh = self._stop.record, self._rain.record, self._refresh.record
        return BehaviourRecord(self._machine.record, stop, rain, refresh, self._seq, self._flaps, self._route_s)

    def restore(self, record: BehaviourRecord) -> None:
        """Go on from a record.

        Raises:
            InputError: a record of another table.
        """
        self._machine.restore(record.machine)
        self._stop.restore(record.emergency_stop)
        self._rain.restore(record.rain_fog)
        self._refresh.restore(record.route_refresh)
        self._seq, self._flaps, self._route_s = record.seq, record.flaps, record.route_s

    def step(self, built: World, last_result: PlanResult | None, last_probe: PlanResult | None = None) -> Decision:
        """Decide on one tick; the results are those of the request and the probe of the tick before.

        The World comes as it was built, from all sensors. Which of them count is decided first, and the World by these
        is the one of the tick from then on: `Decision.world` (RFG-1).
        """
        stood = self._stopped
        self._stop.advance(built.stamp)
        stop = self._event(self._stop, self._stop.step(self._view(self._stop.record, built)), built.stamp)
        if not stood:
            self._machine.remember(_with_results(self._machine.record.memory, last_result, last_probe))
        rain = self._watch_weather(built)
        world = rain_fog.seen(built, self._rain.record, self.context)
        return self._stand(world, stop) if self._stopped else self._drive(world, (stop, rain))

    @property
    def _beside(self) -> tuple[Engine[BehaviourView, Any, Any], ...]:
        return self._stop, self._rain, self._refresh

    @property
    def _stopped(self) -> bool:
        return self._stop.record.path in emergency_stop.STOPPED

    def _watch_weather(self, world: World) -> TransitionEvent | None:
        """One tick of the supervisor `rain_fog`, which stands still during an emergency stop."""
        if self._stopped:
            self._rain.freeze(world.stamp)
            return None
        self._rain.advance(world.stamp)
        step = self._rain.step(self._view(self._rain.record, world))
        self._rain.remember(rain_fog.carry_out(self._rain.record.memory, step, world))
        return self._event(self._rain, step, world.stamp)

    def _stand(self, world: World, stop: TransitionEvent | None) -> Decision:
        """EST-1: nothing runs but the emergency stop itself; the server's answers and an operator's calls wait.

        Traffic is watched.
        """
        jump = self._machine.freeze(world.stamp)
        self._refresh.freeze(world.stamp)
        memory = self._machine.record.memory
        routing = replace(memory.routing, held=(*memory.routing.held, *world.route_answers), outbox=())
        rules = self._rules(world, memory)
        progress = run_clock(memory.mission, world, self.context.parameters.switching.max_gap)
        self._machine.remember(
            replace(
                memory,
                routing=routing,
                rules=rules,
                mission=progress,
                reset=memory.reset or world.reset,
                reports=_jump_report(jump, self.context.parameters.switching.max_gap),
            )
        )
        lost = self._stop.record.path == emergency_stop.LINK_LOST
        detail = "the remote is silent: an operator has to clear it" if lost else "commanded by the remote"
        request = Hold(Reason.EMERGENCY_STOP, emergency=True, detail=detail)
        return self._decision(world, request, None, None, (stop,), ())

    def _drive(self, world: World, beside: tuple[TransitionEvent | None, ...]) -> Decision:
        """A tick of the state machine: what the state remembers, the new route, the rows, and the state's request."""
        view = self._tick(world)
        leaf = self._machine.leaf.body
        view = view.having(watch_queue(view))
        view = view.having(update_mission(view, self._machine.record.path))
        if not view.memory.entered:
            view = view.having(replace(leaf.enter(view), entered=True))
        view = view.having(leaf.update(view))
        view = view.having(route_refresh.consider(view, leaf))
        view, refresh = self._refresh_route(view, leaf)
        step = self._machine.step(view)
        event = self._event(self._machine, step, world.stamp)
        view = view.having(replace(view.memory, reset=False)) if view.memory.reset else view
        if event is not None:
            left, leaf = leaf, self._machine.leaf.body
            # A twin goes on with the maneuver that the other has begun, and with its deadline (INT-6, USE-2, USE-8).
            twin = event.source != event.dest and leaf.enter is left.enter
            memory = _changed_state(view.memory, twin and leaf.enter is not keep, left.leads_back)
            view = replace(view, memory=memory, in_state_s=0.0)
            if not twin:
                view = view.having(leaf.enter(view))
            view = view.having(self._watch_flapping(view, event))
        turning = view.memory.routing.turn.open
        request, probe = self._restricted(_lawful(leaf.request(view), view), world), self._probe(leaf, view)
        probed = probe is not None and not turning
        self._machine.remember(replace(view.memory, probed_at=view.clock) if probed else view.memory)
        timeout = time_left(view, self._timed[self._machine.record.path])
        return self._decision(world, request, probe, event, (*beside, refresh), step.pending, timeout)

    def _probe(self, leaf: LeafBehaviour, view: BehaviourView) -> PlanningRequest | None:
        """What is to be tried, for a turn or else for the state; not while there is nothing to see by."""
        wanted = route_refresh.turn_probe(view) if view.memory.routing.turn.open else leaf.probe(view)
        probe = None if wanted is None else self._restricted(wanted, view.world)
        return None if isinstance(probe, Hold) else probe

    def _restricted(self, request: PlanningRequest, world: World) -> PlanningRequest:
        """The request as far as there is something to see by: stale perception is not an empty road (SAF-3)."""
        seen = rain_fog.restricted(request, world, self._rain.record, self.context.parameters.radar)
        if world.objects_fresh or isinstance(seen, Hold):
            return seen
        return Hold(Reason.OBJECTS_STALE, detail="no table of objects of late")

    def _tick(self, world: World) -> BehaviourView:
        """Let the clocks go on, and begin a new tick's memory."""
        before = self._machine.record.clock
        jump = self._machine.advance(world.stamp)
        self._refresh.advance(world.stamp)
        record = self._machine.record
        view, memory = self._view(record, world, record.clock - before), record.memory
        stands = self._machine.leaf.body.may.stand or memory.ladder.occupied
        explained = stands or waits_rightly(world, memory.plan)
        return view.having(
            replace(
                memory,
                routing=_untouched(memory.routing),
                mission=run_clock(memory.mission, world, self.context.parameters.switching.max_gap),
                unexplained_s=memory.unexplained_s + (0.0 if explained else view.step_s),
                rules=self._rules(world, memory),
                reports=_jump_report(jump, self.context.parameters.switching.max_gap),
            )
        )

    def _rules(self, world: World, memory: Memory) -> TrafficRules:
        context, limit = self.context, memory.plan.limit
        return traffic_rules(
            world,
            context.road_map,
            context.vehicle,
            memory.rules.memory,
            context.parameters.traffic,
            by_hand=self._machine.leaf.body.by_hand,
            stands_for=limit.blocker if limit.reason is Reason.PEDESTRIAN else -1,
        )

    def _regulations(self, world: World, request: PlanningRequest) -> Regulations:
        """What holds for the plan by weather, state and map; a request may ask for less speed, never for more."""
        context, p = self.context, self.context.parameters
        limits = [math.inf if isinstance(request, Hold) else request.speed_limit]
        if self._rain.record.path != rain_fog.CLEAR:
            limits.append(p.radar.speed)
        if self._machine.record.path == states.EXPLORE:
            limits.append(p.explore.speed)
        by_hand, late_decel = self._machine.leaf.body.by_hand, p.traffic.line.red_after_go
        return regulations(world, context.road_map, context.vehicle, by_hand, late_decel, min(limits))

    def _view(self, record: StateRecord[Any], world: World, step_s: float = 0.0) -> BehaviourView:
        memory = self._machine.record.memory
        answers = (*memory.routing.held, *world.route_answers)
        return BehaviourView(self.context, world, memory, record.clock, record.in_state_s, step_s, answers)

    def _refresh_route(self, view: BehaviourView, leaf: LeafBehaviour) -> tuple[BehaviourView, TransitionEvent | None]:
        """One tick of the supervisor `route_refresh`, which asks nothing while the state itself does."""
        if leaf.asks_itself and self._refresh.record.path == route_refresh.IDLE:
            return view, None
        step = self._refresh.step(replace(view, in_state_s=self._refresh.record.in_state_s))
        event = self._event(self._refresh, step, view.world.stamp)
        return view.having(route_refresh.carry_out(view, step)), event

    def _watch_flapping(self, view: BehaviourView, event: TransitionEvent) -> Memory:
        if event.source == event.dest:
            return view.memory
        count = self._flaps.count
        window = self.context.parameters.switching.flap_window
        self._flaps = self._flaps.entered(event.source, event.dest, view.clock, window)
        again = self._flaps.count > count
        return report(view.memory, f"flapping: back in {event.dest} once more") if again else view.memory

    def _event(
        self, engine: Engine[BehaviourView, Any, Any], step: StepResult[BehaviourView], stamp: float
    ) -> TransitionEvent | None:
        row = step.fired
        if row is None:
            return None
        self._seq += 1
        prefix = "" if engine is self._machine else f"{engine.table.name}/"
        rejected = tuple(f"{other.dest} ({other.guard_name}, {other.clause})" for other in step.rejected)
        return TransitionEvent(
            seq=self._seq,
            stamp=stamp,
            source=prefix + step.source,
            dest=prefix + step.dest,
            clause=row.clause,
            guard=row.guard_name,
            dwell_s=row.dwell_s,
            rejected=rejected,
        )

    def _decision(
        self,
        world: World,
        request: PlanningRequest,
        probe: PlanningRequest | None,
        event: TransitionEvent | None,
        beside: tuple[TransitionEvent | None, ...],
        pending: tuple[Pending, ...],
        timeout: Timeout | None = None,
    ) -> Decision:
        used = self._machine.record.memory.routing.route
        self._route_s = world.route_s if world.route is used else 0.0
        record = self.record
        memory = record.machine.memory
        block = memory.on_road.block if event is not None and event.dest == states.REPLAN else None
        return Decision(
            stamp=world.stamp,
            world=world,
            state=record.machine.path,
            time_in_state_s=record.machine.in_state_s,
            request=request,
            regulations=self._regulations(world, request),
            probe=probe,
            route=memory.routing.route,
            route_requests=memory.routing.outbox,
            route_blocked=None if block is None else block.poses,
            transition=event,
            supervisor_transitions=tuple(other for other in beside if other is not None),
            supervisors=tuple((engine.table.name, engine.record.path) for engine in self._beside),
            pending=pending,
            reports=memory.reports,
            flaps=record.flaps.count,
            record=record,
            timeout=timeout,
        )


def _with_results(memory: Memory, result: PlanResult | None, probe: PlanResult | None) -> Memory:
    """What came of the request and of the probe; a state probes only now and then, and keeps the latest outcome."""
    if memory.routing.turn.open:
        return route_refresh.turn_probed(replace(memory, plan=PlanOutcome.of(result)), probe)
    latest = memory.probe if probe is None else PlanOutcome.of(probe)
    return replace(memory, plan=PlanOutcome.of(result), probe=latest)


def _untouched(routing: RoutingMemory) -> RoutingMemory:
    """Without what belonged to the last tick."""
    if not (routing.held or routing.outbox or routing.switched):
        return routing
    return replace(routing, held=(), outbox=(), switched=False)


def _changed_state(memory: Memory, same_maneuver: bool, led_back: bool) -> Memory:
    """Forget what belonged to the state that was left, but not a motion under way back to the road (USE-8)."""
    spent = memory.unexplained_s if same_maneuver else 0.0
    kept = same_maneuver or (led_back and memory.plan.drives)
    ladder = memory.ladder if kept else FreeDrivingLadder()
    return replace(
        memory, plan=PlanOutcome(), probe=PlanOutcome(), probed_at=-math.inf, unexplained_s=spent, ladder=ladder
    )


def _lawful(request: PlanningRequest, view: BehaviourView) -> PlanningRequest:
    """The request, or the stop that was begun at a line which the car is over (USE-3)."""
    stop = view.memory.rules.stop
    return request if stop is None or not isinstance(request, FollowLanes) else stop


def _jump_report(jump: float, max_gap: float) -> tuple[str, ...]:
    if not jump:
        return ()
    most = f", more than behaviour.switching.max_gap ({max_gap:g} s)" if jump > 0.0 else ""
    return (f"time jumped by {jump:+.3f} s{most}: dwell timers start anew",)
