"""Which lane leads into which, from every kind of link that OpenDRIVE has."""

from __future__ import annotations

from pathlib import Path

from map import xodr
from tuling_fsm.map.lanes import LaneId


def test_sections_of_a_road(tmp_path: Path) -> None:
    """A lane opens in the second section; links said from one side only count."""
    first = xodr.section([xodr.lane(1, links=((), (1,))), xodr.lane(-1)])
    second = xodr.section([xodr.lane(1), xodr.lane(-1, links=((-1,), ())), xodr.lane(-2)], s=40.0)
    road_map = xodr.read(tmp_path, xodr.road([first, second]))
    assert road_map.lanes[LaneId("1", 0, -1)].successors == (LaneId("1", 1, -1),)
    assert road_map.lanes[LaneId("1", 1, -1)].predecessors == (LaneId("1", 0, -1),)
    assert road_map.lanes[LaneId("1", 1, -2)].predecessors == ()
    assert road_map.lanes[LaneId("1", 1, 1)].successors == (LaneId("1", 0, 1),)


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
    assert any("its id decides" in warning for warning in road_map.warnings)
