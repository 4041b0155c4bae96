"""Near misses: vehicles go on along the lane, or as they turn where there is none; persons go straight on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from crossroads import LANE_M, Town

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.world.inputs import Kind

from .staging import Watch

OFF_THE_MAP_M = 5000.0
RADIUS_M = 20.0
"""Of the line between both lanes of a bend to the left."""


def agent(x: float, y: float, heading: float, v: float, kind: Kind = Kind.CAR) -> AgentBoxes:
    row = np.array([[x, y, 0.0, heading, 4.5, 1.8, v]])
    return AgentBoxes(row, np.array([kind], np.uint8), np.array([7], np.uint32))


@pytest.fixture(scope="module")
def bend(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    town = Town()
    town.road(1, 0.0, 0.0, 0.0, 0.5 * math.pi * RADIUS_M, ("", ""), curvature=1.0 / RADIUS_M)
    return town.read(tmp_path_factory.mktemp("maps"), "bend")


def in_bend(angle: float, left: float, oncoming: bool = False) -> Pose:
    """So far along the bend (rad) and to the left of its middle (m)."""
    radius = RADIUS_M - left
    heading = angle + math.pi if oncoming else angle
    return Pose(radius * math.sin(angle), RADIUS_M - radius * math.cos(angle), heading)


def near_miss(road_map: RoadMap, pose: Pose, v: float, agents: AgentBoxes) -> bool:
    watch = Watch(road_map)
    watch.see(pose, v, agents=agents)
    return ("near_miss", False) in watch.kinds


@pytest.mark.parametrize(
    ("v", "x", "y", "heading", "other_v", "missed"),
    [
        (8.0, 20.0, 0.0, 0.0, 8.0, True),
        (8.0, 12.0, 0.0, 0.0, 0.0, False),
        (8.0, 20.0, 0.0, 0.0, 0.0, True),
        (8.0, 19.0, 0.0, math.pi, 8.0, False),
        (8.0, 10.0, 3.6, 0.0, 0.0, True),
        (8.0, -6.0, 0.0, 0.0, 16.0, True),
        (0.0, 8.0, 0.0, math.pi, 8.0, True),
        (-2.0, -4.0, 0.0, 0.0, 0.0, False),
        (3.0, 7.0, -7.0, 0.5 * math.pi, 6.0, False),
    ],
)
def test_off_the_lanes_all_go_straight_on(
    bend: RoadMap, v: float, x: float, y: float, heading: float, other_v: float, missed: bool
) -> None:
    here = Pose(OFF_THE_MAP_M, 0.0, 0.0)
    assert near_miss(bend, here, v, agent(here.x + x, y, heading, other_v)) is not missed


@pytest.mark.parametrize("gap_rad", np.linspace(0.3, 0.9, 13).tolist())
def test_two_that_pass_each_other_in_a_bend_are_no_near_miss(bend: RoadMap, gap_rad: float) -> None:
    car = in_bend(0.15, -0.5 * LANE_M)
    other = in_bend(0.15 + gap_rad, 0.5 * LANE_M, oncoming=True)
    assert not near_miss(bend, car, 8.0, agent(*other, 8.0))


def test_one_that_comes_on_the_lane_of_the_car_is_one(bend: RoadMap) -> None:
    car = in_bend(0.15, -0.5 * LANE_M)
    other = in_bend(0.15 + 0.75, -0.5 * LANE_M, oncoming=True)
    assert near_miss(bend, car, 8.0, agent(*other, 8.0))


def test_one_that_walks_along_a_lane_goes_straight_on(bend: RoadMap) -> None:
    """A person keeps to no lane: a car at the same place and speed goes round the bend instead."""
    car, other = in_bend(0.15, -0.5 * LANE_M), in_bend(1.0, 0.5 * LANE_M, oncoming=True)
    person = agent(*other, 8.0, Kind.PEDESTRIAN)
    assert near_miss(bend, car, 8.0, person) is not near_miss(bend, car, 8.0, agent(*other, 8.0))


def test_across_the_lane_a_body_goes_on_too(tmp_path: Path) -> None:
    """A vehicle that changes to the car's lane beside it hits it: the heading on the lane counts."""
    town = Town()
    town.road(1, 0.0, 0.0, 0.0, 200.0, ("", ""))
    straight = town.read(tmp_path, "straight")
    car, beside = Pose(50.0, -0.5 * LANE_M, 0.0), Pose(58.0, 0.5 * LANE_M, math.pi + 0.5)
    assert near_miss(straight, car, 4.0, agent(*beside, 4.0))
    assert not near_miss(straight, car, 4.0, agent(*beside[:2], math.pi, 4.0))


@pytest.mark.parametrize(
    ("yaw_rate", "missed"), [(0.0, False), (0.3, False), (-0.2, False), (-0.6, True), (-1.0, True)]
)
def test_one_that_comes_out_of_a_turn_goes_on_turning_until_it_drives_along_the_lane(
    tmp_path: Path, yaw_rate: float, missed: bool
) -> None:
    """And one that turns no more, or too little, gets onto the next lane."""
    town = Town()
    town.road(1, 0.0, 0.0, 0.0, 200.0, ("", ""))
    watch = Watch(town.read(tmp_path, "straight"))
    watch.see(Pose(50.0, -0.5 * LANE_M, 0.4), 5.0, yaw_rate=yaw_rate, agents=agent(60.0, 0.5 * LANE_M, math.pi, 0.0))
    assert (("near_miss", False) in watch.kinds) is not missed


@pytest.mark.parametrize(
    ("x", "y", "other", "missed"),
    [
        (-1.0, 1.75, (-1.75, 9.0, 8.0), True),
        (-1.0, 1.75, (-1.75, 9.0, 1.0), False),
        (60.0, 1.75, (60.0, 9.0, 8.0), False),
        (60.0, 0.5, (60.0, 9.0, 8.0), True),
    ],
)
def test_one_from_the_side_counts_in_a_junction_and_where_the_car_is_in_several_lanes(
    plain: RoadMap, x: float, y: float, other: tuple[float, float, float], missed: bool
) -> None:
    """As nuPlan has it: in its lane a car need not mind what is beside it."""
    at_x, at_y, v = other
    assert near_miss(plain, Pose(x, y, math.pi), 1.0, agent(at_x, at_y, -0.5 * math.pi, v)) is missed


def test_one_from_behind_does_not_count_there(plain: RoadMap) -> None:
    assert not near_miss(plain, Pose(-1.0, 1.75, math.pi), 3.0, agent(5.5, 1.75, math.pi, 9.0))


def test_a_collision_at_fault_is_one_and_one_that_has_been_touched_is_none_any_more(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    watch.see(Pose(100.0, -3.2, 0.0), 5.0, agents=agent(101.0, -5.0, 0.0, 5.0))
    assert watch.kinds == [("collision", True), ("near_miss", False)]
    assert watch.referee.infractions[1].detail == "car 7, in 0.0 s"
    watch = Watch(two_lanes)
    for _ in range(3):
        watch.see(Pose(100.0, -1.75, 0.0), 5.0, agents=agent(101.0, -3.4, 0.1, 5.0))
        watch.see(Pose(100.0, -3.2, 0.0), 5.0, agents=agent(101.0, -6.0, 0.3, 5.0))
    assert watch.kinds[0] == ("collision", False)
    assert ("near_miss", False) not in watch.kinds


def test_it_is_told_of_once_with_its_time_and_whom_it_was_with(bend: RoadMap) -> None:
    watch = Watch(bend)
    for k in range(20):
        here = Pose(OFF_THE_MAP_M + 0.4 * k, 0.0, 0.0)
        watch.see(here, 8.0, agents=agent(OFF_THE_MAP_M + 16.0, 0.0, 0.0, 0.0))
        if here.x > OFF_THE_MAP_M + 6.0:
            break
    told = [record for record in watch.referee.infractions if record.kind == "near_miss"]
    assert [(record.detail, record.at_fault) for record in told] == [("car 7, in 0.95 s", False)]
    assert 0.0 < told[0].t < 1.0
