"""Conflicts in a junction, agents that come along them, and what is remembered of a junction, tick by tick."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from crossroads import HALF_M, LIGHT, STOP_SIGN, YIELD_SIGN, crossroads
from scenes import row
from traffic_drive import Drive, route_between

from tuling_fsm.behaviour.traffic.conflicts import OpposingTurn, conflict_vehicles, is_light, passage_through
from tuling_fsm.behaviour.traffic.junctions import junction_rules
from tuling_fsm.behaviour.traffic.memory import JunctionMemory
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.map.ahead import JunctionAhead, StopLineAhead
from tuling_fsm.map.lanes import Junction, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.lane_index import lane_index

NORTH, SOUTH, EAST, WEST = 0.5 * math.pi, -0.5 * math.pi, 0.0, math.pi
START = Pose(1.75, -110.0, NORTH)
GOALS = {"N": Pose(1.75, 110.0, NORTH), "E": Pose(110.0, -1.75, EAST), "W": Pose(-110.0, 1.75, WEST)}
ENTRY_S = 110.0 - HALF_M


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"))


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "signed", {"E": STOP_SIGN, "W": YIELD_SIGN, "N": LIGHT})


def drive_to(road_map: RoadMap, goal: str, gap: float = 0.7, v: float = 0.0) -> Drive:
    drive = Drive(road_map, route_between(road_map, START, GOALS[goal]), v=v)
    drive.put_front(ENTRY_S - gap)
    return drive


def looking(drive: Drive, **changes: Any) -> TrafficSituation:
    """What the rules look at on the latest tick."""
    assert drive.world is not None
    world = replace(drive.world, **changes)
    index = lane_index(drive.road_map)
    return TrafficSituation(world, drive.route, drive.road_map, index, drive.vehicle, drive.parameters, False)


def ways(now: TrafficSituation) -> dict[tuple[str, str], tuple[OpposingTurn, bool]]:
    """Which agent turns across which, and whether it has a sign, by the arms from and to which the other way leads."""
    (junction,) = now.world.junctions
    arms = {"1": "E", "2": "N", "3": "W", "4": "S"}
    found = {}
    for conflict in passage_through(now, junction).conflicts:
        lane = now.road_map.lanes[now.index.ids[conflict.lane]]
        from_to = arms[lane.predecessors[0].road], arms[lane.successors[0].road]
        found[from_to] = conflict.across, conflict.signed
        assert junction.s_from - 0.1 <= conflict.own_from < conflict.own_to <= junction.s_to + 0.1
        assert 0.0 <= conflict.other_from < conflict.other_to <= lane.length
    return found


NOBODY, OTHER, CAR = OpposingTurn.NONE, OpposingTurn.OTHER, OpposingTurn.CAR


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("goal", "left_hand", "expected"),
    [
        (
            "N", False,
            {"EW": NOBODY, "ES": NOBODY, "EN": NOBODY, "WE": NOBODY, "WN": NOBODY, "NE": OTHER},
        ),
        ("E", False, {"WE": NOBODY, "NE": OTHER}),
        ("E", True, {"WE": NOBODY, "NE": CAR}),
        (
            "W", False,
            {"EW": NOBODY, "ES": NOBODY, "WE": NOBODY, "WN": NOBODY, "NS": CAR, "NW": CAR},
        ),
    ],
)  # fmt: skip
def test_which_ways_meet_the_car_s_and_which_turn_across(
    plain: RoadMap, goal: str, left_hand: bool, expected: dict[str, OpposingTurn]
) -> None:
    drive = drive_to(replace(plain, left_hand=left_hand), goal)
    drive.tick()
    found = {"".join(way): across for way, (across, _) in ways(looking(drive)).items()}
    assert {way: across for way, across in found.items() if way in expected} == expected
    assert all(not way.startswith("S") for way in found), "those behind the car"


@pytest.mark.clause("INT-7")
def test_those_that_have_a_sign(signed: RoadMap) -> None:
    drive = drive_to(signed, "N")
    drive.tick()
    now = looking(drive)
    for (begin, _), (_, sign) in ways(now).items():
        assert sign is (begin in "EW")
    (junction,) = now.world.junctions
    assert passage_through(now, junction).has_priority
    assert passage_through(now, junction) is passage_through(now, junction)
    left = drive_to(signed, "W")
    left.tick()
    (junction,) = looking(left).world.junctions
    assert not passage_through(looking(left), junction).has_priority


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize("gap", [20.0, 6.0, -0.9])
def test_one_that_comes_is_measured_from_its_bumper(signed: RoadMap, gap: float) -> None:
    drive = drive_to(signed, "N")
    drive.objects = [row(7, HALF_M + gap + 2.25, 1.75, WEST, 3.0)]
    drive.tick()
    now = looking(drive)
    (junction,) = now.world.junctions
    found = conflict_vehicles(now, passage_through(now, junction))
    assert len(found) == 3
    assert [other.likeliest for other in found] == [True, False, False]
    for other in found:
        assert (other.id, other.row, other.speed, other.inside) == (7, 0, 3.0, False)
        conflict = other.conflict
        assert other.to_conflict == pytest.approx(gap + conflict.other_from, abs=0.05)
        assert other.past_conflict == pytest.approx(gap + conflict.other_to + 4.5, abs=0.05)
        assert other.to_stop == pytest.approx(gap - 1.0, abs=0.05), "its line is 1 m before the junction"
        assert other.line >= 0
        assert not is_light(now, other.line)


@pytest.mark.clause("INT-7")
def test_one_that_is_inside_and_one_that_has_left(plain: RoadMap) -> None:
    for x, inside, many in (
        (HALF_M + 0.9, True, 1),
        (HALF_M + 1.4, False, 1),
        (3.0, True, 1),
        (-2.0, True, 1),
        (-4.0, True, 0),
    ):
        drive = drive_to(plain, "N")
        drive.objects = [row(7, x, 1.75, WEST, 3.0)]
        drive.tick()
        now = looking(drive)
        (junction,) = now.world.junctions
        straight = [
            other
            for other in conflict_vehicles(now, passage_through(now, junction))
            if now.road_map.lanes[now.index.ids[other.conflict.lane]].successors[0].road == "3"
        ]
        assert len(straight) == many
        for other in straight:
            assert other.inside is inside
            assert other.line == -1
    drive.objects = []
    drive.tick()
    assert conflict_vehicles(looking(drive), passage_through(looking(drive), junction)) == []


@pytest.mark.clause("INT-7", "USE-1")
def test_what_is_remembered_of_a_junction(plain: RoadMap) -> None:
    drive = drive_to(plain, "N")
    crosses = [row(7, 8.0, 1.75, WEST, 3.0)]

    def memory() -> JunctionMemory:
        drive.tick()
        (kept,) = drive.rules.memory.junctions.values()
        return kept

    first = memory()
    arrived = drive.stamp
    assert (first.arrived, first.held, first.clear_since, first.going) == (arrived, False, math.inf, True)
    drive.objects = crosses
    held = memory()
    assert (held.arrived, held.held, held.clear_since, held.going) == (arrived, True, math.inf, False)
    drive.objects = []
    clear = memory()
    since = drive.stamp
    assert (clear.held, clear.clear_since, clear.going) == (True, since, False)
    (wall,) = drive.rules.walls
    assert (wall.reason, wall.blocker, wall.detail) == (Reason.JUNCTION_OCCUPIED, -1, "clear for a moment only")
    assert memory().clear_since == since
    drive.objects = crosses
    assert memory().clear_since == math.inf, "it begins anew"
    drive.objects = []
    # What had been seen for 0.15 s goes on for as long.
    drive.tick(0.45)
    assert drive.rules.walls
    after = memory()
    assert not drive.rules.walls
    assert (after.held, after.clear_since, after.going) == (False, math.inf, True)


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(("gap", "v", "noted"), [(5.9, 3.9, True), (6.1, 3.9, False), (5.9, 4.1, False)])
def test_one_that_has_come_to_its_line(plain: RoadMap, gap: float, v: float, noted: bool) -> None:
    # Without a line the car stops half a metre before the junction.
    drive = drive_to(plain, "N", gap + 0.5, v)
    drive.tick()
    (kept,) = drive.rules.memory.junctions.values()
    assert math.isfinite(kept.arrived) is noted
    assert kept.going is noted
    other = drive_to(plain, "N", 30.0, 5.0)
    other.objects = [row(7, HALF_M + gap + 2.25, 1.75, WEST, v)]
    other.tick()
    (kept,) = other.rules.memory.junctions.values()
    assert kept.other_arrivals == ({7: other.stamp} if noted else {})
    if noted:
        other.tick()
        (kept,) = other.rules.memory.junctions.values()
        assert kept.other_arrivals == {7: pytest.approx(other.stamp - 0.05)}


def signals(now: TrafficSituation, *gaps: tuple[float, str, int]) -> tuple[StopLineAhead, ...]:
    lane = now.route.lanes[0].lane
    return tuple(
        StopLineAhead(now.front + gap, StopLine(lane, 0.0, 0.0, 0.0, 0.0, 0.0, kind, number))
        for gap, kind, number in gaps
    )


@pytest.mark.clause("INT-7", "INT-2")
@pytest.mark.parametrize(
    ("lines", "closed", "lights", "walls"),
    [
        # The junction begins 10 m ahead; a car comes from the right. What counts: no line, a sign, green, red.
        ((), (), {}, [9.5]),
        (((8.0, "stop", 1),), (), {}, [8.0]),
        (((8.0, "light", 1),), (), {1: Light.GREEN}, []),
        (((8.0, "light", 1),), (), {1: Light.YELLOW}, []),
        (((8.0, "light", 1),), (), {}, [8.0]),
        (((8.0, "light", 1),), (8.0,), {1: Light.RED}, []),
        (((7.0, "light", 1), (8.0, "light", 2)), (7.0,), {1: Light.RED, 2: Light.GREEN}, []),
        (((7.0, "light", 1), (8.0, "stop", 2)), (), {1: Light.GREEN}, []),
        (((7.0, "light", 1), (8.0, "stop", 2)), (7.0,), {1: Light.RED}, []),
        # The last line that belongs to the junction is where to stop, up to 3 m inside and 25 m before it.
        (((12.9, "stop", 1),), (), {}, [12.9]),
        (((13.1, "stop", 1),), (), {}, [9.5]),
        (((-14.9, "stop", 1), (5.0, "stop", 2)), (), {}, [5.0]),
        # A line behind the bumper by more than its tolerance is past: the last place before the junction is left.
        (((-0.4, "stop", 1),), (), {}, [-0.4]),
        (((-0.6, "stop", 1),), (), {}, [9.5]),
    ],
)
def test_where_the_car_stops_for_a_junction_and_what_rules_there(
    plain: RoadMap,
    lines: tuple[tuple[float, str, int], ...],
    closed: tuple[float, ...],
    lights: dict[int, Light],
    walls: list[float],
) -> None:
    drive = drive_to(plain, "N", 10.0, 1.0)
    drive.objects = [row(7, HALF_M + 12.25, 1.75, WEST, 6.0)]
    drive.tick()
    now = looking(drive, lights=lights)
    now = replace(now, world=replace(now.world, stop_lines=signals(now, *lines)))
    found, kept, _ = junction_rules(now, {}, (), [now.front + gap for gap in closed])
    assert [s - now.front for s, _ in found] == pytest.approx(walls)
    assert len(kept) == (not closed)


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(("gap", "stop"), [(8.5, 29.5), (12.5, 12.5), (6.0, 29.5)])
def test_a_line_belongs_to_the_next_junction_after_it(plain: RoadMap, gap: float, stop: float) -> None:
    drive = drive_to(plain, "N", 30.0, 6.0)
    drive.objects = [row(7, HALF_M + 12.25, 1.75, WEST, 6.0)]
    drive.tick()
    now = looking(drive)
    (main,) = now.world.junctions
    before = tuple(
        JunctionAhead(now.front + low, now.front + high, Junction("", (), {}, False), 0, 0, now.front + low)
        for low, high in ((5.0, 8.0), (9.0, 12.0))
    )
    lines = signals(now, (gap, "stop", 1))
    now = replace(now, world=replace(now.world, junctions=(*before, main), stop_lines=lines))
    _, _, zones = junction_rules(now, {}, (), ())
    ((s, _),) = junction_rules(now, {}, (), ())[0] or (((now.front + stop), None),)
    assert s - now.front == pytest.approx(stop)
    assert [zone.s_from - now.world.route_s + 2.0 for zone in zones] == pytest.approx([stop] * len(zones))
