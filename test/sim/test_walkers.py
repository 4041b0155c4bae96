"""The population of pedestrians."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.core.geometry import FloatArray, Polyline
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import WalkerParameters
from tuling_fsm.sim.walkers import PAVEMENT, Crossing, Walkers, _safe

DT = 0.05
NOBODY = np.zeros((0, 6))
ACROSS = Crossing(((0.0, -4.0), (0.0, 4.0)))
"""A crosswalk over a road that runs along x."""


@pytest.fixture(scope="module")
def town(shared_data: Path) -> RoadMap:
    return read_map(shared_data / "maps" / "carla_Town07.xodr")


def vehicle(x: float, y: float, heading: float, v: float) -> FloatArray:
    return np.array([[x, y, heading, 4.5, 1.8, v]])


@pytest.mark.parametrize(
    ("row", "safe"),
    [
        (vehicle(-15.0, -1.75, 0.0, 8.0), False),
        (vehicle(-60.0, -1.75, 0.0, 8.0), True),
        (vehicle(-15.0, -1.75, math.pi, 8.0), True),
        (vehicle(-15.0, -1.75, 0.0, 0.0), True),
        (vehicle(15.0, 1.75, math.pi, 6.0), False),
        (vehicle(-15.0, -30.0, 0.0, 8.0), True),
        (vehicle(0.5, -1.75, 0.0, 1.0), False),
    ],
)
def test_nobody_steps_on_before_somebody_who_could_be_there(row: FloatArray, safe: bool) -> None:
    assert _safe(ACROSS, row, 3.0) is safe
    assert _safe(ACROSS, NOBODY, 3.0)


def test_they_stay_on_the_pavement_and_keep_walking(town: RoadMap) -> None:
    walkers = Walkers(town, 20, np.random.SeedSequence(3), WalkerParameters(crossing_share=0.0))
    assert len(walkers.walkers) == 20
    way = np.zeros(20)
    for _ in range(1200):
        walkers.step(DT, NOBODY)
        way += [walker.v * DT for walker in walkers.walkers]
    assert way.min() > 0.9 * 60.0
    for walker in walkers.walkers:
        x, y, _ = walker.pose
        assert town.project(x, y, types=PAVEMENT, radius=0.6) is not None
        assert 0.9 < walker.v < 1.7


def test_some_cross_and_reach_the_other_side(town: RoadMap) -> None:
    walkers = Walkers(town, 40, np.random.SeedSequence(1), WalkerParameters(crossing_share=1.0))
    crossed = set()
    steps = []
    for _ in range(3000):
        places = [walker.pose for walker in walkers.walkers]
        was = [walker.crossing for walker in walkers.walkers]
        walkers.step(DT, NOBODY)
        crossed.update(i for i, walker in enumerate(walkers.walkers) if was[i] and not walker.crossing)
        steps.append(max(math.dist(w.pose[:2], p[:2]) for w, p in zip(walkers.walkers, places, strict=True)))
    assert len(crossed) > 3
    assert np.percentile(steps, 90) < 0.1


def test_nobody_walks_into_a_standing_car(town: RoadMap) -> None:
    walkers = Walkers(town, 1, np.random.SeedSequence(2), WalkerParameters(crossing_share=0.0))
    walker = walkers.walkers[0]
    x, y, heading = walker.at(min(walker.s + 6.0, walker.leg.length))
    car = vehicle(x, y, heading + 0.5 * math.pi, 0.0)
    nearest = math.inf
    for _ in range(400):
        walkers.step(DT, car)
        dx, dy = walker.pose.x - x, walker.pose.y - y
        c, s = math.cos(heading + 0.5 * math.pi), math.sin(heading + 0.5 * math.pi)
        gap = math.hypot(max(abs(c * dx + s * dy) - 2.25, 0.0), max(abs(c * dy - s * dx) - 0.9, 0.0))
        nearest = min(nearest, gap)
    assert 0.3 < nearest < 2.0


def test_one_that_waits_at_the_kerb_gives_up_in_the_end(town: RoadMap) -> None:
    walkers = Walkers(town, 40, np.random.SeedSequence(1), WalkerParameters(crossing_share=1.0))
    middles = [np.mean(crossing.ends, axis=0).tolist() for crossing in walkers._crossings]
    everywhere = np.vstack([vehicle(*middle, 0.0, 5.0) for middle in middles])
    waits = 0.0
    for _ in range(1500):
        walkers.step(DT, everywhere)
        assert not any(walker.crossing for walker in walkers.walkers)
        waits = max(waits, max(walker.waited for walker in walkers.walkers))
    assert 1.0 < waits < 31.0


def test_a_map_without_pavement_has_no_pedestrians(plain: RoadMap) -> None:
    assert Walkers(plain, 10, np.random.SeedSequence(1), WalkerParameters()).walkers == []


def test_walkers_are_drawn_one_by_one(town: RoadMap) -> None:
    def starts(count: int) -> list[tuple[float, float]]:
        walkers = Walkers(town, count, np.random.SeedSequence(4), WalkerParameters())
        return [(walker.pose.x, walker.pose.y) for walker in walkers.walkers]

    assert starts(3) == starts(9)[:3]
    assert isinstance(Walkers(town, 1, np.random.SeedSequence(4), WalkerParameters()).walkers[0].leg, Polyline)
