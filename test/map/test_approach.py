"""The zone before a junction in which lanes are not changed (NOR-2)."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from crossroads import HALF_M, LIGHT, crossroads, double_crossing
from traffic_drive import route_between

from map import xodr
from map.roundabout import roundabout
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.ahead import JunctionAhead, JunctionApproach, junctions_ahead
from tuling_fsm.map.road_map import RoadMap

ARM_M, LANE_M = 150.0, 3.5
ENTRY_S = ARM_M - 10.0


def _marks(*changes: tuple[float, str]) -> str:
    return "".join(f'<roadMark sOffset="{s}" type="{kind}"/>' for s, kind in changes)


def _road_to_junction(folder: Path, inner: str, outer: str = "solid", signals: str = "") -> RoadMap:
    """Two lanes and one without cars beside them come to a junction; `inner`, `outer` are the marks of the lanes."""
    lanes = [xodr.lane(-1, mark=inner), xodr.lane(-2, mark=outer), xodr.lane(-3, kind="shoulder")]
    through = [xodr.lane(-1, links=((-1,), (-1,))), xodr.lane(-2, links=((-2,), (-2,)))]
    into, out = xodr.road_link("junction", "9"), xodr.road_link("junction", "9", which="predecessor")
    between = xodr.road_link("road", "1", "end", "predecessor") + xodr.road_link("road", "2")
    links = "".join(f'<laneLink from="{n}" to="{n}"/>' for n in (-1, -2))
    return xodr.read(
        folder,
        _straight("1", 0.0, ARM_M, lanes, into, inside=signals),
        _straight("100", ARM_M, 20.0, through, between, "9"),
        _straight("2", ARM_M + 20.0, ARM_M, lanes, out),
        '<junction id="9"><connection id="0" incomingRoad="1" connectingRoad="100" contactPoint="start">'
        f"{links}</connection></junction>",
    )


def _straight(
    number: str, x: float, length: float, lanes: list[str], link: str, junction: str = "-1", inside: str = ""
) -> str:
    return xodr.road(
        [xodr.section(lanes, centre="solid")], number=number, geometries=xodr.geometry(0.0, x, 0.0, 0.0, length),
        length=length, link=link, junction=junction, inside=inside,
    )  # fmt: skip


def _ahead(road_map: RoadMap, lane: int = 1, approach: JunctionApproach | None = None) -> JunctionAhead:
    y = -LANE_M * (lane - 0.5)
    route = route_between(road_map, Pose(10.0, y, 0.0), Pose(2.0 * ARM_M, y, 0.0))
    (junction,) = junctions_ahead(road_map, route, 0.0, 400.0, approach or JunctionApproach())
    assert junction.s_from == pytest.approx(ENTRY_S, abs=0.01)
    return junction


@pytest.mark.clause("NOR-2")
@pytest.mark.parametrize(
    ("marks", "length"),
    [
        ([(0.0, "broken")], 10.0),
        ([(0.0, "broken"), (ARM_M - 6.0, "solid")], 10.0),
        ([(0.0, "broken"), (ARM_M - 35.0, "solid")], 35.0),
        ([(0.0, "solid"), (20.0, "broken"), (ARM_M - 35.0, "solid")], 35.0),
        ([(0.0, "broken"), (ARM_M - 50.0, "solid"), (ARM_M - 5.0, "broken")], 10.0),
        ([(0.0, "solid")], 60.0),
    ],
)
@pytest.mark.parametrize("lane", [1, 2])
def test_the_zone_is_as_long_as_the_lines_are_solid_within_bounds(
    tmp_path: Path, marks: list[tuple[float, str]], length: float, lane: int
) -> None:
    junction = _ahead(_road_to_junction(tmp_path, _marks(*marks)), lane)
    assert ENTRY_S - junction.approach_from == pytest.approx(length, abs=0.6)


@pytest.mark.clause("NOR-2")
def test_the_bounds_are_settable(tmp_path: Path) -> None:
    road_map = _road_to_junction(tmp_path, _marks((0.0, "broken"), (ARM_M - 35.0, "solid")))
    assert ENTRY_S - _ahead(road_map, approach=JunctionApproach(45.0, 60.0)).approach_from == pytest.approx(
        45.0, abs=0.6
    )
    assert ENTRY_S - _ahead(road_map, approach=JunctionApproach(5.0, 20.0)).approach_from == pytest.approx(
        20.0, abs=0.6
    )


@pytest.mark.clause("NOR-2")
def test_the_zone_is_measured_from_the_stop_line(tmp_path: Path) -> None:
    light = (
        f'<signals><signal id="7" s="{ARM_M - 8.0}" t="-8" orientation="+" dynamic="yes" type="1000001" subtype="-1"/>'
        "</signals>"
    )
    inner = _marks((0.0, "broken"), (ARM_M - 25.0, "solid"), (ARM_M - 8.0, "broken"))
    for marks, length in ((_marks((0.0, "broken")), 18.0), (inner, 25.0)):
        junction = _ahead(_road_to_junction(tmp_path, marks, signals=light))
        assert ENTRY_S - junction.approach_from == pytest.approx(length, abs=0.6)


@pytest.mark.clause("NOR-2")
def test_without_a_lane_beside_it_has_its_least_length(tmp_path: Path) -> None:
    road_map = crossroads(tmp_path, signs={"S": LIGHT})
    route = route_between(road_map, Pose(1.75, -110.0, 1.5708), Pose(1.75, 110.0, 1.5708))
    (junction,) = junctions_ahead(road_map, route, 0.0, 400.0)
    assert junction.s_from - junction.approach_from == pytest.approx(11.0, abs=0.1), "10 m before the line"


@pytest.mark.clause("NOR-2")
def test_the_zone_does_not_reach_into_the_junction_before(tmp_path: Path) -> None:
    road_map = double_crossing(tmp_path, 6.0)
    route = route_between(road_map, Pose(-110.0, -1.75, 0.0), Pose(3.0 * HALF_M + 100.0, -1.75, 0.0))
    first, second = junctions_ahead(road_map, route, 0.0, 400.0)
    assert second.approach_from == first.s_to < second.s_from


@pytest.mark.clause("INT-7", "NOR-2")
@pytest.mark.parametrize(("room", "spans"), [(2.1, [(1, 7)]), (1.9, [(1, 1), (3, 3), (5, 5), (7, 7)])])
def test_junctions_with_less_than_a_car_s_room_between_are_one(
    tmp_path: Path, room: float, spans: list[tuple[int, int]]
) -> None:
    """The third way out of a roundabout of four, with 2 m between them."""
    road_map = roundabout(tmp_path, 2.0)
    route = route_between(road_map, Pose(100.0, 1.75, math.pi), Pose(-1.75, -100.0, -0.5 * math.pi))
    found = junctions_ahead(road_map, route, 0.0, 400.0, JunctionApproach(room=room))
    assert [(each.first, each.last) for each in found] == spans
    assert [(each.s_from, each.s_to) for each in found] == [
        (route.lanes[first].s_from, route.lanes[last].s_to) for first, last in spans
    ]
    assert found[0].junction is road_map.junctions["21"]
    assert found[0].approach_from == pytest.approx(found[0].s_from - 10.0)
