"""When a run is over."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.share import share_file
from tuling_fsm.sim.actors.agent_states import EgoState
from tuling_fsm.sim.parameters import EndParameters
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scoring.completion import MISSION_S, STOP_S, EndConditions, mission_goal, time_limit
from tuling_fsm.world.inputs import RouteRequest

from .plans import LaneDriver
from .scenes import simulation

END = EndParameters()


@pytest.mark.clause("MAT-1")
def test_a_match_is_over_soon_after_its_time() -> None:
    scenario = load_scenario(share_file("config", "scenarios", "pickup.osc"), {})
    assert time_limit(scenario, None, END, 200.0) == 200.0 + END.after_match
    assert time_limit(scenario, None, END) == scenario.max_duration_s
    unbound = replace(scenario, max_duration_s=None)
    assert time_limit(unbound, None, END, 200.0) == 200.0 + END.after_match
    assert time_limit(unbound, None, END) == MISSION_S


@pytest.mark.parametrize(
    ("ahead", "aside", "whole"), [(None, 0.0, False), (30.0, 0.5, True), (30.0, 4.0, False), (-20.0, 0.0, False)]
)
def test_one_that_takes_another_way_has_driven_the_route_only_where_it_was_closed(
    two_lanes: RoadMap, ahead: float | None, aside: float, whole: bool
) -> None:
    """Half of the way along it, then beside it, and to its end."""
    route = plan_route(two_lanes, Pose(10.0, -1.75, 0.0), Pose(210.0, -1.75, 0.0)).route
    assert route is not None
    ending = EndConditions(route, 1e3, Vehicle(), END, 0.05)
    rows = [] if ahead is None else [(110.0 + ahead, -1.75 - aside, 0.0, 0.0, 0.5, 1.6, 0.0)]
    standing = np.array(rows).reshape(-1, 7)
    way = [*((x, -1.75, 5.0) for x in np.arange(10.0, 111.0, 1.0)), (120.0, 30.0, 5.0), *[(208.0, -1.75, 0.0)] * 40]
    for k, (x, y, v) in enumerate(way):
        ego = EgoState(Pose(x, y, 0.0), 0.0, v, 0.0, 0.0, None, "")
        ending.watch(0.1 * k, 0.1, ego, False, standing)
    assert ending.end == "goal"
    assert ending.completion == pytest.approx(1.0 if whole else 0.5, abs=0.02)


@pytest.mark.parametrize("known", [True, False], ids=("on a lane", "on no lane"))
@pytest.mark.parametrize(("stretch", "aside", "whole"), [(60.0, 10.5, True), (200.0, 10.5, True), (60.0, 30.0, False)])
def test_one_that_drives_beside_the_route_goes_along_it(
    tmp_path_factory: pytest.TempPathFactory, stretch: float, aside: float, whole: bool, known: bool
) -> None:
    """The route is on the right of four lanes."""
    lanes = [xodr.lane(-1 - k, mark="broken") for k in range(4)]
    road_map = xodr.read(tmp_path_factory.mktemp("maps"), xodr.road(xodr.section(lanes), length=600.0))
    route = plan_route(road_map, Pose(20.0, -12.25, 0.0), Pose(500.0, -12.25, 0.0)).route
    assert route is not None
    ending, none = EndConditions(route, 1e3, Vehicle(), END, 0.05), np.zeros((0, 7))
    for k in range(1000):
        x = min(20.0 + 0.5 * k, 499.0)
        pose = Pose(x, -12.25 + (aside if 100.0 < x < 100.0 + stretch else 0.0), 0.0)
        position = road_map.project(*pose) if known else None
        ego = EgoState(pose, 0.0, 10.0 if x < 499.0 else 0.0, 0.0, 0.0, position, "")
        ending.watch(0.05 * k, 0.05, ego, False, none)
    assert ending.end == "goal"
    assert (ending.completion == 1.0) is whole


def test_one_that_cuts_off_a_part_of_the_route_has_not_driven_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    """200 m on, 20 m to the left, and back beside the way out: the car turns round half-way."""
    out, back = (
        xodr.geometry(0.0, 0.0, 0.0, 0.0, 200.0),
        xodr.geometry(200.0 + 10.0 * math.pi, 200.0, 20.0, math.pi, 200.0),
    )
    bend = xodr.geometry(200.0, 200.0, 0.0, 0.0, 10.0 * math.pi, '<arc curvature="0.1"/>')
    length = 400.0 + 10.0 * math.pi
    road_map = xodr.read(
        tmp_path_factory.mktemp("maps"), xodr.road(xodr.section([xodr.lane(-1)]), "1", out + bend + back, length)
    )
    lane = road_map.lanes[road_map.driving_lanes()[0]].center
    route = plan_route(road_map, Pose(*lane.at(5.0)), Pose(*lane.at(lane.length - 5.0))).route
    assert route is not None
    ending, none = EndConditions(route, 1e3, Vehicle(), END, 0.05), np.zeros((0, 7))
    way = [*(Pose(x, -1.75, 0.0) for x in range(5, 100)), *(Pose(100.0 - x, 21.75, math.pi) for x in range(30))]
    for k, pose in enumerate(way):
        ego = EgoState(pose, 0.0, 5.0, 0.0, 0.0, road_map.project(*pose), "")
        ending.watch(0.2 * k, 0.2, ego, False, none)
    assert ending.completion == pytest.approx(95.0 / route.length, abs=0.02)


POINT = {"x": 90.0, "y": -2.5}
TASKS = [{"pickup": POINT, "dropoff": POINT}]


@pytest.mark.clause("NOR-10")
@pytest.mark.parametrize(
    ("mission", "stands_s"),
    [
        ({"goal": POINT}, END.goal_time),
        ({"goal": POINT, "car_park": POINT}, END.goal_time),
        ({"goal": POINT, "tasks": TASKS}, END.goal_time + STOP_S),
        ({"goal": POINT, "tasks": TASKS, "car_park": POINT}, None),
        ({"car_park": POINT}, None),
        ({}, None),
    ],
)
def test_a_mission_is_over_at_its_goal_unless_it_ends_in_a_car_park(
    two_lanes: RoadMap, mission: dict[str, object], stands_s: float | None
) -> None:
    """The goal lies beside the middle of the lane that the car stops in."""
    ending = EndConditions(None, 1e3, Vehicle(), END, 0.05, goal=mission_goal(two_lanes, mission))
    way = [*((x, 5.0) for x in np.arange(10.0, 87.0, 1.0)), *[(87.0, 0.0)] * 200]
    ends = []
    for k, (x, v) in enumerate(way):
        ending.watch(0.1 * k, 0.1, EgoState(Pose(x, -1.75, 0.0), 0.0, v, 0.0, 0.0, None, ""), False, np.empty((0, 7)))
        ends.append(ending.end)
    assert ends[-1] == (None if stands_s is None else "goal")
    assert ending.completion == (0.0 if stands_s is None else 1.0)
    if stands_s is not None:
        assert 0.1 * (ends.index("goal") - 76) == pytest.approx(stands_s)


def test_lanes_that_the_planner_asks_for_are_no_lanes_of_the_route(course: RoadMap) -> None:
    """From the beginning of the route straight to another place, by a route that the server has given."""
    sim = simulation(course)
    assert sim.preset is not None
    lanes = {stretch.lane for stretch in sim.preset.lanes}
    start = sim.preset.reference.at(0.0)
    goals = [lane.center.at(0.7 * lane.length) for lane in course.lanes.values()
             if lane.type == "driving" and lane.junction is None and lane.id not in lanes]  # fmt: skip
    ways = [way for goal in goals if (way := plan_route(course, start, goal).route) is not None]
    outside = [sum(each.s_to - each.s_from for each in way.lanes if each.lane not in lanes) for way in ways]
    other = min((way.length, k) for k, way in enumerate(ways) if outside[k] > 0.5 * way.length)[1]
    driver = LaneDriver(ways[other], top=12.0)
    sim.request_route(RouteRequest(1, "next", start, ways[other].reference.at(ways[other].length)))
    while not sim.finished and sim.distance_m < ways[other].length - 10.0:
        sim.advance(driver(sim.inputs()))
    assert sim.referee.measures.outside_route_lanes > 0.3
