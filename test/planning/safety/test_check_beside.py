"""Whether the car or another is at fault where they touch although the other comes from behind: one beside the car, in
another lane, may be cut off by a nose that swings out, or by a car that turns off (SAF-2).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from shapely.geometry import Polygon

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.safety.check import ViolationKind, hazard

from ..scenes import Thing, bent, lane_line, scene

pytestmark = pytest.mark.clause("SAF-2")

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
POINTS = bent((160.0, 0.0)) - (60.0, 0.0, 0.0)
TWO_LANES = Regulations(lanes=(lane_line(POINTS), lane_line(POINTS, 3.5)))


def steering(v: float, rate: float, most: float) -> Trajectory:
    """At constant speed with wheels that turn at a rate (rad/s) until they are at an angle (rad)."""
    t = 0.1 * np.arange(71)
    steer = math.copysign(1.0, most) * np.minimum(rate * t, abs(most))
    kappa = np.tan(steer) / VEHICLE.wheelbase
    heading = np.concatenate(([0.0], np.cumsum(0.05 * v * (kappa[1:] + kappa[:-1]))))
    middle = 0.5 * (heading[1:] + heading[:-1])
    x, y = (np.concatenate(([0.0], np.cumsum(0.1 * v * along))) for along in (np.cos(middle), np.sin(middle)))
    return Trajectory(0.0, t, x, y, heading, kappa, np.full(71, v), np.zeros(71))


def touches(plan: Trajectory, other: Thing) -> tuple[float, float] | None:
    """When they touch (s), and how far the other's middle is ahead of the rear axle then (m)."""
    for k in range(len(plan)):
        pose, there = Pose(float(plan.x[k]), float(plan.y[k]), float(plan.heading[k])), other.at(float(plan.t[k]))
        half = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * (0.5 * there.length, 0.5 * there.width)
        c, s = math.cos(there.heading), math.sin(there.heading)
        box = half @ np.array(((c, s), (-s, c))) + (there.x, there.y)
        if Polygon(VEHICLE.footprint(pose)).intersects(Polygon(box)):
            dx, dy = there.x - pose.x, there.y - pose.y
            return float(plan.t[k]), dx * math.cos(pose.heading) + dy * math.sin(pose.heading)
    return None


def found(plan: Trajectory, other: Thing, rules: Regulations) -> ViolationKind | None:
    told = hazard(plan, scene(0.0, v=float(plan.v[0]), things=(other,)), rules, VEHICLE, PARAMETERS)
    return None if told is None else told.breach


@pytest.mark.parametrize("rules", [TWO_LANES, Regulations()], ids=["lanes", "no lanes"])
@pytest.mark.parametrize(("length", "x", "v"), [(12.0, -11.5, 4.0), (9.0, -8.3, 4.0), (12.0, -15.0, 5.5)])
def test_a_nose_that_swings_out_before_a_long_vehicle_in_the_next_lane_is_at_fault(
    length: float, x: float, v: float, rules: Regulations
) -> None:
    """The rear axle is 0.4 to 0.7 m out of its line then, and the middle of the other far behind it."""
    plan, other = steering(1.5, 0.45, 0.55), Thing(3, x, 3.5, v=v, length=length, width=2.5)
    met = touches(plan, other)
    assert met is not None and met[0] < PARAMETERS.check.predicted and met[1] < 0.0
    assert found(plan, other, rules) is ViolationKind.PREDICTED_COLLISION
    assert found(steering(1.5, 0.0, 0.0), replace(other, y=2.0), rules) is None, "it comes too near by itself"


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_car_that_turns_off_before_a_cyclist_that_goes_straight_on_is_at_fault(side: float) -> None:
    """A cyclist at the flank has not come into the car's way, however little its axle has left its lane."""
    plan = steering(4.0, 0.4, side * math.atan(0.13 * VEHICLE.wheelbase))
    before = bent((20.0, 0.0))[:-1] - (20.0, 0.0, 0.0)
    lanes = Regulations(lanes=(lane_line(np.vstack((before, np.column_stack((plan.x, plan.y, plan.heading))))),))
    cyclist = Thing(5, -6.0, side * 1.4, v=6.0, length=1.8, width=0.6)
    met = touches(plan, cyclist)
    assert met is not None and met[0] < PARAMETERS.check.predicted and met[1] < 0.0
    assert found(plan, cyclist, lanes) is ViolationKind.PREDICTED_COLLISION
