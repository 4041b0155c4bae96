"""Junctions that the car could not leave are not entered (INT-7)."""

from __future__ import annotations

import pytest
from crossroads import HALF_M, double_crossing
from scenes import row
from traffic_drive import Drive, route_between

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

from .arms import EAST, ENTRY_S, NORTH, SOUTH, crossings, drive_from


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RoadMap]:
    return crossings(tmp_path_factory.mktemp("maps"))


@pytest.mark.clause("INT-7")
def test_the_junction_is_not_entered_when_it_cannot_be_left(maps: dict[str, RoadMap]) -> None:
    need = 4.689 + 1.0
    for room, blocked in ((need - 0.3, True), (need + 0.3, False)):
        drive = drive_from(maps["plain"], "S", "N", 8.0, 4.0)
        drive.objects = [row(7, 1.75, HALF_M + room + 2.25, NORTH)]
        drive.tick()
        assert bool(drive.walls(Reason.JUNCTION_EXIT_BLOCKED)) is blocked
    drive.objects = [row(7, 1.75, 2.0, NORTH, 0.5)]
    assert drive.tick().walls[0].reason is Reason.JUNCTION_EXIT_BLOCKED, "stuck in the middle"
    drive.objects = [row(7, 1.75, 2.0, NORTH, 5.0)]
    drive.tick(0.4)
    assert not drive.rules.walls, "on its way out"
    drive.objects = [row(7, -1.75, HALF_M + 3.0, SOUTH)]
    assert not drive.tick().walls, "in the other direction"


@pytest.mark.clause("INT-7", "INT-5")
@pytest.mark.medium
def test_what_stands_for_good_in_the_way_out_keeps_the_car_out_unless_somebody_directs_it(
    maps: dict[str, RoadMap],
) -> None:
    drive = drive_from(maps["plain"], "S", "N", 8.0, 4.0)
    drive.objects = [row(7, 1.75, HALF_M + 3.0, NORTH)]
    drive.drive(45.0)
    assert drive.v == 0.0 and drive.front <= ENTRY_S
    assert drive.walls(Reason.JUNCTION_EXIT_BLOCKED)
    drive.by_hand = True
    assert not drive.tick(0.5).walls


@pytest.mark.clause("INT-7")
def test_green_does_not_lead_into_a_full_junction(maps: dict[str, RoadMap]) -> None:
    drive = drive_from(maps["lit"], "S", "N", 10.0, 4.0)
    drive.lights = {4: Light.GREEN}
    drive.objects = [row(7, 1.75, HALF_M + 3.0, NORTH)]
    drive.tick(0.5)
    (wall,) = drive.rules.walls
    assert wall.reason is Reason.JUNCTION_EXIT_BLOCKED
    assert drive.wall_s(wall) == pytest.approx(ENTRY_S - 1.0, abs=0.05), "at the line"


@pytest.mark.clause("INT-7")
def test_two_junctions_without_room_between_are_entered_as_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    for between, first_waits in ((4.0, True), (16.0, False)):
        road_map = double_crossing(tmp_path_factory.mktemp("maps"), between)
        shift = 2.0 * HALF_M + between
        route = route_between(road_map, Pose(-110.0, -1.75, EAST), Pose(shift + 110.0, -1.75, EAST))
        drive = Drive(road_map, route, v=4.0)
        drive.put_front(ENTRY_S - 6.0)
        drive.objects = [row(7, shift + 1.75, 0.0, NORTH)]
        drive.tick()
        stops = [drive.wall_s(wall) for wall in drive.rules.walls]
        assert any(abs(s - (ENTRY_S - 0.5)) < 0.1 for s in stops) is first_waits
        assert any(abs(s - (ENTRY_S + shift - 0.5)) < 0.1 for s in stops)
