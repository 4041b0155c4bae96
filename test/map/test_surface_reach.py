"""How far the surface beside a lane goes on, beside looking at every stretch of every lane."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crossroads import crossroads

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.surface import HEADING, LEFT, REACH_STEP_M, RIGHT, X, Y


@pytest.fixture(scope="module")
def crossing(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "plain")


def held(samples: FloatArray, starts: np.ndarray, x: float, y: float, gap: float) -> bool:
    one, other = samples[starts], samples[starts + 1]
    dx, dy = other[:, X] - one[:, X], other[:, Y] - one[:, Y]
    length = np.hypot(dx, dy)
    along = ((x - one[:, X]) * dx + (y - one[:, Y]) * dy) / length
    offset = (dx * (y - one[:, Y]) - dy * (x - one[:, X])) / length
    u = np.clip(along / length, 0.0, 1.0)
    left, right = (one[:, side] + u * (other[:, side] - one[:, side]) for side in (LEFT, RIGHT))
    beside = (-right - gap <= offset) & (offset <= left + gap)
    return bool(np.any(beside & (-gap <= along) & (along <= length + gap)))


def followed(samples: FloatArray, starts: np.ndarray, row: FloatArray, side: int, most: float, gap: float) -> float:
    reach, sign = float(row[3 + side]), 1.0 - 2.0 * side
    for step in range(1, int(most / REACH_STEP_M) + 1):
        across = row[3 + side] + step * REACH_STEP_M
        x, y = row[0] - sign * across * math.sin(row[2]), row[1] + sign * across * math.cos(row[2])
        if not held(samples, starts, x, y, gap):
            break
        reach = across
    return reach


@pytest.mark.parametrize("gap", [0.0, 0.05])
def test_it_goes_on_as_far_as_some_stretch_of_a_lane_holds_each_point(gap: float, crossing: RoadMap) -> None:
    """Also of stretches that are not in a line, and of lanes that count and others that do not."""
    index, random = crossing.index, np.random.default_rng(1)
    samples = index.samples
    chosen = random.choice(len(samples), 24)
    aside = random.normal(0.0, 0.3, (24, 3))
    rows = np.column_stack((samples[chosen][:, (X, Y, HEADING)] + aside, samples[chosen][:, (LEFT, RIGHT)]))
    mask = random.random(int(index.lane.max()) + 1) < 0.7
    starts = np.flatnonzero((index.lane[:-1] == index.lane[1:]) & mask[index.lane[:-1]])
    found = index.reach(rows, mask, 6.0, gap)
    expected = [[followed(samples, starts, row, side, 6.0, gap) for side in range(2)] for row in rows]
    assert found == pytest.approx(np.array(expected), abs=1e-9)
    assert len(set(np.round(found[:, 0], 1))) > 5
