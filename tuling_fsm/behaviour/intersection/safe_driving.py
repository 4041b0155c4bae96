"""`intersection/safe_driving`: through a junction by lights, signs and right of way (INT-1 to INT-4)."""

from __future__ import annotations

from tuling_fsm.behaviour.intersection.guards import junction_here, standing_explained
from tuling_fsm.behaviour.intersection.memory import IntersectionMemory
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.on_road.normal import along_lanes
from tuling_fsm.behaviour.permissions import ON_LANES
from tuling_fsm.core import elementary
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FollowLanes, LaneEnd, PlanningRequest

_OVER_EDGE_M = 0.3
"""A body that reaches this far over its lane's edge is still in its lane."""


def _enter(view: BehaviourView) -> Memory:
    return replace(view.memory, intersection=IntersectionMemory())


def _update(view: BehaviourView) -> Memory:
    return replace(view.memory, intersection=IntersectionMemory(_standing_s(view)))


def _standing_s(view: BehaviourView) -> float:
    """INT-4's clock: a twitch below the speed of standing does not restart it, and a good reason stops it."""
    parameters, clock = view.context.parameters.intersection, view.memory.intersection.standing_s
    if abs(view.world.ego.v) >= parameters.standing_speed:
        return 0.0
    pauses = not parameters.literal_clock and standing_explained(view)
    return clock if pauses else clock + view.step_s


def keeps_lane(view: BehaviourView) -> bool:
    """Whether the car is in the solid-line zone or the junction, and well in a lane that leads through it (INT-1)."""
    world, vehicle, junction = view.world, view.context.vehicle, junction_here(view)
    if junction is None or not world.lanes:
        return False
    pose = world.ego.pose
    places = [(lane, lane.center.project(pose.x, pose.y)) for lane in world.lanes]
    lane, place = min(places, key=lambda item: abs(item[1].offset))
    if lane.end is LaneEnd.LANE_END and lane.route_s0 + lane.center.length <= junction.s_to:
        return False
    at_front = place.offset + vehicle.front * elementary.sin(pose.heading - place.heading)
    k = min(int(lane.center.s.searchsorted(place.s)), len(lane.left) - 1)
    left, right = max(place.offset, at_front), min(place.offset, at_front)
    half = vehicle.width / 2.0 - _OVER_EDGE_M
    return bool(left + half <= lane.left[k] and right - half >= -lane.right[k])


def _request(view: BehaviourView) -> PlanningRequest:
    request = along_lanes(view)
    if not isinstance(request, FollowLanes):
        return request
    return replace(request, static_path=True, keep_lane=keeps_lane(view))


SAFE_DRIVING = LeafBehaviour(_request, _enter, _update, may=ON_LANES, defers_route=True)
