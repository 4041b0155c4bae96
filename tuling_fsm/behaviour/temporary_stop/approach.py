"""`temporary_stop/approach`: into a free slot of the point; without one wait, then go round (TMP-1 to TMP-3)."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.behaviour.free_driving import NO_LINES, TOLERANCE_S, follow_lanes
from tuling_fsm.behaviour.guards import overdue
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.memory import GoalKind
from tuling_fsm.behaviour.mission.progress import fail_attempt
from tuling_fsm.behaviour.permissions import ROADSIDE, Indication
from tuling_fsm.behaviour.places import crosses, is_free
from tuling_fsm.behaviour.temporary_stop.memory import RoadsideSlot, TemporaryStop
from tuling_fsm.behaviour.temporary_stop.slots import at_edge, distance_to, is_usable, roadside_slots
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, PullOver, Reason
from tuling_fsm.core.standing import VEHICLE_STANDS

_WAIT_FROM_M, _WAIT_TO_M, _WAIT_STEP_M = 10.0, 40.0, 5.0
_WAIT_PLACES = 3
_AT_PLACE_M = 0.5
_EASY_BRAKING = 0.75
"""Share of the comfortable deceleration with which the car slows down for the approach."""


def _enter(view: BehaviourView) -> Memory:
    goal = view.memory.mission.goal
    found = () if goal.point is None else roadside_slots(view, goal.point)
    taken = tuple(None if is_usable(view, roadside_slot) else -np.inf for roadside_slot in found)
    return replace(view.memory, stop=TemporaryStop(goal, found, taken))


def _update(view: BehaviourView) -> Memory:
    stop, goal = view.memory.stop, view.memory.mission.goal
    if not view.world.localized or stop.failed or (goal != stop.goal and goal.kind is not GoalKind.NOTHING):
        return view.memory
    stop = replace(stop, taken_since=_watched(view))
    free = _free(view, stop)
    stop = _wait(view, stop, free) if stop.waiting else _seek(view, stop, free)
    patience = view.context.parameters.stop.wait - TOLERANCE_S
    if (stop.waiting and stop.waited_s >= patience) or overdue(view):
        return _failed(view, stop, free)
    return replace(view.memory, stop=stop)


def _failed(view: BehaviourView, stop: TemporaryStop, free: tuple[int, ...]) -> Memory:
    """The attempt is over without a stop; the reason why is kept (USE-7). Without a task there is no other one."""
    reason = stop.reason if stop.waiting else _why_no_way(view, free)
    memory = replace(view.memory, stop=replace(stop, failed=True, reason=reason))
    if memory.mission.goal.kind is GoalKind.NOTHING:
        return memory
    why = f"there is no way into a slot ({reason.value})" if free else "all slots are taken"
    return fail_attempt(view.having(memory), why)


def _watched(view: BehaviourView) -> tuple[float | None, ...]:
    """Since when each slot has not been free."""
    stop = view.memory.stop
    return tuple(
        None if is_usable(view, roadside_slot) else view.clock if since is None else since
        for roadside_slot, since in zip(stop.roadside_slots, stop.taken_since, strict=True)
    )


def _free(view: BehaviourView, stop: TemporaryStop) -> tuple[int, ...]:
    """Numbers of the slots that are free; one that is hidden for a moment still is (USE-9)."""
    confirm = view.context.parameters.free.confirm - TOLERANCE_S
    return tuple(i for i, since in enumerate(stop.taken_since) if since is None or view.clock - since < confirm)


def _seek(view: BehaviourView, stop: TemporaryStop, free: tuple[int, ...]) -> TemporaryStop:
    """While there are a free slot and a plan; else the waiting begins."""
    since, lasting = _failing(view, stop)
    if free and not lasting:
        return replace(stop, failing_since=since)
    if stop.edges and any(_is_off_road(view, stop.roadside_slots[i]) for i in free):
        return replace(stop, failing_since=None, edges=False)
    places, reason = _places(view), _why_no_way(view, free)
    return replace(
        stop, failing_since=None, waiting=True, settled=False, waited_s=0.0, places=places, usable=free, reason=reason
    )


def _why_no_way(view: BehaviourView, free: tuple[int, ...]) -> Reason:
    """Why the car gets into no slot: all are taken, or what the planner or the check said of the last plan (USE-7)."""
    reason = view.memory.plan.reason if free else Reason.GOAL_OCCUPIED
    return Reason.NO_PATH if reason is Reason.NONE else reason


def _wait(view: BehaviourView, stop: TemporaryStop, free: tuple[int, ...]) -> TemporaryStop:
    """Until a slot gets free that was not, or the time is over."""
    if any(number not in stop.usable for number in free):
        return replace(stop, waiting=False, failing_since=None)
    ego = view.world.ego
    stands = abs(ego.v) < VEHICLE_STANDS
    there = any(distance(place[:2], ego.pose[:2]) < _AT_PLACE_M for place in stop.places)
    since, lasting = _failing(view, stop)
    settled = stop.settled or (stands and there) or not stop.places or lasting
    waited_s = stop.waited_s + (view.step_s if stands and settled else 0.0)
    return replace(stop, failing_since=since, settled=settled, waited_s=waited_s)


def _failing(view: BehaviourView, stop: TemporaryStop) -> tuple[float | None, bool]:
    """Since when there has been no plan, and whether that is no flicker (USE-9)."""
    if not view.memory.plan.failed:
        return None, False
    since = view.clock if stop.failing_since is None else stop.failing_since
    return since, view.clock - since >= view.context.parameters.free.confirm - TOLERANCE_S


def _places(view: BehaviourView) -> tuple[Pose, ...]:
    """Free places at the lane's edge ahead, outside junctions: where the car that waits disturbs least (TMP-3)."""
    route, found = view.world.route, list[Pose]()
    if route is None:
        return ()
    stopping = 0.5 * view.world.ego.v * view.world.ego.v / view.context.vehicle.comfort_decel
    for ahead in np.arange(_WAIT_FROM_M + stopping, _WAIT_TO_M + stopping, _WAIT_STEP_M):
        s = view.world.route_s + float(ahead)
        if s > route.length or any(j.s_from - _WAIT_FROM_M < s < j.s_to for j in view.world.junctions):
            break
        slot = at_edge(view.context.road_map, view.context.vehicle, route.reference.at(s))
        if is_free(slot.pose, view.world.scene, view.context.vehicle, view.context.parameters.stop.clearance):
            found.append(slot.pose)
    return tuple(found[:_WAIT_PLACES])


def _request(view: BehaviourView) -> PlanningRequest:
    stop, parameters, rules = view.memory.stop, view.context.parameters.stop, view.memory.rules
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if stop.failed:
        return Hold(stop.reason, detail="the next mission goal is being chosen")
    free = [stop.roadside_slots[i] for i in _free(view, stop)][: parameters.slots]
    if stop.waiting:
        return _waiting_request(view, stop)
    if not free:
        return Hold(Reason.GOAL_OCCUPIED, detail="all slots are taken")
    room = _room_before_pull_in(view, free)
    if view.world.lanes and room > 0.0:
        lanes = follow_lanes(view)
        decel = _EASY_BRAKING * view.context.vehicle.comfort_decel
        due = math.sqrt(parameters.speed * parameters.speed + 2.0 * decel * room)
        return replace(lanes, speed_limit=min(lanes.speed_limit, due), goal_s=None)
    goals = tuple(roadside_slot.goal for roadside_slot in free)
    expansions = view.context.parameters.free.expansions
    return PullOver(
        goals,
        rules.walls,
        min(parameters.speed, rules.speed_limit),
        goal_tolerance=0.5 * parameters.position,
        goal_heading_tolerance=0.5 * parameters.heading,
        max_expansions=expansions,
        lines=_edges(view) if stop.edges else NO_LINES,
    )


def _room_before_pull_in(view: BehaviourView, free: list[RoadsideSlot]) -> float:
    """How far (m) it still is to where the car turns towards the nearest free slot."""
    nearest = min(distance_to(view, roadside_slot) for roadside_slot in free)
    return nearest - view.context.parameters.stop.pull_in


def _waiting_request(view: BehaviourView, stop: TemporaryStop) -> PlanningRequest:
    left = max(view.context.parameters.stop.wait - stop.waited_s, 0.0)
    why = "no way into a slot" if stop.usable else "all slots are taken"
    if stop.settled:
        return Hold(stop.reason, detail=f"{why}, a way round in {left:.0f} s")
    rules = view.memory.rules
    speed = min(view.context.parameters.stop.speed, rules.speed_limit)
    return PullOver(stop.places, rules.walls, speed, allow_reverse=False, lines=_edges(view))


def _is_off_road(view: BehaviourView, roadside_slot: RoadsideSlot) -> bool:
    """Whether an edge of the road lies between the lane and the slot, so that it has to be driven over."""
    route, goal = view.world.route, roadside_slot.goal
    if route is None:
        return False
    lane = route.reference.at(route.reference.project(goal.x, goal.y).s)
    return crosses(lane.x, lane.y, goal.x, goal.y, _edges(view))


def _edges(view: BehaviourView) -> FloatArray:
    """Edges of the drivable surface as far as the approach reaches."""
    pose, reach = view.world.ego.pose, view.context.parameters.stop.ahead + view.context.vehicle.length
    return view.context.road_map.boundary_segments(pose.x, pose.y, reach)


APPROACH = LeafBehaviour(
    _request, _enter, _update, may=ROADSIDE._replace(indication=Indication.KERB), defers_route=True
)
