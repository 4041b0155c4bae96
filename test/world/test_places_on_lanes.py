"""Where bodies are on lanes, found once more by trying every piece of every lane; and how lanes are cut into pieces."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from map import xodr

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.core.records import replace
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.lane_index import LaneArrays, _build, _sharpest, _thin, lane_index
from tuling_fsm.world.lane_kernels import locate
from tuling_fsm.world.objects import BODY, HEADING, X, Y
from world.bodies import MAX_HEADING, scattered

BESIDE_M, BEYOND_END_M, BETWEEN_M = 0.2, 0.6, 0.05
CELL_M, CHORD_M, BEND_RAD = 8.0, 4.0, 0.05
MOST_LANES = 6


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """A bend of lanes of many widths, with one to walk on among them; the road goes on in two lanes."""
    grows = '<width sOffset="0" a="2.5" b="0.03" c="0" d="0"/>'
    falls = '<width sOffset="0" a="6" b="-0.03" c="0" d="0"/>'
    first = [
        xodr.lane(-3, 2.75), xodr.lane(-2, grows), xodr.lane(-1, falls, links=((), (-1,))),
        xodr.lane(1, 3.25, links=((), (1,))), xodr.lane(2, 1.5, kind="sidewalk"), xodr.lane(3, grows),
    ]  # fmt: skip
    then = [xodr.lane(-1, 3.0, links=((-1,), ())), xodr.lane(1, 3.0, links=((1,), ()))]
    arc = xodr.geometry(0.0, -30.0, 70.0, 0.4, 90.0, '<arc curvature="0.012"/>')
    return xodr.read(
        tmp_path_factory.mktemp("maps"), xodr.road([xodr.section(first), xodr.section(then, s=60.0)], "1", arc, 90.0)
    )


def places_of(lanes: LaneArrays, one: FloatArray) -> list[tuple[int, float, float, float]]:
    """Lanes, arc lengths, offsets and turns of a body, best first: of all pieces of all lanes."""
    p = np.flatnonzero(np.diff(lanes.point_lane) == 0)
    number = lanes.point_lane[p]
    first, last = p == lanes.start[number], p + 2 == lanes.start[number + 1]
    chord = np.column_stack((lanes.x[p + 1] - lanes.x[p], lanes.y[p + 1] - lanes.y[p]))
    step = np.maximum(np.linalg.norm(chord, axis=1), 1e-9)
    c, s = (chord / step[:, None]).T
    dx, dy = one[X] - lanes.x[p], one[Y] - lanes.y[p]
    along, side = dx * c + dy * s, c * dy - s * dx
    u = np.clip(along / step, 0.0, 1.0)
    left, right, heading = (
        column[p] + u * (column[p + 1] - column[p]) for column in (lanes.left, lanes.right, lanes.heading)
    )
    turn = np.mod(one[HEADING] - heading + math.pi, 2.0 * math.pi) - math.pi
    before, after = (np.where(end, BEYOND_END_M, BETWEEN_M) for end in (first, last))
    holds = (along >= -before) & (along <= step + after) & (step > 1e-6) & (np.abs(turn) <= MAX_HEADING)
    holds &= (side <= left + BESIDE_M) & (-side <= right + BESIDE_M)
    cost = np.abs(side) + 2.0 * np.abs(turn) + np.abs(along - np.clip(along, 0.0, step))
    arc = lanes.s[p] + along / step * (lanes.s[p + 1] - lanes.s[p])
    best: dict[int, int] = {}
    for k in sorted(np.flatnonzero(holds).tolist(), key=lambda k: (cost[k], k)):
        best.setdefault(int(number[k]), k)
    return [(n, float(arc[k]), float(side[k]), float(turn[k])) for n, k in best.items()][:MOST_LANES]


@pytest.mark.parametrize(("seed", "least"), [(0, 1.0), (1, 0.4), (2, 0.7)])
def test_places_are_those_of_all_lanes_tried_one_by_one(course: RoadMap, seed: int, least: float) -> None:
    """Also on lanes of any width, on each side, at each of their points; some points are twice there."""
    lanes, draw = lane_index(course).arrays, np.random.default_rng(seed)
    lanes = lanes._replace(
        left=lanes.left * draw.uniform(least, 1.0, len(lanes.s)),
        right=lanes.right * draw.uniform(least, 1.0, len(lanes.s)),
        x=lanes.x.copy(), y=lanes.y.copy(),
    )  # fmt: skip
    if least < 1.0:
        steps = np.hypot(np.diff(lanes.x), np.diff(lanes.y))
        twice = np.flatnonzero((np.diff(lanes.point_lane) == 0) & (steps < 0.4))
        assert len(twice) > 5
        lanes.x[twice], lanes.y[twice] = lanes.x[twice + 1], lanes.y[twice + 1]
    body, several = scattered(course, 160, 20 + seed), 0
    told = locate(lanes, body, np.ones(len(body), np.bool_), MAX_HEADING)
    for i, one in enumerate(body):
        expected = places_of(lanes, one)
        n = len(expected)
        assert told.lane[i].tolist() == [each[0] for each in expected] + [-1] * (MOST_LANES - n)
        for column, values in zip(told[1:], list(zip(*expected, strict=True))[1:], strict=False):
            np.testing.assert_allclose(column[i, :n], values, atol=1e-9)
        several += n > 1
    assert several > 10


def test_places_on_a_bend_of_lanes_that_taper_are_those_of_all_lanes(wide: RoadMap) -> None:
    lanes, body, held = _build(wide).arrays, scattered(wide, 250, 4), 0
    told = locate(lanes, body, np.ones(len(body), np.bool_), MAX_HEADING)
    for i, one in enumerate(body):
        expected = [each[0] for each in places_of(lanes, one)]
        assert told.lane[i].tolist() == expected + [-1] * (MOST_LANES - len(expected))
        held += len(expected)
    assert held > 60


def test_on_a_map_without_lanes_nobody_is_on_one(tmp_path: Path) -> None:
    walk = xodr.read(tmp_path, xodr.road(xodr.section([xodr.lane(-1, kind="sidewalk")])))
    index, body = lane_index(walk), np.zeros((7, BODY))
    body[:, X] = (3.0, 9.0, 3.0, 9.0, -1.0, 3.0, 17.0)
    body[:, Y] = (3.0, 3.0, 9.0, 9.0, 3.0, -1.0, 17.0)
    assert index.ids == () and index.arrays.beside.shape == (0, 2)
    assert len(index.arrays.x) == 0 and len(index.arrays.cell_start) == index.arrays.grid[3] * index.arrays.grid[4] + 1
    places = locate(index.arrays, body, np.ones(7, np.bool_), MAX_HEADING)
    assert np.all(places.lane == -1)


def test_every_cell_has_all_pieces_of_lanes_whose_surface_may_reach_it(wide: RoadMap) -> None:
    """A piece is a straight chord with half a lane, and half a metre, on each side."""
    lanes = _build(wide).arrays
    x, y, size, columns, rows = lanes.grid
    assert size == CELL_M and len(lanes.cell_start) == columns * rows + 1
    assert x < lanes.x.min() - CELL_M and lanes.x.max() + CELL_M < x + size * columns
    assert y < lanes.y.min() - CELL_M and lanes.y.max() + CELL_M < y + size * rows
    pieces = np.flatnonzero(np.diff(lanes.point_lane) == 0)
    half = np.array([max(lanes.left[lanes.point_lane == n].max(), lanes.right[lanes.point_lane == n].max())
                     for n in range(len(lanes.length))])  # fmt: skip
    cells = {p: set[int]() for p in pieces.tolist()}
    for cell in range(int(columns * rows)):
        for p in lanes.cell_segment[lanes.cell_start[cell] : lanes.cell_start[cell + 1]].tolist():
            assert cell not in cells[p]
            cells[p].add(cell)
    for p in pieces.tolist():
        reach = half[lanes.point_lane[p]] + 0.5
        ends = lanes.x[p : p + 2] - x, lanes.y[p : p + 2] - y
        low, high = (
            [math.floor((pick(end) + sign * reach) / size) for end in ends] for pick, sign in ((min, -1), (max, 1))
        )
        across, up = (range(low[k], high[k] + 1) for k in (0, 1))
        assert cells[p] == {int(row * columns) + column for row in up for column in across}


Steps = list[tuple[float, float]]
STEPS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.7, 1.9, 2.1, 3.9, 4.2]), st.sampled_from([0.0, 0.001, 0.02, -0.02, 0.06, -0.3])),
    min_size=1, max_size=25,
)  # fmt: skip


def lane_of(course: RoadMap, steps: Steps) -> tuple[FloatArray, FloatArray, Polyline]:
    """Arc lengths and headings of a line that goes on and turns by these steps."""
    s = np.concatenate(([0.0], np.cumsum([step for step, _ in steps])))
    heading = 0.3 + np.concatenate(([0.0], np.cumsum([turn for _, turn in steps])))
    some = next(iter(course.lanes.values())).center
    return s, heading, replace(some, xy=np.zeros((len(s), 2)), s=s, heading=heading)


@settings(max_examples=80)
@given(steps=STEPS)
def test_points_are_left_out_as_long_as_the_piece_stays_short_and_straight(course: RoadMap, steps: Steps) -> None:
    s, heading, center = lane_of(course, steps)
    rows = _thin(replace(next(iter(course.lanes.values())), center=center)).tolist()
    assert rows[0] == 0 and rows[-1] == len(s) - 1 and rows == sorted(set(rows))

    def is_one_piece(begin: int, end: int) -> bool:
        return bool(s[end] - s[begin] <= CHORD_M and abs(heading[end] - heading[begin]) <= BEND_RAD)

    for begin, end in itertools.pairwise(rows):
        assert end == begin + 1 or is_one_piece(begin, end)
        assert end == len(s) - 1 or not is_one_piece(begin, end + 1)


@settings(max_examples=80)
@given(steps=STEPS)
def test_how_sharply_a_lane_bends_is_how_far_it_turns_within_five_metres(course: RoadMap, steps: Steps) -> None:
    s, heading, center = lane_of(course, steps)
    lane = replace(next(iter(course.lanes.values())), center=center)
    assert lane.length == s[-1]
    span = min(5.0, float(s[-1]))
    fine = np.concatenate((s, s + 1e-9))
    turned = np.abs(np.interp(np.minimum(fine + span, s[-1]), s, heading) - np.interp(fine, s, heading))
    assert _sharpest(lane) == pytest.approx(float(turned.max()) / max(span, 1.0), abs=1e-6)
