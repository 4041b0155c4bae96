"""What a kernel gets has one form, whatever form it comes in: another one would be compiled in the middle of a tick."""

from __future__ import annotations

import importlib
import math
import pkgutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
from crossroads import crossroads
from numba.core.dispatcher import Dispatcher
from scenes import row, table, walker

import tuling_fsm.core
import tuling_fsm.map
import tuling_fsm.world
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import FAR_TABLES, Inputs, Occupancy, Odometry, StampedRows
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import World

NORTH = 0.5 * math.pi


def signatures() -> dict[str, int]:
    found = {}
    for package in (tuling_fsm.core, tuling_fsm.map, tuling_fsm.world):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, Dispatcher):
                    found[f"{value.__module__}.{name}"] = len(value.signatures)
    return found


def sealed(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """As an array comes out of a message: it cannot be written to."""
    copied = rows.copy()
    copied.flags.writeable = False
    return copied


def every_other(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """The same rows, apart from each other in memory."""
    return np.repeat(rows, 2, axis=0)[::2]


def test_places_of_double_precision_are_not_compiled_in_a_tick(tmp_path: Path) -> None:
    builder = WorldBuilder(crossroads(tmp_path), Vehicle(), WorldParameters())
    builder.warm_up()
    before = signatures()
    rows = table(row(2, 1.75, -60.0, NORTH)).astype(FAR_TABLES["objects"])
    rows["y"] += 1e-7
    odometry = Odometry(0.0, Pose(1.75, -80.0, NORTH), 0.0, 0.0)
    world = builder.build(Inputs(0.0, odometry, StampedRows(0.0, sealed(rows))), None, None)
    assert signatures() == before
    assert world.traffic.body[0, 1] == -60.0 + 1e-7


def test_no_form_of_an_input_is_compiled_anew(tmp_path: Path) -> None:
    road_map = crossroads(tmp_path)
    builder = WorldBuilder(road_map, Vehicle(), WorldParameters())
    builder.warm_up()
    route = plan_route(road_map, Pose(1.75, -110.0, NORTH), Pose(1.75, 110.0, NORTH)).route
    rows = table(row(3, 1.75, -40.0, NORTH, 4.0), row(2, 1.75, -60.0, NORTH), walker(9, 6.0, -50.0))
    cells = np.full((4, 4), 100, np.int8)
    worlds: list[World] = []
    last, before = None, {}
    for k, form in enumerate((np.copy, sealed, every_other, np.copy)):
        grid = Occupancy(0.1 * k, 1.0, Pose(30.0, -80.0, 0.0), form(cells))
        odometry = Odometry(0.1 * k, Pose(1.75, -80.0, NORTH), 0.0, 0.0)
        last = builder.build(Inputs(0.1 * k, odometry, StampedRows(0.1 * k, form(rows)), grid), last, route)
        worlds.append(last)
        before = before or signatures()
    assert signatures() == before
    assert len({world.traffic.body.tobytes() for world in worlds}) == 1
    assert len({world.scene.static_segments.tobytes() for world in worlds}) == 1
