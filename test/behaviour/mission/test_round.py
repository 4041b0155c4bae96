"""The way round and back to a point, on the embedded course (TMP-3)."""

from __future__ import annotations

import math

import pytest

from tuling_fsm.behaviour.leaf import BehaviourContext, BehaviourView
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.behaviour.mission.points import distance_ahead, just_past
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.routing import joined, leads_on, place_on_route
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.mission import MissionPoint

from ..worlds import VEHICLE, Place

POINT = MissionPoint("west", 110.0, 161.75, math.pi)
CAR = Pose(127.0, 161.75, math.pi)


def _view(course: RoadMap, around: Pose | None, route: Route | None = None) -> BehaviourView:
    progress = MissionProgress(goal=MissionGoal(GoalKind.PICKUP, POINT, 0), around=around)
    world = Place(course, x=CAR.x, y=CAR.y, heading=CAR.heading).world(0.0, route)
    return BehaviourView(
        BehaviourContext(course, VEHICLE, BehaviourParameters()),
        world,
        Memory(mission=progress),
        0.0,
        0.0,
        0.0,
        (),
    )


def _asked(course: RoadMap, start: Pose) -> Route:
    found = plan_route(course, start, Pose(POINT.x, POINT.y, math.pi)).route
    assert found is not None
    return found


@pytest.mark.clause("TMP-3")
def test_a_route_from_just_past_the_point_leads_round_and_begins_at_the_car(course: RoadMap) -> None:
    around = just_past(course, POINT)
    assert around is not None
    answer = _asked(course, around)
    assert answer.length > 200.0 > 20.0 > _asked(course, CAR).length
    view = _view(course, around)
    route = joined(view, answer)
    begin, end = route.reference.at(0.0), route.reference.at(route.length)
    assert math.dist(begin[:2], CAR[:2]) < 1.0
    assert math.dist(end[:2], (POINT.x, POINT.y)) < 1.0
    assert route.length == pytest.approx(answer.length + CAR.x - around.x, abs=2.0)
    assert place_on_route(view, route) < 1.0, "at its beginning, though it comes by here again"
    assert leads_on(view, route) == ""


@pytest.mark.clause("NOR-1")
def test_on_the_way_round_the_point_is_not_approached_at_once(course: RoadMap) -> None:
    around = just_past(course, POINT)
    direct = _asked(course, CAR)
    assert distance_ahead(_view(course, around, direct)) is None
    assert distance_ahead(_view(course, None, direct)) == pytest.approx(CAR.x - POINT.x, abs=0.5)


def test_a_route_that_was_asked_for_from_the_car_is_taken_as_it_is(course: RoadMap) -> None:
    direct = _asked(course, CAR)
    assert joined(_view(course, None), direct) is direct
    assert joined(_view(course, just_past(course, POINT)), direct) is direct
