"""The baseline planner in the closed loop and on its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.baselines.idm import IdmPlanner
from tuling_fsm.sim.baselines.planner import BaselinePlan
from tuling_fsm.sim.scenario.model import Population, RouteTo
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Light, Odometry, StampedRows

from .scenes import simulation

FROM_EAST = AtPose(100.0, 1.75, np.pi)
TO_WEST = RouteTo(AtPose(-80.0, 1.75, np.pi))


def planner(sim: Simulation) -> IdmPlanner:
    assert sim.preset is not None
    return IdmPlanner(sim.road_map, sim.preset, sim.vehicle)


def drive(sim: Simulation) -> list[BaselinePlan]:
    driver, plans = planner(sim), list[BaselinePlan]()
    while not sim.finished:
        plans.append(driver.step(sim.inputs()))
        sim.advance(plans[-1].trajectory)
    return plans


@pytest.mark.medium
def test_it_drives_a_route_in_traffic_and_stops_at_its_end(lit: RoadMap) -> None:
    sim = simulation(lit, 3, population=Population(6), ego=FROM_EAST, route=TO_WEST)
    plans = drive(sim)
    assert sim.end == "goal"
    assert [record for record in sim.infractions if record.at_fault] == []
    assert max(plan.trajectory.v[0] for plan in plans) > 6.0
    assert plans[-1].limit.reason is Reason.ROUTE_END
    headings = {round(plan.trajectory.pose(0).y, 0) for plan in plans}
    assert len(headings) <= 2


def seen(x: float, v: float, *, light: int = Light.GREEN, body: float | None = None, speed: float = 0.0) -> Inputs:
    """On the eastern arm, with all lights alike and perhaps a vehicle on the lane ahead."""
    lights = np.zeros(4, TRAFFIC_LIGHTS)
    lights["signal"], lights["state"] = (1, 2, 3, 4), light
    objects = np.zeros(0 if body is None else 1, OBJECTS)
    if body is not None:
        objects["id"], objects["x"], objects["y"], objects["heading"] = 9, body, 1.75, np.pi
        objects["length"], objects["width"], objects["vx"] = 4.0, 1.8, -speed
    return Inputs(
        0.0,
        Odometry(0.0, Pose(x, 1.75, np.pi), v, 0.0),
        StampedRows(0.0, objects),
        traffic_lights=StampedRows(0.0, lights),
    )


@pytest.mark.parametrize(
    ("given", "reason", "stops"),
    [
        (seen(50.0, 7.0), Reason.SPEED_LIMIT, False),
        (seen(35.0, 6.0, light=Light.RED), Reason.RED_LIGHT, True),
        (seen(35.0, 6.0, light=Light.RED_YELLOW), Reason.RED_LIGHT, True),
        (seen(35.0, 6.0, light=Light.YELLOW), Reason.RED_LIGHT, True),
        (seen(22.0, 8.0, light=Light.YELLOW), Reason.SPEED_LIMIT, False),
        (seen(70.0, 7.0, body=50.0), Reason.LEADER, True),
        (seen(70.0, 7.0, body=45.0, speed=7.0), Reason.LEADER, False),
        (seen(70.0, 7.0, body=85.0, speed=7.0), Reason.SPEED_LIMIT, False),
    ],
)
def test_what_it_stops_for(lit: RoadMap, given: Inputs, reason: Reason, stops: bool) -> None:
    plan = planner(simulation(lit, ego=FROM_EAST, route=TO_WEST)).step(given)
    assert plan.limit.reason is reason
    assert bool(plan.trajectory.v[-1] < 2.0) is stops
    assert np.all(np.diff(plan.trajectory.t) > 0.0)
    assert plan.trajectory.a.max() <= Vehicle().max_accel + 1e-9


def test_without_odometry_it_says_so(lit: RoadMap) -> None:
    with pytest.raises(InputError, match="odometry"):
        planner(simulation(lit, ego=FROM_EAST, route=TO_WEST)).step(Inputs(0.0))


@pytest.mark.medium
def test_a_mission_and_processes_of_their_own_are_not_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scenarios = Path(__file__).parents[2] / "config" / "scenarios"
    assert main(["sim", str(scenarios / "pickup.osc"), "--planner", "idm"]) == 2
    assert "a route" in capsys.readouterr().err
    assert main(["sim", str(scenarios / "roam.osc"), "--planner", "idm", "--ros"]) == 2
    assert "--planner" in capsys.readouterr().err
