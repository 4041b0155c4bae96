"""The ego among the traffic at junctions: waited for where it has the right of way, and not where it has to yield."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from crossroads import YIELD_SIGN, crossroads
from scenario_text import along_lanes

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.sim.traffic.ego_agent import EgoAgent
from tuling_fsm.sim.traffic.manager import EGO_AS_SEEN, EGO_NUMBER

from .flow import Flow, one

DECLARED = """    other: vehicle with:
        keep(it.length == 4.5m)
    start: odr_point = map.create_odr_point(road_id: "2", lane_id: "1", s: {s}m)
    goal: odr_point = map.create_odr_point(road_id: "4", lane_id: "-1", s: 80m)
    from_west: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 60m)
    to_east: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 80m)
"""
CROSSES = """        serial:
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
    text = along_lanes(DECLARED.format(s=s), CROSSES)
    file.write_text(text.replace("MAP", str(folder / "yields.xodr")))
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


INBOUND_E = LaneId("1", 0, 1)


def ego_boxes(flow: Flow, s: float, v: float, number: int, heading: float = 0.0) -> FloatArray:
    """What the traffic is told of an ego whose rear axle is at `s` of the lane from the east, turned by a heading."""
    x, y, along = flow.road_map.lanes[INBOUND_E].center.at(s)
    boxes = EgoAgent(flow.road_map, Vehicle(), flow.index, 3.0).boxes(Pose(x, y, along + heading), 0.0, v, 0.0)
    return np.column_stack((boxes, np.full(len(boxes), float(number)), np.zeros(len(boxes))))


def accel(flow: Flow, row: int = 0) -> float:
    """Of a vehicle over the next frame, m/s^2."""
    flow.step()
    return float(flow.fleet.car.a[row])


@pytest.mark.clause("TM-1")
@pytest.mark.parametrize("number", [EGO_NUMBER, EGO_AS_SEEN])
@pytest.mark.parametrize("v", [1.0, 3.0, 5.0])
def test_nobody_brakes_for_an_ego_behind_it(plain: RoadMap, v: float, number: int) -> None:
    flow = Flow(plain, 0, scripted=1)
    flow.manager.place(0, flow.index[INBOUND_E], 45.0, v)
    for s in (30.0, 20.0, 10.0):
        flow.other_boxes = ego_boxes(flow, s, 12.0, number)
        assert accel(flow) > 0.0


def test_one_before_a_standing_vehicle_does_not_brake_for_the_ego_behind_that(plain: RoadMap) -> None:
    flow = Flow(plain, 0, scripted=1)
    flow.manager.place(0, flow.index[INBOUND_E], 50.0, 1.0)
    ego = ego_boxes(flow, 22.0, 12.0, EGO_NUMBER)
    flow.other_boxes = np.vstack((ego, one(*flow.road_map.lanes[INBOUND_E].center.at(40.0), 4.5, 1.8, number=7)))
    # The ego is predicted on both sides of the one that stands; it comes to the one behind it alone.
    assert (ego[:, 0] < flow.fleet.car.x[0]).any()
    assert accel(flow) > 0.0


def test_the_ego_that_comes_across_is_yielded_to(plain: RoadMap) -> None:
    flow = Flow(plain, 0, scripted=1)
    flow.manager.place(0, flow.index[INBOUND_E], 45.0, 5.0)
    ego = ego_boxes(flow, 58.0, 6.0, EGO_NUMBER, heading=0.5 * math.pi)
    flow.other_boxes = ego + np.array([0.0, 12.0] + [0.0] * 8)
    assert accel(flow) < 0.0
