"""Free-space driving as several states do it: one attempt after the other, each until it keeps failing (USE-9)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import FreeDrivingLadder, Memory
from tuling_fsm.behaviour.mission.goal_window import window_place, window_speed
from tuling_fsm.behaviour.permissions import Permissions
from tuling_fsm.behaviour.queue_ahead import queue_ahead
from tuling_fsm.behaviour.traffic.zones import slowed
from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, PlanningRequest, Reason

TOLERANCE_S = 1e-6

Lines = Callable[[BehaviourView, int], FloatArray]
"""The lines (M, 4) that hold on a rung. They are taken once a rung: one that the car has crossed must not come back."""
NO_LINES: FloatArray = np.zeros((0, 4))

NO_REVERSING = Hold(Reason.GEAR_CHANGE, detail="no reversing in rain or fog: the radar does not look back")
"""What the car stands for where only reversing would get it on (RFG-1)."""


def begin(view: BehaviourView, goals: tuple[Pose, ...], lines: Lines) -> Memory:
    """Start with the first attempt; without goals the ladder is exhausted from the start."""
    failed_at = None if goals else view.clock
    return with_ladder(view.memory, FreeDrivingLadder(goals, 0, lines(view, 0), failed_at, view.world.route))


def go_on(view: BehaviourView, lines: Lines) -> Memory:
    """Stay with the present attempt until its plan has failed for long enough; then the next."""
    ladder = view.memory.ladder
    if ladder.exhausted:
        return view.memory
    if not view.memory.plan.failed:
        return with_ladder(view.memory, replace(ladder, failing_since=None))
    since = view.clock if ladder.failing_since is None else ladder.failing_since
    if view.clock - since < view.context.parameters.free.confirm - TOLERANCE_S:
        return with_ladder(view.memory, replace(ladder, failing_since=since))
    rung = ladder.rung + 1
    if rung < len(ladder.goals):
        return with_ladder(view.memory, replace(ladder, rung=rung, lines=lines(view, rung), failing_since=None))
    return with_ladder(view.memory, replace(ladder, rung=rung, failing_since=view.clock))


def with_ladder(memory: Memory, ladder: FreeDrivingLadder) -> Memory:
    """The memory with another ladder."""
    return replace(memory, ladder=ladder)


def reached(view: BehaviourView) -> bool:
    """Whether the car is at the goal of the present attempt."""
    ladder, pose = view.memory.ladder, view.world.ego.pose
    if ladder.exhausted:
        return False
    return (
        float(elementwise.hypot(ladder.goal.x - pose.x, ladder.goal.y - pose.y)) <= view.context.parameters.free.reached
    )


def toward_goal(view: BehaviourView, speed: float, free_heading: bool = False) -> PlanningRequest:
    """The request of the present attempt; behind a queue the car waits (NOR-11)."""
    ladder = view.memory.ladder
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if ladder.exhausted:
        return Hold(Reason.NO_PATH, detail=f"all of {len(ladder.goals)} free-space attempts have failed")
    queue = queue_ahead(view)
    if queue is not None and not queue.given_up:
        return Hold(Reason.QUEUE, detail=queue.words)
    rules = view.memory.rules
    return FreeSpace(
        ladder.goal,
        ladder.lines,
        rules.walls,
        min(speed, rules.speed_limit),
        free_heading=free_heading,
        max_expansions=view.context.parameters.free.expansions,
    )


def lane_probe(view: BehaviourView) -> PlanningRequest | None:
    """What the lane planner would be asked here, every now and then (SLF-2, NLF-3); to creep up to who stands in the
    way is no way out.
    """
    due = view.clock - view.memory.probed_at >= view.context.parameters.free.probe_period - TOLERANCE_S
    if not (due and view.world.localized and view.world.lanes):
        return None
    return replace(follow_lanes(view), creeps_up=False)


def follow_lanes(view: BehaviourView) -> FollowLanes:
    """Drive along the lanes of the reference road, with all that traffic rules put in the way (NOR-3 to NOR-6)."""
    route, rules = view.world.route, view.memory.rules
    speed = min(view.context.vehicle.max_speed, rules.speed_limit, window_speed(view))
    lanes = slowed(view.world.lanes, rules.zones, view.world.route_s, view.world.ego.v)
    goal_s = None if route is None else route.length
    return FollowLanes(lanes, rules.walls, speed, goal_s=goal_s, window=window_place(view), creeps_up=rules.creeps_up)


def solid_lines(view: BehaviourView) -> FloatArray:
    """Solid lines around the car."""
    pose, radius = view.world.ego.pose, view.context.parameters.free.radius
    return view.context.road_map.line_segments(pose.x, pose.y, radius, crossable=False)


def road_edges(view: BehaviourView) -> FloatArray:
    """Edges of the drivable surface around the car."""
    pose, radius = view.world.ego.pose, view.context.parameters.free.radius
    return view.context.road_map.boundary_segments(pose.x, pose.y, radius)


def lines_held(view: BehaviourView, may: Permissions) -> FloatArray:
    """What holds a state: solid lines and the road's edges, unless it may cross the ones or leave the other."""
    solid = NO_LINES if may.cross_lines else solid_lines(view)
    return np.vstack((solid, NO_LINES if may.leave_road else road_edges(view)))
