"""Whose turn it is at a junction, and how fast the car goes into it (INT-7, USE-13)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scenes import row
from traffic_drive import TICK_S, Drive

from tuling_fsm.behaviour.traffic.rules import slowed
from tuling_fsm.core.request import Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

from .arms import ENTRY_S, WEST, crossings, drive_from, other


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RoadMap]:
    return crossings(tmp_path_factory.mktemp("maps"))


def test_a_free_crossing_is_entered_without_a_stop_but_slowly(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", 60.0, 8.0)
    speeds = []
    while drive.front < ENTRY_S + 30.0:
        drive.drive(TICK_S)
        assert not drive.rules.walls
        if abs(drive.front - ENTRY_S) < 0.5:
            speeds.append(drive.v)
    assert 4.0 < max(speeds) <= drive.parameters.junction.entry_speed + 0.2
    assert drive.v > 6.0


@pytest.mark.clause("USE-13")
def test_the_entry_speed_lets_the_car_stop_before_the_junction_and_main_roads_are_free_of_it(
    maps: dict[str, RoadMap],
) -> None:
    drive = drive_from(maps["plain"], "S", "N", 30.0, 5.0)
    (zone,) = drive.tick().zones
    assert zone.speed**2 / (2.0 * drive.vehicle.emergency_decel) <= 2.5
    assert zone.s_from + drive.vehicle.front <= ENTRY_S - 2.0 and zone.s_to + drive.vehicle.front >= ENTRY_S
    (line,) = slowed(drive.world.lanes, (zone,), drive.s, 5.0) if drive.world else ()
    at = line.route_s0 + line.center.s
    assert np.all(line.limit[(at > zone.s_from) & (at < zone.s_to)] == zone.speed)
    assert np.all(line.limit[at < zone.s_from] > 13.0)
    assert not drive_from(maps["plain"], "S", "N", -5.0, 5.0).tick().zones
    assert not drive_from(maps["stops"], "S", "N", 20.0, 8.0).tick().zones
    assert drive_from(maps["stops"], "E", "W", 20.0, 8.0).tick().zones
    green = drive_from(maps["lit"], "S", "N", 20.0, 8.0)
    green.lights = {4: Light.GREEN}
    green.tick(0.4)
    assert not green.rules.zones


def test_a_zone_that_comes_up_late_is_eased_into(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", 12.0, 8.0)
    drive.tick()
    assert drive.world is not None
    (line,) = slowed(drive.world.lanes, drive.rules.zones, drive.s, 8.0)
    assert drive.rules.zones[0].speed + 0.5 < line.limit.min() < 8.0


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("goal", "arm", "gap", "v", "waits"),
    [
        ("N", "E", 10.0, 6.0, True),
        ("N", "W", 10.0, 6.0, True),
        ("N", "E", 100.0, 8.0, False),
        ("N", "N", 10.0, 9.0, False),
        ("W", "N", 10.0, 9.0, True),
        ("E", "N", 10.0, 12.0, False),
        ("E", "W", 10.0, 12.0, True),
        ("E", "E", 10.0, 12.0, False),
    ],
)
def test_only_those_whose_way_crosses_in_time_are_let_by(
    maps: dict[str, RoadMap], goal: str, arm: str, gap: float, v: float, waits: bool
) -> None:
    drive = drive_from(maps["plain"], "S", goal, 12.0, 5.0)
    drive.objects = [other(7, arm, gap, v)]
    walls = drive.tick().walls
    assert bool(walls) is waits
    if waits:
        (wall,) = walls
        assert (wall.reason, wall.blocker) == (Reason.JUNCTION_OCCUPIED, 7)
        assert drive.wall_s(wall) == pytest.approx(ENTRY_S - 0.5, abs=0.05)


@pytest.mark.clause("INT-7")
def test_first_come_first_served(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", 0.7, 0.0)
    drive.tick(2.0)
    drive.objects = [other(7, "E", 0.7, 0.0)]
    assert not drive.tick(0.5).walls, "the car was here first"
    drive = drive_from(maps["plain"], "S", "N", 20.0, 5.0)
    drive.objects = [other(7, "E", 0.7, 0.0)]
    drive.tick(1.0)
    drive.put_front(ENTRY_S - 0.7)
    drive.v = 0.0
    assert drive.tick(1.0).walls[0].blocker == 7, "the other was"


@pytest.mark.clause("INT-7", "USE-5")
def test_one_that_does_not_take_its_turn_is_passed(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", 20.0, 5.0)
    drive.objects = [other(7, "E", 0.7, 0.0)]
    drive.tick(0.5)
    drive.put_front(ENTRY_S - 0.7)
    drive.v = 0.0
    assert drive.tick(2.8).walls
    assert not drive.tick(3.0).walls


@pytest.mark.clause("INT-7", "DWELL-5", "SAF-4")
def test_a_clock_that_is_set_back_keeps_the_car_no_longer_at_its_line(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", 20.0, 5.0)
    drive.stamp, drive.objects = 2000.0, [other(7, "E", 0.7, 0.0)]
    drive.tick(0.5)
    drive.put_front(ENTRY_S - 0.7)
    drive.v = 0.0
    drive.tick(1.0)
    drive.stamp -= 1000.0
    assert drive.tick(2.8).walls, "the other came first"
    assert not drive.tick(3.0).walls


@pytest.mark.clause("INT-7")
def test_one_that_is_in_the_junction_is_let_out_first(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", 0.7, 0.0)
    drive.objects = [row(7, 8.0, 1.75, WEST, 3.0)]
    drive.tick(1.0)
    assert drive.rules.walls[0].blocker == 7
    drive.objects = [row(7, -8.0, 1.75, WEST, 3.0)]
    drive.tick(0.2)
    assert drive.rules.walls, "clear for a moment only"
    assert not drive.tick(0.3).walls


@pytest.mark.clause("INT-7")
def test_when_all_have_stood_for_long_the_car_goes(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", 0.7, 0.0)
    drive.parameters = drive.parameters.__class__(junction=drive.parameters.junction.__class__(passed_over=60.0))
    drive.objects = [row(7, 3.0, 1.75, WEST)]
    assert drive.tick(11.5).walls
    assert not drive.tick(1.2).walls


def test_inside_the_junction_there_is_no_wall_at_its_entry(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["plain"], "S", "N", -1.0, 4.0)
    drive.objects = [other(7, "E", 5.0, 6.0), other(8, "W", 5.0, 6.0)]
    assert not drive.tick().walls


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("goal", "arm", "lights", "waits"),
    [
        ("N", "N", {2: Light.GREEN}, False),
        ("W", "N", {2: Light.GREEN}, True),
        ("W", "N", {2: Light.RED}, False),
        ("N", "E", {1: Light.RED}, False),
        ("E", "W", {3: Light.RED}, False),
    ],
)
def test_at_green_only_a_turn_across_oncoming_traffic_waits(
    maps: dict[str, RoadMap], goal: str, arm: str, lights: dict[int, Light], waits: bool
) -> None:
    drive = drive_from(maps["lit"], "S", goal, 8.0, 5.0)
    drive.lights = {4: Light.GREEN, **lights}
    drive.tick(0.5)
    drive.objects = [other(7, arm, 14.0, 7.0)]
    drive.tick()
    assert bool(drive.walls(Reason.JUNCTION_OCCUPIED)) is waits


@pytest.mark.clause("INT-7")
@pytest.mark.medium
def test_the_time_at_red_gives_no_turn_before_those_that_start_at_green_as_well(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["lit"], "S", "W", 1.3, 0.0)
    drive.lights = {4: Light.RED, 2: Light.RED}
    drive.objects = [other(7, "N", 1.3, 0.0)]
    drive.tick(30.0)
    assert not drive.walls(Reason.JUNCTION_OCCUPIED)
    drive.lights = {4: Light.GREEN, 2: Light.GREEN}
    drive.tick(2.8)
    assert drive.walls(Reason.JUNCTION_OCCUPIED), "the one opposite goes straight on for all the car knows"
    drive.tick(4.5)
    assert not drive.rules.walls, "it does not move"


@pytest.mark.clause("INT-7")
def test_signs_decide_which_gives_way(maps: dict[str, RoadMap]) -> None:
    minor = drive_from(maps["minor"], "S", "N", 0.7, 0.0)
    minor.tick(3.0)
    minor.objects = [other(7, "E", 15.0, 8.0)]
    assert minor.tick().walls, "the car was here first, but the other has the main road"
    main = drive_from(maps["stops"], "S", "N", 12.0, 7.0)
    main.objects = [other(7, "E", 12.0, 5.0)]
    assert not main.tick().walls, "it has the stop sign"
    main.objects = [other(7, "E", 3.0, 9.0)]
    assert main.tick().walls, "it will not stop there"


def _footprint(drive: Drive) -> tuple[float, ...]:
    pose, ahead = drive.route.reference.at(drive.s), 0.5 * (drive.vehicle.front - drive.vehicle.rear_overhang)
    x, y = pose.x + ahead * math.cos(pose.heading), pose.y + ahead * math.sin(pose.heading)
    return x, y, pose.heading


def _touch(one: Drive, two: Drive) -> bool:
    """Whether two cars' outlines come nearer than 0.2 m (circles along their axes)."""
    points = []
    for drive in (one, two):
        x, y, heading = _footprint(drive)
        points.append([(x + k * math.cos(heading), y + k * math.sin(heading)) for k in (-1.5, 0.0, 1.5)])
    return min(math.dist(a, b) for a, b in itertools.product(*points)) < 1.95


@pytest.mark.slow
@pytest.mark.clause("INT-7")
@pytest.mark.parametrize("seed", range(5))
def test_four_cars_under_the_same_rules_all_get_through_without_touching(maps: dict[str, RoadMap], seed: int) -> None:
    rng = np.random.default_rng(seed)
    cars = []
    for arm in "SENW":
        goal = "NESW".replace(arm, "")[int(rng.integers(3))]
        cars.append(drive_from(maps["plain"], arm, goal, float(rng.uniform(15.0, 45.0)), float(rng.uniform(2.0, 8.0))))
    for _ in range(round(45.0 / TICK_S)):
        shapes = [_footprint(car) for car in cars]
        for i, car in enumerate(cars):
            car.objects = [
                row(k, *shapes[k], cars[k].v, length=4.69, width=1.94) for k in range(4) if k != i and cars[k].s < 190.0
            ]
        for car in cars:
            if car.s < 190.0:
                car.drive(TICK_S)
        if all(car.s > 150.0 for car in cars):
            return
        for one, two in itertools.combinations([car for car in cars if ENTRY_S < car.front < ENTRY_S + 28.0], 2):
            assert not _touch(one, two)
    pytest.fail(f"some wait for ever, metres into the junction: {[round(car.front - ENTRY_S, 1) for car in cars]}")
