from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scenes import row, walker
from traffic_drive import Drive

from tuling_fsm.behaviour.traffic.rules import traffic_rules
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.random_route import random_route
from tuling_fsm.world.inputs import Light

MAPS = [
    "carla_Town01.xodr", "carla_Town07.xodr", "pyopendrive_chatt.xodr", "esmini_fabriksgatan_traffic_lights.xodr",
    "esmini_parking_demo.xodr",
]  # fmt: skip


@pytest.mark.clause("USE-3")
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.medium
def test_on_any_map_with_anybody_anywhere_walls_are_ahead_finite_and_repeatable(
    shared_data: Path, name: str, seed: int
) -> None:
    road_map, rng = read_map(shared_data / "maps" / name), np.random.default_rng(seed)
    try:
        route = random_route(road_map, rng, 500.0)
    except InputError as error:
        pytest.skip(str(error))
    drive, signals = Drive(road_map, route, v=6.0), list(road_map.signals)
    for s in np.arange(1.0, route.length - 6.0, 3.0).tolist():
        drive.s = s
        drive.v = float(rng.choice([0.0, 2.0, 8.0]))
        drive.lights = {signal: Light(int(rng.integers(0, 7))) for signal in signals if rng.random() < 0.8}
        drive.objects = []
        for number in range(25):
            pose = route.reference.at(s + float(rng.uniform(-30.0, 70.0)))
            x, y = pose.x + float(rng.normal(0.0, 8.0)), pose.y + float(rng.normal(0.0, 8.0))
            speed, heading = float(rng.choice([0.0, 1.0, 7.0])), pose.heading + float(rng.choice([0.0, 1.6, 3.1]))
            walks = number % 5 == 0
            drive.objects.append(walker(number, x, y, 0.5 * speed) if walks else row(number, x, y, heading, speed))
        before = drive.memory
        rules = drive.tick()
        assert drive.world is not None
        again = traffic_rules(drive.world, road_map, drive.vehicle, before, drive.parameters)
        assert again.walls == rules.walls and again.zones == rules.zones
        assert again.memory.junctions == rules.memory.junctions and again.memory.lines == rules.memory.lines
        for wall in rules.walls:
            assert all(math.isfinite(v) for v in (wall.x0, wall.y0, wall.x1, wall.y1)) and wall.detail
            if "beside" not in wall.detail:
                assert drive.wall_s(wall) > drive.front - 0.5
        assert rules.speed_limit > 0.0 and all(zone.speed > 0.0 for zone in rules.zones)
