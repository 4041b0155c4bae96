"""Inputs as no sensor should send them: the car drives no worse for them than without (SAF-3)."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from scenes import row, table

from tuling_fsm.agent import Agent
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import Inputs, Occupancy, Odometry, StampedRows
from tuling_fsm.world.received import in_floats

from .drives import drive


@pytest.fixture(scope="module")
def route(course: RoadMap) -> Route:
    return random_route(course, np.random.default_rng(3), 150.0)


def is_under(car: Pose, place: Pose) -> bool:
    """Whether a place is under the car."""
    dx, dy = place.x - car.x, place.y - car.y
    c, s = math.cos(car.heading), math.sin(car.heading)
    vehicle = Vehicle()
    along, across = c * dx + s * dy, -s * dx + c * dy
    return -vehicle.rear_overhang <= along <= vehicle.front and abs(across) <= 0.5 * vehicle.width


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(("cells", "resolution"), [(400, 0.5), (1000, 0.1)])
@pytest.mark.medium
def test_a_grid_that_is_occupied_all_over_is_not_driven_through(
    course: RoadMap, route: Route, cells: int, resolution: float
) -> None:
    full, half = np.full((cells, cells), 100, np.int8), 0.5 * cells * resolution

    def around(stamp: float) -> dict[str, Any]:
        if stamp < 4.0:
            return {}
        x, y, _ = route.reference.at(20.0)
        return {"occupancy": Occupancy(stamp, resolution, Pose(x - half, y - half, 0.0), full)}

    ticks = list(drive(Agent(course), route, 160, around))
    assert ticks[79].world.ego.v > 3.0
    assert ticks[-1].trajectory.stands and ticks[-1].world.ego.v == 0.0
    assert math.dist(ticks[79].world.ego.pose[:2], ticks[-1].world.ego.pose[:2]) < ticks[79].world.ego.v ** 2 / 4.0


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    "wrong",
    [{"length": 0.0, "width": 0.0}, {"width": math.nan}, {"vx": 900.0}, {"heading": math.inf}, {"existence": 90.0}],
)
@pytest.mark.medium
def test_what_stands_in_the_way_is_stopped_for_whatever_is_wrong_with_its_row(
    course: RoadMap, route: Route, wrong: dict[str, float]
) -> None:
    place = route.reference.at(45.0)
    rows = table(row(7, place.x, place.y, place.heading, length=1.0, width=1.0))
    for column, value in wrong.items():
        rows[column] = value
    ticks = list(drive(Agent(course), route, 240, lambda stamp: {"objects": StampedRows(stamp, rows)}))
    assert max(tick.world.ego.v for tick in ticks) > 3.0
    assert not any(is_under(tick.world.ego.pose, place) for tick in ticks), "stopped for, or gone round"
    lines = [line for tick in ticks for line in tick.world.reports if line.startswith("objects:")]
    assert len(lines) == 1 and "object 7 first" in lines[0]


def _signatures() -> dict[str, int]:
    """How many types of arguments each kernel is compiled for."""
    loaded = [module for name, module in sys.modules.items() if name.startswith("tuling_fsm.")]
    kernels = [each for module in loaded for each in vars(module).values() if isinstance(each, Dispatcher)]
    return {f"{each.py_func.__module__}.{each.__qualname__}": len(each.signatures) for each in kernels}


@pytest.mark.clause("SAF-3")
def test_whole_numbers_are_driven_by_like_any_others(course: RoadMap, route: Route) -> None:
    """For them Numba would compile the kernels of a tick anew, or refuse to."""

    def whole(stamp: float) -> dict[str, Any]:
        pose = route.reference.at(0.0)
        here = Pose(round(pose.x), np.float32(pose.y), np.float64(pose.heading))
        grid = Occupancy(0, 1, Pose(500, 500, 0), np.zeros((2, 2), np.int8))
        return {"odometry": Odometry(np.float64(stamp), here, 0, 0, 0, 0), "occupancy": grid}

    def parts(stamp: float) -> dict[str, Any]:
        return {name: in_floats(value) for name, value in whole(stamp).items()}

    expected = list(drive(Agent(course), route, 20, parts))
    compiled = _signatures()
    ticks = list(drive(Agent(course), route, 20, whole))
    assert _signatures() == compiled
    for one, other in zip(expected, ticks, strict=True):
        assert np.array_equal(one.trajectory.x, other.trajectory.x) and type(other.world.ego.v) is float


@pytest.mark.clause("SAF-1", "SAF-3")
@pytest.mark.parametrize("stamp", [math.nan, math.inf, -math.inf])
@pytest.mark.medium
def test_a_tick_without_a_time_has_an_answer_and_the_next_one_goes_on(
    course: RoadMap, route: Route, stamp: float
) -> None:
    agent = Agent(course)
    first = agent.step(Inputs(stamp))
    assert first.trajectory.stands and math.isfinite(first.stamp)
    agent = Agent(course)
    ticks = drive(agent, route, 60)
    for _ in range(50):
        last = next(ticks)
    lost = agent.step(Inputs(stamp, Odometry(stamp, Pose(stamp, 0.0, 0.0), stamp, stamp)))
    assert lost.stamp == last.stamp and np.isfinite(lost.trajectory.x).all()
    assert sorted(line.split(" ")[0] for line in lost.world.reports) == ["inputs:", "odometry:"]
    after = next(ticks)
    assert (after.state, after.result.feasible) == (last.state, True)
    assert not after.world.reports
