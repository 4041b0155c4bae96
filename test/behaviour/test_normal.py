"""`on_road/normal`: along the lanes, and what ends it (NOR)."""

from __future__ import annotations

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import FollowLanes, Reason
from tuling_fsm.map.road_map import RoadMap

from .descents import clauses
from .worlds import (
    LENGTH,
    NEAR_Y,
    ONCOMING_LANE,
    ONCOMING_Y,
    VEHICLE,
    Place,
    Thing,
    departed,
    in_normal,
    plan,
    route_along,
)


def test_normal_asks_for_all_lanes_of_the_direction_up_to_the_routes_end(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    request = drive.tick().request
    assert isinstance(request, FollowLanes)
    assert sorted(lane.shift for lane in request.lanes) == [-1, 0]
    assert request.speed_limit == VEHICLE.max_speed
    assert request.goal_s == pytest.approx(LENGTH)
    assert not request.keep_lane


@pytest.mark.clause("NOR-7")
def test_no_feasible_candidate_leads_to_solid_line_free(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.run(1.0)
    drive.result = plan(False)
    drive.run(0.3)
    assert drive.last.state == states.NORMAL
    assert [pending.guard for pending in drive.last.pending] == ["no_path"]
    drive.run(0.1)
    assert drive.last.state == states.SOLID_LINE_FREE


@pytest.mark.clause("NOR-7")
def test_standing_without_a_reason_for_10_seconds_is_a_failure(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.result = plan(reach=0.0, reason=Reason.OBSTACLE)
    entered = drive.last.stamp
    decision = drive.until(states.SOLID_LINE_FREE, 12.0)
    assert decision.transition is not None
    assert decision.transition.guard == "no_progress"
    assert decision.stamp - entered == pytest.approx(10.0)


@pytest.mark.clause("NOR-7")
def test_creeping_less_than_a_metre_in_10_seconds_is_standing(road: RoadMap) -> None:
    for speed, state in ((0.09, states.SOLID_LINE_FREE), (0.12, states.NORMAL)):
        drive = in_normal(Place(road), route_along(road))
        drive.result = plan(reach=0.0, reason=Reason.OBSTACLE)
        for _ in range(220):
            drive.place.x += speed * 0.05
            drive.tick()
        assert drive.last.state == state


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize(
    ("reason", "moving", "state"),
    [
        (Reason.RED_LIGHT, False, states.NORMAL),
        (Reason.PEDESTRIAN, False, states.NORMAL),
        (Reason.LEADER, True, states.NORMAL),
        (Reason.LEADER, False, states.SOLID_LINE_FREE),
        (Reason.CURVATURE, False, states.SOLID_LINE_FREE),
    ],
)
@pytest.mark.medium
def test_waiting_is_right_for_lights_pedestrians_and_leaders_that_moved(
    road: RoadMap, reason: Reason, moving: bool, state: str
) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.place.things = (Thing(60.0, NEAR_Y, moving=moving, id=7),)
    drive.result = plan(reach=0.0, reason=reason, blocker=7)
    drive.run(11.0)
    assert drive.last.state == state


@pytest.mark.medium
def test_waiting_for_a_free_junction_has_a_minute(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.result = plan(reach=0.0, reason=Reason.JUNCTION_OCCUPIED)
    drive.run(59.0)
    assert drive.last.state == states.NORMAL
    drive.until(states.SOLID_LINE_FREE, 2.0)


@pytest.mark.clause("NOR-7", "NLF-4")
def test_a_lost_localization_runs_down_to_explore_within_four_ticks(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.place.localized = False
    decisions = [drive.tick() for _ in range(4)]
    assert [decision.state for decision in decisions] == [
        states.SOLID_LINE_FREE,
        states.NO_LINE_FREE,
        states.REPLAN,
        states.EXPLORE,
    ]
    assert all(decision.route_blocked is None for decision in decisions)
    assert all(not decision.route_requests for decision in decisions)
    assert clauses(drive)[-4:] == ["NOR-7", "SLF-3", "NLF-2", "RPL-1"]


def test_driving_to_the_oncoming_side_does_not_count_as_the_reference_road(road: RoadMap) -> None:
    drive = departed(Place(road, y=ONCOMING_Y), route_along(road, ONCOMING_LANE))
    drive.run(1.0)
    assert drive.last.state == states.REGRESSION
