"""Contacts at the ends of motions, of predictions and of reach; nothing that is met is told as nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.safety.collision import BoxTracks, bounds_of, first_segment_met, meetings
from tuling_fsm.planning.safety.recovery import PathError, Recovery, decay_error, move_path, path_error

from .test_collision import CAR

pytestmark = pytest.mark.clause("SAF-2")

STEP_S = 0.25


def along(turn: float, rows: int = 21, step: float = 0.5) -> FloatArray:
    """Poses of a straight motion from 60, -35."""
    s = step * np.arange(rows)
    return np.column_stack((60.0 + s * math.cos(turn), -35.0 + s * math.sin(turn), np.full(rows, turn)))


def at(turn: float, ahead: float, left: float) -> tuple[float, float]:
    return 60.0 + ahead * math.cos(turn) - left * math.sin(turn), -35.0 + ahead * math.sin(turn) + left * math.cos(turn)


@pytest.mark.parametrize("turn", [0.0, 1.2, 2.5, -2.0])
def test_a_segment_is_met_by_the_row_that_reaches_it_and_else_by_none(turn: float) -> None:
    poses = along(turn)
    for row in (1, 7, 20):
        ahead = 0.5 * row + CAR.front - 0.02
        segment = (*at(turn, ahead, -0.1), *at(turn, ahead, 0.1))
        beside = (*at(turn, 3.0, 1.2), *at(turn, 9.0, 1.2))
        later = (*at(turn, ahead + 0.5, -3.0), *at(turn, ahead + 0.5, 3.0))
        assert first_segment_met(poses, np.array((segment,)), CAR) == (row, 0)
        assert first_segment_met(poses, np.array((beside, later, segment)), CAR) == (row, 2)
        assert first_segment_met(poses, np.array((segment, later, beside)), CAR) == (row, 0)
    beyond = 10.0 + CAR.front + 0.05
    for none in ((*at(turn, beyond, -3.0), *at(turn, beyond, 3.0)), (*at(turn, 3.0, 1.2), *at(turn, 9.0, 1.2))):
        assert first_segment_met(poses, np.array((none,)), CAR) == (-1, -1)
    assert first_segment_met(poses, np.zeros((0, 4)), CAR) == (-1, -1)


@pytest.mark.parametrize("turn", [0.0, 1.2, -2.0])
@pytest.mark.parametrize(("depth", "row"), [(0.1, 1), (0.29, 1), (0.31, 1), (0.89, 1), (0.91, -1)])
def test_what_is_touched_first_counts_when_the_smaller_outline_comes_to_it(turn: float, depth: float, row: int) -> None:
    """However deep it is in the car at the start, up to half its width: it may be left, not driven into."""
    ahead = CAR.front - depth
    segment = np.array([(*at(turn, ahead, -2.0), *at(turn, ahead, 2.0))])
    assert first_segment_met(along(turn), segment, CAR) == (row, 0 if row > 0 else -1)
    other = np.array([(*at(turn, CAR.front + 0.4, -2.0), *at(turn, CAR.front + 0.4, 2.0))])
    for both in (np.concatenate((segment, other)), np.concatenate((other, segment))):
        found, which = first_segment_met(along(turn), both, CAR)
        assert found == 1 and (which == 0 or np.array_equal(both[which], segment[0]) or row < 0)
    backwards = along(turn, step=-0.5)
    assert first_segment_met(backwards, segment, CAR) == (-1, -1), "it may be left"


def tracks(x: FloatArray, y: FloatArray, heading: float = 0.0, side: float = 1.0) -> BoxTracks:
    n = len(x)
    return BoxTracks(x, y, np.full(x.shape, heading), np.full(n, side), np.full(n, side))


def met_by(poses: FloatArray, t: FloatArray, boxes: BoxTracks, until: float = math.inf, reach: float = 1e3) -> IntArray:
    met = np.empty(len(boxes.x), np.int64)
    assert meetings(poses, t, boxes, np.full(len(boxes.x), reach), STEP_S, until, CAR, met) == np.sum(met >= 0)
    return met


def test_a_box_stays_at_its_last_place_and_is_between_two_places_in_between() -> None:
    """A car that stands; the box comes up to it in the last step, and its front is at the bumper at some time."""
    t = 0.05 * np.arange(100)
    poses = np.zeros((100, 3))
    for times in (5, 9):
        x = np.full((1, times), CAR.front + 3.5)
        x[0, -1] = CAR.front - 1.0
        ahead = np.interp(t, STEP_S * np.arange(times), x[0])
        expected = int(np.argmax(ahead - 0.5 < CAR.front))
        assert STEP_S * (times - 2) < t[expected] < STEP_S * (times - 1)
        for y in (0.0, 0.6):
            assert met_by(poses, t, tracks(x, np.full((1, times), y)))[0] == expected
        assert met_by(poses, t, tracks(x, np.zeros((1, times))), until=float(t[expected]) - 0.01)[0] == -1
        assert met_by(poses, t, tracks(x, np.zeros((1, times))), until=float(t[expected]) + 0.01)[0] == expected
    gone = np.full((1, 5), CAR.front + 30.0)
    stays = np.tile(poses, (1, 1))
    stays[60:, 0] = np.linspace(0.0, 40.0, 40)
    gone[0, -1] = CAR.front + 8.0
    row = met_by(stays, t, tracks(gone, np.zeros((1, 5))))[0]
    assert row == int(np.argmax(stays[:, 0] > 7.5)), "met long after the predictions"


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_each_box_is_met_by_its_own_row_of_the_motion(side: float) -> None:
    t, poses = 0.1 * np.arange(21), along(0.0)
    x = np.array([[at(0.0, CAR.front + 0.5 * row + 0.49, 0.0)[0]] * 9 for row in (4, 9, 40, 15)])
    y = np.full(x.shape, -35.0 + 0.3 * side)
    np.testing.assert_array_equal(met_by(poses, t, tracks(x, y)), (4, 9, -1, 15))
    np.testing.assert_array_equal(met_by(poses, t, tracks(x[::-1].copy(), y)), (15, -1, 9, 4))
    np.testing.assert_array_equal(met_by(poses, t, tracks(x, y + side * 1.5)), (-1, -1, -1, -1))


def test_the_bounds_of_one_pose_are_that_pose() -> None:
    assert bounds_of(np.array([(3.0, -4.0, 1.0)])) == (3.0, 3.0, -4.0, -4.0)
    assert bounds_of(np.array([(3.0, -4.0, 9.0), (5.0, -6.0, -9.0)])) == (3.0, 5.0, -6.0, -4.0)


@pytest.mark.parametrize("turn", [0.0, 1.2, 3.0, -2.0])
def test_the_error_of_a_car_is_seen_in_the_frame_of_its_path(turn: float) -> None:
    path = Pose(60.0, -35.0, turn)
    x, y = at(turn, 0.4, -0.7)
    off = path_error(path, Pose(x, y, wrap_angle(turn + 0.2)))
    assert off == pytest.approx((0.4, -0.7, 0.2))


@pytest.mark.parametrize(("step", "left"), [(0.5, 0.3 * (1.0 - 0.5 / 3.0)), (3.0, 0.0), (9.0, 0.0)])
def test_what_a_car_is_ahead_of_its_place_decays_over_the_length_and_no_farther(step: float, left: float) -> None:
    back = Recovery(2.0, 0.5, 0.2)
    for v in (2.0, -2.0):
        assert decay_error(PathError(0.3, 0.0, 0.0), 0.0, v, step, back).along == pytest.approx(left)


@pytest.mark.parametrize("points", [2, 3, 40])
def test_a_path_that_is_moved_begins_at_the_car_and_each_step_of_it_counts(points: int) -> None:
    """A straight one: the car comes back to it as fast over few long steps as over its length."""
    turn, path = 0.9, new_path(points)
    s = np.linspace(0.0, 4.0, points) + 0.1 * np.sin(np.arange(points))
    s -= s[0]
    path[:, PS], path[:, PHEADING], path[:, PKAPPA] = s, turn, 0.0
    path[:, PX], path[:, PY] = 60.0 + s * math.cos(turn), -35.0 + s * math.sin(turn)
    path[:, PCOS], path[:, PSIN] = math.cos(turn), math.sin(turn)
    car, back = Pose(*at(turn, 0.3, 0.0), turn), Recovery(6.0, 0.0, 0.2)
    move_path(path, np.full(points, 1.0), car, back)
    assert tuple(path[0, [PX, PY, PHEADING]]) == pytest.approx(car)
    ahead = (path[:, PX] - 60.0) * math.cos(turn) + (path[:, PY] + 35.0) * math.sin(turn) - s
    left = 0.3 * np.concatenate(([1.0], np.cumprod(1.0 - np.diff(s) / 6.0)))
    np.testing.assert_allclose(ahead, left, atol=1e-9)
