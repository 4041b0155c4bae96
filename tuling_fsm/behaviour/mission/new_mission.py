"""What another mission leaves as it is: how far tasks have come, who is aboard, and a stop that has begun."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.budget import last_goal
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress, TaskEntry, TaskStatus
from tuling_fsm.core.records import replace
from tuling_fsm.world.mission import Mission, Task

_STOPS = (states.APPROACH, states.STOPPED)
_CARRIED = {
    TaskStatus.SERVED: TaskStatus.SERVED,
    TaskStatus.ABOARD: TaskStatus.ABOARD,
    TaskStatus.UNDELIVERED: TaskStatus.ABOARD,
}
"""What does not begin anew."""


def take_mission(view: BehaviourView, state: str) -> Memory:
    """A new mission: tasks that are in it again keep how far they have come, and no passenger aboard is forgotten.

    A pick-up that has begun goes on where it comes again, and a drop-off where it is at the same place. On the way to a
    pick-up the choice is made anew (PUD-2).
    """
    mission, before = view.world.mission, view.memory.mission
    if mission is None or is_known(mission, before.mission):
        return view.memory
    entries = _carried_over(before.entries, mission.tasks)
    progress = replace(before, mission=mission, entries=entries, legs={}, measured=False, elapsed_s=before.waited_s)
    kept = _kept_goal(before, entries, begun=state in _STOPS or before.attempts > 0)
    if kept is None:
        return replace(view.memory, mission=progress.bound_for(_first_goal(progress)))
    stop = view.memory.stop
    stop = replace(stop, goal=kept) if stop.goal == before.goal else stop
    return replace(view.memory, mission=replace(progress, goal=kept, summed_at=-math.inf, short_since=None), stop=stop)


def is_known(mission: Mission, known: Mission | None) -> bool:
    """Whether a mission is the present one, perhaps sent again."""
    return mission is known or (known is not None and replace(mission, stamp=known.stamp) == known)


def _kept_goal(before: MissionProgress, entries: tuple[TaskEntry, ...], begun: bool) -> MissionGoal | None:
    """The present stop under its task's number among new entries; None where it is no more, or may be chosen anew."""
    goal = before.goal
    if not goal.is_stop:
        return None
    old = before.entries[goal.entry].task
    if goal.kind is GoalKind.PICKUP:
        number = _number(old, entries, TaskStatus.OPEN, elsewhere=True) if begun else None
    else:
        number = _number(old, entries, TaskStatus.ABOARD)
    return None if number is None else replace(goal, entry=number)


def _first_goal(progress: MissionProgress) -> MissionGoal:
    """The drop-off of the passenger aboard, else what is chosen among the tasks, else the end."""
    aboard = next(iter(progress.numbers(TaskStatus.ABOARD)), None)
    if aboard is not None:
        return MissionGoal(GoalKind.DROPOFF, progress.entries[aboard].task.dropoff, aboard)
    some = progress.mission is not None and progress.mission.tasks
    return MissionGoal(GoalKind.UNDECIDED) if some else last_goal(progress.mission)


def _carried_over(before: tuple[TaskEntry, ...], tasks: tuple[Task, ...]) -> tuple[TaskEntry, ...]:
    """Entries for new tasks; behind them a passenger aboard whose task is not among them. A dropped task is open
    again, and so is a drop-off that was given up. A passenger aboard may be brought elsewhere than the mission before
    wanted.
    """
    entries = [TaskEntry(task) for task in tasks]
    known = [replace(old, status=_CARRIED[old.status]) for old in before if old.status in _CARRIED]
    for status in (TaskStatus.SERVED, TaskStatus.ABOARD):
        aboard = status is TaskStatus.ABOARD
        for old in (entry for entry in known if entry.status is status):
            number = _number(old.task, entries, TaskStatus.OPEN, elsewhere=aboard)
            if number is not None:
                entries[number] = replace(entries[number], status=status)
            elif aboard:
                entries.append(old)
    return tuple(entries)


def _number(task: Task, entries: Sequence[TaskEntry], status: TaskStatus, elsewhere: bool = False) -> int | None:
    """Of the entry with this status that is a task again; where none is, of one that leads `elsewhere` from its
    pick-up, if that may be.
    """
    alike = [i for i, entry in enumerate(entries) if entry.status is status and _is_same(task, entry.task)]
    again = [i for i in alike if entries[i].task.dropoff == task.dropoff]
    return next(iter(again or (alike if elsewhere else ())), None)


def _is_same(old: Task, new: Task) -> bool:
    """Whether it may be the same passenger: by the pick-up, and by the name where both have one (USE-10)."""
    return old.pickup == new.pickup and (old.name == new.name or not (old.name and new.name))
