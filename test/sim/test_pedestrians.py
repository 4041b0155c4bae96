"""The population of pedestrians."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import PedestrianPopulationParameters
from tuling_fsm.sim.pedestrians.population import PAVEMENT, Pedestrians
from tuling_fsm.sim.pedestrians.surroundings import CrosswalkSpan, PedestrianObstacles, safe
from tuling_fsm.world.inputs import Light

DT = 0.05
NO_VEHICLES = np.zeros((0, 6))
ACROSS = CrosswalkSpan(((0.0, -4.0), (0.0, 4.0)))
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
def test_pedestrians_wait_for_vehicles_that_could_be_there(row: FloatArray, clear: bool) -> None:
    assert safe(ACROSS, row, 3.0) is clear
    assert safe(ACROSS, NO_VEHICLES, 3.0)


@pytest.mark.parametrize("length", [12.0, 26.0, 60.0])
def test_the_ends_of_a_long_vehicle_are_in_the_way(parade: RoadMap, length: float) -> None:
    x, y = 5000.0, 5000.0
    body = np.array([[x, y, 0.0, length, 2.5, 0.0]])
    near, far = (np.array([[x + 0.5 * length + away, y]]) for away in (1.0, 20.0))
    assert [len(PedestrianObstacles(parade).near(places, body)) for places in (near, far)] == [1, 0]


@pytest.mark.medium
def test_they_stay_on_the_pavement_and_keep_walking(town: RoadMap) -> None:
    pedestrians = Pedestrians(town, 20, np.random.SeedSequence(3), PedestrianPopulationParameters(crossing_share=0.0))
    assert len(pedestrians.pedestrians) == 20
    way = np.zeros(20)
    for _ in range(1200):
        pedestrians.step(DT, NO_VEHICLES)
        way += [pedestrian.v * DT for pedestrian in pedestrians.pedestrians]
    assert way.min() > 0.9 * 60.0
    for pedestrian in pedestrians.pedestrians:
        x, y, _ = pedestrian.pose
        assert town.project(x, y, types=PAVEMENT, radius=0.6) is not None
        assert 0.9 < pedestrian.v < 1.7


@pytest.mark.slow
def test_some_cross_and_reach_the_other_side(town: RoadMap) -> None:
    pedestrians = Pedestrians(town, 40, np.random.SeedSequence(1), PedestrianPopulationParameters(crossing_share=1.0))
    crossed = set()
    steps = []
    while len(crossed) <= 3 and len(steps) < 3000:
        places = [pedestrian.pose for pedestrian in pedestrians.pedestrians]
        was = [pedestrian.crossing for pedestrian in pedestrians.pedestrians]
        pedestrians.step(DT, NO_VEHICLES)
        crossed.update(i for i, pedestrian in enumerate(pedestrians.pedestrians) if was[i] and not pedestrian.crossing)
        steps.append(max(math.dist(w.pose[:2], p[:2]) for w, p in zip(pedestrians.pedestrians, places, strict=True)))
    assert len(crossed) > 3
    assert len(steps) > 100
    assert np.percentile(steps, 90) < 0.1


@pytest.mark.clause("ORCA-1")
def test_they_walk_around_a_standing_car(parade: RoadMap) -> None:
    pedestrians = Pedestrians(parade, 1, np.random.SeedSequence(2), PedestrianPopulationParameters(crossing_share=0.0))
    pedestrian = pedestrians.pedestrians[0]
    car_s = pedestrian.s + 6.0
    assert car_s + 6.0 < pedestrian.leg.length
    x, y, heading = pedestrian.at(car_s)
    car = vehicle(x, y, heading + 0.5 * math.pi, 0.0)
    nearest = past = math.inf
    for _ in range(300):
        pedestrians.step(DT, car)
        dx, dy = pedestrian.pose.x - x, pedestrian.pose.y - y
        c, s = math.cos(heading + 0.5 * math.pi), math.sin(heading + 0.5 * math.pi)
        gap = math.hypot(max(abs(c * dx + s * dy) - 2.25, 0.0), max(abs(c * dy - s * dx) - 0.9, 0.0))
        nearest, past = min(nearest, gap), dx * math.cos(heading) + dy * math.sin(heading)
    assert 0.3 < nearest < 0.6
    assert past > 3.0


@pytest.mark.slow
@pytest.mark.clause("ORCA-1")
def test_they_avoid_one_another_and_still_get_on(parade: RoadMap) -> None:
    pedestrians = Pedestrians(
        parade, 120, np.random.SeedSequence(1), PedestrianPopulationParameters(crossing_share=0.0)
    )
    nearest, speeds = math.inf, []
    for frame in range(500):
        pedestrians.step(DT, NO_VEHICLES)
        if frame % 5 == 0 and frame > 100:
            places = np.array([pedestrian.pose[:2] for pedestrian in pedestrians.pedestrians])
            apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
            nearest = min(nearest, float(np.min(apart[~np.eye(len(places), dtype=bool)])))
            speeds.append(np.mean([pedestrian.v for pedestrian in pedestrians.pedestrians]))
    assert nearest > 0.65
    assert np.mean(speeds) > 0.9


def begun(
    town: RoadMap, state: int, parameters: PedestrianPopulationParameters, vehicles: FloatArray = NO_VEHICLES
) -> set[int]:
    """Crosswalks with lights that a pedestrian has begun to cross while they showed a state."""
    pedestrians = Pedestrians(town, 40, np.random.SeedSequence(1), parameters)
    lights = {number: state for crossing in pedestrians.crossings for number in crossing.signals}
    assert lights
    used = set()
    for _ in range(600):
        pedestrians.step(2.0 * DT, vehicles, lights)
        used |= {w.goal.crossing for w in pedestrians.pedestrians if w.crossing and w.goal is not None}
    return {k for k in used if pedestrians.crossings[k].signals}


@pytest.mark.slow
def test_they_wait_for_a_red_light_of_their_own_unless_told_otherwise(town: RoadMap) -> None:
    assert begun(town, Light.GREEN, PedestrianPopulationParameters(crossing_share=1.0)) == set()
    assert begun(town, Light.RED, PedestrianPopulationParameters(crossing_share=1.0))
    assert begun(town, Light.GREEN, PedestrianPopulationParameters(crossing_share=1.0, red_share=1.0))


@pytest.mark.slow
def test_one_that_runs_out_minds_neither_light_nor_vehicle(town: RoadMap) -> None:
    kinds = PedestrianPopulationParameters(crossing_share=1.0)
    pedestrians = Pedestrians(town, 1, np.random.SeedSequence(1), kinds)
    middles = [np.mean(crossing.ends, axis=0) for crossing in pedestrians.crossings]
    coming = np.vstack([vehicle(x - 12.0, y, 0.0, 8.0) for x, y in middles])
    coming = np.vstack((coming, np.vstack([vehicle(x, y - 12.0, 0.5 * math.pi, 8.0) for x, y in middles])))
    assert begun(town, Light.GREEN, kinds, coming) == set()
    assert begun(town, Light.GREEN, PedestrianPopulationParameters(crossing_share=1.0, run_out_share=1.0), coming)


def test_some_run_across_the_road_from_anywhere(town: RoadMap) -> None:
    pedestrians = Pedestrians(
        town, 20, np.random.SeedSequence(1), PedestrianPopulationParameters(crossing_share=0.0, run_out_rate=0.1)
    )
    runs, on_road = 0.0, False
    for _ in range(400):
        pedestrians.step(DT, NO_VEHICLES)
        running = [w for w in pedestrians.pedestrians if w.crossing and w.v > 2.0]
        runs = max([runs, *(w.v for w in running)])
        on_road = on_road or any(town.project(w.pose.x, w.pose.y) is not None for w in running)
    assert runs == pytest.approx(3.0, abs=0.3)
    assert on_road
    assert any(not w.crossing and w.lane is not None for w in pedestrians.pedestrians)


@pytest.mark.slow
def test_one_that_waits_at_the_kerb_gives_up_in_the_end(town: RoadMap) -> None:
    pedestrians = Pedestrians(town, 40, np.random.SeedSequence(1), PedestrianPopulationParameters(crossing_share=1.0))
    middles = [np.mean(crossing.ends, axis=0).tolist() for crossing in pedestrians.crossings]
    everywhere = np.vstack([vehicle(*middle, 0.0, 5.0) for middle in middles])
    waits = 0.0
    for _ in range(600):
        pedestrians.step(2.0 * DT, everywhere)
        assert not any(pedestrian.crossing for pedestrian in pedestrians.pedestrians)
        waits = max(waits, max(pedestrian.waited for pedestrian in pedestrians.pedestrians))
    assert 1.0 < waits < 31.0


def test_a_map_without_pavement_has_no_pedestrians(plain: RoadMap) -> None:
    assert Pedestrians(plain, 10, np.random.SeedSequence(1), PedestrianPopulationParameters()).pedestrians == []


def test_walkers_are_drawn_one_by_one(town: RoadMap) -> None:
    def starts(count: int) -> list[tuple[float, float]]:
        pedestrians = Pedestrians(town, count, np.random.SeedSequence(4), PedestrianPopulationParameters())
        return [(pedestrian.pose.x, pedestrian.pose.y) for pedestrian in pedestrians.pedestrians]

    assert starts(3) == starts(9)[:3]
    assert isinstance(
        Pedestrians(town, 1, np.random.SeedSequence(4), PedestrianPopulationParameters()).pedestrians[0].leg, Polyline
    )


SCRIPT = """
import hashlib, sys
from pathlib import Path
import numpy as np
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.sim.parameters import PedestrianPopulationParameters
from tuling_fsm.sim.pedestrians.population import Pedestrians
road_map = read_map(Path(sys.argv[1]))
for seed in (1, 2):
    crowd = Pedestrians(road_map, 60, np.random.SeedSequence(seed), PedestrianPopulationParameters())
    for _ in range(100):
        crowd.step(0.05, np.array([[100.0, 8.0, 0.1, 4.5, 1.8, 0.0]]))
    print(hashlib.sha256(np.array([pedestrian.pose for pedestrian in crowd.pedestrians]).tobytes()).hexdigest())
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
