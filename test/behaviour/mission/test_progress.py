"""The bookkeeping step by step, with books made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.mission.memory import (
    CAR,
    PARK,
    GoalKind,
    MissionGoal,
    MissionProgress,
    TaskEntry,
    TaskPlace,
    TaskStatus,
)
from tuling_fsm.behaviour.mission.progress import fail_attempt, give_up, run_clock, served
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.notice import Notice
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint

from ..views import CLOCK, at
from ..worlds import FAR_Y, Place
from .missions import DROPOFF, LEGS, ONE, PICKUP, booked, kept, looking
from .tasks import DROPOFF_X, END_X, PICKUP_X, mission, point, task


def test_another_goal_begins_anew() -> None:
    progress = booked(
        attempts=2, around=Pose(1.0, 2.0, 0.0), near=True, legs=LEGS, summed_at=7.0, short_since=6.0, elapsed_s=9.0
    )
    after = progress.bound_for(DROPOFF)
    assert after.goal == DROPOFF
    assert (after.attempts, after.around, after.near, after.ticket) == (0, None, False, 4)
    assert (after.summed_at, after.short_since, after.elapsed_s) == (-math.inf, None, 9.0)
    assert set(after.legs) == set(LEGS) - {(CAR, TaskPlace(GoalKind.PICKUP, 0))}, "the car will be elsewhere"


def test_tasks_are_marked_and_counted_by_how_far_they_have_come() -> None:
    progress = booked(PICKUP, ONE, TaskEntry(task("two"), TaskStatus.SERVED), TaskEntry(task("three")))
    assert (progress.numbers(TaskStatus.OPEN), progress.numbers(TaskStatus.SERVED)) == ((0, 2), (1,))
    after = progress.marked(2, TaskStatus.DROPPED)
    assert [entry.status for entry in after.entries] == [TaskStatus.OPEN, TaskStatus.SERVED, TaskStatus.DROPPED]
    assert after.entries[2].task.name == "three"


@pytest.mark.parametrize(("match", "elapsed", "left", "over"), [(60.0, 50.0, 10.0, False), (60.0, 60.0, 0.0, True)])
def test_time_that_is_left(match: float, elapsed: float, left: float, over: bool) -> None:
    progress = booked(mission=mission(match=match), elapsed_s=elapsed)
    assert (progress.left_s, progress.over) == (left, over)
    assert MissionProgress(elapsed_s=elapsed).left_s == math.inf
    assert [MissionGoal(kind).is_stop for kind in GoalKind] == [
        kind in (GoalKind.PICKUP, GoalKind.DROPOFF) for kind in GoalKind
    ]


@pytest.mark.clause("MAT-1", "DWELL-5")
@pytest.mark.parametrize(
    ("before", "now", "step"),
    [(None, 5.0, 0.0), (5.0, 5.5, 0.5), (5.0, 6.0, 1.0), (5.1, 6.1 + 1e-9, 1.0), (5.0, 6.1, 0.0), (5.0, 4.9, 0.0)],
)
def test_the_match_clock_runs_by_the_stamps_and_jumps_do_not_count(
    road: RoadMap, before: float | None, now: float, step: float
) -> None:
    for called, open_call in ((False, False), (True, False), (False, True)):
        progress = booked(stamp=before, elapsed_s=20.0, skip=open_call)
        after = run_clock(progress, Place(road).world(now, None, skip_task=called), 1.0)
        assert (after.stamp, after.elapsed_s) == (now, pytest.approx(20.0 + step))
        assert after.skip is (called or open_call)


@pytest.mark.clause("TMP-3")
def test_a_failed_attempt_asks_for_a_route_round_and_back_until_the_last_one(road: RoadMap) -> None:
    view = looking(road, booked(near=True), x=140.0)
    memory = fail_attempt(view, "so it is")
    progress = memory.mission
    assert (
        progress.attempts,
        progress.near,
        progress.ticket,
        progress.goal,
    ) == (1, False, 4, PICKUP)
    assert progress.around == pytest.approx((PICKUP_X + 5.0, FAR_Y, 0.0))
    assert memory.reports == ("pick-up of task one: attempt 1 of 3 failed, so it is; a route back is asked for",)
    assert fail_attempt(looking(road, booked(), x=155.5), "").mission.around is None, "the car is past it already"
    off_road = MissionGoal(GoalKind.PICKUP, replace(point(150.0), y=80.0), 0)
    assert fail_attempt(looking(road, booked(off_road, attempts=1), end=200.0), "").mission.around is None
    last = fail_attempt(looking(road, booked(attempts=2)), "so it is")
    assert last.mission.goal.kind is GoalKind.UNDECIDED
    assert last.mission.numbers(TaskStatus.DROPPED) == (0,)
    assert last.reports == ("pick-up of task one: attempt 3 of 3 failed, so it is", "pick-up of task one is dropped")


@pytest.mark.clause("TMP-3")
def test_a_drop_off_is_given_up_for_the_next_legal_place_and_then_for_the_end(road: RoadMap) -> None:
    first = give_up(looking(road, booked(DROPOFF, replace(ONE, status=TaskStatus.ABOARD))))
    goal = first.mission.goal
    assert (goal.kind, goal.entry, first.mission.ticket) == (GoalKind.DROPOFF, 0, 4)
    assert goal.point is not None
    assert (goal.point.x, goal.point.y) == pytest.approx((DROPOFF_X + 20.0, FAR_Y))
    assert first.mission.numbers(TaskStatus.ABOARD) == (0,)
    line = "drop-off of task one is given up: the passenger gets off at (280.0, -5.2) instead"
    assert first.reports == (line,) or first.reports == (line.replace("-5.2", "-5.3"),)
    second = give_up(looking(road, first.mission))
    assert second.mission.goal == MissionGoal(GoalKind.CAR_PARK, mission().car_park)
    assert second.mission.numbers(TaskStatus.UNDELIVERED) == (0,)
    assert second.reports == ("drop-off of task one is dropped: the passenger stays aboard (car park)",)


@pytest.mark.clause("STP-1", "USE-10")
def test_what_a_stop_that_is_over_leads_to(road: RoadMap) -> None:
    aboard = served(looking(road, booked(PICKUP)))
    assert (aboard.mission.goal, aboard.mission.numbers(TaskStatus.ABOARD)) == (DROPOFF, (0,))
    assert aboard.reports == ("pick-up of task one is served",)
    done = served(looking(road, booked(DROPOFF)))
    assert (done.mission.goal, done.mission.numbers(TaskStatus.SERVED)) == (
        MissionGoal(GoalKind.UNDECIDED),
        (0,),
    )
    assert done.reports == ("drop-off of task one is served",)
    assert all(isinstance(line, Notice) for line in (*aboard.reports, *done.reports)), "no warnings"
    elsewhere = served(looking(road, booked(replace(DROPOFF, point=point(300.0)))))
    assert elsewhere.mission.numbers(TaskStatus.DROPPED) == (0,)
    assert elsewhere.reports == ("drop-off of task one: got off elsewhere",)


GOAL = MissionPoint("goal", 300.0, FAR_Y, 0.0)
PARKING = MissionPoint("end", END_X, FAR_Y, 0.0)


@pytest.mark.parametrize(
    ("wanted", "kind"),
    [
        (Mission(1.0, (ONE.task,), GOAL, PARKING), GoalKind.UNDECIDED),
        (Mission(1.0, (), GOAL, PARKING), GoalKind.GOAL),
        (Mission(1.0, (), None, PARKING), GoalKind.CAR_PARK),
        (Mission(1.0), GoalKind.NOTHING),
    ],
)
def test_the_first_goal_of_a_new_mission(road: RoadMap, wanted: Mission, kind: GoalKind) -> None:
    view = looking(road, booked(mission=None, legs=LEGS, elapsed_s=50.0), mission=wanted, localized=False)
    progress, _ = kept(view)
    assert (progress.mission, progress.goal.kind, progress.ticket) == (wanted, kind, 4)
    assert (progress.elapsed_s, PARK in {node for leg in progress.legs for node in leg}) == (0.0, False)
    assert kept(looking(road, booked(legs=LEGS), mission=None, localized=False))[0] == booked(legs=LEGS)


def test_a_mission_sent_again_is_known_and_one_that_differs_is_not(road: RoadMap) -> None:
    progress = booked(legs=LEGS, elapsed_s=50.0)
    assert kept(looking(road, progress, mission=replace(mission(), stamp=900.0)))[0] == progress
    other = replace(mission(), match_time_s=70.0)
    assert kept(looking(road, progress, mission=other))[0].elapsed_s == 0.0


@pytest.mark.parametrize(
    ("before", "names", "after", "goal"),
    [
        # Those served stay so, one for one; a dropped one is open again.
        (
            [("a", TaskStatus.SERVED), ("b", TaskStatus.DROPPED)],
            "ba",
            [("b", TaskStatus.OPEN), ("a", TaskStatus.SERVED)],
            None,
        ),
        ([("a", TaskStatus.SERVED)], "aa", [("a", TaskStatus.SERVED), ("a", TaskStatus.OPEN)], None),
        # A passenger aboard is brought to the wanted place, under the new mission's number, or behind its tasks.
        ([("a", TaskStatus.ABOARD)], "ba", [("b", TaskStatus.OPEN), ("a", TaskStatus.ABOARD)], (1, 350.0)),
        ([("a", TaskStatus.ABOARD)], "b", [("b", TaskStatus.OPEN), ("a", TaskStatus.ABOARD)], (1, 280.0)),
        ([("b", TaskStatus.OPEN), ("a", TaskStatus.ABOARD)], "", [("a", TaskStatus.ABOARD)], (0, 280.0)),
    ],
)
def test_what_is_carried_over_to_another_mission(
    road: RoadMap,
    before: list[tuple[str, TaskStatus]],
    names: str,
    after: list[tuple[str, TaskStatus]],
    goal: tuple[int, float] | None,
) -> None:
    ends = {TaskStatus.ABOARD: DROPOFF_X}
    entries = tuple(TaskEntry(task(name, 120.0, ends.get(status, 350.0)), status) for name, status in before)
    aboard = next((i for i, entry in enumerate(entries) if entry.status is TaskStatus.ABOARD), None)
    bound = MissionGoal(GoalKind.UNDECIDED) if aboard is None else MissionGoal(GoalKind.DROPOFF, point(280.0), aboard)
    wanted = Mission(5.0, tuple(task(name, 120.0, 350.0) for name in names), GOAL, PARKING)
    progress, _ = kept(looking(road, booked(bound, *entries), mission=wanted, localized=False))
    assert [(entry.task.name, entry.status) for entry in progress.entries] == after
    found = progress.goal if progress.goal.kind is GoalKind.DROPOFF else None
    assert (found and found.point and (found.entry, found.point.x)) == goal


@pytest.mark.clause("TMP-3", "USE-8")
@pytest.mark.parametrize(
    ("goal", "status", "attempts", "state", "kept_on"),
    [
        (PICKUP, TaskStatus.OPEN, 0, states.NORMAL, False),
        (PICKUP, TaskStatus.OPEN, 0, states.APPROACH, True),
        (PICKUP, TaskStatus.OPEN, 0, states.STOPPED, True),
        (PICKUP, TaskStatus.OPEN, 2, states.NORMAL, True),
        (DROPOFF, TaskStatus.ABOARD, 0, states.NORMAL, True),
        (replace(DROPOFF, point=point(280.0)), TaskStatus.ABOARD, 1, states.NORMAL, True),
        (MissionGoal(GoalKind.CAR_PARK, mission().car_park), TaskStatus.OPEN, 0, states.STOPPED, False),
    ],
)
def test_a_stop_that_has_begun_goes_on_with_another_mission(
    road: RoadMap, goal: MissionGoal, status: TaskStatus, attempts: int, state: str, kept_on: bool
) -> None:
    before = booked(goal, replace(ONE, status=status), attempts=attempts, near=True, short_since=CLOCK - 20.0)
    wanted = mission(task("new"), task("one"), match=900.0, stamp=5.0)
    progress, _ = kept(looking(road, before, mission=wanted, localized=False), state)
    assert (progress.mission, progress.short_since, len(progress.entries)) == (wanted, None, 2)
    assert progress.goal == (replace(goal, entry=1) if kept_on else MissionGoal(GoalKind.UNDECIDED))
    assert (progress.attempts, progress.near, progress.ticket) == (
        (attempts, True, before.ticket) if kept_on else (0, False, before.ticket + 1)
    )


@pytest.mark.clause("USE-10")
@pytest.mark.parametrize(
    ("name", "pickup", "dropoff", "served"),
    [("1", 120.0, 350.0, True), ("1", 130.0, 350.0, False), ("1", 120.0, 340.0, False), ("2", 120.0, 350.0, False)],
)
def test_a_task_of_another_mission_is_served_where_its_name_and_places_are_the_same(
    road: RoadMap, name: str, pickup: float, dropoff: float, served: bool
) -> None:
    before = booked(MissionGoal(), TaskEntry(task("1", 120.0, 350.0), TaskStatus.SERVED))
    wanted = Mission(5.0, (task(name, pickup, dropoff),), GOAL, PARKING)
    progress, _ = kept(looking(road, before, mission=wanted, localized=False))
    assert [entry.status for entry in progress.entries] == [TaskStatus.SERVED if served else TaskStatus.OPEN]


@pytest.mark.clause("USE-10")
@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        ([("", 260.0)], ["", "new"], [TaskStatus.ABOARD, TaskStatus.OPEN]),
        ([("", 260.0)], ["new", ""], [TaskStatus.OPEN, TaskStatus.ABOARD]),
        ([("", 260.0)], ["one"], [TaskStatus.ABOARD]),
        ([("one", 260.0)], [""], [TaskStatus.ABOARD]),
        ([("one", 260.0)], ["other"], [TaskStatus.OPEN, TaskStatus.ABOARD]),
        # From one pick-up to two places: the place tells them apart, whatever their order.
        ([("", 260.0), ("", 350.0)], ["elsewhere", ""], [TaskStatus.OPEN, TaskStatus.ABOARD]),
        ([("", 260.0), ("", 350.0)], ["", "elsewhere"], [TaskStatus.ABOARD, TaskStatus.OPEN]),
        ([("", 260.0)], ["elsewhere"], [TaskStatus.ABOARD]),
    ],
)
def test_a_task_without_a_name_is_known_by_its_places(
    road: RoadMap, before: list[tuple[str, float]], names: list[str], after: list[TaskStatus]
) -> None:
    tasks = {"new": task("", 300.0, 340.0), "elsewhere": task("", PICKUP_X, 350.0)}
    entries = tuple(
        TaskEntry(task(name, PICKUP_X, x), TaskStatus.OPEN if i else TaskStatus.ABOARD)
        for i, (name, x) in enumerate(before)
    )
    progress = booked(MissionGoal(GoalKind.DROPOFF, point(260.0), 0), *entries)
    wanted = Mission(5.0, tuple(tasks.get(name, task(name)) for name in names), GOAL, PARKING)
    progress, _ = kept(looking(road, progress, mission=wanted, localized=False))
    assert [entry.status for entry in progress.entries] == after
    assert progress.goal.entry == after.index(TaskStatus.ABOARD)
    assert progress.name(0) == (wanted.tasks[0].name or "1")


def test_a_passenger_aboard_is_not_taken_for_a_new_task_of_that_name_elsewhere(road: RoadMap) -> None:
    before = booked(
        MissionGoal(GoalKind.DROPOFF, point(350.0), 0), TaskEntry(task("1", 120.0, 350.0), TaskStatus.ABOARD)
    )
    wanted = Mission(5.0, (task("1", 130.0, 340.0),), GOAL, PARKING)
    progress, _ = kept(looking(road, before, mission=wanted, localized=False))
    assert [entry.status for entry in progress.entries] == [TaskStatus.OPEN, TaskStatus.ABOARD]
    assert progress.goal == MissionGoal(GoalKind.DROPOFF, point(350.0), 1)


def test_one_that_is_aboard_of_a_stranger_s_book_gets_off_at_its_own_drop_off(road: RoadMap) -> None:
    progress = booked(MissionGoal(GoalKind.CAR_PARK, PARKING), replace(ONE, status=TaskStatus.ABOARD))
    goal = kept(looking(road, progress, mission=Mission(5.0, (task("other"),), None, PARKING)))[0].goal
    assert (goal.kind, goal.point, goal.entry) == (GoalKind.DROPOFF, ONE.task.dropoff, 1)


@pytest.mark.parametrize(
    ("x", "around", "kept_on"),
    [
        (140.0, Pose(155.0, FAR_Y, 0.0), True),
        (154.0, Pose(155.0, FAR_Y, 0.0), True),
        (156.0, Pose(155.0, FAR_Y, 0.0), False),
        (56.0, Pose(155.0, FAR_Y, 0.0), True),
        (54.0, Pose(155.0, FAR_Y, 0.0), False),
    ],
)
def test_the_place_round_which_the_car_goes_is_forgotten_when_passed_or_far(
    road: RoadMap, x: float, around: Pose, kept_on: bool
) -> None:
    for goal, localized, expected in (
        (PICKUP, True, kept_on),
        (PICKUP, False, True),
        (MissionGoal(), True, True),
    ):
        progress, _ = kept(looking(road, booked(goal, around=around), x=x, localized=localized))
        assert progress.around == (around if expected else None)
        assert not progress.near


@pytest.mark.clause("NOR-1")
@pytest.mark.parametrize(
    ("x", "near", "state", "fails"),
    [
        (154.0, True, states.NORMAL, True),
        (152.9, True, states.NORMAL, False),
        (154.0, False, states.NORMAL, False),
        (154.0, True, states.REPLAN, True),
        (154.0, True, states.APPROACH, False),
        (154.0, True, states.PLAN_ONCE, False),
        (154.0, True, states.SLOT_SEARCH, False),
    ],
)
def test_a_point_that_has_been_near_and_is_passed_is_a_failed_attempt(
    road: RoadMap, x: float, near: bool, state: str, fails: bool
) -> None:
    view = looking(road, booked(near=near), x=x, v=3.0, end=300.0)
    progress, lines = kept(view, state)
    assert progress.attempts == int(fails)
    assert lines == (
        (f"pick-up of task one: attempt 1 of 3 failed, passed in {state}; a route back is asked for",) * fails
    )
    assert kept(looking(road, booked(near=near), x=x, v=3.0, end=300.0, localized=False), state)[0].attempts == 0


def test_the_end_of_the_mission_is_no_stop_that_could_be_passed(road: RoadMap) -> None:
    progress = booked(MissionGoal(GoalKind.GOAL, replace(GOAL, x=150.0)), near=True, attempts=1)
    assert kept(looking(road, progress, x=154.0, v=3.0, end=300.0))[0].attempts == 1


@pytest.mark.clause("NOR-1")
@pytest.mark.parametrize(("x", "near"), [(109.0, False), (111.0, True), (152.0, True)])
def test_a_point_becomes_near_at_40_m(road: RoadMap, x: float, near: bool) -> None:
    assert kept(looking(road, booked(), x=x, v=3.0, end=300.0))[0].near is near


@pytest.mark.clause("NOR-1")
def test_a_route_that_ends_elsewhere_is_a_failed_attempt_where_the_car_stands(road: RoadMap) -> None:
    near = MissionGoal(GoalKind.PICKUP, point(104.0), 0)
    for v, ends, serves, goal, failed in (
        (0.0, 100.0, 3, PICKUP, True),
        (0.0, 100.0, 2, PICKUP, False),
        (2.0, 100.0, 3, PICKUP, False),
        (0.0, 104.0, 3, PICKUP, True),
        (0.0, 108.0, 3, PICKUP, False),
        (0.0, PICKUP_X, 3, PICKUP, False),
        (0.0, 100.0, 3, near, False),
    ):
        view = looking(road, booked(goal), x=99.0, v=v, end=ends)
        view = at(view, routing=replace(view.memory.routing, serves=serves))
        progress, lines = kept(view)
        assert (progress.attempts == 1) is failed, (v, ends, serves)
        assert any("no way to approach it from on_road/normal" in line for line in lines) is failed


@pytest.mark.parametrize(
    ("goal", "line"),
    [(MissionGoal(), "there is no task to skip"), (PICKUP, "pick-up of task one: skipped by the operator")],
)
def test_an_operator_s_call_is_answered_once(road: RoadMap, goal: MissionGoal, line: str) -> None:
    progress, lines = kept(looking(road, booked(goal, skip=True), localized=False))
    assert not progress.skip
    assert lines[0] == line
    assert kept(looking(road, progress, localized=False))[1] == ()
