"""Standing at a point, choosing what comes next, and asking for the way (STP-1, PUD-1, TPO-1)."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.mission.memory import GoalKind, TaskStatus
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, Task
from tuling_fsm.world.world import RouteMatch

from ..mission.tasks import (
    DROPOFF_X,
    END_X,
    PICKUP_X,
    in_normal_with,
    mission,
    parameters,
    progress,
    reports,
    set_elapsed,
    stand_at,
    task,
)
from ..worlds import FAR_LANE, FAR_Y, TICK, Drive, plan, route_along


def _stopped(road: RoadMap, wanted: Mission | None = None, **options: object) -> Drive:
    """A drive that has just stopped at the first pick-up."""
    chosen = parameters(stop=options) if options else parameters()
    drive = in_normal_with(road, wanted or mission(), x=135.0, parameters=chosen)
    drive.until(states.APPROACH)
    stand_at(drive, PICKUP_X)
    drive.until(states.STOPPED)
    return drive


def _at_the_dropoff(road: RoadMap, wanted: Mission) -> Drive:
    drive = _stopped(road, wanted)
    drive.until(states.NEXT_PLAN_ONCE, 11.0)
    drive.tick()
    drive.answer(route_along(road, FAR_LANE, begin=100.0, end=DROPOFF_X))
    drive.until(states.REGRESSION)
    drive.place.x, drive.place.y, drive.result = DROPOFF_X - 15.0, FAR_Y, plan()
    drive.until(states.APPROACH)
    stand_at(drive, DROPOFF_X)
    drive.until(states.STOPPED)
    return drive


@pytest.mark.clause("STP-1")
@pytest.mark.parametrize("duration", [10.0, 15.0])
def test_the_car_stands_for_its_time_then_asks_for_the_way_to_the_drop_off(road: RoadMap, duration: float) -> None:
    drive = _stopped(road, duration=duration)
    began = drive.stamp
    decision = drive.until(states.NEXT_PLAN_ONCE, 16.0)
    assert decision.stamp - began == pytest.approx(duration, abs=2 * TICK)
    assert decision.transition is not None
    assert decision.transition.clause == "STP-1"
    stood = [d.request for d in drive.decisions if d.state == states.STOPPED]
    assert all(isinstance(request, Hold) and request.reason is Reason.ARRIVED for request in stood)
    assert any(isinstance(r, Hold) and r.detail == "passengers get on, 4 s left" for r in stood)
    (request,) = drive.tick().route_requests
    assert (request.goal.x, request.purpose) == (DROPOFF_X, "next")


@pytest.mark.clause("STP-1")
def test_only_standing_counts(road: RoadMap) -> None:
    drive = _stopped(road)
    drive.run(5.0)
    drive.place.v = 0.3
    drive.run(3.0)
    drive.place.v = 0.0
    assert {d.state for d in drive.run(4.8)} == {states.STOPPED}
    drive.until(states.NEXT_PLAN_ONCE, 0.3)


@pytest.mark.clause("EST-2", "STP-1")
@pytest.mark.parametrize("stood", [0.0, 4.0, 9.9])
@pytest.mark.medium
def test_an_emergency_stop_freezes_the_stop(road: RoadMap, stood: float) -> None:
    drive = _stopped(road)
    drive.run(stood)
    drive.place.emergency = replace(drive.place.emergency, value=True, age=0.0)
    assert {d.state for d in drive.run(20.0)} == {states.STOPPED}
    drive.place.emergency = replace(drive.place.emergency, value=False)
    released = drive.stamp
    decision = drive.until(states.NEXT_PLAN_ONCE, 11.0)
    assert decision.stamp - released == pytest.approx(10.0 - stood, abs=3 * TICK)


@pytest.mark.clause("STP-1", "PUD-1")
def test_after_a_drop_off_the_next_pick_up_is_chosen(road: RoadMap) -> None:
    drive = _at_the_dropoff(road, mission(task("one"), task("two", 300.0, 350.0)))
    decision = drive.until(states.PICKUP_DECISION, 11.0)
    assert decision.transition is not None
    assert decision.transition.clause == "STP-1"
    decision = drive.until(states.NEXT_PLAN_ONCE, 1.0)
    assert decision.transition is not None
    assert decision.transition.clause == "PUD-1"
    assert progress(drive).numbers(TaskStatus.SERVED) == (0,)
    assert [request.goal.x for request in drive.tick().route_requests] == [300.0]


@pytest.mark.clause("PUD-1")
@pytest.mark.parametrize("many", [1, 2])
@pytest.mark.medium
def test_without_a_task_or_the_time_for_one_it_is_the_car_park(road: RoadMap, many: int) -> None:
    tasks = (task("one"), task("two", 300.0, 350.0))[:many]
    drive = _at_the_dropoff(road, mission(*tasks, match=900.0))
    set_elapsed(drive, 800.0 if many == 2 else 0.0)
    drive.until(states.NEXT_PLAN_ONCE, 12.0)
    assert progress(drive).goal.kind is GoalKind.CAR_PARK
    assert [request.goal.x for request in drive.tick().route_requests] == [END_X]
    why = "none of 1 open tasks can be served in time" if many == 2 else "no task is left"
    assert any(why in line for line in reports(drive))


@pytest.mark.clause("STP-1", "USE-8")
@pytest.mark.parametrize("state", [states.APPROACH, states.STOPPED])
@pytest.mark.parametrize("tasks", [(task("one"),), (task("two", 300.0, 350.0), task("one"))])
def test_a_stop_goes_on_when_its_task_comes_again_in_another_mission(
    road: RoadMap, state: str, tasks: tuple[Task, ...]
) -> None:
    drive = in_normal_with(road, mission(), x=135.0)
    drive.until(states.APPROACH)
    if state == states.STOPPED:
        stand_at(drive, PICKUP_X)
        drive.until(states.STOPPED)
        drive.run(7.6)
    began = len(drive.decisions)
    drive.place.mission = mission(*tasks, match=600.0, stamp=drive.stamp)
    drive.run(1.0)
    assert (drive.last.state, progress(drive).left_s) == (state, pytest.approx(599.0, abs=2 * TICK))
    stand_at(drive, PICKUP_X)
    drive.until(states.NEXT_PLAN_ONCE, 2.4 if state == states.STOPPED else 11.0)
    assert drive.states()[began:].count(states.PICKUP_DECISION) == 0
    assert progress(drive).numbers(TaskStatus.ABOARD) == (len(tasks) - 1,)
    assert [request.goal.x for request in drive.tick().route_requests] == [DROPOFF_X]


@pytest.mark.clause("PUD-1")
@pytest.mark.parametrize("other", [task("two"), task("one", PICKUP_X + 5.0)])
def test_a_stop_whose_pick_up_is_not_in_another_mission_is_given_up(road: RoadMap, other: Task) -> None:
    drive = _stopped(road)
    drive.place.mission = mission(other, stamp=drive.stamp)
    drive.until(states.PICKUP_DECISION, 0.2)


@pytest.mark.clause("TPO-1")
def test_the_route_found_leads_to_regression(road: RoadMap) -> None:
    drive = _stopped(road)
    drive.until(states.NEXT_PLAN_ONCE, 11.0)
    drive.tick()
    route = route_along(road, FAR_LANE, begin=100.0, end=DROPOFF_X)
    drive.answer(route)
    decision = drive.until(states.REGRESSION, 1.0)
    assert decision.route is route
    assert decision.transition is not None
    assert decision.transition.clause == "TPO-1"


@pytest.mark.clause("TPO-1", "DEP-2")
def test_a_refused_way_is_asked_for_again_with_growing_pauses(road: RoadMap) -> None:
    drive = _stopped(road)
    drive.until(states.NEXT_PLAN_ONCE, 11.0)
    asked = []
    while len(asked) < 6:
        if drive.tick().route_requests:
            asked.append(drive.last.stamp)
            drive.answer(None)
        assert isinstance(drive.last.request, Hold)
    pauses = [later - earlier for earlier, later in itertools.pairwise(asked)]
    assert pauses == pytest.approx([1.0, 2.0, 4.0, 5.0, 5.0], abs=0.11)
    assert any("refused, empty or on no lanes" in line for line in reports(drive))


@pytest.mark.clause("RRF-2", "TPO-1")
@pytest.mark.parametrize("state", [states.APPROACH, states.STOPPED])
def test_a_route_that_is_pushed_before_the_stop_is_over_leads_on_from_there(road: RoadMap, state: str) -> None:
    drive = in_normal_with(road, mission(), x=135.0)
    drive.until(states.APPROACH)
    onward = route_along(road, FAR_LANE, end=DROPOFF_X)
    if state == states.APPROACH:
        drive.tick(RouteMatch(-1, onward))
    stand_at(drive, PICKUP_X)
    drive.until(states.STOPPED)
    if state == states.STOPPED:
        drive.tick(RouteMatch(-1, onward))
    present = drive.last.route
    drive.until(states.NEXT_PLAN_ONCE, 11.0)
    assert drive.last.route is present is not onward
    drive.until(states.REGRESSION, 1.0)
    assert drive.last.route is onward


@pytest.mark.clause("RRF-2")
def test_a_route_that_is_pushed_while_the_next_task_is_chosen_is_not_lost(road: RoadMap) -> None:
    drive = _at_the_dropoff(road, mission(task("one"), task("two", 300.0, 350.0)))
    drive.until(states.PICKUP_DECISION, 11.0)
    onward = route_along(road, FAR_LANE, end=300.0)
    drive.tick(RouteMatch(-1, onward))
    drive.until(states.REGRESSION, 5.0)
    assert drive.last.route is onward


@pytest.mark.clause("TPO-1")
def test_an_operator_who_skips_the_task_here_is_heard(road: RoadMap) -> None:
    drive = _stopped(road, mission(task("one"), task("two", 300.0, 350.0)))
    drive.run(5.0)
    drive.tick(skip_task=True)
    assert drive.last.state == states.PICKUP_DECISION
    drive.until(states.NEXT_PLAN_ONCE, 1.0)
    assert [request.goal.x for request in drive.tick().route_requests] == [300.0]
    drive.tick(skip_task=True)
    requests = [request for decision in (drive.last, *drive.run(2.0)) for request in decision.route_requests]
    assert [request.goal.x for request in requests] == [END_X]


@pytest.mark.clause("TPO-1")
def test_a_point_right_at_the_car_is_driven_round_to(road: RoadMap) -> None:
    drive = _stopped(road)
    drive.place.mission = mission(task("one", PICKUP_X, PICKUP_X), stamp=drive.stamp)
    drive.until(states.NEXT_PLAN_ONCE, 11.0)
    (direct,) = drive.tick().route_requests
    drive.tick(RouteMatch(direct.number, route_along(road, FAR_LANE, begin=140.0, end=PICKUP_X)))
    assert "ends where the car is" in drive.last.reports[0]
    while not drive.tick().route_requests:
        pass
    (round_,) = drive.last.route_requests
    assert PICKUP_X < round_.start.x < PICKUP_X + 8.0
    assert direct.start.x < PICKUP_X
