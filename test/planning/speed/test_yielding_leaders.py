"""Which leader is followed, which is left out and how near any comes, among several and on tracks that are no lines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS, Scene
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.maneuvers.section import surroundings_of
from tuling_fsm.planning.obstacles.moving import MovingObstacles
from tuling_fsm.planning.obstacles.occupancy import (
    ConflictBuffers,
    SweptBand,
    SweptPath,
    new_conflicts,
    point_spacing,
    swept_band,
)
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.speed import yielding as yi
from tuling_fsm.planning.speed.roll_out import StBoundaries, no_traffic

from ..lane_drives import VEHICLE
from ..scenes import Thing, scene
from .test_yielding_among import DERIVED, FAR, ROWS, Case, car_ahead, crossing, gap_of
from .test_yielding_rules import TIMES, entered, spans

pytestmark = pytest.mark.clause("INT-7")


@pytest.mark.parametrize("seed", range(4))
def test_the_speed_of_a_leader_is_the_slope_of_its_places(seed: int) -> None:
    """As steep as from the place before to the place after, wherever it is on the path at both."""
    draw = np.random.default_rng(seed)
    there = spans(0, PREDICTION_STEPS - 1, 30.0, 34.0)
    there[:, 0] += np.cumsum(draw.uniform(0.0, 2.0, PREDICTION_STEPS))
    told = entered(there, 50.0, False)
    np.testing.assert_allclose(told.leader_s, there[:, 0])
    np.testing.assert_allclose(told.leader_v[1:-1], (there[2:, 0] - there[:-2, 0]) / (2.0 * PREDICTION_STEP_S))
    ends = np.diff(there[:, 0])[[0, -1]] / PREDICTION_STEP_S
    np.testing.assert_allclose(told.leader_v[[0, -1]], ends)
    alone = spans(7, 7, 30.0, 34.0)
    assert entered(alone, 50.0, False).leader_v[7] == 0.0


@pytest.mark.parametrize(("ahead", "leads"), [(1.1, True), (0.9, False)])
def test_one_that_comes_in_from_beside_is_followed_from_now_on_if_it_is_a_metre_ahead(
    ahead: float, leads: bool
) -> None:
    near = ahead + 4.0 * float(TIMES[6])
    told = entered(spans(6, 20, near, near + 4.0, 4.0), 9.0, True)
    assert bool(np.isfinite(told.leader_s[:6]).all()) is leads
    assert bool(np.all(told.wall_s[:6] == near - 0.5)) is not leads


@pytest.mark.parametrize(("step", "seen"), [(4, True), (5, False)])
def test_where_one_comes_in_the_wall_is_before_its_nearest_place_of_the_first_second(step: int, seen: bool) -> None:
    there = spans(6, 20, 30.0, 34.0, 1.0)
    there[6 + step, 0] = 22.0
    assert entered(there, 9.0, False).wall_s[0] == (21.5 if seen else 29.5)


def test_one_that_comes_in_beyond_another_is_followed_from_now_on_at_the_speed_that_it_has_there() -> None:
    """And is no wall where somebody nearer is followed already."""
    traffic = entered(spans(6, 20, 20.0, 24.0, 4.0), 9.0, False)
    traffic.wall_s[:] = np.inf
    yi._follow(spans(6, 20, 30.0, 34.0, 2.0), 8, 9.0, True, traffic)
    np.testing.assert_allclose(traffic.leader_s[:6], 30.0 - 2.0 * (TIMES[6] - TIMES[:6]))
    np.testing.assert_allclose(traffic.leader_v[:6], 2.0)
    np.testing.assert_allclose(traffic.leader_s[6:21], 20.0 + 4.0 * (TIMES[6:21] - TIMES[6]))
    assert np.all(traffic.leader_id[:6] == 8) and np.all(traffic.leader_id[6:21] == 7)
    led = no_traffic()
    led.leader_s[:], led.leader_id[:] = 10.0, 3
    yi._follow(spans(6, 20, 30.0, 34.0, 2.0), 8, 9.0, True, led)
    assert np.all(np.isinf(led.wall_s)) and np.all(led.leader_id == 3)


def test_one_that_gets_faster_once_it_is_there_comes_at_the_speed_that_it_comes_in_with() -> None:
    there = spans(6, 20, 30.0, 34.0)
    there[6:21, 0] += np.cumsum(np.linspace(0.4, 2.0, 15)) - 0.4
    told = entered(there, 50.0, True)
    v = (there[7, 0] - there[6, 0]) / PREDICTION_STEP_S
    np.testing.assert_allclose(told.leader_s[:6], 30.0 - v * (TIMES[6] - TIMES[:6]))
    np.testing.assert_allclose(told.leader_v[:6], v)


class Tracks:
    """Things on a path of 80 m along x from x = 20, each predicted to be where its own track says."""

    def __init__(self, *tracks: tuple[Thing, FloatArray, FloatArray], sidestep: float = 0.0) -> None:
        path = new_path(161)
        path[:, PS] = 0.5 * np.arange(161)
        path[:, PX], path[:, PCOS] = 20.0 + path[:, PS], 1.0
        now = scene(20.0, v=5.0, things=tuple(thing for thing, _, _ in tracks))
        for i, (_, x, y) in enumerate(tracks):
            now.obstacles.x[i], now.obstacles.y[i] = x, y
        self.now: Scene = now
        frenet, around = surroundings_of(path, now, DERIVED.body, DERIVED)
        swept = SweptPath(frenet, DERIVED.body, SweptBand(*swept_band(frenet)), point_spacing(frenet), sidestep)
        self.moving: MovingObstacles = around.moving
        self.traffic: StBoundaries = no_traffic()
        self.conflicts: ConflictBuffers = new_conflicts(max(1, len(self.moving.id)))
        self.leaders, self.more = yi.follow_leaders(swept, self.moving, FAR, self.traffic, self.conflicts)


def ahead(gap: float, v: float) -> float:
    """Middle of a car whose rear bumper is so far before the front bumper."""
    return 20.0 + VEHICLE.front + gap + 2.25 + 0.0 * v


def test_a_leader_is_taken_for_no_faster_than_it_may_get() -> None:
    """It is measured at 1 m/s, and predicted to shoot off with 6."""
    x = ahead(12.0, 1.0) + 6.0 * TIMES
    told = Tracks((Thing(3, float(x[0]), 0.0, 0.0, 1.0), x, np.zeros(PREDICTION_STEPS)))
    assert (told.leaders, told.more) == (1, 0)
    np.testing.assert_allclose(told.traffic.leader_v, 2.5)
    np.testing.assert_allclose(told.traffic.leader_s, 12.0 + 6.0 * TIMES, atol=0.35)


def test_one_that_brakes_and_one_that_is_overtaken_by_it_are_each_followed_while_they_are_the_nearest() -> None:
    brakes = ahead(20.0, 6.0) + 6.0 * TIMES - 0.5 * np.minimum(TIMES, 6.0) ** 2
    slow = ahead(26.0, 2.0) + 2.0 * TIMES
    zero = np.zeros(PREDICTION_STEPS)
    told = Tracks((Thing(4, float(slow[0]), 0.0, 0.0, 2.0), slow, zero),
                  (Thing(3, float(brakes[0]), 0.0, 0.0, 6.0), brakes, zero))  # fmt: skip
    assert told.leaders == 2
    names = [told.now.obstacles.id[int(told.moving.id[int(row)])] for row in told.traffic.leader_id]
    assert names == [3 if first else 4 for first in brakes <= slow]
    np.testing.assert_allclose(told.traffic.leader_s, np.minimum(brakes, slow) - ahead(0.0, 0.0), atol=0.35)


@pytest.mark.parametrize(("gap", "leads"), [(0.4, True), (-0.4, False)])
def test_one_that_the_car_touches_is_no_leader_but_in_the_way(gap: float, leads: bool) -> None:
    """Beside its front corner, going the same way."""
    case = Case(Thing(3, ahead(gap, 5.0), 0.3, 0.0, 5.0))
    assert (case.leaders, case.more) == ((1, 0) if leads else (0, 1))


def test_one_that_is_on_the_path_only_now_is_a_conflict_all_the_same() -> None:
    """It leaves to the left within the first step."""
    y = 0.5 * VEHICLE.width + 1.0 + 40.0 * TIMES
    leaves = Tracks((Thing(3, 40.0, float(y[0]), 0.5 * math.pi, 9.0), np.full(PREDICTION_STEPS, 40.0), y))
    assert (leaves.leaders, leaves.more) == (0, 1)
    assert np.isfinite(leaves.conflicts.spans[0, 0, 0]) and np.all(np.isinf(leaves.conflicts.spans[0, 1:, 0]))


def test_one_that_drives_along_so_far_aside_that_it_is_never_touched_is_nothing() -> None:
    aside = 0.5 * VEHICLE.width + 0.95 + 0.4
    for y, more in ((aside, 0), (aside - 0.2, 1)):
        case = Case(Thing(3, ahead(2.0, 5.0), y, math.pi, 2.0), Thing(5, 45.0, -30.0, 0.5 * math.pi, 1.0))
        assert (case.leaders, case.more) == (0, more)


def test_every_conflict_has_its_own_row_and_spans() -> None:
    one, two = crossing(14.0, 1.0), Thing(9, 50.0, -9.0, 0.5 * math.pi, 4.0)
    both = Case(car_ahead(20.0, 4.0), one, two)
    assert (both.leaders, both.more) == (1, 2)
    names = [both.named(row) for row in both.conflicts.rows[:2]]
    assert sorted(names) == [7, 9]
    for m, name in enumerate(names):
        alone = Case(one if name == 7 else two)
        assert alone.more == 1
        np.testing.assert_allclose(both.conflicts.spans[m, :, :2], alone.conflicts.spans[0, :, :2])


@pytest.mark.parametrize("sidestep", [0.0, 0.79, 0.81])
def test_one_that_comes_from_behind_in_the_lane_is_no_matter_and_one_that_is_beside_only_for_a_car_that_goes_aside(
    sidestep: float,
) -> None:
    behind = Thing(3, 20.0 - VEHICLE.rear_overhang - 6.0, 0.0, 0.0, 9.0)
    assert Case(behind, sidestep=sidestep).more == 0
    beside = Thing(4, 14.0, 3.4, -0.15, 9.0)
    case = Case(beside, sidestep=sidestep)
    assert case.leaders == 0 and case.more == (1 if sidestep > 0.8 else 0)


def winding(turn: float, spread: float, seed: int) -> FloatArray:
    """A path of 40 m with unevenly spaced points that sets out at an angle and bends to the left, then to the right."""
    draw = np.random.default_rng(seed)
    s = np.concatenate(([0.0], np.cumsum(draw.uniform(0.5 * spread, spread, round(40.0 / (0.75 * spread))))))
    kappa = 0.06 * np.sin(s / 6.0)
    heading = turn + 0.06 * 6.0 * (1.0 - np.cos(s / 6.0))
    fine = np.arange(0.0, s[-1] + 0.01, 0.01)
    along = turn + 0.06 * 6.0 * (1.0 - np.cos(fine / 6.0))
    path = new_path(len(s))
    path[:, PS], path[:, PKAPPA], path[:, PHEADING] = s, kappa, heading
    path[:, PX] = 7.0 + np.interp(s, fine, np.cumsum(0.01 * np.cos(along)) - 0.01 * np.cos(turn))
    path[:, PY] = -3.0 + np.interp(s, fine, np.cumsum(0.01 * np.sin(along)) - 0.01 * np.sin(turn))
    path[:, PCOS], path[:, PSIN] = np.cos(heading), np.sin(heading)
    return path


def motion_of(v: FloatArray) -> FloatArray:
    s = np.concatenate(([0.0], np.cumsum(0.5 * STEP_S * (v[1:] + v[:-1]))))
    return np.column_stack((s, v, np.zeros(len(v))))


ACCEPTED = yi.GapAcceptance(1.2, 1.0, 0.0, False, 10.0, 3.0, DERIVED.drive.rss)


def least_gap(
    path: FloatArray, things: tuple[Thing, ...], rows: FloatArray, wanted: float, sidestep: float = math.inf
) -> tuple[float, int]:
    """The gap, and the number of the thing."""
    now = scene(float(path[0, PX]), float(path[0, PY]), float(path[0, PHEADING]), v=5.0, things=things)
    frenet, around = surroundings_of(path, now, DERIVED.body, DERIVED)
    swept = SweptPath(frenet, DERIVED.body, SweptBand(*swept_band(frenet)), point_spacing(frenet), sidestep)
    # What is left in the scratch from before are places of the last thing.
    poses = np.tile((things[-1].x, things[-1].y, 1.0, 0.0), (PREDICTION_STEPS, 1))
    gap, row = yi.least_gap(swept, around.moving, rows, wanted, ACCEPTED, poses)
    return float(gap), yi.NONE if row == yi.NONE else things[int(around.moving.id[row])].number


@pytest.mark.parametrize("turn", [0.0, 1.2, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_least_gap_along_a_winding_path_is_that_of_polygons(seed: int, turn: float) -> None:
    draw, path, v = np.random.default_rng(seed), winding(turn, 0.3, seed), float(4.0 + seed)
    rows, wanted = motion_of(np.full(ROWS, v)), 2.5
    things = []
    for number in range(3):
        at = int(np.searchsorted(path[:, PS], draw.uniform(4.0, 30.0)))
        heading, side = path[at, PHEADING] + draw.uniform(-0.5, 0.5), draw.choice((-1.0, 1.0)) * draw.uniform(2.5, 5.0)
        x, y = path[at, PX] - side * path[at, PSIN], path[at, PY] + side * path[at, PCOS]
        things.append(Thing(number + 3, float(x), float(y), float(heading), 2.0, length=float(draw.uniform(1.0, 9.0))))
    gaps = {}
    for thing in things:
        each = []
        for t in TIMES[:21]:
            s = v * t
            x, y, heading = (float(np.interp(s, path[:, PS], path[:, column])) for column in (PX, PY, PHEADING))
            each.append(gap_of(thing, (x, y, heading), float(t)))
        gaps[thing.number] = min(each)
    least, name = least_gap(path, tuple(things), rows, wanted)
    expected = min(gaps.values())
    if expected == 0.0:
        assert least < 0.0 and gaps[name] == 0.0
    else:
        # What separates rectangles is never more than their distance, and less where corners are the nearest.
        assert 0.55 * min(expected, wanted) - 0.1 <= least <= min(expected, wanted) + 0.1


@pytest.mark.parametrize("turn", [0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi])
@pytest.mark.parametrize("length", [1.0, 12.0])
def test_one_that_drives_straight_ahead_at_the_same_speed_stays_as_near_as_it_is(turn: float, length: float) -> None:
    """Whatever the direction, its gap along the path is told, up to what is wanted."""
    path = winding(turn, 0.4, 1)
    path[:, PX], path[:, PY] = 7.0 + path[:, PS] * math.cos(turn), -3.0 + path[:, PS] * math.sin(turn)
    path[:, PCOS], path[:, PSIN], path[:, PHEADING], path[:, PKAPPA] = math.cos(turn), math.sin(turn), turn, 0.0
    rows = motion_of(np.full(ROWS, 4.0))
    for gap in (0.2, 1.1, 1.4):
        away = VEHICLE.front + gap + 0.5 * length
        leader = Thing(5, 7.0 + away * math.cos(turn), -3.0 + away * math.sin(turn), turn, 4.0, length=length)
        other = Thing(8, leader.x + 40.0 * math.cos(turn), leader.y + 40.0 * math.sin(turn), turn, 4.0)
        for things in ((leader, other), (other, leader)):
            least, name = least_gap(path, things, rows, 1.2)
            assert least == pytest.approx(min(gap, 1.2), abs=1e-6)
            assert name == (5 if gap < 1.2 else yi.NONE)


def test_beyond_its_last_point_a_path_goes_straight_on() -> None:
    path = winding(0.4, 0.3, 2)
    n = int(np.searchsorted(path[:, PS], 12.0))
    short, rows = np.asfortranarray(path[:n]), motion_of(np.full(ROWS, 6.0))
    last = float(short[n - 1, PHEADING])
    for aside in (2.2, -2.2):
        x = float(short[n - 1, PX]) + 8.0 * math.cos(last) - aside * math.sin(last)
        y = float(short[n - 1, PY]) + 8.0 * math.sin(last) + aside * math.cos(last)
        thing = Thing(6, x, y, last, 0.0, length=1.0, width=1.0, moving=True)
        least, name = least_gap(short, (thing,), rows, 1.5)
        assert name == 6 and least == pytest.approx(2.2 - 0.5 - 0.5 * VEHICLE.width, abs=0.13)


@pytest.mark.parametrize("s", [8.7, 9.4, 10.1, 10.6, 11.3])
def test_round_a_sharp_corner_the_car_is_on_the_piece_that_it_has_reached(s: float) -> None:
    """Along x to 10 m, then along y, in points a metre apart."""
    path = winding(0.0, 0.3, 1)[:31].copy(order="F")
    way = np.arange(31.0)
    path[:, PS], path[:, PX], path[:, PY] = way, np.minimum(way, 10.0), np.maximum(way - 10.0, 0.0)
    path[:, PCOS], path[:, PSIN], path[:, PKAPPA] = way < 10.0, way >= 10.0, 0.0
    path[:, PHEADING] = np.where(way < 10.0, 0.0, 0.5 * math.pi)
    rows = np.column_stack((np.full(ROWS, s), np.full(ROWS, 1.0), np.zeros(ROWS)))
    x, y = (s, 0.0) if s < 10.0 else (10.0, s - 10.0)
    for gap in (0.3, 0.8):
        if s < 10.0:
            thing = Thing(4, x + 1.0, -0.5 * VEHICLE.width - gap - 0.5, length=1.0, width=1.0, moving=True)
        else:
            thing = Thing(4, x, y + VEHICLE.front + gap + 0.5, length=1.0, width=1.0, moving=True)
        assert least_gap(path, (thing,), rows, 1.2) == (pytest.approx(gap, abs=1e-9), 4)


def test_a_car_that_has_come_to_stand_is_no_longer_near_to_anybody_but_one_that_stands_now_is() -> None:
    path = winding(0.0, 0.4, 1)
    path[:, PX], path[:, PY], path[:, PCOS], path[:, PSIN], path[:, PHEADING] = path[:, PS], 0.0, 1.0, 0.0, 0.0
    v = np.maximum(0.0, 3.0 - 2.0 * STEP_S * np.arange(ROWS))
    comes = Thing(4, 3.0, 1.5 + 0.5 * VEHICLE.width + 4.0 * 2.2, -0.5 * math.pi, 4.0, length=1.0, width=1.0)
    assert least_gap(path, (comes,), motion_of(v), 1.2)[1] == yi.NONE, "it stands after 1.5 s"
    assert least_gap(path, (comes,), motion_of(np.full(ROWS, 0.11)), 1.2)[0] < 0.0
    assert least_gap(path, (comes,), motion_of(np.full(ROWS, 0.09)), 1.2)[1] == yi.NONE
    passes = Thing(4, 1.5, 0.5 * VEHICLE.width + 60.0 * 0.2, -0.5 * math.pi, 60.0, length=1.0, width=1.0)
    assert least_gap(path, (passes,), motion_of(np.zeros(ROWS)), 1.2)[1] == yi.NONE, "nor is what passes it then"
    near = Thing(5, 3.0, 0.5 * VEHICLE.width + 1.0, 0.0, 0.0, length=1.0, width=1.0, moving=True)
    least, name = least_gap(path, (near,), motion_of(np.zeros(ROWS)), 1.2)
    assert name == 5 and least == pytest.approx(0.5, abs=1e-6)
    starts = np.minimum(2.0, STEP_S * np.arange(ROWS))
    ahead_of = Thing(6, VEHICLE.front + 2.0, 0.0, 0.0, 0.0, length=1.0, width=1.0, moving=True)
    assert least_gap(path, (ahead_of,), motion_of(starts), 1.2)[0] < 0.0, "at the first row it may stand"


def test_gaps_count_for_four_seconds_and_not_to_one_that_comes_from_behind() -> None:
    path = winding(0.0, 0.4, 1)
    path[:, PX], path[:, PY], path[:, PCOS], path[:, PSIN], path[:, PHEADING] = path[:, PS], 0.0, 1.0, 0.0, 0.0
    rows = motion_of(np.full(ROWS, 2.0))
    for meets, counts in ((4.0, True), (4.2, False)):
        speed = 60.0
        y = 0.5 * VEHICLE.width + 0.5 + speed * meets
        thing = Thing(4, 2.0 * meets + 1.0, y, -0.5 * math.pi, speed, length=1.0, width=1.0)
        assert (least_gap(path, (thing,), rows, 1.2)[1] == 4) is counts
    behind = Thing(4, -VEHICLE.rear_overhang - 1.0, 0.0, 0.0, 2.0, length=1.0, width=1.0)
    assert least_gap(path, (behind,), rows, 1.2)[1] == yi.NONE
