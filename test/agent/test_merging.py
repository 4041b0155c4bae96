"""Two lanes that become one in a junction: who gathers speed there is met where that leads to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from map.ways import middle, ways
from scenes import row, table

from tuling_fsm.agent import Agent, Tick
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.rectangles import Rectangle, rectangles_apart
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.inputs import TRAFFIC_LIGHTS, Light, StampedRows

from .drives import drive

START_M, AHEAD_M = 80.0, 5.4
SETS_OFF_S, ACCEL, TOP_MPS = 2.5, 2.0, 10.0
VEHICLE = Vehicle()


@pytest.fixture(scope="module")
def zip_merge(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Each of two lanes has a way of its own into the one that goes on."""
    return ways(tmp_path_factory.mktemp("maps"), (1, 1), (2, 1), lanes=(2, 1))


def apart(tick: Tick, other: Pose) -> float:
    """Gap between the car and another one, m."""
    pose = tick.world.ego.pose
    (c, s), (oc, os) = ((np.cos(angle), np.sin(angle)) for angle in (pose.heading, other.heading))
    middle_m = 0.5 * (VEHICLE.front - VEHICLE.rear_overhang)
    car = Rectangle(
        pose.x + middle_m * c, pose.y + middle_m * s, c, s, 0.5 * VEHICLE.length, 0.5 * VEHICLE.width
    )  # fmt: skip
    return float(rectangles_apart(car, Rectangle(other.x, other.y, oc, os, 2.25, 0.95)))


@pytest.mark.medium
@pytest.mark.clause("INT-1")
@pytest.mark.parametrize("own", [1, 2])
def test_one_that_sets_off_ahead_in_the_other_lane_is_let_in_without_hard_braking(zip_merge: RoadMap, own: int) -> None:
    """It does not look at the car. At the speed that it has at first it would come to the junction long after it."""
    here, there = (plan_route(zip_merge, Pose(START_M, middle(lane), 0.0), Pose(200.0, middle(1), 0.0)).route
                   for lane in (own, 3 - own))  # fmt: skip
    assert here is not None and there is not None

    def other(stamp: float) -> tuple[Pose, float]:
        since = max(stamp - SETS_OFF_S, 0.0)
        v = min(ACCEL * since, TOP_MPS)
        return there.reference.at(min(AHEAD_M + v * (since - 0.5 * v / ACCEL), there.length)), v

    def around(stamp: float) -> dict[str, Any]:
        pose, v = other(stamp)
        green = np.array([(number, int(Light.GREEN), 1.0) for number in zip_merge.signals], dtype=TRAFFIC_LIGHTS)
        rows = table(row(7, pose.x, pose.y, pose.heading, v))
        return {"objects": StampedRows(stamp, rows), "traffic_lights": StampedRows(stamp, green)}

    ticks = list(drive(Agent(zip_merge), here, 240, around))
    assert min(apart(tick, other(tick.stamp)[0]) for tick in ticks) > 0.5
    assert min(tick.world.ego.a for tick in ticks) > -3.5
    assert ticks[-1].world.ego.pose.x > 110.0
