"""Speed along lanes: limits, bends, walls, ends and leaders. The car is where its plan says (perfect tracking)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.request import LaneEnd, LaneLine, Reason
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS

from ..lane_drives import PARAMETERS, PLANNER, VEHICLE, run, straight
from ..scenes import (
    Thing,
    bent,
    follow,
    gap_to,
    lane_line,
    road,
    scene,
    wall_across,
)


@pytest.mark.clause("USE-5")
def test_what_is_crept_up_to_is_stopped_at_without_room_to_pull_out() -> None:
    now, ends = scene(v=4.0, things=(Thing(7, 40.0, 0.0, length=0.6, width=0.6),)), []
    for creeps_up in (False, True):
        plan = PLANNER.plan(follow(road(), speed_limit=4.0, creeps_up=creeps_up), now, None).trajectory
        assert plan is not None and plan.v[-1] == 0.0
        ends.append(float(plan.x[-1]))
    gaps = PARAMETERS.speed
    assert ends[1] - ends[0] == pytest.approx(gaps.obstacle_gap - gaps.end_gap, abs=0.1)


def test_an_empty_road_is_driven_at_its_limit_without_overshoot() -> None:
    log = run(straight(), scene(), 12.0)
    speeds = np.array([now.ego.v for _, now, _ in log])
    assert speeds[10] > 0.1
    assert speeds.max() <= 8.33 + 1e-6
    assert speeds[-1] > 8.25
    assert max(abs(now.ego.pose.y) for _, now, _ in log) < 1e-6
    assert log[-1][2].limit.reason is Reason.SPEED_LIMIT


@pytest.mark.clause("NOR-4")
@pytest.mark.parametrize(("ahead", "v"), [(9.0, 2.0), (15.0, 4.0), (30.0, 1.0)])
def test_a_leader_is_not_trusted_to_go_on_gathering_speed(ahead: float, v: float) -> None:
    leader = Thing(7, 20.0 + ahead, 0.0, v=v)
    steady, now = scene(v=5.0, things=(leader,)), scene(v=5.0, things=(leader, leader))
    faster = now.obstacles.x.copy()
    faster[1] += 0.6 * (PREDICTION_STEP_S * np.arange(PREDICTION_STEPS)) ** 2
    plans = [
        PLANNER.plan(follow(road()), each, None).trajectory
        for each in (steady, replace(now, obstacles=replace(now.obstacles, x=faster)))
    ]
    assert plans[0] is not None and plans[1] is not None
    np.testing.assert_array_equal(plans[0].v, plans[1].v)


def test_rows_are_a_consistent_motion() -> None:
    result = PLANNER.plan(follow(road(pieces=((30.0, 0.0), (40.0, 0.04), (60.0, -0.03)))), scene(v=6.0), None)
    t = result.trajectory
    assert t is not None
    assert len(t) == 71
    np.testing.assert_allclose(np.diff(t.t), 0.1, atol=1e-9)
    np.testing.assert_allclose(np.diff(t.v), 0.05 * (t.a[1:] + t.a[:-1]), atol=1e-9)
    np.testing.assert_allclose(np.hypot(np.diff(t.x), np.diff(t.y)), 0.05 * (t.v[1:] + t.v[:-1]), atol=5e-3)
    np.testing.assert_allclose(
        np.diff(t.heading), 0.05 * (t.v * t.curvature)[1:] + 0.05 * (t.v * t.curvature)[:-1], atol=5e-3
    )
    assert np.abs(t.v**2 * t.curvature).max() <= VEHICLE.max_lateral_accel * 1.1


def test_a_standing_car_starts_within_a_few_rows() -> None:
    result = PLANNER.plan(follow(road()), scene(), None)
    assert result.trajectory is not None
    assert result.trajectory.v[1] > 0.01
    assert result.trajectory.v[10] > 0.6


def test_too_late_for_a_comfortable_stop_a_slow_car_does_not_creep_on() -> None:
    wall = wall_across(20.0 + VEHICLE.front + 0.02)
    plan = PLANNER.plan(follow(road(), wall), scene(v=0.3), None).trajectory
    assert plan is not None
    assert plan.length < 0.11
    assert plan.v[round(0.6 / 0.1)] == 0.0


@pytest.mark.clause("USE-3")
@pytest.mark.medium
def test_a_car_that_stands_before_a_stream_does_not_creep_towards_it_between_two() -> None:
    """It stands nearer to the stream than it starts for; between two of it there is no room to pass."""
    x = 20.0 + VEHICLE.front + PARAMETERS.speed.crossing_gap + 0.95 + 1.2
    stream = [Thing(number, x, -4.0 - 16.0 * number, 0.5 * np.pi, 4.0) for number in range(4)]
    log = run(straight(), scene(), 22.0, tuple(stream))
    waits = [now.ego.pose.x for stamp, now, _ in log if stamp < 12.0]
    assert max(waits) - min(waits) < 0.01
    assert log[-1][1].ego.pose.x > x


@pytest.mark.clause("INT-7")
@pytest.mark.medium
def test_before_a_stream_in_noise_the_car_stands_farther_off() -> None:
    """By two standard deviations of the places that are reported, up to 1.5 m; and it passes in the end."""
    x, places = 90.0, []
    stream = [Thing(number, x, -30.0 - 12.0 * number, 0.5 * np.pi, 6.0) for number in range(12)]
    for noise in (0.0, 0.15, 0.5, 3.0):
        log = run(straight(), scene(v=6.0), 40.0, tuple(stream), noise=noise)
        places.append(next(now.ego.pose.x for _, now, _ in log if now.ego.v == 0.0))
        assert log[-1][1].ego.pose.x > x
    assert places[0] + VEHICLE.front == pytest.approx(x - 0.95 - PARAMETERS.speed.crossing_gap, abs=0.4)
    np.testing.assert_allclose(places[0] - np.array(places[1:]), [0.3, 1.0, 1.5], atol=0.05)


@pytest.mark.clause("INT-2")
@settings(max_examples=25)
@given(st.floats(0.0, 8.33), st.floats(4.0, 60.0))
def test_the_bumper_stops_before_a_wall_from_any_speed_and_distance(v: float, distance: float) -> None:
    x = 20.0 + VEHICLE.front + distance
    result = PLANNER.plan(follow(road(), wall_across(x)), scene(v=v), None)
    t = result.trajectory
    assert t is not None
    bumper = t.x + VEHICLE.front
    room = distance - 0.05
    if v * v / (2.0 * 0.85 * VEHICLE.emergency_decel) + 0.15 * v < room:
        assert bumper.max() < x
    if t.v[-1] == 0.0 and v > 0.5 and v * v / (2.0 * VEHICLE.comfort_decel) + 0.8 * v < distance:
        assert x - 0.2 <= bumper[-1] < x
    stopped = np.flatnonzero((t.v == 0.0) & (bumper > bumper[0]))
    assert len(stopped) == 0 or np.all(t.v[stopped[0] :] == 0.0)


@pytest.mark.clause("INT-2", "USE-3")
@pytest.mark.medium
def test_a_wall_is_reached_smoothly_and_held() -> None:
    log = run(straight(), scene(v=8.33), 14.0, walls=(wall_across(60.0),))
    assert log[-1][1].ego.v == 0.0
    assert log[-1][1].ego.pose.x + VEHICLE.front == pytest.approx(60.0 - PARAMETERS.speed.line_gap, abs=0.03)
    assert min(now.ego.a for _, now, _ in log) > -1.3 * VEHICLE.comfort_decel
    assert log[-1][2].limit.reason is Reason.RED_LIGHT
    assert log[-1][2].limit.distance == pytest.approx(PARAMETERS.speed.line_gap, abs=0.03)
    assert log[-1][2].limit.blocker == 1
    assert all(result.feasible for _, _, result in log)


@pytest.mark.clause("INT-2")
@settings(max_examples=5)
@given(st.floats(0.0, 8.33), st.floats(0.0, 20.0))
@pytest.mark.medium
def test_a_drive_to_a_line_ends_within_20_cm_before_it_and_never_over_it(v: float, more: float) -> None:
    x = 20.0 + VEHICLE.front + v * v / (2.0 * VEHICLE.comfort_decel) + 0.8 * v + 2.0 + more
    log = run(straight(), scene(v=v), 13.0, walls=(wall_across(x),))
    bumper = np.array([now.ego.pose.x + VEHICLE.front for _, now, _ in log])
    assert bumper.max() < x
    assert log[-1][1].ego.v == 0.0
    assert x - 0.2 <= bumper[-1] < x


@pytest.mark.clause("INT-2", "USE-2")
def test_a_wall_stops_none_that_comes_from_behind_it() -> None:
    """As on the way back after a U-turn, beside the line of the lanes that lead to it."""
    wall = wall_across(30.0)
    behind = replace(wall, x0=wall.x1, y0=wall.y1, x1=wall.x0, y1=wall.y0)
    result = PLANNER.plan(follow(road(), behind), scene(v=5.0), None)
    assert result.trajectory is not None
    assert result.trajectory.v.min() >= 5.0


@pytest.mark.clause("USE-3")
def test_a_wall_that_the_bumper_has_passed_is_none() -> None:
    wall = wall_across(20.0 + VEHICLE.front - 1.0)
    result = PLANNER.plan(follow(road(), wall), scene(v=5.0), None)
    assert result.trajectory is not None
    assert result.trajectory.v.min() >= 5.0
    rolled = PLANNER.plan(follow(road(), wall_across(20.0 + VEHICLE.front - 0.1)), scene(v=0.0), None)
    assert rolled.trajectory is not None
    assert rolled.trajectory.stands


@pytest.mark.parametrize(("end", "goal"), [(LaneEnd.ROUTE_END, 60.0), (LaneEnd.LANE_END, None)])
@pytest.mark.medium
def test_the_end_of_the_line_is_not_driven_over(end: LaneEnd, goal: float | None) -> None:
    def lanes(x: float) -> tuple[LaneLine, ...]:
        return road(pieces=((60.0, 0.0),), at=x, end=end)

    log = run(lanes, scene(v=7.0), 16.0, goal_s=goal)
    x = log[-1][1].ego.pose.x
    assert log[-1][1].ego.v == 0.0
    if end is LaneEnd.ROUTE_END:
        assert x == pytest.approx(60.0, abs=0.3)
        assert log[-1][2].limit.reason is Reason.ROUTE_END
        assert log[-1][2].feasible
    else:
        assert 58.0 < x + VEHICLE.front < 60.0
        assert log[-1][2].limit.reason is Reason.LANE_END
        assert not log[-1][2].feasible


@pytest.mark.medium
def test_bends_limit_the_speed() -> None:
    pieces = ((40.0, 0.0), (12.0, 0.12), (80.0, 0.0))
    points = bent(*pieces)

    def lanes(_: float) -> tuple[LaneLine, ...]:
        return (lane_line(points, width=4.0),)

    log = run(lanes, scene(20.0, v=8.0), 14.0)
    lateral = [abs(now.ego.curvature) * now.ego.v**2 for _, now, _ in log]
    assert max(lateral) < 1.1 * VEHICLE.max_lateral_accel
    assert 3.0 < min(now.ego.v for _, now, _ in log) < 5.5
    assert log[-1][1].ego.pose.heading == pytest.approx(12.0 * 0.12, abs=0.05)
    assert Reason.CURVATURE in {result.limit.reason for _, _, result in log}


@pytest.mark.parametrize("decel", [1.0, 4.0, 7.0])
@pytest.mark.medium
def test_a_braking_leader_is_never_touched(decel: float) -> None:
    leader = Thing(7, 42.0, 0.0, v=8.0, a=-decel, moving=True)
    log = run(straight(), scene(v=8.0), 14.0, (leader,))
    gaps = [gap_to(leader.at(stamp), now.ego.pose, VEHICLE) for stamp, now, _ in log]
    assert min(gaps) > 1.0
    assert gaps[-1] < 3.5
    assert log[-1][1].ego.v == 0.0
    assert log[-1][2].limit.reason is Reason.LEADER
    assert log[-1][2].limit.blocker == 7
    assert all(result.feasible for _, _, result in log)


@pytest.mark.slow
def test_a_leader_is_followed_at_its_time_gap_without_swinging() -> None:
    leader = Thing(7, 60.0, 0.0, v=5.0)
    log = run(straight(), scene(v=8.0), 30.0, (leader,))
    gaps = np.array([gap_to(leader.at(stamp), now.ego.pose, VEHICLE) for stamp, now, _ in log])
    assert gaps[-1] == pytest.approx(PARAMETERS.speed.standstill_gap + PARAMETERS.speed.headway * 5.0, abs=0.6)
    accelerations = np.array([now.ego.a for stamp, now, _ in log if stamp > 2.0])
    turns = np.count_nonzero(np.diff(np.sign(np.where(np.abs(accelerations) < 0.05, 0.0, accelerations))))
    assert turns <= 3
    assert np.abs(accelerations).max() < 1.5
