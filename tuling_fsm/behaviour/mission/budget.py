"""The sum of PUD-1: route lengths turned into time, with the stops, the search for a parking space and a reserve."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.choice import ServiceTimes, Tour, best_tour, next_best
from tuling_fsm.behaviour.mission.memory import CAR, PARK, GoalKind, Leg, MissionProgress, TaskPlace, TaskStatus
from tuling_fsm.behaviour.mission.points import pose_of
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.mission import Mission, MissionPoint


def last_point(mission: Mission) -> MissionPoint | None:
    """Where the mission ends: with tasks in the car park, without at the goal; else at the other one, if any."""
    if mission.tasks:
        return mission.car_park or mission.goal
    return mission.goal or mission.car_park


def measure(view: BehaviourView) -> MissionProgress:
    """Add the next length that is missing, one a tick, so that no tick takes long.

    Those between fixed places are found along the way; those from the car when the next mission goal is to be chosen.
    """
    progress = view.memory.mission
    leg = next((leg for leg in _wanted(view, progress) if leg not in progress.legs), None)
    if leg is None or (CAR in leg and not view.world.localized):
        return progress
    return replace(progress, legs={**progress.legs, leg: _length(view, leg)})


def choose(view: BehaviourView) -> Tour | None:
    """What to serve next in the time left, None for nothing; all lengths have to be known (PUD-1, PUD-2)."""
    progress, parameters = view.memory.mission, view.context.parameters.mission
    tasks = progress.numbers(TaskStatus.OPEN)
    times = ServiceTimes(
        lambda before, task: _fetch(view, before, task),
        lambda task: _drive(view, (TaskPlace(GoalKind.PICKUP, task), TaskPlace(GoalKind.DROPOFF, task))) + _stop(view),
        lambda task: _home(view, task),
    )
    search = best_tour if len(tasks) <= parameters.exact else next_best
    return search(tasks, times, progress.left_s - parameters.reserve)


def is_measured(view: BehaviourView) -> bool:
    """Whether every length is known that the choice needs."""
    return all(leg in view.memory.mission.legs for leg in _wanted(view, view.memory.mission))


def needed_s(view: BehaviourView) -> float:
    """The sum of PUD-1 for the present pick-up, with the rest of the route as its first length; NaN while a length is
    missing.
    """
    progress, task = view.memory.mission, view.memory.mission.goal.entry
    carry = (TaskPlace(GoalKind.PICKUP, task), TaskPlace(GoalKind.DROPOFF, task))
    if carry not in progress.legs or (_has_end(progress) and (carry[1], PARK) not in progress.legs):
        return math.nan
    speed = view.context.parameters.mission.average_speed
    fetch = view.world.route_remaining / speed + _stop(view)
    return fetch + _drive(view, carry) + _stop(view) + _home(view, task) + view.context.parameters.mission.reserve


def _wanted(view: BehaviourView, progress: MissionProgress) -> Iterator[Leg]:
    """Lengths that the choice needs, in the order in which they are found."""
    tasks = progress.numbers(TaskStatus.OPEN)
    if progress.goal.kind is GoalKind.UNDECIDED:
        yield from ((CAR, TaskPlace(GoalKind.PICKUP, task)) for task in tasks)
    for task in tasks:
        yield TaskPlace(GoalKind.PICKUP, task), TaskPlace(GoalKind.DROPOFF, task)
        if _has_end(progress):
            yield TaskPlace(GoalKind.DROPOFF, task), PARK
    if len(tasks) <= view.context.parameters.mission.exact:
        yield from (
            (TaskPlace(GoalKind.DROPOFF, i), TaskPlace(GoalKind.PICKUP, j)) for i in tasks for j in tasks if i != j
        )


def _fetch(view: BehaviourView, before: int | None, task: int) -> float:
    start = CAR if before is None else TaskPlace(GoalKind.DROPOFF, before)
    return _drive(view, (start, TaskPlace(GoalKind.PICKUP, task))) + _stop(view)


def _home(view: BehaviourView, task: int) -> float:
    progress = view.memory.mission
    if not _has_end(progress):
        return 0.0
    parked = progress.mission is not None and progress.mission.car_park is not None
    search = view.context.parameters.mission.slot_search if parked else 0.0
    return _drive(view, (TaskPlace(GoalKind.DROPOFF, task), PARK)) + search


def _drive(view: BehaviourView, leg: Leg) -> float:
    return view.memory.mission.legs[leg] / view.context.parameters.mission.average_speed


def _stop(view: BehaviourView) -> float:
    return view.context.parameters.stop.duration + view.context.parameters.mission.stop_overhead


def _has_end(progress: MissionProgress) -> bool:
    return progress.mission is not None and last_point(progress.mission) is not None


def _length(view: BehaviourView, leg: Leg) -> float:
    start, goal = (_pose(view, node) for node in leg)
    route = plan_route(view.context.road_map, start, goal).route
    return math.inf if route is None else route.length


def _pose(view: BehaviourView, node: TaskPlace) -> Pose:
    progress = view.memory.mission
    if node == CAR:
        return view.world.ego.pose
    if node == PARK:
        end = None if progress.mission is None else last_point(progress.mission)
        assert end is not None  # no length to nowhere is wanted
        return pose_of(view.context.road_map, end)
    task = progress.entries[node.entry].task
    return pose_of(view.context.road_map, task.pickup if node.kind is GoalKind.PICKUP else task.dropoff)
