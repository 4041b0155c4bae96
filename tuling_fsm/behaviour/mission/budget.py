"""The sum of PUD-1: route lengths turned into time, with the stops, the search for a parking space and a reserve."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.choice import ServiceTimes, Tour, best_tour, next_best
from tuling_fsm.behaviour.mission.memory import (
    CAR,
    PARK,
    GoalKind,
    Leg,
    MissionGoal,
    MissionProgress,
    TaskPlace,
    TaskStatus,
)
from tuling_fsm.behaviour.mission.points import just_past, pose_of
from tuling_fsm.behaviour.routing import arrival_distance
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.records import replace
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.mission import Mission, MissionPoint

_WORK_A_TICK = 1800
"""Lanes that may be looked at on a tick to find several lengths, where each takes all of the map: a few ms."""
_DRAWING = 250
"""To draw a route takes as long as to look at so many lanes."""


def last_point(mission: Mission) -> MissionPoint | None:
    """Where the mission ends: with tasks in the car park, without at the goal; else at the other one, if any."""
    if mission.tasks:
        return mission.car_park or mission.goal
    return mission.goal or mission.car_park


def last_goal(mission: Mission | None) -> MissionGoal:
    """The last mission goal of a mission."""
    point = None if mission is None else last_point(mission)
    if mission is None or point is None:
        return MissionGoal(GoalKind.NOTHING)
    return MissionGoal(GoalKind.CAR_PARK if point is mission.car_park else GoalKind.GOAL, point)


def measure(view: BehaviourView) -> MissionProgress:
    """Add the next length that is missing, one a tick, so that no tick takes long; while the choice among more tasks
    than are looked at in every order waits for them, as many as `_WORK_A_TICK` allows.

    Those between fixed places are found along the way; those from the car when the next mission goal is to be chosen.
    """
    progress = view.memory.mission
    missing = (leg for leg in _wanted(view, progress) if leg not in progress.legs)
    known = itertools.takewhile(lambda leg: CAR not in leg or view.world.localized, missing)
    found = {leg: _length(view, leg) for leg in itertools.islice(known, _lengths_a_tick(view))}
    return replace(progress, legs={**progress.legs, **found}) if found else progress


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


def _lengths_a_tick(view: BehaviourView) -> int:
    progress, exact = view.memory.mission, view.context.parameters.mission.exact
    if progress.goal.kind is not GoalKind.UNDECIDED or len(progress.numbers(TaskStatus.OPEN)) <= exact:
        return 1
    return max(1, _WORK_A_TICK // (_DRAWING + len(view.context.road_map.lanes)))


def place_of(view: BehaviourView, node: TaskPlace) -> Pose:
    """Where a length begins or ends."""
    progress = view.memory.mission
    if node == CAR:
        return view.world.ego.pose
    if node == PARK:
        end = None if progress.mission is None else last_point(progress.mission)
        assert end is not None  # no length to nowhere is wanted
        return pose_of(view.context.road_map, end)
    stop = _stop_point(view, node)
    assert stop is not None  # what is neither the car nor the end is a task's
    return pose_of(view.context.road_map, stop)


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
    """Of the way as it is driven: to a stop at which the car stands already it leads round and back (TMP-3), if there
    is a way round.
    """
    start, goal = (place_of(view, node) for node in leg)
    length = _route_length(view, start, goal)
    stop = _stop_point(view, leg[1])
    if stop is None or length > arrival_distance(view, leg[0] == CAR and view.memory.routing.arrived):
        return length
    past = just_past(view.context.road_map, stop)
    lap = math.inf if past is None else distance(start[:2], past[:2]) + _route_length(view, past, goal)
    return length if leg[0] == CAR and math.isinf(lap) else lap


def _route_length(view: BehaviourView, start: Pose, goal: Pose) -> float:
    route = plan_route(view.context.road_map, start, goal).route
    return math.inf if route is None else route.length


def _stop_point(view: BehaviourView, node: TaskPlace) -> MissionPoint | None:
    """The point of a task's pick-up or drop-off; None for the car and the end of the mission."""
    if node in (CAR, PARK):
        return None
    task = view.memory.mission.entries[node.entry].task
    return task.pickup if node.kind is GoalKind.PICKUP else task.dropoff
