"""Which of the lanes that may hold an object it is likely to follow, ordered once more from what the map says."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from shapely.geometry import LineString, Point

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.lane_index import LaneArrays, lane_index
from tuling_fsm.world.lane_kernels import (
    LanePlaces,
    _beyond_grip,
    _Driver,
    _Fit,
    _keep,
    _leads_to,
    _on_lane,
    _Starts,
    _starts,
)
from tuling_fsm.world.objects import BODY, SPEED, X, Y
from tuling_fsm.world.tracks import PAST, ROAD_LANE, YAW_RATE
from world.bodies import DECEL, LATERAL

SHORTEST_M, LEAST_WAY_M, GRIP = 0.2, 0.5, 2.0
ALIKE = 2.0
"""A lane that fits worse than the best one by no more than this may be followed as well."""
SURE_MPS, DRIFT_MPS, DRIFT_S = 1.0, 0.4, 1.5
MOST_WAYS, MOST_LANES = 3, 6


def bent(lanes: LaneArrays, seed: int) -> LaneArrays:
    """The links of a map, but its lanes bend this way and that, in chords as long and as short as they come."""
    draw, p = np.random.default_rng(seed), len(lanes.s)
    s, heading = np.zeros(p), draw.uniform(-3.0, 3.0, p)
    for begin, end in zip(lanes.start[:-1], lanes.start[1:], strict=True):
        chords = draw.choice([0.04, 0.13, 0.17, 0.6, 1.7, 3.9], end - begin - 1)
        sharp = draw.choice([0.02, 0.08, 0.2, 0.7])
        s[begin + 1 : end] = np.cumsum(chords)
        heading[begin + 1 : end] = heading[begin] + np.cumsum(
            np.clip(draw.normal(0.0, sharp, len(chords)) * chords, -1.0, 1.0)
        )
    widths, many = draw.uniform(1.2, 2.4, (2, p)), len(lanes.length)
    bend = draw.choice([0.0, 0.02, 0.08, 0.2, 0.7], many) * draw.uniform(0.9, 1.1, many)
    bend_at = draw.uniform(0.0, 1.0, many) * s[lanes.start[1:] - 1]
    return lanes._replace(s=s, heading=heading, left=widths[0], right=widths[1], bend=bend, bend_at=bend_at)


def chords_of(lanes: LaneArrays, number: int) -> tuple[FloatArray, FloatArray]:
    """Where the chords of a lane begin and end (K + 1,), and how they bend (K,), 1/m."""
    rows = slice(lanes.start[number], lanes.start[number + 1])
    s = lanes.s[rows]
    return s, np.diff(lanes.heading[rows]) / np.maximum(np.diff(s), SHORTEST_M)


def cannot_follow(lanes: LaneArrays, number: int, arc: float, speed: float) -> bool:
    """Whether no braking is hard enough to take the bend of a junction's way that lies ahead."""
    bend, way = lanes.bend[number], lanes.bend_at[number] - arc
    slowed = speed**2 - 2.0 * GRIP * DECEL * max(way, LEAST_WAY_M)
    return bool(lanes.in_junction[number] and way >= 0.0 and slowed > GRIP * LATERAL / max(bend, 1e-6))


@dataclass
class Candidate:
    """A lane that holds an object."""

    lane: int
    arc: float
    offset: float
    turn: float


def likeliest(
    road_map: RoadMap, lanes: LaneArrays, candidates: list[Candidate], speed: float, yaw_rate: float, came_from: int
) -> list[Candidate]:
    """Those that it may follow, the likeliest first."""
    ids = lane_index(road_map).ids
    onward = road_map.lanes[ids[came_from]].successors if came_from >= 0 else ()
    inside = [each for each in candidates if road_map.lanes[ids[each.lane]].junction is not None]
    from_there = [each for each in inside if ids[each.lane] in onward]
    left = [each for each in candidates if not from_there or each not in inside or each in from_there]
    slow_enough = [each for each in left if not cannot_follow(lanes, each.lane, each.arc, speed)]

    def misfit(each: Candidate) -> float:
        cost = abs(each.offset) + 4.0 * abs(each.turn)
        if each in inside and speed > SURE_MPS:
            s, bends = chords_of(lanes, each.lane)
            chord = min(max(int(np.searchsorted(s, each.arc)) - 1, 0), len(bends) - 1)
            cost += 1.5 * abs(yaw_rate - speed * bends[chord])
        return cost

    ordered = sorted(slow_enough or left, key=misfit)
    return [each for each in ordered if misfit(each) <= misfit(ordered[0]) + ALIKE][:MOST_WAYS]


def beside(lanes: LaneArrays, one: Candidate, speed: float) -> int:
    """The lane that an object drifts over to within a second and a half, -1 for none."""
    sideways = speed * math.sin(one.turn)
    to_left = sideways > 0.0
    half = float((lanes.left if to_left else lanes.right)[lanes.start[one.lane]])
    room = half - one.offset if to_left else half + one.offset
    drifts = speed >= SURE_MPS and abs(sideways) > DRIFT_MPS and room < DRIFT_S * abs(sideways)
    return int(lanes.beside[one.lane, 0 if to_left else 1]) if drifts else -1


def some_lanes(lanes: LaneArrays, draw: np.random.Generator) -> list[int]:
    """Lanes that may lie over one another: ways out of the same lane or others, and lanes beside."""
    n = len(lanes.length)
    ways = np.flatnonzero(lanes.in_junction)
    roads = np.flatnonzero(lanes.beside.max(axis=1) >= 0)
    first = int(draw.choice([draw.choice(ways), draw.choice(roads), draw.integers(n)]))
    more = [int(draw.choice((ways, ways, roads)[draw.integers(3)])) for _ in range(5)]
    return list(dict.fromkeys([first, *more]))[: draw.integers(1, MOST_LANES + 1)]


@pytest.mark.parametrize("seed", range(3))
def test_the_lanes_an_object_may_follow_are_those_that_fit_about_as_well_as_the_best(
    course: RoadMap, seed: int
) -> None:
    """Among ways through a junction only those from the lane that it came from, and none that it is too fast for; one
    that drifts over the edge of the lane that fits it best is given the next one as well.
    """
    lanes, draw = bent(lane_index(course).arrays, seed), np.random.default_rng(seed)
    cost = np.empty(MOST_LANES)
    found = _Starts(np.zeros(MOST_WAYS, np.int64), np.zeros(MOST_WAYS), np.zeros(MOST_WAYS))
    drifted = many = left_out = 0
    for _ in range(500):
        turns = draw.choice([0.2, 0.2, 0.5])
        candidates = [
            Candidate(n, draw.uniform(-0.4, lanes.s[lanes.start[n + 1] - 1] + 0.4), *draw.normal(0.0, (0.9, turns)))
            for n in some_lanes(lanes, draw)
        ]  # fmt: skip
        places = LanePlaces(np.full((2, MOST_LANES), -1), *np.zeros((3, 2, MOST_LANES)))
        for k, each in enumerate(candidates):
            places.lane[1, k], places.arc[1, k] = each.lane, each.arc
            places.offset[1, k], places.turn[1, k] = each.offset, each.turn
        speed = float(draw.choice([draw.uniform(0.0, 2.0), draw.uniform(0.8, 2.2), draw.uniform(2.0, 16.0)]))
        into = np.flatnonzero(np.isin(lanes.successor, [each.lane for each in candidates]))
        entry = int(np.searchsorted(lanes.successor_start, draw.choice(into), side="right")) - 1 if len(into) else -1
        came_from = int(draw.choice([-1, entry, entry, draw.integers(len(lanes.length))]))
        past, body = np.zeros(PAST), np.zeros(BODY)
        past[YAW_RATE], past[ROAD_LANE] = draw.normal(0.0, 0.3), came_from
        near = int(lanes.start[candidates[0].lane])
        body[X], body[Y], body[SPEED] = lanes.x[near] + 1.0, lanes.y[near] - 2.0, speed
        expected = likeliest(course, lanes, candidates, speed, past[YAW_RATE], came_from)
        count = _starts(lanes, body, past, places, 1, _Driver(speed, LATERAL, DECEL), cost, found)
        told = list(zip(*(column[:count].tolist() for column in found), strict=True))
        numbers = [(each.lane, each.arc, each.offset) for each in expected]
        other = -1
        if expected[0] is candidates[0] and len(expected) < MOST_WAYS:
            other = beside(lanes, candidates[0], speed)
        if other >= 0:
            numbers.append((other, *_on_lane(lanes, other, body[X], body[Y])))
            drifted += 1
        assert told == numbers
        many += len(expected) > 1
        left_out += len(expected) < len(candidates)
    assert drifted > 1 and many > 50 and left_out > 50


def test_one_that_drifts_over_an_edge_is_given_the_next_lane_of_that_side(course: RoadMap) -> None:
    lanes, draw = bent(lane_index(course).arrays, 5), np.random.default_rng(5)
    several = np.flatnonzero(lanes.beside.max(axis=1) >= 0)
    cost, drifted = np.empty(MOST_LANES), [0, 0]
    found = _Starts(np.zeros(MOST_WAYS, np.int64), np.zeros(MOST_WAYS), np.zeros(MOST_WAYS))
    for _ in range(700):
        number = int(draw.choice(several))
        speed = float(draw.choice([draw.uniform(0.8, 1.2), draw.uniform(1.0, 2.5), draw.uniform(2.0, 14.0)]))
        one = Candidate(number, 5.0, draw.uniform(-2.2, 2.2), draw.normal(0.0, 0.4))
        places = LanePlaces(np.full((1, MOST_LANES), -1), *np.zeros((3, 1, MOST_LANES)))
        places.lane[0, 0], places.arc[0, 0], places.offset[0, 0], places.turn[0, 0] = number, 5.0, one.offset, one.turn
        body, past = np.zeros(BODY), np.zeros(PAST)
        body[X], body[Y] = lanes.x[lanes.start[number]] + draw.uniform(-3.0, 3.0), lanes.y[lanes.start[number]]
        past[ROAD_LANE] = -1.0
        count = _starts(lanes, body, past, places, 0, _Driver(speed, LATERAL, DECEL), cost, found)
        other = beside(lanes, one, speed)
        assert found.lane[:count].tolist() == [number, other][: 1 + (other >= 0)]
        if other >= 0:
            assert (found.arc[1], found.offset[1]) == _on_lane(lanes, other, body[X], body[Y])
            drifted[one.turn > 0.0] += 1
    assert min(drifted) > 15


def test_a_way_that_no_car_could_follow_is_one_whose_bend_ahead_is_too_sharp_for_its_brakes(course: RoadMap) -> None:
    lanes, draw, beyond = bent(lane_index(course).arrays, 7), np.random.default_rng(7), 0
    for _ in range(2500):
        number = int(draw.choice([draw.choice(np.flatnonzero(lanes.in_junction)), draw.integers(len(lanes.length))]))
        arc, speed = draw.uniform(-1.0, lanes.s[lanes.start[number + 1] - 1] + 1.0), draw.uniform(0.0, 18.0)
        told = _beyond_grip(lanes, number, arc, _Driver(speed, LATERAL, DECEL))
        assert told == cannot_follow(lanes, number, arc, speed)
        beyond += told
    assert 100 < beyond < 1400


def test_a_place_on_one_lane_is_that_of_a_geometry_library(course: RoadMap) -> None:
    lanes, draw = lane_index(course).arrays, np.random.default_rng(4)
    for number in draw.integers(0, len(lanes.length), 150):
        rows = slice(lanes.start[number], lanes.start[number + 1])
        xy = np.column_stack((lanes.x[rows], lanes.y[rows]))
        point = xy[draw.integers(len(xy))] + draw.uniform(-4.0, 4.0, 2)
        line = LineString(xy)
        arc, offset = _on_lane(lanes, int(number), point[0], point[1])
        assert abs(offset) == pytest.approx(line.distance(Point(point)), abs=1e-9)
        cumulative = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))))
        at = float(np.interp(line.project(Point(point)), cumulative, lanes.s[rows]))
        assert arc == pytest.approx(at, abs=1e-6)
        near = min(int(np.searchsorted(lanes.s[rows], arc, side="right")) - 1, len(xy) - 2)
        along, to_point = xy[near + 1] - xy[near], point - xy[near]
        side = along[0] * to_point[1] - along[1] * to_point[0]
        if 0.0 < arc < lanes.s[rows][-1] and abs(offset) > 0.05:
            assert offset * side > 0.0


def test_a_lane_leads_to_its_successors_alone(course: RoadMap) -> None:
    index = lane_index(course)
    start, successor = index.arrays.successor_start, index.arrays.successor
    for one, lane in enumerate(index.ids[:60]):
        onward = course.lanes[lane].successors
        near = {index.number[each] for each in onward if each in index.number} | {one, *range(5)}
        for other in near:
            assert _leads_to(start, successor, one, other) == (index.ids[other] in onward)
            assert not _leads_to(start, successor, -1, other)


@pytest.mark.parametrize("seed", range(5))
def test_of_many_lanes_the_six_that_fit_best_are_kept_in_order_each_where_it_fits_best(seed: int) -> None:
    draw = np.random.default_rng(seed)
    places = LanePlaces(np.full((3, MOST_LANES), -1), *np.zeros((3, 3, MOST_LANES)))
    cost, best = np.full((3, MOST_LANES), np.inf), dict[int, _Fit]()
    for _ in range(60):
        fit = _Fit(int(draw.integers(0, 12)), *draw.uniform(0.0, 5.0, 4).tolist())
        _keep(places, cost, 1, fit)
        if fit.lane not in best or fit.cost < best[fit.lane].cost:
            best[fit.lane] = fit
        expected = sorted(best.values(), key=lambda each: each.cost)[:MOST_LANES]
        n = len(expected)
        for column, values in zip((*places, cost), zip(*expected, strict=True), strict=True):
            assert column[1, :n].tolist() == list(values)
        assert np.all(places.lane[1, n:] == -1) and np.all(np.isinf(cost[1, n:]))
    assert np.all(places.lane[[0, 2]] == -1)
