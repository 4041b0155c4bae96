"""Passing before an object or yielding to it, by where it is on the path at each time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS, Obstacles
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.obstacles.boxes import CarOnLines, ObstacleColumns
from tuling_fsm.planning.obstacles.moving import MovingObstacleGaps, gather_moving_obstacles
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import AT_ONCE, PATH, PLACES, FrenetPath
from tuling_fsm.planning.paths.reference_line import COLUMNS, COS
from tuling_fsm.planning.speed import yielding as yi
from tuling_fsm.planning.speed.roll_out import StBoundaries, no_traffic

TIMES = PREDICTION_STEP_S * np.arange(PREDICTION_STEPS)
ROWS = round(7.0 / STEP_S) + 1

pytestmark = pytest.mark.clause("INT-7")


def spans(first: int, last: int, near: float, far: float, v: float = 0.0) -> FloatArray:
    """On the path from one prediction step to another, between two arc lengths (m) that move with `v`."""
    rows = np.full((PREDICTION_STEPS, 3), np.inf)
    moved = v * (TIMES[first : last + 1] - TIMES[first])
    rows[first : last + 1, 0], rows[first : last + 1, 1] = near + moved, far + moved
    rows[first : last + 1, 2] = 0.0
    return rows


def free(v: float, a: float = 0.0) -> FloatArray:
    t = STEP_S * np.arange(ROWS)
    return np.column_stack((v * t + 0.5 * a * t * t, v + a * t, np.full(ROWS, a)))


def test_where_and_when_an_object_is_first_on_the_path() -> None:
    rows = spans(5, 9, 20.0, 24.0, -1.0)
    assert yi._first_inside(rows) == 5
    assert yi._nearest(rows) == pytest.approx(20.0 - 4.0 * PREDICTION_STEP_S)
    assert yi._nearest(np.full((3, 3), np.inf)) == math.inf


@pytest.mark.clause("SIM-2")
@pytest.mark.parametrize("beyond", [0.0, 1e6, -1e6, math.nan])
def test_the_course_to_a_line_does_not_hang_on_what_lies_beyond_its_points(beyond: float) -> None:
    """Rows of a line that are not filled hold whatever was there before."""
    line = np.full((4, COLUMNS), beyond)
    line[:2] = 0.0
    line[:2, COS] = 1.0
    path = FrenetPath(np.zeros((2, PATH)), 2, 0, line, 0, np.zeros((PLACES, 2 + AT_ONCE)))
    box = np.tile([0.0, 0.0, 0.8, 0.6, 2.0, 1.0], (1, 2, 1))
    around = ObstacleColumns.of(Obstacles())
    car = CarOnLines(line[None, :2], np.array([2]), np.zeros(1), (0.0, 0.0, 0.0, 0.0), 0.0, Footprint.of(Vehicle()))
    none = gather_moving_obstacles(around, MovingObstacleGaps(0.3, 0.6, 1.5), 10.0, car)
    moving = none._replace(box=box, node=np.array([[[1, -1]]]))
    assert yi._course(path, moving, 0, 0) == pytest.approx(0.8)
    assert yi._course(path, moving, 0, 1) == 0.0


@pytest.mark.parametrize("lead", [0.0, 0.5, 1.5])
def test_a_car_passes_before_what_crosses_if_it_is_past_that_long_before(lead: float) -> None:
    """It is past 24 m so many seconds before the other is there, in step 12."""
    there = TIMES[12] - lead
    for spare, passes in ((0.1, True), (-0.1, False)):
        rows = free((24.0 + spare) / there)
        assert bool(yi._passes_first(spans(12, 20, 20.0, 24.0), rows, lead, 0.3, 0.0, False)) is passes
        assert bool(yi._passes_first(spans(12, 12, 20.0, 24.0), rows, lead, 0.3, 0.0, False)) is passes
    late = spans(12, 20, 20.0, 24.0)
    late[20, 1] = 90.0
    assert not yi._passes_first(late, free(30.0 / there), lead, 0.3, 0.0, False), "it spreads later"
    assert not yi._passes_first(spans(0, 3, 5.0, 9.0), free(10.0), lead, 0.3, 0.0, False), "it is there already"


@pytest.mark.parametrize("ease", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("v_other", [5.0, 9.0])
def test_a_vehicle_that_goes_the_same_way_is_left_its_room(ease: float, v_other: float) -> None:
    """2 m, 0.6 s of its speed, and what it is faster by in the time to spare."""
    room = ease * (2.0 + 0.6 * v_other + max(0.0, v_other - 7.0) * 1.5)
    for spare, passes in ((0.1, True), (-0.1, False)):
        rows = free(7.0)
        rows[:, 0] += 24.0 + room + spare - rows[round(TIMES[12] / STEP_S), 0]
        assert bool(yi._passes_first(spans(12, 12, 20.0, 24.0), rows, 1.5, ease, v_other, False)) is passes


def test_what_comes_up_from_behind_to_a_car_that_stands_by_then_is_none_of_its_business() -> None:
    """A walker along the kerb comes to the bay in which the car has stopped before it."""
    t = STEP_S * np.arange(ROWS)
    v = np.maximum(0.0, 4.0 - 1.6 * t)
    stops = np.column_stack((np.concatenate(([0.0], np.cumsum(0.5 * STEP_S * (v[1:] + v[:-1])))), v, np.zeros(ROWS)))
    stands, end = round(2.5 / PREDICTION_STEP_S) + 1, stops[-1, 0]
    for first, passes in ((stands, True), (stands - 4, False)):
        walker = spans(first, PREDICTION_STEPS - 1, end - 3.0, end - 1.0, 1.4)
        assert yi._passes_first(walker, stops, 1.2, 1.0, 1.4, False) == passes
    for walks, seconds, passes in ((False, 3.9, False), (True, 3.9, True), (True, 3.3, False)):
        first = round(seconds / PREDICTION_STEP_S)
        across = spans(first, first + 9, end - 3.0, end + 1.0)
        assert yi._passes_first(across, stops, 1.2, 1.0, 0.0, walks) == passes, "a person goes round what has stood"


def entered(rows: FloatArray, top: float, alongside: bool, traffic: StBoundaries | None = None) -> StBoundaries:
    traffic = traffic or no_traffic()
    yi._follow(rows, 7, top, alongside, traffic)
    return traffic


def test_what_goes_along_is_a_leader_from_when_it_is_on_the_path() -> None:
    told = entered(spans(6, 20, 30.0, 34.0, 4.0), 9.0, False)
    np.testing.assert_allclose(told.leader_s[6:21], 30.0 + 4.0 * (TIMES[6:21] - TIMES[6]))
    np.testing.assert_allclose(told.leader_v[6:21], 4.0)
    assert np.all(told.leader_id[6:21] == 7) and np.all(np.isinf(told.leader_s[21:]))
    assert np.all(np.isinf(told.leader_s[:6])), "before it is there, there is a wall where it comes in"
    np.testing.assert_allclose(told.wall_s[:6], 30.0 - 0.5)
    assert np.all(told.wall_id[:6] == 7) and np.all(np.isinf(told.wall_s[6:]))
    assert np.all(entered(spans(6, 20, 30.0, 34.0, 4.0), 3.0, False).leader_v[6:21] == 3.0), "no faster than it can be"
    assert np.all(entered(spans(6, 20, 30.0, 34.0, -2.0), 3.0, False).leader_v[6:21] == 0.0)
    back = entered(spans(6, 20, 30.0, 34.0, -2.0), 3.0, False).wall_s[0]
    assert back == pytest.approx(30.0 - 2.0 * 4 * PREDICTION_STEP_S - 0.5), "the nearest of its first second"


def test_a_leader_that_leaves_the_path_goes_on_at_its_speed_to_the_last() -> None:
    """Taken to stand there, it would be braked for hard."""
    told = entered(spans(0, 3, 12.0, 16.0, 8.0), 9.0, False)
    np.testing.assert_allclose(told.leader_v[:4], 8.0)
    gone = spans(0, 6, 12.0, 16.0, 8.0)
    gone[3] = np.inf
    np.testing.assert_allclose(entered(gone, 9.0, False).leader_v[[0, 1, 2, 4, 5, 6]], 8.0)


def test_what_comes_in_from_beside_is_followed_before_it_is_there() -> None:
    told = entered(spans(6, 20, 30.0, 34.0, 4.0), 9.0, True)
    np.testing.assert_allclose(told.leader_s[:6], 30.0 - 4.0 * (TIMES[6] - TIMES[:6]))
    np.testing.assert_allclose(told.leader_v[:6], 4.0)
    assert np.all(told.leader_id[:6] == 7) and np.all(np.isinf(told.wall_s))
    behind = entered(spans(6, 20, 5.5, 9.0, 4.0), 9.0, True)
    assert 5.5 - 4.0 * TIMES[6] < 1.0
    assert np.all(np.isinf(behind.leader_s[:6])) and np.all(behind.wall_s[:6] == 5.0), "it is not ahead now"


def test_of_several_leaders_the_nearest_counts_at_each_time() -> None:
    traffic = entered(spans(0, 20, 25.0, 29.0, 1.0), 9.0, False)
    traffic.leader_id[:21] = 3
    yi._follow(spans(0, 20, 20.0, 24.0, 5.0), 8, 9.0, False, traffic)
    nearer = 20.0 + 5.0 * TIMES[:21] < 25.0 + 1.0 * TIMES[:21]
    assert np.all((traffic.leader_id[:21] == 8) == nearer)
    np.testing.assert_allclose(traffic.leader_s[:21], np.minimum(20.0 + 5.0 * TIMES[:21], 25.0 + TIMES[:21]))
    before = entered(spans(6, 20, 30.0, 34.0, 4.0), 9.0, True)
    held = before.leader_s[:6].copy()
    yi._follow(spans(6, 20, 40.0, 44.0, 4.0), 8, 9.0, True, before)
    np.testing.assert_allclose(before.leader_s[:6], held)
    yi._follow(spans(6, 20, 50.0, 54.0, 4.0), 8, 9.0, False, before)
    yi._follow(spans(6, 20, 60.0, 64.0, 4.0), 9, 9.0, False, before)
    assert np.all(before.wall_id[:6] == 8)


def test_before_all_that_crosses_there_is_a_wall_until_it_has_left() -> None:
    traffic, rows = no_traffic(), spans(4, 11, 20.0, 24.0, 0.5)
    yi._stop_for(rows, 7, 1.5, traffic)
    assert np.all(traffic.wall_s[:12] == 18.5) and np.all(traffic.wall_id[:12] == 7)
    assert np.all(np.isinf(traffic.wall_s[12:])) and np.all(np.isinf(traffic.leader_s))
    yi._stop_for(spans(2, 14, 30.0, 34.0), 8, 1.5, traffic)
    assert np.all(traffic.wall_id[:12] == 7) and np.all(traffic.wall_s[12:15] == 28.5)
    yi._stop_for(spans(0, 1, 10.0, 14.0), 9, 1.0, traffic)
    assert np.all(traffic.wall_s[:2] == 9.0) and np.all(traffic.wall_s[2:12] == 18.5)
