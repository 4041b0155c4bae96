"""The ego among the traffic at junctions: waited for where it has the right of way, and not where it has to yield."""

from __future__ import annotations

from pathlib import Path

import pytest
from crossroads import YIELD_SIGN, crossroads

from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation

SCENARIO = """import osc.standard
scenario crossing:
    map.set_map_file("{map}")
    ego: vehicle
    other: vehicle with:
        keep(it.length == 4.5m)
    start: odr_point = map.create_odr_point(road_id: "2", lane_id: "1", s: {s}m)
    goal: odr_point = map.create_odr_point(road_id: "4", lane_id: "-1", s: 80m)
    from_west: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 60m)
    to_east: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 80m)
    do parallel(duration: 60s):
        serial:
            ego.assign_position(start)
            ego.drive() with:
                along(map.create_route([goal]))
        serial:
            other.assign_position(from_west)
            other.assign_speed(10mps)
            other.drive() with:
                along(map.create_route([to_east]))
"""


@pytest.fixture(scope="module")
def yields(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RoadMap]:
    """Crossroads whose arms N and S have to yield, and the folder of its file."""
    folder = tmp_path_factory.mktemp("yields")
    return folder, crossroads(folder, "yields", dict.fromkeys("NS", YIELD_SIGN))


def least_speed(folder: Path, road_map: RoadMap, s: float) -> float:
    """Of one that has priority and comes to the crossing, while the ego stands `s` m before the junction (m/s)."""
    file = folder / "crossing.osc"
    file.write_text(SCENARIO.format(map=folder / "yields.xodr", s=s))
    sim, least = Simulation(road_map, load_scenario(file, {}), 1, Vehicle()), 10.0
    for _ in range(160):
        sim.advance(Trajectory.standing(sim.stamp, sim.ego.pose))
        other = sim.agents()[0]
        if other.pose.x < 0.0:
            least = min(least, other.v)
    return least


def test_one_with_priority_does_not_stop_for_an_ego_that_stands_where_it_has_to_yield(
    yields: tuple[Path, RoadMap],
) -> None:
    folder, road_map = yields
    assert least_speed(folder, road_map, 80.0) > 9.0
    assert least_speed(folder, road_map, 2.0 + Vehicle().front) > 9.0
