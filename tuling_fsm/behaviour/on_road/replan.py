"""`on_road/replan`: the route ahead is blocked; tell the route server, and ask for another one (RPL-1 to RPL-3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory, report
from tuling_fsm.behaviour.on_road.memory import RouteBlock
from tuling_fsm.behaviour.permissions import FREE_SPACE
from tuling_fsm.behaviour.places import is_free
from tuling_fsm.behaviour.routing import destination, leads_on, open_question, place_on_route, pursue
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.route import Route
from tuling_fsm.world.on_route import carriageway

_OVERLAP_M = 1.0
"""Stretches of one lane that share less than this do not count as the same place."""


def block_ahead(view: BehaviourView) -> RouteBlock | None:
    """The part of the route in front of the car that cannot be driven, with the lanes beside it that the same wall
    stands across: a way through those would end before it once more.
    """
    route = view.memory.routing.route
    if route is None or not view.world.localized:
        return None
    begin = min(place_on_route(view, route) + view.context.vehicle.front, route.length)
    end = min(begin + view.context.parameters.route.blocked_ahead, route.length)
    stretches = []
    for lane in route.lanes:
        shared_from, shared_to = max(begin, lane.s_from), min(end, lane.s_to)
        if shared_from < shared_to:
            shift = lane.lane_from - lane.s_from
            stretches.append((lane.lane, shared_from + shift, shared_to + shift))
    # One pose a metre.
    places = np.linspace(begin, end, max(2, round(end - begin) + 1))
    poses = [route.reference.at(float(s)) for s in places]
    for lane_id in carriageway(view.context.road_map, route, 0.5 * (begin + end), 0.5 * (end - begin)):
        beside = [] if any(lane_id == known for known, _, _ in stretches) else _along(view, lane_id, poses)
        if not all(is_free(place, view.world.scene, view.context.vehicle, 0.0) for _, place in beside):
            stretches.append((lane_id, beside[0][0], beside[-1][0]))
            poses += [place for _, place in beside]
    return RouteBlock(np.array(poses), tuple(stretches))


def _along(view: BehaviourView, lane_id: LaneId, poses: Sequence[Pose]) -> list[tuple[float, Pose]]:
    """Places of a lane beside poses, with their arc lengths on it (m), in the direction of travel."""
    center = view.context.road_map.lanes[lane_id].center
    found = dict.fromkeys(center.project(pose.x, pose.y).s for pose in poses)
    return [(s, center.at(s)) for s in sorted(found)]


def avoids(block: RouteBlock | None, route: Route) -> bool:
    """Whether a route does without the blocked part (RPL-2)."""
    for lane_id, low, high in () if block is None else block.stretches:
        for lane in route.lanes:
            shared = min(high, lane.lane_to) - max(low, lane.lane_from)
            if lane.lane == lane_id and shared > min(_OVERLAP_M, 0.5 * (high - low)):
                return False
    return True


def _accept(view: BehaviourView, route: Route) -> str:
    if not avoids(view.memory.on_road.block, route):
        return "it leads through the reported block"
    return leads_on(view, route)


def _enter(view: BehaviourView) -> Memory:
    block = block_ahead(view)
    memory = open_question(view, "replan")
    if block is not None:
        memory = report(memory, f"route blocked over {view.context.parameters.route.blocked_ahead:g} m ahead")
    return replace(memory, on_road=replace(memory.on_road, block=block))


def _update(view: BehaviourView) -> Memory:
    if view.memory.on_road.block is None:
        return view.memory
    return pursue(view, _accept)


def _request(view: BehaviourView) -> PlanningRequest:
    detail = "nowhere to ask a route to" if destination(view) is None else "asking for another route"
    return Hold(Reason.NO_PATH if view.world.localized else Reason.NOT_LOCALIZED, detail=detail)


REPLAN = LeafBehaviour(
    _request, _enter, _update, may=FREE_SPACE, defers_route=True, asks_itself=True, takes_pushed=True
)
