"""What one tick makes of the last one and of its inputs, at both sides of each limit."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from crossroads import LIGHT, crossroads, double_crossing
from scenes import row, table

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import (
    PARKING_SLOTS,
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Kind,
    Light,
    Odometry,
    RouteAnswer,
    Source,
    StampedRows,
)
from tuling_fsm.world.lane_index import lane_index
from tuling_fsm.world.on_route import OnRoute
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import World
from world.messages import NORTH, at

EAST = 0.0
P = WorldParameters(
    acceleration_filter=0.2, max_position_std=0.4, max_heading_std=0.05, max_gap=0.9, lights_max_age=1.0,
    objects_max_age=0.5, track_memory=2.0, slots_max_age=30.0, ahead=60.0, behind=12.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def lit(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "lit", dict.fromkeys("ENWS", LIGHT), "N")


@pytest.fixture(scope="module")
def route(lit: RoadMap) -> Route:
    found = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(1.75, 110.0, NORTH)).route
    assert found is not None
    return found


@pytest.fixture
def builder(lit: RoadMap) -> WorldBuilder:
    return WorldBuilder(lit, Vehicle(), P)


def test_the_acceleration_is_that_of_a_filter_of_first_order_and_no_wheel_gives_more_than_its_grip(
    builder: WorldBuilder,
) -> None:
    """At uneven times; a tick without new odometry tells nothing of it."""
    draw, world, expected, v, stamp = np.random.default_rng(1), None, 0.0, 3.0, 1.0
    for k in range(60):
        dt, before = float(draw.choice([0.04, 0.05, 0.13])), v
        v += float(draw.choice([0.0, 0.1, -0.15, 3.0, -2.5]))
        stamp += dt
        world = builder.build(at(stamp, v=v), world, None)
        if k > 0:
            slope = min(max((v - before) / dt, -12.0), 12.0)
            expected = (0.2 * expected + dt * slope) / (0.2 + dt)
        assert world.ego.a == pytest.approx(expected)
        again = builder.build(dataclasses.replace(at(stamp), odometry=world.received.odometry), world, None)
        assert again.ego.a == world.ego.a
    assert abs(expected) > 0.1


@pytest.mark.parametrize(("v", "turn"), [(0.6, 1.0), (-0.6, 1.0), (0.51, -1.0), (-3.0, -1.0)])
def test_the_curvature_is_how_it_turns_for_its_speed_and_no_more_than_it_can_steer(
    builder: WorldBuilder, v: float, turn: float
) -> None:
    first = builder.build(at(1.0, v=4.0, yaw_rate=0.2), None, None)
    assert first.ego.curvature == pytest.approx(0.05)
    limit = 1.5 * Vehicle().max_curvature
    for share in (0.5, 0.99, 1.01, 3.0):
        world = builder.build(at(1.05, v=v, yaw_rate=share * limit * turn * v), first, None)
        assert world.ego.curvature == pytest.approx(turn * min(share, 1.0) * limit)
    for slow in (0.49, -0.49, 0.0):
        assert builder.build(at(1.05, v=slow, yaw_rate=0.3), first, None).ego.curvature == first.ego.curvature


def test_the_car_stands_below_a_twentieth_of_a_metre_a_second_and_for_as_long_as_that_was_known(
    builder: WorldBuilder,
) -> None:
    world: World | None = None
    expected = [0.0, 0.2, 0.3, 0.0, 0.0, 0.4, 0.0, 0.1]
    steps = [(0.0, 0.049), (0.2, -0.049), (0.1, 0.0), (0.1, 0.051), (0.1, -0.051), (0.4, 0.04), (0.3, -2.0), (0.1, 0.0)]
    stamp = 2.0
    for (dt, v), standing in zip(steps, expected, strict=True):
        stamp += dt
        world = builder.build(at(stamp, v=v), world, None)
        assert world.standing_for == pytest.approx(standing) and world.dt == pytest.approx(dt)
    assert builder.build(Inputs(stamp + 0.3), world, None).standing_for == 0.0, "nothing is known of it"


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("position", "heading", "localized"),
    [(0.4, 0.05, True), (0.41, 0.01, False), (0.1, 0.051, False), (0.0, 0.0, True)],
)
def test_a_pose_is_sure_enough_up_to_both_limits(
    builder: WorldBuilder, position: float, heading: float, localized: bool
) -> None:
    odometry = Odometry(1.0, Pose(0.0, 0.0, 0.0), 1.0, 0.0, position, heading)
    world = builder.build(Inputs(1.0, odometry), None, None)
    assert world.localized is localized and world.odometry_fresh
    assert world.complaints == (() if localized else ("localization",))
    assert bool(world.reports) is not localized
    later = builder.build(Inputs(1.1, dataclasses.replace(odometry, stamp=1.1)), world, None)
    assert later.complaints == world.complaints and later.reports == ()


@pytest.mark.clause("DWELL-5")
@pytest.mark.parametrize(
    ("later", "goes_on"), [(0.0, True), (0.89, True), (0.91, False), (-0.01, False), (20.0, False)]
)
def test_time_goes_on_for_no_more_than_the_gap_and_never_back(
    builder: WorldBuilder, later: float, goes_on: bool
) -> None:
    seen = StampedRows(5.0, table(row(7, 1.75, -40.0, NORTH)))
    world = builder.build(at(5.0, objects=seen, v=0.0, rain_fog=BoolMessage(5.0, True)), None, None)
    after = builder.build(Inputs(5.0 + later), world, None)
    assert after.dt == pytest.approx(later if goes_on else 0.0)
    assert (after.complaints == ("time",)) is not goes_on or "odometry stale" in after.complaints
    assert ("time" in after.complaints) is not goes_on
    assert (7 in after.tracks.id) is goes_on
    assert (after.received.odometry is None) is not goes_on
    assert after.rain_fog is True, "what holds until it is told otherwise"


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("stamp", [math.nan, math.inf, -math.inf])
def test_a_tick_whose_time_is_none_is_no_time_later(builder: WorldBuilder, stamp: float) -> None:
    world = builder.build(at(5.0, v=0.0), None, None)
    after = builder.build(dataclasses.replace(at(5.0), stamp=stamp), world, None)
    assert after.stamp == 5.0 and after.dt == 0.0 and "stamp" in after.complaints
    assert builder.build(Inputs(stamp), None, None).stamp == 0.0


@pytest.mark.clause("RFG-2")
def test_a_radar_is_fresh_for_as_long_as_a_table_after_its_latest_sign_of_life(builder: WorldBuilder) -> None:
    def rows(source: Source) -> StampedRows:
        return StampedRows(1.0, table(row(1, 5.0, 5.0, source=Source.LIDAR), row(2, 9.0, 5.0, source=int(source))))

    table_only = builder.build(at(1.1, objects=rows(Source.RADAR | Source.CAMERA)), None, None)
    assert table_only.radar_seen == 1.0 and table_only.radar_fresh
    beat = builder.build(at(1.2, objects=rows(Source.RADAR), radar_health=BoolMessage(1.2, True)), None, None)
    assert beat.radar_seen == 1.2
    old_beat = builder.build(at(1.2, objects=rows(Source.RADAR), radar_health=BoolMessage(0.9, True)), None, None)
    assert old_beat.radar_seen == 1.0
    dead = builder.build(at(1.2, objects=rows(Source.RADAR), radar_health=BoolMessage(1.2, False)), None, None)
    assert dead.radar_seen == 1.0 and not dead.radar_fresh
    for later, fresh in ((0.49, True), (0.5, True), (0.51, False)):
        assert builder.build(Inputs(1.0 + later), table_only, None).radar_fresh is fresh
        assert builder.build(Inputs(1.2 + later), beat, None).radar_fresh is fresh
    assert builder.build(at(1.1, objects=rows(Source.CAMERA)), None, None).radar_seen == -math.inf


@pytest.mark.clause("INT-2")
def test_since_when_lights_have_shown_what_they_show(builder: WorldBuilder) -> None:
    def lights(stamp: float, **states: Light) -> StampedRows:
        rows = [(int(signal[1:]), int(state), 1.0) for signal, state in states.items()]
        return StampedRows(stamp, np.array(rows, dtype=TRAFFIC_LIGHTS))

    world = builder.build(at(1.0, traffic_lights=lights(1.0, s1=Light.RED, s2=Light.GREEN)), None, None)
    assert world.light_since == {1: 1.0, 2: 1.0}
    world = builder.build(at(1.3, traffic_lights=lights(1.3, s1=Light.RED, s2=Light.YELLOW, s3=Light.RED)), world, None)
    assert world.light_since == {1: 1.0, 2: 1.3, 3: 1.3}
    world = builder.build(at(1.6, traffic_lights=lights(1.6, s1=Light.GREEN)), world, None)
    assert world.light_since == {1: 1.6, 2: 1.3, 3: 1.3} and world.light_seen == {1: 1.6, 2: 1.3, 3: 1.3}
    for later, there in ((0.99, {1, 2, 3}), (1.0, {1, 2, 3}), (1.01, {1})):
        old = dataclasses.replace(world, stamp=1.3 + later - 0.1)
        after = builder.build(at(1.3 + later, traffic_lights=lights(1.3 + later, s1=Light.GREEN)), old, None)
        assert set(after.lights) == there


@pytest.mark.clause("INT-2")
def test_what_lights_close_to_others_is_found_anew_where_one_has_changed(builder: WorldBuilder, lit: RoadMap) -> None:
    index = lane_index(lit)
    for lights in ({}, {2: Light.RED}, {2: Light.RED}, {2: Light.GREEN}, {2: Light.GREEN, 3: Light.YELLOW}, {}):
        closed = builder._closed_by(lights)
        shut = [signal for signal, state in lights.items() if state is not Light.GREEN]
        assert index.arrays.line_signal[closed.lines].tolist() == shut
        assert index.arrays.line_signal[closed.green].tolist() == [s for s in lights if s not in shut]
        assert closed.held.tolist() == []


def test_objects_are_put_where_they_are_by_now_and_remembered_from_when_they_were_seen(builder: WorldBuilder) -> None:
    seen = StampedRows(1.0, table(row(1, 40.0, -1.75, EAST, 6.0), row(2, -40.0, -1.75, EAST, 3.0)))
    world = builder.build(at(1.2, objects=seen), None, None)
    np.testing.assert_allclose(world.traffic.x, (41.2, -39.4), atol=1e-5)
    np.testing.assert_allclose(world.tracks.past[:, 0], 1.0)
    assert world.scene.stamp == 1.2
    missed = builder.build(at(1.25, objects=StampedRows(1.25, table())), world, None)
    assert len(missed.traffic) == 0, "it was seen for no time"
    older = builder.build(at(1.2, objects=StampedRows(0.65, seen.rows)), None, None)
    assert len(older.traffic) == 0 and not older.objects_fresh


def test_parking_spaces_of_one_table_count_once_and_are_forgotten_after_a_while(builder: WorldBuilder) -> None:
    def slots(stamp: float, x: float) -> StampedRows:
        return StampedRows(stamp, np.array([(4, 0, x, 2.0, 0.5, 5.0, 2.5)], dtype=PARKING_SLOTS))

    first = slots(1.0, 10.0)
    world = builder.build(at(1.0, parking_slots=first), None, None)
    world = builder.build(at(1.1, parking_slots=first), world, None)
    assert world.observed_slots[4].poses == 1 and world.observed_slots[4].stamp == 1.0
    assert [slot.x for slot in world.slots] == [10.0]
    second = slots(1.2, 11.0)
    world = builder.build(at(1.25, parking_slots=second), world, None)
    assert [slot.x for slot in world.slots] == [10.5] and world.observed_slots[4].stamp == 1.2
    for stamp, x in ((3.19, 10.5 + 0.5 / 3.0), (3.21, 11.0)):
        last = dataclasses.replace(world, stamp=stamp - 0.1)
        after = builder.build(at(stamp, parking_slots=slots(stamp, 11.0)), last, None)
        assert after.slots[0].x == pytest.approx(x)
    unheard = dataclasses.replace(world, received=dataclasses.replace(world.received, parking_slots=None))
    gone = builder.build(at(1.3), unheard, None)
    assert gone.slots == () and set(gone.observed_slots) == {4}


def test_what_is_no_route_says_why(builder: WorldBuilder, route: Route) -> None:
    shapes = [np.zeros((0, 3)), np.zeros((4, 2)), np.zeros(3), route.poses()]
    answers = tuple(RouteAnswer(1.0 + k, k - 1, points) for k, points in enumerate(shapes))
    matches = builder.build(at(1.0, route_answers=answers), None, None).route_answers
    assert [match.request for match in matches] == [-1, 0, 1, 2]
    assert [match.stamp for match in matches] == [1.0, 2.0, 3.0, 4.0]
    assert [match.route is None for match in matches] == [True, True, True, False]
    assert matches[0].fault == "refused or empty" and "(4, 2)" in matches[1].fault and "(3,)" in matches[2].fault
    assert [match.name for match in matches] == ["the pushed route", "route 0", "route 1", "route 2"]


@pytest.mark.clause("EST-3")
def test_the_emergency_stop_is_as_old_as_its_message(builder: WorldBuilder) -> None:
    for clear in (True, False):
        world = builder.build(at(3.0, clear_emergency_stop=clear), None, None)
        assert world.emergency.value is None and world.emergency.clear is clear
    told = builder.build(at(3.0, emergency_stop=BoolMessage(2.7, False)), None, None)
    assert told.emergency.value is False and told.emergency.age == pytest.approx(0.3)


def test_what_lies_ahead_is_shown_from_a_little_behind_to_the_horizon(builder: WorldBuilder, route: Route) -> None:
    """The junction is from 98 m to 122 m of the route, its line at 97 m, a crosswalk at 125 m to 128 m."""

    def shown(s: float) -> tuple[bool, bool, bool]:
        world = builder.build(at(1.0, y=s - 110.0), None, route)
        return bool(world.junctions), bool(world.stop_lines), bool(world.crosswalks)

    for s, expected in (
        (36.5, (False, False, False)), (37.5, (False, True, False)), (38.5, (True, True, False)),
        (64.5, (True, True, False)), (66.5, (True, True, True)), (126.5, (True, True, True)),
        (128.5, (True, False, True)), (152.5, (True, False, True)), (153.5, (False, False, True)),
        (159.5, (False, False, False)),
    ):  # fmt: skip
        assert shown(s) == expected, s
    for s in (50.2, 50.9, 51.1):
        (line,) = builder.build(at(1.0, y=s - 110.0), None, route).lanes
        assert line.center.length == pytest.approx(72.0, abs=0.5), "12 m behind and 60 m ahead"


def test_the_junction_it_is_in_is_the_one_around_the_rear_axle(builder: WorldBuilder, route: Route) -> None:
    for s, inside in ((97.5, False), (98.5, True), (110.0, True), (121.5, True), (122.5, False)):
        world = builder.build(at(1.0, y=s - 110.0), None, route)
        assert (world.junction is not None) == inside, s
        assert world.junction in (None, *world.junctions)


def held(builder: WorldBuilder, route: Route, s: float, offset: float = 0.0) -> list[str]:
    place = OnRoute(s, offset, 0.0)
    index = lane_index(builder.road_map)
    return [index.ids[n].road for n in builder._held(route, builder._seen_from(route, s), place)]


def test_the_car_holds_a_junction_from_its_front_bumper_in_to_its_rear_bumper_out(
    builder: WorldBuilder, route: Route
) -> None:
    front, rear = Vehicle().front, Vehicle().rear_overhang
    (way,) = {part.lane.road for part in route.lanes if 100.0 < part.s_from + 3.0 < 120.0}
    for s, inside in (
        (97.8 - front, False),
        (98.2 - front, True),
        (110.0, True),
        (121.8 + rear, True),
        (122.2 + rear, False),
    ):
        assert held(builder, route, s) == [way] * inside, s
    assert held(builder, route, 110.0, 3.9) == held(builder, route, 110.0, -3.9) == [way]
    assert held(builder, route, 110.0, 4.1) == held(builder, route, 110.0, -4.1) == []
    assert builder._held(None, builder._seen_from(None, 0.0), OnRoute(110.0, 0.0, 0.0)).tolist() == []


def test_of_two_junctions_it_holds_the_one_that_it_is_in(tmp_path: Path) -> None:
    two = double_crossing(tmp_path, 20.0)
    along = plan_route(two, Pose(-60.0, -1.75, EAST), Pose(100.0, -1.75, EAST)).route
    assert along is not None
    ways = [part.lane.road for part in along.lanes if two.lanes[part.lane].junction is not None]
    other = WorldBuilder(two, Vehicle(), P)
    assert [held(other, along, s) for s in (60.0, 82.0, 100.0)] == [ways[:1], [], ways[1:]]


def test_where_the_route_is_new_the_car_is_at_the_earliest_place_that_fits(builder: WorldBuilder, route: Route) -> None:
    world = builder.build(at(1.0, y=-60.0, v=8.0), None, route)
    assert world.route_s == pytest.approx(50.0, abs=0.1) and world.route_offset == pytest.approx(0.0, abs=0.01)
    nowhere = builder.build(Inputs(1.5), None, None).ego
    assert (*nowhere.pose, nowhere.v, nowhere.a, nowhere.curvature) == (0.0,) * 6
    lost = builder.build(Inputs(1.5), world, None)
    assert (lost.route_s, lost.route_offset, lost.heading_error) == (0.0, 0.0, 0.0)
    assert lost.junctions == () and lost.lanes == ()
    turned = Odometry(1.5, Pose(2.25, -58.0, NORTH - 0.2), 8.0, 0.0)
    after = builder.build(Inputs(1.5, turned), world, route)
    assert after.route_s == pytest.approx(52.0, abs=0.1)
    assert after.route_offset == pytest.approx(-0.5, abs=0.02) and after.heading_error == pytest.approx(-0.2, abs=1e-3)


def test_on_the_same_route_it_is_looked_for_near_where_it_was(
    builder: WorldBuilder, route: Route, lit: RoadMap
) -> None:
    """10 m ahead, and as far as it can have come; on another route, or after none, anywhere."""
    again = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(1.75, 110.0, NORTH)).route
    turning = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(110.0, -1.75, EAST)).route
    assert again is not None and turning is not None
    world = builder.build(at(1.0, y=-60.0, v=-8.0), None, route)
    for on, s in ((route, 60.8), (again, 60.8), (turning, 67.0)):
        assert builder.build(at(1.1, y=-43.0), world, on).route_s == pytest.approx(s, abs=0.1)
    nowhere = builder.build(at(1.0, y=-60.0, v=-8.0), None, None)
    assert builder.build(at(1.1, y=-43.0), nowhere, route).route_s == pytest.approx(67.0, abs=0.1)
    jumped = builder.build(at(9.0, y=-43.0), world, route)
    assert jumped.route_s == pytest.approx(67.0, abs=0.1)


def test_every_kernel_is_called_before_the_first_tick(builder: WorldBuilder) -> None:
    seen: list[tuple[Inputs, World | None]] = []
    build = builder.build

    def watched(inputs: Inputs, previous: World | None, on: Route | None) -> World:
        seen.append((inputs, previous))
        return build(inputs, previous, on)

    builder.build = watched
    builder.warm_up()
    (first, none), (second, world) = seen
    assert none is None and world is not None and second.stamp > first.stamp
    assert first.objects is not None and first.occupancy is not None and second.objects is not None
    assert set(first.objects.rows["kind"]) == {Kind.CAR, Kind.PEDESTRIAN} and len(set(first.objects.rows["id"])) == 2
    assert len(world.traffic) == 2 and len(world.traffic.chain) > 0 and len(world.scene.static_segments) > 0
    assert len(second.objects.rows) == 1, "one goes on unseen"
