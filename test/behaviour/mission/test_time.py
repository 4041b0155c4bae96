"""The match clock, and what is done when time runs short (MAT-1)."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.guards import match_over
from tuling_fsm.behaviour.mission.memory import GoalKind
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import Junction
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.world import RouteMatch

from ..worlds import FAR_LANE, FAR_Y, TICK, Drive, Place, route_along
from .tasks import PICKUP_X, in_normal_with, mission, progress, reports, set_elapsed, stand_at, until_asked


@pytest.mark.clause("MAT-1")
@pytest.mark.medium
def test_a_sum_that_is_short_for_30_s_gives_the_pick_up_up(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=260.0))
    entered = drive.stamp
    while progress(drive).goal.kind is GoalKind.PICKUP:
        drive.place.x = 60.0 + 1.01 * (len(drive.decisions) % 40)
        drive.tick()
        assert drive.stamp - entered < 200.0
    given_up = next(d.stamp for d in drive.decisions if any("short of time" in line for line in d.reports))
    first_short = next(d.stamp for d in drive.decisions if d.record.machine.memory.mission.short_since is not None)
    assert given_up - first_short == pytest.approx(30.0, abs=2 * TICK)
    assert until_asked(drive, 4.0).x > PICKUP_X


@pytest.mark.clause("MAT-1")
@pytest.mark.medium
def test_the_sum_is_made_every_10_s_and_a_short_moment_is_forgiven(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=600.0))
    sums = [drive.tick().record.machine.memory.mission.summed_at for _ in range(round(35.0 / TICK))]
    made = sorted(set(sums))
    assert len(made) >= 4
    assert all(later - earlier == pytest.approx(10.0) for earlier, later in itertools.pairwise(made))
    assert progress(drive).short_since is None


@pytest.mark.clause("MAT-1")
def test_a_passenger_who_gets_on_is_not_left_behind(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=260.0), x=120.0)
    drive.until(states.APPROACH)
    stand_at(drive, PICKUP_X)
    drive.until(states.STOPPED)
    set_elapsed(drive, 200.0)
    drive.until(states.NEXT_PLAN_ONCE, 11.0)
    assert progress(drive).goal.kind is GoalKind.DROPOFF


@pytest.mark.clause("MAT-1")
@pytest.mark.medium
def test_when_the_time_is_over_the_car_stops_for_good_and_says_so(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=30.0), v=0.0)
    assert progress(drive).goal.kind is GoalKind.CAR_PARK
    decision = drive.until(states.PLAN_ONCE, 40.0)
    assert decision.transition is not None
    assert decision.transition.clause == "MAT-1"
    assert decision.stamp - 100.0 == pytest.approx(30.35, abs=0.2)
    assert isinstance(decision.request, Hold)
    assert (decision.request.reason, decision.request.emergency) == (Reason.MATCH_OVER, False)
    later = drive.run(30.0)
    assert {d.state for d in later} == {states.PLAN_ONCE}
    assert not any(d.route_requests for d in later)


@pytest.mark.clause("MAT-1")
def test_when_the_time_is_over_a_pushed_or_late_route_does_not_start_the_car_again(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=30.0), v=0.0)
    drive.until(states.PLAN_ONCE, 40.0)
    for number in (-1, drive.number, -1):
        drive.tick(RouteMatch(number, route_along(road, FAR_LANE)))
        assert {decision.state for decision in drive.run(1.0)} == {states.PLAN_ONCE}


def test_a_new_mission_starts_the_car_again(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=30.0))
    drive.until(states.PLAN_ONCE, 40.0)
    drive.place.mission = mission(match=900.0, stamp=drive.stamp)
    assert until_asked(drive).x == PICKUP_X


@pytest.mark.clause("MAT-1")
@pytest.mark.parametrize(("v", "s_from", "s_to", "stops"), [
    (0.0, 110.0, 120.0, True), (8.0, 110.0, 120.0, False), (0.0, 95.0, 120.0, False), (8.0, 60.0, 90.0, True),
])  # fmt: skip
def test_it_does_not_stop_in_a_junction(road: RoadMap, v: float, s_from: float, s_to: float, stops: bool) -> None:
    drive = Drive(Place(road, x=100.0, y=FAR_Y, v=v, mission=mission(match=1.0)))
    for _ in range(30):
        drive.tick()
    route = route_along(road, FAR_LANE)
    drive.place.x = 100.0
    ahead = JunctionAhead(s_from, s_to, Junction("j", (), {}, False), 0, 0, s_from)
    world = replace(drive.place.world(drive.stamp, route), junctions=(ahead,))
    record = drive.behaviour.record.machine
    assert record.memory.mission.over
    assert (
        match_over(BehaviourView(drive.behaviour.context, world, record.memory, record.clock, 1.0, TICK, ())) is stops
    )


@pytest.mark.clause("EST-2")
def test_the_match_clock_runs_on_through_an_emergency_stop(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=600.0))
    before, clock = progress(drive).elapsed_s, drive.behaviour.record.machine.clock
    drive.place.emergency = replace(drive.place.emergency, value=True, age=0.0)
    drive.run(20.0)
    assert progress(drive).elapsed_s - before == pytest.approx(20.0)
    assert drive.behaviour.record.machine.clock == clock


@pytest.mark.clause("EST-2")
def test_the_match_clock_of_a_mission_that_comes_during_an_emergency_stop_runs_from_then_on(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=600.0))
    before = progress(drive)
    drive.place.emergency = replace(drive.place.emergency, value=True, age=0.0)
    drive.run(1.0)
    drive.place.mission = mission(match=300.0, stamp=drive.stamp)
    drive.run(2.0)
    drive.place.mission = mission(match=400.0, stamp=drive.stamp)
    came = drive.stamp
    drive.run(5.0)
    drive.stamp += 1000.0
    drive.run(5.0)
    assert progress(drive).mission is before.mission, "nothing but the clock goes on"
    drive.place.emergency = replace(drive.place.emergency, value=False)
    assert drive.tick().stamp - came == pytest.approx(1010.0)
    after = progress(drive)
    assert after.mission is drive.place.mission
    assert after.elapsed_s == pytest.approx(10.0 - TICK), "but for the jump"
    drive.run(3.0)
    assert progress(drive).elapsed_s == pytest.approx(13.0 - TICK)


@pytest.mark.clause("DWELL-3", "DWELL-5")
def test_a_jump_of_time_ends_no_match(road: RoadMap) -> None:
    drive = in_normal_with(road, mission(match=600.0))
    before = progress(drive).elapsed_s
    for jump in (1000.0, -500.0):
        drive.stamp += jump
        drive.tick()
        assert progress(drive).elapsed_s == pytest.approx(before, abs=3 * TICK)
        assert drive.last.state == states.NORMAL
    assert not any("time" in line and "short" in line for line in reports(drive))
