"""Two ways through a junction that begin at one place, each with a light of its own: the one that is taken counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

from .staging import Leg, Scene, play

ASIDE = '<paramPoly3 aU="0" bU="20" cU="0" dU="0" aV="0" bV="0" cV="-10.5" dV="7" pRange="normalized"/>'
"""20 m ahead and 3.5 m to the right."""
STRAIGHT, RIGHT = 3, 4


def light(number: int) -> str:
    return (
        f'<signals><signal id="{number}" s="0.5" t="-4" zOffset="4" hOffset="0" orientation="+" dynamic="yes" '
        'country="OpenDRIVE" type="1000001" subtype="-1"/></signals>'
    )


def connecting(number: int, junction: str, x: float, to: int, links: str, inside: str = "") -> str:
    shape = ASIDE if to == -2 else xodr.LINE
    lane = xodr.lane(-1, links=([-1], [to]))
    plan = xodr.geometry(0.0, x, 0.0, 0.0, 20.0, shape)
    return xodr.road(xodr.section([lane]), str(number), plan, 20.0, junction, links, inside=inside)


def junction(number: int, before: int, *ways: int) -> str:
    found = "".join(
        f'<connection id="{k}" incomingRoad="{before}" connectingRoad="{way}" contactPoint="start">'
        '<laneLink from="-1" to="-1"/></connection>'
        for k, way in enumerate(ways)
    )
    return f'<junction id="{number}" name="j">{found}</junction>'


@pytest.fixture(scope="module")
def two_lights(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """A lane along x from which, at 100 m, two ways lead to the two lanes of the next road."""
    link, before, start = xodr.road_link, "predecessor", "start"
    onwards = link("road", "110", "end", before) + link("road", "2", start)
    marked = [xodr.lane(-1, mark="broken"), xodr.lane(-2)]
    folder: Path = tmp_path_factory.mktemp("maps")
    first = link("road", "1", "end", before) + link("junction", "9")
    return xodr.read(
        folder,
        xodr.road(xodr.section([xodr.lane(-1)]), "1", length=80.0, link=link("junction", "8")),
        connecting(110, "8", 80.0, -1, first),
        connecting(100, "9", 100.0, -1, onwards, light(STRAIGHT)),
        connecting(101, "9", 100.0, -2, onwards, light(RIGHT)),
        xodr.road(
            xodr.section(marked),
            "2",
            xodr.geometry(0.0, 120.0, 0.0, 0.0, 100.0),
            link=link("junction", "9", "", before),
        ),
        junction(8, 1, 110),
        junction(9, 110, 100, 101),
    )


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The same ways at the end of a road of 100 m, on which the stop line is painted at 96 m."""
    paint = '<object id="1" type="roadMark" name="StopLine" s="96" t="-1.75" length="0.4" width="3.4" hdg="0"/>'
    onwards = xodr.road_link("road", "1", "end", "predecessor") + xodr.road_link("road", "2", "start")
    into, out = xodr.road_link("junction", "9"), xodr.road_link("junction", "9", "", "predecessor")
    folder: Path = tmp_path_factory.mktemp("maps")
    return xodr.read(
        folder,
        xodr.road(xodr.section([xodr.lane(-1)]), "1", link=into, inside=f"<objects>{paint}</objects>"),
        connecting(100, "9", 100.0, -1, onwards, light(STRAIGHT)),
        connecting(101, "9", 100.0, -2, onwards, light(RIGHT)),
        xodr.road(
            xodr.section([xodr.lane(-1, mark="broken"), xodr.lane(-2)]),
            "2",
            xodr.geometry(0.0, 120.0, 0.0, 0.0, 100.0),
            link=out,
        ),
        junction(9, 1, 100, 101),
    )


TO_THE_RIGHT = [Leg(4.6, 6.0), Leg(1.6, 6.0, -0.22), Leg(1.6, 6.0, 0.22), Leg(3.0, 6.0)]


@pytest.mark.parametrize("legs", [[Leg(12.0, 6.0)], TO_THE_RIGHT], ids=("straight", "right"))
@pytest.mark.parametrize(("straight", "right"), [(Light.RED, Light.GREEN), (Light.GREEN, Light.RED)])
def test_the_light_of_the_way_that_is_taken_counts(
    two_lights: RoadMap, legs: list[Leg], straight: Light, right: Light
) -> None:
    assert {line.signal for line in two_lights.stop_lines} == {STRAIGHT, RIGHT}
    own = right if legs is TO_THE_RIGHT else straight
    watch = play(two_lights, Scene("", "", Pose(70.0, -1.75, 0.0), legs, lights={STRAIGHT: straight, RIGHT: right}))
    assert watch.faults == (["red_light"] if own == Light.RED else [])


@pytest.mark.parametrize(("legs", "signal"), [([Leg(12.0, 6.0)], STRAIGHT), (TO_THE_RIGHT, RIGHT)])
def test_where_both_are_red_the_one_that_is_taken_is_charged(two_lights: RoadMap, legs: list[Leg], signal: int) -> None:
    red = {STRAIGHT: Light.RED, RIGHT: Light.RED}
    watch = play(two_lights, Scene("", "", Pose(70.0, -1.75, 0.0), legs, lights=red))
    assert [record.detail for record in watch.referee.infractions if record.at_fault] == [f"signal {signal}"]


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("legs", [[Leg(12.0, 6.0)], TO_THE_RIGHT], ids=("straight", "right"))
@pytest.mark.parametrize(("straight", "right"), [(Light.RED, Light.GREEN), (Light.GREEN, Light.RED)])
def test_it_does_at_the_painted_line_before_the_ways_part(
    painted: RoadMap, legs: list[Leg], straight: Light, right: Light
) -> None:
    own = right if legs is TO_THE_RIGHT else straight
    watch = play(painted, Scene("", "", Pose(70.0, -1.75, 0.0), legs, lights={STRAIGHT: straight, RIGHT: right}))
    assert watch.faults == (["red_light"] if own == Light.RED else [])
    at = [record.t for record in watch.referee.infractions if record.at_fault]
    assert at == [pytest.approx((96.0 - 70.0 - Vehicle().front) / 6.0, abs=0.3)] * len(at)
