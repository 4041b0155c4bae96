"""The flat arrays of a map's lanes say what the map says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from crossroads import HALF_M, LIGHT, STOP_SIGN, YIELD_SIGN, crossroads
from map import xodr
from shapely.geometry import LineString

from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.lane_index import LINE_KINDS, LaneIndex, _build, lane_index

LEFT_M, RIGHT_M = HALF_M + 1.75, HALF_M - 1.75
"""Radii of the turns at the crossroads."""


def index_of(road_map: RoadMap) -> LaneIndex:
    """Built anew for each test, but for the large map."""
    return lane_index(road_map) if road_map.name == "course" else _build(road_map)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    signs = {"E": STOP_SIGN, "N": LIGHT, "W": YIELD_SIGN, "S": LIGHT}
    return crossroads(tmp_path_factory.mktemp("maps"), "signs", signs)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Two lanes each way, a third and one to walk on beside one of them; later one each way. They keep to the left."""
    first = [
        xodr.lane(-4, 2.0, kind="sidewalk"), xodr.lane(-3, 3.0), xodr.lane(-2, 2.5), xodr.lane(-1, links=((), (-1,))),
        xodr.lane(1, links=((), (1,))), xodr.lane(2, 4.0),
    ]  # fmt: skip
    then = [xodr.lane(-1, links=((-1,), ())), xodr.lane(1, links=((1,), ()))]
    sections, bend = [xodr.section(first), xodr.section(then, s=50.0)], '<arc curvature="-0.02"/>'
    along = xodr.geometry(0.0, 5.0, -7.0, 0.5, 80.0, bend)
    return xodr.read(tmp_path_factory.mktemp("maps"), xodr.road(sections, "1", along, 80.0, rule="LHT"))


@pytest.mark.parametrize("name", ["town", "wide", "course"])
def test_centres_are_thinned_by_no_more_than_a_prediction_bears(name: str, request: pytest.FixtureRequest) -> None:
    road_map: RoadMap = request.getfixturevalue(name)
    index = index_of(road_map)
    arrays, points = index.arrays, 0
    for number, lane in enumerate(index.ids):
        whole, rows = road_map.lanes[lane], slice(arrays.start[number], arrays.start[number + 1])
        xy = np.column_stack((arrays.x[rows], arrays.y[rows]))
        assert LineString(whole.center.xy).hausdorff_distance(LineString(xy)) < 0.05
        at = np.searchsorted(whole.center.s, arrays.s[rows])
        assert at[0] == 0 and at[-1] == len(whole.center.s) - 1
        assert np.all(arrays.point_lane[rows] == number)
        for column, kept in (
            (whole.center.xy[:, 0], arrays.x), (whole.center.xy[:, 1], arrays.y), (whole.center.s, arrays.s),
            (whole.center.heading, arrays.heading), (whole.left, arrays.left), (whole.right, arrays.right),
        ):  # fmt: skip
            np.testing.assert_array_equal(column[at], kept[rows])
        chords, bends = np.diff(arrays.s[rows]), np.abs(np.diff(arrays.heading[rows]))
        single = np.diff(at) == 1
        assert np.all((chords <= 4.0) | single)
        assert np.all((bends <= 0.05) | single)
        # Whatever lies between could not have been left out as well: it would be too long, or too bent.
        longer = whole.center.s[np.minimum(at[1:-1] + 1, len(whole.center.s) - 1)] - whole.center.s[at[:-2]]
        bent = np.abs(whole.center.heading[np.minimum(at[1:-1] + 1, len(whole.center.s) - 1)]
                      - whole.center.heading[at[:-2]])  # fmt: skip
        assert np.all((longer > 4.0) | (bent > 0.05))
        points += len(xy)
    assert points == len(arrays.x)
    assert [index.number[lane] for lane in index.ids] == list(range(len(index.ids)))


def test_turns_and_bends_are_those_of_the_arcs(town: RoadMap) -> None:
    index, seen = index_of(town), set()
    for number, lane in enumerate(index.ids):
        junction = town.lanes[lane].junction is not None
        turn, bend, length = index.arrays.turn[number], index.arrays.bend[number], index.arrays.length[number]
        assert bool(index.arrays.in_junction[number]) is junction
        assert length == pytest.approx(town.lanes[lane].length)
        assert index.arrays.limit[number] == town.lanes[lane].limit
        radius = math.inf if abs(turn) < 0.1 else LEFT_M if turn > 0.0 else RIGHT_M
        sharpest = bend * index.arrays.widened[number]
        assert sharpest == pytest.approx(1.0 / radius, rel=0.02, abs=1e-6)
        if math.isfinite(radius):
            assert index.arrays.bend_at[number] == pytest.approx(0.5 * length, rel=0.01)
            assert 1.0 / bend == pytest.approx(radius + 1.0 / math.tan(math.pi / 8.0) ** 2, rel=0.02)
        seen.add(round(float(turn), 2))
        if not junction:
            assert turn == 0.0
    assert seen == {0.0, 1.57, -1.57}


@pytest.mark.parametrize(("turn", "radius"), [(1.6, 6.7), (-2.2, 9.0), (2.8, 5.0)])
def test_the_widest_arc_through_a_turn_stays_within_a_metre_of_its_centre(
    tmp_path: Path, turn: float, radius: float
) -> None:
    """It touches the line a metre outside of the entry, and in the middle of the turn comes a metre inside."""
    length = abs(turn) * radius
    arc = xodr.geometry(0.0, 0.0, 0.0, 0.0, length, f'<arc curvature="{math.copysign(1.0 / radius, turn)}"/>')
    road_map = xodr.read(tmp_path, xodr.road(xodr.section([xodr.lane(-1, 0.001)]), "1", arc, length))
    arrays = lane_index(road_map).arrays
    assert arrays.bend_at[0] == pytest.approx(0.5 * length, abs=0.1)
    wide = 1.0 / arrays.bend[0]
    between_centers = (wide - 1.0 - radius) / math.cos(0.5 * turn)
    assert wide - between_centers == pytest.approx(radius - 1.0, abs=0.1)


def test_a_part_of_a_ring_is_no_wider_than_a_right_angle_of_it(tmp_path: Path) -> None:
    arc = xodr.geometry(0.0, 0.0, 0.0, 0.0, 6.0, '<arc curvature="0.1"/>')
    road_map = xodr.read(tmp_path, xodr.road(xodr.section([xodr.lane(-1, 0.001)]), "1", arc, 6.0))
    wide = 1.0 / lane_index(road_map).arrays.bend[0]
    assert wide == pytest.approx(10.0 + 1.0 / math.tan(math.pi / 8.0) ** 2, rel=0.001)


def test_links_neighbours_and_lines_are_those_of_the_map(town: RoadMap, wide: RoadMap, course: RoadMap) -> None:
    for road_map in (town, wide, course):
        index = index_of(road_map)
        arrays = index.arrays
        for number, lane in enumerate(index.ids):
            whole = road_map.lanes[lane]
            successors = arrays.successor[arrays.successor_start[number] : arrays.successor_start[number + 1]]
            assert [index.ids[n] for n in successors] == [each for each in whole.successors if each in index.number]
            for side, beside in enumerate((whole.left_neighbour, whole.right_neighbour)):
                n = arrays.beside[number, side]
                assert n >= -1
                assert (index.ids[n] if n >= 0 else None) == (beside if beside in index.number else None)
            assert arrays.turn[number] == whole.center.heading[-1] - whole.center.heading[0]
            rows = slice(arrays.line_start[number], arrays.line_start[number + 1])
            lines = [(each.s, LINE_KINDS[each.kind], each.signal) for each in road_map.stop_lines_of(lane)]
            told = zip(arrays.line_s[rows], arrays.line_kind[rows], arrays.line_signal[rows], strict=True)
            assert list(told) == sorted(lines)
        assert index.left_hand is (road_map is wide)
    beside = index_of(wide).arrays.beside
    assert np.sum(beside >= 0) == 6 and np.sum(beside[:, 0] >= 0) == np.sum(beside[:, 1] >= 0)
    assert sorted(index_of(town).arrays.line_kind.tolist()) == [0, 0, 1, 2]


def test_ways_conflict_where_their_surfaces_meet_and_part_from_different_lanes(town: RoadMap) -> None:
    """A library's polygons of the ways say which crosses or joins which."""
    index = index_of(town)
    arrays = index.arrays
    ways = [n for n in range(len(index.ids)) if arrays.in_junction[n]]
    surface = {n: LineString(town.lanes[index.ids[n]].center.xy).buffer(1.75, cap_style="flat") for n in ways}
    for one in range(len(index.ids)):
        rows = slice(arrays.conflict_start[one], arrays.conflict_start[one + 1])
        told = set(arrays.conflict[rows].tolist())
        if one not in ways:
            assert not told
            continue
        entry = town.lanes[index.ids[one]].predecessors
        for other in ways:
            shared = surface[one].intersection(surface[other]).area
            if other == one or town.lanes[index.ids[other]].predecessors == entry:
                assert other not in told
            elif shared > 1.0 or shared == 0.0:
                assert (other in told) is (shared > 1.0)


def test_one_that_gives_way_by_sign_or_turn_is_noted_at_each_conflict(town: RoadMap) -> None:
    """The western arm has a yield sign, the eastern one a stop sign; left turns give way to what comes towards them."""
    index = index_of(town)
    arrays, noted = index.arrays, 0
    for one in range(len(index.ids)):
        for k in range(arrays.conflict_start[one], arrays.conflict_start[one + 1]):
            mine, theirs = (town.lanes[index.ids[n]] for n in (one, int(arrays.conflict[k])))
            from_sign = mine.predecessors[0].road in ("1", "3")
            to_sign = theirs.predecessors[0].road in ("1", "3")
            if from_sign and not to_sign:
                assert arrays.gives_way[k]
            elif to_sign and not from_sign:
                assert not arrays.gives_way[k]
            else:
                between = wrap_angle(float(mine.center.heading[0] - theirs.center.heading[0]))
                left = mine.center.heading[-1] - mine.center.heading[0] > 0.5
                theirs_left = theirs.center.heading[-1] - theirs.center.heading[0] > 0.5
                if abs(abs(between) - math.pi) < 0.1:
                    assert arrays.gives_way[k] == (left and not theirs_left)
            noted += 1
    assert noted > 20
