"""The rules of the road that a baseline keeps: stop signs, junctions, persons."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.baselines.idm import IdmPlanner
from tuling_fsm.sim.baselines.planner import BaselinePlan
from tuling_fsm.sim.scenario.model import Population, RouteTo
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Kind, Light, Odometry, StampedRows

from .scenes import simulation

NORTH, EAST, SOUTH, WEST = 0.5 * np.pi, 0.0, -0.5 * np.pi, np.pi
FROM_SOUTH, FROM_EAST = Pose(1.75, -80.0, NORTH), Pose(80.0, 1.75, WEST)
TO_NORTH, TO_WEST, TO_SOUTH = Pose(1.75, 80.0, NORTH), Pose(-80.0, 1.75, WEST), Pose(-1.75, -80.0, SOUTH)
AT_SOUTHERN_LINE = Pose(1.75, -18.0, NORTH)
"""The bumper is 1.2 m before the line."""
AT_EASTERN_ENTRY = Pose(17.0, 1.75, WEST)


def run_between(road_map: RoadMap, start: Pose, goal: Pose, seed: int = 1, population: int = 0) -> Simulation:
    return simulation(
        road_map, seed, ego=AtPose(*start), route=RouteTo(AtPose(*goal)), population=Population(population)
    )


def planner(sim: Simulation) -> IdmPlanner:
    assert sim.preset is not None
    return IdmPlanner(sim.road_map, sim.preset, sim.vehicle)


def seen(pose: Pose, v: float, *agents: tuple[Kind, Pose, float], light: int | None = None) -> Inputs:
    """A tick with agents (kind, centre, speed) and, if given, all lights alike."""
    objects = np.zeros(len(agents), OBJECTS)
    for row, (kind, at, speed) in zip(objects, agents, strict=True):
        person = kind == Kind.PEDESTRIAN
        row["id"], row["kind"], row["x"], row["y"], row["heading"] = 9, kind, *at
        row["vx"], row["vy"] = speed * np.cos(at.heading), speed * np.sin(at.heading)
        row["length"], row["width"] = (0.5, 0.5) if person else (4.5, 1.8)
    lights = np.zeros(0 if light is None else 4, TRAFFIC_LIGHTS)
    if light is not None:
        lights["signal"], lights["state"] = (1, 2, 3, 4), light
    return Inputs(0.0, Odometry(0.0, pose, v, 0.0), StampedRows(0.0, objects), traffic_lights=StampedRows(0.0, lights))


def stops(plan: BaselinePlan) -> bool:
    return bool(plan.trajectory.v[-1] < 0.5)


def test_a_stop_sign_is_stopped_at_once(signed: RoadMap) -> None:
    driver = planner(run_between(signed, FROM_SOUTH, TO_NORTH))
    coming = driver.step(seen(Pose(1.75, -30.0, NORTH), 6.0))
    assert coming.limit.reason is Reason.STOP_SIGN
    assert stops(coming)
    assert not stops(driver.step(seen(AT_SOUTHERN_LINE, 0.0)))
    assert not stops(driver.step(seen(AT_SOUTHERN_LINE, 1.0)))


def test_a_stop_far_from_the_sign_does_not_count(signed: RoadMap) -> None:
    driver = planner(run_between(signed, FROM_SOUTH, TO_NORTH))
    driver.step(seen(Pose(1.75, -25.0, NORTH), 0.0))
    assert driver.step(seen(Pose(1.75, -22.0, NORTH), 3.0)).limit.reason is Reason.STOP_SIGN


CAR = Kind.CAR


@pytest.mark.parametrize(
    ("other", "speed", "waits"),
    [
        (Pose(-30.0, -1.75, EAST), 8.0, True),
        (Pose(30.0, 1.75, WEST), 8.0, True),
        (Pose(-90.0, -1.75, EAST), 8.0, False),
        (Pose(-90.0, -1.75, EAST), 17.8, True),
        (Pose(-30.0, -1.75, EAST), 0.0, False),
        (Pose(-30.0, 1.75, WEST), 8.0, False),
        (Pose(0.0, -1.75, EAST), 0.0, True),
        (Pose(-1.75, 30.0, SOUTH), 8.0, False),
    ],
    ids=[
        "from the left",
        "from the right",
        "far away",
        "far away and fast",
        "standing",
        "going away",
        "stuck within",
        "oncoming",
    ],
)
def test_it_goes_from_a_sign_in_a_gap(signed: RoadMap, other: Pose, speed: float, waits: bool) -> None:
    driver = planner(run_between(signed, FROM_SOUTH, TO_NORTH))
    driver.step(seen(AT_SOUTHERN_LINE, 0.0))
    plan = driver.step(seen(AT_SOUTHERN_LINE, 0.0, (CAR, other, speed)))
    assert stops(plan) is waits
    assert (plan.limit.reason is Reason.JUNCTION_OCCUPIED) is waits


@pytest.mark.parametrize(
    ("other", "waits"), [(Pose(-1.75, 30.0, SOUTH), True), (Pose(1.75, -30.0, NORTH), False)], ids=["right", "left"]
)
def test_without_signs_one_that_comes_from_the_right_goes_first(plain: RoadMap, other: Pose, waits: bool) -> None:
    driver = planner(run_between(plain, FROM_EAST, TO_WEST))
    assert stops(driver.step(seen(AT_EASTERN_ENTRY, 2.0, (CAR, other, 8.0)))) is waits


@pytest.mark.parametrize(("goal", "waits"), [(TO_SOUTH, True), (TO_WEST, False)], ids=["turn", "straight on"])
def test_a_turn_across_the_oncoming_waits_at_green(lit: RoadMap, goal: Pose, waits: bool) -> None:
    driver = planner(run_between(lit, FROM_EAST, goal))
    oncoming = (CAR, Pose(-28.0, -1.75, EAST), 8.0)
    assert stops(driver.step(seen(AT_EASTERN_ENTRY, 2.0, oncoming, light=Light.GREEN))) is waits


@pytest.mark.parametrize(
    ("person", "speed", "waits"),
    [
        (Pose(16.5, 5.0, SOUTH), 1.3, True),
        (Pose(16.5, 1.75, SOUTH), 0.0, True),
        (Pose(16.5, 5.0, NORTH), 1.3, False),
        (Pose(16.5, 5.0, SOUTH), 0.0, False),
        (Pose(45.0, 4.5, SOUTH), 1.5, True),
    ],
    ids=["steps on", "stands on it", "has left", "waits beside", "no crosswalk"],
)
def test_persons_are_waited_for(plain: RoadMap, person: Pose, speed: float, waits: bool) -> None:
    driver = planner(run_between(plain, FROM_EAST, TO_WEST))
    at = Pose(person.x + 16.0, 1.75, WEST)
    plan = driver.step(seen(at, 5.0, (Kind.PEDESTRIAN, person, speed)))
    assert stops(plan) is waits
    if waits:
        bumper = float(plan.trajectory.x[-1]) - Vehicle().front
        assert bumper > (18.0 if person.x < 18.0 else person.x)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_it_crosses_a_road_with_priority_and_traffic(signed: RoadMap, seed: int) -> None:
    sim = run_between(signed, FROM_SOUTH, TO_NORTH, seed, population=8)
    driver, stood = planner(sim), False
    while not sim.finished:
        plan = driver.step(sim.inputs())
        stood = stood or (plan.trajectory.v[0] < 0.05 and -20.0 < plan.trajectory.y[0] < -16.0)
        sim.advance(plan.trajectory)
    assert sim.end == "goal"
    assert stood
    assert [record for record in sim.infractions if record.at_fault] == []
