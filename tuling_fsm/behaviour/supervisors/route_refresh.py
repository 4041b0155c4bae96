"""The supervisor `route_refresh`: asks for the current route, and switches when it suits (RRF-1 to RRF-3).

A server that changes its mind again and again is followed ever more slowly, so that what a switch begins anew comes to
its end in between. Before the car turns round for a route, the planner is asked whether it can.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.behaviour.free_driving import lines_held
from tuling_fsm.behaviour.leaf import BehaviourRow, BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory, RoutingMemory, TurnSearch, report
from tuling_fsm.behaviour.on_road.replan import avoids
from tuling_fsm.behaviour.permissions import ON_LANES
from tuling_fsm.behaviour.places import along_route, crosses
from tuling_fsm.behaviour.routing import (
    PUSHED,
    arrival_distance,
    joined,
    leads_back,
    leads_on,
    place_on_route,
    send,
    use,
)
from tuling_fsm.behaviour.supervisors import guards
from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import distance, wrap_angle
from tuling_fsm.core.notice import Notice
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FreeSpace, PlanningRequest, PlanResult
from tuling_fsm.machine.elements import Leaf, Priority
from tuling_fsm.machine.engine import StepResult
from tuling_fsm.machine.table import Table
from tuling_fsm.map.route import Route

IDLE, ASKING = "idle", "asking"
_FREE_SWITCHES = 2
"""So many in a row are made at once: a correction, and the correction of that."""
_MOST_DOUBLED = 16
_SAME_END_M = 2.0
_SAME_LINE_M = 0.75
_COMPARE_STEP_M = 5.0
_SAME_ROAD_M = 8.0
"""Routes over lanes of one road lie no farther apart."""


def table() -> Table[BehaviourView, None]:
    """`idle` until the next question is due, `asking` until it is answered or late."""
    rows = (
        BehaviourRow(IDLE, ASKING, guards.refresh_due, Priority.PROGRESS, 0,
                     clause="RRF-1", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(ASKING, IDLE, guards.refresh_closed, Priority.PROGRESS, 0,
                     clause="RRF-1", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(ASKING, IDLE, guards.refresh_late, Priority.FAILURE, 0,
                     clause="RRF-3", dwell_s=0.0, min_dwell_s=0.0),
    )  # fmt: skip
    return Table("route_refresh", IDLE, (Leaf(IDLE, None), Leaf(ASKING, None)), rows, supervises=True)


def carry_out(view: BehaviourView, step: StepResult[BehaviourView]) -> Memory:
    """What a transition of this supervisor does: send the question, or forget it when its answer is late."""
    if step.fired is None:
        return view.memory
    if step.dest == ASKING:
        memory = send(view, view.memory, "refresh")
        routing = memory.routing
        return replace(memory, routing=replace(routing, refresh=routing.number, refreshed_at=view.clock))
    if step.fired.guard is guards.refresh_late:
        line = f"route request {view.memory.routing.refresh} (refresh): no answer"
        return report(replace(view.memory, routing=replace(view.memory.routing, refresh=-1)), line)
    return view.memory


def consider(view: BehaviourView, leaf: LeafBehaviour) -> Memory:
    """Take the answers of this tick, and switch to a newer route where that suits the state and the place (RRF-2)."""
    memory = view.memory
    for match in view.answers:
        if match.request == PUSHED:
            if leaf.takes_pushed:
                continue
        elif match.request == memory.routing.refresh:
            memory = replace(memory, routing=replace(memory.routing, refresh=-1))
        else:
            continue
        route = None if match.route is None else joined(view, match.route)
        asked = match.request != PUSHED
        if route is not None and asked and _comes_again(view, route):
            continue  # As every answer does to a car at its goal: it is nothing to report.
        objection = match.fault if route is None else _objection(view, route)
        if objection:
            memory = report(memory, f"{match.name}: {objection}")
        else:
            memory = _report_wait(view, _keep(memory, route, asked), match.name)
    return _switch(replace(view, memory=memory), leaf)


def _keep(memory: Memory, route: Route | None, asked: bool) -> Memory:
    routing = memory.routing
    return replace(memory, routing=replace(routing, kept=route, kept_unasked=not asked, kept_ticket=routing.ticket))


def _pause(view: BehaviourView, switches: int) -> float:
    """How long so many switches in a row keep back the next one, s."""
    p, more = view.context.parameters.route, min(switches - _FREE_SWITCHES, _MOST_DOUBLED)
    return 0.0 if more < 0 else min(p.switch_wait * float(1 << more), p.switch_wait_max)


def _wait(view: BehaviourView, routing: RoutingMemory) -> float:
    """How long the next switch of the route has to wait from now on, s."""
    return max(0.0, routing.switched_at + _pause(view, routing.switches) - view.clock)


def _report_wait(view: BehaviourView, memory: Memory, name: str) -> Memory:
    routing, wait = memory.routing, _wait(view, memory.routing)
    if wait <= 0.0 or routing.kept is None or routing.route is None or same_course(view, routing.route, routing.kept):
        return memory
    return report(memory, f"{name}: kept back for {wait:.0f} s, as the route has changed {routing.switches} times")


def _count_switch(view: BehaviourView, routing: RoutingMemory) -> RoutingMemory:
    """One more in a row, or the first one after the route has been the same for long enough."""
    in_a_row = view.clock - routing.switched_at < 2.0 * _pause(view, max(routing.switches, _FREE_SWITCHES))
    return replace(routing, switched=True, switched_at=view.clock, switches=routing.switches + 1 if in_a_row else 1)


def _objection(view: BehaviourView, route: Route) -> str:
    present = view.memory.routing.route
    if present is not None and same_course(view, present, route):
        return ""
    if not avoids(view.memory.on_road.block, route):
        return "it leads through the reported block"
    return leads_on(view, route)


def _comes_again(view: BehaviourView, route: Route) -> bool:
    """Whether the car is where the route in use ends, which is for the present mission goal, and another one leads
    there by another way.
    """
    routing = view.memory.routing
    if routing.route is None or routing.serves != view.memory.mission.ticket:
        return False
    arrives = routing.route.length - place_on_route(view, routing.route) <= arrival_distance(view, taken=False)
    return arrives and not same_course(view, routing.route, route) and bool(leads_back(view, route))


def _switch(view: BehaviourView, leaf: LeafBehaviour) -> Memory:
    memory, routing = view.memory, view.memory.routing
    kept, present = routing.kept, routing.route
    if kept is not None and not routing.kept_unasked and routing.kept_ticket != memory.mission.ticket:
        return replace(memory, routing=replace(routing, kept=None))  # it leads to an old goal
    if kept is None or leaf.defers_route or not view.world.localized:
        return memory
    if present is not None:
        if same_course(view, present, kept):
            return replace(memory, routing=replace(routing, kept=None, serves=routing.ticket))
        if _wait(view, routing) > 0.0:
            return memory
        if not same_direction(view, present, kept):
            settled = not leaf.turning_back or points_along(view, kept)
            if not (settled and can_turn_round(view, kept)):
                return memory
            memory = _look_for_turn(view, memory, kept)
            if not memory.routing.turn.found:
                return memory
    memory = use(view, memory, kept)
    memory = replace(memory, routing=_count_switch(view, memory.routing))
    return report(memory, Notice("switched to another route"))


def _look_for_turn(view: BehaviourView, memory: Memory, route: Route) -> Memory:
    """Have the planner asked for a way to turn to a route, unless it has just been; a way found is one from here."""
    turn = memory.routing.turn
    fresh = view.clock - turn.at < view.context.parameters.route.turn_period
    if turn.route is route and (turn.open or fresh):
        return memory
    return replace(memory, routing=replace(memory.routing, turn=TurnSearch(route, view.clock, open=True)))


def turn_probe(view: BehaviourView) -> PlanningRequest | None:
    """What the planner is asked: the way to the target that `regression` would have there, over no line (REG-2)."""
    route, p = view.memory.routing.turn.route, view.context.parameters
    if route is None:
        return None
    ahead = np.arange(p.regression.target, p.regression.target_max + 1e-9, p.regression.target_step)
    goal = along_route(
        route, place_on_route(view, route), ahead, view.world.scene, view.context.vehicle, p.free.clearance
    )
    return FreeSpace(
        goal, lines_held(view, ON_LANES), speed_limit=p.free.speed, max_expansions=p.route.turn_expansions,
        feasibility_only=True,
    )  # fmt: skip


def turn_probed(memory: Memory, result: PlanResult | None) -> Memory:
    """The memory after the planner's answer."""
    turn = replace(memory.routing.turn, open=False, found=result is not None and result.feasible)
    return replace(memory, routing=replace(memory.routing, turn=turn))


def same_course(view: BehaviourView, present: Route, other: Route) -> bool:
    """Whether two routes are the same line from the car on, or from where the one begins that it is still before; the
    lanes they are matched to may differ in a junction.
    """
    here, there = place_on_route(view, present), place_on_route(view, other)
    surplus = (present.length - here) - (other.length - there)
    late, at = (other, there) if surplus > 0.0 else (present, here)
    if abs(surplus) > _SAME_END_M + _way_to_begin(view, late, at):
        return False
    here, there = here + max(surplus, 0.0), there + max(-surplus, 0.0)
    for ahead in np.arange(0.0, other.length - there, _COMPARE_STEP_M):
        point = other.reference.at(there + float(ahead))
        s = here + float(ahead)
        beside = present.reference.project(point.x, point.y, s - _COMPARE_STEP_M, s + _COMPARE_STEP_M)
        if abs(beside.offset) > _SAME_LINE_M:
            return False
    return True


def _way_to_begin(view: BehaviourView, route: Route, place: float) -> float:
    """How far the car is still before the beginning of a route, m; 0 beside it."""
    begin = route.reference.at(0.0)
    return 0.0 if place > 0.0 else distance(begin[:2], view.world.ego.pose[:2])


def same_direction(view: BehaviourView, present: Route, other: Route) -> bool:
    """Whether two routes run the same way at the car; one that it has left behind runs no way there."""
    pose = view.world.ego.pose
    here = present.reference.at(place_on_route(view, present))
    there = other.reference.at(place_on_route(view, other))
    if distance(there[:2], pose[:2]) > distance(here[:2], pose[:2]) + _SAME_ROAD_M:
        return False
    return bool(abs(wrap_angle(there.heading - here.heading)) < view.context.parameters.route.same_direction)


def points_along(view: BehaviourView, other: Route) -> bool:
    """Whether the car points the way that a route runs."""
    there = other.reference.at(place_on_route(view, other))
    turn = wrap_angle(there.heading - view.world.ego.pose.heading)
    return bool(abs(turn) < view.context.parameters.route.same_direction)


def can_turn_round(view: BehaviourView, other: Route) -> bool:
    """Whether nothing that may not be crossed lies between the car and a route that passes near it."""
    pose, reach = view.world.ego.pose, view.context.parameters.route.turn_round_reach
    nearest = other.reference.at(place_on_route(view, other))
    if elementwise.hypot(nearest.x - pose.x, nearest.y - pose.y) > reach:
        return False
    road_map = view.context.road_map
    barriers = np.vstack(
        (
            road_map.line_segments(pose.x, pose.y, reach, crossable=False),
            road_map.boundary_segments(pose.x, pose.y, reach),
            view.world.scene.static_segments,
        )
    )
    return not crosses(pose.x, pose.y, nearest.x, nearest.y, barriers)
