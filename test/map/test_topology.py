"""Which lane leads into which, from every kind of link that OpenDRIVE has."""

from __future__ import annotations

from pathlib import Path

import pytest

from map import xodr
from tuling_fsm.map.lanes import LaneId, MarkKind


def test_sections_of_a_road(tmp_path: Path) -> None:
    """A lane opens in the second section; links said from one side only count."""
    first = xodr.section([xodr.lane(1, links=((), (1,))), xodr.lane(-1)])
    second = xodr.section([xodr.lane(1), xodr.lane(-1, links=((-1,), ())), xodr.lane(-2)], s=40.0)
    road_map = xodr.read(tmp_path, xodr.road([first, second]))
    assert road_map.lanes[LaneId("1", 0, -1)].successors == (LaneId("1", 1, -1),)
    assert road_map.lanes[LaneId("1", 1, -1)].predecessors == (LaneId("1", 0, -1),)
    assert road_map.lanes[LaneId("1", 1, -2)].predecessors == ()
    assert road_map.lanes[LaneId("1", 1, 1)].successors == (LaneId("1", 0, 1),)


def test_lanes_of_a_temporary_layer_are_told_of_and_left_out(tmp_path: Path) -> None:
    """As OpenDRIVE 1.9 has them: the layers' sections overlap, and links say into which layer they lead."""
    links = '<link><successor id="-1" layer="permanent"/><successor id="-2" layer="temporary"/></link>'
    first = xodr.section([xodr.lane(-1).replace("<link></link>", links), xodr.lane(-2)])
    second = xodr.section([xodr.lane(-1), xodr.lane(-2)], s=60.0)
    shifted = '<laneOffset s="0" a="4" b="0" c="0" d="0"/>' + xodr.section([xodr.lane(-1), xodr.lane(-2)], s=40.0)
    layers = xodr.road([first, second]).replace("<lanes>", '<lanes layer="permanent">')
    layers = layers.replace("</lanes>", f'</lanes><lanes layer="temporary">{shifted}</lanes>')
    road_map = xodr.read(tmp_path, layers)
    assert list(road_map.lanes) == [LaneId("1", i, n) for i in (0, 1) for n in (-1, -2)]
    assert road_map.lanes[LaneId("1", 0, -1)].successors == (LaneId("1", 1, -1),)
    assert road_map.lanes[LaneId("1", 0, -1)].center.xy[0].tolist() == [0.0, -1.75]
    assert [text for text in road_map.warnings if "layer='temporary'" in text]


def single_side(text: str) -> str:
    return text.replace("<laneSection", '<laneSection singleSide="true"')


def test_a_section_of_one_side_lets_the_lanes_of_the_other_one_go_on(tmp_path: Path) -> None:
    """The left side changes at 40 m and the right one at 70 m, on the way to a road that goes on from there."""
    marks = (
        '<roadMark sOffset="0" type="broken"/><roadMark sOffset="20" type="solid"/><roadMark sOffset="55" type="curb"/>'
    )
    widening = '<width sOffset="0" a="3" b="0" c="0" d="0"/><width sOffset="30" a="3" b="0.05" c="0" d="0"/>'
    fast = '<speed sOffset="30" max="20" unit="m/s"/>'
    right = xodr.lane(-1, widening, mark=marks, links=((), (-2, -1)), inside=fast)
    sections = [
        xodr.section([xodr.lane(1, links=((), (1,))), right]),
        single_side(xodr.section([xodr.lane(2, links=((), (2,))), xodr.lane(1, links=((1,), (1,)))], s=40.0)),
        single_side(xodr.section([xodr.lane(-1, links=((-1,), (-1,))), xodr.lane(-2, links=((-1,), (-2,)))], s=70.0)),
    ]
    four = [xodr.lane(number, links=((number,), ())) for number in (2, 1, -1, -2)]
    onward = xodr.road(
        [xodr.section(four)],
        number="2",
        geometries=xodr.geometry(0.0, 100.0, 0.0, 0.0, 50.0),
        length=50.0,
        link=xodr.road_link("road", "1", "end", "predecessor"),
    )
    road_map = xodr.read(tmp_path, xodr.road(sections, link=xodr.road_link("road", "2")), onward)
    lanes = road_map.lanes
    there = [[lane.lane for lane in lanes if lane[:2] == ("1", section)] for section in range(3)]
    assert there == [[1, -1], [1, 2, -1], [1, 2, -1, -2]]
    assert lanes[LaneId("1", 0, -1)].successors == (LaneId("1", 1, -1),)
    assert lanes[LaneId("1", 1, -1)].predecessors == (LaneId("1", 0, -1),)
    assert set(lanes[LaneId("1", 1, -1)].successors) == {LaneId("1", 2, -1), LaneId("1", 2, -2)}
    for number in (1, 2):
        assert lanes[LaneId("2", 0, number)].successors == (LaneId("1", 2, number),)
        assert lanes[LaneId("1", 2, number)].successors == (LaneId("1", 1, number),)
    assert lanes[LaneId("1", 1, 1)].successors == (LaneId("1", 0, 1),)
    assert lanes[LaneId("1", 1, 2)].successors == ()
    assert road_map.warnings == ()
    going_on = lanes[LaneId("1", 1, -1)]
    assert (going_on.road_s[0], going_on.road_s[-1]) == (40.0, 70.0)
    assert 2.0 * going_on.right[[0, -1]] == pytest.approx((3.5, 5.0))
    assert [mark.kind for mark in going_on.right_marks] == [MarkKind.SOLID, MarkKind.CURB]
    ends = [end for mark in going_on.right_marks for end in mark[:2]]
    assert ends == pytest.approx([0.0, 15.0, 15.0, going_on.length], abs=0.1)
    assert [lanes[LaneId("1", section, -1)].limit for section in (0, 1)] == pytest.approx((50.0 / 3.6, 20.0))


def test_without_its_mark_a_section_of_one_side_has_no_lanes_on_the_other(tmp_path: Path) -> None:
    first, second = (
        xodr.section(lanes, s) for lanes, s in (([xodr.lane(1), xodr.lane(-1)], 0.0), ([xodr.lane(1)], 40.0))
    )
    road_map = xodr.read(tmp_path, xodr.road([first, second]))
    assert LaneId("1", 1, -1) not in road_map.lanes
    assert LaneId("1", 0, -1) not in xodr.read(tmp_path, xodr.road(single_side(second))).lanes


def test_roads_that_meet_head_on(tmp_path: Path) -> None:
    """The second road is drawn against the first, so that its lane 1 goes on where lane -1 of the first ends."""
    one = xodr.road(
        [xodr.section([xodr.lane(1, links=((), (-1,))), xodr.lane(-1, links=((), (1,)))])],
        link=xodr.road_link("road", "2", "end"),
    )
    plan = xodr.geometry(0.0, 200.0, 0.0, 3.141592653589793, 100.0)
    two = xodr.road(
        [xodr.section([xodr.lane(1, links=((), (-1,))), xodr.lane(-1, links=((), (1,)))])],
        number="2",
        geometries=plan,
        link=xodr.road_link("road", "1", "end"),
    )
    road_map = xodr.read(tmp_path, one, two)
    assert road_map.lanes[LaneId("1", 0, -1)].successors == (LaneId("2", 0, 1),)
    assert road_map.lanes[LaneId("2", 0, -1)].successors == (LaneId("1", 0, 1),)
    assert road_map.lanes[LaneId("1", 0, 1)].predecessors == (LaneId("2", 0, -1),)
    assert road_map.warnings == ()


def fork(folder: Path, kind: str = "default") -> tuple[str, ...]:
    """A road that forks: straight on over a connecting road (default) or directly into the next road (direct)."""
    one = xodr.road([xodr.section([xodr.lane(-1)])], link=xodr.road_link("junction", "9"))
    two = xodr.road(
        [xodr.section([xodr.lane(-1)])],
        number="2",
        geometries=xodr.geometry(0.0, 100.0, 0.0, 0.0, 20.0),
        length=20.0,
        junction="9" if kind == "default" else "-1",
        link=xodr.road_link("road", "1", "end", "predecessor") if kind == "default" else "",
    )
    named = "connectingRoad" if kind == "default" else "linkedRoad"
    junction = (
        f'<junction id="9" type="{kind}"><connection id="0" incomingRoad="1" {named}="2" contactPoint="start">'
        '<laneLink from="-1" to="-1"/></connection></junction>'
    )
    return one, two, junction


def test_connections_of_a_junction(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, *fork(tmp_path))
    assert road_map.lanes[LaneId("1", 0, -1)].successors == (LaneId("2", 0, -1),)
    assert road_map.lanes[LaneId("2", 0, -1)].junction == "9"
    assert road_map.junctions["9"].lanes == (LaneId("2", 0, -1),)


@pytest.mark.parametrize(
    ("number", "rule", "told"), [(-1, "", False), (1, "", True), (1, "LHT", False), (1, "RHT", False)]
)
def test_a_map_that_looks_left_hand_and_says_no_rule_is_told_of(
    tmp_path: Path, number: int, rule: str, told: bool
) -> None:
    """By its junctions, of which the incoming road tells where traffic comes from."""
    one, two, junction = (part.replace('="-1" to="-1"', f'="{number}" to="{number}"') for part in fork(tmp_path))
    if rule:
        one, two = (part.replace("<road ", f'<road rule="{rule}" ') for part in (one, two))
    if number > 0:
        one, two = (mirrored(part) for part in (one, two))
    road_map = xodr.read(tmp_path, one, two, junction)
    found = [warning for warning in road_map.warnings if "looks as if made for left-hand traffic" in warning]
    assert len(found) == told
    assert all("1 of 1 links of junctions" in line and 'rule="LHT" on each <road>' in line for line in found)
    assert road_map.left_hand is (rule == "LHT")


def mirrored(road: str) -> str:
    """A road with a lane to the right, which it has to the left instead."""
    lane = xodr.section([xodr.lane(-1)])
    assert lane in road
    return road.replace(lane, xodr.section([xodr.lane(1)]))


def test_direct_junctions_link_roads(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, *fork(tmp_path, "direct"))
    assert road_map.lanes[LaneId("1", 0, -1)].successors == (LaneId("2", 0, -1),)
    assert road_map.lanes[LaneId("2", 0, -1)].junction is None


def test_virtual_junctions_leave_the_main_road_alone(tmp_path: Path) -> None:
    junction = '<junction id="9" type="virtual" mainRoad="1" sStart="20" sEnd="30" orientation="+"/>'
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1)])]), junction)
    assert road_map.lanes[LaneId("1", 0, -1)].length == 100.0
    assert any("virtual" in warning for warning in road_map.warnings)


def test_links_that_lead_nowhere_are_reported_and_dropped(tmp_path: Path) -> None:
    sloppy = xodr.road([xodr.section([xodr.lane(-1, links=((), (-1,)))])], link=xodr.road_link("road", "77", "start"))
    far = xodr.road(
        [xodr.section([xodr.lane(-1, links=((), (-1,))), xodr.lane(-2, links=((), (-9,)))])],
        number="2",
        geometries=xodr.geometry(0.0, 0.0, 50.0, 0.0, 100.0),
        link=xodr.road_link("road", "1", "start"),
    )
    road_map = xodr.read(tmp_path, sloppy, far)
    assert all(lane.successors == () for lane in road_map.lanes.values())
    assert len(road_map.warnings) == 3
    assert [word in " ".join(road_map.warnings) for word in ("road 77", "m and", "lane -9")] == [True] * 3


def test_lanes_under_the_wrong_side_go_by_their_number(tmp_path: Path) -> None:
    text = xodr.document(xodr.road([xodr.section([xodr.lane(-1)])])).replace("right>", "left>", 2)
    text = text.replace("<left></left>", "", 1)
    road_map = xodr.read_text(tmp_path, text)
    assert LaneId("1", 0, -1) in road_map.lanes
    (warning,) = road_map.warnings
    assert "lanes on another side than their id says: 1 (lane -1 of road 1 in <left>); the id decides" in warning


def test_what_is_odd_about_many_lanes_is_told_of_once(tmp_path: Path) -> None:
    """With the place of the first, their number and some of them."""
    roads = []
    for i in range(7):
        bare = xodr.lane(-1, "", links=((), (-1, -9)))
        plan = xodr.geometry(0.0, 0.0, 9.0 * i, 0.0, 100.0)
        road = xodr.road([xodr.section([bare])], str(i), plan, link=xodr.road_link("road", str((i + 1) % 7)))
        roads.append(road.replace("<left></left>", "").replace("right>", "left>"))
    told = [warning.partition("xodr:4: ")[2] for warning in xodr.read(tmp_path, *roads).warnings]
    assert [line.partition(" (lane ")[0] for line in told] == [
        "<lane>: lanes with neither width nor border: 7",
        "<lane>: lanes on another side than their id says: 7",
        "<road>: links of lanes that do not meet: 7",
        "<road>: links to lanes that are not there: 7",
    ]
    assert all("of road 4" in line and ", ...); " in line for line in told)
