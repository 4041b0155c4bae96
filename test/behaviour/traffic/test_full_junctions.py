"""Junctions that the car could not leave are not entered (INT-7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from crossroads import HALF_M, double_crossing
from scenes import row
from traffic_drive import Drive, route_between

from tuling_fsm.behaviour.traffic.conflicts import conflict_vehicles, passage_through
from tuling_fsm.behaviour.traffic.junctions import junction_rules
from tuling_fsm.behaviour.traffic.lines import lines_ahead
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.map.ahead import StopLineAhead
from tuling_fsm.map.lanes import StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

from .arms import EAST, ENTRY_S, IN, NORTH, OUT, SOUTH, WEST, crossings, drive_from
from .test_crossings import looking


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
def test_the_first_of_two_junctions_with_little_room_between_is_waited_before(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    for between, first_waits in ((6.0, True), (16.0, False)):
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


JOINED_M = 2.0
SHIFT_M = 2.0 * HALF_M + JOINED_M
AFTER_FIRST_S = ENTRY_S + 2.0 * HALF_M
"""Where the car is out of the first of the joined junctions, and on the link."""


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Two crossings with 2 m of road between them."""
    return double_crossing(tmp_path_factory.mktemp("maps"), JOINED_M)


def _through_both(joined: RoadMap, front: float) -> Drive:
    drive = Drive(joined, route_between(joined, IN["W"], Pose(SHIFT_M + 110.0, -1.75, EAST)), v=4.0)
    drive.put_front(front)
    return drive


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("in_the_way", "reason"),
    [
        (row(7, SHIFT_M + 1.75, -10.0, NORTH, 3.0), Reason.JUNCTION_OCCUPIED),
        (row(7, SHIFT_M + 1.75, 0.0, NORTH), Reason.JUNCTION_OCCUPIED),
        (row(7, SHIFT_M + HALF_M + 6.0, -1.75, EAST), Reason.JUNCTION_EXIT_BLOCKED),
    ],
)
def test_joined_junctions_are_entered_as_one_and_who_is_inside_goes_on(
    joined: RoadMap, in_the_way: tuple[float, ...], reason: Reason
) -> None:
    drive = _through_both(joined, ENTRY_S - 6.0)
    drive.objects = [in_the_way]
    drive.tick()
    (wall,) = drive.rules.walls
    assert (wall.reason, drive.wall_s(wall)) == (reason, pytest.approx(ENTRY_S - 0.5, abs=0.05))
    for front in (ENTRY_S + 3.0, AFTER_FIRST_S - 3.0, AFTER_FIRST_S + 0.5):
        inside = _through_both(joined, front)
        inside.objects = [in_the_way]
        inside.tick()
        assert not inside.rules.walls


@pytest.mark.clause("INT-7")
def test_one_that_comes_out_of_a_joined_junction_is_inside_on_the_link_too(joined: RoadMap) -> None:
    """From the east it comes to the second junction, and on to the first, through which the car goes north."""
    for x, inside in ((SHIFT_M, True), (HALF_M + 1.0, True), (SHIFT_M + HALF_M + 5.0, False)):
        drive = Drive(joined, route_between(joined, IN["S"], OUT["N"]), v=1.0)
        drive.put_front(ENTRY_S - 3.0)
        drive.objects = [row(7, x, 1.75, WEST, 4.0)]
        drive.tick()
        now = looking(drive)
        (junction,) = now.world.junctions
        found = conflict_vehicles(now, passage_through(now, junction))
        assert found and {other.inside for other in found} == {inside}


@pytest.mark.clause("INT-7", "INT-2")
@pytest.mark.parametrize(("light", "walls"), [(Light.GREEN, 1), (Light.RED, 0)])
def test_a_light_on_the_link_between_joined_junctions_does_not_give_the_way_into_the_first(
    joined: RoadMap, light: Light, walls: int
) -> None:
    """One has come to the first junction before the car; at red the light's own wall is before the junction."""
    drive = _through_both(joined, ENTRY_S - 6.0)
    drive.objects = [row(7, -1.75, HALF_M + 4.25, SOUTH, 1.5)]
    drive.tick()
    now = looking(drive, lights={5: light})
    line = StopLine(now.route.lanes[2].lane, 1.0, 0.0, 0.0, 0.0, 0.0, "light", 5)
    now = replace(now, world=replace(now.world, stop_lines=(StopLineAhead(AFTER_FIRST_S + 1.0, line),)))
    closed = [s for _, s in lines_ahead(now)] if light is Light.RED else []
    assert closed in ([], [pytest.approx(ENTRY_S - 0.5)])
    found, _, _ = junction_rules(now, {}, (), closed)
    assert len(found) == walls


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize("sign", [True, False])
def test_a_green_light_before_joined_junctions_gives_no_way_over_who_comes_into_the_second_without_one(
    joined: RoadMap, sign: bool
) -> None:
    """Nor before a sign that the car has on the link."""
    drive = _through_both(joined, ENTRY_S - 6.0)
    drive.objects = [row(7, SHIFT_M + 1.75, -HALF_M - 20.0, NORTH, 8.0)]
    drive.tick()
    now = looking(drive, lights={5: Light.GREEN})
    lights = StopLineAhead(ENTRY_S - 0.5, StopLine(now.route.lanes[0].lane, 0.0, 0.0, 0.0, 0.0, 0.0, "light", 5))
    gives_way = StopLine(now.route.lanes[2].lane, 1.0, 0.0, 0.0, 0.0, 0.0, "yield", -1)
    lines = (lights, StopLineAhead(AFTER_FIRST_S + 1.0, gives_way))[: 1 + sign]
    found, _, _ = junction_rules(replace(now, world=replace(now.world, stop_lines=lines)), {}, (), [])
    assert [wall.reason for _, wall in found] == [Reason.JUNCTION_OCCUPIED]
