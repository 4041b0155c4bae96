"""Lanes that hold a body, and chains of lanes that it may follow: against a geometry library and the map itself."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from crossroads import HALF_M, crossroads
from map import xodr
from shapely.geometry import LineString, Point

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.lane_index import LaneIndex, lane_index
from tuling_fsm.world.lane_kernels import (
    BRANCHES,
    CANDIDATES,
    DEPTH,
    LaneChains,
    LanePlaces,
    _choices,
    _curvature,
    _Driver,
    _Forks,
    chains,
    locate,
)  # fmt: skip
from tuling_fsm.world.objects import BODY, HEADING, SPEED, X, Y
from tuling_fsm.world.tracks import PAST, ROAD_LANE, YAW_RATE
from world.bodies import DECEL, LATERAL, MAX_HEADING, REACH_M, scattered

BESIDE_M, BEYOND_END_M = 0.2, 0.6
UNSURE = (0.06, 0.06)
"""So near (m, rad) to a limit the library may say otherwise: the kernels' centre lines have chords."""


class Fit(NamedTuple):
    """How a body lies on one lane, and whether it is on it for sure (1), for sure not (-1), or nearly so."""

    arc: float
    offset: float
    turn: float
    sure: int


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"))


def fit(road_map: RoadMap, index: LaneIndex, number: int, one: FloatArray) -> Fit:
    """As a geometry library has it, on the whole centre line, which is led on straight at both ends."""
    lane = road_map.lanes[index.ids[number]]
    xy, s, point = lane.center.xy, lane.center.s, (float(one[X]), float(one[Y]))
    line = LineString(xy)
    arc, away = line.project(Point(point)), line.distance(Point(point))
    before, beyond = 0.0, 0.0
    ends = ((xy[0], lane.center.heading[0], -1.0), (xy[-1], lane.center.heading[-1], 1.0))
    at_start, at_end = (
        sign * ((point[0] - end[0]) * math.cos(heading) + (point[1] - end[1]) * math.sin(heading))
        for end, heading, sign in ends
    )
    if arc <= 0.0:
        before, away = max(0.0, at_start), math.sqrt(max(away**2 - max(0.0, at_start) ** 2, 0.0))
    if arc >= line.length:
        beyond, away = max(0.0, at_end), math.sqrt(max(away**2 - max(0.0, at_end) ** 2, 0.0))
    near = min(int(np.searchsorted(s, arc)), len(s) - 1)
    heading = float(np.interp(arc, s, lane.center.heading))
    side = math.cos(heading) * (point[1] - xy[near, 1]) - math.sin(heading) * (point[0] - xy[near, 0])
    offset = math.copysign(away, side)
    room = float(np.interp(arc, s, lane.left if offset > 0.0 else lane.right)) + BESIDE_M - away
    turn = wrap_angle(float(one[HEADING]) - heading)
    margins = (
        room / UNSURE[0], (MAX_HEADING - abs(turn)) / UNSURE[1], (BEYOND_END_M - max(before, beyond)) / UNSURE[0],
    )  # fmt: skip
    least = min(margins)
    return Fit(arc - before + beyond, offset, turn, 1 if least > 1.0 else -1 if least < -1.0 else 0)


@pytest.mark.medium
@pytest.mark.parametrize("town", ["cross", "course"])
def test_the_lanes_that_hold_a_body_are_those_of_a_geometry_library(town: str, request: pytest.FixtureRequest) -> None:
    compare_places(request.getfixturevalue(town), 60)


@pytest.mark.medium
def test_also_where_lanes_grow_wider_and_narrower(shared_data: Path) -> None:
    compare_places(read_map(shared_data / "maps" / "esmini_fabriksgatan_traffic_lights.xodr"), 80)


@pytest.mark.medium
def test_also_on_lanes_that_taper(tmp_path: Path) -> None:
    tapers = (
        '<width sOffset="0" a="1.5" b="0.08" c="0" d="0"/><width sOffset="50" a="5.5" b="-0.07" c="0" d="0"/>',
        '<width sOffset="0" a="5" b="-0.06" c="0" d="0"/><width sOffset="50" a="2" b="0.07" c="0" d="0"/>',
    )
    section = xodr.section([xodr.lane(-1, tapers[0]), xodr.lane(-2, tapers[1]), xodr.lane(1, tapers[1])])
    compare_places(xodr.read(tmp_path, xodr.road(section)), 250)


def compare_places(road_map: RoadMap, many: int) -> None:
    """Lanes, arc lengths, offsets and turns of scattered bodies with those of the library."""
    index, body, held = lane_index(road_map), scattered(road_map, many, 3), 0
    places = locate(index.arrays, body, np.ones(len(body), np.bool_), MAX_HEADING)
    boxes = np.array([road_map.lanes[lane].center.xy.min(axis=0) for lane in index.ids])
    ends = np.array([road_map.lanes[lane].center.xy.max(axis=0) for lane in index.ids])
    for i, one in enumerate(body):
        near = np.flatnonzero(np.all((boxes - 8.0 < one[[X, Y]]) & (one[[X, Y]] < ends + 8.0), axis=1))
        fits = {int(number): fit(road_map, index, int(number), one) for number in near}
        found = [int(number) for number in places.lane[i] if number >= 0]
        sure = {number for number, each in fits.items() if each.sure > 0}
        possible = {number for number, each in fits.items() if each.sure >= 0}
        assert len(found) == len(set(found)) and set(found) <= possible
        assert sure <= set(found) or len(found) == CANDIDATES
        for j, number in enumerate(found):
            assert places.arc[i, j] == pytest.approx(fits[number].arc, abs=0.08)
            assert places.offset[i, j] == pytest.approx(fits[number].offset, abs=0.06)
            assert places.turn[i, j] == pytest.approx(fits[number].turn, abs=0.08)
        badness = [abs(places.offset[i, j]) + 2.0 * abs(places.turn[i, j]) for j in range(len(found))]
        assert all(one <= other + BEYOND_END_M for one, other in pairwise(badness)), "the best first"
        held += len(sure)
    assert held > 40


def test_one_that_follows_no_lanes_or_is_off_the_map_is_on_none(cross: RoadMap) -> None:
    index, body = lane_index(cross), np.zeros((6, BODY))
    body[:, X], body[:, Y] = (60.0, 60.0, 1.0e5, -1.0e5, 60.0, 60.0), (-1.75, -1.75, 0.0, 0.0, 1.0e5, -1.0e5)
    follows = np.array([True, False, True, True, True, True])
    places = locate(index.arrays, body, follows, MAX_HEADING)
    assert (places.lane[:, 0] >= 0).tolist() == [True, False, False, False, False, False]
    assert np.all(places.lane[1:] == -1)


def test_the_lane_that_a_body_fits_best_comes_first(cross: RoadMap) -> None:
    """Where a junction begins, three ways lie over one another: their headings tell them apart."""
    index, body = lane_index(cross), np.zeros((3, BODY))
    for i, turned in enumerate((0.0, 0.4, -0.4)):
        body[i, X], body[i, Y], body[i, HEADING] = 1.75 - 0.8 * np.sign(turned), -HALF_M + 4.5, 0.5 * math.pi + turned
    places = locate(index.arrays, body, np.ones(3, np.bool_), MAX_HEADING)
    first = [cross.lanes[index.ids[number]] for number in places.lane[:, 0]]
    turns = [lane.center.heading[-1] - lane.center.heading[0] for lane in first]
    np.testing.assert_allclose(turns, (0.0, 0.5 * math.pi, -0.5 * math.pi), atol=1e-3)
    np.testing.assert_allclose(places.arc[0, 0], 4.5, atol=1e-6)


def followed(index: LaneIndex, body: FloatArray, past: FloatArray | None = None) -> tuple[LanePlaces, LaneChains]:
    if past is None:
        past = np.zeros((len(body), PAST))
        past[:, ROAD_LANE] = -1.0
    places = locate(index.arrays, body, np.ones(len(body), np.bool_), MAX_HEADING)
    return places, chains(index.arrays, body, past, places, REACH_M, LATERAL, DECEL)


@pytest.mark.parametrize("town", ["cross", "course"])
def test_chains_follow_the_links_of_the_map_to_the_horizon(town: str, request: pytest.FixtureRequest) -> None:
    road_map: RoadMap = request.getfixturevalue(town)
    index, body = lane_index(road_map), scattered(road_map, 120, 5)
    places, found = followed(index, body)
    assert np.all(np.diff(found.row) >= 0)
    for i in range(len(body)):
        mine = np.flatnonzero(found.row == i)
        assert len(mine) <= BRANCHES and len(mine) >= (places.lane[i, 0] >= 0)
        assert len({tuple(found.chain[b]) for b in mine}) == len(mine)
        for b in mine:
            depth = int(np.sum(found.chain[b] >= 0))
            lanes = [road_map.lanes[index.ids[number]] for number in found.chain[b, :depth]]
            assert np.all(found.chain[b, depth:] == -1)
            assert all(other.id in one.successors for one, other in pairwise(lanes))
            ends = found.begin[b, :depth] + [lane.length for lane in lanes]
            np.testing.assert_allclose(found.begin[b, 1:depth], ends[:-1], atol=1e-9)
            horizon = REACH_M + 6.0 * body[i, SPEED]
            assert np.all(ends[:-1] <= horizon)
            onward = [lane for lane in lanes[-1].successors if lane in index.number]
            assert depth == DEPTH or ends[-1] > horizon or not onward
            on = np.flatnonzero(places.lane[i] == found.chain[b, 0])
            if len(on):
                assert found.begin[b, 0] == -places.arc[i, on[0]]
                assert found.side[b] == places.offset[i, on[0]]
            else:
                assert found.chain[b, 0] in index.arrays.beside[places.lane[i, 0]]


@pytest.mark.parametrize("to", [0, 1], ids=["left", "right"])
def test_one_that_drifts_over_the_edge_is_given_the_lane_beside_it(course: RoadMap, to: int) -> None:
    index, sign = lane_index(course), 1.0 - 2.0 * to
    beside = index.arrays.beside[:, to].tolist()
    number, neighbour = next(
        (n, int(other)) for n, other in enumerate(beside) if other >= 0 and course.lanes[index.ids[n]].length > 60.0
    )
    lane, other = course.lanes[index.ids[number]], course.lanes[index.ids[neighbour]]
    at = int(np.searchsorted(lane.center.s, 20.0))
    heading = float(lane.center.heading[at])
    half, others_half = float((lane.left, lane.right)[to][at]), float((other.right, other.left)[to][at])

    def first_lanes(aside: float, turned: float, speed: float) -> list[int]:
        body = np.zeros((1, BODY))
        body[0, X] = lane.center.xy[at, 0] - sign * aside * math.sin(heading)
        body[0, Y] = lane.center.xy[at, 1] + sign * aside * math.cos(heading)
        body[0, HEADING], body[0, SPEED] = heading + sign * turned, speed
        _, found = followed(index, body)
        starts = zip(found.chain[:, 0].tolist(), found.side.tolist(), found.begin[:, 0].tolist(), strict=True)
        for first, side, begin in starts:
            if first == neighbour:
                assert side == pytest.approx(sign * (aside - half - others_half), abs=0.05)
                assert -begin == pytest.approx(float(lane.center.s[at]), abs=0.2)
        return [int(first) for first in found.chain[:, 0]]

    near = half - 0.4
    assert first_lanes(near, 0.08, 10.0) == [number, neighbour]
    assert first_lanes(near, 0.0, 10.0) == [number], "goes along"
    assert first_lanes(near, -0.08, 10.0) == [number], "goes away from it"
    assert first_lanes(near, 0.03, 10.0) == [number], "0.3 m/s sideways is no drift"
    assert first_lanes(0.0, 0.08, 10.0) == [number], "1.75 m away, at 0.8 m/s"
    assert first_lanes(half - 0.9, 0.08, 10.0) == [number, neighbour], "0.9 m away, at 0.8 m/s"
    assert first_lanes(half - 1.4, 0.08, 10.0) == [number], "1.4 m away"
    assert first_lanes(near, 0.5, 0.9) == [number], "hardly moves"


def test_the_curvature_at_a_place_is_that_of_its_chord(course: RoadMap) -> None:
    arrays = lane_index(course).arrays
    for number in range(len(arrays.length)):
        rows = slice(arrays.start[number], arrays.start[number + 1])
        s, heading = arrays.s[rows], arrays.heading[rows]
        bends = np.diff(heading) / np.maximum(np.diff(s), 0.2)
        for at in (-0.5, 0.1, 0.5 * s[-1], s[-1] - 0.1, s[-1] + 0.3):
            chord = min(max(int(np.searchsorted(s, at)) - 1, 0), len(bends) - 1)
            assert _curvature(arrays.start, arrays.s, arrays.heading, number, at) == pytest.approx(bends[chord])


def forks(ways: list[tuple[float, float]]) -> _Forks:
    """Lane 0 that leads to all of these: how they turn (rad, + left) and bend (1/m), at their beginning."""
    n = len(ways) + 1
    starts = np.array([0, *[n - 1] * n], dtype=np.int64)
    turn, bend = (np.array([0.0, *(way[k] for way in ways)]) for k in (0, 1))
    return _Forks(np.full(n, 20.0), turn, bend, np.zeros(n), starts, np.arange(1, n, dtype=np.int64))


@pytest.mark.parametrize(
    ("ways", "taken"),
    [
        ([(0.0, 0.0)], [1]),
        ([(1.5, 0.1), (0.1, 0.0), (-1.5, 0.1)], [2, 1, 3]),
        ([(-1.5, 0.1), (0.1, 0.0), (1.5, 0.1)], [2, 3, 1]),
        ([(1.5, 0.1), (0.7, 0.1), (0.1, 0.0), (-0.6, 0.1), (-1.5, 0.1)], [3, 1, 5]),
        ([(0.3, 0.0), (0.2, 0.0), (0.1, 0.0)], [3, 1, 2]),
        ([(3.1, 0.1), (0.1, 0.0), (-1.5, 0.1)], [2, 3, 1]),
        ([(3.1, 0.1), (2.3, 0.1)], [2, 1]),
        ([(3.1, 0.1)], [1]),
        ([(-3.1, 0.1), (0.2, 0.0)], [2, 1]),
        ([(-3.1, 0.1), (0.0, 0.0), (0.6, 0.1), (0.3, 0.1)], [2, 3, 4]),
        ([], []),
    ],
    ids=["one", "fork", "mirrored", "five", "all to the left", "a way back is the last", "two to the left", "back only",
         "back to the right", "back is no outer way", "none"],
)  # fmt: skip
def test_at_a_fork_the_straightest_way_comes_first_then_the_outer_ones(
    ways: list[tuple[float, float]], taken: list[int]
) -> None:
    out = np.zeros(BRANCHES, dtype=np.int64)
    count = _choices(forks(ways), 0, 20.0, _Driver(2.0, LATERAL, DECEL), out)
    assert out[:count].tolist() == taken


@pytest.mark.parametrize(
    ("speed", "distance", "taken"),
    [(8.0, 0.0, [2]), (5.0, 0.0, [2, 1, 3]), (8.0, 7.0, [2, 1, 3]), (8.0, 4.0, [2]), (12.0, 15.0, [2]),
     (12.0, 21.0, [2, 1, 3])],
)  # fmt: skip
def test_ways_that_are_too_bent_for_the_speed_are_left_out_unless_all_are(
    speed: float, distance: float, taken: list[int]
) -> None:
    """A bend of 10 m is taken at sqrt(30) m/s; 3 m/s^2 slow down to that within (v^2 - 30) / 6 m."""
    bent = [(1.5, 0.1), (0.1, 0.0), (-1.5, 0.1)]
    out, driver = np.zeros(BRANCHES, dtype=np.int64), _Driver(speed, LATERAL, DECEL)
    count = _choices(forks(bent), 0, distance, driver, out)
    assert out[:count].tolist() == taken
    count = _choices(forks([bent[0], bent[2]]), 0, distance, driver, out)
    assert sorted(out[:count].tolist()) == [1, 2]


def test_inside_a_junction_its_turning_tells_which_way_it_takes(cross: RoadMap) -> None:
    """At the entry of a junction the ways lie over one another and have nearly the same heading."""
    index, body = lane_index(cross), np.zeros((1, BODY))
    body[0, X], body[0, Y], body[0, HEADING], body[0, SPEED] = 1.75, -HALF_M + 1.0, 0.5 * math.pi, 4.0
    left, right = HALF_M + 1.75, HALF_M - 1.75
    for yaw_rate, turn in ((0.0, 0.0), (4.0 / left, 0.5 * math.pi), (-4.0 / right, -0.5 * math.pi)):
        past = np.zeros((1, PAST))
        past[0, YAW_RATE], past[0, ROAD_LANE] = yaw_rate, -1.0
        _, found = followed(index, body, past)
        lane = cross.lanes[index.ids[found.chain[0, 0]]]
        assert lane.center.heading[-1] - lane.center.heading[0] == pytest.approx(turn, abs=1e-3)


def test_inside_a_junction_only_ways_from_the_lane_it_came_from_are_taken(cross: RoadMap) -> None:
    """Here the left turn from the south comes to the way straight on from the east."""
    index, body = lane_index(cross), np.zeros((1, BODY))
    body[0, X], body[0, Y], body[0, HEADING], body[0, SPEED] = -6.0, 1.0, 0.92 * math.pi, 5.0
    entries = {n for lane, n in index.number.items() if cross.lanes[lane].junction is None}
    ways = set()
    for entry in [-1, *sorted(entries)]:
        past = np.zeros((1, PAST))
        past[0, ROAD_LANE] = entry
        places, found = followed(index, body, past)
        from_entry = {
            int(n) for n in places.lane[0] if n >= 0 and entry >= 0
            and index.ids[entry] in cross.lanes[index.ids[n]].predecessors
        }  # fmt: skip
        assert not from_entry or set(found.chain[:, 0].tolist()) <= from_entry
        ways.add(tuple(sorted(found.chain[:, 0].tolist())))
    assert len(ways) == 3, "both, and each of them alone"
