"""`on_road/regression`: back to the reference road (REG-1 to REG-4)."""

from __future__ import annotations

import numpy as np

from tuling_fsm.behaviour import free_driving
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.permissions import FREE_SPACE
from tuling_fsm.behaviour.places import along_route, crosses, cut_out
from tuling_fsm.behaviour.routing import place_on_route
from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason

RUNGS = 3


def target(view: BehaviourView) -> Pose | None:
    """The first free point of the route from 20 m ahead of the nearest one on, at most 60 m ahead (REG-1)."""
    route, parameters = view.memory.routing.route, view.context.parameters.regression
    if route is None:
        return None
    distances = np.arange(parameters.target, parameters.target_max + 1e-9, parameters.target_step)
    clearance = view.context.parameters.free.clearance
    return along_route(route, place_on_route(view, route), distances, view.world.scene, view.context.vehicle, clearance)


def lines(view: BehaviourView, rung: int) -> FloatArray:
    """REG-2: solid lines, road edges and the direction of travel; then no solid lines from the rear bumper to 10 m
    ahead; then nothing.
    """
    if rung >= RUNGS - 1:
        return free_driving.lines_held(view, FREE_SPACE)
    solid = free_driving.solid_lines(view)
    if rung == 1:
        vehicle, ahead = view.context.vehicle, view.context.parameters.regression.lines_ahead
        box = (-vehicle.rear_overhang, vehicle.front + ahead, -ahead, ahead)
        solid = cut_out(solid, view.world.ego.pose, box)
    return np.vstack((solid, free_driving.road_edges(view), _oncoming(view)))


def _oncoming(view: BehaviourView) -> FloatArray:
    """The line to the oncoming traffic along the route, for a car that is on this side of it; the body may swing out a
    little over it, as out of a narrow bay. Where it is solid, it holds as all solid lines do.
    """
    route, pose, radius = view.memory.routing.route, view.world.ego.pose, view.context.parameters.free.radius
    if route is None:
        return np.zeros((0, 4))
    here, road_map = place_on_route(view, route), view.context.road_map
    nearest = route.reference.at(here)
    near = [part.lane for part in route.lanes if part.s_from < here + radius and part.s_to > here - radius]
    lines = np.vstack([np.zeros((0, 4)), *(road_map.oncoming_lines(lane) for lane in near)])
    lines = _moved_away(lines, nearest, view.context.parameters.regression.swing_out)
    corners = view.context.vehicle.footprint(pose)
    beyond = any(crosses(x, y, nearest.x, nearest.y, lines) for x, y in corners.tolist())
    return np.zeros((0, 4)) if beyond else lines


def _moved_away(lines: FloatArray, place: Pose, by: float) -> FloatArray:
    """Segments (M, 4) moved to the side that a place does not lie on, by `by` (m)."""
    along = lines[:, 2:] - lines[:, :2]
    normal = np.column_stack((-along[:, 1], along[:, 0]))
    normal /= np.maximum(elementwise.hypot(normal[:, 0], normal[:, 1]), 1e-9)[:, None]
    away = np.where(((lines[:, :2] - place[:2]) * normal).sum(axis=1) < 0.0, -by, by)
    return lines + np.tile(away[:, None] * normal, 2)


def _begin(view: BehaviourView) -> Memory:
    goal = target(view)
    return free_driving.begin(view, () if goal is None else (goal,) * RUNGS, lines)


def _enter(view: BehaviourView) -> Memory:
    """A motion under way that leads back to the road is finished, without a way within the lines being looked for."""
    ladder = view.memory.ladder
    if ladder.exhausted or ladder.route is not view.world.route:
        return _begin(view)
    inherited = replace(ladder, goals=(ladder.goal,), rung=0, failing_since=None, inherited=True)
    return free_driving.with_ladder(view.memory, inherited)


def _update(view: BehaviourView) -> Memory:
    memory = free_driving.go_on(view, lines)
    over = memory.ladder.exhausted or free_driving.reached(view)
    return _begin(view) if over and memory.ladder.inherited else memory


def _request(view: BehaviourView) -> PlanningRequest:
    if view.memory.routing.route is None:
        return Hold(Reason.NO_ROUTE)
    return free_driving.toward_goal(view, view.context.parameters.free.speed)


REGRESSION = LeafBehaviour(_request, _enter, _update, may=FREE_SPACE, turning_back=True)
