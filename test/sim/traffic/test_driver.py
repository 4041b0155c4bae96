"""One or two vehicles: following, stopping, yielding, changing lanes, appearing and vanishing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from map import towns, xodr
from map.merging import LIGHTS, LINES_M, SHARED, merging
from map.ways import BEGIN_M

from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.traffic.collision import IdmParameters, idm
from tuling_fsm.sim.traffic.fleet import OFF, ROAMING, draw, new_fleet
from tuling_fsm.sim.traffic.right_of_way import JunctionRequest
from tuling_fsm.world.inputs import Light

from .flow import FRAME_S, Flow, one

INBOUND_E, INBOUND_S = LaneId("1", 0, 1), LaneId("4", 0, 1)
"""Lanes that lead from the east and from the south to the crossing at the origin; the arms begin 12 m from it."""


def coming(road_map: RoadMap, s: float = 20.0, v: float = 8.0) -> Flow:
    """One scripted vehicle that comes from the east."""
    flow = Flow(road_map, 0, scripted=2)
    flow.manager.place(0, flow.index[INBOUND_E], s, v)
    return flow


def front(flow: Flow, row: int = 0) -> float:
    """Distance of the front bumper from the crossing's centre along the x axis, m."""
    return float(flow.fleet.car.x[row] - 0.5 * flow.fleet.car.length[row])


def test_a_standing_obstacle_is_stopped_for(plain: RoadMap) -> None:
    flow = coming(plain)
    y = float(flow.fleet.car.y[0])
    flow.other_boxes = one(40.0, y, 0.0, 4.0, 1.8)
    for _ in flow.run(20.0):
        pass
    assert flow.fleet.car.v[0] < 0.05
    assert 1.0 < front(flow) - 42.0 < 4.0


def test_what_stands_beside_the_lane_is_passed(plain: RoadMap) -> None:
    flow = coming(plain)
    flow.other_boxes = one(60.0, float(flow.fleet.car.y[0]) + 2.4, 0.0, 4.0, 1.8)
    speeds = [float(flow.fleet.car.v[0]) for _ in flow.run(6.0)]
    assert front(flow) < 60.0
    assert min(speeds) > 4.0


def test_a_leader_is_followed_with_its_gap(plain: RoadMap) -> None:
    flow = coming(plain, s=20.0, v=8.0)
    flow.manager.place(1, flow.index[INBOUND_E], 40.0, 4.0)
    flow.manager.set_speed(1, 4.0)
    for _ in flow.run(8.0):
        gap = flow.fleet.car.x[0] - flow.fleet.car.x[1] - 0.5 * (flow.fleet.car.length[0] + flow.fleet.car.length[1])
        assert gap > 2.0
    assert float(flow.fleet.car.v[0]) == pytest.approx(4.0, abs=0.8)
    assert 4.0 < gap < 16.0


def test_a_pedestrian_about_to_walk_into_the_way_is_waited_for(plain: RoadMap) -> None:
    flow = coming(plain)
    y = float(flow.fleet.car.y[0])
    times = np.arange(0.0, 3.1, 0.5)
    flow.other_boxes = np.vstack([one(50.0, y + 4.0 - 1.4 * t, -0.5 * math.pi, 0.6, 0.6, 1.4, t) for t in times])
    for _ in flow.run(15.0):
        pass
    assert flow.fleet.car.v[0] < 0.05
    assert front(flow) > 50.3


def test_a_prediction_that_is_passed_long_before_is_ignored() -> None:
    parameters = IdmParameters(
        max_accel=1.6, comfort_decel=2.0, max_decel=8.0, headway=1.4, standing_gap=2.0, lateral_accel=1.8,
        side_clearance=0.25, lane_change_time=4.0, patience=15.0,
    )  # fmt: skip
    assert idm(10.0, 1e6, 0.0, 2.0, parameters) == pytest.approx(1.6, rel=1e-3)
    assert idm(10.0, 12.0, 0.0, 2.0, parameters) < -4.0
    assert idm(5.0, 9.0, 5.0, 2.0, parameters) == pytest.approx(0.0, abs=0.01)
    assert idm(0.0, 0.0, 0.0, 2.0, parameters) == -8.0


@pytest.mark.clause("TM-1")
@pytest.mark.parametrize("lane", [1, 2])
@pytest.mark.parametrize("own", [Light.GREEN, Light.RED])
def test_where_two_lanes_lead_into_one_way_the_light_of_the_own_lane_counts(
    tmp_path: Path, lane: int, own: Light
) -> None:
    road_map = merging(tmp_path)
    flow = Flow(road_map, 0, scripted=1)
    way = [flow.index[each] for each in (LaneId("1", 0, -lane), SHARED, LaneId("2", 0, -1))]
    flow.manager.place(0, way[0], 50.0, 8.0)
    flow.manager.follow(0, way, 50.0, 90.0)
    for number in flow.lights.numbers:
        flow.lights.force(number, Light.GREEN if own is Light.RED else Light.RED)
    flow.lights.force(LIGHTS[lane][0], own)
    for _ in flow.run(10.0):
        pass
    nose = float(flow.fleet.car.x[0] + 0.5 * flow.fleet.car.length[0])
    assert nose < LINES_M[lane] if own is Light.RED else nose > BEGIN_M


@pytest.mark.clause("TM-1")
@pytest.mark.parametrize("turn", ["left", "straight"])
def test_a_sign_of_one_way_on_stops_those_that_take_it(tmp_path: Path, turn: str) -> None:
    """The way from arm 1 over road 104 has one, that over 103 none."""
    text = '<signals><signal id="7" s="1" t="4" orientation="+" dynamic="no" type="206" subtype="-1"/></signals>'
    road_map = towns.crossing(tmp_path, {104: text})
    flow = Flow(road_map, 0, scripted=1)
    road, arm = ("104", "4") if turn == "left" else ("103", "3")
    way = [flow.index[LaneId(*each)] for each in (("1", 0, 1), (road, 0, -1), (arm, 0, -1))]
    flow.manager.place(0, way[0], 20.0, 5.0)
    flow.manager.follow(0, way, 20.0, 20.0)
    least = min(float(flow.fleet.car.v[0]) for _ in flow.run(12.0))
    assert (least < 0.2) is (turn == "left")


@pytest.mark.clause("INT-7")
def test_a_junction_without_room_behind_it_is_not_entered(plain: RoadMap) -> None:
    flow = coming(plain)
    exits = [one(sx * 17.0, sy * 17.0, 0.0, 9.0, 9.0) for sx, sy in ((-1, 0), (0, 1), (0, -1))]
    flow.other_boxes = np.vstack(exits)
    for _ in flow.run(30.0):
        pass
    assert flow.fleet.car.v[0] < 0.05
    assert 12.0 <= front(flow) < 20.0
    flow.other_boxes = flow.other_boxes[:0]
    for _ in flow.run(10.0):
        pass
    assert front(flow) < 12.0


WAYS_OUT = {"left": (0, -1), "straight": (-1, 0), "right": (0, 1)}


@pytest.mark.clause("TM-1")
@pytest.mark.parametrize("free", list(WAYS_OUT))
def test_whose_way_out_is_full_takes_another_that_has_room(plain: RoadMap, free: str) -> None:
    flow = coming(plain)
    flow.other_boxes = np.vstack(
        [one(17.0 * x, 17.0 * y, 0.0, 9.0, 9.0) for way, (x, y) in WAYS_OUT.items() if way != free]
    )
    for _ in flow.run(30.0):
        pass
    x, y = WAYS_OUT[free]
    assert flow.fleet.car.x[0] * x + flow.fleet.car.y[0] * y > 18.0


@pytest.mark.clause("TM-2")
def test_a_given_route_is_waited_for_however_full_it_is(plain: RoadMap) -> None:
    flow = coming(plain)
    flow.fleet.turns[0, 0], flow.fleet.car.turn_at[0] = 1, 0
    flow.other_boxes = one(0.0, -17.0, 0.0, 9.0, 9.0)
    for _ in flow.run(40.0):
        pass
    assert flow.fleet.car.v[0] < 0.05
    assert 12.0 <= front(flow) < 20.0


def test_an_ego_in_the_junction_is_waited_for(plain: RoadMap) -> None:
    flow = coming(plain)
    table = flow.graph.lane
    ways = [
        lane for lane in range(len(flow.graph.lane))
        if table.junction[lane] >= 0 and table.conflict_end[lane] > table.conflict_at[lane]
    ]  # fmt: skip
    flow.ego = JunctionRequest(np.array(ways, dtype=np.int32), math.inf, True, True)
    for _ in flow.run(25.0):
        pass
    assert 12.0 <= front(flow) < 16.0
    flow.ego = JunctionRequest(flow.ego.lanes, math.inf, False, False)
    for _ in flow.run(8.0):
        pass
    assert front(flow) < 10.0


def test_the_ego_that_came_first_goes_first(plain: RoadMap) -> None:
    flow = coming(plain, s=20.0, v=6.0)
    crossing = [lane for lane in range(len(flow.graph.lane)) if flow.graph.lane.junction[lane] >= 0]
    flow.ego = JunctionRequest(np.array(crossing, dtype=np.int32), 0.0, False, True)
    for _ in flow.run(25.0):
        assert flow.ego_goes
    assert front(flow) >= 12.0
    assert flow.fleet.car.v[0] < 0.1


def test_the_ego_that_came_later_waits_for_vehicles_inside(plain: RoadMap) -> None:
    flow = coming(plain, s=20.0, v=6.0)
    for _ in flow.run(1.0):
        pass
    while front(flow) > 8.0:
        flow.step()
    crossing = [lane for lane in range(len(flow.graph.lane)) if flow.graph.lane.junction[lane] >= 0]
    flow.ego = JunctionRequest(np.array(crossing, dtype=np.int32), flow.stamp, False, True)
    flow.step()
    assert not flow.ego_goes


@pytest.mark.clause("INT-7")
def test_first_come_first_served(plain: RoadMap) -> None:
    flow = Flow(plain, 0, scripted=2)
    flow.manager.place(0, flow.index[INBOUND_E], 95.0, 4.0)
    flow.manager.place(1, flow.index[INBOUND_S], 70.0, 4.0)
    entered: list[int] = []
    for _ in flow.run(25.0):
        for row in (0, 1):
            if row not in entered and flow.graph.lane.junction[flow.lane(row)] >= 0:
                entered.append(row)
    assert entered == [0, 1]


def test_a_vehicle_keeps_comfortable_braking_before_bends_and_lines(signed: RoadMap) -> None:
    flow = Flow(signed, 0, scripted=1)
    flow.manager.place(0, flow.index[INBOUND_S], 20.0, 9.0)
    accelerations = [float(flow.fleet.car.a[0]) for _ in flow.run(25.0)]
    assert min(accelerations) > -3.0
    assert max(accelerations) < 1.7


@pytest.mark.clause("TM-1")
@pytest.mark.parametrize("hybrid", [True, False], ids=["without dynamics", "with dynamics"])
def test_a_junction_that_is_taken_is_braked_for_in_comfort_and_stopped_at(plain: RoadMap, hybrid: bool) -> None:
    flow = Flow(plain, 1, parameters=TrafficManagerParameters(hybrid_physics=hybrid))
    flow.heroes = np.array([[-1000.0, 0.0]])
    flow.manager.place(0, flow.index[INBOUND_E], 20.0, 6.0)
    crossing = np.flatnonzero(flow.graph.lane.junction >= 0).astype(np.int32)
    flow.ego = JunctionRequest(crossing, math.inf, True, True)
    car = flow.fleet.car
    accelerations = [float(car.a[0]) for _ in flow.run(20.0) if car.v[0] > 1.0]
    assert bool(car.physical[0]) is not hybrid
    assert min(accelerations) > -2.5
    assert 12.0 <= front(flow) < 14.0


def test_a_lane_change_is_smooth_and_refused_without_a_lane(two_lanes: RoadMap) -> None:
    flow = Flow(two_lanes, 0, scripted=1)
    lane = next(lane for lane in range(len(flow.graph.lane)) if flow.graph.lane.left[lane] >= 0)
    flow.manager.place(0, lane, 10.0, 8.0)
    assert not flow.manager.change_lane(0, 5)
    assert flow.manager.change_lane(0, 1)
    track = [
        (float(flow.fleet.car.x[0]), float(flow.fleet.car.y[0]), float(flow.fleet.car.heading[0]))
        for _ in flow.run(6.0)
    ]
    steps = np.hypot(*np.diff(np.array(track)[:, :2], axis=0).T)
    assert steps.max() < 9.0 * FRAME_S * 1.2
    assert flow.lane(0) != lane
    assert np.abs(np.diff(np.unwrap(np.array(track)[:, 2]))).max() < 0.05


def test_no_vehicle_appears_near_the_ego_or_in_a_junction(plain: RoadMap) -> None:
    circles = np.array([[60.0, 1.75, 40.0], [-60.0, 1.75, 40.0]])
    flow = Flow(plain, 12, circles=circles)
    assert flow.placed > 6
    for row in flow.rows:
        assert flow.graph.lane.junction[flow.lane(row)] == -1
        assert np.hypot(flow.fleet.car.x[row] - circles[:, 0], flow.fleet.car.y[row] - circles[:, 1]).min() >= 40.0
    assert flow.overlaps() == []


@pytest.mark.clause("TM-3")
def test_a_vehicle_at_a_dead_end_comes_back_out_of_sight(plain: RoadMap) -> None:
    flow = Flow(plain, 6)
    flow.heroes = np.array([(80.0, 0.0)])
    names, came_back = flow.manager.ids.copy(), 0
    for _ in flow.run(60.0):
        for row in np.flatnonzero(flow.manager.ids != names).tolist():
            came_back += 1
            away = math.dist((flow.fleet.car.x[row], flow.fleet.car.y[row]), flow.heroes[0])
            assert away >= TrafficManagerParameters().respawn_distance - 1.0
        names = flow.manager.ids.copy()
    assert came_back > 3
    assert len(set(names.tolist())) == len(names)


@pytest.mark.clause("TM-3")
def test_nobody_comes_back_into_what_stands_on_a_lane(plain: RoadMap) -> None:
    flow = Flow(plain, 6)
    lanes = [lane for lane in plain.lanes.values() if lane.type == "driving" and lane.junction is None]
    places = [lane.center.at(s) for lane in lanes for s in (0.3 * lane.length, 0.6 * lane.length)]
    flow.other_boxes = np.concatenate([one(*place, 4.5, 1.8) for place in places])
    came_back, car = 0, flow.fleet.car
    for _ in range(300):
        car.mode[:] = OFF
        flow.step()
        for row in flow.rows:
            came_back += 1
            apart = np.hypot(car.x[row] - flow.other_boxes[:, 0], car.y[row] - flow.other_boxes[:, 1])
            assert apart.min() > 0.5 * (4.5 + car.length[row])
    assert came_back > 100


def test_scripted_vehicles_stop_where_the_road_ends_and_are_not_replaced(plain: RoadMap) -> None:
    flow = coming(plain, s=100.0, v=8.0)
    for _ in flow.run(60.0):
        pass
    car = flow.fleet.car
    assert (car.mode[0], car.v[0], flow.manager.ids[0]) == (ROAMING, 0.0, 0)
    left = flow.fleet.path_at[0, car.path_count[0]] - car.arc[0] - 0.5 * car.length[0]
    assert 0.0 < left < 1.0


def test_generators_are_independent_and_even() -> None:
    fleet = new_fleet(np.array([7, 7, 8], dtype=np.uint64))
    first = [draw(fleet, 0) for _ in range(2000)]
    assert [draw(fleet, 1) for _ in range(2000)] == first
    assert draw(fleet, 2) not in first
    assert 0.0 <= min(first) < max(first) < 1.0
    assert np.mean(first) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(("above", "stops"), [(0.0, True), (5.0, False), (-5.0, False)])
def test_what_stands_up_the_slope_is_braked_for_in_time_and_nothing_above_or_below_it(
    tmp_path: Path, above: float, stops: bool
) -> None:
    rising = '<elevationProfile><elevation s="0" a="0" b="0.3" c="0" d="0"/></elevationProfile>'
    steep = xodr.read(tmp_path, xodr.road(xodr.section([xodr.lane(-1)]), length=200.0, kind=rising))
    flow = Flow(steep, 0, scripted=1)
    flow.manager.place(0, flow.index[LaneId("1", 0, -1)], 10.0, 8.0)
    flow.other_boxes = one(90.0, -1.75, 0.0, 4.0, 1.8)
    flow.other_boxes[:, 2] = 0.3 * 90.0 + above
    hardest = min(float(flow.fleet.car.a[0]) for _ in flow.run(14.0))
    assert hardest > -4.0
    assert (float(flow.fleet.car.x[0]) < 86.0) == stops
