"""Lights and signs, where they hold, and where cars stop for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from traffic_drive import route_between

from map import towns, xodr
from map.merging import LIGHTS, LINES_M, merging
from map.ways import route_in
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.ahead import stop_lines_ahead
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.right_of_way import has_sign
from tuling_fsm.sim.baselines.route_profile import RouteProfile
from tuling_fsm.sim.baselines.stop_lines import lines_along


def signal(
    number: str, kind: str = "1000001", s: float = 1.0, orientation: str = "-", inside: str = "", **more: str
) -> str:
    others = "".join(f' {name}="{value}"' for name, value in more.items())
    return (
        f'<signal id="{number}" s="{s}" t="4" orientation="{orientation}" dynamic="yes" type="{kind}" subtype="-1"'
        f"{others}>{inside}</signal>"
    )


def signals(*texts: str) -> str:
    return f"<signals>{''.join(texts)}</signals>"


def valid(first: int, last: int) -> str:
    return f'<validity fromLane="{first}" toLane="{last}"/>'


def test_a_light_on_the_approach_holds_beside_itself(tmp_path: Path) -> None:
    road_map = towns.crossing(tmp_path, {1: signals(signal("7", s=2.0))})
    (line,) = road_map.stop_lines
    lane = road_map.lanes[LaneId("1", 0, 1)]
    assert (line.lane, line.kind, line.signal) == (lane.id, "light", 7)
    assert line.s == pytest.approx(lane.length - 2.0)
    assert (line.x0, line.x1) == pytest.approx((14.0, 14.0))
    assert sorted((line.y0, line.y1)) == pytest.approx([0.0, 3.5], abs=1e-9)
    assert road_map.stop_lines_of(lane.id) == (line,)
    assert road_map.signals[7].junction == "9"
    assert road_map.signals[7].pose[:2] == pytest.approx((14.0, 4.0))
    assert road_map.junctions["9"].has_lights


@pytest.mark.parametrize(("orientation", "s"), [("-", 0.5), ("+", 0.5)])
def test_a_sign_at_the_edge_of_a_junction_holds_for_vehicles_that_come_to_it(
    tmp_path: Path, orientation: str, s: float
) -> None:
    """Some write which way it faces: no vehicle has to stop where it has just left the junction."""
    road_map = towns.crossing(tmp_path, {1: signals(signal("7", s=s, orientation=orientation))})
    (line,) = road_map.stop_lines
    assert line.lane == LaneId("1", 0, 1)
    assert line.s == pytest.approx(road_map.lanes[line.lane].length - s)


def test_farther_on_a_signal_holds_for_those_that_it_says(tmp_path: Path) -> None:
    road_map = towns.crossing(tmp_path, {1: signals(signal("7", s=20.0, orientation="+"))})
    (line,) = road_map.stop_lines
    assert (line.lane, line.s) == (LaneId("1", 0, -1), pytest.approx(20.0))


def test_a_light_in_the_junction_holds_where_the_approach_ends(tmp_path: Path) -> None:
    """As CARLA's towns write it: valid for no lane of its own road, while references on connecting roads say which."""
    reference = (
        '<signalReference id="7" s="3" t="0" orientation="+"><validity fromLane="-1" toLane="-1"/></signalReference>'
    )
    road_map = towns.crossing(
        tmp_path,
        {
            2: signals(signal("7", inside=valid(0, 0))),
            301: signals(reference),
            302: signals(reference.replace('orientation="+"', 'orientation="-"')),
        },
    )
    (line,) = road_map.stop_lines
    assert (line.lane, line.s) == (LaneId("3", 0, 1), pytest.approx(towns.ARM_M))


def test_a_signal_valid_for_no_lane_that_nobody_refers_to_holds_for_its_road(tmp_path: Path) -> None:
    road_map = towns.crossing(tmp_path, {1: signals(signal("7", inside=valid(0, 0)))})
    assert [line.lane for line in road_map.stop_lines] == [LaneId("1", 0, 1)]


@pytest.mark.parametrize(
    ("kind", "country", "expected"),
    [
        ("1000001", "OpenDRIVE", "light"),
        ("1000011", "", "light"),
        ("1000002", "OpenDRIVE", None),
        ("206", "OpenDRIVE", "stop"),
        ("206", "DE", "stop"),
        ("205", "", "yield"),
        ("294", "DEU", "stop"),
        ("R1-1", "US", "stop"),
        ("R1-2", "USA", "yield"),
        ("206", "CN", None),
        ("274", "DE", None),
    ],
)
def test_catalogue(tmp_path: Path, kind: str, country: str, expected: str | None) -> None:
    road_map = towns.crossing(tmp_path, {1: signals(signal("7", kind, country=country))})
    assert [line.kind for line in road_map.stop_lines] == ([expected] if expected else [])
    assert len(road_map.signals) == 1


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize(("kind", "light"), [("1.000.001", True), ("1.000.011", True), ("1.000.002", False)])
def test_a_light_may_be_numbered_in_thousands(tmp_path: Path, kind: str, light: bool) -> None:
    """As some tables print them."""
    road_map = towns.crossing(tmp_path, {1: signals(signal("7", kind, country="OpenDRIVE"))})
    assert [line.kind for line in road_map.stop_lines] == ["light"] * light
    assert road_map.signals[7].type == kind.replace(".", "")
    assert road_map.warnings == ()


def semantics(*priorities: str) -> str:
    return f"<semantics>{''.join(f'<priority type={chr(34)}{each}{chr(34)}/>' for each in priorities)}</semantics>"


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize(
    ("kind", "country", "priorities", "expected"),
    [
        ("601.1", "GB", ["stop"], "stop"),
        ("52/24", "AT", ["4way"], "stop"),
        ("602", "GB", ["yield"], "yield"),
        ("light", "CN", ["trafficLight"], "light"),
        ("line", "CN", ["stopLine"], "stop"),
        ("206", "DE", ["priorityRoad"], None),
        ("206", "DE", ["yield", "stop"], "stop"),
        ("206", "DE", [], "stop"),
        ("1000002", "OpenDRIVE", ["trafficLight"], None),
        ("1000001", "OpenDRIVE", ["noTurnOnRed"], "light"),
        ("R1-3", "US", ["4Way"], "stop"),
    ],
)
def test_semantics_hold_before_any_catalogue(
    tmp_path: Path, kind: str, country: str, priorities: list[str], expected: str | None
) -> None:
    head = signal("7", kind, country=country, inside=semantics(*priorities))
    road_map = towns.crossing(tmp_path, {1: signals(head)})
    assert [line.kind for line in road_map.stop_lines] == ([expected] if expected else [])
    assert road_map.warnings == ()


def test_signals_of_unknown_meaning_are_told_of_at_once(tmp_path: Path) -> None:
    """Those of catalogues that are not known, and dynamic ones that no catalogue has."""
    known = signal("7", "274", country="DE"), signal("8", "1000002"), signal("9", "206", country="OpenDRIVE")
    unknown = [signal(str(i), "601.1", country="GB") for i in (10, 11)] + [signal("12", "board", country="OpenDRIVE")]
    road_map = towns.crossing(tmp_path, {1: signals(*known), 2: signals(*unknown)})
    (warning,) = road_map.warnings
    assert "signals of which it is not known what they mean: 3 (GB 601.1, OpenDRIVE board)" in warning


def linked(kind: str, number: str, said: str = "stopLine") -> str:
    return f'<reference elementType="{kind}" elementId="{number}" type="{said}"/>'


LINE_AT = 25.0
DRAWN = f'<object id="33" type="roadMark" {{}} s="{LINE_AT}" t="1.75" hdg="1.5707963" length="3.3" width="0.4"/>'


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize(
    ("link", "line"),
    [
        (linked("object", "33"), f"<objects>{DRAWN.format('name=' + chr(34) * 2)}</objects>"),
        (
            linked("object", "33", ""),
            f"<objects>{DRAWN.format('subtype=' + chr(34) + 'signalLines' + chr(34))}</objects>",
        ),
        (linked("signal", "33", "stopline"), signals(signal("33", "294", s=LINE_AT))),
        ("", signals(signal("33", "294", s=LINE_AT, inside='<dependency id="7" type="light"/>'))),
    ],
)
@pytest.mark.parametrize("road", [1, 3], ids=["on the road", "beyond the junction"])
def test_a_light_is_obeyed_at_the_stop_line_that_it_is_linked_to(
    tmp_path: Path, road: int, link: str, line: str
) -> None:
    """However far away it stands: OpenDRIVE 1.8 places signals where they are seen."""
    head = signals(signal("7", orientation="-" if road == 1 else "+", s=1.0 if road == 1 else 20.0, inside=link))
    inside = {1: line + head} if road == 1 else {1: line, 3: head}
    (found,) = towns.crossing(tmp_path, inside).stop_lines
    assert (found.lane, found.kind, found.signal) == (LaneId("1", 0, 1), "light", 7)
    assert found.s == pytest.approx(towns.ARM_M - LINE_AT, abs=0.05)


def test_a_crosswalk_with_the_id_of_a_stop_line_stays_one(tmp_path: Path) -> None:
    """Ids are unique by the standard, and not in every file."""
    walk = '<object id="33" type="crosswalk" s="5" t="0" hdg="1.5707963" length="7" width="4"/>'
    line = f"<objects>{DRAWN.format('name=' + chr(34) * 2)}</objects>"
    head = signals(signal("7", inside=linked("object", "33")))
    road_map = towns.crossing(tmp_path, {1: line + head, 2: f"<objects>{walk}</objects>"})
    assert [(found.kind, found.lane.road) for found in road_map.stop_lines] == [("light", "1")]
    assert len(road_map.crosswalks) == 1


def test_the_line_of_a_light_for_pedestrians_is_none_for_cars(tmp_path: Path) -> None:
    line = f"<objects>{DRAWN.format('name=' + chr(34) + 'StopLine' + chr(34))}</objects>"
    alone = towns.crossing(tmp_path, {1: line})
    assert [found.kind for found in alone.stop_lines] == ["stop"]
    light = signals(signal("7", "1000002", inside=linked("object", "33")))
    assert towns.crossing(tmp_path, {1: line + light}).stop_lines == ()


def test_several_heads_make_one_stop_line_a_lane_and_a_light_outranks_signs(tmp_path: Path) -> None:
    heads = signals(signal("5", "205"), signal("6", "1000011"), signal("7"), signal("8", "294", s=3.0))
    road_map = towns.crossing(tmp_path, {1: heads})
    (line,) = road_map.stop_lines
    assert (line.kind, line.signal) == ("light", 6)
    assert line.s == pytest.approx(towns.ARM_M - 3.0), "the painted line says where"


def test_painted_stop_lines(tmp_path: Path) -> None:
    """Paint moves the line of a sign; alone it is a stop."""
    paint = '<object id="1" type="roadMark" name="StopLine" s="4" t="1.75" hdg="1.5707963" length="3.3" width="0.4"/>'
    objects = f"<objects>{paint}</objects>"
    road_map = towns.crossing(tmp_path, {1: signals(signal("5", "206")) + objects, 2: objects})
    by_lane = {line.lane.road: line for line in road_map.stop_lines}
    assert by_lane["1"].signal == 5
    assert by_lane["1"].s == pytest.approx(towns.ARM_M - 4.0, abs=0.05)
    assert (by_lane["2"].kind, by_lane["2"].signal) == ("stop", -1)


def test_numbers_are_ids_where_they_can_be(tmp_path: Path) -> None:
    road_map = towns.crossing(
        tmp_path, {1: signals(signal("7")), 2: signals(signal("7")), 3: signals(signal("a_1")), 4: signals(signal("3"))}
    )
    assert [(s.number, s.id, s.road) for s in road_map.signals.values()] == [
        (7, "7", "1"),
        (8, "7", "2"),
        (9, "a_1", "3"),
        (3, "3", "4"),
    ]


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("heads", [("274", "1000001"), ("1000001", "274"), ("206", "1000001")])
def test_a_light_with_the_id_of_a_sign_on_its_road_is_a_light_all_the_same(
    tmp_path: Path, heads: tuple[str, str]
) -> None:
    """As converters number them; with the id that perception tells of it by."""
    road_map = towns.crossing(tmp_path, {1: signals(*(signal("7", kind) for kind in heads))})
    assert [(line.kind, line.signal) for line in road_map.stop_lines] == [("light", 7)]
    assert [(found.number, found.type) for found in road_map.signals.values()] == [
        (7, "1000001"),
        (8, min(heads, key=len)),
    ]
    assert any("id of another one on their road: 1 (7)" in warning for warning in road_map.warnings)


def test_a_reference_to_an_id_that_two_on_a_road_have_is_one_to_each(tmp_path: Path) -> None:
    heads = signals(signal("7", "274"), signal("7", inside=valid(0, 0)))
    reference = '<signalReference id="7" s="3" t="0" orientation="+"/>'
    road_map = towns.crossing(tmp_path, {1: heads, 302: signals(reference)})
    assert [(line.lane.road, line.kind, line.signal) for line in road_map.stop_lines] == [("3", "light", 7)]


@pytest.mark.parametrize("other", ["1000001", "1000011"], ids=["alike", "one with an arrow"])
def test_heads_that_tell_the_same_are_one_signal(tmp_path: Path, other: str) -> None:
    lights = signals(signal("7", s=2.0), signal("7", other, s=1.0))
    road_map = towns.crossing(tmp_path, {1: lights})
    assert (len(road_map.signals), road_map.warnings) == (1, ())


def controller(name: str, *ids: str) -> str:
    return f'<controller id="{name}">{"".join(f"<control signalId={chr(34)}{i}{chr(34)}/>" for i in ids)}</controller>'


def test_controllers_and_phases(tmp_path: Path) -> None:
    lights = {arm: signals(signal(str(arm))) for arm in range(1, 5)}
    own = {9: '<controller id="A"/><controller id="B"/>'}
    road_map = towns.crossing(tmp_path, lights | own, controller("A", "1", "3"), controller("B", "2", "4"))
    assert road_map.controllers == {"A": (1, 3), "B": (2, 4)}
    assert road_map.junction_controllers == {"9": ("A", "B")}
    assert road_map.signals[3].controller == "A"
    assert road_map.phases == {"9": ((1, 3), (2, 4))}


def test_one_program_for_everything_is_no_phase(tmp_path: Path) -> None:
    lights = {arm: signals(signal(str(arm))) for arm in range(1, 5)}
    road_map = towns.crossing(tmp_path, lights, controller("A", "1", "2", "3", "4"))
    assert road_map.phases == {"9": ((1,), (2,), (3,), (4,))}


def test_a_reference_to_nothing_is_reported(tmp_path: Path) -> None:
    road_map = towns.crossing(
        tmp_path, {1: '<signals><signalReference id="44" s="1" t="0" orientation="+"/></signals>'}
    )
    assert any("signal 44" in warning for warning in road_map.warnings)


def test_a_light_valid_for_one_lane_of_several(tmp_path: Path) -> None:
    lanes = [xodr.lane(-1), xodr.lane(-2), xodr.lane(-3)]
    head = signals(signal("7", s=90.0, orientation="+", inside=valid(-3, -2)))
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)], inside=head))
    assert [line.lane.lane for line in road_map.stop_lines] == [-2, -3]


def test_numbers_stay_within_32_bits(tmp_path: Path) -> None:
    ids = {1: str(2**32 - 1), 2: "1", 3: "a"}
    road_map = towns.crossing(tmp_path, {arm: signals(signal(each)) for arm, each in ids.items()})
    assert list(road_map.signals) == [2**32 - 1, 1, 2]


def painted(number: str, s: float) -> str:
    """A stop line across lane 1 of an arm of the crossing."""
    size = 'hdg="1.5707963" length="3.3" width="0.4"'
    return f'<object id="{number}" type="roadMark" name="StopLine" s="{s}" t="1.75" {size}/>'


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("paint", ["", painted("1", 14.0) + painted("2", 1.0)])
def test_two_lights_well_apart_each_have_their_line(tmp_path: Path, paint: str) -> None:
    """That of a crossing for pedestrians shortly before the junction's."""
    lights = signals(signal("101", s=14.0), signal("102"))
    road_map = towns.crossing(tmp_path, {1: lights + f"<objects>{paint}</objects>"})
    lines = [(line.s, line.kind, line.signal) for line in road_map.stop_lines]
    assert lines == [
        (pytest.approx(towns.ARM_M - 14.0, abs=0.05), "light", 101),
        (pytest.approx(towns.ARM_M - 1.0, abs=0.05), "light", 102),
    ]


def test_painted_lines_tell_two_places_from_one(tmp_path: Path) -> None:
    """Heads 8 m apart are at one line if there is one, at two if there are two; paint beyond that of a sign is its."""
    lights = signals(signal("101", s=10.0), signal("102", s=2.0))
    found = {}
    for name, paint in (("one", [11.0]), ("two", [11.0, 3.0])):
        objects = "".join(painted(str(i), s) for i, s in enumerate(paint))
        road_map = towns.crossing(tmp_path, {1: lights + f"<objects>{objects}</objects>"})
        found[name] = [(round(towns.ARM_M - line.s), line.signal) for line in road_map.stop_lines]
    assert found == {"one": [(11, 101)], "two": [(11, 101), (3, 102)]}


LEFT, STRAIGHT = 201, 202
LIGHT_OF_WAY = {103: signals(signal(str(STRAIGHT), orientation="+")), 104: signals(signal(str(LEFT), orientation="+"))}
"""Two of the three ways from arm 1 have a light of their own."""


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("before", [0.0, 4.0])
def test_ways_on_with_lights_of_their_own_have_stop_lines_of_their_own(tmp_path: Path, before: float) -> None:
    """At the end of the lane that they share, or where the line is painted on it; the third way heeds the first."""
    inside = {**LIGHT_OF_WAY, 1: f"<objects>{painted('1', before)}</objects>" if before else ""}
    road_map = towns.crossing(tmp_path, inside)
    lane = LaneId("1", 0, 1)
    ways = {line.lane.road: line for line in road_map.stop_lines}
    assert {road: line.signal for road, line in ways.items()} == {"102": STRAIGHT, "103": STRAIGHT, "104": LEFT}
    assert {line.approach for line in ways.values()} == {lane}
    for line in ways.values():
        assert line.s == pytest.approx(-before, abs=0.05)
        assert road_map.place_of(line) == (lane, pytest.approx(towns.ARM_M - before, abs=0.05))
        assert (line.x0, line.x1) == pytest.approx((towns.HALF_M + before,) * 2, abs=0.05)
    assert road_map.stop_lines_across(lane) == tuple(ways.values())
    assert road_map.phases == {"9": ((STRAIGHT, LEFT),)}
    assert road_map.warnings == ()


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("before", [9.0, 12.0])
def test_a_way_without_a_light_of_its_own_heeds_that_of_the_lane_before(tmp_path: Path, before: float) -> None:
    """Also where that is so far before the junction that it is a place of its own."""
    road_map = towns.crossing(tmp_path, {104: LIGHT_OF_WAY[104], 1: signals(signal("9", s=before))})
    start = road_map.lanes[LaneId("1", 0, 1)].center.at(20.0)
    for arm in (2, 3, 4):
        route = route_between(road_map, start, road_map.lanes[LaneId(str(arm), 0, -1)].center.at(20.0))
        met = {ahead.line.signal for ahead in stop_lines_ahead(road_map, route, 0.0, 100.0)}
        assert met == ({9} if arm != 4 else {LEFT} if before < 10.0 else {9, LEFT})


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize(("arm", "light"), [(3, STRAIGHT), (4, LEFT)])
def test_a_route_meets_the_light_of_its_own_way(tmp_path: Path, arm: int, light: int) -> None:
    road_map = towns.crossing(tmp_path, {**LIGHT_OF_WAY, 1: f"<objects>{painted('1', 4.0)}</objects>"})
    start, goal = (road_map.lanes[LaneId(road, 0, n)].center.at(20.0) for road, n in (("1", 1), (str(arm), -1)))
    route = route_between(road_map, start, goal)
    (ahead,) = stop_lines_ahead(road_map, route, 0.0, 100.0)
    assert (ahead.s, ahead.line.signal) == (pytest.approx(towns.ARM_M - 4.0 - 20.0, abs=0.05), light)


@pytest.mark.clause("INT-2")
def test_a_route_that_ends_before_the_ways_part_meets_the_lights_of_all(tmp_path: Path) -> None:
    road_map = towns.crossing(tmp_path, {**LIGHT_OF_WAY, 1: f"<objects>{painted('1', 4.0)}</objects>"})
    start, goal = (road_map.lanes[LaneId("1", 0, 1)].center.at(s) for s in (20.0, towns.ARM_M - 1.0))
    route = route_between(road_map, start, goal)
    assert {ahead.line.signal for ahead in stop_lines_ahead(road_map, route, 0.0, 100.0)} == {LEFT, STRAIGHT}


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("lane", [1, 2])
def test_where_two_lanes_lead_into_one_way_each_route_meets_the_line_of_its_own(tmp_path: Path, lane: int) -> None:
    road_map = merging(tmp_path)
    route = route_in(road_map, lane, 1)
    (ahead,) = stop_lines_ahead(road_map, route, 0.0, 120.0)
    assert (ahead.s, ahead.line.signal) == (pytest.approx(LINES_M[lane] - 10.0, abs=0.3), LIGHTS[lane][0])
    (heeded,) = lines_along(road_map, RouteProfile(road_map, route, Vehicle()))
    assert (heeded.s, heeded.signal) == (pytest.approx(ahead.s, abs=0.1), LIGHTS[lane][0])


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(("roads", "kind"), [((104,), "stop"), ((103, 104), "yield")])
def test_signs_on_some_of_the_ways_on_hold_for_these_alone(tmp_path: Path, roads: tuple[int, ...], kind: str) -> None:
    sign = {"stop": "206", "yield": "205"}[kind]
    inside = {road: signals(signal(str(road), sign, orientation="+")) for road in roads}
    road_map = towns.crossing(tmp_path, {**inside, 1: f"<objects>{painted('1', 4.0)}</objects>"})
    start = road_map.lanes[LaneId("1", 0, 1)].center.at(20.0)
    for arm, road in ((2, 102), (3, 103), (4, 104)):
        route = route_between(road_map, start, road_map.lanes[LaneId(str(arm), 0, -1)].center.at(20.0))
        met = [
            (round(each.s), each.line.kind, each.line.signal) for each in stop_lines_ahead(road_map, route, 0.0, 100.0)
        ]
        assert met == ([(round(towns.ARM_M - 24.0), kind, road)] if road in roads else [])
        (way,) = (stretch.lane for stretch in route.lanes if road_map.lanes[stretch.lane].junction)
        assert has_sign(road_map, way) is (road in roads)


@pytest.mark.parametrize("others", [(103, 104), (1,)], ids=["on the other ways", "on the lane"])
def test_a_stop_sign_on_one_way_on_leaves_the_others_their_yield_sign(tmp_path: Path, others: tuple[int, ...]) -> None:
    yields = {road: signals(signal(str(road), "205", orientation="-" if road == 1 else "+", s=1.0)) for road in others}
    road_map = towns.crossing(tmp_path, {**yields, 102: signals(signal("102", "206", orientation="+"))})
    kinds = {"102": "stop", "103": "yield", "104": "yield"}
    assert {line.lane.road: line.kind for line in road_map.stop_lines} == kinds


@pytest.mark.clause("INT-7")
def test_signs_on_all_ways_on_are_one_for_the_lane(tmp_path: Path) -> None:
    inside = {road: signals(signal(str(road), "206", orientation="+")) for road in (102, 103, 104)}
    (line,) = towns.crossing(tmp_path, inside).stop_lines
    assert (line.lane, line.approach, line.kind) == (LaneId("1", 0, 1), None, "stop")


def test_lights_that_stop_nobody_are_told_of(tmp_path: Path) -> None:
    lost = signals(*(signal(str(i)) for i in range(1, 8)))
    (warning,) = towns.crossing(tmp_path, {1: lost}).warnings
    assert "lights that stop nobody: 6 (2, 3, 4, 5, 6, ...)" in warning
