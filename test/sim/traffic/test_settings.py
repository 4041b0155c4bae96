"""What a traffic manager sets for its vehicles, each against what they do without it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.traffic.autopilot import Autopilot, lanes_along
from tuling_fsm.sim.traffic.collision import PAIR
from tuling_fsm.sim.traffic.fleet import ANY, OFF
from tuling_fsm.world.inputs import Light

from .flow import Flow, one

pytestmark = pytest.mark.clause("TM-2")
INBOUND_E, INBOUND_S = LaneId("1", 0, 1), LaneId("4", 0, 1)
FIRST, SECOND = 501, 502
Setting = Callable[[Autopilot], object]


def nothing(_: Autopilot) -> None:
    """No setting."""


def flow_with(road_map: RoadMap, lane: int | LaneId, s: float = 20.0, v: float = 8.0) -> tuple[Flow, Autopilot]:
    """A vehicle number `FIRST` on a lane, another one off the road, both of the world's traffic manager."""
    flow = Flow(road_map, 0, scripted=2)
    flow.fleet.car.owner[:] = 0
    flow.manager.ids[:] = FIRST, SECOND
    flow.manager.place(0, flow.index[lane] if isinstance(lane, LaneId) else lane, s, v)
    return flow, Autopilot(flow.manager)


def way(
    road_map: RoadMap, setting: Setting, others: FloatArray, seconds: float = 9.0, light: Light | None = None
) -> float:
    """How far a vehicle comes from the east when something is set, m."""
    flow, autopilot = flow_with(road_map, INBOUND_E)
    setting(autopilot)
    flow.other_boxes = others
    for number in flow.lights.numbers:
        flow.lights.force(number, light)
    start = float(flow.fleet.car.arc[0])
    for _ in flow.run(seconds):
        pass
    return float(flow.fleet.car.arc[0]) - start


def obstacle(person: bool) -> FloatArray:
    """Something that stands in the middle of the eastern arm."""
    return one(60.0, 1.75, 0.0, 0.6, 2.5, number=77, person=person)


@pytest.mark.parametrize(
    ("setting", "person", "stops"),
    [
        (nothing, False, True),
        (nothing, True, True),
        (lambda a: a.ignore_vehicles_percentage(FIRST, 100.0), False, False),
        (lambda a: a.ignore_vehicles_percentage(FIRST, 100.0), True, True),
        (lambda a: a.ignore_walkers_percentage(FIRST, 100.0), True, False),
        (lambda a: a.ignore_walkers_percentage(FIRST, 100.0), False, True),
        (lambda a: a.ignore_vehicles_percentage(None, 100.0), False, False),
        (lambda a: a.ignore_walkers_percentage(None, 100.0), True, False),
        (lambda a: a.collision_detection(FIRST, 77, False), False, False),
        (lambda a: a.collision_detection(FIRST, 78, False), False, True),
        (lambda a: (a.collision_detection(FIRST, 77, False), a.collision_detection(FIRST, 77, True)), False, True),
    ],
)
def test_ignored_agents_are_not_braked_for(plain: RoadMap, setting: Setting, person: bool, stops: bool) -> None:
    assert (way(plain, setting, obstacle(person)) < 50.0) is stops


@pytest.mark.slow
def test_a_share_of_vehicles_is_ignored_and_always_the_same_ones(plain: RoadMap) -> None:
    flow, autopilot = flow_with(plain, INBOUND_E)
    autopilot.ignore_vehicles_percentage(FIRST, 40.0)
    flow.step()

    def passed(number: int) -> bool:
        return (
            way(
                plain,
                lambda a: a.ignore_vehicles_percentage(FIRST, 40.0),
                one(60.0, 1.75, 0.0, 0.6, 2.5, number=number),
            )
            > 50.0
        )

    first = [passed(number) for number in range(1, 21)]
    assert 3 <= sum(first) <= 13
    assert [passed(number) for number in range(1, 6)] == first[:5]


@pytest.mark.parametrize(
    ("setting", "light", "stops"),
    [
        (nothing, Light.RED, True),
        (nothing, Light.GREEN, False),
        (lambda a: a.ignore_lights_percentage(FIRST, 100.0), Light.RED, False),
    ],
)
def test_ignored_lights_are_driven_through(lit: RoadMap, setting: Setting, light: Light, stops: bool) -> None:
    driven = way(lit, setting, np.zeros((0, 10)), 20.0, light)
    assert (driven < 98.0) is stops


def test_ignored_signs_are_not_stopped_at(signed: RoadMap) -> None:
    def slowest(setting: Setting) -> float:
        flow, autopilot = flow_with(signed, INBOUND_S, 20.0, 6.0)
        setting(autopilot)
        return min(float(flow.fleet.car.v[0]) for _ in flow.run(16.0))

    assert slowest(nothing) < 0.2
    assert slowest(lambda a: a.ignore_signs_percentage(FIRST, 100.0)) > 1.0


def test_the_gap_to_the_leader_is_set(plain: RoadMap) -> None:
    def gap(setting: Setting) -> float:
        flow, autopilot = flow_with(plain, INBOUND_E, 10.0, 5.0)
        setting(autopilot)
        flow.other_boxes = one(60.0, float(flow.fleet.car.y[0]), 0.0, 4.0, 1.8)
        for _ in flow.run(25.0):
            pass
        return float(flow.fleet.car.x[0] - 0.5 * flow.fleet.car.length[0]) - 62.0

    assert gap(nothing) == pytest.approx(2.0, abs=0.8)
    assert gap(lambda a: a.distance_to_leading_vehicle(FIRST, 7.0)) == pytest.approx(7.0, abs=1.0)
    assert gap(lambda a: a.global_distance_to_leading_vehicle(5.0)) == pytest.approx(5.0, abs=1.0)


def test_seventy_percent_of_the_limit_unless_set(two_lanes: RoadMap) -> None:
    def speed(setting: Setting) -> float:
        flow, autopilot = flow_with(two_lanes, 0, 10.0, 9.0)
        setting(autopilot)
        for _ in flow.run(14.0):
            pass
        return float(flow.fleet.car.v[0]) * 3.6

    assert speed(nothing) == pytest.approx(35.0, abs=0.5)
    assert speed(lambda a: a.vehicle_percentage_speed_difference(FIRST, 50.0)) == pytest.approx(25.0, abs=0.5)
    assert speed(lambda a: a.global_percentage_speed_difference(-20.0)) == pytest.approx(60.0, abs=1.5)
    assert speed(lambda a: a.set_desired_speed(FIRST, 5.0)) == pytest.approx(18.0, abs=0.5)


def lanes_after(two_lanes: RoadMap, setting: Setting, leader: bool = True, right: bool = True) -> tuple[int, int]:
    """Lane of a vehicle at first and some time later, behind a slow leader or alone."""
    flow = Flow(two_lanes, 0, scripted=2)
    flow.fleet.car.owner[:] = 0
    flow.manager.ids[:] = FIRST, SECOND
    side = flow.graph.lane.left if right else flow.graph.lane.right
    lane = next(lane for lane in range(len(flow.graph.lane)) if side[lane] >= 0)
    flow.manager.place(0, lane, 20.0, 9.0)
    if leader:
        flow.manager.place(1, lane, 45.0, 3.0)
        flow.manager.set_speed(1, 3.0)
    setting(Autopilot(flow.manager))
    for _ in flow.run(9.0):
        assert flow.overlaps() == []
    return lane, flow.lane(0)


def test_a_slow_leader_is_passed_in_the_next_lane_unless_forbidden(two_lanes: RoadMap) -> None:
    before, after = lanes_after(two_lanes, nothing)
    assert before != after
    before, after = lanes_after(two_lanes, lambda a: a.auto_lane_change(FIRST, False))
    assert before == after


def test_some_keep_right(two_lanes: RoadMap) -> None:
    before, after = lanes_after(two_lanes, nothing, leader=False, right=False)
    assert before == after
    before, after = lanes_after(
        two_lanes, lambda a: a.keep_right_rule_percentage(FIRST, 100.0), leader=False, right=False
    )
    assert before != after


def test_a_forced_change_needs_no_gap(two_lanes: RoadMap) -> None:
    flow = Flow(two_lanes, 0, scripted=2)
    flow.fleet.car.owner[:] = 0
    flow.manager.ids[:] = FIRST, SECOND
    lane = next(lane for lane in range(len(flow.graph.lane)) if flow.graph.lane.left[lane] >= 0)
    flow.manager.place(0, lane, 20.0, 9.0)
    flow.manager.place(1, int(flow.graph.lane.left[lane]), 22.0, 9.0)
    autopilot = Autopilot(flow.manager)
    assert not autopilot.force_lane_change(FIRST, left=False)
    assert autopilot.force_lane_change(FIRST, left=True)
    assert flow.lane(0) == flow.graph.lane.left[lane]


def test_it_keeps_beside_the_middle_of_its_lane(plain: RoadMap) -> None:
    flow, autopilot = flow_with(plain, INBOUND_E, 10.0, 6.0)
    y = float(flow.fleet.car.y[0])
    autopilot.vehicle_lane_offset(FIRST, 0.6)
    for _ in flow.run(6.0):
        pass
    assert float(flow.fleet.car.y[0]) - y == pytest.approx(-0.6, abs=0.02)
    autopilot.global_lane_offset(-0.3)
    for _ in flow.run(5.0):
        pass
    assert float(flow.fleet.car.y[0]) - y == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize(("turn", "x", "y"), [("Left", 0, -1), ("Straight", -1, 0), ("Right", 0, 1)])
def test_a_route_of_turns_is_taken(plain: RoadMap, turn: str, x: int, y: int) -> None:
    for seed in (1, 2):
        flow = Flow(plain, 0, seed, scripted=1)
        flow.fleet.car.owner[:], flow.manager.ids[:] = 0, FIRST
        flow.manager.place(0, flow.index[INBOUND_E], 60.0, 6.0)
        flow.step()
        Autopilot(flow.manager).set_route(FIRST, [turn])
        for _ in flow.run(14.0):
            pass
        assert flow.fleet.car.x[0] * x + flow.fleet.car.y[0] * y > 18.0


@pytest.mark.parametrize(("x", "y"), [(0.0, -60.0), (-60.0, 0.0), (0.0, 60.0)])
def test_a_path_of_points_is_followed_and_left_at_random(plain: RoadMap, x: float, y: float) -> None:
    flow, autopilot = flow_with(plain, INBOUND_E, 60.0, 6.0)
    flow.step()
    autopilot.set_path(FIRST, [(x, y)])
    nearest = min(math.dist((flow.fleet.car.x[0], flow.fleet.car.y[0]), (x, y)) for _ in flow.run(20.0))
    assert nearest < 3.0
    with pytest.raises(InputError, match="set_path"):
        autopilot.set_path(FIRST, [(1000.0, 1000.0)])


def test_a_point_behind_is_passed_over_the_way_round_or_not_at_all(plain: RoadMap, ring: RoadMap) -> None:
    flow, autopilot = flow_with(plain, INBOUND_E, 60.0, 6.0)
    with pytest.raises(InputError, match="no lane leads to"):
        autopilot.set_path(FIRST, [(90.0, 1.75)])
    lane = LaneId("1", 0, -1)
    flow, autopilot = flow_with(ring, lane, 40.0, 6.0)
    behind, ahead = (ring.lanes[lane].center.at(s)[:2] for s in (10.0, 45.0))
    start = flow.index[lane]
    round_it = [flow.index[LaneId(road, 0, -1)] for road in ("2", "3", "0", "1")]
    assert lanes_along(flow.graph, start, [behind], 40.0) == round_it
    assert lanes_along(flow.graph, start, [ahead, behind], 40.0) == round_it
    assert lanes_along(flow.graph, start, [ahead], 40.0) == []
    autopilot.set_path(FIRST, [behind])
    assert flow.fleet.path_lane[0, : flow.fleet.car.path_count[0]].tolist() == [start, *round_it]


def test_a_change_of_lanes_ends_the_clearance_of_the_way_that_is_left(two_lanes: RoadMap) -> None:
    flow, autopilot = flow_with(two_lanes, LaneId("1", 0, -1), 20.0, 6.0)
    flow.fleet.car.cleared[0] = flow.fleet.path_at[0, 1] + 30.0
    assert autopilot.force_lane_change(FIRST, left=False)
    assert flow.fleet.car.cleared[0] == flow.fleet.path_at[0, 1]


@pytest.mark.parametrize("vehicle", [0, SECOND])
def test_what_is_off_the_road_is_not_put_on_it_by_a_command(two_lanes: RoadMap, vehicle: int) -> None:
    flow, autopilot = flow_with(two_lanes, LaneId("1", 0, -1))
    flow.manager.ids[1] = vehicle
    commands: tuple[Callable[[], object], ...] = (
        lambda: autopilot.force_lane_change(vehicle, left=False),
        lambda: autopilot.set_route(vehicle, ["Left"]),
        lambda: autopilot.set_path(vehicle, []),
    )
    for command in commands:
        with pytest.raises(InputError, match="no vehicle 0" if vehicle == 0 else "off the road"):
            command()
    assert flow.fleet.car.mode[1] == OFF


def test_resetting_the_lights_begins_their_programs_anew(lit: RoadMap) -> None:
    flow = Flow(lit, 4)
    first = [flow.lights.states(0.1 * k).copy() for k in range(400)]
    flow.lights.force(flow.lights.numbers[0], Light.GREEN)
    Autopilot(flow.manager).reset_traffic_lights(flow.lights, 37.0)
    assert all(np.array_equal(flow.lights.states(37.0 + 0.1 * k), first[k]) for k in range(400))


def test_settings_concern_the_vehicle_that_they_name(plain: RoadMap) -> None:
    flow, autopilot = flow_with(plain, INBOUND_E)
    autopilot.ignore_lights_percentage(FIRST, 30.0)
    assert flow.fleet.rules.ignore_lights.tolist() == [0.3, 0.0]
    autopilot.global_distance_to_leading_vehicle(6.0)
    assert flow.fleet.rules.gap.tolist() == [6.0, 6.0]


def test_settings_end_with_their_vehicle_and_those_for_all_go_on(plain: RoadMap) -> None:
    flow = Flow(plain, 2)
    autopilot = Autopilot(flow.manager)
    first, other = autopilot.vehicles
    fleet, manager = flow.fleet, flow.manager
    autopilot.global_distance_to_leading_vehicle(6.0)
    autopilot.ignore_walkers_percentage(None, 50.0)
    before, share = fleet.rules.copy(), fleet.car.share.copy()
    autopilot.ignore_lights_percentage(first, 100.0)
    autopilot.ignore_lights_percentage(first, 90.0)
    autopilot.ignore_walkers_percentage(first, 100.0)
    autopilot.vehicle_lane_offset(first, 0.5)
    autopilot.vehicle_percentage_speed_difference(first, -50.0)
    autopilot.set_desired_speed(first, 20.0)
    autopilot.set_route(first, ["Left"])
    autopilot.collision_detection(first, 0, False)
    autopilot.collision_detection(other, 0, False)
    fleet.car.mode[0] = OFF
    while fleet.car.mode[0] == OFF:
        flow.step()
    assert manager.ids[0] not in (first, other) and manager.ids[1] == other
    assert fleet.rules.tolist() == before.tolist()
    assert fleet.car.share.tolist() == share.tolist() and np.isnan(fleet.car.wanted[0])
    assert fleet.car.offset_to[0] == 0.0 and set(fleet.turns[0].tolist()) == {ANY}
    assert manager.ignored_pairs.tolist() == [PAIR]


def test_every_setting_of_a_driver_can_be_made_for_all(plain: RoadMap) -> None:
    flow = Flow(plain, 4)
    mine, theirs = Autopilot(flow.manager), Autopilot.join(flow.manager, 7, 2)
    values = {
        "distance_to_leading_vehicle": ("gap", 3.5), "ignore_lights_percentage": ("ignore_lights", 10.0),
        "ignore_signs_percentage": ("ignore_signs", 20.0), "ignore_vehicles_percentage": ("ignore_vehicles", 30.0),
        "ignore_walkers_percentage": ("ignore_walkers", 40.0), "keep_right_rule_percentage": ("keep_right", 50.0),
        "vehicle_lane_offset": ("offset", 0.25), "auto_lane_change": ("auto_change", False),
        "update_vehicle_lights": ("show_lights", True),
    }  # fmt: skip
    for name, (column, value) in values.items():
        before = flow.fleet.rules[column][theirs.rows].tolist()
        getattr(mine, name)(None, value)
        wanted = 0.01 * value if name.endswith("percentage") else value
        assert flow.fleet.rules[column][mine.rows].tolist() == [wanted] * 4
        assert flow.fleet.rules[column][theirs.rows].tolist() == before != [wanted] * 2
    mine.vehicle_percentage_speed_difference(None, 45.0)
    mine.set_desired_speed(None, 4.0)
    assert flow.fleet.car.share[mine.rows].tolist() == [pytest.approx(0.55)] * 4
    assert flow.fleet.car.wanted[mine.rows].tolist() == [4.0] * 4
    assert np.isnan(flow.fleet.car.wanted[theirs.rows]).all()


def test_nonsense_is_refused(plain: RoadMap) -> None:
    _, autopilot = flow_with(plain, INBOUND_E)
    for wrong in (
        lambda: autopilot.ignore_lights_percentage(FIRST, 101.0),
        lambda: autopilot.distance_to_leading_vehicle(FIRST, -1.0),
        lambda: autopilot.vehicle_percentage_speed_difference(FIRST, 101.0),
        lambda: autopilot.set_route(FIRST, ["Back"]),
        lambda: autopilot.auto_lane_change(999, True),
        lambda: autopilot.set_boundaries_respawn_dormant_vehicles(10.0, 700.0),
        lambda: autopilot.set_boundaries_respawn_dormant_vehicles(100.0, 50.0),
    ):
        with pytest.raises(InputError):
            wrong()
