"""Predicates of the tables of the hierarchy: pure, total, and named as they appear in a diagram."""

from __future__ import annotations

from collections.abc import Callable

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import YIELDS, PlanOutcome
from tuling_fsm.behaviour.routing import arrival_distance, backoff_s, destination
from tuling_fsm.core.request import Reason
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.map.free_width import is_within
from tuling_fsm.world.on_route import carriageway
from tuling_fsm.world.world import World

Guard = Callable[[BehaviourView], bool]

MIDDLE_M = 0.4
STRAIGHT_RAD = 0.1
"""A car is in the middle of a lane when its rear axle is no farther off (m), and its heading neither (rad)."""
OVER_EDGE_M = 0.1
"""A corner may be over the edge of the road by this much, m."""
TOLERANCE_S = 1e-6

JUNCTION_WAITS = (Reason.STOP_SIGN, Reason.JUNCTION_OCCUPIED, Reason.JUNCTION_EXIT_BLOCKED)

GO_BY = frozenset({*YIELDS, Reason.CROSSING, Reason.LEADER, Reason.QUEUE})
"""Reasons to stand for something that goes away by itself."""
STANDING_TRAVEL_M = 0.05
"""A plan shorter than this stands, m."""

EXPLAINED = frozenset({*YIELDS, Reason.QUEUE, Reason.OBJECTS_STALE, Reason.RADAR_STALE})
"""Reasons to stand that no other way of driving would do away with, or none that is fair (NOR-11)."""


def route_found(view: BehaviourView) -> bool:
    """The question has an answer (DEP-2, RPL-2)."""
    return view.memory.routing.question.answered


def route_switched(view: BehaviourView) -> bool:
    """Another route has been taken into use on this tick (RRF-2)."""
    return view.memory.routing.switched


def route_ended(view: BehaviourView) -> bool:
    """The car stands at the end of its route (NOR-10), or right before what stands there (USE-7); no task is left."""
    plan = view.memory.plan
    taken = Reason.OBSTACLE in (plan.reason, plan.limit.reason)
    return not view.memory.mission.goal.is_stop and stands_at_end(view, taken)


def back_on_road(view: BehaviourView) -> bool:
    """On the reference road and heading along it (REG-3), with no part of the body over its edge: that is a wall again
    in the state that follows (NOR-6).
    """
    world = view.world
    aligned = abs(world.heading_error) <= view.context.parameters.regression.done_heading
    return world.localized and world.on_reference_road and aligned and _body_on_road(view)


def _body_on_road(view: BehaviourView) -> bool:
    """Whether the car is on same-direction lanes to its corners, or where these are narrow, straight in the middle of
    its own.
    """
    world, context = view.world, view.context
    if world.route is None or (abs(world.route_offset) <= MIDDLE_M and abs(world.heading_error) <= STRAIGHT_RAD):
        return True
    lanes = carriageway(context.road_map, world.route, world.route_s, around=context.vehicle.length)
    corners = context.vehicle.footprint(world.ego.pose)
    return all(context.road_map.is_on(lanes, x, y, OVER_EDGE_M) for x, y in corners)


def off_route(view: BehaviourView) -> bool:
    """Off the reference road, or heading far off the route (NOR-9). Beside its lanes, beyond lines that may be crossed,
    it goes on: round what stands, `normal` plans over bays as well (NOR-6).
    """
    world = view.world
    if not world.localized or world.route is None:
        return False
    turned = abs(world.heading_error) > view.context.parameters.regression.off_heading
    return turned or not (world.on_reference_road or _beside_its_lanes(view))


def _beside_its_lanes(view: BehaviourView) -> bool:
    world, road_map = view.world, view.context.road_map
    lanes = () if world.route is None else carriageway(road_map, world.route, world.route_s)
    return any(is_within(road_map.lanes, lane, world.ego.pose.x, world.ego.pose.y) for lane in lanes)


def off_road(view: BehaviourView) -> bool:
    """Off the reference road (NLF-1)."""
    return view.world.localized and view.world.route is not None and not view.world.on_reference_road


def not_localized(view: BehaviourView) -> bool:
    """No pose that can be trusted."""
    return not view.world.localized


def no_path(view: BehaviourView) -> bool:
    """The lane planner has no feasible candidate (NOR-7)."""
    return view.memory.plan.failed and not route_ended(view)


def no_progress(view: BehaviourView) -> bool:
    """The car has not come on for too long, without a reason that makes waiting right (NOR-7)."""
    parameters, limit = view.context.parameters.normal, view.memory.plan.limit.reason
    patience = parameters.junction_patience if limit in JUNCTION_WAITS else parameters.no_progress
    return view.clock - view.memory.progress.at >= patience - TOLERANCE_S and not route_ended(view)


def attempts_exhausted(view: BehaviourView) -> bool:
    """Every attempt at free-space driving has failed (REG-4, SLF-3, NLF-2). Before a goal that is occupied there was
    none to make (USE-7).
    """
    return view.memory.ladder.exhausted and not view.memory.ladder.occupied


def overdue(view: BehaviourView) -> bool:
    """The state has lasted longer than a maneuver takes (USE-2)."""
    return view.memory.unexplained_s >= view.context.parameters.switching.deadline - TOLERANCE_S


def way_out(view: BehaviourView) -> bool:
    """The car is not reversing, and the lane planner would get on from here (SLF-2, NLF-3) or has no farther to go
    (USE-7); no part of the body is over the edge of the road, which is a wall then.
    """
    probe, plan = view.memory.probe, view.memory.plan
    far, there = probe.travel >= view.context.parameters.free.way_out, stands_at_end(view, taken=False)
    gets_on = far or there or waits_rightly(view.world, probe)
    reverses = plan.known and plan.uses_reverse and not _only_waits(plan)
    forward = not reverses and view.world.ego.v > -VEHICLE_STANDS
    usable = probe.known and probe.feasible and gets_on
    return view.world.on_reference_road and usable and forward and _body_on_road(view)


def _only_waits(plan: PlanOutcome) -> bool:
    """Whether a motion is not under way: the car stands until other road users have gone by."""
    return plan.limit.reason in GO_BY and plan.travel < STANDING_TRAVEL_M


def no_way_round(view: BehaviourView) -> bool:
    """The route server has no other route (RPL-3), or there is nowhere to ask one to."""
    question = view.memory.routing.question
    refused = question.failures >= view.context.parameters.route.replan_attempts
    return not question.answered and (refused or destination(view) is None)


def nothing_blocked(view: BehaviourView) -> bool:
    """There is no block to report: the car came here because it is not localized (RPL-1)."""
    return view.memory.on_road.block is None


def way_to_route(view: BehaviourView) -> bool:
    """There is a path toward the route again (EXP-2); after each visit it is believed a little later."""
    visits = view.memory.on_road.exploring.visits
    wait = backoff_s(view.context.parameters.route, visits - 1) if visits > 1 else 0.0
    probe = view.memory.probe
    return view.world.localized and probe.known and probe.feasible and view.in_state_s >= wait


def explore_timed_out(view: BehaviourView) -> bool:
    """Exploring has used up its time (EXP-4)."""
    return view.memory.on_road.exploring.timed_out


def explore_given_up(view: BehaviourView) -> bool:
    """It has done so too often (EXP-4)."""
    exploring = view.memory.on_road.exploring
    return exploring.timed_out and exploring.timeouts >= view.context.parameters.explore.timeouts


def stands_at_end(view: BehaviourView, taken: bool) -> bool:
    """Whether the car stands at the end of its route, on it and along it (USE-10)."""
    world = view.world
    return (
        world.localized
        and world.route is not None
        and world.on_reference_road
        and abs(world.heading_error) <= view.context.parameters.regression.done_heading
        and world.route_remaining <= arrival_distance(view, taken)
        and abs(world.ego.v) < VEHICLE_STANDS
    )


def waits_rightly(world: World, outcome: PlanOutcome) -> bool:
    """Whether a plan stops for a light, a pedestrian, or a leader that has moved lately (NOR-7), for a queue, also
    one behind a junction (NOR-11), or sees nothing.
    """
    limit = outcome.limit
    if outcome.reason in EXPLAINED or limit.reason in EXPLAINED:
        return True
    if limit.reason is Reason.JUNCTION_EXIT_BLOCKED:
        return world.traffic.waits(limit.blocker)
    return limit.reason is Reason.LEADER and world.scene.obstacles.any_moves(limit.blocker)
