"""Into a slot, and what is done without one (TMP-1 to TMP-3)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.mission.memory import GoalKind, TaskStatus
from tuling_fsm.core.request import FollowLanes, Hold, PlanResult, PullOver, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint
from tuling_fsm.world.perceived import PerceivedSlot
from tuling_fsm.world.world import RouteMatch

from ..mission.tasks import (
    DROPOFF_X,
    END_X,
    FRONT,
    PICKUP_X,
    SLOT_Y,
    in_normal_with,
    mission,
    parameters,
    progress,
    reports,
    stand_at,
    task,
)
from ..worlds import FAR_LANE, FAR_Y, Drive, Thing, plan, route_along

FULL = (Thing(PICKUP_X, SLOT_Y), Thing(PICKUP_X + 7.0, SLOT_Y, id=8))


def _approaching(road: RoadMap, x: float = 135.0, wanted: Mission | None = None, **options: object) -> Drive:
    drive = in_normal_with(road, wanted or mission(), x=x - 30.0)
    drive.place.x = x
    for name, value in options.items():
        setattr(drive.place, name, value)
    drive.until(states.APPROACH)
    return drive


def _goals(drive: Drive) -> list[float]:
    assert isinstance(drive.last.request, PullOver), drive.last.request
    return [goal.x + FRONT for goal in drive.last.request.goals]


@pytest.mark.clause("TMP-1")
def test_every_free_slot_is_a_target_and_solid_lines_are_lifted(road: RoadMap) -> None:
    drive = _approaching(road)
    assert _goals(drive) == pytest.approx([PICKUP_X, PICKUP_X + 7.0])
    request = drive.last.request
    assert isinstance(request, PullOver)
    assert all((goal.y, goal.heading) == (SLOT_Y, 0.0) for goal in request.goals)
    assert request.allow_reverse
    assert np.any(road.line_segments(135.0, FAR_Y, 40.0, crossable=False)[:, 1] == 0.0), "a solid centre line"
    assert not np.any(request.lines[:, 1] == 0.0)


@pytest.mark.clause("TMP-1")
def test_farther_away_the_car_stays_on_its_lane_and_slows_down_when_braking_is_due(road: RoadMap) -> None:
    drive = _approaching(road, x=115.0)
    limits = list[float]()
    while isinstance(drive.last.request, FollowLanes):
        limits.append(drive.last.request.speed_limit)
        drive.place.x += 0.5
        drive.tick()
    assert isinstance(drive.last.request, PullOver)
    slowest = drive.behaviour.context.parameters.stop.speed
    assert limits[0] > 1.5 * slowest
    assert limits[-1] == pytest.approx(slowest, abs=0.25)
    braking = -np.diff(np.square(limits)) / (2.0 * 0.5)
    assert braking.min() >= 0.0
    assert 0.0 < braking.max() < drive.behaviour.context.vehicle.comfort_decel


@pytest.mark.clause("TMP-1")
def test_a_slot_in_which_something_stands_is_no_target(road: RoadMap) -> None:
    drive = _approaching(road, things=FULL[:1])
    assert _goals(drive) == pytest.approx([PICKUP_X + 7.0])


@pytest.mark.clause("TMP-1")
def test_a_slot_that_is_seen_as_taken_is_no_target(road: RoadMap) -> None:
    drive = _approaching(road)
    seen = (PerceivedSlot(1, True, PICKUP_X + 0.3, SLOT_Y, 0.0, 6.0, 2.4),)
    for _ in range(8):
        drive.tick(slots=seen)
    assert _goals(drive) == pytest.approx([PICKUP_X + 7.0])
    for _ in range(8):
        drive.tick(slots=(replace(seen[0], occupied=False),))
    assert len(_goals(drive)) == 2


@pytest.mark.clause("USE-8")
def test_the_targets_stay_the_same_when_one_scan_flickers(road: RoadMap) -> None:
    drive = _approaching(road)
    before = drive.last.request
    assert isinstance(before, PullOver)
    drive.place.things = FULL
    for decision in drive.run(0.2):
        assert isinstance(decision.request, PullOver)
        assert decision.request.goals == before.goals
    drive.place.things = ()
    drive.run(1.0)
    assert _goals(drive) == pytest.approx([PICKUP_X, PICKUP_X + 7.0])


@pytest.mark.clause("TMP-2")
@pytest.mark.parametrize(("ahead", "aside", "turned", "counts"), [
    (0.0, 0.0, 0.0, True), (0.25, -0.1, 0.08, True), (0.35, 0.0, 0.0, False), (0.0, 0.35, 0.0, False),
    (0.0, 0.0, math.radians(5.5), False),
])  # fmt: skip
def test_standing_inside_a_slot_is_arriving(
    road: RoadMap, ahead: float, aside: float, turned: float, counts: bool
) -> None:
    drive = _approaching(road)
    stand_at(drive, PICKUP_X + 7.0 + ahead, SLOT_Y + aside)
    drive.place.heading = turned
    drive.run(1.0)
    assert (drive.last.state == states.STOPPED) is counts


@pytest.mark.clause("USE-10")
def test_a_car_that_has_a_segment_left_or_still_rolls_has_not_arrived(road: RoadMap) -> None:
    drive = _approaching(road)
    stand_at(drive, PICKUP_X)
    drive.result = plan(reach=2.0)
    assert {d.state for d in drive.run(1.0)} == {states.APPROACH}
    drive.result, drive.place.v = plan(reach=0.0), 0.2
    assert {d.state for d in drive.run(0.5)} == {states.APPROACH}
    stand_at(drive, PICKUP_X)
    drive.until(states.STOPPED, 0.5)


@pytest.mark.clause("TMP-3")
def test_with_all_slots_taken_the_car_waits_10_s_and_then_goes_round(road: RoadMap) -> None:
    drive = _approaching(road, things=FULL)
    drive.result = plan(reach=5.0)
    drive.run(0.5)
    request = drive.last.request
    assert isinstance(request, PullOver)
    assert not request.allow_reverse
    place = request.goals[0]
    assert place.y < FAR_Y - 0.4, "at the lane's edge"
    assert place.x > drive.place.x
    drive.place.x, drive.place.y, drive.result = place.x, place.y, plan(reach=0.0)
    waits = drive.stamp
    drive.run(1.0)
    assert isinstance(drive.last.request, Hold)
    assert drive.last.request.reason is Reason.GOAL_OCCUPIED
    assert "all slots are taken, a way round in 9 s" in drive.last.request.detail
    decision = drive.until(states.NEXT_PLAN_ONCE)
    assert decision.stamp - waits == pytest.approx(10.0, abs=0.11)
    assert decision.transition is not None
    assert decision.transition.clause == "TMP-3"
    (asked,) = drive.tick().route_requests
    assert asked.goal.x == PICKUP_X
    assert PICKUP_X < asked.start.x < PICKUP_X + 8.0, "from past the point, or the answer would lead straight to it"


@pytest.mark.clause("TMP-3")
def test_a_slot_that_gets_free_meanwhile_is_taken(road: RoadMap) -> None:
    drive = _approaching(road, things=FULL)
    drive.result = plan(False)
    drive.run(5.0)
    drive.place.things, drive.result = FULL[:1], plan()
    drive.run(0.5)
    assert _goals(drive) == pytest.approx([PICKUP_X + 7.0])


@pytest.mark.clause("TMP-3")
def test_to_a_slot_beyond_the_road_s_edge_that_is_lifted_and_only_then_the_car_waits(road: RoadMap) -> None:
    drive = _approaching(road)
    first = drive.last.request
    assert isinstance(first, PullOver)
    assert len(first.lines) > 0
    drive.result = plan(False)
    drive.run(0.5)
    second = drive.last.request
    assert isinstance(second, PullOver)
    assert len(second.lines) == 0
    drive.run(0.7)
    assert isinstance(drive.last.request, Hold)
    assert "no way into a slot" in drive.last.request.detail
    drive.until(states.NEXT_PLAN_ONCE, 11.0)


@pytest.mark.clause("TMP-3")
def test_to_a_slot_on_the_road_the_car_does_not_leave_it(road: RoadMap) -> None:
    at_kerb = MissionPoint("at the kerb", PICKUP_X, FAR_Y, 0.0)
    drive = _approaching(road, wanted=mission(replace(task("one"), pickup=at_kerb)))
    drive.result = plan(False)
    for decision in drive.run(0.4):
        assert isinstance(decision.request, PullOver)
        assert len(decision.request.lines) > 0
    drive.run(0.5)
    assert isinstance(drive.last.request, Hold)


@pytest.mark.clause("TMP-3")
@pytest.mark.medium
def test_after_3_attempts_a_pick_up_is_dropped(road: RoadMap) -> None:
    drive = _approaching(road, things=FULL)
    drive.result = plan(False)
    for attempt in (1, 2):
        drive.until(states.NEXT_PLAN_ONCE, 20.0)
        assert progress(drive).attempts == attempt
        _come_back(drive)
    decision = drive.until(states.PICKUP_DECISION, 20.0)
    assert decision.transition is not None
    assert decision.transition.clause == "TMP-3"
    assert "pick-up of task one is dropped" in reports(drive)
    assert progress(drive).numbers(TaskStatus.DROPPED) == (0,)
    drive.until(states.NEXT_PLAN_ONCE, 2.0)
    assert [request.goal.x for request in drive.tick().route_requests] == [END_X]


@pytest.mark.clause("TMP-3")
@pytest.mark.medium
def test_with_a_passenger_aboard_the_next_legal_place_is_driven_to_then_the_end(road: RoadMap) -> None:
    drive = _approaching(road)
    stand_at(drive, PICKUP_X)
    drive.until(states.NEXT_PLAN_ONCE, 12.0)
    full = (Thing(DROPOFF_X, SLOT_Y), Thing(DROPOFF_X + 7.0, SLOT_Y, id=8))
    drive.place.things = full
    places = []
    for _ in range(6):
        goal = _come_back(drive, plan(False))
        places.append(goal)
        drive.place.things = (*full, *(Thing(goal + dx, FAR_Y, id=9) for dx in (-3.0, 0.0, 3.0)))
        drive.until(states.NEXT_PLAN_ONCE, 90.0)
    assert places[:3] == [DROPOFF_X] * 3
    assert places[3] == places[4] == places[5]
    assert DROPOFF_X + 20.0 <= places[3] <= DROPOFF_X + 30.0
    assert progress(drive).goal.kind is GoalKind.CAR_PARK
    assert progress(drive).numbers(TaskStatus.UNDELIVERED) == (0,)
    assert any("gets off at" in line for line in reports(drive))
    assert any("the passenger stays aboard (car park)" in line for line in reports(drive))


@pytest.mark.clause("TMP-3")
def test_not_localized_it_explores(road: RoadMap) -> None:
    drive = _approaching(road, localized=True)
    drive.place.localized = False
    decision = drive.until(states.EXPLORE, 1.0)
    assert decision.transition is not None
    assert decision.transition.clause == "TMP-3"


@pytest.mark.clause("USE-2")
@pytest.mark.medium
def test_an_approach_that_does_not_end_is_a_failed_attempt(road: RoadMap) -> None:
    drive = _approaching(road)
    drive.until(states.NEXT_PLAN_ONCE, 61.0)
    assert progress(drive).attempts == 1


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize("state", [states.APPROACH, states.STOPPED, states.NEXT_PLAN_ONCE])
def test_no_other_route_is_switched_to(road: RoadMap, state: str) -> None:
    drive = _approaching(road)
    if state != states.APPROACH:
        stand_at(drive, PICKUP_X)
    if drive.last.state != state:
        drive.until(state, 12.0)
    route = drive.last.route
    drive.tick(RouteMatch(0, route_along(road, FAR_LANE, begin=20.0)))
    if state != states.NEXT_PLAN_ONCE:
        drive.tick(RouteMatch(-1, route_along(road, FAR_LANE, begin=20.0)))
    assert drive.run(0.5)[-1].route is route


def test_the_approach_heeds_other_parameters(road: RoadMap) -> None:
    options = parameters(stop={"wait": 2.0, "attempts": 1})
    drive = in_normal_with(road, mission(), x=100.0, parameters=options)
    drive.place.x, drive.place.things = 135.0, FULL
    drive.until(states.APPROACH)
    drive.result = plan(False)
    drive.until(states.PICKUP_DECISION, 3.0)


def _come_back(drive: Drive, result: PlanResult | None = None) -> float:
    """Answer with a route to the present point, and drive into the approach again; returns where it is."""
    while not drive.last.route_requests:
        drive.tick()
    goal = drive.last.route_requests[-1].goal.x
    drive.place.x, drive.place.y, drive.place.v = 30.0, FAR_Y, 0.0
    before, drive.result = drive.result, plan()
    drive.answer(route_along(drive.place.road_map, FAR_LANE, end=goal))
    drive.until(states.NORMAL)
    drive.place.x = goal - 15.0
    drive.until(states.APPROACH)
    drive.result = before if result is None else result
    return goal
