"""Leaders, conflicts and gaps among the objects of a scene: what polygons of the bodies say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from shapely.affinity import rotate, translate
from shapely.geometry import Polygon, box

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.maneuvers.section import surroundings_of
from tuling_fsm.planning.obstacles.moving import MovingObstacles
from tuling_fsm.planning.obstacles.occupancy import (
    ConflictBuffers,
    SweptBand,
    SweptPath,
    new_conflicts,
    point_spacing,
    swept_band,
    travelled,
)
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.speed import yielding as yi
from tuling_fsm.planning.speed.roll_out import StBoundaries, no_traffic

from ..lane_drives import PARAMETERS, VEHICLE
from ..scenes import PEDESTRIAN, Thing, scene

pytestmark = pytest.mark.clause("INT-7")

DERIVED = DerivedParameters.of(VEHICLE, PARAMETERS)
ROWS = round(7.0 / STEP_S) + 1
MIDDLE = 0.5 * (VEHICLE.front - VEHICLE.rear_overhang)
FAR = np.full(PREDICTION_STEPS, 200.0)
GAP = yi.GapAcceptance(1.2, 1.0, 0.0, False, 10.0, 3.0, DERIVED.drive.rss)


def driven(s: float, bend: float) -> tuple[float, float, float]:
    """Pose of the rear axle after so many metres of the path."""
    turned = bend * s
    return (20.0 + math.sin(turned) / bend, (1.0 - math.cos(turned)) / bend, turned) if bend else (20.0 + s, 0.0, 0.0)


class Case:
    """A path of 80 m that begins along x at x = 20, straight or an arc, and things around it."""

    def __init__(self, *things: Thing, v: float = 5.0, sidestep: float = 0.0, bend: float = 0.0) -> None:
        self.things, path = things, new_path(161)
        path[:, PS], path[:, PKAPPA] = 0.5 * np.arange(161), bend
        path[:, PX], path[:, PY], path[:, PHEADING] = np.array([driven(s, bend) for s in path[:, PS]]).T
        path[:, PCOS], path[:, PSIN] = np.cos(path[:, PHEADING]), np.sin(path[:, PHEADING])
        frenet, around = surroundings_of(path, scene(20.0, v=v, things=things), DERIVED.body, DERIVED)
        self.swept = SweptPath(frenet, DERIVED.body, SweptBand(*swept_band(frenet)), point_spacing(frenet), sidestep)
        self.moving: MovingObstacles = around.moving
        self.traffic: StBoundaries = no_traffic()
        self.conflicts: ConflictBuffers = new_conflicts(max(1, len(self.moving.id)))
        self.leaders, self.more = yi.follow_leaders(self.swept, self.moving, FAR, self.traffic, self.conflicts)

    def named(self, row: float) -> int:
        """The number of the thing in a row of the moving obstacles."""
        return self.things[int(self.moving.id[int(row)])].number

    def yields(self, free: FloatArray, gap: yi.GapAcceptance = GAP) -> tuple[int, int]:
        return yi.yield_to_conflicts(self.swept, self.moving, free, gap, self.traffic, self.conflicts, self.more)


def free(v: float) -> FloatArray:
    t = STEP_S * np.arange(ROWS)
    return np.column_stack((v * t, np.full(ROWS, v), np.zeros(ROWS)))


def car_ahead(gap: float, v: float, number: int = 3, y: float = 0.0) -> Thing:
    """Its rear bumper is so far before the front bumper."""
    return Thing(number, 20.0 + VEHICLE.front + gap + 2.25, y, 0.0, v)


def crossing(ahead: float, after: float, v: float = 5.0, kind: int = 1) -> Thing:
    """From the right, its front at the car's side after so long (s), its middle so far before the rear axle."""
    return Thing(7, 20.0 + ahead, -(0.5 * VEHICLE.width + 2.25) - v * after, 0.5 * math.pi, v, kind=kind)


def test_beyond_its_rows_a_car_goes_on_as_fast() -> None:
    for rows, row in ((51, 20), (51, 50), (51, 62), (ROWS, 62)):
        assert travelled(free(6.0)[:rows], row) == pytest.approx(6.0 * STEP_S * row)


def test_a_car_ahead_is_led_by_and_what_crosses_is_a_conflict() -> None:
    case = Case(car_ahead(15.0, 4.0), crossing(30.0, 2.0), car_ahead(20.0, 3.0, 9, y=6.0))
    assert (case.leaders, case.more) == (1, 1)
    assert case.named(case.conflicts.rows[0]) == 7
    assert {case.named(row) for row in case.traffic.leader_id[:10]} == {3}
    np.testing.assert_allclose(case.traffic.leader_s[:15], 15.0 + 4.0 * PREDICTION_STEP_S * np.arange(15), atol=0.35)
    np.testing.assert_allclose(case.traffic.leader_v[:15], 4.0, atol=0.1)
    assert np.all(np.isinf(case.traffic.wall_s))


def test_of_two_ahead_the_nearer_one_is_followed_and_a_faster_one_beyond_is_not_looked_at() -> None:
    case = Case(car_ahead(30.0, 4.0, 4), car_ahead(12.0, 4.0, 3))
    assert case.leaders == 2 and case.more == 0
    assert {case.named(row) for row in case.traffic.leader_id[:10]} == {3}
    oncoming = Thing(5, 60.0, 0.0, math.pi, 3.0)
    case = Case(oncoming)
    assert (case.leaders, case.more) == (0, 1), "towards the car is not along"


@pytest.mark.parametrize("after", [1.0, 2.0, 3.0])
def test_a_crossing_object_is_yielded_to_until_it_has_left(after: float) -> None:
    case = Case(crossing(14.0, after))
    yielded, cuts_in = case.yields(free(5.0 * 2.0 / after))
    assert (yielded, cuts_in) == (1, 0) and case.conflicts.rows[0] == yi.NONE
    walls = np.isfinite(case.traffic.wall_s)
    leaves = after + (4.5 + VEHICLE.width) / 5.0
    assert walls[0] and np.all(np.diff(walls.astype(int)) <= 0)
    assert PREDICTION_STEP_S * np.sum(walls) == pytest.approx(leaves, abs=0.5)
    touches = 14.0 - 0.95 - VEHICLE.front
    assert case.traffic.wall_s[0] == pytest.approx(touches - case.moving.keep[0], abs=0.35)
    assert np.all(np.isinf(case.traffic.leader_s))


def test_a_car_that_is_past_in_time_goes_first_and_one_that_never_meets_it_too() -> None:
    case = Case(crossing(9.0, 5.0))
    assert case.yields(free(6.0)) == (0, 0)
    assert case.conflicts.rows[0] != yi.NONE, "it goes first, if it drives like this"
    assert yi.still_first(case.swept.frenet, case.moving, free(6.0), GAP, case.conflicts, case.more)
    assert not yi.still_first(case.swept.frenet, case.moving, free(1.5), GAP, case.conflicts, case.more)
    case = Case(crossing(60.0, 1.0))
    assert case.yields(free(2.0)) == (0, 0) and case.conflicts.rows[0] == yi.NONE, "it has left long before"
    assert yi.still_first(case.swept.frenet, case.moving, free(0.1), GAP, case.conflicts, case.more)


def test_where_no_stop_helps_the_car_gets_out_of_the_way_of_one_that_can_stop_but_not_of_people() -> None:
    inside = crossing(VEHICLE.front + 2.0, 2.5)
    assert Case(inside).yields(free(2.0)) == (0, 0)
    assert Case(inside).yields(free(2.0), GAP._replace(hard_braking=0.0))[0] == 1, "it can stop itself"
    soon = crossing(VEHICLE.front + 2.0, 0.6)
    assert Case(soon).yields(free(2.0))[0] == 1, "that one cannot"
    walker = crossing(VEHICLE.front + 2.0, 2.5, 1.4, PEDESTRIAN)
    assert Case(walker).yields(free(1.0))[0] == 1


def test_what_comes_in_from_the_next_lane_is_followed_from_now_on_where_it_is_ahead() -> None:
    def coming_in(x: float) -> Thing:
        return Thing(7, x, -3.4, 0.25, 4.0)

    case = Case(coming_in(38.0))
    assert (case.leaders, case.more) == (0, 1)
    assert case.yields(free(6.0)) == (1, 0)
    assert np.isfinite(case.traffic.leader_s[0]) and np.all(np.isinf(case.traffic.wall_s))
    turned = Thing(7, 38.0, -4.4, 0.6, 4.0)
    case = Case(turned)
    assert case.yields(free(6.0))[0] == 1 and np.isfinite(case.traffic.wall_s[0]), "it comes from aside"


def gap_of(thing: Thing, pose: tuple[float, float, float], t: float) -> float:
    """Between the car at a pose and a thing at that time."""
    there = thing.at(t)
    body = box(-0.5 * there.length, -0.5 * there.width, 0.5 * there.length, 0.5 * there.width)
    other: Polygon = translate(rotate(body, there.heading, (0.0, 0.0), use_radians=True), there.x, there.y)
    car = box(-VEHICLE.rear_overhang, -0.5 * VEHICLE.width, VEHICLE.front, 0.5 * VEHICLE.width)
    car = translate(rotate(car, pose[2], (0.0, 0.0), use_radians=True), pose[0], pose[1])
    return float(car.distance(other))


@pytest.mark.parametrize("bend", [0.0, 0.04])
@pytest.mark.parametrize("seed", range(8))
def test_the_least_gap_is_that_of_the_nearest_in_four_seconds_while_the_car_moves(seed: int, bend: float) -> None:
    draw = np.random.default_rng(seed)
    things = [
        Thing(k, draw.uniform(20, 60), draw.choice((-1, 1)) * draw.uniform(2.5, 6), draw.uniform(-0.4, 0.4), 4.0)
        for k in range(4)
    ]
    case, wanted = Case(*things, sidestep=math.inf, bend=bend), 1.2
    t = STEP_S * np.arange(ROWS)
    v = np.maximum(0.0, 6.0 - draw.choice((0.0, 1.5)) * t)
    rows = np.column_stack((np.concatenate(([0.0], np.cumsum(0.5 * STEP_S * (v[1:] + v[:-1])))), v, np.zeros(ROWS)))
    least, nearest = yi.least_gap(case.swept, case.moving, rows, wanted, GAP, np.empty((PREDICTION_STEPS, 4)))
    times = [PREDICTION_STEP_S * j for j in range(21)]
    moves = [when for when in times if when == 0.0 or np.interp(when, t, v) >= 0.1]
    gaps = {
        thing.number: min(gap_of(thing, driven(float(np.interp(when, t, rows[:, 0])), bend), when) for when in moves)
        for thing in things
    }
    expected = min(gaps.values())
    if expected == 0.0:
        assert least < 0.0 and gaps[case.named(nearest)] == 0.0
        return
    assert least == pytest.approx(min(expected, wanted), abs=0.05)
    assert (nearest == yi.NONE) == (expected >= wanted)
    if expected < wanted - 0.05:
        assert gaps[case.named(nearest)] == pytest.approx(expected, abs=0.05)
