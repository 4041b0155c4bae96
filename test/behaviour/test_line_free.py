"""`on_road/solid_line_free` and `no_line_free` (SLF, NLF)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, PlanResult, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.world import RouteMatch

from .descents import clauses, no_line_free, solid_line_free
from .worlds import (
    FAR_LANE,
    FAR_Y,
    NEAR_Y,
    ONCOMING_Y,
    WIDTH,
    Drive,
    Place,
    Thing,
    in_normal,
    plan,
    route_along,
)


@pytest.mark.clause("SLF-1")
def test_solid_line_free_plans_forward_and_reverse_to_a_free_place_within_the_solid_lines(road: RoadMap) -> None:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert request.allow_reverse
    assert (request.goal.x, request.goal.y) == pytest.approx((70.0, NEAR_Y), abs=0.6)
    assert np.isclose(request.lines[:, 1], 0.0).any()
    assert not np.isclose(request.lines[:, 1], -3.5).any()


@pytest.mark.clause("SLF-1")
def test_where_the_own_lane_is_taken_the_other_one_comes_first(road: RoadMap) -> None:
    drive = solid_line_free(road, *(Thing(float(x), NEAR_Y) for x in range(60, 130, 5)))
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert request.goal.y == pytest.approx(FAR_Y)


@pytest.mark.clause("SLF-1")
@pytest.mark.parametrize(("works_end", "x"), [(96.0, 100.0), (130.0, None)])
def test_behind_long_road_works_a_place_farther_on_will_do(road: RoadMap, works_end: float, x: float | None) -> None:
    works = tuple(Thing(at, y) for at in np.arange(62.0, works_end, 4.0) for y in (NEAR_Y, FAR_Y))
    request = solid_line_free(road, *works).last.request
    if x is None:
        assert isinstance(request, Hold)
    else:
        assert isinstance(request, FreeSpace)
        assert request.goal.x == pytest.approx(x, abs=0.6)


@pytest.mark.clause("USE-7", "SLF-1")
@pytest.mark.parametrize("beside", [False, True])
def test_where_something_stands_at_the_end_of_the_route_a_place_beside_it_will_do(road: RoadMap, beside: bool) -> None:
    things = (Thing(59.0, NEAR_Y), Thing(61.0, FAR_Y))[: 1 + beside]
    drive = in_normal(Place(road, things=things), route_along(road, end=61.0))
    drive.result = plan(False)
    request = drive.until(states.SOLID_LINE_FREE).request
    if beside:
        assert isinstance(request, Hold)
        assert request.reason is Reason.GOAL_OCCUPIED
    else:
        assert isinstance(request, FreeSpace)
        assert (request.goal.x, request.goal.y) == pytest.approx((60.0, FAR_Y), abs=0.1)


@pytest.mark.clause("USE-7", "USE-1", "USE-2")
def test_before_a_goal_that_is_occupied_in_every_lane_the_car_waits_until_there_is_a_place(road: RoadMap) -> None:
    drive = in_normal(Place(road, things=(Thing(59.0, NEAR_Y), Thing(61.0, FAR_Y))), route_along(road, end=61.0))
    drive.result = drive.probe = plan(False)
    drive.until(states.SOLID_LINE_FREE)
    drive.result = plan(reach=0.0, reason=Reason.GOAL_OCCUPIED)
    for decision in drive.run(2.0 * BehaviourParameters().switching.deadline):
        assert decision.state == states.SOLID_LINE_FREE
        assert isinstance(decision.request, Hold)
        assert decision.request.reason is Reason.GOAL_OCCUPIED
    drive.place.things = (Thing(59.0, NEAR_Y),)
    request = drive.run(0.2)[-1].request
    assert isinstance(request, FreeSpace)
    assert request.goal.y == pytest.approx(FAR_Y, abs=0.1)
    drive.result = plan(False)
    drive.until(states.NO_LINE_FREE, 2.0)


@pytest.mark.clause("RRF-2")
def test_a_switched_route_gives_new_targets(road: RoadMap) -> None:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.run(1.0)
    drive.tick(RouteMatch(-1, route_along(road, FAR_LANE)))
    request = drive.tick().request
    assert drive.last.state == states.SOLID_LINE_FREE
    assert isinstance(request, FreeSpace)
    assert request.goal.y == pytest.approx(FAR_Y)


@pytest.mark.clause("SLF-2")
def test_with_a_forward_way_out_it_goes_back_to_normal(road: RoadMap) -> None:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    assert isinstance(drive.last.probe, FollowLanes)
    drive.probe = plan(reach=10.0)
    drive.run(2.0)
    assert drive.last.state == states.SOLID_LINE_FREE
    drive.result = plan()
    drive.probe = plan(reach=3.0, reason=Reason.OBSTACLE)
    drive.run(2.0)
    assert drive.last.state == states.SOLID_LINE_FREE
    drive.probe = plan(reach=10.0)
    decision = drive.until(states.NORMAL, 1.0)
    assert decision.transition is not None
    assert decision.transition.clause == "SLF-2"


@pytest.mark.clause("SLF-3", "NLF-2")
def test_without_any_path_it_goes_down_to_replan(road: RoadMap) -> None:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.result = plan(False)
    drive.until(states.NO_LINE_FREE, 3.0)
    assert isinstance(drive.last.request, FreeSpace)
    drive.until(states.REPLAN, 4.0)
    assert clauses(drive)[-2:] == ["SLF-3", "NLF-2"]


def _within_edges(request: FreeSpace) -> bool:
    """Whether the edges of the road hold and no lane line does, or nothing at all."""
    if len(request.lines) == 0:
        return False
    assert np.allclose(np.abs(request.lines[:, [1, 3]]), 2.0 * WIDTH)
    return True


@pytest.mark.clause("SLF-3", "NLF-2")
def test_every_target_is_tried_on_the_road_before_its_edges_are_left(road: RoadMap) -> None:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.result = plan(False)
    drive.until(states.NO_LINE_FREE, 3.0)
    tried: list[tuple[Pose, bool]] = []
    while drive.last.state == states.NO_LINE_FREE:
        request = drive.last.request
        if isinstance(request, FreeSpace) and (request.goal, _within_edges(request)) not in tried:
            tried.append((request.goal, _within_edges(request)))
        drive.tick()
    goals = [goal for goal, on_road in tried if on_road]
    assert len(goals) == 4
    assert tried == [(goal, on_road) for on_road in (True, False) for goal in goals]


@pytest.mark.clause("SLF-3")
def test_every_target_is_tried_before_there_is_no_path(road: RoadMap) -> None:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.result = plan(False)
    goals = []
    while drive.last.state == states.SOLID_LINE_FREE:
        if isinstance(drive.last.request, FreeSpace) and drive.last.request.goal not in goals:
            goals.append(drive.last.request.goal)
        drive.tick()
    assert len(goals) == 4


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize("state", [states.SOLID_LINE_FREE, states.NO_LINE_FREE])
@pytest.mark.medium
def test_below_normal_a_red_light_is_no_failure_either(road: RoadMap, state: str) -> None:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    if state == states.NO_LINE_FREE:
        drive.result = plan(False)
        drive.until(state, 3.0)
    drive.result = plan(False, reason=Reason.RED_LIGHT)
    drive.run(70.0)
    assert drive.last.state == state


@pytest.mark.clause("NLF-1")
def test_off_the_reference_road_it_goes_to_regression(road: RoadMap) -> None:
    drive = no_line_free(road)
    drive.run(1.0)
    drive.place.y = ONCOMING_Y
    assert drive.until(states.REGRESSION, 1.0).transition is not None
    assert clauses(drive)[-1] == "NLF-1"


def _left_the_road(road: RoadMap, result: PlanResult) -> Drive:
    """A drive whose `no_line_free` had a plan when the car left the reference road."""
    drive = no_line_free(road)
    drive.result = result
    drive.run(1.0)
    drive.place.y = ONCOMING_Y
    drive.until(states.REGRESSION, 1.0)
    return drive


def _goal(drive: Drive) -> Pose:
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    return request.goal


@pytest.mark.clause("USE-8", "NLF-1")
def test_off_the_reference_road_the_motion_under_way_is_finished(road: RoadMap) -> None:
    begun = _goal(no_line_free(road))
    drive = _left_the_road(road, plan())
    drive.run(5.0)
    assert drive.last.state == states.REGRESSION
    assert _goal(drive) == begun
    assert isinstance(drive.last.request, FreeSpace)
    assert _within_edges(drive.last.request), "no lane line comes back that the motion was not to heed"


@pytest.mark.clause("USE-8", "REG-1", "REG-2")
@pytest.mark.parametrize("blocked", [True, False])
def test_a_motion_that_is_blocked_or_over_is_followed_by_a_way_back_within_the_lines(
    road: RoadMap, blocked: bool
) -> None:
    drive = _left_the_road(road, plan())
    begun = _goal(drive)
    if blocked:
        drive.result = plan(False)
    else:
        drive.place.x = begun.x
        drive.place.y = begun.y + 0.9 * drive.behaviour.context.parameters.free.reached
        drive.place.heading += math.radians(50.0)
    drive.run(0.5)
    assert drive.last.state == states.REGRESSION
    assert _goal(drive).x == pytest.approx(drive.place.x + 20.0, abs=0.6)
    assert isinstance(drive.last.request, FreeSpace)
    assert len(drive.last.request.lines)
    drive.result = plan(False)
    drive.until(states.EXPLORE, 3.0)
    assert clauses(drive)[-1] == "REG-4"


@pytest.mark.clause("USE-8", "REG-1")
@pytest.mark.parametrize("result", [plan(reach=0.0), plan(reach=2.0, reason=Reason.PLANNING)])
def test_where_no_motion_is_under_way_none_is_finished(road: RoadMap, result: PlanResult) -> None:
    drive = _left_the_road(road, result)
    assert _goal(drive).x == pytest.approx(drive.place.x + 20.0, abs=0.6)
    assert isinstance(drive.last.request, FreeSpace)
    assert len(drive.last.request.lines), "the way back is looked for within the lines"


@pytest.mark.clause("NLF-3")
def test_with_a_forward_plan_on_the_road_it_goes_to_normal(road: RoadMap) -> None:
    drive = no_line_free(road)
    drive.probe = plan(reach=12.0)
    drive.until(states.NORMAL, 1.5)
    assert clauses(drive)[-1] == "NLF-3"


@pytest.mark.clause("USE-2")
@pytest.mark.parametrize("state", [states.SOLID_LINE_FREE, states.NO_LINE_FREE])
@pytest.mark.medium
def test_a_maneuver_that_never_ends_is_left(road: RoadMap, state: str) -> None:
    drive = no_line_free(road) if state == states.NO_LINE_FREE else solid_line_free(road)
    drive.run(59.0)
    assert drive.last.state == state
    drive.run(2.0)
    assert drive.last.state != state
    assert "USE-2" in clauses(drive)
