"""A localization that is wrong and says that it is sound: lane lines keep the car in its lane in the closed loop."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scenario_text import along_lanes

from tuling_fsm.agent import Agent
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.share import share_file
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.sensors.localization import SOUND, LocalizationError
from tuling_fsm.sim.simulation import Simulation

from .test_passing import PLACES

BEGIN_S, END_S = 4.0, 12.0
IN_LANE_M = 0.35


@pytest.mark.slow
@pytest.mark.clause("SAF-5", "USE-2")
@pytest.mark.parametrize(
    "error", [LocalizationError(ahead=0.5, left=0.8), LocalizationError(left=-0.9), LocalizationError(drift=0.12)],
    ids=["to the left", "to the right", "drifts"],
)  # fmt: skip
def test_the_car_stays_in_its_lane_and_its_plans_begin_where_it_is_told_to_be(
    error: LocalizationError, tmp_path: Path
) -> None:
    file, course = tmp_path / "scenario.osc", Path(share_file("config", "course", "course.xodr"))
    file.write_text(along_lanes(PLACES).replace("MAP", str(course)), encoding="utf-8")
    road_map = read_map(course)
    agent = Agent(road_map)
    simulation = Simulation(road_map, load_scenario(file, {}), 1, agent.parameters.vehicle)
    offsets: list[tuple[float, float]] = []
    while not simulation.finished:
        now = simulation.stamp
        if now == pytest.approx(BEGIN_S) or now == pytest.approx(END_S):
            simulation.disturb_localization(error if now < END_S - 1.0 else SOUND)
        inputs = simulation.inputs()
        tick = agent.step(inputs)
        assert inputs.odometry is not None
        begin, told = tick.trajectory.pose(0), inputs.odometry.pose
        if now > 1.0 and abs(now - BEGIN_S) > 0.6 and abs(now - END_S) > 0.6:
            aside = math.cos(told.heading) * (begin.y - told.y) - math.sin(told.heading) * (begin.x - told.x)
            assert abs(aside) < 0.2
        position = road_map.project(simulation.ego.pose.x, simulation.ego.pose.y, simulation.ego.pose.heading)
        assert position is not None
        offsets.append((now, position.offset))
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        simulation.advance(tick.trajectory, tick.state)
    assert simulation.end == "goal"
    assert [infraction for infraction in simulation.infractions if infraction.at_fault] == []
    assert max(abs(offset) for now, offset in offsets if now > BEGIN_S) < IN_LANE_M
    assert max(now for now, _ in offsets) > END_S
