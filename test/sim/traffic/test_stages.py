"""Stages over all vehicles, dynamics near the ego, sleepers, several traffic managers, lights of the vehicles."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.traffic import stages
from tuling_fsm.sim.traffic.autopilot import Autopilot
from tuling_fsm.sim.traffic.fleet import AXLE_SHARE, OFF, path_point
from tuling_fsm.sim.traffic.manager import TrafficManager
from tuling_fsm.sim.traffic.population import HybridPhysics
from tuling_fsm.sim.traffic.stages import BRAKE, FOG, LEFT, LOW_BEAM, POSITION, RIGHT, LightConditions

from .flow import FRAME_S, Flow, one

INBOUND_E = LaneId("1", 0, 1)
HERO = np.array([(0.0, 0.0)])


def states(flow: Flow) -> FloatArray:
    """Places and speeds of all on the road, by number."""
    rows = sorted(flow.rows, key=lambda row: int(flow.manager.ids[row]))
    return np.column_stack([flow.fleet.car[name][rows] for name in ("x", "y", "v")])


@pytest.mark.clause("TM-1")
def test_no_stage_depends_on_the_order_of_the_vehicles(plain: RoadMap) -> None:
    """All decide on the same frame: a leader and its follower may be listed either way."""

    def after(order: tuple[int, int]) -> FloatArray:
        flow = Flow(plain, 0, scripted=2)
        for row, s, v in zip(order, (20.0, 33.0), (9.0, 3.0), strict=True):
            flow.manager.place(row, flow.index[INBOUND_E], s, v)
            flow.fleet.car.random[row], flow.manager.ids[row] = 7, 100 + s
        for _ in flow.run(3.0):
            pass
        return states(flow)

    assert np.array_equal(after((0, 1)), after((1, 0)))


@pytest.mark.clause("TM-1")
def test_the_stages_follow_one_another_over_all_vehicles(plain: RoadMap) -> None:
    flow = Flow(plain, 10)
    source = stages.run_stages.py_func.__code__.co_names
    order = [source.index(name) for name in (
        "gather_boxes", "sort_into_cells", "change_lanes", "localize", "detect_obstacles", "obey_traffic_controls",
        "manage_junctions", "move",
        "set_poses", "update_lights",
    )]  # fmt: skip
    assert order == sorted(order)
    before = flow.fleet.car.arc.copy()
    flow.step()
    assert (flow.fleet.car.arc[flow.rows] > before[flow.rows]).all()


def errors(flow: Flow) -> FloatArray:
    """How far the rear axles are from their paths, m."""
    found = []
    for row in flow.rows:
        car, axle = flow.fleet.car, AXLE_SHARE * flow.fleet.car.length[row]
        x, y, _ = path_point(flow.graph, flow.fleet, row, car.arc[row] - axle, 0.0)
        rear_x, rear_y = car.x[row] - axle * np.cos(car.heading[row]), car.y[row] - axle * np.sin(car.heading[row])
        found.append(float(np.hypot(rear_x - x, rear_y - y)))
    return np.array(found)


@pytest.mark.clause("TM-1")
@pytest.mark.parametrize("town", ["plain", "lit"])
@pytest.mark.medium
def test_pid_control_keeps_bodies_with_dynamics_on_their_paths(town: str, request: pytest.FixtureRequest) -> None:
    flow = Flow(request.getfixturevalue(town), 14, parameters=TrafficManagerParameters(hybrid_physics=False))
    apart, speeds = [], []
    for _ in flow.run(60.0):
        if flow.frame % 10 == 0:
            assert flow.overlaps() == []
            apart.append(errors(flow).max())
            speeds.append(flow.fleet.car.v[flow.rows].mean())
    assert flow.fleet.car.physical[flow.rows].all()
    assert 0.02 < max(apart) < 0.5
    assert np.mean(speeds) > 2.5


@pytest.mark.clause("TM-3")
def test_only_vehicles_near_an_ego_have_dynamics(plain: RoadMap) -> None:
    flow = Flow(plain, 14)
    flow.step()
    assert not flow.fleet.car.physical.any()
    flow.heroes = np.array([(100.0, 0.0), (-100.0, 0.0)])
    near = 0
    for _ in flow.run(15.0):
        car = flow.fleet.car
        away = np.min([np.hypot(car.x - x, car.y - y) for x, y in flow.heroes], axis=0)
        # Which vehicles are switched is decided before the move of the frame.
        assert car.physical[(away < 49.0) & flow.manager.on_road].all()
        assert not car.physical[away > 51.0].any()
        near += int(car.physical.sum())
    assert near > 300


@pytest.mark.clause("TM-3")
def test_without_dynamics_accelerations_stay_within_limits(plain: RoadMap) -> None:
    flow = Flow(plain, 14)
    before, names = flow.fleet.car.v.copy(), flow.manager.ids.copy()
    for _ in flow.run(40.0):
        change = (flow.fleet.car.v - before)[flow.manager.on_road & (names == flow.manager.ids)] / FRAME_S
        assert change.max() < 1.6 + 1e-6
        assert change.min() > -8.0 - 1e-6
        before, names = flow.fleet.car.v.copy(), flow.manager.ids.copy()


def far_away(road_map: RoadMap, hybrid: bool = True, respawn: bool = False) -> Flow:
    """Some vehicles of which those beyond 60 m of the crossing sleep."""
    flow = Flow(road_map, 12)
    flow.manager.hybrid[0] = HybridPhysics(hybrid, active=60.0, respawn=respawn, nearest=25.0, farthest=55.0)
    flow.heroes = HERO
    return flow


@pytest.mark.clause("TM-3")
def test_far_vehicles_are_dormant_where_they_are_and_wake_when_the_ego_comes(plain: RoadMap) -> None:
    flow = far_away(plain, hybrid=False)
    flow.step()
    car = flow.fleet.car
    dormant = np.flatnonzero(car.dormant_mode != OFF)
    assert len(dormant) >= 3
    places = np.column_stack((car.x[dormant], car.y[dormant]))
    assert np.hypot(*places.T).min() > 60.0
    for _ in flow.run(5.0):
        pass
    assert np.array_equal(np.column_stack((car.x[dormant], car.y[dormant])), places)
    assert not set(dormant.tolist()) & set(flow.rows)
    row = int(dormant[0])
    flow.heroes = places[:1] + 1.0
    assert any(row in flow.rows for _ in flow.run(20.0))


@pytest.mark.clause("TM-3")
def test_a_place_that_is_taken_is_tried_again(plain: RoadMap) -> None:
    flow = far_away(plain, hybrid=False)
    flow.step()
    car = flow.fleet.car
    row = int(np.flatnonzero(car.dormant_mode != OFF)[0])
    blocker = flow.rows[0]
    was = car.x[blocker], car.y[blocker]
    car.x[blocker], car.y[blocker] = car.x[row], car.y[row]
    flow.heroes = np.array([(car.x[row], car.y[row])])
    flow.manager._update_population(flow.heroes, FRAME_S)
    assert row not in flow.rows
    car.x[blocker], car.y[blocker] = was
    stands = one(car.x[row], car.y[row], 0.0, 4.5, 1.8)
    flow.manager._update_population(flow.heroes, FRAME_S, stands)
    assert row not in flow.rows
    flow.manager._update_population(flow.heroes, FRAME_S, one(car.x[row] + 30.0, car.y[row], 0.0, 4.5, 1.8))
    assert row in flow.rows


@pytest.mark.clause("TM-3")
def test_dormant_vehicles_come_back_within_their_bounds_or_are_teleported_along(plain: RoadMap) -> None:
    flow = far_away(plain, respawn=True)
    back = 0
    for _ in flow.run(20.0):
        dormant = flow.fleet.car.dormant_mode != OFF
        flow.manager._update_population(flow.heroes, FRAME_S)
        for row in np.flatnonzero(dormant & (flow.fleet.car.dormant_mode == OFF) & flow.manager.on_road):
            away = float(np.hypot(flow.fleet.car.x[row], flow.fleet.car.y[row]))
            assert 25.0 <= away <= 60.0
            back += 1
    assert back > 2
    flow = far_away(plain)
    flow.step()
    row = int(np.flatnonzero(flow.fleet.car.dormant_mode != OFF)[0])
    before = flow.fleet.car.arc[row]
    flow.step()
    expected = flow.graph.lane.limit[flow.lane(row)] * flow.fleet.car.share[row] * FRAME_S
    assert flow.fleet.car.arc[row] - before == pytest.approx(expected)


@pytest.mark.clause("TM-4")
def test_managers_are_seeded_apart_and_share_the_road(plain: RoadMap) -> None:
    def world(seed: int) -> tuple[Flow, Autopilot, Autopilot]:
        flow = Flow(plain, 0, 3)
        one_, other = Autopilot.join(flow.manager, 11, 6), Autopilot.join(flow.manager, seed, 6)
        return flow, one_, other

    def drawn(flow: Flow, pilot: Autopilot) -> list[tuple[float, float]]:
        rows = np.flatnonzero(flow.fleet.car.owner == pilot.number)
        return [(float(flow.fleet.car.x[row]), float(flow.fleet.car.share[row])) for row in rows]

    flow, first, second = world(12)
    again, first_again, second_again = world(13)
    assert drawn(flow, first) == drawn(again, first_again)
    assert drawn(flow, second) != drawn(again, second_again)
    assert len(first.vehicles) == len(second.vehicles) == 6
    assert not set(first.vehicles) & set(second.vehicles)
    first.global_percentage_speed_difference(60.0)
    speeds: list[FloatArray] = []
    for _ in flow.run(60.0):
        if flow.frame % 5 == 0:
            assert flow.overlaps() == []
            owner = flow.fleet.car.owner
            speeds.append(np.array([flow.fleet.car.share[owner == pilot.number].mean() for pilot in (first, second)]))
    assert np.mean(speeds, axis=0) == pytest.approx((0.4, 0.7), abs=0.05)


@pytest.mark.clause("TM-4")
def test_one_cannot_set_what_belongs_to_another(plain: RoadMap) -> None:
    flow = Flow(plain, 4)
    other = Autopilot.join(flow.manager, 5, 3)
    other.global_distance_to_leading_vehicle(9.0)
    other.set_hybrid_physics_mode(False)
    assert flow.fleet.rules.gap.tolist() == [2.0] * 4 + [9.0] * 3
    flow.step()
    assert flow.fleet.car.physical[np.array(flow.rows)].tolist() == (flow.fleet.car.owner[flow.rows] == 1).tolist()
    seeds = flow.fleet.car.random.copy()
    other.set_random_device_seed(6)
    assert np.array_equal(flow.fleet.car.random[:4], seeds[:4])
    assert not np.isin(flow.fleet.car.random[4:], seeds).any()


@pytest.mark.clause("TM-4")
def test_clients_of_one_manager_share_its_vehicles_and_settings(plain: RoadMap) -> None:
    flow = Flow(plain, 2)
    made = Autopilot.join(flow.manager, 5, 3)
    client = Autopilot(flow.manager, made.number)
    assert client.vehicles == made.vehicles
    vehicle = made.vehicles[0]
    client.distance_to_leading_vehicle(vehicle, 8.0)
    made.vehicle_percentage_speed_difference(vehicle, 50.0)
    row = int(np.flatnonzero(flow.manager.ids == vehicle)[0])
    assert (flow.fleet.rules.gap[row], flow.fleet.car.share[row]) == (8.0, 0.5)
    with pytest.raises(InputError, match="no vehicle"):
        Autopilot(flow.manager).distance_to_leading_vehicle(vehicle, 3.0)


def lights_of(flow: Flow, seconds: float) -> list[int]:
    return [int(flow.fleet.car.lights[0]) for _ in flow.run(seconds)]


@pytest.mark.clause("TM-1")
def test_vehicles_show_where_they_turn_and_that_they_brake(plain: RoadMap) -> None:
    for turn, shown, other in (("Left", LEFT, RIGHT), ("Right", RIGHT, LEFT), ("Straight", 0, LEFT | RIGHT)):
        flow = Flow(plain, 0, scripted=1)
        flow.fleet.car.owner[:], flow.manager.ids[:] = 0, 9
        flow.manager.place(0, flow.index[INBOUND_E], 40.0, 6.0)
        flow.step()
        pilot = Autopilot(flow.manager)
        pilot.set_route(9, [turn])
        assert set(lights_of(flow, 1.0)) == {0}
        pilot.update_vehicle_lights(9, True)
        seen = lights_of(flow, 12.0)
        assert all(not on & other for on in seen)
        assert not shown or any(on & shown for on in seen)
    flow.other_boxes = one(flow.fleet.car.x[0] - 20.0, flow.fleet.car.y[0], 0.0, 4.0, 1.8)
    assert any(on & BRAKE for on in lights_of(flow, 6.0))


@pytest.mark.clause("TM-1")
def test_vehicles_light_up_in_dark_rain_and_fog(plain: RoadMap) -> None:
    flow = Flow(plain, 0, scripted=1)
    flow.fleet.car.owner[:], flow.manager.ids[:] = 0, 9
    flow.manager.place(0, flow.index[INBOUND_E], 10.0, 6.0)
    Autopilot(flow.manager).update_vehicle_lights(9, True)
    beams = POSITION | LOW_BEAM | FOG
    for weather, on in (
        (LightConditions(), 0), (LightConditions(dark=True), POSITION | LOW_BEAM), (LightConditions(rain=True),
        POSITION | LOW_BEAM),
        (LightConditions(fog=True), beams),
    ):  # fmt: skip
        flow.manager.weather = weather
        flow.step()
        assert flow.fleet.car.lights[0] & beams == on


def test_the_population_of_a_world_is_as_drawn_with_others_joining_later(plain: RoadMap) -> None:
    assert isinstance(Flow(plain, 3).manager, TrafficManager)
    alone, joined = Flow(plain, 3), Flow(plain, 3)
    Autopilot.join(joined.manager, 5, 3)
    assert np.array_equal(states(alone), states(joined)[:3])
