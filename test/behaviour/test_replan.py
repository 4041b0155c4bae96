"""`on_road/replan` (RPL)."""

from __future__ import annotations

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.road_map import RoadMap

from .descents import clauses, no_line_free
from .mission import tasks
from .worlds import (
    FAR_LANE,
    NEAR_Y,
    VEHICLE,
    Drive,
    plan,
    route_along,
)


def _replan(road: RoadMap) -> Drive:
    drive = no_line_free(road)
    drive.result = plan(False)
    drive.until(states.REPLAN, 4.0)
    return drive


@pytest.mark.clause("RPL-1")
def test_replan_reports_the_block_and_asks_for_another_route(road: RoadMap) -> None:
    drive = _replan(road)
    blocked = drive.last.route_blocked
    assert blocked is not None
    assert blocked[0] == pytest.approx((50.0 + VEHICLE.front, NEAR_Y, 0.0))
    assert blocked[-1] == pytest.approx((70.0 + VEHICLE.front, NEAR_Y, 0.0))
    assert isinstance(drive.last.request, Hold)
    (request,) = drive.tick().route_requests
    assert request.purpose == "replan"
    assert drive.last.route_blocked is None


@pytest.mark.clause("RPL-2")
def test_a_route_round_the_block_leads_to_regression(road: RoadMap) -> None:
    drive = _replan(road)
    drive.tick()
    other = route_along(road, FAR_LANE)
    drive.answer(other)
    assert drive.until(states.REGRESSION, 1.0).route is other
    assert clauses(drive)[-1] == "RPL-2"


@pytest.mark.clause("RPL-2", "RPL-3")
def test_a_route_through_the_block_counts_as_refused_and_then_it_explores(road: RoadMap) -> None:
    drive = _replan(road)
    entered, asked = drive.last.stamp, 0
    while drive.last.state == states.REPLAN:
        if drive.tick().route_requests:
            asked += 1
            decision = drive.answer(route_along(road, begin=45.0))
            assert "through the reported block" in decision.reports[0]
    assert asked == 3
    assert drive.last.state == states.EXPLORE
    assert drive.last.stamp - entered < 5.0
    assert clauses(drive)[-1] == "RPL-3"


@pytest.mark.clause("RPL-3")
def test_without_an_answer_replan_ends_too(road: RoadMap) -> None:
    drive = _replan(road)
    drive.until(states.EXPLORE, 12.0)


@pytest.mark.clause("RPL-3", "USE-2")
def test_with_nowhere_to_go_replan_does_not_wait_for_an_answer(road: RoadMap) -> None:
    drive = tasks.in_normal_with(road, tasks.mission(park=False))
    drive.tick(skip_task=True)
    drive.result = drive.probe = plan(False)
    entered = drive.until(states.REPLAN, 10.0)
    left = drive.until(states.EXPLORE, 1.0)
    assert entered.request == Hold(Reason.NO_PATH, detail="nowhere to ask a route to")
    assert not any(decision.route_requests for decision in drive.decisions if decision.stamp >= entered.stamp)
    assert clauses(drive)[-1] == "RPL-3"
    drive.result = drive.probe = plan()
    drive.until(states.NORMAL, 10.0)
    assert drive.last.route is left.route, "it goes on when the road is free again"
