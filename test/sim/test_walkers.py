"""The population of pedestrians."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.core.geometry import FloatArray, Polyline
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.crossings import Crossing, safe
from tuling_fsm.sim.parameters import WalkerParameters
from tuling_fsm.sim.walkers import PAVEMENT, Walkers
from tuling_fsm.world.inputs import Light

DT = 0.05
NOBODY = np.zeros((0, 6))
ACROSS = Crossing(((0.0, -4.0), (0.0, 4.0)))
"""A crosswalk over a road that runs along x."""


@pytest.fixture(scope="module")
def town(shared_data: Path) -> RoadMap:
    return read_map(shared_data / "maps" / "carla_Town07.xodr")


@pytest.fixture(scope="module")
def parade(shared_data: Path) -> RoadMap:
    """Two narrow pavements of 200 m."""
    return read_map(shared_data / "maps" / "esmini_parking_demo.xodr")


def vehicle(x: float, y: float, heading: float, v: float) -> FloatArray:
    return np.array([[x, y, heading, 4.5, 1.8, v]])


@pytest.mark.parametrize(
    ("row", "clear"),
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
def test_nobody_steps_on_before_somebody_who_could_be_there(row: FloatArray, clear: bool) -> None:
    assert safe(ACROSS, row, 3.0) is clear
    assert safe(ACROSS, NOBODY, 3.0)


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


@pytest.mark.slow
def test_some_cross_and_reach_the_other_side(town: RoadMap) -> None:
    walkers = Walkers(town, 40, np.random.SeedSequence(1), WalkerParameters(crossing_share=1.0))
    crossed = set()
    steps = []
    while len(crossed) <= 3 and len(steps) < 3000:
        places = [walker.pose for walker in walkers.walkers]
        was = [walker.crossing for walker in walkers.walkers]
        walkers.step(DT, NOBODY)
        crossed.update(i for i, walker in enumerate(walkers.walkers) if was[i] and not walker.crossing)
        steps.append(max(math.dist(w.pose[:2], p[:2]) for w, p in zip(walkers.walkers, places, strict=True)))
    assert len(crossed) > 3
    assert len(steps) > 100
    assert np.percentile(steps, 90) < 0.1


@pytest.mark.clause("ORCA-1")
def test_they_walk_around_a_standing_car(parade: RoadMap) -> None:
    walkers = Walkers(parade, 1, np.random.SeedSequence(2), WalkerParameters(crossing_share=0.0))
    walker = walkers.walkers[0]
    car_s = walker.s + 6.0
    assert car_s + 6.0 < walker.leg.length
    x, y, heading = walker.at(car_s)
    car = vehicle(x, y, heading + 0.5 * math.pi, 0.0)
    nearest = past = math.inf
    for _ in range(300):
        walkers.step(DT, car)
        dx, dy = walker.pose.x - x, walker.pose.y - y
        c, s = math.cos(heading + 0.5 * math.pi), math.sin(heading + 0.5 * math.pi)
        gap = math.hypot(max(abs(c * dx + s * dy) - 2.25, 0.0), max(abs(c * dy - s * dx) - 0.9, 0.0))
        nearest, past = min(nearest, gap), dx * math.cos(heading) + dy * math.sin(heading)
    assert 0.3 < nearest < 0.6
    assert past > 3.0


@pytest.mark.slow
@pytest.mark.clause("ORCA-1")
def test_they_avoid_one_another_and_still_get_on(parade: RoadMap) -> None:
    walkers = Walkers(parade, 120, np.random.SeedSequence(1), WalkerParameters(crossing_share=0.0))
    nearest, speeds = math.inf, []
    for frame in range(500):
        walkers.step(DT, NOBODY)
        if frame % 5 == 0 and frame > 100:
            places = np.array([walker.pose[:2] for walker in walkers.walkers])
            apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
            nearest = min(nearest, float(np.min(apart[~np.eye(len(places), dtype=bool)])))
            speeds.append(np.mean([walker.v for walker in walkers.walkers]))
    assert nearest > 0.65
    assert np.mean(speeds) > 0.9


def begun(town: RoadMap, state: int, parameters: WalkerParameters, vehicles: FloatArray = NOBODY) -> set[int]:
    """Crosswalks with lights on which somebody has stepped while those showed a state."""
    walkers = Walkers(town, 40, np.random.SeedSequence(1), parameters)
    lights = {number: state for crossing in walkers.crossings for number in crossing.signals}
    assert lights
    used = set()
    for _ in range(600):
        walkers.step(2.0 * DT, vehicles, lights)
        used |= {w.goal.crossing for w in walkers.walkers if w.crossing and w.goal is not None}
    return {k for k in used if walkers.crossings[k].signals}


@pytest.mark.slow
def test_they_wait_for_a_red_light_of_their_own_unless_told_otherwise(town: RoadMap) -> None:
    assert begun(town, Light.GREEN, WalkerParameters(crossing_share=1.0)) == set()
    assert begun(town, Light.RED, WalkerParameters(crossing_share=1.0))
    assert begun(town, Light.GREEN, WalkerParameters(crossing_share=1.0, red_share=1.0))


@pytest.mark.slow
def test_who_runs_out_minds_neither_light_nor_vehicle(town: RoadMap) -> None:
    kinds = WalkerParameters(crossing_share=1.0)
    walkers = Walkers(town, 1, np.random.SeedSequence(1), kinds)
    middles = [np.mean(crossing.ends, axis=0) for crossing in walkers.crossings]
    coming = np.vstack([vehicle(x - 12.0, y, 0.0, 8.0) for x, y in middles])
    coming = np.vstack((coming, np.vstack([vehicle(x, y - 12.0, 0.5 * math.pi, 8.0) for x, y in middles])))
    assert begun(town, Light.GREEN, kinds, coming) == set()
    assert begun(town, Light.GREEN, WalkerParameters(crossing_share=1.0, run_out_share=1.0), coming)


def test_some_run_across_the_road_from_anywhere(town: RoadMap) -> None:
    walkers = Walkers(town, 20, np.random.SeedSequence(1), WalkerParameters(crossing_share=0.0, run_out_rate=0.1))
    runs, on_road = 0.0, False
    for _ in range(400):
        walkers.step(DT, NOBODY)
        running = [w for w in walkers.walkers if w.crossing and w.v > 2.0]
        runs = max([runs, *(w.v for w in running)])
        on_road = on_road or any(town.project(w.pose.x, w.pose.y) is not None for w in running)
    assert runs == pytest.approx(3.0, abs=0.3)
    assert on_road
    assert any(not w.crossing and w.lane is not None for w in walkers.walkers)


@pytest.mark.slow
def test_one_that_waits_at_the_kerb_gives_up_in_the_end(town: RoadMap) -> None:
    walkers = Walkers(town, 40, np.random.SeedSequence(1), WalkerParameters(crossing_share=1.0))
    middles = [np.mean(crossing.ends, axis=0).tolist() for crossing in walkers.crossings]
    everywhere = np.vstack([vehicle(*middle, 0.0, 5.0) for middle in middles])
    waits = 0.0
    for _ in range(600):
        walkers.step(2.0 * DT, everywhere)
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


SCRIPT = """
import hashlib, sys
from pathlib import Path
import numpy as np
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.sim.parameters import WalkerParameters
from tuling_fsm.sim.walkers import Walkers
road_map = read_map(Path(sys.argv[1]))
for seed in (1, 2):
    walkers = Walkers(road_map, 60, np.random.SeedSequence(seed), WalkerParameters())
    for _ in range(100):
        walkers.step(0.05, np.array([[100.0, 8.0, 0.1, 4.5, 1.8, 0.0]]))
    print(hashlib.sha256(np.array([walker.pose for walker in walkers.walkers]).tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_pedestrians_walk_alike_in_every_process(shared_data: Path) -> None:
    def traces(hash_seed: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(shared_data / "maps" / "esmini_parking_demo.xodr")],
            capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )  # fmt: skip
        return done.stdout.split()

    first, second = traces("0")
    assert traces("77") == [first, second]
    assert first != second
