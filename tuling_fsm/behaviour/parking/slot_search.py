"""`parking/slot_search`: drive through the parking area and watch for a free slot (PRK-1, PRK-2)."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.behaviour import free_driving
from tuling_fsm.behaviour.guards import back_on_road
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory, report
from tuling_fsm.behaviour.on_road.normal import count_progress, from_here
from tuling_fsm.behaviour.parking.guards import (
    astray,
    parking_ahead,
    route_driven,
    sent_elsewhere,
    slot_taken,
    waits_to_turn,
)
from tuling_fsm.behaviour.parking.memory import ParkingMemory, SlotSearch, TargetSlot
from tuling_fsm.behaviour.parking.routes import look_elsewhere, wait_for_route
from tuling_fsm.behaviour.parking.slots import (
    TAKEN,
    free_slots,
    is_seen_free,
    is_taken,
    parked_pose,
    parking_end_of,
    parking_tolerance,
)
from tuling_fsm.behaviour.permissions import FREE_SPACE
from tuling_fsm.behaviour.places import is_free, spread
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FreeSpace, Hold, PlanningRequest, Reason
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.map.parking import GivenSlot, ParkingArea, open_at

TURN_FROM_M, TURN_TO_M, TURN_STEP_M = 4.0, 24.0, 2.0
"""Where on the route the car could be after turning round, from the point nearest to it on."""
TURN_GAP_M = 3.0


def into_slot(
    view: BehaviourView, target_slot: TargetSlot, edges: FloatArray, speed: float, expansions: int
) -> FreeSpace:
    """The way into a slot: forward and in reverse, not over the `edges`, nowhere but to its middle."""
    limits = view.context.parameters.parking
    place, turn = parking_tolerance(target_slot, view.context.vehicle)
    return FreeSpace(
        parked_pose(target_slot, view.context.vehicle),
        edges,
        view.memory.rules.walls,
        min(speed, view.memory.rules.speed_limit),
        goal_tolerance=min(limits.goal_tolerance, place),
        goal_heading_tolerance=min(limits.goal_heading, turn),
        max_expansions=expansions,
    )


def edges_before(view: BehaviourView, target_slot: TargetSlot) -> FloatArray:
    """The edges of the aisles, open at a slot."""
    area, box = area_of(view), GivenSlot(target_slot.pose, target_slot.length, target_slot.width)
    return free_driving.NO_LINES if area is None else open_at(view.context.road_map, area, box)


def area_of(view: BehaviourView) -> ParkingArea | None:
    """The parking area in which the route in use ends."""
    route = view.memory.routing.route
    end = None if route is None else parking_end_of(view, route)
    return None if end is None else end.area


def _enter(view: BehaviourView) -> Memory:
    """Go on with the search for this mission and area, or begin one; a slot that could not be entered is barred, unless
    it was the weather that forbade it.
    """
    memory, area, stamp = view.memory, area_of(view), _mission_stamp(view)
    parking = memory.parking
    round_ = parking.round
    if area is None or round_.area != area.number or round_.mission_stamp != stamp:
        round_ = SlotSearch(-1 if area is None else area.number, stamp)
    weather = not view.world.looks_back and not slot_taken(view)
    if parking.entry is not None and not (sent_elsewhere(view) or weather):
        again = any(slot.is_at(parking.entry.pose.x, parking.entry.pose.y) for slot in round_.freed)
        taken = ((parking.entry, math.inf),) if parking.entry_fault == TAKEN and not again else ()
        round_ = replace(round_, barred=(*round_.barred, parking.entry), taken=(*round_.taken, *taken))
        memory = report(memory, f"{parking.entry.name} is barred: {parking.entry_fault or 'not reached in time'}")
    round_ = replace(round_, asking=False, stuck=False, start=None)
    return from_here(view.having(replace(memory, parking=ParkingMemory(round_))))


def _update(view: BehaviourView) -> Memory:
    if not view.world.localized:
        return _lose(view)
    view = view.having(replace(view.memory, parking=replace(view.memory.parking, lost_since=None)))
    view = view.having(_lift_bars(view.having(_begin_anew(view))))
    view = view.having(_watch(view))
    if view.world.route is not view.memory.routing.route:
        return from_here(view)
    return _go_on(view)


def _lose(view: BehaviourView) -> Memory:
    """The car waits for its localization. This time is not one in which it has not come on."""
    parking, progress = view.memory.parking, view.memory.progress
    since = view.clock if parking.lost_since is None else parking.lost_since
    return replace(
        view.memory,
        parking=replace(parking, lost_since=since),
        progress=replace(progress, at=progress.at + view.step_s),
    )


def _begin_anew(view: BehaviourView) -> Memory:
    """A new search where the mission has become another one: the goal of the old search would not count in it, and with
    its slots areas may be numbered otherwise.
    """
    parking, stamp = view.memory.parking, _mission_stamp(view)
    if parking.round.mission_stamp == stamp:
        return view.memory
    area = area_of(view)
    number = parking.round.area if area is None else area.number
    return replace(view.memory, parking=replace(parking, round=SlotSearch(number, stamp)))


def _mission_stamp(view: BehaviourView) -> float | None:
    mission = view.memory.mission.mission
    return None if mission is None else mission.stamp


def _lift_bars(view: BehaviourView) -> Memory:
    """A slot that is barred as it was taken is no longer when it has been free for a while."""
    memory, round_ = view.memory, view.memory.parking.round
    if not round_.taken:
        return memory
    taken = [(slot, min(since, view.clock) if is_seen_free(view, slot) else math.inf) for slot, since in round_.taken]
    long = view.clock - view.context.parameters.parking.free_again + free_driving.TOLERANCE_S
    lifted = [slot for slot, since in taken if since <= long]
    for slot in lifted:
        memory = report(memory, f"{slot.name} is free again")
    round_ = replace(
        round_,
        barred=tuple(slot for slot in round_.barred if slot not in lifted),
        taken=tuple(item for item in taken if item[0] not in lifted),
        freed=(*round_.freed, *lifted),
    )
    return replace(memory, parking=replace(memory.parking, round=round_))


def _watch(view: BehaviourView) -> Memory:
    """Note what has come of the latest try, and choose the slot that is tried next."""
    parking, area = view.memory.parking, area_of(view)
    tried = parking.trying
    if tried is not None and view.memory.probe.known and view.memory.probed_at == parking.tried_at:
        failed = () if view.memory.probe.feasible else ((tried, view.clock),)
        found = tried if view.memory.probe.feasible else None
        parking = replace(parking, found=found, trying=None, failed=(*parking.failed, *failed))
    if parking.found is not None and is_taken(view, parking.found):
        parking = replace(parking, found=None)
    due = view.clock - parking.tried_at >= view.context.parameters.parking.probe_period - free_driving.TOLERANCE_S
    if parking.found is None and area is not None and due:
        parking = _try_next(view, parking, area)
    return replace(view.memory, parking=parking)


def _try_next(view: BehaviourView, parking: ParkingMemory, area: ParkingArea) -> ParkingMemory:
    """The nearest free slot that is not barred, and into which there was a path or none was looked for lately."""
    retry = view.context.parameters.parking.retry
    failed = tuple(item for item in parking.failed if view.clock - item[1] < retry)
    left_out = [target_slot for target_slot, _ in failed] + list(parking.round.barred)
    for target_slot in free_slots(view, area):
        if not any(other.is_at(target_slot.pose.x, target_slot.pose.y) for other in left_out):
            return replace(parking, failed=failed, trying=target_slot, tried_at=view.clock)
    return replace(parking, failed=failed, trying=None)


def _go_on(view: BehaviourView) -> Memory:
    """Drive on, turn round, or find another route at the end of this one."""
    end, round_ = parking_ahead(view), view.memory.parking.round
    if end is None:
        # The route in use leads elsewhere: no other one through the car park is asked for any more.
        return replace(view.memory, parking=replace(view.memory.parking, round=replace(round_, asking=False)))
    if round_.asking:
        return wait_for_route(view, end)
    if view.memory.parking.turning_since is not None:
        return _turn(view)
    if route_driven(view):
        return view.memory if round_.stuck else look_elsewhere(view.having(from_here(view)), end)
    return _watch_course(view.having(count_progress(view)))


def _watch_course(view: BehaviourView) -> Memory:
    """Begin to turn when the car has been astray for a moment."""
    parking = view.memory.parking
    if not astray(view):
        return replace(
            view.memory, parking=replace(parking, off_route_since=None, round=replace(parking.round, start=None))
        )
    since = view.clock if parking.off_route_since is None else parking.off_route_since
    if view.clock - since < view.context.parameters.free.confirm - free_driving.TOLERANCE_S:
        return replace(view.memory, parking=replace(parking, off_route_since=since))
    parking = replace(parking, off_route_since=None, turning_since=view.clock)
    return free_driving.begin(view.having(replace(view.memory, parking=parking)), _turn_goals(view), _edges)


def _turn(view: BehaviourView) -> Memory:
    """Go on with the maneuver back onto the route to its end (USE-8), and then ahead: lanes are followed on the move.

    A car that has come there in reverse stands with its wheels turned, from where the lane planner may not get on.
    """
    parking, v = view.memory.parking, view.world.ego.v
    done = free_driving.reached(view) and back_on_road(view) and not view.memory.plan.uses_reverse
    if done and v > VEHICLE_STANDS:
        parking = replace(parking, turning_since=None, round=replace(parking.round, start=None))
        return from_here(view.having(replace(view.memory, parking=parking)))
    if (done and v > -VEHICLE_STANDS) or view.memory.ladder.route is not view.world.route:
        return free_driving.begin(view, _turn_goals(view), _edges)
    return _await_weather(view) if view.memory.ladder.exhausted else free_driving.go_on(view, _edges)


def _await_weather(view: BehaviourView) -> Memory:
    """Where only the weather forbids to turn (RFG-1), the time for it does not run; the car tries again when it may
    reverse, and else after as long as a maneuver may take.
    """
    parking, failed_at, waits = view.memory.parking, view.memory.ladder.failing_since, waits_to_turn(view)
    if failed_at is None or parking.turning_since is None or not (waits or parking.turning_since > failed_at):
        return view.memory
    view = view.having(replace(view.memory, parking=replace(parking, turning_since=view.clock)))
    long = view.clock - failed_at >= view.context.parameters.switching.deadline
    return view.memory if waits and not long else free_driving.begin(view, _turn_goals(view), _edges)


def _turn_goals(view: BehaviourView) -> tuple[Pose, ...]:
    """Free places of the route ahead, the nearest first."""
    route, free = view.world.route, view.context.parameters.free
    if route is None:
        return ()
    ahead = np.arange(TURN_FROM_M, TURN_TO_M, TURN_STEP_M)
    places = [route.reference.at(view.world.route_s + float(s)) for s in ahead]
    usable = [place for place in places if is_free(place, view.world.scene, view.context.vehicle, free.clearance)]
    return spread(usable, TURN_GAP_M, free.attempts)


def _edges(view: BehaviourView, _: int) -> FloatArray:
    area = area_of(view)
    return np.zeros((0, 4)) if area is None else area.edges


def _request(view: BehaviourView) -> PlanningRequest:
    parking, speed = view.memory.parking, view.context.parameters.parking.speed
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if parking.round.asking:
        return Hold(Reason.NO_ROUTE, detail="no free slot so far: asking for another way through the car park")
    if parking.turning_since is not None:
        return free_driving.NO_REVERSING if waits_to_turn(view) else free_driving.toward_goal(view, speed)
    if not view.world.lanes:
        return Hold(Reason.NO_PATH, detail="no lane of the route in sight")
    follow = free_driving.follow_lanes(view)
    return replace(follow, speed_limit=min(follow.speed_limit, speed))


def _probe(view: BehaviourView) -> PlanningRequest | None:
    """Into the slot that is being tried."""
    parking, limits = view.memory.parking, view.context.parameters.parking
    if parking.trying is None or parking.tried_at != view.clock or not view.world.localized:
        return None
    edges = edges_before(view, parking.trying)
    way = into_slot(view, parking.trying, edges, limits.entry_speed, limits.probe_expansions)
    return replace(way, feasibility_only=True)


SLOT_SEARCH = LeafBehaviour(_request, _enter, _update, _probe, may=FREE_SPACE)
