"""`intersection/safe_driving`: what it asks for, its clock, and its ways out (INT-1, INT-4, INT-5)."""

from __future__ import annotations

import pytest
from scenes import row, walker

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.intersection.parameters import IntersectionParameters
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.request import FollowLanes, Hold, PlanResult, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import Light

from ..worlds import plan
from .ride import ENTRY_S, HALF_M, INNER_Y, LANE_M, LIGHT_NUMBER, LINE_S, OUTER_Y, ZONE_S, Ride, in_safe_driving

DARK = plan(reach=0.0, reason=Reason.RED_LIGHT, blocker=LIGHT_NUMBER)
JAM = plan(reach=0.0, reason=Reason.LEADER, blocker=7)
WALKER = plan(reach=0.0, reason=Reason.PEDESTRIAN, blocker=9)


def _waiting(road_map: RoadMap, route: Route, light: Light | None = None, literal: bool = False) -> Ride:
    """A car that has just come to stand at the line, whose clock runs for 12 s."""
    own = BehaviourParameters(intersection=IntersectionParameters(by_hand_after=12.0, literal_clock=literal))
    ride = in_safe_driving(Ride(road_map, route, LINE_S - 0.5, parameters=own))
    ride.lights = {} if light is None else {LIGHT_NUMBER: light}
    ride.result = DARK
    return ride


def _handed_over(ride: Ride, seconds: float) -> float:
    """How long until the junction is taken to be directed by hand."""
    begun = ride.stamp
    ride.until(states.JUNCTION_NO_LINE_FREE, seconds)
    assert ride.clause == "INT-4"
    return ride.stamp - begun


def _still_waiting(ride: Ride, seconds: float) -> bool:
    return ride.run(seconds).state == states.SAFE_DRIVING


@pytest.mark.clause("INT-1")
def test_in_the_zone_and_in_the_junction_it_keeps_its_lane_and_plans_without_what_moves(
    lit: RoadMap, route: Route
) -> None:
    ride = in_safe_driving(Ride(lit, route, ZONE_S + 2.0))
    for front in (ZONE_S + 3.0, ENTRY_S + 5.0):
        ride.front = front
        request = ride.tick().request
        assert isinstance(request, FollowLanes)
        assert request.static_path and request.keep_lane


@pytest.mark.clause("INT-1")
@pytest.mark.parametrize(("offset", "keeps"), [(0.0, True), (-0.6, True), (-1.5, False), (-LANE_M, False)])
def test_a_car_that_is_not_yet_in_the_lane_that_leads_on_may_change_to_it(
    lit: RoadMap, route: Route, offset: float, keeps: bool
) -> None:
    ride = in_safe_driving(Ride(lit, route, ZONE_S + 5.0, offset=offset))
    request = ride.tick().request
    assert isinstance(request, FollowLanes)
    assert request.keep_lane is keeps
    assert sorted(lane.shift for lane in request.lanes) == [-1, 0]


@pytest.mark.clause("INT-1")
def test_a_car_whose_nose_is_on_its_way_over_the_line_may_go_on(lit: RoadMap, route: Route) -> None:
    ride = in_safe_driving(Ride(lit, route, ZONE_S + 5.0, offset=-0.4, turn=-0.35))
    request = ride.tick().request
    assert isinstance(request, FollowLanes) and not request.keep_lane


@pytest.mark.clause("INT-4")
@pytest.mark.medium
def test_standing_a_minute_at_a_dark_light_hands_over(lit: RoadMap, route: Route) -> None:
    ride = in_safe_driving(Ride(lit, route, LINE_S - 0.5, lights={LIGHT_NUMBER: Light.DARK}))
    ride.result = DARK
    ride.tick()
    assert ride.walls() == [Reason.RED_LIGHT]
    assert _handed_over(ride, 62.0) == pytest.approx(60.0, abs=1.5)


@pytest.mark.clause("INT-4")
@pytest.mark.parametrize(("twitch", "restarts"), [(0.45, False), (0.55, True)])
@pytest.mark.medium
def test_a_twitch_below_half_a_metre_a_second_does_not_restart_the_clock(
    lit: RoadMap, route: Route, twitch: float, restarts: bool
) -> None:
    ride = _waiting(lit, route)
    ride.result = JAM
    for _ in range(5):
        assert _still_waiting(ride, 2.0)
        ride.v = twitch
        ride.tick()
        ride.v = 0.0
    assert (ride.run(2.0).state == states.JUNCTION_NO_LINE_FREE) is not restarts
    if restarts:
        assert _handed_over(ride, 12.0) == pytest.approx(10.0, abs=0.2)


@pytest.mark.clause("INT-4")
@pytest.mark.parametrize(
    ("light", "result"), [(Light.RED, DARK), (Light.RED_YELLOW, DARK), (Light.RED, JAM), (Light.GREEN, WALKER)]
)
@pytest.mark.medium
def test_the_clock_pauses_for_a_red_light_that_is_seen_and_for_pedestrians(
    lit: RoadMap, route: Route, light: Light, result: PlanResult
) -> None:
    ride = _waiting(lit, route)
    assert _still_waiting(ride, 6.0)
    ride.lights, ride.result = {LIGHT_NUMBER: light}, result
    assert _still_waiting(ride, 15.0)
    ride.lights, ride.result = {}, JAM
    assert _handed_over(ride, 8.0) == pytest.approx(6.0, abs=1.2)


@pytest.mark.clause("INT-4", "NOR-11")
@pytest.mark.medium
def test_the_clock_pauses_behind_a_queue_and_runs_on_when_that_is_given_up(lit: RoadMap, route: Route) -> None:
    ride = _waiting(lit, route)
    ride.result = JAM
    assert _still_waiting(ride, 6.0)
    ride.result = plan(reach=0.0, reason=Reason.QUEUE, blocker=7)
    assert _still_waiting(ride, 15.0)
    ride.result = JAM
    assert _handed_over(ride, 8.0) == pytest.approx(6.0, abs=1.2)


@pytest.mark.clause("INT-4", "NOR-11")
@pytest.mark.parametrize(("jam", "pauses"), [(2, True), (1, False)])
@pytest.mark.medium
def test_a_jam_behind_the_junction_is_waited_for_and_one_that_has_broken_down_there_is_not(
    lit: RoadMap, route: Route, jam: int, pauses: bool
) -> None:
    ride = _waiting(lit, route)
    ride.objects = [row(7 + k, HALF_M + 4.0 + 7.0 * k, INNER_Y) for k in range(jam)]
    ride.result = plan(reach=0.0, reason=Reason.JUNCTION_EXIT_BLOCKED, blocker=7)
    assert (ride.run(20.0).state == states.SAFE_DRIVING) is pauses


@pytest.mark.clause("INT-4")
def test_the_literal_clock_does_not_pause(lit: RoadMap, route: Route) -> None:
    ride = _waiting(lit, route, Light.RED, literal=True)
    assert _handed_over(ride, 14.0) == pytest.approx(12.0, abs=1.2)
    ride.run(1.0)
    assert ride.walls() == [Reason.RED_LIGHT]


@pytest.mark.clause("INT-4", "EST-2")
@pytest.mark.medium
def test_an_emergency_stop_holds_the_clock(lit: RoadMap, route: Route) -> None:
    ride = _waiting(lit, route)
    assert _still_waiting(ride, 8.0)
    ride.stopped = True
    ride.run(20.0)
    assert isinstance(ride.last.request, Hold)
    ride.stopped = False
    assert _handed_over(ride, 6.0) == pytest.approx(4.0, abs=1.2)


@pytest.mark.clause("INT-4")
@pytest.mark.medium
def test_each_visit_has_a_clock_of_its_own(lit: RoadMap, route: Route) -> None:
    ride = _waiting(lit, route)
    assert _still_waiting(ride, 5.0)
    ride.result = plan(False)
    ride.until(states.JUNCTION_NO_LINE_FREE)
    assert ride.clause == "INT-5"
    ride.front, ride.result, ride.probe = ENTRY_S + 5.0, plan(), plan()
    ride.until(states.SAFE_DRIVING)
    ride.result, ride.probe = JAM, plan(False)
    assert _still_waiting(ride, 11.5)


@pytest.mark.clause("INT-5")
@pytest.mark.medium
def test_no_path_for_five_seconds_gives_up_the_lines(lit: RoadMap, route: Route) -> None:
    ride = in_safe_driving(Ride(lit, route, ZONE_S + 10.0))
    ride.result = plan(False)
    assert _still_waiting(ride, 4.9)
    ride.result = plan()
    ride.tick()
    ride.result = plan(False)
    assert _still_waiting(ride, 4.9)
    ride.until(states.JUNCTION_NO_LINE_FREE, 0.4)
    assert ride.clause == "INT-5"


@pytest.mark.clause("INT-5", "NOR-7")
@pytest.mark.parametrize("reason", [Reason.RED_LIGHT, Reason.PEDESTRIAN])
@pytest.mark.medium
def test_a_stop_for_a_light_or_a_pedestrian_is_never_no_path(lit: RoadMap, route: Route, reason: Reason) -> None:
    ride = in_safe_driving(Ride(lit, route, LINE_S - 0.5, lights={LIGHT_NUMBER: Light.RED}))
    ride.result = plan(False, reason=reason)
    assert _still_waiting(ride, 30.0)


@pytest.mark.clause("INT-5")
def test_a_car_that_does_not_know_where_it_is_explores(lit: RoadMap, route: Route) -> None:
    ride = in_safe_driving(Ride(lit, route, ZONE_S + 10.0))
    ride.run(1.0)
    ride.std = 10.0
    decision = ride.tick()
    assert isinstance(decision.request, Hold) and decision.request.reason is Reason.NOT_LOCALIZED
    ride.until(states.EXPLORE, 0.4)
    assert ride.clause == "INT-5"


@pytest.mark.clause("INT-3")
@pytest.mark.parametrize(
    ("y", "counts"), [(INNER_Y, True), (OUTER_Y, True), (-2.0 * LANE_M - 1.5, False), (1.5, False)]
)
def test_a_pedestrian_in_the_zone_counts_on_the_lane_and_the_one_beside_but_not_off_the_carriageway(
    bare: RoadMap, route: Route, y: float, counts: bool
) -> None:
    ride = in_safe_driving(Ride(bare, route, ZONE_S + 2.0, v=0.0))
    ride.objects = [walker(9, route.reference.at(ZONE_S + 8.0).x, y)]
    ride.run(1.0)
    assert (Reason.PEDESTRIAN in ride.walls()) is counts
