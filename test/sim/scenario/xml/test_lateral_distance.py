"""A lateral distance to a reference that is on another road, measured on a straight road and the curve after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap

from .files import CAR, after, drive, event, init, lane, npc, run, speed, story, teleport, text

pytestmark = pytest.mark.clause("OSC-1")
LANES = "".join(
    f'<lane id="{number}" type="driving" level="false"><link><predecessor id="{number}"/><successor id="{number}"/>'
    '</link><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane>'
    for number in (-1, -2)
)


def _road(number: int, x: float, link: str, shape: str) -> str:
    return (
        f'<road id="{number}" name="r" length="100" junction="-1"><link>{link}</link><planView>'
        f'<geometry s="0" x="{x}" y="0" hdg="0" length="100">{shape}</geometry></planView><lanes><laneSection s="0">'
        f'<center><lane id="0" type="none" level="false"/></center><right>{LANES}</right></laneSection></lanes></road>'
    )


@pytest.fixture(scope="module")
def straight_and_curve(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Road 1 along x for 100 m, then road 2, a curve to the left with a radius of 100 m; two lanes on the right."""
    path = tmp_path_factory.mktemp("maps") / "straight_and_curve.xodr"
    onward = '<successor elementType="road" elementId="2" contactPoint="start"/>'
    back = '<predecessor elementType="road" elementId="1" contactPoint="end"/>'
    roads = _road(1, 0.0, onward, "<line/>") + _road(2, 100.0, back, '<arc curvature="0.01"/>')
    path.write_text(f'<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="r"/>{roads}</OpenDRIVE>')
    return read_map(path)


def _keep(distance: float, displacement: str = "any") -> str:
    return (
        f'<PrivateAction><LateralAction><LateralDistanceAction entityRef="other" distance="{distance}" '
        f'freespace="false" continuous="true" coordinateSystem="lane" displacement="{displacement}">'
        '<DynamicConstraints maxSpeed="5"/></LateralDistanceAction></LateralAction></PrivateAction>'
    )


def _where(road: int, s: float, number: int) -> str:
    return lane(s, number).replace('roadId="1"', f'roadId="{road}"')


@pytest.mark.parametrize(
    ("own", "others", "action", "y"),
    [
        ((1, 30.0, -1), (2, 80.0, -1), _keep(0.0), -1.75),
        ((1, 30.0, -1), (2, 80.0, -2), _keep(0.0), -5.25),
        ((1, 30.0, -1), (2, 80.0, -2), _keep(1.0), -4.25),
        ((1, 30.0, -1), (2, 80.0, -2), _keep(1.0, "rightToReferencedEntity"), -6.25),
        ((1, 60.0, -2), (1, 10.0, -1), _keep(1.0), -2.75),
    ],
)
def test_it_is_kept_to_one_on_the_road_ahead(
    tmp_path: Path,
    straight_and_curve: RoadMap,
    own: tuple[int, float, int],
    others: tuple[int, float, int],
    action: str,
    y: float,
) -> None:
    npc_ = init("npc", teleport(_where(*own)), speed(5.0))
    other = init("other", teleport(_where(*others)))
    car = f'<ScenarioObject name="other">{CAR}</ScenarioObject>'
    simulation = run(
        tmp_path,
        straight_and_curve,
        text(story(event("e", after(0.0), action)), npc=npc_, actions=other, entities=car),
    )
    drive(simulation, 3.0)
    assert npc(simulation).pose.y == pytest.approx(y, abs=0.02)


def test_it_is_kept_to_one_on_the_road_behind(tmp_path: Path, straight_and_curve: RoadMap) -> None:
    npc_ = init("npc", teleport(_where(2, 10.0, -1)))
    other = init("other", teleport(_where(1, 30.0, -2)))
    car = f'<ScenarioObject name="other">{CAR}</ScenarioObject>'
    content = text(story(event("e", after(0.0), _keep(0.0))), npc=npc_, actions=other, entities=car)
    simulation = run(tmp_path, straight_and_curve, content)
    drive(simulation, 2.0)
    x, y, _ = npc(simulation).pose
    assert ((x - 100.0) ** 2 + (y - 100.0) ** 2) ** 0.5 == pytest.approx(105.25, abs=0.05), "radius of the outer lane"


def test_one_beyond_the_end_of_the_road_is_no_farther_aside(tmp_path: Path, two_lanes: RoadMap) -> None:
    """It stands 8 m past the end of the last lane, in the middle of it."""
    beyond = '<Position><WorldPosition x="408" y="-1.75" h="0"/></Position>'
    car = f'<ScenarioObject name="other">{CAR}</ScenarioObject>'
    content = text(story(event("e", after(0.0), _keep(0.0))), actions=init("other", teleport(beyond)), entities=car)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 2.0)
    assert npc(simulation).pose.y == pytest.approx(-1.75)
