"""Predicates of the rows of `parking`, and of those that lead into it."""

from __future__ import annotations

from tuling_fsm.behaviour.guards import JUNCTION_WAITS, TOLERANCE_S, back_on_road, no_path, off_route, route_ended
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.memory import GoalKind
from tuling_fsm.behaviour.parking.slots import is_taken, parking_end_of, stands_in
from tuling_fsm.core.request import Reason
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.map.parking import ParkingEnd


def parking_ahead(view: BehaviourView) -> ParkingEnd | None:
    """The parking area in which the route ends, where the mission wants its end now."""
    route = view.world.route
    if route is None or not wants_its_end(view):
        return None
    return parking_end_of(view, route)


def wants_its_end(view: BehaviourView) -> bool:
    """Whether the present mission goal is to park: a mission's goal is to be reached, and no more; a route without a
    mission is all there is.
    """
    progress = view.memory.mission
    return progress.mission is None or progress.goal.kind is GoalKind.CAR_PARK


def enters_parking_area(view: BehaviourView) -> bool:
    """The car has entered the parking area in which its route ends (NOR-8)."""
    end = parking_ahead(view)
    if end is None or off_route(view) or not view.world.localized:
        return False
    return view.world.route_s + view.context.vehicle.front >= end.s_from


def leads_elsewhere(view: BehaviourView) -> bool:
    """The route in use does not end in a parking area any more, or the mission wants something else (PRK-1)."""
    return view.world.localized and view.world.route is view.memory.routing.route and parking_ahead(view) is None


def sent_elsewhere(view: BehaviourView) -> bool:
    """The mission wants the car to go on to another place than a car park (PRK-1)."""
    goal = view.memory.mission.goal
    return goal.point is not None and goal.kind is not GoalKind.CAR_PARK


def slot_found(view: BehaviourView) -> bool:
    """There is a free slot, and a path into it (PRK-1)."""
    return view.world.localized and view.memory.parking.found is not None and not sent_elsewhere(view)


def route_driven(view: BehaviourView) -> bool:
    """The car stands at the end of its way through the car park, or before what closes it (PRK-2)."""
    world, plan = view.world, view.memory.plan
    if world.route is not view.memory.routing.route or not world.localized:
        return False
    closed = Reason.OBSTACLE in (plan.reason, plan.limit.reason)
    near = closed and world.route_remaining <= view.context.parameters.parking.near_end
    return route_ended(view) or (near and abs(world.ego.v) < VEHICLE_STANDS and not off_route(view))


def astray(view: BehaviourView) -> bool:
    """The car is not on its way through the car park, or too askew on it to follow its lane, as after a slot that
    could not be entered.
    """
    return off_route(view) or (no_path(view) and not back_on_road(view))


def lane_blocked(view: BehaviourView) -> bool:
    """The lane planner has no feasible candidate (NOR-7)."""
    parking = view.memory.parking
    follows = parking.turning_since is None and not parking.round.asking
    return follows and not astray(view) and no_path(view) and not route_driven(view)


def search_stands_still(view: BehaviourView) -> bool:
    """The search has not come on for too long (USE-2)."""
    waited = view.clock - view.memory.progress.at
    return view.world.localized and view.memory.parking.turning_since is None and waited >= _patience(view)


def cannot_turn(view: BehaviourView) -> bool:
    """The car does not get back onto its way through the car park (PRK-2, USE-2), nor would it in better weather."""
    since = view.memory.parking.turning_since
    if since is None or waits_to_turn(view):
        return False
    overdue = view.clock - since >= view.context.parameters.switching.deadline - TOLERANCE_S
    return view.memory.ladder.exhausted or overdue


def waits_to_turn(view: BehaviourView) -> bool:
    """No way to turn round without reversing, which the weather forbids (RFG-1)."""
    return view.memory.ladder.exhausted and not view.world.looks_back


def lost_for_long(view: BehaviourView) -> bool:
    """Standing without localization has not helped."""
    since = view.memory.parking.lost_since
    return not view.world.localized and since is not None and view.clock - since >= _patience(view)


def slot_taken(view: BehaviourView) -> bool:
    """The slot has turned out to be taken (PRK-3), other than by somebody who is waited for (NOR-7)."""
    target_slot = view.memory.parking.entry
    if target_slot is None or not view.world.localized or waits_for_person(view):
        return False
    return is_taken(view, target_slot)


def waits_for_person(view: BehaviourView) -> bool:
    """Somebody is, or was a moment ago, in the slot that is being entered, and has not been waited for for long."""
    since = view.memory.parking.person_since
    return since is not None and view.clock - since < view.context.parameters.parking.person_patience - TOLERANCE_S


def no_way_in(view: BehaviourView) -> bool:
    """There is no path into the slot (PRK-3). A plan rejected on the way is first made again where the car stands, and
    none counts while the weather forbids to reverse (RFG-1).
    """
    plan, world = view.memory.plan, view.world
    final = plan.reason is not Reason.PLAN_REJECTED or abs(world.ego.v) < VEHICLE_STANDS
    return view.memory.parking.entry is None or (world.localized and world.looks_back and plan.failed and final)


def entry_overdue(view: BehaviourView) -> bool:
    """The slot has not been reached in time (PRK-3)."""
    return view.in_state_s >= view.context.parameters.parking.timeout - TOLERANCE_S


def in_slot(view: BehaviourView) -> bool:
    """The car stands inside the slot, and nothing of the way there is left (PRK-4, USE-10)."""
    target_slot, plan, world = view.memory.parking.entry, view.memory.plan, view.world
    driven = plan.known and plan.feasible and plan.limit.reason in (Reason.ARRIVED, Reason.TARGET)
    stands = abs(world.ego.v) < VEHICLE_STANDS and plan.travel < TOLERANCE_S
    return world.localized and target_slot is not None and driven and stands and stands_in(view, target_slot)


def reset_called(view: BehaviourView) -> bool:
    """An operator wants the car to set off again, or wanted it during an emergency stop (PRK-5)."""
    return view.world.reset or view.memory.reset


def _patience(view: BehaviourView) -> float:
    normal, limit = view.context.parameters.normal, view.memory.plan.limit.reason
    return (normal.junction_patience if limit in JUNCTION_WAITS else normal.no_progress) - TOLERANCE_S
