"""PDM-Closed in the closed loop and on its own."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.run import AGENT, BASELINES
from tuling_fsm.run_settings import PLANNERS
from tuling_fsm.sim.baselines.forecast import boxes_apart
from tuling_fsm.sim.baselines.idm import IdmPlanner
from tuling_fsm.sim.baselines.pdm import PdmPlanner, braked
from tuling_fsm.sim.baselines.planner import BaselinePlan, BaselinePlanner
from tuling_fsm.sim.baselines.route_profile import RouteEdges, RouteProfile
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.model import Population, RouteTo, RouteVia, ScenarioActor
from tuling_fsm.sim.scenario.placements import AtPose, OnLane
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import OBJECTS, Inputs, Kind, Odometry, StampedRows

from .scenes import simulation

WEST = float(np.pi)
FROM_EAST, TO_WEST = Pose(100.0, 1.75, WEST), Pose(-80.0, 1.75, WEST)
ON_ROAD, AT_END = Pose(10.0, -5.25, 0.0), Pose(150.0, -5.25, 0.0)
"""On the right one of two lanes; its middle is at y = -5.25, its right edge at -7."""


def planner(kind: type[PdmPlanner | IdmPlanner], sim: Simulation) -> BaselinePlanner:
    assert sim.preset is not None
    return kind(sim.road_map, sim.preset, sim.vehicle)


def drive(kind: type[PdmPlanner | IdmPlanner], sim: Simulation, seconds: float = np.inf) -> list[BaselinePlan]:
    """To the end, or for a while."""
    driver, plans = planner(kind, sim), list[BaselinePlan]()
    while not sim.finished and sim.stamp < seconds:
        plans.append(driver.step(sim.inputs()))
        sim.advance(plans[-1].trajectory)
    return plans


def begin_of(plan: BaselinePlan) -> tuple[Pose, float]:
    """Pose and speed (m/s) at which what is driven begins."""
    return plan.trajectory.pose(0), float(plan.trajectory.v[0])


def in_traffic(lit: RoadMap) -> Simulation:
    start, goal = AtPose(*FROM_EAST), RouteTo(AtPose(*TO_WEST))
    return simulation(lit, 3, population=Population(6), ego=start, route=goal)


def beside_parked(two_lanes: RoadMap, y: float) -> Simulation:
    """A road with a parked car, its middle 70 m ahead."""
    parked = ScenarioActor("parked", ActorKind.VEHICLE, 4.5, 1.8, AtPose(80.0, y, 0.0))
    return simulation(
        two_lanes, ego=AtPose(*ON_ROAD), route=RouteTo(AtPose(*AT_END)), actors=(parked,), max_duration_s=40.0
    )


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_it_drives_a_route_in_traffic_and_does_so_again(lit: RoadMap) -> None:
    first, second = in_traffic(lit), in_traffic(lit)
    plans, again = drive(PdmPlanner, first), drive(PdmPlanner, second, seconds=3.0)
    assert first.end == "goal"
    assert [record for record in first.infractions if record.at_fault] == []
    assert max(plan.trajectory.v[0] for plan in plans) > 6.0
    assert len(again) > 50
    assert [begin_of(plan) for plan in again] == [begin_of(plan) for plan in plans[: len(again)]]


@pytest.mark.slow
def test_it_passes_a_half_blocking_car_that_the_driver_model_waits_behind(two_lanes: RoadMap) -> None:
    passing, waiting = (beside_parked(two_lanes, y=-7.1) for _ in range(2))
    plans = drive(PdmPlanner, passing)
    assert passing.end == "goal"
    assert [record for record in passing.infractions if record.kind == "collision"] == []
    assert 0.5 < max(plan.trajectory.y[0] + 5.25 for plan in plans) < 1.5
    last = drive(IdmPlanner, waiting)[-1]
    assert waiting.end == "time"
    assert last.trajectory.v[0] < 0.1
    assert last.limit.reason is Reason.LEADER


def seen(x: float, v: float, *agents: tuple[float, float, float, float], stamp: float = 0.0) -> Inputs:
    """On the road at `x`, with cars (x, y, heading, speed)."""
    rows = np.zeros(len(agents), OBJECTS)
    for row, (at_x, at_y, heading, speed) in zip(rows, agents, strict=True):
        row["id"], row["kind"], row["x"], row["y"], row["heading"] = 9, Kind.CAR, at_x, at_y, heading
        row["vx"], row["vy"] = speed * np.cos(heading), speed * np.sin(heading)
        row["length"], row["width"] = 4.5, 1.8
    return Inputs(stamp, Odometry(stamp, Pose(x, -5.25, 0.0), v, 0.0), StampedRows(stamp, rows))


def alone(two_lanes: RoadMap) -> BaselinePlanner:
    return planner(PdmPlanner, beside_parked(two_lanes, y=-7.1))


def test_an_empty_road_is_driven_along_its_middle(two_lanes: RoadMap) -> None:
    plan = alone(two_lanes).step(seen(50.0, 7.0))
    assert np.abs(plan.trajectory.y + 5.25).max() < 0.01
    assert plan.trajectory.v[-1] > 7.5
    assert plan.trajectory.t[-1] == pytest.approx(4.0)


def test_it_follows_a_leader_that_fills_the_lane(two_lanes: RoadMap) -> None:
    plan = alone(two_lanes).step(seen(50.0, 7.0, (68.0, -5.25, 0.0, 4.0)))
    assert plan.trajectory.v[-1] < 5.0
    assert plan.limit.reason is Reason.LEADER


def test_it_brakes_with_all_there_is_for_one_that_turns_up_too_near(two_lanes: RoadMap) -> None:
    vehicle = Vehicle()
    plan = alone(two_lanes).step(seen(50.0, 8.0, (60.5, -5.25, 0.5 * np.pi, 0.0)))
    assert plan.trajectory.a[0] == pytest.approx(-vehicle.emergency_decel)
    assert plan.trajectory.v[-1] == 0.0
    assert plan.trajectory.x[-1] == pytest.approx(50.0 + 64.0 / (2.0 * vehicle.emergency_decel), abs=0.1)


def test_one_that_comes_from_behind_does_not_make_it_brake(two_lanes: RoadMap) -> None:
    plan = alone(two_lanes).step(seen(50.0, 6.0, (40.0, -5.25, 0.0, 12.0)))
    assert plan.trajectory.a.min() > -0.1


def test_between_two_plans_the_last_one_goes_on(two_lanes: RoadMap) -> None:
    driver = alone(two_lanes)
    first = driver.step(seen(50.0, 7.0))
    assert driver.step(seen(50.35, 7.0, stamp=0.05)).trajectory is first.trajectory
    assert driver.step(seen(50.7, 7.0, stamp=0.1)).trajectory is not first.trajectory


def test_a_stamp_that_jumps_back_is_planned_for_anew(two_lanes: RoadMap) -> None:
    driver = alone(two_lanes)
    first = driver.step(seen(50.0, 7.0, stamp=5.0))
    assert driver.step(seen(50.0, 7.0, stamp=1.0)).trajectory is not first.trajectory


def test_on_a_route_that_ends_where_it_begins_the_car_is_at_the_beginning(ring: RoadMap) -> None:
    places = OnLane("2", -1, 25.0), OnLane("0", -1, 30.0)
    sim = simulation(ring, ego=OnLane("0", -1, 10.0), route=RouteVia(places))
    assert sim.preset is not None
    profile = RouteProfile(ring, sim.preset, sim.vehicle)
    assert profile.route.length > 200.0
    for aside in np.linspace(-0.5, 0.5, 41).tolist():
        start = sim.preset.reference.at(2.0)
        profile.s = 0.0
        pose = Pose(start.x - aside * np.sin(start.heading), start.y + aside * np.cos(start.heading), start.heading)
        assert profile.locate(pose) == pytest.approx(2.0, abs=0.2)


def test_braking_keeps_the_way(two_lanes: RoadMap) -> None:
    plan = alone(two_lanes).step(seen(50.0, 7.0)).trajectory
    stopped = braked(plan, 5.0)
    assert stopped.v.tolist() == pytest.approx(np.maximum(7.0 - 5.0 * stopped.t, 0.0).tolist())
    assert stopped.x[-1] == pytest.approx(50.0 + 4.9, abs=0.02)


def test_the_edges_of_a_road_are_those_of_its_lanes(two_lanes: RoadMap) -> None:
    sim = beside_parked(two_lanes, y=-7.1)
    assert sim.preset is not None
    edges = RouteEdges(two_lanes, RouteProfile(two_lanes, sim.preset, sim.vehicle))
    left, right = edges.road_at(np.array([20.0, 100.0]))
    assert right.tolist() == pytest.approx([1.75, 1.75], abs=0.25)
    assert left.tolist() == [3.0, 3.0]
    assert edges.lanes_left_at(np.array([20.0])).tolist() == pytest.approx([5.25])


@pytest.mark.parametrize(
    ("x", "y", "heading", "apart"),
    [
        (5.0, 0.0, 0.0, 1.0),
        (0.0, 3.0, 0.0, 1.0),
        (4.0, 0.0, 0.0, 0.0),
        (1.0, 0.5, 0.7, -1.0),
        (0.0, 4.0, 0.5 * np.pi, 1.0),
    ],
)
def test_how_far_boxes_are_apart(x: float, y: float, heading: float, apart: float) -> None:
    one, zero = np.ones(1), np.zeros(1)
    found = boxes_apart((zero, zero, zero), 4.0, 2.0, (x * one, y * one, heading * one), 4.0 * one, 2.0 * one)
    assert np.sign(np.round(found[0], 9)) == np.sign(apart)
    if apart > 0.0:
        assert found[0] == pytest.approx(apart)


def test_the_command_line_offers_all_planners() -> None:
    assert set(PLANNERS) == {AGENT, *BASELINES}
