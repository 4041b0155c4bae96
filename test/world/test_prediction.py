from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from crossroads import HALF_M, STOP_SIGN, crossroads
from hypothesis import given, settings
from hypothesis import strategies as st
from map import xodr
from map.merging import LIGHTS, LINES_M, merging
from map.ways import BEGIN_M, middle
from scenes import row, table, walker
from watching import P, Watch

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS, Ego, Obstacles
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind, Light
from tuling_fsm.world.lane_index import lane_index
from tuling_fsm.world.tracks import SEEN
from tuling_fsm.world.traffic import PredictedLanes
from tuling_fsm.world.traffic_kernels import PredictionArrays
from world.no_objects import no_traffic

TIMES = PREDICTION_STEP_S * np.arange(PREDICTION_STEPS)
EAST, NORTH, WEST, SOUTH = 0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"))


def ends(obstacles: Obstacles) -> list[tuple[float, float]]:
    return [
        (round(float(x), 1), round(float(y), 1)) for x, y in zip(obstacles.x[:, -1], obstacles.y[:, -1], strict=True)
    ]


def test_one_follows_its_lane_into_the_first_lane_of_the_map_too(tmp_path: Path) -> None:
    lane = xodr.lane(-1, links=((), (-1,)))
    bend = xodr.geometry(0.0, 50.0, 0.0, 0.0, 60.0, '<arc curvature="0.05"/>')
    to_bend = xodr.road_link("road", "1")
    road_map = xodr.read(
        tmp_path, xodr.road(xodr.section([xodr.lane(-1)]), "1", bend, 60.0),
        xodr.road(xodr.section([lane]), "2", length=50.0, link=to_bend),
    )  # fmt: skip
    assert lane_index(road_map).ids[0].road == "1"
    _, obstacles = Watch(road_map).see(table(row(7, 40.0, -1.75, 0.0, 5.0)))
    assert obstacles.heading[0, -1] == pytest.approx(20.0 / (20.0 + 1.75), abs=0.03)


def test_one_before_a_fork_is_given_every_way_and_keeps_its_id(cross: RoadMap) -> None:
    _, obstacles = Watch(cross).see(table(row(7, 1.75, -20.0, NORTH, 5.0)))
    assert obstacles.id.tolist() == [7, 7, 7]
    final = obstacles.heading[:, -1]
    assert sorted(np.round(np.mod(final, 2 * math.pi), 2)) == [0.0, round(NORTH, 2), round(WEST, 2)]
    np.testing.assert_allclose(obstacles.x[:, 0], 1.75)
    np.testing.assert_allclose(obstacles.y[:, 0], -20.0)


def test_one_too_fast_for_the_turns_goes_straight_on(cross: RoadMap) -> None:
    _, obstacles = Watch(cross).see(table(row(7, 1.75, -HALF_M - 3.0, NORTH, 12.0)))
    assert len(obstacles) == 1
    np.testing.assert_allclose(obstacles.x[0], 1.75, atol=1e-6)
    np.testing.assert_allclose(obstacles.y[0], -15.0 + 12.0 * TIMES, atol=0.05)


def test_one_that_is_fast_enough_to_cut_the_corner_is_given_the_turns_too(cross: RoadMap) -> None:
    """Along the centre of the lane to the right it would turn with more than 5 m/s^2, however hard it brakes before."""
    _, obstacles = Watch(cross).see(table(row(7, 1.75, -HALF_M - 1.0, NORTH, 8.0)))
    final = obstacles.heading[:, -1]
    assert sorted(np.round(np.mod(final, 2 * math.pi), 2)) == [0.0, round(NORTH, 2), round(WEST, 2)]


def test_one_too_fast_for_every_turn_may_still_take_any(tmp_path: Path) -> None:
    """Where the road ends in a junction there is no way straight on to be left with."""
    _, obstacles = Watch(crossroads(tmp_path, sides="ESW")).see(table(row(7, 1.75, -HALF_M - 3.0, NORTH, 12.0)))
    final = np.mod(obstacles.heading[:, -1], 2.0 * math.pi)
    assert obstacles.id.tolist() == [7, 7]
    assert sorted(np.round(final, 2)) == [0.0, round(WEST, 2)]


def test_inside_a_junction_nobody_is_given_a_turn_that_no_car_could_take(course: RoadMap) -> None:
    """There the ways lie over one another for some metres: the speed tells which of them it cannot be."""
    entered = [row(7, x, -1.75, EAST, 18.0) for x in (314.0, 316.0)]
    for each in entered:
        _, fast = Watch(course).see(table(each))
        assert np.all(np.abs(fast.heading[:, -1]) < 0.1)
    _, slow = Watch(course).see(table(row(7, 316.0, -1.75, EAST, 8.0)))
    assert np.any(slow.heading[:, -1] > 1.4)


def test_one_that_turns_hard_is_still_seen_to_turn(cross: RoadMap) -> None:
    """At 5.5 m/s^2 to the side, as SUMO's drivers do."""
    radius, watch = HALF_M + 1.75, Watch(cross)
    speed = math.sqrt(5.5 * radius)
    for angle in (0.0, 0.1, 0.2, 0.3):
        x, y = 1.75 - radius * (1.0 - math.cos(angle)), radius * math.sin(angle) - HALF_M
        _, seen = watch.see(table(row(7, x, y, NORTH + angle, speed)), angle * radius / speed)
    assert math.pi - 0.1 < np.max(seen.heading[:, -1]) < math.pi + 0.1


def test_bends_limit_the_speed(cross: RoadMap) -> None:
    """To what the widest arc of the turn allows, a metre beside its centre."""
    watch = Watch(cross)
    watch.see(table(row(7, 1.75, -HALF_M - 1.0, NORTH, 8.0)))
    _, obstacles = watch.see(table(row(7, 2.371, -8.485, NORTH - 0.35, 8.0)), 0.55)
    right = obstacles.heading[:, -1] < 1.0
    steps = np.hypot(np.diff(obstacles.x[right]), np.diff(obstacles.y[right])) / PREDICTION_STEP_S
    assert right.sum() == 1
    assert steps.max() <= 8.01
    widest = HALF_M - 1.75 + 1.0 / math.tan(math.pi / 8.0) ** 2
    assert steps.min() == pytest.approx(math.sqrt(P.others_lateral_accel * widest), rel=0.02)


def test_an_offset_decays_and_the_heading_follows_the_lane(cross: RoadMap) -> None:
    _, obstacles = Watch(cross).see(table(row(7, 60.0, -0.75, EAST - 0.05, 8.0)))
    offset = obstacles.y[0] + 1.75
    assert offset[0] == pytest.approx(1.0)
    assert np.all(np.diff(offset) < 0.0) and offset[-1] < 0.3
    assert abs(obstacles.heading[0, -1]) < 0.01


def gathering(watch: Watch, v: float, accel: float) -> Obstacles:
    """One on the road to the east, seen for two seconds until it is so fast."""
    for t in np.arange(-2.0, 0.01, 0.1):
        _, obstacles = watch.see(table(row(7, 30.0 + (v + 0.5 * accel * t) * t, -1.75, EAST, v + accel * t)), 2.0 + t)
    return obstacles


def test_one_that_gathers_speed_may_go_on_to_and_may_not(cross: RoadMap) -> None:
    """For some seconds, ever less, and up to the limit of its lane; what makes little difference is left out."""
    limit = max(lane.limit for lane in cross.lanes.values())
    for v, accel in ((4.0, 1.0), (0.7 * limit, 2.0), (0.9 * limit, 1.5), (limit + 1.0, 1.5)):
        obstacles = gathering(Watch(cross), v, accel)
        steady, *more = obstacles.x - obstacles.x[0, 0]
        np.testing.assert_allclose(steady, v * TIMES, atol=0.1)
        if v > 0.8 * limit:
            assert not more
            continue
        (faster,) = more
        soon = TIMES <= 1.0
        np.testing.assert_allclose(faster[soon], (v * TIMES + 0.5 * accel * TIMES**2)[soon], atol=0.3)
        speeds = np.diff(faster) / PREDICTION_STEP_S
        assert np.all(np.diff(speeds) > -1e-6) and v + 0.5 < speeds[-1] < min(v + 4.0 * accel, limit + 0.01)
    assert obstacles.id.tolist() == [7] and len(gathering(Watch(cross), 8.0, -1.0)) == 1


@pytest.mark.clause("SAF-2")
def test_one_that_comes_towards_the_car_over_the_centre_line_stays_there_as_far_as_is_known(cross: RoadMap) -> None:
    """Once it has been there for a second: the car may not count on its falling back just before they meet."""
    towards, away = (Ego(Pose(100.0, 1.75, heading), 5.0, 0.0, 0.0) for heading in (WEST, EAST))

    def settled(ego: Ego, *aside: float) -> FloatArray:
        """Its offset at first and in the end, seen at these offsets 0.2 s after each other."""
        watch = Watch(cross, ego)
        for k, y in enumerate(aside):
            _, obstacles = watch.see(table(row(7, 20.0 + 1.6 * k, y - 1.75, EAST, 8.0)), 0.2 * k)
        offset: FloatArray = obstacles.y[0] + 1.75
        return offset

    stays = settled(towards, *[1.5] * 7)
    np.testing.assert_allclose(stays, 1.5)
    np.testing.assert_allclose(settled(towards, *[-1.5] * 7), -1.5)
    assert np.ptp(settled(towards, 1.4, 1.5, 1.6, 1.5, 1.4, 1.5, 1.6)) < 0.01, "where perception is noisy"
    returns = settled(away, *[1.5] * 7)
    assert returns[0] == pytest.approx(1.5) and returns[-1] < 0.2, "no more than the one before it"
    for why, seen in (
        ("for too short a time", [1.5] * 5),
        ("coming back", [2.0 - 0.1 * k for k in range(7)]),
        ("just come out there", [0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.5]),
        ("within its lane", [0.75] * 7),
    ):
        assert settled(towards, *seen)[-1] < 0.2, why


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_one_that_is_turned_away_from_its_centre_goes_on_so_before_it_comes_back(cross: RoadMap, side: float) -> None:
    """As a cyclist does that swings out from the kerb; one that only wavers is back at once."""

    def offset(turned: float) -> FloatArray:
        seen = row(7, 60.0, -1.75 + 0.9 * side, EAST + turned * side, 4.0, length=1.8, width=0.7)
        _, obstacles = Watch(cross).see(table(seen))
        return (obstacles.y[0] + 1.75) * side

    swung, highest = offset(0.2), int(np.argmax(offset(0.2)))
    assert np.diff(swung)[0] / PREDICTION_STEP_S == pytest.approx(4.0 * math.sin(0.2), rel=0.02)
    assert TIMES[highest] == pytest.approx(2.0, abs=0.21)
    assert swung[highest] == pytest.approx(0.9 + 0.8, abs=0.1), "0.8 m/s, and 0.4 m/s^2 against it"
    assert np.all(np.diff(swung)[highest:] < 0.0) and swung[-1] < 1.1
    assert np.all(np.diff(offset(0.02))[1:] < 0.0)
    assert np.all(np.diff(offset(-0.1)) < 0.0)


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_one_that_turns_swings_out_of_no_other_way(cross: RoadMap, turn: float) -> None:
    """Its turn's lane explains where it goes; were it going straight on, it would come back to that lane at once. What
    no lane explains is gone on with on all ways.
    """
    radius = HALF_M + 1.75 * turn

    def beyond(angle: float, turned: float) -> float:
        """By how much more than now it is off the middle on the way straight on, at most."""
        x = 1.75 - turn * radius * (1.0 - math.cos(angle))
        seen = row(7, x, radius * math.sin(angle) - HALF_M, NORTH + turn * (angle + turned), 5.0)
        _, obstacles = Watch(cross).see(table(seen))
        (way,) = np.flatnonzero(np.cos(obstacles.heading[:, -1] - NORTH) > 0.9)
        return float((turn * (1.75 - obstacles.x[way])).max()) - turn * (1.75 - x)

    assert beyond(0.15, 0.0) < 0.05
    assert beyond(0.15, 0.1) == pytest.approx(0.5 * (5.0 * 0.1) ** 2 / 0.4, abs=0.1), (
        "0.5 m/s, and 0.4 m/s^2 against it"
    )


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_where_it_moves_counts_and_not_where_it_points(cross: RoadMap, side: float) -> None:
    """In a tight turn a body points out of it, while its middle follows the lane: it swings out no farther."""

    def seen(slip: float) -> tuple[FloatArray, FloatArray]:
        numbers = list(row(7, 60.0, -1.75 + 0.5 * side, EAST + 0.3 * side, 3.0))
        course = EAST + (0.3 + slip) * side
        numbers[6], numbers[7] = 3.0 * math.cos(course), 3.0 * math.sin(course)
        _, obstacles = Watch(cross).see(table(tuple(numbers)))
        return (obstacles.y[0] + 1.75) * side, np.abs(obstacles.heading[0] - EAST)

    (offset, heading), (out, _), (across, _) = seen(-0.3), seen(0.0), seen(1.2)
    assert out.max() > 0.5 + 0.7
    assert np.all(np.diff(offset) < 0.0)
    assert heading[0] == pytest.approx(0.3, abs=1e-6)
    assert np.all(np.diff(heading) < 0.0) and heading[TIMES > 2.0].max() < 0.1
    assert across == pytest.approx(out), "one that slides tells nothing of where it wants to go"


def test_a_fast_one_comes_to_the_centre_no_faster_than_lanes_are_changed_or_than_it_does_already(
    cross: RoadMap,
) -> None:
    def sideways(heading: float) -> float:
        _, obstacles = Watch(cross).see(table(row(7, -75.0, -3.35, heading, 15.0)))
        return float(np.diff(obstacles.y[0]).max()) / PREDICTION_STEP_S

    assert sideways(EAST) == pytest.approx(1.2, abs=0.01), "15 m/s along, and 12 m to settle, would be 2 m/s"
    assert sideways(EAST + 0.1) == pytest.approx(15.0 * math.sin(0.1), abs=0.01)
    assert sideways(EAST - 0.1) == pytest.approx(1.2, abs=0.01)


def test_inside_a_junction_the_way_is_known_from_the_lane_it_came_from(cross: RoadMap) -> None:
    rows = table(row(7, 1.75, 6.0, NORTH, 4.0))
    fresh = Watch(cross).see(rows)[1]
    watch = Watch(cross)
    watch.see(table(row(7, 1.75, -20.0, NORTH, 4.0)), 0.0)
    known = watch.see(rows, 0.1)[1]
    assert len(known) == 1 <= len(fresh)
    np.testing.assert_allclose(known.x[0], 1.75, atol=1e-6)


def test_a_leader_is_not_run_into_and_the_car_is_one(cross: RoadMap) -> None:
    ego = Ego(Pose(70.0, -1.75, EAST), 0.0, 0.0, 0.0)
    rows = table(row(1, 30.0, -1.75, EAST, 8.0), row(2, 50.0, -1.75, EAST, 4.0))
    _, obstacles = Watch(cross, ego).see(rows)
    first, second = obstacles.x[obstacles.id == 1][0], obstacles.x[obstacles.id == 2][0]
    assert np.all(second <= 70.0 - Vehicle().rear_overhang - 2.25 - P.follow_gap + 1e-6)
    assert np.all(second - first >= 4.5 + P.follow_gap - 1e-6 - 4.0 * TIMES.max() * (second >= 65.8))
    assert second[5] == pytest.approx(54.0)


@pytest.mark.parametrize("heading", [EAST, NORTH, WEST, SOUTH])
def test_the_car_is_a_leader_whichever_way_it_goes(cross: RoadMap, heading: float) -> None:
    c, s = math.cos(heading), math.sin(heading)

    def ahead(m: float) -> tuple[float, float]:
        return m * c + 1.75 * s, m * s - 1.75 * c

    ego = Ego(Pose(*ahead(70.0), heading), 0.0, 0.0, 0.0)
    _, obstacles = Watch(cross, ego).see(table(row(1, *ahead(40.0), heading, 8.0)))
    way = obstacles.x[0] * c + obstacles.y[0] * s
    assert way.max() == pytest.approx(70.0 - Vehicle().rear_overhang - 2.25 - P.follow_gap, abs=1e-6)


def test_a_follower_does_not_run_into_the_car_when_it_stops(cross: RoadMap) -> None:
    for speed in (0.0, 5.0):
        ego = Ego(Pose(70.0, -1.75, EAST), speed, 0.0, 0.0)
        _, obstacles = Watch(cross, ego).see(table(row(1, 40.0, -1.75, EAST, 10.0)))
        assert obstacles.x.max() <= 70.0 - Vehicle().rear_overhang - 2.25 - P.follow_gap + 1e-6


@pytest.mark.clause("NOR-7")
def test_a_queue_at_a_red_light_counts_as_moving_and_a_parked_car_does_not(lit: RoadMap) -> None:
    queue = (row(1, 1.75, -14.0, NORTH), row(2, 1.75, -20.0, NORTH), row(3, 1.75, -60.0, NORTH))
    watch = Watch(lit)
    for stamp in (0.0, 30.0):
        traffic, obstacles = watch.see(table(*queue), stamp, {4: Light.RED})
        assert traffic.waiting.tolist() == [True, True, False]
        assert obstacles.moving.tolist() == [True, True, False]
    watch.see(table(*queue), 45.0, {4: Light.RED})
    traffic, _ = watch.see(table(*queue), 64.0, {4: Light.GREEN})
    assert traffic.moving.tolist() == [True, True, False]
    traffic, _ = watch.see(table(*queue), 66.0, {4: Light.GREEN})
    assert traffic.moving.tolist() == [False, True, False], "the first has broken down, the one behind it queues"


@pytest.mark.clause("NOR-7")
def test_one_that_stands_at_a_crossing_waits_for_its_turn_but_not_for_ever(cross: RoadMap) -> None:
    watch = Watch(cross)
    for stamp, moving in ((0.0, True), (40.0, True), (59.0, True), (61.0, False)):
        traffic, _ = watch.see(table(row(1, 1.75, -15.0, NORTH)), stamp)
        watch.tracks.past[:, SEEN] = stamp + 20.0
        assert traffic.moving.tolist() == [moving], stamp


@pytest.mark.clause("NOR-7")
def test_one_that_moved_within_20_s_counts_as_moving_but_is_predicted_in_place(cross: RoadMap) -> None:
    watch = Watch(cross)
    for k in range(10):
        watch.see(table(row(1, 30.0 + 0.4 * k, -1.75, EAST, 4.0)), 0.1 * k)
    for stamp, moving in ((1.0, True), (20.9, True), (21.1, False)):
        traffic, obstacles = watch.see(table(row(1, 33.6, -1.75, EAST)), stamp)
        assert bool(obstacles.moving[0]) is moving
        assert np.ptp(obstacles.x) == 0.0 and np.ptp(obstacles.y) == 0.0
    assert traffic.standing_for[0] == pytest.approx(20.2)


def test_one_that_creeps_without_a_speed_has_moved(cross: RoadMap) -> None:
    watch = Watch(cross)
    for k in range(30):
        traffic, _ = watch.see(table(row(1, 30.0 + 0.1 * k, -1.75)), 0.1 * k)
    assert traffic.moving[0]


def test_lights_known_to_be_red_stop_others_that_still_can(lit: RoadMap) -> None:
    line = -HALF_M - 1.0
    slow, fast = table(row(1, 1.75, -40.0, NORTH, 8.0)), table(row(1, 1.75, -18.0, NORTH, 10.0))
    for lights, stops in (({4: Light.RED}, True), ({4: Light.GREEN}, False), ({}, False), ({3: Light.RED}, False)):
        _, obstacles = Watch(lit).see(slow, 0.0, lights)
        assert bool(np.all(obstacles.y[:, -1] <= line - 2.25 + 0.1)) is stops
    _, obstacles = Watch(lit).see(fast, 0.0, {4: Light.RED})
    assert obstacles.y.max() > 0.0


def test_where_two_lanes_lead_into_one_way_others_are_expected_to_stop_for_the_light_of_their_own(
    tmp_path: Path,
) -> None:
    road_map, own, beside = merging(tmp_path), LIGHTS[1], LIGHTS[2]
    slow = table(row(1, 70.0, middle(1), EAST, 8.0))
    for red, free in ((own, beside), (beside, own)):
        lights = dict.fromkeys(red, Light.RED) | dict.fromkeys(free, Light.GREEN)
        _, obstacles = Watch(road_map).see(slow, 0.0, lights)
        last = obstacles.x[:, -1]
        assert np.all(last < LINES_M[1] if red is own else last > BEGIN_M)


def test_one_that_can_still_stop_does_not_enter_across_the_way_of_the_car_that_is_in_the_junction(
    cross: RoadMap,
) -> None:
    index = lane_index(cross)
    straight = next(n for lane, n in index.number.items() if lane.road == "110")
    assert cross.lanes[index.ids[straight]].successors[0].road == "2", "from south to north"
    rows = table(row(1, 40.0, 1.75, WEST, 6.0), row(2, -17.0, -1.75, EAST, 9.0), row(3, -1.75, 30.0, SOUTH, 5.0))
    for held, stops in (((), False), ((straight,), True)):
        _, obstacles = Watch(cross).see(rows, held=held)
        assert bool(np.all(obstacles.x[obstacles.id == 1, -1] >= HALF_M + 2.25 - 0.01)) is stops
        assert obstacles.x[obstacles.id == 2, -1].max() > 10.0, "cannot stop any more"
        assert obstacles.y[obstacles.id == 3, -1].min() < 5.0, "does not cross"


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("signs", "way", "waits"),
    [({}, ("1", "3"), True), ({}, ("2", "1"), False), ({"E": STOP_SIGN}, ("1", "3"), False)],
    ids=["across", "turning across oncoming traffic", "from a sign"],
)
def test_to_whom_the_car_gives_way_drives_on_before_a_car_in_the_junction(
    signs: dict[str, tuple[str, str]], way: tuple[str, str], waits: bool, tmp_path: Path
) -> None:
    road_map = crossroads(tmp_path, signs=signs)
    held = [
        number for lane, number in lane_index(road_map).number.items()
        if road_map.lanes[lane].junction is not None
        and (road_map.lanes[lane].predecessors[0].road, road_map.lanes[lane].successors[0].road) == way
    ]  # fmt: skip
    assert len(held) == 1
    _, obstacles = Watch(road_map).see(table(row(1, 1.75, -40.0, NORTH, 8.0)), held=tuple(held))
    assert bool(obstacles.y[:, -1].max() < 5.0) is waits, "straight on"


def test_a_stop_sign_stops_others_until_they_have_stopped(tmp_path: Path) -> None:
    road_map = crossroads(tmp_path, "sign", {"S": STOP_SIGN})
    _, obstacles = Watch(road_map).see(table(row(1, 1.75, -40.0, NORTH, 8.0)))
    assert np.all(obstacles.y[:, -1] <= -HALF_M - 1.0 - 2.25 + 0.1)
    _, obstacles = Watch(road_map).see(table(row(1, 1.75, -16.0, NORTH, 1.5)))
    assert obstacles.y.max() > -10.0


def test_walkers_keep_their_velocity_and_always_count_as_moving(cross: RoadMap) -> None:
    rows = table(walker(1, 30.0, -6.0, 0.0, 1.2), walker(2, 40.0, -1.75))
    traffic, obstacles = Watch(cross).see(rows)
    np.testing.assert_allclose(obstacles.y[0], -6.0 + 1.2 * TIMES, atol=1e-5)
    np.testing.assert_allclose(obstacles.x[0], 30.0)
    assert obstacles.moving.tolist() == [True, True] and len(traffic.chain) == 0


def test_off_the_lanes_a_turn_is_carried_on(cross: RoadMap) -> None:
    watch = Watch(cross)
    for k in range(40):
        angle = 0.05 * k
        _, obstacles = watch.see(table(row(1, 60.0 + math.sin(angle), 40.0, angle, 5.0)), 0.1 * k)
    turned = obstacles.heading[0, -1] - obstacles.heading[0, 0]
    assert 0.5 < turned < 1.2
    _, obstacles = Watch(cross).see(table(row(1, 60.0, 40.0, 0.0, 5.0)))
    np.testing.assert_allclose(obstacles.x[0], 60.0 + 5.0 * TIMES, atol=1e-5)


def test_one_against_the_direction_of_its_lane_is_not_put_on_it(cross: RoadMap) -> None:
    traffic, obstacles = Watch(cross).see(table(row(1, 60.0, -1.75, WEST, 5.0), row(2, 60.0, -1.75, NORTH, 5.0)))
    assert len(traffic.chain) == 0 and len(obstacles) == 2
    reversing = table((1, int(Kind.CAR), 3, 60.0, -1.75, EAST, -2.0, 0.0, 4.5, 1.9, 1.0))
    _, obstacles = Watch(cross).see(reversing)
    np.testing.assert_allclose(obstacles.x[0], 60.0 - 2.0 * TIMES, atol=1e-5)
    np.testing.assert_allclose(obstacles.heading[0], 0.0, atol=1e-6)


def test_tracks_forget_after_a_while_and_keep_the_lost_ones_before(cross: RoadMap) -> None:
    watch = Watch(cross)
    watch.see(table(row(5, 30.0, -1.75, EAST, 4.0), row(2, 50.0, -1.75)), 0.0)
    watch.see(table(row(2, 50.0, -1.75)), 2.0)
    assert watch.tracks.id.tolist() == [2, 5]
    watch.see(table(row(2, 50.0, -1.75)), 3.1)
    assert watch.tracks.id.tolist() == [2]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(-140, 140), st.floats(-140, 140), st.floats(-4, 4), st.floats(-3, 20),
            st.sampled_from(list(Kind)), st.floats(0.1, 15.0),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_whatever_stands_where_predictions_are_finite_and_no_faster_than_the_object(
    cross: RoadMap, items: list[tuple[float, float, float, float, Kind, float]]
) -> None:
    rows = table(*(row(i, x, y, h, v, kind, length) for i, (x, y, h, v, kind, length) in enumerate(items)))
    traffic, obstacles = Watch(cross).see(rows)
    assert sorted(set(obstacles.id.tolist())) == list(range(len(items)))
    for column in (obstacles.x, obstacles.y, obstacles.heading):
        assert column.shape == (len(obstacles), PREDICTION_STEPS) and np.isfinite(column).all()
    step = np.hypot(np.diff(obstacles.x), np.diff(obstacles.y))
    assert np.all(step <= obstacles.speed[:, None] * PREDICTION_STEP_S * 1.3 + 0.05)
    assert np.all(np.diff(traffic.obstacle_row) >= 0)


def test_what_is_predicted_has_the_columns_of_the_scene_in_their_order() -> None:
    assert PredictionArrays._fields == tuple(column.name for column in fields(Obstacles))


def test_where_there_are_no_objects_every_column_is_empty(cross: RoadMap) -> None:
    nothing, (seen, _) = no_traffic(), Watch(cross).see(table())
    for column in fields(PredictedLanes):
        assert getattr(nothing, column.name).shape == getattr(seen, column.name).shape, column.name
        assert getattr(nothing, column.name).dtype == getattr(seen, column.name).dtype, column.name
    assert len(nothing) == 0 and not nothing.waits(1) and nothing.x.shape == (0,)
