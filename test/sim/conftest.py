"""Maps for the tests of the simulator."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from crossroads import LIGHT, STOP_SIGN, crossroads
from map import xodr

from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("maps")


@pytest.fixture(scope="session")
def plain(folder: Path) -> RoadMap:
    """Crossroads without lights, with crosswalks."""
    return crossroads(folder, "plain", crosswalks="EW")


@pytest.fixture(scope="session")
def lit(folder: Path) -> RoadMap:
    """Crossroads with a light on every arm."""
    return crossroads(folder, "lit", dict.fromkeys("ENWS", LIGHT))


@pytest.fixture(scope="session")
def signed(folder: Path) -> RoadMap:
    """Crossroads with stop signs on two arms."""
    return crossroads(folder, "signed", dict.fromkeys("NS", STOP_SIGN))


def _straight(folder: Path, name: str, left: str, right: str, centre: str = "solid") -> RoadMap:
    """A straight road along x, 400 m long, with these lanes."""
    path = folder / f"{name}.xodr"
    path.write_text(
        f'<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="{name}"/>'
        '<road id="1" name="r" length="400" junction="-1"><type s="0" type="town"><speed max="50" unit="km/h"/></type>'
        '<planView><geometry s="0" x="0" y="0" hdg="0" length="400"><line/></geometry></planView><lanes>'
        f'<laneSection s="0">{left}'
        f'<center><lane id="0" type="none" level="false"><roadMark sOffset="0" type="{centre}" weight="standard" '
        f'color="white" width="0.12"/></lane></center><right>{right}</right></laneSection></lanes></road></OpenDRIVE>'
    )
    return read_map(path)


def _lane(number: int, mark: str, kind: str = "driving", width: float = 3.5) -> str:
    return (
        f'<lane id="{number}" type="{kind}" level="false"><width sOffset="0" a="{width}" b="0" c="0" d="0"/>'
        f'<roadMark sOffset="0" type="{mark}" weight="standard" color="white" width="0.12"/></lane>'
    )


@pytest.fixture(scope="session")
def two_lanes(folder: Path) -> RoadMap:
    """A straight road with two lanes in one direction, 400 m long."""
    return _straight(folder, "two_lanes", "", _lane(-1, "broken") + _lane(-2, "solid"))


@pytest.fixture(scope="session")
def three_lanes(folder: Path) -> RoadMap:
    """A straight road with three lanes in one direction, 400 m long."""
    return _straight(folder, "three_lanes", "", _lane(-1, "broken") + _lane(-2, "broken") + _lane(-3, "solid"))


@pytest.fixture(scope="session")
def two_ways(folder: Path) -> RoadMap:
    """A straight road with two lanes in each direction, 400 m long."""
    right = _lane(-1, "broken") + _lane(-2, "solid")
    return _straight(folder, "two_ways", f"<left>{_lane(2, 'solid')}{_lane(1, 'broken')}</left>", right)


@pytest.fixture(scope="session")
def parking_strip(folder: Path) -> RoadMap:
    """A straight road with one lane in each direction, and a parking strip along -1."""
    right = _lane(-1, "broken") + _lane(-2, "solid", "parking", 2.2)
    return _straight(folder, "parking_strip", f"<left>{_lane(1, 'solid')}</left>", right, "broken")


@pytest.fixture(scope="session")
def bus_lane(folder: Path) -> RoadMap:
    """A straight road with one lane in each direction, and a bus lane along -1."""
    right = _lane(-1, "broken") + _lane(-2, "solid", "bus")
    return _straight(folder, "bus_lane", f"<left>{_lane(1, 'solid')}</left>", right, "broken")


@pytest.fixture(scope="session")
def wide(folder: Path) -> RoadMap:
    """A straight road with one lane of 7 m in each direction."""
    left, right = (_lane(number, "solid", width=7.0) for number in (1, -1))
    return _straight(folder, "wide", f"<left>{left}</left>", right, "broken")


@pytest.fixture(scope="session")
def wide_lanes(folder: Path) -> RoadMap:
    """A straight road with two lanes of 4 m in one direction."""
    return _straight(folder, "wide_lanes", "", _lane(-1, "broken", width=4.0) + _lane(-2, "solid", width=4.0))


@pytest.fixture(scope="session")
def ring(folder: Path) -> RoadMap:
    """A one-way street round a circle: four roads of 50 m."""
    section = xodr.section([xodr.lane(-1, links=((-1,), (-1,)))])
    radius = 200.0 / math.tau
    roads = []
    for i in range(4):
        turned = 0.5 * math.pi * i
        start = (radius * math.sin(turned), radius * (1.0 - math.cos(turned)), turned)
        ends = ("predecessor", (i - 1) % 4, "end"), ("successor", (i + 1) % 4, "start")
        link = "".join(f'<{k} elementType="road" elementId="{n}" contactPoint="{at}"/>' for k, n, at in ends)
        arc = xodr.geometry(0.0, *start, 50.0, f'<arc curvature="{1.0 / radius!r}"/>')
        roads.append(xodr.road(section, str(i), arc, 50.0, link=link))
    return xodr.read(folder, *roads)
