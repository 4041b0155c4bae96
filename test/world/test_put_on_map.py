"""All objects of a tick put on the map: what is learnt of them, which count as moving, which are left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crossroads import LIGHT, STOP_SIGN, crossroads
from watching import P

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.scene import Ego
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.estimates import ESTIMATE, MeasuredNoise
from tuling_fsm.world.inputs import Inputs, Kind, Light, Occupancy, Odometry, Source
from tuling_fsm.world.lane_index import LaneIndex, lane_index
from tuling_fsm.world.lane_kernels import CANDIDATES, chains, locate
from tuling_fsm.world.objects import HEADING, LENGTH, SPEED, VX, VY, WIDTH, Detections, X, Y
from tuling_fsm.world.prediction import ClosedLines, closed_lines, green_lines, see_traffic
from tuling_fsm.world.prediction_kernels import look_ahead
from tuling_fsm.world.queues import QueueParameters, before_lights, waiting_lines
from tuling_fsm.world.rain_fog import radar_and_history
from tuling_fsm.world.tracks import ASIDE, ASIDE_SINCE, FIRST, MOVED, PAST, ROAD_LANE, SEEN, STILL, YAW_RATE, Tracks
from tuling_fsm.world.traffic import line_words
from world.bodies import scattered

NOW, NORTH = 500.0, 0.5 * math.pi
VEHICLES = (Kind.UNKNOWN, Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE, Kind.BICYCLE)
WALKS = (Kind.PEDESTRIAN, Kind.ANIMAL)
EGO = Ego(Pose(1.0, -30.0, NORTH + 0.1), 3.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    signs = {"E": STOP_SIGN, "N": LIGHT, "W": LIGHT, "S": LIGHT}
    return crossroads(tmp_path_factory.mktemp("maps"), "signs", signs, arm_m=40.0)


def crowd(road_map: RoadMap, seed: int, many: int = 70) -> tuple[Detections, Tracks]:
    """Objects of every kind on the lanes, of which some roll back, and what is remembered of them."""
    draw, body = np.random.default_rng(seed), scattered(road_map, many, seed)
    roads = [lane for lane in map(road_map.lanes.get, road_map.driving_lanes()) if lane and lane.junction is None]
    for i in range(0, many, 3):
        lane = roads[draw.integers(len(roads))]
        body[i, [X, Y, HEADING]] = lane.center.at(draw.uniform(0.0, lane.length))
    body[:, SPEED] = draw.choice([0.0, 0.0, 0.3, 3.0, 8.0], many)
    turned = draw.choice([0.0, 0.0, 0.0, 0.1, 1.4, math.pi], many)
    body[:, SPEED] = np.where(turned == math.pi, draw.choice([0.3, 0.45, 0.55, 2.0], many), body[:, SPEED])
    body[:, VX] = body[:, SPEED] * np.cos(body[:, HEADING] + turned)
    body[:, VY] = body[:, SPEED] * np.sin(body[:, HEADING] + turned)
    body[:, LENGTH], body[:, WIDTH] = draw.uniform(1.0, 9.0, many), draw.uniform(0.5, 2.5, many)
    past = np.zeros((many, PAST))
    past[:, SEEN], past[:, FIRST] = NOW, NOW - 400.0
    past[:, STILL] = NOW - draw.choice([0.0, 5.0, 19.0, 21.0, 60.0, 350.0], many)
    past[:, MOVED] = np.where(draw.random(many) < 0.3, -np.inf, np.minimum(past[:, STILL] + 1.0, NOW))
    past[:, YAW_RATE], past[:, ROAD_LANE] = draw.normal(0.0, 0.2, many), draw.integers(-1, 5, many)
    past[:, ASIDE], past[:, ASIDE_SINCE] = draw.normal(0.0, 0.5, many), NOW - draw.choice([0.0, 0.5, 5.0], many)
    ids = draw.choice(900, many, replace=False).astype(np.uint32)
    kind, source = (
        draw.choice(list(Kind), many).astype(np.uint8),
        draw.choice([1, 1, 2, 3, 4, 16, 17], many).astype(np.uint8),
    )
    found = Detections(ids, kind, source, body, np.argsort(ids, kind="stable"), many)
    return found, Tracks(ids, past, np.zeros((many, ESTIMATE)), MeasuredNoise())


def with_car(body: FloatArray) -> FloatArray:
    """The bodies, and the car's middle between its bumpers as the last one."""
    vehicle, pose = Vehicle(), EGO.pose
    ahead = 0.5 * (vehicle.wheelbase + vehicle.front_overhang - vehicle.rear_overhang)
    c, s = math.cos(pose.heading), math.sin(pose.heading)
    length = vehicle.wheelbase + vehicle.front_overhang + vehicle.rear_overhang
    car = (pose.x + ahead * c, pose.y + ahead * s, pose.heading, 0.0, 0.0, 0.0, length, vehicle.width)
    return np.concatenate((body, [car]))


@pytest.mark.clause("NOR-7", "NOR-11")
@pytest.mark.parametrize("seed", range(6))
def test_everyone_is_put_on_the_lanes_that_hold_it_and_learnt_of_and_counts_as_moving_or_not(
    town: RoadMap, seed: int
) -> None:
    index, p = lane_index(town), replace(P, queue_patience=200.0)
    lanes, (found, tracks) = index.arrays, crowd(town, seed)
    n, bodies = len(found.id), with_car(found.body)
    shut, free = closed_lines(index, {2: Light.RED}), green_lines(index, {4: Light.GREEN})
    closed = ClosedLines(shut, np.zeros(0, np.int64), free)
    past = tracks.past.copy()
    traffic, obstacles, learnt = see_traffic(index, found, tracks, EGO, Vehicle(), closed, NOW, p)
    np.testing.assert_array_equal(tracks.past, past)

    forward = [body[VX] * math.cos(body[HEADING]) + body[VY] * math.sin(body[HEADING]) for body in found.body]
    follows = np.array([kind in VEHICLES and v > -0.5 for kind, v in zip(found.kind, forward, strict=True)] + [True])
    places = locate(lanes, bodies, follows, p.lane_heading)
    np.testing.assert_array_equal(traffic.lane, places.lane[:n])
    np.testing.assert_array_equal(traffic.lane_s, places.arc[:n])
    on_road = np.array([k >= 0 and town.lanes[index.ids[k]].junction is None for k in places.lane[:n, 0]])
    past[:, ROAD_LANE] = np.where(on_road, places.lane[:n, 0], past[:, ROAD_LANE])
    aside = places.offset[:n, 0]
    stays = on_road & (abs(aside - past[:, ASIDE]) <= 0.3)
    past[:, ASIDE_SINCE] = np.where(stays, past[:, ASIDE_SINCE], NOW)
    past[:, ASIDE] = np.where(stays, past[:, ASIDE], aside)
    ways = chains(lanes, bodies, past, places, 60.0, p.others_lateral_accel, p.others_decel)
    np.testing.assert_array_equal(traffic.chain, ways.chain)
    np.testing.assert_array_equal(traffic.chain_row, ways.row)
    np.testing.assert_allclose(traffic.chain_begin, ways.begin)

    ahead = look_ahead(lanes, shut, closed.held, bodies, places, ways, p.others_decel)
    queue = waiting_lines(lanes, free, found.kind, bodies, tracks.past, places, ways, ahead, NOW, queues_of(index))
    assert traffic.waiting.tolist() == queue.waiting.tolist() and traffic.given_up.tolist() == queue.given_up.tolist()
    assert traffic.line_size.tolist() == queue.size.tolist()
    red = before_lights(found.kind, ways, ahead, queues_of(index))
    for i in range(n):
        if red[i] and NOW - max(past[i, MOVED], past[i, FIRST]) <= p.stopped_leader:
            past[i, MOVED] = max(past[i, MOVED], NOW - p.stopped_leader + 5.0)
        if traffic.waiting[i]:
            past[i, MOVED] = NOW
        elif traffic.given_up[i]:
            past[i, MOVED] = min(past[i, MOVED], tracks.past[i, STILL])
        moves = NOW - past[i, MOVED] <= p.stopped_leader or found.kind[i] in WALKS
        assert traffic.moving[i] == moves
        assert traffic.standing_for[i] == NOW - past[i, STILL]
    np.testing.assert_array_equal(learnt.past, past)

    assert obstacles.id.tolist() == found.id[traffic.obstacle_row].tolist()
    assert sorted(set(traffic.obstacle_row.tolist())) == list(range(n))
    for name, column in (
        ("kind", found.kind), ("moving", traffic.moving), ("length", found.body[:, LENGTH]),
        ("width", found.body[:, WIDTH]), ("speed", found.body[:, SPEED]),
    ):  # fmt: skip
        assert getattr(obstacles, name).tolist() == column[traffic.obstacle_row].tolist()
    np.testing.assert_allclose(obstacles.x[:, 0], found.body[traffic.obstacle_row, X])
    np.testing.assert_allclose(obstacles.y[:, 0], found.body[traffic.obstacle_row, Y])
    for name, at in (("x", X), ("y", Y), ("vx", VX), ("vy", VY), ("speed", SPEED), ("length", LENGTH)):
        assert getattr(traffic, name).tolist() == found.body[:, at].tolist()
    waits = set(found.id[traffic.waiting].tolist())
    assert all(traffic.waits(number) == (number in waits) for number in range(900))
    assert 3 < sum(stays) < sum(on_road) < n and len(traffic.chain) > 5


def queues_of(index: LaneIndex) -> QueueParameters:
    """Numbers of the parameters, in the order in which a line is judged by them."""
    return QueueParameters(
        standing=P.moving_speed, creeping=P.queue_creeping, gap=P.queue_gap, kerb=P.queue_kerb,
        kerb_side=1.0 if index.left_hand else -1.0, turn=P.junction_wait, patience=200.0,
    )  # fmt: skip


def test_what_is_said_of_a_line() -> None:
    assert line_words(1, 3.4, True) == "behind a vehicle that waits, moved 3 s ago"
    assert line_words(1, 3.4, False) == "behind a vehicle that waits, seen standing for 3 s"
    assert [line_words(many, 0.0, True) for many in (0, 2, 5)] == [
        f"in a line of {n}, moved 0 s ago" for n in (0, 2, 5)
    ]


@pytest.mark.parametrize("state", list(Light))
def test_a_light_closes_or_frees_its_own_line_alone_and_a_stop_sign_is_always_closed(
    town: RoadMap, state: Light
) -> None:
    """Signals 2 to 4 are lights; the one of the eastern arm, 1, is a stop sign."""
    index = lane_index(town)
    signals = index.arrays.line_signal
    assert sorted(signals.tolist()) == [1, 2, 3, 4]
    for lights in ({2: state}, {2: state, 3: Light.RED}, {4: Light.GREEN, 2: state}, {99: state}):
        shut, free = closed_lines(index, lights), green_lines(index, lights)
        stops = {signal for signal, shown in lights.items() if shown in (Light.RED, Light.YELLOW, Light.RED_YELLOW)}
        goes = {signal for signal, shown in lights.items() if shown in (Light.GREEN, Light.FLASHING_YELLOW)}
        assert {int(signal) for signal in signals[shut]} == (stops | {1}) - {99}
        assert {int(signal) for signal in signals[free]} == goes - {99}


@pytest.mark.clause("RFG-1")
def test_in_rain_what_only_the_lidar_sees_is_left_out_with_its_ways_and_rows(town: RoadMap) -> None:
    found, tracks = crowd(town, 9)
    builder = WorldBuilder(town, Vehicle(), P)
    cells = np.full((4, 4), 100, np.int8)
    frozen = Occupancy(0.5, 1.0, Pose(3.0, -30.0, 0.0), cells)
    empty = Occupancy(1.0, 1.0, Pose(3.0, -30.0, 0.0), np.zeros((4, 4), np.int8))
    none = np.zeros(4, np.bool_)
    index, closed = lane_index(town), ClosedLines(none, np.zeros(0, np.int64), none)
    traffic, obstacles, _ = see_traffic(index, found, tracks, EGO, Vehicle(), closed, NOW, P)
    world = builder.build(Inputs(1.0, Odometry(1.0, EGO.pose, 1.0, 0.0), occupancy=empty), None, None)
    world = replace(world, traffic=traffic, scene=replace(world.scene, obstacles=obstacles))
    dim = radar_and_history(world, frozen, town, P)
    keep = [int(source) not in (0, int(Source.LIDAR)) for source in found.source]
    kept = [i for i in range(len(keep)) if keep[i]]
    assert 0 < len(kept) < len(keep)
    assert dim.traffic.id.tolist() == found.id[kept].tolist()
    np.testing.assert_array_equal(dim.traffic.body, found.body[kept])
    assert dim.traffic.waiting.tolist() == traffic.waiting[kept].tolist()
    ways = [b for b in range(len(traffic.chain)) if keep[traffic.chain_row[b]]]
    np.testing.assert_array_equal(dim.traffic.chain, traffic.chain[ways])
    np.testing.assert_array_equal(dim.traffic.chain_begin, traffic.chain_begin[ways])
    assert dim.traffic.id[dim.traffic.chain_row].tolist() == found.id[traffic.chain_row[ways]].tolist()
    left = [r for r in range(len(obstacles)) if keep[traffic.obstacle_row[r]]]
    np.testing.assert_array_equal(dim.scene.obstacles.x, obstacles.x[left])
    assert dim.scene.obstacles.id.tolist() == dim.traffic.id[dim.traffic.obstacle_row].tolist()
    assert dim.occupancy is frozen and world.occupancy is empty
    assert len(dim.scene.static_segments) > 0 and len(world.scene.static_segments) == 0
    assert dim.tracks is world.tracks and dim.received is world.received
    assert dim.traffic.lane.shape[1] == CANDIDATES and dim.traffic.lane.shape[0] == len(kept)
