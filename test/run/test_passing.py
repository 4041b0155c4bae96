"""Along people, parked cars and a bus in the closed loop: slowly, untouched, and fast again (USE-15)."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import along_lanes

from tuling_fsm.agent import Tick
from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.share import share_file

from .drives import Drive, drive

pytestmark = [pytest.mark.slow, pytest.mark.clause("USE-15")]

PLACES = """    start: odr_point = map.create_odr_point(road_id: "5", lane_id: "-1", s: 8m)
    goal: odr_point = map.create_odr_point(road_id: "5", lane_id: "-1", s: 150m)
"""
ROAD_X = 420.0
"""The road begins there and runs along -x, m."""


def place(name: str, s: float, t: float) -> str:
    return f'    {name}: odr_point = map.create_odr_point(road_id: "5", lane_id: "-1", s: {s}m, t: {t}m)\n'


def driven(folder: Path, declared: str, *lines: str, seconds: int = 60) -> Drive:
    """The car goes along the lane, past what is declared and done beside it; nothing is touched."""
    text = along_lanes(PLACES + declared, *(f"        {line}\n" for line in lines), seconds=seconds)
    run = drive(Path(share_file("config", "course", "course.xodr")), text, folder)
    assert run.faults == []
    assert run.end == "goal"
    return run


def speeds(run: Drive, begin: float, end: float) -> list[float]:
    """Of the car while its rear axle is between two stations of the road."""
    return [tick.world.ego.v for tick in run.ticks if begin < ROAD_X - tick.world.ego.pose.x < end]


def passes(run: Drive, what: str) -> list[Tick]:
    """The ticks on which the speed is limited by passing something."""
    return [tick for tick in run.ticks if tick.limit.reason is Reason.PASSING and tick.limit.detail.startswith(what)]


def test_one_that_walks_along_the_carriageway_is_passed_slowly(tmp_path: Path) -> None:
    declared = "    walker: person\n" + place("from", 70.0, -2.0) + place("to", 140.0, -2.0)
    walk = ("serial:", "    walker.assign_position(from)", "    walker.walk() with:")
    run = driven(tmp_path, declared, *walk, "        along(map.create_path([to]))", "        speed(1.3mps)")
    slow = passes(run, "pedestrian")
    assert len(slow) > 20
    assert min(tick.world.ego.v for tick in slow) < 5.0
    assert speeds(run, 40.0, 55.0)[0] > 7.5
    assert max(speeds(run, 115.0, 140.0)) > 7.5
    assert states.NORMAL in run.states()


def test_a_row_of_parked_cars_that_leaves_room_for_a_door_is_not_crept_along(tmp_path: Path) -> None:
    declared = "".join(f"    car_{i}: vehicle\n" + place(f"at_{i}", 50.0 + 7.0 * i, -2.95) for i in range(5))
    run = driven(tmp_path, declared, *(f"car_{i}.assign_position(at_{i})" for i in range(5)))
    assert min(speeds(run, 50.0, 90.0)) > 7.0


def test_a_parked_car_without_room_for_a_door_is_passed_slowly(tmp_path: Path) -> None:
    run = driven(tmp_path, "    car: vehicle\n" + place("at", 80.0, -2.1), "car.assign_position(at)")
    assert passes(run, "standing")
    assert min(speeds(run, 74.0, 84.0)) < 6.5
    assert max(speeds(run, 100.0, 140.0)) > 7.5


TRUCK = """    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 40m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 150m)
    to: odr_point = map.create_odr_point(road_id: "1", lane_id: "-2", s: 175m, t: 0.6m)
    lights: traffic_lights
    truck: vehicle with:
        keep(it.length == 8m)
        keep(it.width == 2.5m)
        keep(it.vehicle_category == vehicle_category!truck)
"""
"""A truck in the lane beside the car's, near to the line between."""


def past_truck(folder: Path, s: float, v: float) -> tuple[Drive, list[Tick]]:
    """The car drives past the truck that begins at a station (m) and is `v` (m/s) fast, untouched; and the ticks on
    which the car's middle is beside it.
    """
    declared = TRUCK + f'    from: odr_point = map.create_odr_point(road_id: "1", lane_id: "-2", s: {s}m, t: 0.6m)\n'
    lines = ("    truck.assign_position(from)", "    truck.drive() with:", "        along(map.create_path([to]))")
    do = "".join(f"        {line}\n" for line in ("serial:", *lines, f"        speed({v}mps)"))
    text = along_lanes(declared, "        lights.set_all(green)\n", do, seconds=40)
    run = drive(Path(share_file("config", "course", "course.xodr")), text, folder)
    assert (run.end, run.faults) == ("goal", [])
    near = [tick for tick in run.ticks if abs(tick.world.scene.obstacles.x[0, 0] - tick.world.ego.pose.x - 1.4) < 4.0]
    assert near
    return run, near


def test_a_truck_that_crawls_beside_the_lane_is_passed_slowly(tmp_path: Path) -> None:
    run, near = past_truck(tmp_path, 85.0, 0.8)
    assert passes(run, "slow vehicle")
    assert max(tick.world.ego.v for tick in near) < 6.5
    assert run.ticks[-1].stamp < 25.0, "it is not crept along"


def test_a_truck_that_keeps_the_road_s_pace_beside_the_lane_slows_nobody(tmp_path: Path) -> None:
    run, near = past_truck(tmp_path, 22.0, 7.0)
    assert not [tick for tick in run.ticks if tick.limit.reason is Reason.PASSING]
    assert max(tick.world.ego.v for tick in near) > 8.0
    assert run.ticks[-1].stamp < 21.0


@pytest.mark.parametrize("steps_out", [False, True])
def test_a_bus_that_stands_is_passed_so_that_one_that_steps_out_is_not_hit(tmp_path: Path, steps_out: bool) -> None:
    bus = "    bus: vehicle with:\n        keep(it.length == 12m)\n        keep(it.width == 2.5m)\n"
    declared = bus + place("stop", 80.0, -2.7) + "    walker: person\n" + place("kerb", 91.5, -4.0)
    declared += place("far_kerb", 91.5, 6.0)
    near = "wait walker.object_distance(reference: ego, direction: euclidean, mode: bounding_boxes) < 7m"
    walk = ("    walker.walk() with:", "        along(map.create_path([far_kerb]))", "        speed(1.5mps)")
    lines = ("serial:", "    walker.assign_position(kerb)", f"    {near}", *walk) if steps_out else ()
    run = driven(tmp_path, declared, "bus.assign_position(stop)", *lines)
    at_its_front = speeds(run, 82.0, 85.0)
    assert max(at_its_front) < 4.5
    assert bool(passes(run, "hidden")) or steps_out
    stood = min(speeds(run, 70.0, 100.0)) < 0.5
    assert stood is steps_out
    assert max(speeds(run, 100.0, 145.0)) > 7.5


@pytest.mark.clause("USE-5", "USE-2")
@pytest.mark.parametrize(("aside", "least", "most"), [(0.0, 58.0, 66.0), (-1.75, 4.5, 10.0)])
def test_one_that_stays_in_the_lane_is_gone_round_in_the_end(
    tmp_path: Path, aside: float, least: float, most: float
) -> None:
    """After the car has stood for it, slowly, and with room between: soon within the lane, else after a minute."""
    declared = "    walker: person\n" + place("stays", 60.0, aside)
    run = driven(tmp_path, declared, "walker.assign_position(stays)", seconds=150)
    stood = [tick for tick in run.standing() if tick.limit.reason is Reason.PEDESTRIAN]
    assert least < stood[-1].stamp - stood[0].stamp < most
    assert max(speeds(run, 53.0, 60.0)) < 3.5
    assert (states.SOLID_LINE_FREE in run.states()) is (aside == 0.0)


BAYS = """    car: vehicle
    start: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 5m)
    goal: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 150m)
    at: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 66m)
"""


@pytest.mark.clause("NOR-6", "NOR-9")
def test_a_car_that_stands_in_the_lane_is_passed_over_free_bays_in_one_go(tmp_path: Path) -> None:
    run = drive(
        Path(share_file("config", "course", "course.xodr")),
        along_lanes(BAYS, "        car.assign_position(at)\n"),
        tmp_path,
    )
    assert (run.end, run.faults) == ("goal", [])
    beside = [tick for tick in run.ticks if tick.world.route is not None and not tick.world.on_reference_road]
    assert beside, "the rear axle is in the bays"
    assert {tick.state for tick in beside} == {states.NORMAL}
    assert min(tick.world.ego.v for tick in beside) > 2.0
