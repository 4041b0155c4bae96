"""Normal driving and the ladder of states below it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.on_road.lane_keeping import perceived_lane
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.perceived import PerceivedLine
from tuling_fsm.world.world import RouteMatch

from .worlds import (
    FAR_LANE,
    FAR_Y,
    LENGTH,
    NEAR_Y,
    ONCOMING_LANE,
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


def _clauses(drive: Drive) -> list[str]:
    return [decision.transition.clause for decision in drive.decisions if decision.transition]


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
def test_waiting_is_right_for_lights_pedestrians_and_leaders_that_moved(
    road: RoadMap, reason: Reason, moving: bool, state: str
) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.place.things = (Thing(60.0, NEAR_Y, moving=moving, id=7),)
    drive.result = plan(reach=0.0, reason=reason, blocker=7)
    drive.run(11.0)
    assert drive.last.state == state


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
    assert _clauses(drive)[-4:] == ["NOR-7", "SLF-3", "NLF-2", "RPL-1"]


def _solid_line_free(road: RoadMap, *things: Thing) -> Drive:
    drive = in_normal(Place(road, things=things), route_along(road))
    drive.result = plan(False)
    drive.until(states.SOLID_LINE_FREE, 2.0)
    drive.result = plan(reverse=True)
    return drive


@pytest.mark.clause("SLF-1")
def test_solid_line_free_plans_forward_and_reverse_to_a_free_place_within_the_solid_lines(road: RoadMap) -> None:
    drive = _solid_line_free(road, Thing(62.0, NEAR_Y))
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert request.allow_reverse
    assert (request.goal.x, request.goal.y) == pytest.approx((70.0, NEAR_Y), abs=0.6)
    assert np.isclose(request.lines[:, 1], 0.0).any()
    assert not np.isclose(request.lines[:, 1], -3.5).any()


@pytest.mark.clause("SLF-1")
def test_where_the_own_lane_is_taken_the_other_one_comes_first(road: RoadMap) -> None:
    drive = _solid_line_free(road, *(Thing(float(x), NEAR_Y) for x in range(60, 130, 5)))
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert request.goal.y == pytest.approx(FAR_Y)


@pytest.mark.clause("RRF-2")
def test_a_switched_route_gives_new_targets(road: RoadMap) -> None:
    drive = _solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.run(1.0)
    drive.tick(RouteMatch(-1, route_along(road, FAR_LANE)))
    request = drive.tick().request
    assert drive.last.state == states.SOLID_LINE_FREE
    assert isinstance(request, FreeSpace)
    assert request.goal.y == pytest.approx(FAR_Y)


@pytest.mark.clause("SLF-2")
def test_with_a_forward_way_out_it_goes_back_to_normal(road: RoadMap) -> None:
    drive = _solid_line_free(road, Thing(62.0, NEAR_Y))
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
    drive = _solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.result = plan(False)
    drive.until(states.NO_LINE_FREE, 3.0)
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert len(request.lines) == 0
    drive.until(states.REPLAN, 3.0)
    assert _clauses(drive)[-2:] == ["SLF-3", "NLF-2"]


@pytest.mark.clause("SLF-3")
def test_every_target_is_tried_before_there_is_no_path(road: RoadMap) -> None:
    drive = _solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.result = plan(False)
    goals = []
    while drive.last.state == states.SOLID_LINE_FREE:
        if isinstance(drive.last.request, FreeSpace) and drive.last.request.goal not in goals:
            goals.append(drive.last.request.goal)
        drive.tick()
    assert len(goals) == 4


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize("state", [states.SOLID_LINE_FREE, states.NO_LINE_FREE])
def test_below_normal_a_red_light_is_no_failure_either(road: RoadMap, state: str) -> None:
    drive = _solid_line_free(road, Thing(62.0, NEAR_Y))
    if state == states.NO_LINE_FREE:
        drive.result = plan(False)
        drive.until(state, 3.0)
    drive.result = plan(False, reason=Reason.RED_LIGHT)
    drive.run(70.0)
    assert drive.last.state == state


def _no_line_free(road: RoadMap) -> Drive:
    drive = _solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.result = plan(False)
    drive.until(states.NO_LINE_FREE, 3.0)
    drive.result = plan()
    return drive


@pytest.mark.clause("NLF-1")
def test_off_the_reference_road_it_goes_to_regression(road: RoadMap) -> None:
    drive = _no_line_free(road)
    drive.run(1.0)
    drive.place.y = ONCOMING_Y
    assert drive.until(states.REGRESSION, 1.0).transition is not None
    assert _clauses(drive)[-1] == "NLF-1"


@pytest.mark.clause("NLF-3")
def test_with_a_forward_plan_on_the_road_it_goes_to_normal(road: RoadMap) -> None:
    drive = _no_line_free(road)
    drive.probe = plan(reach=12.0)
    drive.until(states.NORMAL, 1.5)
    assert _clauses(drive)[-1] == "NLF-3"


@pytest.mark.clause("USE-2")
@pytest.mark.parametrize("state", [states.SOLID_LINE_FREE, states.NO_LINE_FREE])
def test_a_manoeuvre_that_never_ends_is_left(road: RoadMap, state: str) -> None:
    drive = _no_line_free(road) if state == states.NO_LINE_FREE else _solid_line_free(road)
    drive.run(59.0)
    assert drive.last.state == state
    drive.run(2.0)
    assert drive.last.state != state
    assert "USE-2" in _clauses(drive)


def _replan(road: RoadMap) -> Drive:
    drive = _no_line_free(road)
    drive.result = plan(False)
    drive.until(states.REPLAN, 3.0)
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
    assert _clauses(drive)[-1] == "RPL-2"


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
    assert _clauses(drive)[-1] == "RPL-3"


@pytest.mark.clause("RPL-3")
def test_without_an_answer_replan_ends_too(road: RoadMap) -> None:
    drive = _replan(road)
    drive.until(states.EXPLORE, 12.0)


def _explore(road: RoadMap) -> Drive:
    drive = departed(Place(road, y=9.0), route_along(road))
    drive.result = plan(False)
    drive.until(states.EXPLORE, 3.0)
    return drive


@pytest.mark.clause("EXP-1", "EXP-3")
def test_explore_looks_for_a_place_within_10_m_near_the_route(road: RoadMap) -> None:
    drive = _explore(road)
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert request.free_heading
    assert len(request.lines) == 0
    assert request.speed_limit <= 5.0 / 3.6
    assert math.hypot(request.goal.x - 50.0, request.goal.y - 9.0) <= 10.0 + 1e-6
    assert request.goal.y < 0.0


@pytest.mark.clause("EXP-1")
def test_explore_goes_on_looking_when_nothing_works(road: RoadMap) -> None:
    drive = _explore(road)
    requests = [decision.request for decision in drive.run(6.0)]
    goals = [request.goal for request in requests if isinstance(request, FreeSpace)]
    assert len(set(goals)) == 4
    rest = next(i for i, request in enumerate(requests) if isinstance(request, Hold))
    assert isinstance(requests[rest + 21], FreeSpace)


@pytest.mark.clause("EXP-2")
def test_a_path_toward_the_route_leads_back_to_regression(road: RoadMap) -> None:
    drive = _explore(road)
    probe = next(decision.probe for decision in drive.decisions[::-1] if decision.probe)
    assert isinstance(probe, FreeSpace)
    assert probe.goal.y == pytest.approx(NEAR_Y)
    assert probe.goal.x > 100.0
    drive.probe = plan(False)
    drive.run(2.0)
    assert drive.last.state == states.EXPLORE
    drive.probe = plan()
    drive.until(states.REGRESSION, 1.0)
    assert _clauses(drive)[-1] == "EXP-2"


@pytest.mark.clause("EXP-4")
def test_three_timeouts_of_30_seconds_park_the_car(road: RoadMap) -> None:
    drive = _explore(road)
    drive.place.localized = False
    drive.run(40.0)
    assert drive.last.state == states.EXPLORE
    drive.place.localized = True
    begin = drive.stamp
    drive.until(states.REPLAN, 31.0)
    assert drive.stamp - begin == pytest.approx(30.0, abs=0.6)
    drive.until(states.PARKED, 120.0)
    assert _clauses(drive)[-1] == "EXP-4"
    assert drive.states().count(states.EXPLORE) == 3
    assert drive.last.hold_reason is Reason.TIMEOUT
    drive.probe = drive.result = plan()
    assert {decision.state for decision in drive.run(60.0)} == {states.PARKED}


@pytest.mark.clause("EXP-4")
def test_the_time_adds_up_over_visits_until_normal_is_reached(road: RoadMap) -> None:
    drive = _explore(road)
    drive.run(20.0)
    drive.probe = plan()
    drive.until(states.REGRESSION, 2.0)
    drive.probe, drive.result = plan(False), plan(False)
    drive.until(states.EXPLORE, 3.0)
    begin = drive.stamp
    drive.until(states.REPLAN, 31.0)
    assert drive.stamp - begin < 11.0
    drive.until(states.EXPLORE, 20.0)
    drive.probe, drive.result = plan(), plan()
    drive.until(states.REGRESSION, 10.0)
    drive.place.y = NEAR_Y
    drive.until(states.NORMAL, 2.0)
    assert drive.behaviour.record.machine.memory.on_road.exploring.timeouts == 0


@pytest.mark.clause("USE-1")
def test_a_path_that_turns_out_to_be_none_is_believed_later_each_time(road: RoadMap) -> None:
    drive = _explore(road)
    drive.probe = plan()
    for _ in range(600):
        drive.result = plan(False)
        drive.tick()
    entries = [d.stamp for d in drive.decisions if d.transition and d.transition.dest == states.EXPLORE]
    gaps = np.diff(entries)
    assert len(gaps) >= 3
    assert all(b >= a - 0.2 for a, b in itertools.pairwise(gaps))
    assert gaps[-1] > 4.0


@pytest.mark.clause("EXP-1")
def test_not_localized_the_perceived_lane_is_kept(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.place.localized = False
    x = np.arange(0.0, 20.0)
    lines = (
        PerceivedLine(1, 1, np.column_stack((x, 0 * x + 1.8))),
        PerceivedLine(2, 1, np.column_stack((x, 0 * x - 1.6))),
        PerceivedLine(3, 1, np.column_stack((x, 0 * x + 5.3))),
    )
    for _ in range(6):
        drive.tick(perceived_lines=lines)
    request = drive.last.request
    assert isinstance(request, FollowLanes)
    assert request.keep_lane
    assert request.speed_limit <= 5.0 / 3.6
    (lane,) = request.lanes
    assert lane.center.project(60.0, NEAR_Y + 0.1).offset == pytest.approx(0.0, abs=1e-9)
    assert lane.left == pytest.approx(np.full(len(lane.left), 1.7))
    assert drive.tick().hold_reason is Reason.NOT_LOCALIZED
    assert drive.tick(odometry_fresh=False, perceived_lines=lines).hold_reason is Reason.NO_ODOMETRY
    drive.run(90.0)
    assert drive.last.state == states.EXPLORE


@pytest.mark.clause("EXP-1")
def test_one_perceived_line_is_enough_and_none_is_not() -> None:
    left = PerceivedLine(1, 1, np.array([[0.0, 1.5], [12.0, 1.5]]))
    lane = perceived_lane((left,), Pose(0.0, 0.0, math.pi / 2.0), 1.0)
    assert lane is not None
    assert lane.center.at(5.0).x == pytest.approx(0.25)
    assert perceived_lane((), Pose(0.0, 0.0, 0.0), 1.0) is None
    short = PerceivedLine(1, 1, np.array([[0.0, 1.5], [2.0, 1.5]]))
    assert perceived_lane((short,), Pose(0.0, 0.0, 0.0), 1.0) is None
    squeezed = PerceivedLine(2, 1, np.array([[0.0, -0.4], [12.0, -0.4]]))
    assert perceived_lane((left, squeezed), Pose(0.0, 0.0, 0.0), 1.0) is None


def test_driving_to_the_oncoming_side_does_not_count_as_the_reference_road(road: RoadMap) -> None:
    drive = departed(Place(road, y=ONCOMING_Y), route_along(road, ONCOMING_LANE))
    drive.run(1.0)
    assert drive.last.state == states.REGRESSION
