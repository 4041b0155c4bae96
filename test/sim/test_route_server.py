"""The route server: the rest of a preset route, or a new one, and blocks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import match_route, plan_route
from tuling_fsm.sim.environment.route_server import BLOCK_S, RouteServer
from tuling_fsm.world.inputs import RouteRequest

START, GOAL = Pose(60.0, 1.75, math.pi), Pose(-60.0, 1.75, math.pi)


def route(road_map: RoadMap) -> Route:
    found = plan_route(road_map, START, GOAL).route
    assert found is not None
    return found


def ask(start: Pose, goal: Pose = GOAL, number: int = 1) -> RouteRequest:
    return RouteRequest(number, "refresh", start, goal)


def test_on_the_preset_route_its_rest_is_the_answer(plain: RoadMap) -> None:
    preset = route(plain)
    server = RouteServer(plain, preset)
    answer = server.answer(ask(Pose(30.0, 2.0, math.pi), number=8), 4.0)
    assert (answer.request, answer.stamp) == (8, 4.0)
    assert answer.points[0, 0] == pytest.approx(30.0, abs=0.1)
    assert answer.points[-1] == pytest.approx(preset.poses()[-1])
    assert server.current is preset


@pytest.mark.parametrize(
    "request_",
    [
        ask(Pose(30.0, -1.75, 0.0)),
        ask(Pose(1.75, -60.0, 0.5 * math.pi)),
        ask(START, Pose(-1.75, -60.0, -0.5 * math.pi)),
    ],
)
def test_what_the_preset_does_not_fit_is_planned(plain: RoadMap, request_: RouteRequest) -> None:
    server = RouteServer(plain, route(plain))
    answer = server.answer(request_, 0.0)
    expected = plan_route(plain, request_.start, request_.goal).route
    if expected is None:
        assert math.dist(answer.points[0, :2], request_.start[:2]) == pytest.approx(3.5, abs=0.1)
        assert math.cos(answer.points[0, 2] - request_.start.heading) == pytest.approx(-1.0)
    else:
        assert answer.points == pytest.approx(expected.poses())
        assert server.current is not None
        assert server.current.length == pytest.approx(expected.length)


@pytest.mark.parametrize(("y", "turned"), [(1.75, 0.0), (-0.4, 0.2), (-1.6, -0.3)])
def test_a_car_over_the_middle_of_the_road_is_sent_along_its_own_side(plain: RoadMap, y: float, turned: float) -> None:
    points = RouteServer(plain).answer(ask(Pose(60.0, y, math.pi + turned)), 0.0).points
    assert points[0, :2] == pytest.approx((60.0, 1.75), abs=0.3)
    assert math.cos(points[0, 2]) == pytest.approx(-1.0, abs=0.01)
    assert points[-1, :2] == pytest.approx(GOAL[:2], abs=0.1)


@pytest.mark.clause("DEP-2")
def test_without_a_way_the_answer_is_empty(plain: RoadMap) -> None:
    assert len(RouteServer(plain).answer(ask(START, Pose(5000.0, 0.0, 0.0)), 0.0).points) == 0


@pytest.mark.clause("DEP-2")
def test_a_route_that_no_planner_can_match_is_no_answer(tmp_path: Path) -> None:
    """Two changes share the room, which is too short for the one between lanes of which one is very wide."""
    lanes = [xodr.lane(-1, 12.0, mark="broken"), xodr.lane(-2, 3.0, mark="broken"), xodr.lane(-3, 3.0)]
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)]))
    start, goal = Pose(50.0, -6.0, 0.0), Pose(75.0, -16.5, 0.0)
    steep = plan_route(road_map, start, goal).route
    assert steep is not None and match_route(road_map, steep.poses()) is None
    points = RouteServer(road_map).answer(ask(start, goal), 0.0).points
    again = match_route(road_map, points)
    assert again is not None
    assert [stretch.lane.lane for stretch in again.lanes] == [-2, -3]


@pytest.mark.clause("RPL-2")
def test_a_block_is_kept_for_a_while_and_then_lifted(plain: RoadMap) -> None:
    server = RouteServer(plain, route(plain))
    server.report_block(np.array([(-40.0, 1.75, math.pi)]), 10.0)
    assert len(server.answer(ask(START), 11.0).points) == 0
    assert len(server.answer(ask(START), 10.0 + BLOCK_S - 0.1).points) == 0
    assert len(server.answer(ask(START), 10.0 + BLOCK_S + 0.1).points) > 0


@pytest.mark.clause("RPL-2", "DWELL-5")
def test_a_block_is_none_before_it_was_reported(plain: RoadMap) -> None:
    """The stamps of another run, or of a bag that is looped, begin anew while the server stays up."""
    server = RouteServer(plain, route(plain))
    server.report_block(np.array([(-40.0, 1.75, math.pi)]), 600.0)
    assert len(server.answer(ask(START), 600.0).points) == 0
    assert len(server.answer(ask(START), 1.0).points) > 0


def test_a_loop_is_not_cut_short_where_it_meets_itself(plain: RoadMap) -> None:
    preset = route(plain)
    server = RouteServer(plain, preset)
    for x in (60.0, 40.0, 20.0, 0.0, -20.0):
        rest = server.answer(ask(Pose(x, 1.75, math.pi)), 0.0).points
        assert rest[0, 0] == pytest.approx(x, abs=0.2)
