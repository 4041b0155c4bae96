"""Where the mission leads, from tick to tick: the first mission goal, the next one, skipped, passed and new ones."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from map import towns

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.memory import GoalKind, TaskStatus
from tuling_fsm.behaviour.mission.points import legal_point, stop_ahead
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import Junction
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint, Task
from tuling_fsm.world.world import RouteMatch

from ..worlds import FAR_LANE, FAR_Y, VEHICLE, Drive, Place, in_normal, plan, route_along
from . import tasks
from .tasks import (
    DROPOFF_X,
    END_X,
    PICKUP_X,
    in_normal_with,
    mission,
    progress,
    reports,
    stand_at,
    task,
    until_asked,
)

GOAL_AND_PARK = replace(mission(), tasks=(), goal=tasks.point(300.0))


@pytest.mark.clause("PUD-1")
def test_the_first_route_leads_to_the_first_pick_up(road: RoadMap) -> None:
    drive = Drive(Place(road, y=FAR_Y, mission=mission()))
    assert until_asked(drive).x == PICKUP_X
    assert drive.last.state == states.PLAN_ONCE
    assert "tasks to serve: one" in reports(drive)[0]


@pytest.mark.clause("PUD-1")
@pytest.mark.parametrize(("match", "first"), [(260.0, PICKUP_X), (100.0, END_X)])
def test_without_the_time_for_a_task_the_first_route_leads_to_the_end(
    road: RoadMap, match: float, first: float
) -> None:
    assert until_asked(Drive(Place(road, y=FAR_Y, mission=mission(match=match)))).x == first


@pytest.mark.clause("PUD-2")
def test_of_two_tasks_the_order_that_serves_both_is_taken(road: RoadMap) -> None:
    far, near = task("far", 230.0, 300.0), task("near", 120.0, 200.0)
    drive = Drive(Place(road, y=FAR_Y, mission=mission(far, near)))
    assert until_asked(drive).x == 120.0
    assert "tasks to serve: near, far" in reports(drive)[0]


@pytest.mark.clause("NOR-10")
@pytest.mark.parametrize(
    ("wanted", "where"), [(GOAL_AND_PARK, 300.0), (replace(GOAL_AND_PARK, goal=None), END_X), (None, None)]
)
def test_without_tasks_the_goal_comes_before_the_car_park(
    road: RoadMap, wanted: Mission | None, where: float | None
) -> None:
    drive = Drive(Place(road, y=FAR_Y, mission=wanted))
    drive.run(1.0)
    asked = [request.goal.x for decision in drive.decisions for request in decision.route_requests]
    assert asked == ([] if where is None else [where])


@pytest.mark.clause("NOR-1")
def test_a_point_at_most_40_m_ahead_is_approached(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(), x=90.0, v=5.0)
    drive.until(states.APPROACH)
    assert PICKUP_X - 40.0 <= drive.place.x <= PICKUP_X - 40.0 + 5.0 * 0.45


@pytest.mark.clause("NOR-1")
def test_a_point_behind_a_junction_is_not(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(), x=115.0 - 30.0)
    drive.place.x = 120.0
    world = drive.place.world(drive.stamp, drive.route)
    record = drive.behaviour.record.machine
    view = BehaviourView(drive.behaviour.context, world, record.memory, record.clock, 1.0, 0.05, ())
    assert stop_ahead(view)
    between = JunctionAhead(130.0, 140.0, Junction("j", (), {}, False), 0, 0, 130.0)
    assert not stop_ahead(replace(view, world=replace(world, junctions=(between,))))
    behind = between._replace(s_from=100.0, s_to=110.0)
    assert stop_ahead(replace(view, world=replace(world, junctions=(behind,))))
    assert not stop_ahead(replace(view, world=replace(world, localized=False)))


@pytest.mark.clause("NOR-1")
def test_a_point_passed_in_another_state_is_a_failed_attempt_and_a_route_back_is_asked_for(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(), x=80.0)
    drive.result = plan(False)
    drive.until(states.SOLID_LINE_FREE)
    drive.place.v, drive.result = 5.0, plan()
    requests = []
    while drive.place.x < PICKUP_X + 5.0:
        requests += drive.tick().route_requests
        assert drive.last.state != states.NORMAL
    assert sum("attempt 1 of 3 failed, passed in on_road/" in line for line in reports(drive)) == 1
    requests += [request for decision in drive.run(4.0) for request in decision.route_requests]
    assert [request.goal.x for request in requests][-1] == PICKUP_X
    assert progress(drive).attempts == 1


@pytest.mark.clause("NOR-1", "NOR-10")
def test_a_route_that_ends_before_the_point_is_a_failed_attempt_and_not_the_end(road: RoadMap) -> None:
    drive = Drive(Place(road, y=FAR_Y, mission=mission()))
    until_asked(drive)
    drive.answer(route_along(road, FAR_LANE, end=100.0))
    drive.until(states.NORMAL)
    drive.place.x = 99.0
    drive.run(3.0)
    assert states.PLAN_ONCE not in drive.states()[1:]
    assert progress(drive).attempts == 1
    assert any("no way to approach it from on_road/normal" in line for line in reports(drive))


def test_a_mission_is_not_served_twice_by_being_sent_again(road: RoadMap) -> None:
    drive = _at_the_dropoff(road, mission(task("one"), task("two", 300.0, 350.0)))
    drive.run(10.2)
    assert progress(drive).numbers(TaskStatus.SERVED) == (0,)
    drive.place.mission = mission(task("two", 300.0, 350.0), task("one"), stamp=drive.stamp)
    drive.run(1.0)
    assert progress(drive).numbers(TaskStatus.SERVED) == (1,)
    assert progress(drive).goal.entry == 0


@pytest.mark.clause("USE-10")
@pytest.mark.medium
def test_a_served_task_is_served_once(road: RoadMap) -> None:
    drive = _at_the_dropoff(road, mission())
    drive.run(60.0)
    assert [line for line in reports(drive) if "served" in line] == [
        "pick-up of task one is served",
        "drop-off of task one is served",
    ]
    assert progress(drive).goal.kind is GoalKind.CAR_PARK


def test_a_passenger_aboard_is_not_forgotten_by_a_new_mission(road: RoadMap) -> None:
    drive = _aboard(road, mission())
    drive.place.mission = mission(task("other", 100.0, 120.0), stamp=drive.stamp)
    drive.tick()
    goal = progress(drive).goal
    assert (goal.kind, goal.point and goal.point.x) == (GoalKind.DROPOFF, DROPOFF_X)
    assert progress(drive).entries[goal.entry].task.name == "one"


@pytest.mark.medium
def test_without_a_car_park_the_car_stands_when_all_is_served(road: RoadMap) -> None:
    drive = _at_the_dropoff(road, mission(park=False))
    drive.run(12.0)
    assert drive.last.state == states.PLAN_ONCE
    assert drive.last.transition is None
    assert isinstance(drive.last.request, Hold)
    assert (drive.last.request.reason, drive.last.request.detail) == (Reason.ARRIVED, "nothing is left to do")
    assert not any(decision.route_requests for decision in drive.run(20.0))


def test_an_operator_drops_a_waiting_pick_up(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(task("one"), task("two", 300.0, 350.0)))
    drive.tick(skip_task=True)
    assert until_asked(drive, 1.0).x == 300.0
    assert progress(drive).numbers(TaskStatus.DROPPED) == (0,)
    assert any("skipped by the operator" in line for line in reports(drive))


def test_with_a_passenger_aboard_the_next_legal_place_takes_the_drop_off_s_place(road: RoadMap) -> None:
    drive = _aboard(road, mission())
    drive.tick(skip_task=True)
    goal = progress(drive).goal
    assert goal.kind is GoalKind.DROPOFF
    assert goal.point is not None
    assert DROPOFF_X + 20.0 <= goal.point.x <= DROPOFF_X + 30.0
    drive.tick(skip_task=True)
    assert progress(drive).goal.kind is GoalKind.CAR_PARK
    assert progress(drive).numbers(TaskStatus.UNDELIVERED) == (0,)


@pytest.mark.clause("TMP-3")
@pytest.mark.parametrize(
    ("wanted", "entry", "end"),
    [(task("one"), 0, DROPOFF_X), (task("one", PICKUP_X, 300.0), 0, 300.0), (task("two", 300.0, 350.0), 1, DROPOFF_X)],
)
def test_a_passenger_who_stays_aboard_is_brought_on_by_a_new_mission(
    road: RoadMap, wanted: Task, entry: int, end: float
) -> None:
    drive = _aboard(road, mission())
    drive.tick(skip_task=True)
    drive.tick(skip_task=True)
    assert progress(drive).numbers(TaskStatus.UNDELIVERED) == (0,)
    drive.place.mission = mission(wanted, match=900.0, stamp=drive.stamp)
    drive.tick()
    goal = progress(drive).goal
    assert (goal.kind, goal.entry, goal.point and goal.point.x) == (GoalKind.DROPOFF, entry, end)
    assert progress(drive).numbers(TaskStatus.ABOARD) == (entry,)


def test_a_passenger_who_gets_off_elsewhere_was_not_served(road: RoadMap) -> None:
    drive = _aboard(road, mission())
    drive.tick(skip_task=True)
    point = progress(drive).goal.point
    assert point is not None
    _stop_at(drive, point.x, FAR_Y - 0.53)
    drive.run(11.0)
    assert progress(drive).numbers(TaskStatus.DROPPED) == (0,)
    assert "drop-off of task one: got off elsewhere" in reports(drive)


def test_a_mission_that_is_sent_again_changes_nothing(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=500.0))
    drive.run(5.0)
    before = progress(drive)
    drive.place.mission = mission(match=500.0, stamp=drive.stamp)
    drive.tick()
    assert (progress(drive).ticket, progress(drive).goal) == (
        before.ticket,
        before.goal,
    )
    assert progress(drive).elapsed_s == pytest.approx(before.elapsed_s + 0.05)


def test_a_call_during_an_emergency_stop_is_not_lost(road: RoadMap) -> None:
    drive = in_normal_with(road, mission())
    drive.place.emergency = replace(drive.place.emergency, value=True, age=0.0)
    drive.tick(skip_task=True)
    assert progress(drive).goal.kind is GoalKind.PICKUP
    drive.place.emergency = replace(drive.place.emergency, value=False)
    drive.run(0.2)
    assert progress(drive).goal.kind is GoalKind.CAR_PARK


def test_there_may_be_no_task_to_skip(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.tick(skip_task=True)
    assert drive.last.reports == ("there is no task to skip",)


def test_no_passenger_gets_off_in_a_junction_or_near_the_road_s_end(road: RoadMap) -> None:
    drive = in_normal_with(road, mission())
    record = drive.behaviour.record.machine
    world = drive.place.world(drive.stamp, drive.route)
    view = BehaviourView(drive.behaviour.context, world, record.memory, record.clock, 1.0, 0.05, ())
    assert legal_point(view, tasks.point(200.0)) is not None
    assert legal_point(view, tasks.point(372.0)) is None


@pytest.mark.clause("TMP-3")
def test_no_passenger_gets_off_near_a_line_of_lights_of_the_ways_on(road: RoadMap, tmp_path: Path) -> None:
    light = '<signals><signal id="{}" s="1" t="4" orientation="+" dynamic="yes" type="1000001"/></signals>'
    size = 'hdg="1.5707963" length="3.3" width="0.4"'
    line = f'<objects><object id="1" type="roadMark" name="StopLine" s="14" t="1.75" {size}/></objects>'
    lit = towns.crossing(tmp_path, {1: line, 103: light.format(201), 104: light.format(202)})
    drive = in_normal_with(road, mission())
    record = drive.behaviour.record.machine
    world = drive.place.world(drive.stamp, drive.route)
    context = Behaviour(lit, VEHICLE, drive.behaviour.context.parameters).context
    view = BehaviourView(context, world, record.memory, record.clock, 1.0, 0.05, ())
    there = legal_point(view, MissionPoint("", towns.HALF_M + 40.0, 1.75, math.pi))
    assert there is not None
    assert there.x < -towns.HALF_M, "beyond the junction: what is 20 m on is too near to the line"


def test_the_whole_bookkeeping_survives_being_saved(road: RoadMap) -> None:
    drive = _aboard(road, mission(match=900.0))
    saved = pickle.loads(pickle.dumps(drive.behaviour.record))
    other = Behaviour(road, VEHICLE, drive.behaviour.context.parameters)
    other.restore(saved)
    drive.behaviour = other
    drive.tick()
    assert not drive.last.reports
    assert progress(drive).numbers(TaskStatus.ABOARD) == (0,)


def _aboard(road: RoadMap, wanted: Mission) -> Drive:
    """A drive in `temporary_stop/plan_once` with the passenger of task 0 aboard."""
    drive = in_normal_with(road, wanted, x=120.0)
    drive.until(states.APPROACH)
    stand_at(drive, PICKUP_X)
    drive.until(states.NEXT_PLAN_ONCE, 12.0)
    assert isinstance(drive.last.request, Hold)
    assert drive.last.request.reason is Reason.NO_ROUTE
    drive.tick()
    return drive


def _at_the_dropoff(road: RoadMap, wanted: Mission) -> Drive:
    """A drive in `temporary_stop/stopped` at the drop-off of task 0."""
    drive = _aboard(road, wanted)
    _stop_at(drive, DROPOFF_X)
    return drive


def _stop_at(drive: Drive, x: float, y: float = tasks.SLOT_Y) -> None:
    """Answer with the route to the drop-off there, and drive into its slot."""
    drive.tick()
    drive.tick(RouteMatch(drive.number, route_along(drive.place.road_map, FAR_LANE, begin=100.0, end=x)))
    drive.until(states.REGRESSION)
    drive.place.x, drive.place.y = x - 30.0, FAR_Y
    drive.result = plan()
    drive.until(states.APPROACH)
    stand_at(drive, x, y)
    drive.until(states.STOPPED)
