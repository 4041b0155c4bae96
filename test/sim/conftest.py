"""Maps for the tests of the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from crossroads import LIGHT, STOP_SIGN, crossroads

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


@pytest.fixture(scope="session")
def two_lanes(folder: Path) -> RoadMap:
    """A straight road with two lanes in one direction, 400 m long."""
    lanes = "".join(
        f'<lane id="{number}" type="driving" level="false"><width sOffset="0" a="3.5" b="0" c="0" d="0"/>'
        f'<roadMark sOffset="0" type="{mark}" weight="standard" color="white" width="0.12"/></lane>'
        for number, mark in ((-1, "broken"), (-2, "solid"))
    )
    path = folder / "two_lanes.xodr"
    path.write_text(
        '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="two_lanes"/>'
        '<road id="1" name="r" length="400" junction="-1"><type s="0" type="town"><speed max="50" unit="km/h"/></type>'
        '<planView><geometry s="0" x="0" y="0" hdg="0" length="400"><line/></geometry></planView><lanes>'
        '<laneSection s="0">'
        '<center><lane id="0" type="none" level="false"><roadMark sOffset="0" type="solid" weight="standard" '
        f'color="white" width="0.12"/></lane></center><right>{lanes}</right></laneSection></lanes></road></OpenDRIVE>'
    )
    return read_map(path)
