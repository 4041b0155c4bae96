"""The choice among lanes and candidates. The car is where its plan says (perfect tracking)."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, LaneEnd, LaneLine, PlanResult, Reason, RoutePlace
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check

from ..lane_drives import LONG, PARAMETERS, PLANNER, VEHICLE, run, straight
from ..scenes import (
    PEDESTRIAN,
    Thing,
    bent,
    drive,
    follow,
    gap_to,
    lane_line,
    mirrored_line,
    mirrored_trajectory,
    regulations_for,
    road,
    scene,
    wall_across,
)


@pytest.mark.slow
@pytest.mark.clause("NOR-5")
@pytest.mark.parametrize("v", [0.0, 3.0])
def test_a_slow_or_parked_car_is_overtaken_by_the_next_lane_and_left_behind(v: float) -> None:
    other = Thing(7, 70.0, 0.0, v=v)
    log = run(straight(2, 0), scene(v=8.0), 22.0, (other,))
    y = np.array([now.ego.pose.y for _, now, _ in log])
    assert y.max() > 3.0
    assert abs(y[-1]) < 0.1
    assert min(now.ego.v for _, now, _ in log) > 7.0
    shifts = [result.shift for _, _, result in log]
    assert sum(a != b for a, b in itertools.pairwise(shifts)) <= 2
    assert log[-1][1].ego.pose.x > other.at(22.0).x + 10.0


@pytest.mark.clause("NOR-4", "NOR-5")
@pytest.mark.medium
@pytest.mark.parametrize(("v", "behind"), [(8.7, 15.0), (8.7, 16.0), (10.0, 28.0)])
def test_a_lane_is_changed_ahead_of_one_that_comes_there_with_room_to_spare(v: float, behind: float) -> None:
    """Its middle is so far behind the car's rear axle; it never slows down. Once begun, the change is gone on with: no
    plan brakes right before the other.
    """
    parked, other = Thing(7, 75.0, 0.0), Thing(8, 20.0 - behind, 3.5, v=v)
    log = run(straight(2, 0), scene(v=8.0), 10.0, (parked, other))
    assert log[-1][1].ego.pose.x > 95.0, "past the parked one, ahead of the other"
    assert min(now.ego.v for _, now, _ in log) > 7.5
    assert min(gap_to(other.at(stamp), now.ego.pose, VEHICLE) for stamp, now, _ in log) > 4.0


@pytest.mark.clause("NOR-6", "NOR-7")
@pytest.mark.medium
def test_a_solid_line_is_a_wall() -> None:
    log = run(straight(2, 0, dashed=False), scene(v=8.0), 16.0, (Thing(7, 70.0, 0.0),))
    assert max(abs(now.ego.pose.y) for _, now, _ in log) < 0.4
    _, now, result = log[-1]
    assert now.ego.v == 0.0
    assert now.ego.pose.x + VEHICLE.front < 70.0 - 2.25 - 2.0
    assert not result.feasible
    assert result.reason is Reason.OBSTACLE
    assert result.limit.blocker == 7
    assert all(candidate.rejected is not Reason.NONE for candidate in result.candidates if candidate.shift == 1)


@pytest.mark.clause("NOR-7")
@pytest.mark.medium
def test_a_stop_behind_one_that_moves_is_feasible() -> None:
    log = run(straight(), scene(v=6.0), 12.0, (Thing(7, 60.0, 0.0, moving=True),))
    assert log[-1][1].ego.v == 0.0
    assert all(result.feasible for _, _, result in log)


@pytest.mark.clause("INT-1")
@pytest.mark.medium
def test_a_kept_lane_is_kept() -> None:
    log = run(straight(2, 0), scene(v=8.0), 10.0, (Thing(7, 60.0, 0.0, v=2.0),), keep_lane=True)
    assert max(abs(now.ego.pose.y) for _, now, _ in log) < 0.5
    assert log[-1][2].limit.reason is Reason.LEADER


@pytest.mark.clause("NOR-4")
def test_moving_objects_shape_candidates_in_the_second_pass_alone() -> None:
    cyclist = Thing(7, 45.0, -0.9, v=2.0, length=1.8, width=0.6, kind=5)
    wide = (lane_line(bent((120.0, 0.0)), width=5.0, free=(2.5, 2.5)),)
    now = scene(v=6.0, things=(cyclist,))
    both = PLANNER.plan(follow(wide), now, None)
    first_only = PLANNER.plan(follow(wide, keep_lane=True), now, None)
    assert both.trajectory is not None and first_only.trajectory is not None
    assert {c.offset for c in both.candidates} > {c.offset for c in first_only.candidates}
    assert both.trajectory.x[50] > first_only.trajectory.x[50] + 5.0
    assert first_only.limit.reason is Reason.LEADER


@pytest.mark.clause("INT-1")
def test_a_static_path_goes_round_nothing_that_moves_but_yields_to_it() -> None:
    cyclist = Thing(7, 45.0, -0.9, v=2.0, length=1.8, width=0.6, kind=5)
    wide = (lane_line(bent((120.0, 0.0)), width=5.0, free=(2.5, 2.5)),)
    result = PLANNER.plan(follow(wide, static_path=True), scene(v=6.0, things=(cyclist,)), None)
    assert result.trajectory is not None
    assert np.abs(result.trajectory.y).max() < 0.6
    assert result.limit.reason is Reason.LEADER


@pytest.mark.clause("INT-1")
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.medium
def test_with_a_static_path_a_lane_is_changed_unless_it_is_to_be_kept(keep: bool) -> None:
    log = run(straight(2, 0), scene(v=6.0), 14.0, (Thing(7, 75.0, 0.0),), static_path=True, keep_lane=keep)
    assert (max(now.ego.pose.y for _, now, _ in log) > 1.0) is not keep


@pytest.mark.slow
@pytest.mark.clause("NOR-4")
def test_a_crossing_pedestrian_is_yielded_to_in_both_passes() -> None:
    walker = Thing(9, 60.0, -7.0, heading=0.5 * math.pi, v=1.4, length=0.5, width=0.5, kind=PEDESTRIAN)
    for keep in (False, True):
        log = run(straight(), scene(v=8.0), 12.0, (walker,), keep_lane=keep)
        assert min(gap_to(walker.at(stamp), now.ego.pose, VEHICLE) for stamp, now, _ in log) > 0.5
        assert Reason.PEDESTRIAN in {result.limit.reason for _, _, result in log}
        assert all(result.feasible for _, _, result in log)
        assert log[-1][1].ego.pose.x > 60.0


def test_a_car_crosses_before_one_that_comes_much_later() -> None:
    late = Thing(9, 45.0, -40.0, heading=0.5 * math.pi, v=5.0)
    log = run(straight(), scene(v=8.0), 8.0, (late,))
    assert min(now.ego.v for _, now, _ in log) > 7.9


@pytest.mark.parametrize("v", [4.0, 12.0])
def test_what_comes_from_behind_does_not_hold_the_car_up(v: float) -> None:
    result = PLANNER.plan(follow(road()), scene(v=2.0, things=(Thing(7, 8.0, 0.3, v=v),)), None)
    alone = PLANNER.plan(follow(road()), scene(v=2.0), None)
    assert result.trajectory is not None and alone.trajectory is not None
    np.testing.assert_array_equal(result.trajectory.v, alone.trajectory.v)


def test_a_faster_car_in_the_next_lane_is_not_cut_off() -> None:
    behind = Thing(7, 14.0, 3.5, v=12.0)
    log = run(straight(2, 0), scene(v=8.0), 3.0, (Thing(8, 55.0, 0.0, v=2.0), behind))
    beside = [(stamp, now) for stamp, now, _ in log if behind.at(stamp).x < now.ego.pose.x + 6.0]
    assert all(now.ego.pose.y < 0.75 for _, now in beside)


@pytest.mark.clause("USE-6")
def test_one_may_drive_away_from_what_stands_near() -> None:
    near = (
        Thing(7, 21.5, 2.0),
        Thing(8, 15.5, 0.0),
        Thing(9, 22.0, -1.1, length=0.5, width=0.5, kind=PEDESTRIAN, moving=True),
    )
    result = PLANNER.plan(follow(road(width=5.0)), scene(things=near), None)
    assert result.feasible
    assert result.trajectory is not None
    assert result.trajectory.x[-1] > 25.0


@pytest.mark.clause("NOR-6")
def test_a_car_outside_its_lane_comes_back_but_goes_no_farther_out() -> None:
    log = run(straight(), scene(y=1.6, heading=0.12, v=5.0), 8.0)
    over = [VEHICLE.footprint(now.ego.pose)[:, 1].max() - 1.75 for _, now, _ in log]
    assert over[0] > 0.8
    assert max(over) < over[0] + 0.35
    assert abs(log[-1][1].ego.pose.y) < 0.05


@pytest.mark.medium
def test_static_edges_are_led_around_with_room() -> None:
    barrier = [(60.0, -1.75, 60.0, -0.6), (60.0, -0.6, 66.0, -0.6), (66.0, -0.6, 66.0, -1.75)]
    wide = straight(1, 0, width=5.0)
    log = run(wide, scene(v=7.0, segments=barrier), 14.0)
    passing = [now.ego.pose.y for _, now, _ in log if 56.0 < now.ego.pose.x < 66.0]
    assert min(passing) - 0.5 * VEHICLE.width > -0.6 + PARAMETERS.clearance.solid - 0.02
    assert log[-1][1].ego.pose.x > 90.0
    assert abs(log[-1][1].ego.pose.y) < 0.2


@pytest.mark.clause("NOR-5", "USE-1")
@pytest.mark.medium
def test_equal_lanes_are_not_alternated_between() -> None:
    other = (Thing(7, 60.0, 0.0, v=5.0), Thing(8, 60.0, 3.5, v=5.0))
    rng = np.random.default_rng(3)

    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        shaken = replace(now, obstacles=replace(now.obstacles, x=now.obstacles.x + rng.normal(0.0, 0.15, (2, 1))))
        return PLANNER.plan(follow(road(2, 0, pieces=LONG, at=now.ego.pose.x)), shaken, previous)

    log = drive(plan, scene(v=7.0), 12.0, other)
    shifts = [result.shift for _, _, result in log]
    assert sum(a != b for a, b in itertools.pairwise(shifts)) <= 1


@pytest.mark.medium
def test_a_lane_that_leaves_the_route_is_left_in_time() -> None:
    def lanes(x: float) -> tuple[LaneLine, ...]:
        (left,) = road(pieces=LONG, at=x)
        if x > 95.0:
            return (replace(left, center=replace(left.center, xy=left.center.xy + np.array((0.0, 3.5))), shift=1),)
        (right,) = road(pieces=((100.0, 0.0),), at=x, end=LaneEnd.LANE_END)
        to_left = np.full(len(right.left), 3.5 + 1.75)
        shifted = replace(left.center, xy=left.center.xy + np.array((0.0, 3.5)))
        wide = np.full(len(left.right), 3.5 + 1.75)
        return replace(left, center=shifted, shift=1, right_free=wide), replace(right, left_free=to_left)

    log = run(lanes, scene(v=7.0), 14.0)
    assert log[-1][1].ego.pose.y == pytest.approx(3.5, abs=0.1)
    assert min(now.ego.v for _, now, _ in log) > 6.5


@pytest.mark.clause("NOR-6")
@pytest.mark.medium
def test_the_lane_of_a_window_is_taken_before_its_place_though_another_is_faster() -> None:
    slow = tuple(Thing(n, 45.0 + 30.0 * n, 0.0, v=4.0) for n in range(4))

    def there(window: RoutePlace | None) -> float:
        log = run(straight(2, 0), scene(y=3.5, v=7.0), 12.0, slow, window=window)
        return float(next(now.ego.pose.y for _, now, _ in log if now.ego.pose.x > 75.0))

    assert there(RoutePlace(80.0, 80.0, 0.0)) == pytest.approx(0.0, abs=0.5)
    assert there(None) == pytest.approx(3.5, abs=0.5)


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize("place_y", [-3.5, 0.0])
def test_the_lane_of_a_window_is_that_of_its_place_and_not_the_one_the_route_is_still_in(place_y: float) -> None:
    """A route that changes lanes only just before the place is still in the lane of y = 0."""
    log = run(straight(2, 1), scene(v=7.0), 12.0, window=RoutePlace(80.0, 80.0, place_y))
    assert next(now.ego.pose.y for _, now, _ in log if now.ego.pose.x > 75.0) == pytest.approx(place_y, abs=0.3)


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize("offset", [-0.5, 0.3, 3.0])
def test_a_place_is_passed_beside_the_centre_of_its_lane_as_far_as_there_is_room(offset: float) -> None:
    """The lane is 3.5 m wide, and nobody may leave it."""
    log = run(straight(1), scene(v=7.0), 16.0, window=RoutePlace(50.0, 50.0, 0.0, offset, 5.0))
    before, there, behind = (
        next(now.ego.pose.y for _, now, _ in log if now.ego.pose.x > x) for x in (25.0, 53.0, 85.0)
    )
    room = 1.75 - 0.5 * VEHICLE.width
    assert there == pytest.approx(offset, abs=0.1) if abs(offset) < room else 0.5 * room < there <= room
    assert before == pytest.approx(0.0, abs=0.15) and behind == pytest.approx(0.0, abs=0.15)


def test_nothing_is_ever_planned_in_reverse() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        things = tuple(
            Thing(i, rng.uniform(5.0, 70.0), rng.uniform(-6.0, 6.0), rng.uniform(-3.0, 3.0), rng.uniform(0.0, 8.0))
            for i in range(5)
        )
        now = scene(y=rng.uniform(-0.5, 0.5), heading=rng.uniform(-0.2, 0.2), v=rng.uniform(0.0, 8.0), things=things)
        result = PLANNER.plan(follow(road(2, 0), wall_across(rng.uniform(22.0, 80.0))), now, None)
        assert result.trajectory is not None
        assert result.trajectory.v.min() >= 0.0
        assert not result.uses_reverse


@pytest.mark.parametrize("seed", range(6))
def test_a_mirrored_scene_gives_a_mirrored_plan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lanes = road(3, 1, pieces=((30.0, 0.0), (40.0, rng.uniform(-0.04, 0.04)), (60.0, 0.0)))
    things = [
        Thing(
            i,
            rng.uniform(32.0, 70.0),
            3.5 * rng.integers(-1, 2) + rng.uniform(-0.6, 0.6),
            v=float(rng.choice((0.0, 3.0, 6.0))),
        )
        for i in range(3)
    ]
    mirrored = [replace(thing, y=-thing.y) for thing in things]
    one = PLANNER.plan(follow(lanes), scene(y=0.2, heading=0.03, v=6.0, things=things), None)
    flipped = tuple(mirrored_line(line) for line in reversed(lanes))
    other = PLANNER.plan(follow(flipped), scene(y=-0.2, heading=-0.03, v=6.0, things=mirrored), None)
    assert one.trajectory is not None and other.trajectory is not None
    seen = mirrored_trajectory(other.trajectory)
    for name in ("x", "y", "heading", "curvature", "v", "a"):
        np.testing.assert_allclose(getattr(one.trajectory, name), getattr(seen, name), atol=1e-6)
    assert one.shift == -other.shift
    assert one.limit.reason is other.limit.reason


def test_the_same_arguments_give_the_same_plan_bit_for_bit() -> None:
    things = (Thing(1, 50.0, 0.0, v=3.0), Thing(2, 40.0, 3.5, v=5.0), Thing(3, 60.0, -3.5))
    request, now = follow(road(3, 1), wall_across(75.0)), scene(v=6.0, things=things)
    first = PLANNER.plan(request, now, None)
    PLANNER.plan(follow(road()), scene(v=3.0), None)
    again = Planner(VEHICLE, PARAMETERS).plan(request, now, None)
    assert first.trajectory is not None and again.trajectory is not None
    for name in ("t", "x", "y", "heading", "curvature", "v", "a"):
        np.testing.assert_array_equal(getattr(first.trajectory, name), getattr(again.trajectory, name))
    assert (first.limit, first.shift, first.candidates) == (again.limit, again.shift, again.candidates)


def test_a_plan_goes_on_where_the_previous_one_was() -> None:
    lanes = road(pieces=LONG)
    first = PLANNER.plan(follow(lanes, wall_across(60.0)), scene(v=6.0), None)
    assert first.trajectory is not None
    pose, _curvature, v, a = first.trajectory.sample(0.4)
    off = Pose(pose.x - 0.2, pose.y + 0.1, pose.heading + 0.02)
    second = PLANNER.plan(follow(lanes, wall_across(60.0)), scene(*off, v=v - 0.2, stamp=0.4), first)
    assert second.trajectory is not None
    assert (second.trajectory.x[0], second.trajectory.v[0]) == pytest.approx((pose.x, v), abs=1e-6)
    assert second.trajectory.a[0] == pytest.approx(a, abs=1e-6)
    np.testing.assert_allclose(
        second.trajectory.x[:50],
        np.interp(0.4 + second.trajectory.t[:50], first.trajectory.t, first.trajectory.x),
        atol=0.05,
    )
    far = PLANNER.plan(follow(lanes), scene(pose.x - 2.0, 0.0, v=v, stamp=0.4), first)
    assert far.trajectory is not None
    assert far.trajectory.x[0] == pytest.approx(pose.x - 2.0)


def test_without_a_lane_to_join_the_car_stops_and_says_so() -> None:
    across = scene(20.0, 0.0, 1.5, v=4.0)
    result = PLANNER.plan(follow(road()), across, None)
    assert not result.feasible
    assert result.reason is Reason.NO_PATH
    assert result.trajectory is not None
    assert result.trajectory.v[-1] == 0.0
    empty = PLANNER.plan(FollowLanes((), (), 8.0), across, None)
    assert not empty.feasible


@pytest.mark.clause("NOR-7", "SAF-2")
@pytest.mark.parametrize("v", [0.0, 8.0])
def test_a_car_far_beyond_the_end_of_a_lane_stops_ahead_of_itself(v: float) -> None:
    lane = lane_line(bent((15.6, 0.0)), end=LaneEnd.ROUTE_END)
    for beyond, joins in ((2.0, True), (7.5, True), (9.0, False), (15.0, False)):
        now, request = scene(x=15.6 + beyond, v=v), follow((lane,))
        result = PLANNER.plan(request, now, None)
        assert result.trajectory is not None
        assert result.feasible is joins
        assert np.diff(result.trajectory.x).min(initial=0.0) > -1e-6
        assert check(result.trajectory, now, regulations_for(request), VEHICLE, PARAMETERS, not joins) is None
