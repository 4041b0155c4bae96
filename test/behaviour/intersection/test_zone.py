"""Where the map says junction, and how the composite is entered and left by that (NOR-2, INT-6, USE-1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from crossroads import HALF_M as CROSSING_HALF_M
from crossroads import double_crossing
from traffic_drive import route_between

from tuling_fsm.behaviour import states
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.world import RouteMatch

from ..worlds import plan
from .ride import EXIT_S, VEHICLE, ZONE_S, Ride, in_safe_driving


def _in_normal(road_map: RoadMap, route: Route, front: float) -> Ride:
    ride = Ride(road_map, route, front)
    ride.depart()
    ride.until(states.NORMAL)
    return ride


@pytest.mark.clause("NOR-2")
def test_the_junction_begins_where_the_bumper_reaches_the_solid_lines_before_it(lit: RoadMap, route: Route) -> None:
    ride = _in_normal(lit, route, ZONE_S - 1.0)
    ride.run(2.0)
    assert ride.last.state == states.NORMAL
    ride.front = ZONE_S + 0.6
    ride.until(states.SAFE_DRIVING, 0.4)
    assert ride.clause == "NOR-2"


@pytest.mark.clause("NOR-2", "DWELL-4")
@pytest.mark.parametrize("wrong", ["off_route", "no path"])
def test_the_junction_goes_before_all_else_in_normal(lit: RoadMap, route: Route, wrong: str) -> None:
    ride = _in_normal(lit, route, ZONE_S - 1.0)
    ride.front = ZONE_S + 0.6
    ride.turn = 1.3 if wrong == "off_route" else 0.0
    ride.result = plan(wrong != "no path")
    decision = ride.until(states.SAFE_DRIVING, 0.5)
    assert decision.transition is not None and decision.transition.clause == "NOR-2"
    assert decision.transition.source == states.NORMAL
    assert decision.transition.rejected


@pytest.mark.clause("INT-6")
def test_behind_the_junction_the_car_drives_normally_again(lit: RoadMap, route: Route) -> None:
    ride = in_safe_driving(Ride(lit, route, EXIT_S - 5.0))
    ride.front = EXIT_S + VEHICLE.front + 1.0
    ride.run(2.0)
    assert ride.last.state == states.SAFE_DRIVING, "the rear axle has to be well out of it"
    ride.front = EXIT_S + VEHICLE.front + 2.5
    ride.until(states.NORMAL, 0.5)
    assert ride.clause == "INT-6"


@pytest.mark.clause("USE-1", "INT-6")
@pytest.mark.medium
def test_at_the_border_of_the_zone_it_does_not_flap(lit: RoadMap, route: Route) -> None:
    ride = _in_normal(lit, route, ZONE_S - 1.0)
    for k in range(400):
        ride.front = ZONE_S + (1.0 if k // 8 % 2 else -1.0)
        ride.tick()
    assert ride.states()[-1] == states.SAFE_DRIVING
    assert ride.states().count(states.SAFE_DRIVING) == 1


def _through_two(folder: Path, between: float) -> Ride:
    road_map = double_crossing(folder, between)
    far = 3.0 * CROSSING_HALF_M + between + 110.0
    route = route_between(road_map, Pose(-110.0, -1.75, 0.0), Pose(far, -1.75, 0.0))
    ride = _in_normal(road_map, route, 60.0)
    ride.v = 8.0
    ride.run((route.length - 70.0) / 8.0)
    return ride


@pytest.mark.clause("USE-1")
@pytest.mark.medium
def test_two_junctions_close_together_are_driven_as_one(tmp_path: Path) -> None:
    assert _through_two(tmp_path, 22.0).states()[-3:] == [states.NORMAL, states.SAFE_DRIVING, states.NORMAL]


@pytest.mark.clause("INT-6", "NOR-2")
@pytest.mark.medium
def test_between_two_junctions_far_apart_it_drives_normally(tmp_path: Path) -> None:
    ride = _through_two(tmp_path, 60.0)
    assert ride.states()[-5:] == [states.NORMAL, states.SAFE_DRIVING] * 2 + [states.NORMAL]
    assert ride.last.flaps == 0


@pytest.mark.clause("INT-6")
def test_a_car_that_does_not_know_where_it_is_does_not_take_the_maps_word(lit: RoadMap, route: Route) -> None:
    ride = Ride(lit, route, ZONE_S - 20.0, offset=6.0)
    ride.depart()
    ride.run(1.0)
    ride.front = ZONE_S + 2.0
    assert [pending.guard for pending in ride.run(0.25).pending] == ["junction_ahead"]
    ride.std = 10.0
    ride.until(states.EXPLORE, 0.5)
    assert states.JUNCTION_REGRESSION not in ride.states()


@pytest.mark.clause("NOR-10")
def test_a_route_that_ends_in_the_junction_ends(lit: RoadMap, route: Route) -> None:
    assert route.lanes[0].s_to < EXIT_S - 5.0
    start, goal = route.reference.at(0.0), route.reference.at(EXIT_S - 6.0)
    ride = Ride(lit, route_between(lit, start, goal), EXIT_S - 30.0)
    in_safe_driving(ride).front = EXIT_S - 7.0 + VEHICLE.front
    ride.until(states.PLAN_ONCE, 2.0)
    assert ride.clause == "NOR-10"


@pytest.mark.clause("RRF-2")
def test_another_route_is_kept_back_until_the_junction_is_over(lit: RoadMap, route: Route) -> None:
    other = route_between(lit, route.reference.at(0.0), route.reference.at(route.length - 30.0))
    ride = in_safe_driving(Ride(lit, route, ZONE_S + 5.0))
    ride.answers = [RouteMatch(-1, other)]
    ride.run(1.0)
    assert ride.last.route is route
    ride.front = EXIT_S + VEHICLE.front + 3.0
    ride.until(states.NORMAL, 0.5)
    assert ride.tick().route is other
