from __future__ import annotations

import dataclasses
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from crossroads import LIGHT, crossroads
from scenes import row, table, walker

from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.builder import WorldBuilder, _same_route
from tuling_fsm.world.inputs import (
    LANE_LINES,
    PARKING_SLOTS,
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Light,
    Occupancy,
    Odometry,
    RouteAnswer,
    Source,
    StampedRows,
)
from tuling_fsm.world.on_route import track
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.rain_fog import radar_and_history
from tuling_fsm.world.world import World
from world.messages import NORTH, at

P = WorldParameters()


@pytest.fixture(scope="module")
def lit(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "lit", dict.fromkeys("ENWS", LIGHT), "S")


@pytest.fixture(scope="module")
def route(lit: RoadMap) -> Route:
    found = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(1.75, 110.0, NORTH)).route
    assert found is not None
    return found


@pytest.fixture
def builder(lit: RoadMap) -> WorldBuilder:
    return WorldBuilder(lit, Vehicle(), P)


def lights(stamp: float, *rows: tuple[int, Light]) -> StampedRows:
    return StampedRows(stamp, np.array([(signal, int(state), 1.0) for signal, state in rows], dtype=TRAFFIC_LIGHTS))


def test_the_world_of_one_tick(builder: WorldBuilder, route: Route) -> None:
    world = builder.build(at(1.0, objects=StampedRows(1.0, table(row(3, 1.75, -40.0, NORTH, 4.0)))), None, route)
    assert world.localized and world.odometry_fresh and world.objects_fresh and world.on_reference_road
    assert (world.route_s, world.route_offset) == (pytest.approx(30.0, abs=0.01), pytest.approx(0.0, abs=0.01))
    assert world.route_remaining == pytest.approx(190.0, abs=0.1)
    assert world.heading_error == pytest.approx(0.0, abs=1e-3)
    (junction,) = world.junctions
    assert (junction.s_from, junction.s_to) == (pytest.approx(98.0, abs=0.1), pytest.approx(122.0, abs=0.1))
    assert [round(ahead.s, 1) for ahead in world.stop_lines] == [97.0]
    (crosswalk,) = world.crosswalks
    assert crosswalk.s_from == pytest.approx(92.0, abs=0.3)
    assert [line.shift for line in world.lanes] == [0]
    assert set(world.scene.obstacles.id.tolist()) == {3} and world.traffic.id.tolist() == [3]
    assert world.reports == ()


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_planning_is_told_how_noisy_the_places_of_objects_are(
    builder: WorldBuilder, route: Route, noise: float
) -> None:
    draw, world = np.random.default_rng(1), None
    for tick in range(100):
        stamp = 1.0 + 0.05 * tick
        rows = [row(k, 1.75 + noise * draw.normal(), -90.0 + 20.0 * k + noise * draw.normal()) for k in range(8)]
        world = builder.build(at(stamp, objects=StampedRows(stamp, table(*rows))), world, route)
    assert world is not None and world.scene.position_noise == pytest.approx(noise, rel=0.25)


def test_the_motion_of_the_car_is_filtered_and_its_curvature_kept_at_standstill(
    builder: WorldBuilder, route: Route
) -> None:
    world: World | None = None
    for k in range(40):
        world = builder.build(at(0.05 * k, v=2.0 + 0.05 * k, yaw_rate=0.1 * (2.0 + 0.05 * k)), world, route)
    assert world is not None
    assert world.ego.a == pytest.approx(1.0, abs=0.02) and world.ego.curvature == pytest.approx(0.1)
    world = builder.build(at(2.0, v=0.1, yaw_rate=0.4), world, route)
    assert world.ego.curvature == pytest.approx(0.1) and world.standing_for == 0.0
    for k in range(1, 11):
        world = builder.build(at(2.0 + 0.05 * k, v=0.0), world, route)
    assert world.standing_for == pytest.approx(0.5)


def test_no_time_has_passed_on_the_first_tick_nor_after_a_jump(builder: WorldBuilder, route: Route) -> None:
    first = builder.build(at(5.0, v=0.0), None, route)
    second = builder.build(at(5.05, v=0.0), first, route)
    jumped = builder.build(at(50.0, v=0.0), second, route)
    assert [world.dt for world in (first, second, jumped)] == [0.0, pytest.approx(0.05), 0.0]
    assert [world.standing_for for world in (first, second, jumped)] == [0.0, pytest.approx(0.05), 0.0]


WORKS, FAILS = True, False


@pytest.mark.clause("RFG-2")
@pytest.mark.parametrize(
    ("source", "health", "fresh"),
    [
        (Source.RADAR, (), True),
        (Source.RADAR | Source.LIDAR, (), True),
        (Source.LIDAR | Source.CAMERA | Source.V2X, (), False),
        (Source.HISTORY_MAP, (), False),
        (None, (), False),
        (None, (WORKS,), True),
        (Source.LIDAR, (WORKS,), True),
        (Source.RADAR, (WORKS, FAILS), False),
        (Source.RADAR, (FAILS, WORKS), True),
    ],
)
def test_a_radar_works_while_it_sees_something_or_says_so(
    builder: WorldBuilder, route: Route, source: Source | None, health: tuple[bool, ...], fresh: bool
) -> None:
    """Tables of other sensors and of the history map go on; they say nothing of the radar."""
    world: World | None = None
    for k in range(5):
        rows = () if source is None else (row(3, 1.75, -40.0, NORTH, source=int(source)),)
        said = None if k >= len(health) else BoolMessage(0.1 * k, health[k])
        inputs = at(0.1 * k, objects=StampedRows(0.1 * k, table(*rows)))
        world = builder.build(inputs if said is None else dataclasses.replace(inputs, radar_health=said), world, route)
    assert world is not None and world.radar_fresh is fresh
    for k in range(5, 12):
        inputs = at(0.1 * k, objects=StampedRows(0.1 * k, table(row(4, 1.75, -40.0, NORTH, source=int(Source.LIDAR)))))
        world = builder.build(inputs, world, route)
        assert world.objects_fresh and world.radar_fresh is (fresh and k * 0.1 - world.radar_seen < 0.501)
    assert not world.radar_fresh


@pytest.mark.clause("SAF-3")
def test_a_fault_is_reported_once_until_it_is_over(builder: WorldBuilder, route: Route) -> None:
    world: World | None = None
    said = []
    for k in range(10):
        x = math.nan if k in (2, 3, 4, 7) else 1.75
        objects = StampedRows(0.1 * k, table(row(1, x, -40.0), row(2, 1.75, -30.0)))
        world = builder.build(at(0.1 * k, objects=objects), world, route)
        said.append(len(world.reports))
        assert 2 in world.traffic.id
    assert said == [0, 0, 1, 0, 0, 0, 0, 1, 0, 0]


@pytest.mark.clause("SAF-3", "SAF-1")
def test_without_fresh_odometry_the_car_is_where_it_was_and_not_localized(builder: WorldBuilder, route: Route) -> None:
    world = builder.build(at(1.0), None, route)
    last = world.received.odometry
    later = builder.build(Inputs(1.25, last), world, route)
    assert not later.localized and not later.odometry_fresh
    assert later.ego == world.ego and later.route_s == world.route_s
    assert any(line.startswith("odometry: older than") for line in later.reports)
    assert not builder.build(Inputs(1.0), None, None).localized


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("doubt", [{"position_std": 0.6}, {"heading_std": 0.2}])
def test_an_unsure_pose_is_fresh_but_not_localized(
    builder: WorldBuilder, route: Route, doubt: dict[str, float]
) -> None:
    inputs = at(1.0)
    assert inputs.odometry is not None
    world = builder.build(
        dataclasses.replace(inputs, odometry=dataclasses.replace(inputs.odometry, **doubt)), None, route
    )
    assert world.odometry_fresh and not world.localized
    assert len(world.reports) == 1 and world.reports[0].startswith("localization:")


@pytest.mark.clause("DWELL-5")
def test_a_step_as_long_as_it_may_be_is_no_jump_for_all_rounding_of_its_stamps(
    builder: WorldBuilder, route: Route
) -> None:
    world = builder.build(at(10.0), None, route)
    assert builder.build(at(11.0 + 1e-9), world, route).dt == pytest.approx(1.0)


@pytest.mark.clause("SAF-3", "DWELL-5")
@pytest.mark.parametrize("stamp", [0.5, 30.0])
def test_a_jump_of_time_is_reported_and_what_was_tracked_is_forgotten(
    builder: WorldBuilder, route: Route, stamp: float
) -> None:
    objects = table(row(1, 1.75, -40.0, NORTH, 4.0))
    mission = {"goal": {"x": 1.0, "y": 2.0}}
    world = builder.build(at(10.0, objects=StampedRows(10.0, objects), mission=mission), None, route)
    standing = table(row(1, 1.75, -60.0, NORTH, 0.0))
    after = builder.build(at(stamp, objects=StampedRows(stamp, standing), mission=mission), world, route)
    (said,) = (line for line in after.reports if line.startswith("time: jumped"))
    assert ("by more than world.max_gap (1 s)" in said) == (stamp > 10.0)
    assert after.dt == 0.0 and not after.traffic.moving[0]
    assert after.mission is world.mission is not None


@pytest.mark.clause("EST-3")
def test_the_emergency_stop_as_received(builder: WorldBuilder, route: Route) -> None:
    world = builder.build(at(1.0), None, route)
    assert world.emergency.value is None and world.emergency.age == 0.0
    world = builder.build(at(1.05), world, route)
    assert world.emergency.value is None and world.emergency.age == pytest.approx(0.05)
    flag = BoolMessage(1.1, True)
    world = builder.build(at(1.1, emergency_stop=flag), world, route)
    world = builder.build(at(1.5, emergency_stop=flag, clear_emergency_stop=True), world, route)
    assert world.emergency.value is True and world.emergency.age == pytest.approx(0.4) and world.emergency.clear


@pytest.mark.clause("EST-3", "DWELL-5")
@pytest.mark.parametrize("jump", [-20.0, 5.0])
def test_a_jump_of_time_is_no_silence_of_the_remote_and_silence_is_counted_from_there(
    builder: WorldBuilder, route: Route, jump: float
) -> None:
    """A stop by silence is one that an operator has to clear."""
    flag = BoolMessage(30.0, False)
    world, ages = builder.build(at(30.1, emergency_stop=flag), None, route), []
    for later in (0.0, 0.2, 0.6):
        world = builder.build(at(30.1 + jump + later, emergency_stop=flag), world, route)
        ages.append(world.emergency.age)
    assert ages == pytest.approx([0.0, 0.2, 0.6])
    heard = builder.build(at(31.0 + jump, emergency_stop=BoolMessage(30.9 + jump, False)), world, route)
    assert heard.emergency.age == pytest.approx(0.1)


@pytest.mark.clause("EST-3", "DWELL-5")
def test_a_remote_that_is_silent_from_jump_to_jump_is_noticed(builder: WorldBuilder, route: Route) -> None:
    flag = BoolMessage(30.0, False)
    world, ages = builder.build(at(30.1, emergency_stop=flag), None, route), []
    for stamp in (32.0, 34.0, 36.0):
        world = builder.build(at(stamp, emergency_stop=flag), world, route)
        ages.append(world.emergency.age)
    assert ages == [0.0, 2.0, 4.0]


@pytest.mark.clause("EST-2", "EST-3", "DWELL-5")
@pytest.mark.parametrize("jump", [-20.0, 5.0])
def test_a_remote_that_was_never_heard_is_silent_from_the_first_tick_or_a_jump_on(
    builder: WorldBuilder, route: Route, jump: float
) -> None:
    world, ages = builder.build(at(30.1), None, route), []
    for stamp in (30.4, 30.4 + jump, 30.7 + jump, 30.7 + 2.0 * abs(jump)):
        world = builder.build(at(stamp), world, route)
        ages.append(world.emergency.age)
    assert ages[:3] == pytest.approx([0.3, 0.0, 0.3]) and ages[3] > 5.0


def test_since_when_a_light_shows_its_state(builder: WorldBuilder, route: Route) -> None:
    world: World | None = None
    for stamp, state in ((1.0, Light.RED), (1.1, Light.RED), (1.2, Light.GREEN), (1.3, Light.GREEN)):
        world = builder.build(at(stamp, traffic_lights=lights(stamp, (4, state))), world, route)
    assert world is not None and world.lights == {4: Light.GREEN} and world.light_since == {4: 1.2}


@pytest.mark.clause("INT-2")
def test_a_light_that_is_lost_for_a_moment_is_as_it_was_seen(builder: WorldBuilder, route: Route) -> None:
    """By signal: what the table says of another light makes this one no fresher."""
    green, other = (4, Light.GREEN), (5, Light.RED)
    max_age = builder.parameters.lights_max_age
    first = builder.build(at(1.0, traffic_lights=lights(1.0, green, other)), None, route)
    lost = builder.build(at(1.1, traffic_lights=lights(1.1, other)), first, route)
    assert lost.lights == {4: Light.GREEN, 5: Light.RED} and lost.light_since == {4: 1.0, 5: 1.0}
    turned = builder.build(at(1.2, traffic_lights=lights(1.2, (4, Light.YELLOW), other)), lost, route)
    assert turned.lights[4] is Light.YELLOW and turned.light_since[4] == 1.2
    unknown = builder.build(at(1.2, traffic_lights=lights(1.2, (4, Light.UNKNOWN), other)), lost, route)
    assert unknown.lights.get(4, Light.UNKNOWN) is Light.UNKNOWN
    world = lost
    for step in range(1, 12):
        stamp = 1.1 + 0.1 * step
        world = builder.build(at(stamp, traffic_lights=lights(stamp, other)), world, route)
        assert (4 in world.lights) == (stamp <= 1.0 + max_age + 1e-6)


def test_answers_of_the_route_server_are_put_on_the_lanes(builder: WorldBuilder, route: Route) -> None:
    points = [
        route.poses(),
        np.zeros((0, 3)),
        np.full((5, 3), math.nan),
        np.array([[900.0, 900.0, 0.0], [950.0, 900.0, 0.0]]),
    ]
    answers = tuple(RouteAnswer(1.0, number, rows) for number, rows in enumerate(points))
    world = builder.build(at(1.0, route_answers=answers), None, None)
    assert [match.request for match in world.route_answers] == [0, 1, 2, 3]
    first, *others = (match.route for match in world.route_answers)
    assert first is not None and first.length == pytest.approx(route.length, abs=1.0)
    assert others == [None, None, None]


def test_another_route_is_looked_along_at_once(builder: WorldBuilder, route: Route, lit: RoadMap) -> None:
    """From the same place: the one goes straight on, the other turns left."""
    other = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(-110.0, 1.75, math.pi)).route
    assert other is not None
    first = builder.build(at(1.0, y=-30.0), None, route)
    second = builder.build(at(1.05, y=-30.0), first, other)
    ends = [world.lanes[0].center.heading[-1] for world in (first, second)]
    assert ends == [pytest.approx(NORTH), pytest.approx(math.pi)]


def test_slots_and_perceived_lines(builder: WorldBuilder) -> None:
    slots = np.array([(4, 1, 1, 2, 0.5, 5, 2.5), (5, 0, math.nan, 2, 0.5, 5, 2.5)], dtype=PARKING_SLOTS)
    lines = np.array([(1, 2, 0, 1), (2, 1, 0, -1), (1, 2, 5, 1)], dtype=LANE_LINES)
    world = builder.build(
        at(1.0, parking_slots=StampedRows(1.0, slots), lane_lines=StampedRows(1.0, lines)), None, None
    )
    assert [(slot.number, slot.occupied, slot.length) for slot in world.slots] == [(4, True, 5.0)]
    (line,) = world.perceived_lines
    assert line.number == 1 and line.kind == 2 and line.points.tolist() == [[0.0, 1.0], [5.0, 1.0]]
    assert len(world.reports) == 1 and "slot 5 first" in world.reports[0]


@pytest.mark.clause("NOR-9")
def test_on_the_reference_road_means_its_own_direction_only(builder: WorldBuilder, route: Route) -> None:
    for x, on in ((1.75, True), (3.4, True), (3.7, True), (4.5, False), (-0.2, True), (-1.0, False)):
        assert builder.build(at(1.0, x=x), None, route).on_reference_road is on, x
    assert builder.build(at(1.0, y=0.0), None, route).on_reference_road


def test_nothing_remains_of_a_route_that_is_over_or_not_there(builder: WorldBuilder, route: Route) -> None:
    assert builder.build(at(0.0), None, None).route_remaining == 0.0
    assert builder.build(at(0.0, y=100.0), None, route).route_remaining == pytest.approx(10.0, abs=0.1)
    assert builder.build(at(0.0, y=110.4), None, route).route_remaining == 0.0


def test_routes_are_the_same_if_they_follow_the_same_lanes_as_far(lit: RoadMap, route: Route) -> None:
    again = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(1.75, 110.0, NORTH)).route
    shorter = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(1.75, 100.0, NORTH)).route
    turning = plan_route(lit, Pose(1.75, -110.0, NORTH), Pose(110.0, -1.75, 0.0)).route
    assert again is not None and shorter is not None and turning is not None
    assert again is not route
    assert [_same_route(route, each) for each in (route, again, shorter, turning)] == [True, True, False, False]


def test_a_route_that_crosses_itself_is_not_jumped_on() -> None:
    circle = [(20.0 * math.sin(a), 20.0 - 20.0 * math.cos(a)) for a in np.linspace(0.0, 4.0 * math.pi, 400)]
    route = Route((), Polyline.of(circle))
    lap, last = 2.0 * math.pi * 20.0, None
    for k in range(0, 240):
        s = k * 1.0
        found = track(route, route.reference.at(s), last, 1.0)
        assert found.s == pytest.approx(s, abs=0.1)
        last = found.s
    assert last is not None and last > 1.8 * lap
    assert track(route, route.reference.at(lap + 5.0), None, 0.0).s == pytest.approx(5.0, abs=0.5), "the earliest lap"


@pytest.mark.clause("RFG-1")
def test_with_radar_and_history_only(builder: WorldBuilder, route: Route, lit: RoadMap) -> None:
    rows = table(
        row(1, 1.75, -40.0, NORTH, 4.0, source=Source.LIDAR),
        row(2, 1.75, -30.0, NORTH, 4.0, source=Source.RADAR),
        walker(3, 6.0, -50.0),
        row(4, 1.75, -20.0, NORTH, 4.0, source=Source.LIDAR | Source.HISTORY_MAP),
    )
    cells = np.zeros((4, 4), np.int8)
    frozen = Occupancy(1.0, 1.0, Pose(10.0, -80.0, 0.0), cells.copy())
    cells[1, 1] = 100
    seen = Occupancy(1.0, 1.0, Pose(10.0, -80.0, 0.0), cells)
    world = builder.build(at(1.0, objects=StampedRows(1.0, rows), occupancy=seen), None, route)
    dim = radar_and_history(world, frozen, lit, P)
    assert dim.traffic.id.tolist() == [2, 4] and set(dim.scene.obstacles.id.tolist()) == {2, 4}
    assert len(world.scene.static_segments) == 4 and len(dim.scene.static_segments) == 0
    assert [int(dim.traffic.id[r]) for r in dim.traffic.obstacle_row] == dim.scene.obstacles.id.tolist()
    assert set(dim.traffic.chain_row.tolist()) == {0, 1}
    after = [
        _fingerprint(builder.build(at(1.1, -79.5, objects=StampedRows(1.1, rows)), past, route))
        for past in (world, dim)
    ]
    assert after[0] == after[1], "the sensors that count on a tick change nothing of what is tracked"


def _fingerprint(world: World) -> tuple[object, ...]:
    o = world.scene.obstacles
    return (
        world.stamp, world.ego, world.route_s, world.reports, o.id.tobytes(), o.x.tobytes(), o.heading.tobytes(),
        o.moving.tobytes(), world.tracks.past.tobytes(), world.scene.static_segments.tobytes(),
        tuple(line.center.xy.tobytes() for line in world.lanes),
    )  # fmt: skip


def test_a_run_can_be_frozen_pickled_and_repeated(lit: RoadMap, route: Route) -> None:
    def inputs(k: int) -> Inputs:
        stamp = 0.1 * k
        rows = table(
            row(1, 1.75, -60.0 + 0.5 * k, NORTH, 5.0),
            row(2, -1.75, 30.0 - 0.6 * k, -NORTH, 6.0),
            walker(3, 5.0, 0.1 * k),
        )
        return at(
            stamp, y=-100.0 + 0.5 * k, objects=StampedRows(stamp, rows), traffic_lights=lights(stamp, (2, Light.RED))
        )

    first, second = WorldBuilder(lit, Vehicle(), P), WorldBuilder(lit, Vehicle(), P)
    world: World | None = None
    for k in range(20):
        world = first.build(inputs(k), world, route)
    assert world is not None
    frozen = pickle.dumps(world)
    ahead = [_fingerprint(world := first.build(inputs(k), world, route)) for k in range(20, 30)]
    world = pickle.loads(frozen)
    again = [_fingerprint(world := second.build(inputs(k), world, world.route)) for k in range(20, 30)]
    assert ahead == again


@pytest.mark.parametrize(
    "name",
    ["carla_Town01.xodr", "carla_Town07.xodr", "pyopendrive_chatt.xodr", "esmini_fabriksgatan_traffic_lights.xodr"],
)
@pytest.mark.medium
def test_real_maps_with_traffic_all_over(shared_data: Path, name: str) -> None:
    road_map = read_map(shared_data / "maps" / name)
    rng = np.random.default_rng(1)
    builder, lanes = WorldBuilder(road_map, Vehicle(), P), road_map.driving_lanes()
    for _ in range(5):
        rows = []
        for number in range(100):
            lane = road_map.lanes[lanes[int(rng.integers(len(lanes)))]]
            x, y, heading = lane.center.at(float(rng.uniform(0.0, lane.length)))
            rows.append(row(number, x, y, heading, float(rng.choice([0.0, 3.0, 9.0]))))
        world = builder.build(
            Inputs(0.0, Odometry(0.0, Pose(x, y, heading), 5.0, 0.0), StampedRows(0.0, table(*rows))), None, None
        )
        found = world.traffic.lane[:, 0] >= 0
        assert found.mean() > 0.95
        chained = np.isin(np.arange(100), world.traffic.chain_row)
        assert np.array_equal(chained, found)
        assert np.isfinite(world.scene.obstacles.x).all() and len(world.scene.obstacles) <= 300
