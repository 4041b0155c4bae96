"""Conflicts of the ways through a crossing."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from map import towns, xodr
from map.joined import joined
from tuling_fsm.map.junctions import joining_links
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap


def way(one: int, other: int) -> LaneId:
    return LaneId(str(100 * one + other), 0, -1)


def test_conflicts_of_a_crossing(tmp_path: Path) -> None:
    """Arms 1 to 4 run counter-clockwise. 28 pairs in all: 16 crossings and 12 merges, as traffic manuals count them."""
    junction = towns.crossing(tmp_path).junctions["9"]
    assert len(junction.lanes) == 12
    assert not junction.has_lights
    conflicts = {lane: set(others) for lane, others in junction.conflicts.items()}
    assert sum(map(len, conflicts.values())) == 2 * 28
    assert all(a in conflicts[b] for a, others in conflicts.items() for b in others)
    assert way(2, 4) in conflicts[way(1, 3)], "crossing"
    assert way(2, 3) in conflicts[way(1, 3)], "merging"
    assert way(1, 4) not in conflicts[way(1, 3)], "diverging"
    assert way(3, 1) not in conflicts[way(1, 3)], "oncoming"


ON = ((-1,), (-1,))


def sections(*starts: float) -> list[str]:
    return [xodr.section([xodr.lane(-1, links=ON)], s=start) for start in starts]


def light(number: int, s: float) -> str:
    return (
        f'<signals><signal s="{s}" t="-2" id="{number}" dynamic="yes" orientation="+" type="1000001" '
        'country="OpenDRIVE" subtype="-1"/></signals>'
    )


def way_over(number: int, heading: float, before: list[str], inside: list[str], more: tuple[str, str]) -> str:
    """Roads that lead 50 m to junction 9, 20 m over it through the origin, and on; `more` is in the first two."""
    parts = []
    for k, (s, length) in enumerate(((-60.0, 50.0), (-10.0, 20.0), (10.0, 50.0))):
        links = [
            xodr.road_link("junction", "9"),
            xodr.road_link("road", str(number), "end", "predecessor") + xodr.road_link("road", str(number + 2)),
            xodr.road_link("junction", "9", which="predecessor"),
        ]
        plan = xodr.geometry(0.0, s * math.cos(heading), s * math.sin(heading), heading, length)
        parts.append(
            xodr.road(
                (before, inside, sections(0.0))[k],
                number=str(number + k),
                geometries=plan,
                length=length,
                junction="9" if k == 1 else "-1",
                link=links[k],
                inside=(*more, "")[k],
            )
        )
    return "".join(parts)


def crossing_ways(
    folder: Path, before: list[str], inside: list[str], first: tuple[str, str], second: tuple[str, str]
) -> RoadMap:
    connections = "".join(
        f'<connection id="{n}" incomingRoad="{n}" connectingRoad="{n + 1}" contactPoint="start">'
        '<laneLink from="-1" to="-1"/></connection>'
        for n in (1, 4)
    )
    ways = (way_over(1, 0.0, before, inside, first), way_over(4, 0.5 * math.pi, before, inside, second))
    return xodr.read(folder, *ways, f'<junction id="9">{connections}</junction>')


@pytest.mark.clause("INT-4")
@pytest.mark.parametrize("starts", [(0.0,), (0.0, 45.0), (0.0, 44.0, 46.0, 48.0)])
def test_lights_hold_for_a_junction_however_many_sections_lie_between(tmp_path: Path, starts: tuple[float]) -> None:
    road_map = crossing_ways(tmp_path, sections(*starts), sections(0.0), (light(7, 43.0), ""), (light(8, 43.0), ""))
    assert road_map.phases == {"9": ((7,), (8,))}
    assert road_map.junctions["9"].has_lights
    assert [road_map.signals[n].junction for n in (7, 8)] == ["9", "9"]


def test_a_light_far_before_the_road_of_a_junction_is_none_of_it(tmp_path: Path) -> None:
    """That of a crosswalk, say; how far it stands before the end of its own road does not matter."""
    for at in (90.0, 30.0):
        assert tail_of_roads(tmp_path, at, length=40.0).signals[7].junction == "9"
    assert tail_of_roads(tmp_path, 90.0, length=60.0, roads=2).signals[7].junction is None


def tail_of_roads(folder: Path, at: float, length: float, roads: int = 1) -> RoadMap:
    """A road of 100 m with a light, others after it, and a junction after those."""
    parts, x = [], 0.0
    for k in range(roads + 1):
        own = 100.0 if k == 0 else length
        link = xodr.road_link("road", str(k), "end", "predecessor") if k else ""
        link += xodr.road_link("road", str(k + 2)) if k < roads else xodr.road_link("junction", "9")
        plan = xodr.geometry(0.0, x, 0.0, 0.0, own)
        inside = light(7, at) if k == 0 else ""
        parts.append(xodr.road(sections(0.0), str(k + 1), plan, own, link=link, inside=inside))
        x += own
    before = str(roads + 1)
    plan = xodr.geometry(0.0, x, 0.0, 0.0, 20.0)
    link = xodr.road_link("road", before, "end", "predecessor")
    parts.append(xodr.road(sections(0.0), "99", plan, 20.0, "9", link))
    connection = f'<connection id="0" incomingRoad="{before}" connectingRoad="99" contactPoint="start">'
    return xodr.read(
        folder, *parts, f'<junction id="9">{connection}<laneLink from="-1" to="-1"/></connection></junction>'
    )


def test_a_light_beyond_a_connecting_road_of_several_sections_holds_before_the_junction(tmp_path: Path) -> None:
    inside = sections(0.0, 8.0, 14.0)
    road_map = crossing_ways(tmp_path, sections(0.0), inside, ("", light(7, 19.5)), ("", light(8, 19.5)))
    assert [(line.lane, line.s) for line in road_map.stop_lines] == [
        (LaneId("1", 0, -1), pytest.approx(50.0)),
        (LaneId("4", 0, -1), pytest.approx(50.0)),
    ]


def test_the_sections_of_one_way_are_in_no_conflict_and_those_of_another_are(tmp_path: Path) -> None:
    """They cross 1.75 m beside the origin, in the second section of three."""
    junction = crossing_ways(tmp_path, sections(0.0), sections(0.0, 5.0, 15.0), ("", ""), ("", "")).junctions["9"]
    assert len(junction.lanes) == 6
    for lane, others in junction.conflicts.items():
        assert all(other.road != lane.road for other in others)
    assert LaneId("5", 1, -1) in junction.conflicts[LaneId("2", 1, -1)]


TOGETHER = {"9": ((1, 3), (6,))}
APART = {"9": ((1,),), "8": ((3,), (6,))}


@pytest.mark.parametrize(
    ("link", "parts", "phases"), [(0.4, 1, TOGETHER), (4.4, 1, TOGETHER), (4.4, 2, TOGETHER), (4.6, 1, APART)]
)
def test_junctions_between_which_no_car_has_room_are_one_crossing_to_their_lights(
    tmp_path: Path, link: float, parts: int, phases: object
) -> None:
    assert joined(tmp_path, link, parts=parts).phases == phases


def test_controllers_that_joined_junctions_share_are_their_phases(tmp_path: Path) -> None:
    """Those of one of them alone know nothing of the other, and would let its lights turn green one after another."""
    said = ('<controller id="A"/><controller id="B"/>', '<controller id="A"/>')
    named = {
        name: "".join(f'<control signalId="{n}"/>' for n in lights) for name, lights in {"A": (6,), "B": (3, 1)}.items()
    }
    more = [f'<controller id="{name}">{lights}</controller>' for name, lights in named.items()]
    assert joined(tmp_path, 1.0, *more, controllers=(said[0], said[0])).phases == {"9": ((6,), (3, 1))}
    assert joined(tmp_path, 1.0, *more, controllers=said).phases == TOGETHER


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("link", "parts", "joins"), [(4.4, 1, 1), (4.6, 1, 0), (4.4, 3, 3), (4.6, 3, 0), (1.0, 8, 8), (1.0, 9, 0)]
)
def test_a_short_link_joins_junctions_with_all_its_sections(
    tmp_path: Path, link: float, parts: int, joins: int
) -> None:
    """A way is followed over no more than eight lanes."""
    lanes = joined(tmp_path, link, parts=parts).lanes
    assert joining_links(lanes) == {LaneId("3", k, -1) for k in range(joins)}
