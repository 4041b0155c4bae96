"""Back to the reference road."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.parameters import RegressionParameters
from tuling_fsm.core.request import FreeSpace, Reason
from tuling_fsm.map.road_map import RoadMap

from .worlds import (
    NEAR_Y,
    ONCOMING_Y,
    VEHICLE,
    Drive,
    Place,
    Thing,
    departed,
    in_normal,
    plan,
    route_along,
)

BETWEEN_Y = -3.5
"""Where both lanes of the road leave room to stand askew, m."""


def _off_route(road: RoadMap, things: tuple[Thing, ...] = ()) -> Place:
    return Place(road, x=50.0, y=ONCOMING_Y, heading=math.pi, things=things)


def _free_space(drive: Drive) -> FreeSpace:
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    return request


@pytest.mark.clause("REG-1")
def test_the_target_lies_20_m_along_the_route_from_the_nearest_point(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road))
    goal = _free_space(drive).goal
    assert (goal.x, goal.y, goal.heading) == pytest.approx((70.0, NEAR_Y, 0.0), abs=1e-6)


@pytest.mark.clause("REG-1")
@pytest.mark.parametrize(
    ("taken", "x"), [((72.0,), 80.0), ((72.0, 79.0), 85.0), (tuple(np.arange(60.0, 120.0, 4.0)), 110.0)]
)
def test_a_taken_target_moves_on_in_steps_of_5_m_up_to_60_m(road: RoadMap, taken: tuple[float, ...], x: float) -> None:
    things = tuple(Thing(place, NEAR_Y) for place in taken)
    drive = departed(_off_route(road, things=things), route_along(road))
    assert _free_space(drive).goal.x == pytest.approx(x)


@pytest.mark.clause("REG-1")
def test_the_target_is_frozen_until_the_state_is_left(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road))
    drive.place.x, drive.place.things = 40.0, (Thing(70.0, NEAR_Y),)
    drive.run(2.0)
    assert _free_space(drive).goal.x == pytest.approx(70.0)


@pytest.mark.clause("REG-1")
def test_the_target_does_not_run_over_the_end_of_the_route(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road, end=60.0))
    assert _free_space(drive).goal.x == pytest.approx(60.0, abs=0.6)


@pytest.mark.clause("REG-2", "USE-9")
def test_the_ladder_lifts_lines_ahead_and_then_everything(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road))
    first = _free_space(drive).lines
    centre = np.isclose(first[:, 1], 0.0) & np.isclose(first[:, 3], 0.0)
    edges = road.boundary_segments(50.0, ONCOMING_Y, 80.0).tolist()
    assert centre.any()
    assert edges
    assert all(edge in first.tolist() for edge in edges)
    drive.result = plan(False)
    drive.run(0.3)
    assert np.array_equal(_free_space(drive).lines, first)
    drive.run(0.1)
    second = _free_space(drive).lines
    x = second[np.isclose(second[:, 1], 0.0)][:, [0, 2]]
    front, rear = 50.0 - VEHICLE.front - 10.0, 50.0 + VEHICLE.rear_overhang
    assert len(x)
    assert not np.any((x > front + 1e-6) & (x < rear - 1e-6))
    length = np.abs(x[:, 1] - x[:, 0]).sum()
    before = np.abs(first[centre][:, 2] - first[centre][:, 0]).sum()
    assert before - length == pytest.approx(rear - front, abs=1e-6)
    assert all(edge in second.tolist() for edge in edges)
    drive.run(0.4)
    assert len(_free_space(drive).lines) == 0
    assert drive.last.state == states.REGRESSION


@pytest.mark.clause("REG-2")
def test_a_broken_line_may_be_crossed_from_the_start(open_road: RoadMap) -> None:
    drive = departed(_off_route(open_road), route_along(open_road))
    lines = _free_space(drive).lines
    assert len(lines)
    assert not np.isclose(lines[:, 1], 0.0).any()


@pytest.mark.clause("REG-2")
@pytest.mark.parametrize(("y", "kept"), [(NEAR_Y, True), (ONCOMING_Y, False)])
def test_one_that_is_on_its_own_side_does_not_come_back_through_the_oncoming_lanes(
    open_road: RoadMap, y: float, kept: bool
) -> None:
    lines = _free_space(departed(Place(open_road, x=50.0, y=y, heading=math.pi), route_along(open_road))).lines
    swung_out = RegressionParameters().swing_out
    centre = lines[np.isclose(lines[:, [1, 3]], swung_out).all(axis=1)]
    assert len(centre) == int(kept), "moved away from the route by as much as the body may swing out"


@pytest.mark.clause("USE-9")
def test_one_failed_plan_does_not_climb(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road))
    lines = _free_space(drive).lines
    for i in range(40):
        drive.result = plan(i % 3 == 0)
        drive.tick()
    assert np.array_equal(_free_space(drive).lines, lines)


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize("reason", [Reason.RED_LIGHT, Reason.PEDESTRIAN])
@pytest.mark.medium
def test_standing_for_a_light_or_a_pedestrian_is_no_failure(road: RoadMap, reason: Reason) -> None:
    drive = departed(_off_route(road), route_along(road))
    drive.result = plan(False, reason=reason)
    drive.run(70.0)
    assert drive.last.state == states.REGRESSION
    assert len(_free_space(drive).lines)


@pytest.mark.clause("REG-3")
@pytest.mark.parametrize(
    ("heading", "state"), [(29.0, states.NORMAL), (-29.0, states.NORMAL), (31.0, states.REGRESSION)]
)
def test_back_on_the_road_within_30_degrees_it_goes_on_normally(road: RoadMap, heading: float, state: str) -> None:
    drive = departed(_off_route(road), route_along(road))
    drive.run(1.0)
    drive.place.y, drive.place.heading = BETWEEN_Y, math.radians(heading)
    drive.run(0.3)
    assert drive.last.state == states.REGRESSION
    drive.run(0.1)
    assert drive.last.state == state


@pytest.mark.clause("REG-3", "NOR-6")
@pytest.mark.parametrize(("y", "state"), [(-1.0, states.NORMAL), (-0.5, states.REGRESSION), (-4.4, states.NORMAL)])
def test_not_with_a_part_of_the_body_over_the_solid_line(road: RoadMap, y: float, state: str) -> None:
    """Half of the car is 0.9 m or so; the edge of the road is at 0, and the two lanes of it count as one road."""
    drive = departed(Place(road, x=50.0, y=y), route_along(road))
    drive.run(1.0)
    assert drive.last.state == state


@pytest.mark.clause("REG-4")
def test_all_rungs_failing_leads_to_explore(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road))
    drive.result = plan(False)
    decision = drive.until(states.EXPLORE, 2.0)
    assert decision.transition is not None
    assert (decision.transition.clause, decision.transition.guard) == ("REG-4", "attempts_exhausted")


@pytest.mark.clause("REG-4")
def test_not_localized_leads_to_explore(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road))
    drive.run(1.0)
    drive.place.localized = False
    assert drive.tick().hold_reason is Reason.NOT_LOCALIZED
    decision = drive.until(states.EXPLORE, 0.5)
    assert decision.transition is not None
    assert decision.transition.guard == "not_localized"


@pytest.mark.clause("USE-2")
@pytest.mark.medium
def test_a_regression_that_comes_to_nothing_ends_after_a_minute(road: RoadMap) -> None:
    drive = departed(_off_route(road), route_along(road))
    decision = drive.until(states.EXPLORE, 61.0)
    assert decision.transition is not None
    assert decision.transition.guard == "overdue"
    assert decision.stamp - drive.decisions[0].stamp > 59.9


@pytest.mark.clause("NOR-9")
@pytest.mark.parametrize(
    ("y", "heading", "lost"),
    [(ONCOMING_Y, 0.0, True), (NEAR_Y, 61.0, True), (NEAR_Y, -61.0, True), (NEAR_Y, 59.0, False)],
)
def test_off_the_road_or_60_degrees_off_it_goes_back(road: RoadMap, y: float, heading: float, lost: bool) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.run(1.0)
    drive.place.y, drive.place.heading = y, math.radians(heading)
    drive.run(0.5)
    assert (drive.last.state == states.REGRESSION) is lost
    if lost:
        assert [d.transition.clause for d in drive.decisions if d.transition][-1] == "NOR-9"
