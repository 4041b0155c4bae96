"""`on_road/explore`: there is no way back to the route; look for one nearby (EXP-1 to EXP-4)."""

from __future__ import annotations

import numpy as np

from tuling_fsm.behaviour import free_driving
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.on_road.lane_keeping import keep_perceived_lane
from tuling_fsm.behaviour.permissions import FREE_SPACE, Indication
from tuling_fsm.behaviour.places import along_route, around, spread
from tuling_fsm.behaviour.routing import place_on_route
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FreeSpace, PlanningRequest, Reason

TARGET_GAP_M = 4.0
HEADING_TOLERANCE = 0.35
GOAL_TOLERANCE_M = 0.5


def targets(view: BehaviourView) -> tuple[Pose, ...]:
    """Free places within 10 m, the nearest to the route first (EXP-1)."""
    route, parameters = view.memory.routing.route, view.context.parameters
    if route is None:
        return ()
    s = place_on_route(view, route)
    places = around(
        view.world.scene, route, s, parameters.explore.reach, view.context.vehicle, parameters.free.clearance
    )
    return spread(places, TARGET_GAP_M, parameters.free.attempts)


def _lines(view: BehaviourView, rung: int) -> FloatArray:
    """The road's edges as long as targets are tried for the first time, and no lane lines (EXP-1)."""
    first_time = rung == 0 or 2 * rung < len(view.memory.ladder.goals)
    return free_driving.road_edges(view) if first_time else free_driving.NO_LINES


def _look_around(view: BehaviourView) -> Memory:
    """Every target is tried on the road, and after that beyond its edges as well."""
    return free_driving.begin(view, 2 * targets(view), _lines)


def _enter(view: BehaviourView) -> Memory:
    memory = _look_around(view)
    exploring = replace(memory.on_road.exploring, visits=memory.on_road.exploring.visits + 1, timed_out=False)
    return replace(memory, on_road=replace(memory.on_road, exploring=exploring))


def _update(view: BehaviourView) -> Memory:
    view = replace(view, memory=_count(view))
    ladder = view.memory.ladder
    rested = ladder.failing_since is not None and (
        view.clock - ladder.failing_since >= view.context.parameters.route.backoff_first
    )
    if view.world.localized and (free_driving.reached(view) or (ladder.exhausted and rested)):
        return _look_around(view)
    return free_driving.go_on(view, _lines)


def _count(view: BehaviourView) -> Memory:
    """EXP-4: time counts while localized, over all visits, but not behind a queue; a time-out starts it anew."""
    exploring, parameters = view.memory.on_road.exploring, view.context.parameters.explore
    queues = view.memory.plan.limit.reason is Reason.QUEUE
    if not view.world.localized or queues or exploring.timed_out:
        return view.memory
    spent = exploring.spent_s + view.step_s
    if spent < parameters.timeout - free_driving.TOLERANCE_S:
        exploring = replace(exploring, spent_s=spent)
    else:
        exploring = replace(exploring, spent_s=0.0, timeouts=exploring.timeouts + 1, timed_out=True)
    return replace(view.memory, on_road=replace(view.memory.on_road, exploring=exploring))


def _request(view: BehaviourView) -> PlanningRequest:
    speed = view.context.parameters.explore.speed
    if not view.world.localized:
        return keep_perceived_lane(view, speed)
    request = free_driving.toward_goal(view, speed, free_heading=True)
    if isinstance(request, FreeSpace):
        return replace(request, goal_tolerance=GOAL_TOLERANCE_M)
    return request


def _probe(view: BehaviourView) -> PlanningRequest | None:
    """A path toward the farthest visible point of the route (EXP-2)."""
    route, parameters = view.memory.routing.route, view.context.parameters
    due = view.clock - view.memory.probed_at >= parameters.explore.probe_period - free_driving.TOLERANCE_S
    if route is None or not view.world.localized or not due:
        return None
    nearest = parameters.regression.target
    distances = np.arange(nearest, max(parameters.free.radius, nearest + TARGET_GAP_M), TARGET_GAP_M)[::-1]
    s, clearance = place_on_route(view, route), parameters.free.clearance
    goal = along_route(route, s, distances, view.world.scene, view.context.vehicle, clearance)
    return FreeSpace(
        goal,
        walls=view.memory.rules.walls,
        speed_limit=parameters.explore.speed,
        goal_heading_tolerance=HEADING_TOLERANCE,
        goal_tolerance=GOAL_TOLERANCE_M,
        max_expansions=parameters.explore.probe_expansions,
        feasibility_only=True,
    )


EXPLORE = LeafBehaviour(_request, _enter, _update, _probe, may=FREE_SPACE._replace(indication=Indication.HAZARD))
