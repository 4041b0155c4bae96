"""Out of a lane that ends, into one that is full of cars, in the closed loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import along_lanes

from .drives import Drive, drive

pytestmark = pytest.mark.slow

END_X, LANE = 350.0, 3.5
START = """    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "-2", s: 150m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 450m)
    last: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 890m)
"""
ONE = """        serial:
            car{n}.assign_position(place{n})
            car{n}.assign_speed({v}mps)
            car{n}.drive() with:
                speed({v}mps)
                along(map.create_route([last]))
"""


def _lane(number: int, line: str, link: str) -> str:
    return (
        f'<lane id="{number}" type="driving"><link>{link}</link><width sOffset="0" a="{LANE}" b="0" c="0" d="0"/>'
        f'<roadMark sOffset="0" type="{line}"/></lane>'
    )


def _road(folder: Path) -> Path:
    """A straight road along x, two lanes in its direction, of which the right one ends."""
    onward = '<successor id="-1"/>'
    two = _lane(-1, "broken", onward) + _lane(-2, "solid", "")
    one = _lane(-1, "solid", '<predecessor id="-1"/>')
    centre = '<center><lane id="0" type="none"><roadMark sOffset="0" type="solid"/></lane></center>'
    sections = "".join(
        f'<laneSection s="{s}">{centre}<right>{lanes}</right></laneSection>' for s, lanes in ((0.0, two), (END_X, one))
    )
    file = folder / "lane_that_ends.xodr"
    file.write_text(
        '<OpenDRIVE><header revMajor="1" revMinor="6"/><road name="" length="900" id="1" junction="-1">'
        '<type s="0" type="town"><speed max="13.9" unit="m/s"/></type>'
        '<planView><geometry s="0" x="0" y="0" hdg="0" length="900"><line/></geometry></planView>'
        f"<lanes>{sections}</lanes></road></OpenDRIVE>",
        encoding="utf-8",
    )
    return file


def _drive(folder: Path, net: float, v: float) -> Drive:
    """Among cars that drive at `v` (m/s) with `net` (m) between them."""
    places = range(20, 620, round(4.8 + net))
    declared = START + "".join(
        f'    car{n}: vehicle\n    place{n}: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: {s}m)\n'
        for n, s in enumerate(places)
    )
    stories = (ONE.format(n=n, v=v) for n in range(len(places)))
    return drive(_road(folder), along_lanes(declared, *stories, seconds=120), folder)


@pytest.mark.clause("NOR-3", "NOR-6")
@pytest.mark.parametrize(("net", "v"), [(10.0, 8.0), (13.0, 5.0)])
def test_it_stays_on_the_road_and_comes_in_without_anyone_having_to_brake_hard(
    tmp_path: Path, net: float, v: float
) -> None:
    driven = _drive(tmp_path, net, v)
    assert driven.faults == []
    assert driven.end == "goal"
    assert not driven.standing()
