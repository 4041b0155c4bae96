"""One tick of the mission's bookkeeping: new missions, the operator's calls, points passed, time, and the next mission
goal.

It runs in every state, beside what the state does; what needs another route counts its ticket up.
"""

from __future__ import annotations

import math

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.guards import TOLERANCE_S, stands_at_end
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import Memory, report
from tuling_fsm.behaviour.mission.budget import choose, is_measured, last_goal, measure, needed_s
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress, TaskStatus
from tuling_fsm.behaviour.mission.new_mission import is_known, take_mission
from tuling_fsm.behaviour.mission.out_of_reach import out_of_reach
from tuling_fsm.behaviour.mission.points import is_past, just_past, legal_point, pose_of, stop_ahead
from tuling_fsm.core.geometry import distance
from tuling_fsm.core.notice import Notice
from tuling_fsm.core.records import replace
from tuling_fsm.world.world import World

_FORGET_AROUND_M = 100.0
_MOST_SAID = 3
"""Of so many tasks one line says why there is no way to them."""
_OWN_MATTER = ("departure", "temporary_stop", "parking")
"""Composites in which a point is not passed by accident."""


def run_clock(progress: MissionProgress, world: World, max_gap: float) -> MissionProgress:
    """Let the match time go on by the stamps of the input; a jump of time does not count (DWELL-3, DWELL-5)."""
    step = 0.0 if progress.stamp is None else world.stamp - progress.stamp
    passed = step if 0.0 <= step <= max_gap + TOLERANCE_S else 0.0
    return replace(
        progress,
        stamp=world.stamp,
        elapsed_s=progress.elapsed_s + passed,
        waited_s=progress.waited_s + passed if _waits(progress, world) else 0.0,
        skip=progress.skip or world.skip_task,
    )


def _waits(progress: MissionProgress, world: World) -> bool:
    """Whether a new mission has come before this tick, during an emergency stop (EST-2)."""
    mission = world.mission
    return mission is not None and mission.stamp != world.stamp and not is_known(mission, progress.mission)


def update_mission(view: BehaviourView, state: str) -> Memory:
    """All of it, in the state of this path."""
    view = view.having(take_mission(view, state))
    view = view.having(_skip(view))
    view = view.having(_watch_point(view, state))
    view = view.having(_watch_time(view, state))
    return _choose(view)


def fail_attempt(view: BehaviourView, why: str) -> Memory:
    """Another attempt at the present stop has failed: a route round and back, and in the end no further one (TMP-3)."""
    progress, limit = view.memory.mission, view.context.parameters.stop.attempts
    attempts = progress.attempts + 1
    line = f"{_name(progress)}: attempt {attempts} of {limit} failed, {why}"
    if attempts >= limit:
        return give_up(view.having(report(view.memory, line)))
    point = progress.goal.point
    past = None if point is None else just_past(view.context.road_map, point)
    around = None if past is None or is_past(view.world.ego.pose, past, 0.0) else past
    progress = replace(progress, attempts=attempts, around=around, near=False, ticket=progress.ticket + 1)
    return report(replace(view.memory, mission=progress), f"{line}; a route back is asked for")


def give_up(view: BehaviourView) -> Memory:
    """Drop a waiting pick-up; with a passenger aboard the next legal place, else the end of the mission (TMP-3)."""
    progress, goal = view.memory.mission, view.memory.mission.goal
    name = _name(progress)
    if goal.kind is GoalKind.PICKUP:
        progress = progress.marked(goal.entry, TaskStatus.DROPPED).bound_for(MissionGoal(GoalKind.UNDECIDED))
        return report(replace(view.memory, mission=progress), f"{name} is dropped")
    own = progress.entries[goal.entry].task.dropoff
    instead = legal_point(view, own) if goal.point == own else None
    if instead is not None:
        progress = progress.bound_for(replace(goal, point=instead))
        where = f"({instead.x:.1f}, {instead.y:.1f}) instead"
        return report(
            replace(view.memory, mission=progress),
            f"{name} is given up: the passenger gets off at {where}",
        )
    end = last_goal(progress.mission)
    progress = progress.marked(goal.entry, TaskStatus.UNDELIVERED).bound_for(end)
    return report(
        replace(view.memory, mission=progress),
        f"{name} is dropped: the passenger stays aboard ({end.kind.value})",
    )


def served(view: BehaviourView) -> Memory:
    """The present stop is over: the passenger is aboard, or has got off (STP-1, USE-10)."""
    progress, goal = view.memory.mission, view.memory.mission.goal
    name = _name(progress)
    if goal.kind is GoalKind.PICKUP:
        dropoff = progress.entries[goal.entry].task.dropoff
        progress = progress.marked(goal.entry, TaskStatus.ABOARD).bound_for(
            MissionGoal(GoalKind.DROPOFF, dropoff, goal.entry)
        )
        return report(replace(view.memory, mission=progress), Notice(f"{name} is served"))
    here = goal.point == progress.entries[goal.entry].task.dropoff
    status, line = (
        (TaskStatus.SERVED, Notice(f"{name} is served")) if here else (TaskStatus.DROPPED, f"{name}: got off elsewhere")
    )
    progress = progress.marked(goal.entry, status).bound_for(MissionGoal(GoalKind.UNDECIDED))
    return report(replace(view.memory, mission=progress), line)


def _skip(view: BehaviourView) -> Memory:
    """An operator drops the present task."""
    progress = view.memory.mission
    if not progress.skip:
        return view.memory
    memory = replace(view.memory, mission=replace(progress, skip=False))
    if not progress.goal.is_stop:
        return report(memory, "there is no task to skip")
    return give_up(view.having(report(memory, Notice(f"{_name(progress)}: skipped by the operator"))))


def _watch_point(view: BehaviourView, state: str) -> Memory:
    """A point that is passed in a state that does not stop for it is a failed attempt (NOR-1)."""
    progress, world = view.memory.mission, view.world
    point = progress.goal.point
    if not progress.goal.is_stop or point is None or not world.localized:
        return view.memory
    pose = pose_of(view.context.road_map, point)
    if progress.around is not None:
        far = distance(world.ego.pose[:2], progress.around[:2]) > _FORGET_AROUND_M
        if far or is_past(world.ego.pose, progress.around, 0.0):
            return replace(view.memory, mission=replace(progress, around=None))
        return view.memory
    if state.partition("/")[0] in _OWN_MATTER:
        return view.memory
    ahead = stop_ahead(view)
    if progress.near and is_past(world.ego.pose, pose, view.context.parameters.stop.passed):
        return fail_attempt(view, f"passed in {state}")
    if stands_at_end(view, taken=True) and not ahead and view.memory.routing.serves == progress.ticket:
        return fail_attempt(view, f"no way to approach it from {state}")
    return view.memory if not ahead else replace(view.memory, mission=replace(progress, near=True))


def _watch_time(view: BehaviourView, state: str) -> Memory:
    """On the way to a pick-up the sum of PUD-1 is made again and again; short for long, it is left (MAT-1).

    Not any more when the passenger gets on.
    """
    progress, parameters = view.memory.mission, view.context.parameters.mission
    due = view.clock - progress.summed_at >= parameters.sum_period - TOLERANCE_S
    known = math.isfinite(progress.left_s) and view.memory.routing.serves == progress.ticket and view.world.localized
    if progress.goal.kind is not GoalKind.PICKUP or state == states.STOPPED or not due or not known:
        return view.memory
    short = needed_s(view) - progress.left_s
    if not short > 0.0:
        return replace(view.memory, mission=replace(progress, summed_at=view.clock, short_since=None))
    since = view.clock if progress.short_since is None else progress.short_since
    if view.clock - since < parameters.short_for - TOLERANCE_S:
        return replace(view.memory, mission=replace(progress, summed_at=view.clock, short_since=since))
    end = last_goal(progress.mission)
    line = f"{_name(progress)}: {short:.0f} s short of time, {progress.left_s:.0f} s left; {_onward(end)}"
    return report(replace(view.memory, mission=progress.bound_for(end)), line)


def _choose(view: BehaviourView) -> Memory:
    """Find the lengths, then the next mission goal (PUD-1, PUD-2)."""
    if view.memory.mission.measured:
        return view.memory
    progress = measure(view)
    if progress.goal.kind is not GoalKind.UNDECIDED:
        return replace(
            view.memory,
            mission=replace(progress, measured=progress is view.memory.mission),
        )
    view = view.having(replace(view.memory, mission=progress))
    if not is_measured(view):
        return view.memory
    tour = choose(view)
    view, many = _report_out_of_reach(view, () if tour is None else tour.order)
    if tour is None:
        goal = last_goal(progress.mission)
        some = f"none of {many} open tasks can be served in time" if many else "none of the open tasks can be reached"
        onward = _onward(goal)
        line = f"{some}: {onward}" if progress.numbers(TaskStatus.OPEN) else Notice(f"no task is left: {onward}")
    else:
        goal = MissionGoal(GoalKind.PICKUP, progress.entries[tour.order[0]].task.pickup, tour.order[0])
        names = ", ".join(progress.name(i) for i in tour.order)
        line = Notice(f"tasks to serve: {names}, {tour.total:.0f} s needed of {progress.left_s:.0f} s")
    return report(replace(view.memory, mission=progress.bound_for(goal)), line)


def _report_out_of_reach(view: BehaviourView, served: tuple[int, ...]) -> tuple[BehaviourView, int]:
    """Say which open tasks have no way to them, beside those that are to be served; how many others there are."""
    progress = view.memory.mission
    left = [task for task in progress.numbers(TaskStatus.OPEN) if task not in served]
    faults = {task: fault for task in left if (fault := out_of_reach(view, task))}
    if not faults:
        return view, len(left)
    said = [f"task {progress.name(task)} cannot be reached: {fault}" for task, fault in faults.items()][:_MOST_SAID]
    more = [f"nor can {len(faults) - len(said)} other tasks"] if len(faults) > len(said) else []
    return view.having(report(view.memory, "; ".join(said + more))), len(left) - len(faults)


def _onward(goal: MissionGoal) -> str:
    return "there is nowhere else to go" if goal.point is None else f"on to the {goal.kind.value}"


def _name(progress: MissionProgress) -> str:
    goal = progress.goal
    return f"{goal.kind.value} of task {progress.name(goal.entry)}"
