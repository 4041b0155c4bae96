"""The population as a whole: it flows without collisions, lights and signs hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.traffic.fleet import path_index
from tuling_fsm.sim.traffic.manager import TrafficManager
from tuling_fsm.world.inputs import Light

from .flow import FRAME_S, Flow

LOOK_EVERY = 10


def watch(flow: Flow, seconds: float) -> float:
    """Mean speed over a time in which no two bodies overlap."""
    speeds = []
    for stamp in flow.run(seconds):
        if flow.frame % LOOK_EVERY == 0:
            assert flow.overlaps() == [], f"after {stamp:.2f} s"
            speeds.append(float(flow.fleet.car.v[flow.rows].mean()))
    return float(np.mean(speeds))


@pytest.mark.slow
@pytest.mark.parametrize("town", ["plain", "lit", "signed"])
def test_crossroads_flow_without_collision(town: str, request: pytest.FixtureRequest) -> None:
    flow = Flow(request.getfixturevalue(town), 14)
    assert flow.placed == 14
    assert watch(flow, 75.0) > 2.5
    assert flow.manager.removed == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "slowest"),
    [
        ("carla_Town01", 2.5),
        ("carla_Town07", 2.5),
        ("esmini_fabriksgatan_traffic_lights", 2.5),
        ("esmini_parking_demo", 2.5),
        ("pyopendrive_chatt", 2.5),
    ],
)
def test_real_maps_flow_without_collision(name: str, slowest: float, shared_data: Path) -> None:
    flow = Flow(read_map(shared_data / "maps" / f"{name}.xodr"), 0)
    flow = Flow(flow.road_map, TrafficManager.fitting(flow.graph, 30))
    assert flow.placed > 20
    assert watch(flow, 60.0) > slowest
    assert flow.manager.removed == 0


@pytest.mark.slow
@pytest.mark.clause("TM-1")
@pytest.mark.parametrize(("name", "count", "minutes"), [("carla_Town01", 200, 15), ("carla_Town07", 150, 10)])
def test_a_full_town_neither_stands_still_nor_collides(name: str, count: int, minutes: int, shared_data: Path) -> None:
    """Every street has its queue, and a waiting vehicle only ever waits for a turn that comes."""
    no_removal = TrafficManagerParameters(removal_time=3600.0)
    flow = Flow(read_map(shared_data / "maps" / f"{name}.xodr"), count, seed=2, parameters=no_removal)
    car, stands, longest, speeds = flow.fleet.car, np.zeros(count), 0.0, []
    for stamp in flow.run(60.0 * minutes):
        stands = np.where(car.v < 0.1, stands + FRAME_S, 0.0)
        longest = max(longest, float(stands.max()))
        if flow.frame % 20 == 0:
            assert flow.overlaps() == [], f"after {stamp:.2f} s"
            speeds.append(float(car.v.mean()))
    assert len(flow.rows) == count
    assert longest < 180.0
    assert np.mean(speeds[-60:]) > 0.7 * np.mean(speeds) > 1.0


@pytest.mark.clause("TM-2")
@pytest.mark.medium
def test_nobody_turns_into_a_closed_road_until_it_is_open_again(whole_course: RoadMap) -> None:
    """At what closes it they could not turn round, and would stand for ever."""
    flow = Flow(whole_course, 60)
    closed = {number for lane, number in flow.index.items() if lane.road == "18"}

    def entered(seconds: float) -> int:
        before, count = set(flow.rows), 0
        for _ in flow.run(seconds):
            there = {row for row in flow.rows if flow.lane(row) in closed}
            before, count = there, count + len(there - before)
        return count

    assert entered(120.0) > 3
    flow.manager.close_lanes(closed)
    entered(10.0)  # Vehicles in the junction, or let into it, drive on.
    assert entered(120.0) == 0
    flow.manager.close_lanes(())
    assert entered(120.0) > 3


def test_what_is_closed_in_one_run_is_open_in_another_on_the_same_map(course: RoadMap) -> None:
    before, run = Flow(course, 1), Flow(course, 1)
    ways_on = before.manager.graph.lane.endless.copy()
    run.manager.close_lanes(np.flatnonzero(run.graph.lane.junction >= 0).tolist())
    assert run.manager.graph.lane.endless.sum() < ways_on.sum()
    for other in (before, Flow(course, 1)):
        assert (other.manager.graph.lane.endless == ways_on).all()


@pytest.mark.clause("TM-2")
@pytest.mark.medium
def test_with_few_on_the_road_they_drive_at_about_seventy_percent_of_the_limit(shared_data: Path) -> None:
    flow = Flow(read_map(shared_data / "maps" / "carla_Town01.xodr"), 20)
    car, shares = flow.fleet.car, []
    for _ in flow.run(60.0):
        steady = np.flatnonzero((np.abs(car.a) < 0.02) & (car.v > 5.0))
        limits = flow.graph.lane.limit[[flow.lane(row) for row in steady]]
        shares += (car.v[steady] / limits).tolist()
    assert len(shares) > 500
    assert np.median(shares) == pytest.approx(0.7, abs=0.03)
    assert max(shares) < 0.8


def passages(flow: Flow, seconds: float) -> list[tuple[int, int, float]]:
    """Which vehicle passed which stop line: row, index of the line, and the least speed in the 3 m before it."""
    before: dict[int, tuple[int, float]] = {}
    slowest: dict[tuple[int, int], float] = {}
    found = []
    graph, fleet = flow.graph, flow.fleet
    for _ in flow.run(seconds):
        for row in flow.rows:
            front = fleet.car.arc[row] + 0.5 * fleet.car.length[row]
            k = path_index(fleet, row, front)
            lane, s = int(fleet.path_lane[row, k]), float(front - fleet.path_at[row, k])
            known = before.get(row)
            before[row] = (lane, s)
            for line in range(graph.lane.stop_at[lane], graph.lane.stop_end[lane]):
                left = graph.stop.s[line] - s
                if 0.0 <= left < 3.0:
                    slowest[row, line] = min(slowest.get((row, line), np.inf), float(fleet.car.v[row]))
                if known is not None and known[0] == lane and known[1] < graph.stop.s[line] <= s:
                    found.append((row, line, slowest.pop((row, line), np.inf)))
    return found


@pytest.mark.slow
def test_no_vehicle_passes_a_red_light(lit: RoadMap) -> None:
    flow = Flow(lit, 14)
    passed, graph = 0, flow.graph
    for _ in range(60 * 4):
        states = flow.lights.states(flow.stamp + 0.25)
        for _, line, _ in passages(flow, 0.25):
            assert states[graph.stop.signal[line]] != Light.RED
            passed += 1
    for _, line, _ in passages(flow, 10.0):
        assert graph.stop.signal[line] >= 0
        passed += 1
    assert passed > 5


@pytest.mark.slow
def test_all_vehicles_stand_at_a_stop_sign(signed: RoadMap) -> None:
    passed = passages(Flow(signed, 14), 80.0)
    assert len(passed) > 5
    assert max(slowest for _, _, slowest in passed) < 0.3


@pytest.mark.parametrize("town", ["plain", "lit"])
@pytest.mark.medium
def test_conflicting_ways_through_a_junction_are_never_shared(town: str, request: pytest.FixtureRequest) -> None:
    flow = Flow(request.getfixturevalue(town), 14, seed=3)
    graph, inside = flow.graph, 0
    for _ in flow.run(50.0):
        lanes = {flow.lane(row) for row in flow.rows if graph.lane.junction[flow.lane(row)] >= 0}
        inside += len(lanes)
        for lane in lanes:
            others = graph.conflict[graph.lane.conflict_at[lane] : graph.lane.conflict_end[lane]]
            assert not lanes.intersection(others.tolist())
    assert inside > 200


def test_vehicles_choose_by_their_own_generator(plain: RoadMap) -> None:
    def paths(count: int) -> list[tuple[float, float]]:
        flow = Flow(plain, count, seed=5)
        return [(float(flow.fleet.car.x[row]), float(flow.fleet.car.share[row])) for row in range(3)]

    assert paths(3) == paths(9)
