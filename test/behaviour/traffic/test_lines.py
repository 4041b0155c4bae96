from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from crossroads import HALF_M, STOP_SIGN, crossroads
from map import towns
from traffic_drive import Drive, route_between

from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.behaviour.regulations import regulations
from tuling_fsm.behaviour.traffic.lines import told_of_light
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Limit, PlanResult, Reason
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

SOUTH_IN, NORTH_OUT = Pose(1.75, -110.0, 1.5708), Pose(1.75, 110.0, 1.5708)
LINE_S = 110.0 - HALF_M - 1.0
"""Arc length of the stop line on the route from south to north."""


def approach(road_map: RoadMap, gap: float, v: float = 8.0, light: Light | None = None) -> Drive:
    drive = Drive(road_map, route_between(road_map, SOUTH_IN, NORTH_OUT), v=v)
    drive.put_front(LINE_S - gap)
    if light is not None:
        drive.lights[4] = light
    return drive


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("light", [Light.RED, Light.RED_YELLOW, Light.UNKNOWN, Light.DARK, None])
def test_whatever_is_not_known_to_be_open_closes_the_line(lit: RoadMap, light: Light | None) -> None:
    drive = approach(lit, 40.0, light=light)
    drive.tick()
    (wall,) = drive.walls(Reason.RED_LIGHT)
    assert drive.wall_s(wall) == pytest.approx(LINE_S, abs=0.05)
    assert wall.blocker == 4 and "signal 4" in wall.detail
    assert (wall.x0, wall.x1) == (pytest.approx(-4.5, abs=0.01), pytest.approx(4.5, abs=0.01)), "the whole road"


@pytest.mark.clause("INT-2", "SAF-2")
def test_the_check_holds_a_red_line_closed_on_the_oncoming_lane_too(lit: RoadMap) -> None:
    """Whatever way a plan takes round its end: the road is 7 m wide."""
    drive = approach(lit, 20.0, light=Light.RED)
    drive.tick()
    (line,) = regulations(drive.world, lit, drive.vehicle, False, 3.0, 8.0).closed_lines
    assert (line.x0, line.x1) == (pytest.approx(-3.5, abs=0.01), pytest.approx(3.5, abs=0.01))
    assert line.y0 == line.y1 == pytest.approx(-HALF_M - 1.0, abs=0.05)


def _light_of_way(number: int) -> str:
    place = 's="1" t="4" orientation="+" dynamic="yes"'
    return f'<signals><signal id="{number}" {place} type="1000001" subtype="-1"/></signals>'


@pytest.mark.clause("INT-2", "SAF-2")
@pytest.mark.parametrize(("arm", "own"), [(3, 31), (4, 41)])
def test_ways_with_lights_of_their_own_are_closed_by_these_at_the_line_before_they_part(
    tmp_path: Path, arm: int, own: int
) -> None:
    """It is painted 4 m before the end of the lane, and the check holds it closed on all of the road."""
    size = 'hdg="1.5707963" length="3.3" width="0.4"'
    paint = f'<objects><object id="1" type="roadMark" name="StopLine" s="4" t="1.75" {size}/></objects>'
    town = towns.crossing(tmp_path, {1: paint, 103: _light_of_way(31), 104: _light_of_way(41)})
    start, goal = (town.lanes[LaneId(road, 0, n)].center.at(20.0) for road, n in (("1", 1), (str(arm), -1)))
    drive = Drive(town, route_between(town, start, goal), v=4.0)
    drive.put_front(46.0)
    for red in (31, 41):
        drive.lights = {31: Light.GREEN, 41: Light.GREEN, red: Light.RED}
        drive.tick(1.0)
        assert [wall.blocker for wall in drive.walls(Reason.RED_LIGHT)] == [own] * (red == own)
        closed = regulations(drive.world, town, drive.vehicle, False, 3.0, 8.0).closed_lines
        ends = sorted((line.y0, line.y1) for line in closed)
        assert ends == [(pytest.approx(-3.5, abs=0.01), pytest.approx(3.5, abs=0.01))] * (red == own)
        assert [line.x0 for line in closed] == [pytest.approx(towns.HALF_M + 4.0, abs=0.05)] * (red == own)


@pytest.mark.clause("INT-2")
def test_a_stale_light_is_unknown(lit: RoadMap) -> None:
    drive = approach(lit, 40.0, light=Light.GREEN)
    drive.tick(0.5)
    assert not drive.rules.walls
    drive.lights.clear()
    drive.tick(0.9)
    assert not drive.rules.walls, "it may be lost for a moment"
    drive.tick(0.2)
    assert drive.walls(Reason.RED_LIGHT)


@pytest.mark.clause("USE-4")
def test_red_acts_at_once_and_green_only_after_it_held(lit: RoadMap) -> None:
    drive = approach(lit, 40.0, light=Light.GREEN)
    drive.tick(0.5)
    drive.lights[4] = Light.RED
    assert drive.tick().walls
    drive.lights[4] = Light.GREEN
    drive.tick(0.25)
    assert drive.walls(Reason.RED_LIGHT)
    drive.lights[4] = Light.RED
    drive.tick()
    drive.lights[4] = Light.GREEN
    drive.tick(0.3)
    assert drive.walls(Reason.RED_LIGHT), "the flicker started the time anew"
    drive.tick(0.05)
    assert not drive.rules.walls


@pytest.mark.clause("INT-2", "USE-4")
def test_at_yellow_the_car_stops_if_it_comfortably_can_and_keeps_its_choice(lit: RoadMap) -> None:
    need = 8.0**2 / (2.0 * approach(lit, 40.0).vehicle.comfort_decel)
    far, near = approach(lit, need + 1.0, light=Light.GREEN), approach(lit, need - 1.0, light=Light.GREEN)
    for drive in (far, near):
        drive.tick(0.5)
        drive.lights[4] = Light.YELLOW
        drive.tick()
    assert far.walls(Reason.RED_LIGHT) and not near.rules.walls
    far.put_front(LINE_S - 5.0)
    near.v = 3.0
    assert far.tick().walls, "kept, though it could not stop any more"
    assert not near.tick().walls, "kept, though it could stop by now"


@pytest.mark.clause("USE-4")
def test_red_after_going_on_at_yellow_stops_only_where_braking_stays_sane(lit: RoadMap) -> None:
    for gap, stops in ((13.0, True), (6.0, False)):
        drive = approach(lit, gap, light=Light.GREEN)
        drive.tick(0.5)
        drive.lights[4] = Light.YELLOW
        drive.tick()
        drive.lights[4] = Light.RED
        assert bool(drive.tick().walls) is stops


def test_a_line_that_cannot_be_stopped_at_by_any_braking_is_driven_over(lit: RoadMap) -> None:
    drive = approach(lit, 3.0, light=Light.GREEN)
    drive.tick(0.5)
    drive.lights[4] = Light.RED
    assert not drive.tick(0.5).walls


@pytest.mark.clause("INT-2")
def test_a_line_that_comfortable_braking_suffices_for_is_stopped_at_however_weak_the_brakes_are(lit: RoadMap) -> None:
    drive = approach(lit, 8.0**2 / (2.0 * 1.75), light=Light.GREEN)
    drive.vehicle = replace(drive.vehicle, comfort_decel=1.8, emergency_decel=1.8)
    drive.tick(0.5)
    drive.put_front(LINE_S - 8.0**2 / (2.0 * 1.75))
    drive.lights[4] = Light.RED
    assert drive.tick().walls


@pytest.mark.clause("USE-3")
@pytest.mark.parametrize(("v", "ahead"), [(0.0, -0.05), (0.29, -0.05), (0.31, 0.05)])
def test_a_line_just_passed_is_at_the_bumper_and_then_there_is_none(lit: RoadMap, v: float, ahead: float) -> None:
    """Before the bumper, but not of a car that hardly rolls: it would follow a wall that goes on before it."""
    drive = approach(lit, -0.3, v=v, light=Light.RED)
    (wall,) = drive.tick().walls
    assert drive.wall_s(wall) == pytest.approx(drive.front + ahead, abs=0.02), "arrived, and waits"
    drive.put_front(LINE_S + 0.6)
    assert drive.tick().stop is not None, "what was begun goes on"
    drive.put_front(LINE_S + 3.1)
    assert not drive.tick().walls and drive.rules.stop is None


@pytest.mark.clause("USE-3")
@pytest.mark.medium
def test_a_car_that_waits_does_not_creep_over_its_line(lit: RoadMap) -> None:
    drive = approach(lit, 30.0, light=Light.RED)
    drive.drive(15.0)
    assert drive.v == 0.0 and LINE_S - 1.0 < drive.front <= LINE_S
    drive.lights[4] = Light.GREEN
    drive.drive(6.0)
    assert drive.front > LINE_S + 5.0


@pytest.mark.clause("INT-5")
def test_directed_by_hand_only_a_fresh_red_closes_the_line(lit: RoadMap) -> None:
    for light, closed in ((Light.RED, True), (Light.RED_YELLOW, True), (Light.DARK, False), (None, False)):
        drive = approach(lit, 2.0, v=0.0, light=light)
        drive.by_hand = True
        drive.tick(0.5)
        assert bool(drive.walls(Reason.RED_LIGHT)) is closed


def test_flashing_yellow_is_no_light(lit: RoadMap) -> None:
    assert not approach(lit, 20.0, v=4.0, light=Light.FLASHING_YELLOW).tick().walls


@pytest.mark.clause("INT-7", "USE-3")
def test_at_a_stop_sign_the_car_stops_at_the_line_stands_a_second_and_goes(tmp_path: Path) -> None:
    road_map = crossroads(tmp_path, "sign", {"S": STOP_SIGN})
    drive = approach(road_map, 40.0)
    stood = 0.0
    for _ in range(60 * 20):
        drive.drive(0.05)
        if drive.v == 0.0:
            assert -0.5 <= LINE_S - drive.front <= 1.5
            stood += 0.05
        if drive.front > LINE_S + 20.0:
            break
    assert drive.front > LINE_S + 20.0 and 1.0 <= stood < 2.0


@pytest.mark.clause("USE-3")
def test_a_new_route_over_the_same_stop_sign_stops_again(tmp_path: Path) -> None:
    road_map = crossroads(tmp_path, "sign", {"S": STOP_SIGN})
    drive = approach(road_map, 0.5, v=0.0)
    drive.tick(1.2)
    assert not drive.walls(Reason.STOP_SIGN)
    drive.route = route_between(road_map, SOUTH_IN, NORTH_OUT)
    drive.v = 5.0
    drive.put_front(LINE_S - 30.0)
    assert drive.tick().walls[0].reason is Reason.STOP_SIGN


def test_the_memory_survives_pickling_and_the_rules_are_pure(lit: RoadMap) -> None:
    drive = approach(lit, 15.0, light=Light.GREEN)
    drive.tick(0.5)
    drive.lights[4] = Light.YELLOW
    drive.tick()
    world, memory = pickle.loads(pickle.dumps((drive.world, drive.memory)))
    drive.world, drive.memory, drive.route = world, memory, world.route
    drive.builder = type(drive.builder)(lit, drive.vehicle, drive.builder.parameters)
    drive.v = 3.0
    assert not drive.tick().walls, "the choice to go on was kept"


def blocked(distance: float, reason: Reason = Reason.OBSTACLE) -> PlanResult:
    return PlanResult(False, None, Limit(reason, distance, "object 7", 7), Reason.NO_PATH)


@pytest.mark.clause("NOR-7", "INT-5")
@pytest.mark.parametrize(("before", "waits"), [(16.0, False), (14.0, True), (1.0, True), (-1.5, True), (-2.5, False)])
def test_what_stands_at_a_closed_line_is_no_dead_end(lit: RoadMap, before: float, waits: bool) -> None:
    """It stands so far before the line; behind that it is gone round, or the line is stopped at, when it opens."""
    drive = approach(lit, 20.0, light=Light.RED)
    drive.tick()
    request = FollowLanes(drive.world.lanes, drive.rules.walls, 8.0)
    result = blocked(20.0 - before)
    told = told_of_light(result, request, drive.world, drive.vehicle)
    assert (told.limit.reason is Reason.RED_LIGHT) is waits
    assert PlanOutcome.of(told).failed is not waits
    if waits:
        assert told.limit.blocker == 4 and told.limit.detail == "signal 4 red, then object 7"
        assert told.limit.distance == pytest.approx(20.0, abs=0.1)
    else:
        assert told is result


@pytest.mark.clause("NOR-7", "USE-2")
@pytest.mark.parametrize("light", [Light.DARK, Light.UNKNOWN, None])
def test_a_light_that_is_not_seen_to_be_red_is_nothing_to_wait_for_behind_an_obstacle(
    lit: RoadMap, light: Light | None
) -> None:
    """It may never open: the obstacle is gone round, and the light is found out about at its line (INT-4)."""
    drive = approach(lit, 20.0, light=light)
    drive.tick()
    assert drive.walls(Reason.RED_LIGHT)
    request, result = FollowLanes(drive.world.lanes, drive.rules.walls, 8.0), blocked(15.0)
    assert told_of_light(result, request, drive.world, drive.vehicle) is result


@pytest.mark.clause("NOR-7")
def test_no_path_is_no_wait_for_a_light_where_that_is_open_or_not_why(lit: RoadMap) -> None:
    drive = approach(lit, 20.0, light=Light.RED)
    drive.tick()
    world, closed = drive.world, FollowLanes(drive.world.lanes, drive.rules.walls, 8.0)
    for result, request in (
        (blocked(15.0), replace(closed, walls=())),
        (blocked(15.0), FreeSpace(Pose(0.0, 0.0, 0.0), walls=closed.walls)),
        (blocked(15.0, Reason.LEADER), closed),
        (replace(blocked(15.0), feasible=True), closed),
    ):
        assert told_of_light(result, request, world, drive.vehicle) is result
