"""A car that is not where its plan begins: what it sweeps on the way back counts. The tracker drives it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from shapely.geometry import MultiLineString, Polygon

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, PlanResult
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import ViolationKind, check
from tuling_fsm.planning.safety.motion_limits import as_driven
from tuling_fsm.planning.safety.recovery import Recovery
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.parameters import DynamicsParameters, TrackerParameters

from ..scenes import TICK_S, Thing, follow, regulations_for, road, scene
from .test_check import motion

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
PLANNER = Planner(VEHICLE, PARAMETERS)
COLUMNS = ("t", "x", "y", "heading", "curvature", "v", "a")
Shove = Callable[[Ego], float]
"""How far a gust throws the car to its left now (m); once."""


class Drive:
    """A closed loop with a car that has a mass: the least gap to the edges, the motions driven, where it ended."""

    def __init__(self, request: FreeSpace, edges: FloatArray, seconds: float, shove: Shove) -> None:
        car = EgoCar(Pose(0.0, 0.0, 0.0), 0.0, VEHICLE, DynamicsParameters(), TrackerParameters())
        walls = MultiLineString([((a, b), (c, d)) for a, b, c, d in edges])
        result: PlanResult | None = None
        self.gap, self.motions, shoved = math.inf, list[Trajectory](), False
        for tick in range(round(seconds / TICK_S)):
            ego = Ego(car.pose, car.v, car.a, math.tan(car.state[5]) / VEHICLE.wheelbase)
            aside = 0.0 if shoved else shove(ego)
            if aside:
                x, y, heading = ego.pose
                car.place(Pose(x - aside * math.sin(heading), y + aside * math.cos(heading), heading), ego.v)
                ego, shoved = ego._replace(pose=car.pose), True
            now = Scene(tick * TICK_S, ego, static_segments=edges)
            plan = PLANNER.plan(request, now, result)
            result, violation = PLANNER.checked(plan, request, now, regulations_for(request))
            assert result.trajectory is not None
            assert violation is None, (now.stamp, ego)
            if result.maneuver is not None and result.maneuver.whole not in self.motions:
                self.motions.append(result.maneuver.whole)
            car.drive(result.trajectory, now.stamp, 0.01, round(TICK_S / 0.01))
            self.gap = min(self.gap, walls.distance(Polygon(VEHICLE.footprint(car.pose))))
        self.end = car.pose
        assert shoved

    def at(self, goal: Pose) -> bool:
        return math.hypot(self.end.x - goal.x, self.end.y - goal.y) < 0.3


def swept(plan: Trajectory, pose: Pose) -> FloatArray:
    """Where the check takes a car to come by that is at a pose instead of at the plan's first row (T, 3)."""
    poses = np.empty((len(plan), 3))
    rows = np.array([getattr(plan, name) for name in COLUMNS])
    as_driven(rows, pose, Recovery.of(VEHICLE, PARAMETERS.recovery), poses)
    return poses


@pytest.mark.parametrize(("v", "kappa"), [(2.0, 0.0), (7.0, 0.0), (1.5, 0.05), (-1.2, 0.0), (-1.2, -0.05)])
@pytest.mark.parametrize(("aside", "turn"), [(0.4, 0.0), (-0.2, 0.06), (0.0, -0.06)])
def test_the_way_back_to_the_plan_is_that_of_the_tracker(v: float, kappa: float, aside: float, turn: float) -> None:
    plan = motion(v, kappa, step=TICK_S, rows=121, x=0.0)
    pose = Pose(0.0, aside, turn)
    car = EgoCar(pose, v, VEHICLE, DynamicsParameters(), TrackerParameters())
    apart: list[float] = []
    for expected in swept(plan, pose)[1:]:
        car.drive(plan, len(apart) * TICK_S, 0.01, round(TICK_S / 0.01))
        apart.append(math.hypot(car.pose.x - expected[0], car.pose.y - expected[1]))
    assert max(apart) < 0.08
    assert apart[-1] < 0.03


def test_a_car_on_its_plan_sweeps_the_plan() -> None:
    plan = motion(3.0, 0.1)
    expected = np.column_stack((plan.x, plan.y, plan.heading))
    np.testing.assert_allclose(swept(plan, plan.pose(0)), expected, atol=1e-12)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_a_plan_is_rejected_for_what_the_car_hits_on_the_way_back_to_it(gear: float) -> None:
    plan = motion(gear)
    request = FreeSpace(Pose(20.0 + 6.0 * gear, 0.0, 0.0))
    reach = VEHICLE.front if gear > 0.0 else VEHICLE.rear_overhang
    soon, late = (20.0 + gear * (reach + ahead) for ahead in (0.5, 5.0))
    y = -0.5 * VEHICLE.width - 0.13

    def hits(begin: float, aside: float) -> bool:
        ego = Ego(Pose(20.0, aside, 0.0), gear, 0.0, 0.0)
        edges = np.array(((begin, y, begin + 20.0 * gear, y),))
        return (
            check(plan, Scene(0.0, ego, static_segments=edges), regulations_for(request), VEHICLE, PARAMETERS)
            is not None
        )

    assert not hits(soon, 0.0)
    assert hits(soon, -0.3)
    assert not hits(soon, 0.3)
    assert not hits(late, -0.3), "it is back by then"


@pytest.mark.clause("SAF-2", "USE-8")
@pytest.mark.medium
def test_a_car_thrown_towards_a_wall_that_its_path_hugs_does_not_touch_it() -> None:
    edges = np.array(((4.3, -1.15, 16.0, -1.15),))
    request = FreeSpace(Pose(20.0, 0.0, 0.0))
    gone = Drive(request, edges, 40.0, lambda ego: -0.29 if ego.pose.x > 0.1 else 0.0)
    assert gone.gap > 0.0
    assert gone.at(request.goal)


BAY = np.array(((-1.9, 1.2, -9.0, 1.2), (-1.9, -1.2, -9.0, -1.2), (-9.0, -1.2, -9.0, 1.2)))


@pytest.mark.clause("SAF-2", "USE-8")
@pytest.mark.parametrize(("aside", "x"), [(0.28, -0.4), (-0.28, -0.4), (0.2, -3.0), (-0.2, -5.0)])
@pytest.mark.medium
def test_a_car_thrown_aside_in_or_before_a_bay_touches_nothing_and_gets_in(aside: float, x: float) -> None:
    request = FreeSpace(Pose(-8.0, 0.0, 0.0))
    gone = Drive(request, BAY, 60.0, lambda ego: aside if ego.v < 0.0 and ego.pose.x < x else 0.0)
    assert gone.gap > 0.0
    assert gone.at(request.goal)


@pytest.mark.clause("USE-6")
@pytest.mark.medium
def test_a_car_thrown_against_the_side_of_a_bay_gets_away_from_it() -> None:
    request = FreeSpace(Pose(-8.0, 0.0, 0.0))
    gone = Drive(request, BAY, 60.0, lambda ego: 0.28 if ego.pose.x < -5.0 else 0.0)
    assert gone.gap == 0.0, "that is where it was thrown"
    assert gone.at(request.goal)


@pytest.mark.clause("SAF-2")
def test_a_car_beside_its_lane_plan_plans_anew_from_where_it_is() -> None:
    sides = tuple(Thing(number, 20.6 + VEHICLE.front + 2.25, side * 2.1) for number, side in ((1, -1.0), (2, 1.0)))
    lanes, now = follow(road()), scene(v=1.0, things=sides)
    before = PLANNER.plan(lanes, now, None)
    assert before.trajectory is not None and PLANNER.checked(before, lanes, now, regulations_for(lanes))[1] is None
    beside = scene(20.05, -0.28, v=1.0, stamp=0.05, things=sides)
    plan = PLANNER.plan(lanes, beside, before)
    assert plan.trajectory is not None and abs(plan.trajectory.y[0]) < 0.01
    found = check(plan.trajectory, beside, regulations_for(lanes), VEHICLE, PARAMETERS)
    assert found is not None and found.breach is ViolationKind.COLLISION
    anew, violation = PLANNER.checked(plan, lanes, beside, regulations_for(lanes))
    assert violation is None
    assert anew.trajectory is not None and anew.trajectory.y[0] == -0.28


@pytest.mark.clause("SAF-2", "USE-11")
def test_a_lane_change_that_may_not_be_sent_is_given_up_for_the_lane() -> None:
    lanes, now = follow(road(2, own=1, at=40.0)), scene(40.0, -3.5, v=7.0)
    change = PLANNER.plan(lanes, now, None)
    assert change.trajectory is not None and change.shift == 0 and change.trajectory.y[40] > -1.0
    beside = scene(40.0, -3.5, v=7.0, things=[Thing(1, 38.0, 0.0, v=7.5)])
    found = check(change.trajectory, beside, regulations_for(lanes), VEHICLE, PARAMETERS)
    assert found is not None and found.breach is ViolationKind.PREDICTED_COLLISION
    instead, violation = PLANNER.checked(change, lanes, beside, regulations_for(lanes))
    assert violation is None and instead.feasible
    assert instead.trajectory is not None and instead.shift == -1
    assert np.all(np.abs(instead.trajectory.y + 3.5) < 0.2) and instead.trajectory.v.min() > 6.0


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize("aside", [0.4, -0.2])
@pytest.mark.medium
def test_a_car_thrown_aside_on_an_open_place_keeps_its_motion(aside: float) -> None:
    request = FreeSpace(Pose(15.0, 2.0, 0.0))
    gone = Drive(request, np.zeros((0, 4)), 22.0, lambda ego: aside if ego.pose.x > 4.0 else 0.0)
    assert gone.at(request.goal)
    assert len(gone.motions) == 1
