"""The sum of times to a pick-up and on, and the choice of the next mission goal."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress, TaskEntry, TaskStatus
from tuling_fsm.map.road_map import RoadMap

from ..views import CLOCK, at
from .missions import DROPOFF, LEGS, ONE, PICKUP, booked, kept, looking
from .tasks import mission


def summed(progress: MissionProgress) -> MissionProgress:
    """With a sum of 100 m / 5 m/s to the pick-up, 22 s of driving on, 26 s to the end and 155 s beside: 223 s."""
    return replace(progress, legs=LEGS)


@pytest.mark.clause("MAT-1", "PUD-1")
@pytest.mark.parametrize(
    ("left", "since", "outcome"),
    [
        (204.0, None, "enough"),
        (202.0, None, "short"),
        (202.0, CLOCK - 29.9, "still"),
        (202.0, CLOCK - 30.0, "over"),
        (204.0, CLOCK - 50.0, "enough"),
    ],
)
def test_the_sum_of_times_on_the_way_to_a_pick_up(
    road: RoadMap, left: float, since: float | None, outcome: str
) -> None:
    wanted = mission(match=500.0)
    progress = summed(booked(mission=wanted, elapsed_s=500.0 - left, short_since=since))
    after, lines = kept(looking(road, progress))
    if outcome == "over":
        assert after.goal == MissionGoal(GoalKind.CAR_PARK, wanted.car_park)
        assert lines == ("pick-up of task one: 1 s short of time, 202 s left; on to the car park",)
        return
    assert after.goal == PICKUP
    assert after.summed_at == CLOCK
    assert after.short_since == {"enough": None, "short": CLOCK, "still": since}[outcome]


@pytest.mark.clause("MAT-1")
@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"summed_at": CLOCK - 9.9}, states.NORMAL),
        ({"goal": DROPOFF}, states.NORMAL),
        ({}, states.STOPPED),
        ({"localized": False}, states.NORMAL),
        ({"serves": 2}, states.NORMAL),
        ({"match": math.inf}, states.NORMAL),
    ],
)
def test_when_no_sum_is_made(road: RoadMap, changes: dict[str, Any], state: str) -> None:
    changes = dict(changes)
    wanted = mission(match=changes.pop("match", 30.0))
    serves, localized = changes.pop("serves", 3), changes.pop("localized", True)
    progress = replace(summed(booked(mission=wanted)), **changes)
    view = looking(road, progress, localized=localized)
    view = at(view, routing=replace(view.memory.routing, serves=serves))
    after, _ = kept(view, state)
    assert (after.summed_at, after.short_since) == (progress.summed_at, None)
    due = replace(summed(booked(mission=mission(match=30.0))), summed_at=CLOCK - 10.0)
    assert kept(looking(road, due))[0].short_since == CLOCK


@pytest.mark.clause("PUD-1", "PUD-2")
def test_the_next_goal_is_chosen_when_all_lengths_are_known(road: RoadMap) -> None:
    undecided = booked(MissionGoal(GoalKind.UNDECIDED), mission=mission(match=500.0))
    progress = kept(looking(road, undecided))[0]
    assert (progress.goal.kind, len(progress.legs)) == (GoalKind.UNDECIDED, 1), "one length a tick"
    chosen, lines = kept(looking(road, replace(undecided, legs=LEGS)))
    assert (chosen.goal, chosen.ticket) == (PICKUP, 4)
    assert lines == ("tasks to serve: one, 183 s needed of 500 s",)
    late = replace(undecided, legs=LEGS, elapsed_s=400.0)
    chosen, lines = kept(looking(road, late))
    assert chosen.goal == MissionGoal(GoalKind.CAR_PARK, mission().car_park)
    assert lines == ("none of 1 open tasks can be served in time: on to the car park",)
    none_left = replace(undecided, entries=(replace(ONE, status=TaskStatus.SERVED),))
    assert kept(looking(road, none_left))[1] == ("no task is left: on to the car park",)


@pytest.mark.clause("USE-7")
@pytest.mark.parametrize(
    ("lost", "many", "fault"),
    [
        ({"x": 9999.0}, 1, "its pick-up is off the map (OUTSIDE_MAP)"),
        ({"y": 40.0}, 2, "its pick-up is off the map (OUTSIDE_MAP)"),
        ({"x": 40.0}, 1, "there is no way from the car to its pick-up (NO_PATH)"),
        ({"x": 280.0}, 2, "there is no way from its pick-up to its drop-off (NO_PATH)"),
    ],
)
def test_a_task_that_cannot_be_reached_is_told_from_one_that_takes_too_long(
    road: RoadMap, lost: dict[str, float], many: int, fault: str
) -> None:
    out = TaskEntry(replace(ONE.task, name="", pickup=replace(ONE.task.pickup, **lost)))
    for match in (math.inf, 30.0):
        entries = (out, ONE)[:many]
        progress = booked(MissionGoal(GoalKind.UNDECIDED), *entries, mission=mission(match=match))
        lines: tuple[str, ...] = ()
        while progress.goal.kind is GoalKind.UNDECIDED:
            progress, lines = kept(looking(road, progress))
        choice = "none of the open tasks can be reached: on to the car park"
        if many > 1:
            late = "none of 1 open tasks can be served in time: on to the car park"
            choice = "tasks to serve: one, 183 s needed of inf s" if math.isinf(match) else late
        assert lines == (f"task 1 cannot be reached: {fault}", choice)


@pytest.mark.clause("USE-7")
def test_a_car_or_an_end_off_the_map_is_named(road: RoadMap) -> None:
    undecided = MissionGoal(GoalKind.UNDECIDED)
    away = replace(mission(), car_park=replace(ONE.task.pickup, y=99.0))
    for wanted, x, fault in (
        (mission(), 9999.0, "the car is off the map (OUTSIDE_MAP)"),
        (away, 50.0, "the end of the mission is off the map (OUTSIDE_MAP)"),
    ):
        progress, lines = booked(undecided, mission=wanted), ()
        while progress.goal.kind is GoalKind.UNDECIDED:
            progress, lines = kept(looking(road, progress, x=x))
        assert lines[0] == f"task one cannot be reached: {fault}"


def test_of_many_tasks_that_cannot_be_reached_a_few_are_named(road: RoadMap) -> None:
    out = TaskEntry(replace(ONE.task, name="", pickup=replace(ONE.task.pickup, y=99.0)))
    progress, lines = booked(MissionGoal(GoalKind.UNDECIDED), *[out] * 5), ()
    while progress.goal.kind is GoalKind.UNDECIDED:
        progress, lines = kept(looking(road, progress))
    named = [f"task {i} cannot be reached: its pick-up is off the map (OUTSIDE_MAP)" for i in (1, 2, 3)]
    assert lines[0] == "; ".join([*named, "nor can 2 other tasks"])
