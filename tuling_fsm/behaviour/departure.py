"""The composite `departure`: `plan_once` stands until there is a route (DEP-1, DEP-2), also at its end (NOR-10)."""

from __future__ import annotations

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.guards import route_found, stands_at_end
from tuling_fsm.behaviour.leaf import BehaviourRow, BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory, report
from tuling_fsm.behaviour.mission.memory import GoalKind
from tuling_fsm.behaviour.mission.points import ON_LANE_M, pose_of
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.parking.slots import LEAST_ROOM_M, any_parking_end, parking_end_of
from tuling_fsm.behaviour.permissions import FREE_SPACE
from tuling_fsm.behaviour.routing import asking, leads_on, open_question, pursue, pursue_stop
from tuling_fsm.core.geometry import distance
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.machine.elements import Leaf, Priority, Region

STANDS = "the car stands at the end of the route"


def _enter(view: BehaviourView) -> Memory:
    """Ask for a route; a slot that the match has ended before is not being entered any more.

    The car has arrived at the end of a route to the present mission goal, unless it is called out of where it parked.
    """
    memory = open_question(view, "initial")
    serves = memory.routing.serves == memory.mission.ticket and memory.parking.rest is None
    routing = replace(memory.routing, arrived=serves and stands_at_end(view, taken=True))
    memory = replace(memory, routing=routing, parking=replace(memory.parking, entry=None, rest=None))
    parks_nowhere = _why_not_parked(view) if routing.arrived else ""
    return report(memory, f"parking: {parks_nowhere}") if parks_nowhere else memory


def _why_not_parked(view: BehaviourView) -> str:
    """Why a car that is to park does not: there is no parking area (NOR-8), or no slot is large enough. Else empty."""
    route, vehicle = view.memory.routing.route, view.context.vehicle
    wants = view.memory.mission.goal.kind is GoalKind.CAR_PARK
    if route is None or not wants or parking_end_of(view, route) is not None:
        return ""
    if any_parking_end(view, route) is None:
        return f"the car park has no slot across a lane, on the map or in the mission: {STANDS}"
    room = f"{vehicle.length + LEAST_ROOM_M:.2f} by {vehicle.width + LEAST_ROOM_M:.2f} m"
    return f"the car park has no slot that the car fits into, {room} at least: {STANDS}"


def _update(view: BehaviourView) -> Memory:
    if view.memory.mission.over:
        return view.memory
    return pursue_stop(view) if _at_stop(view) else pursue(view, leads_on)


def _at_stop(view: BehaviourView) -> bool:
    """Whether the car was put, or its planner started anew, where it has to stop first: no route leads on to there."""
    goal = view.memory.mission.goal
    if goal.point is None or not goal.is_stop:
        return False
    return distance(view.world.ego.pose[:2], pose_of(view.context.road_map, goal.point)[:2]) <= ON_LANE_M


def _request(view: BehaviourView) -> PlanningRequest:
    routing, progress = view.memory.routing, view.memory.mission
    if progress.over:
        return Hold(Reason.MATCH_OVER, detail="the run has ended")
    if routing.question.answered:
        return Hold(Reason.NONE, detail="setting off")
    if routing.arrived:
        return Hold(Reason.ARRIVED, detail=_why_not_parked(view) or "the route has ended")
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if progress.mission is not None and progress.goal.kind is GoalKind.NOTHING:
        return Hold(Reason.ARRIVED, detail="nothing is left to do")
    if routing.question.asked_at is None and not routing.question.failures:
        choosing = progress.goal.kind is GoalKind.UNDECIDED
        return Hold(
            Reason.NO_ROUTE, detail="choosing where to go" if choosing else "no mission and no route to ask for"
        )
    return asking("the route server", routing.question)


def region(parameters: BehaviourParameters) -> Region[LeafBehaviour]:
    """The composite with its leaf, which waits by itself: it asks again and again."""
    pause = max(parameters.route.backoff_max, parameters.route.refresh_period) + parameters.route.answer_timeout
    leaf = Leaf("plan_once", _PLAN_ONCE, parameters.switching.min_dwell, retry_s=pause)
    return Region("departure", "plan_once", (leaf,))


def rows(parameters: BehaviourParameters) -> tuple[BehaviourRow, ...]:
    """The row that leaves it."""
    dwell_s = parameters.switching.dwell
    found = BehaviourRow(
        states.PLAN_ONCE, states.REGRESSION, route_found, Priority.PROGRESS, 0, clause="DEP-2", dwell_s=dwell_s
    )
    return (found,)


_PLAN_ONCE = LeafBehaviour(
    _request, _enter, _update, may=FREE_SPACE, defers_route=True, asks_itself=True, takes_pushed=True
)
