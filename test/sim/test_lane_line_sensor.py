"""What the car is told of the lines of its lane."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import MarkKind
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.sensors.perception import Sensors

SOLID_FROM, SECOND_SECTION = 110.0, 120.0
"""Where along the road (m) its middle becomes solid, and where its second lane section begins."""


def _section(start: float, link: str, middle: str) -> str:
    def lane(number: int) -> str:
        return (
            f'<lane id="{number}" type="driving" level="false"><link><{link} id="{number}"/></link>'
            '<width sOffset="0" a="3.5" b="0" c="0" d="0"/><roadMark sOffset="0" type="solid" width="0.1"/></lane>'
        )

    return (
        f'<laneSection s="{start}"><left>{lane(1)}</left><center><lane id="0" type="none" level="false">{middle}</lane>'
        f"</center><right>{lane(-1)}</right></laneSection>"
    )


@pytest.fixture(scope="module")
def marked(folder: Path) -> RoadMap:
    """A straight road along x, 400 m long, with one lane each way; its middle is broken, later solid."""
    broken, solid = (f'<roadMark sOffset="{{}}" type="{kind}" width="0.1"/>' for kind in ("broken", "solid"))
    first = _section(0.0, "successor", broken.format(0.0) + solid.format(SOLID_FROM))
    path = folder / "marked.xodr"
    path.write_text(
        '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="marked"/>'
        '<road id="1" name="r" length="400" junction="-1"><type s="0" type="town"><speed max="50" unit="km/h"/></type>'
        '<planView><geometry s="0" x="0" y="0" hdg="0" length="400"><line/></geometry></planView><lanes>'
        f"{first}{_section(SECOND_SECTION, 'predecessor', solid.format(0.0))}</lanes></road></OpenDRIVE>"
    )
    return read_map(path)


def seen(road_map: RoadMap, pose: Pose) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
    """The rows of the line to the left of the car and of that to its right."""
    lines = Sensors(road_map, SensorParameters()).lane_lines(pose, road_map.project(pose.x, pose.y), ())
    return lines[lines["line"] == 0], lines[lines["line"] == 1]


def test_a_line_that_becomes_solid_ahead_is_told_as_solid_from_there_on(marked: RoadMap) -> None:
    left, right = seen(marked, Pose(100.0, -1.75, 0.0))
    assert left["y"] == pytest.approx(1.75)
    broken = left["x"] <= SOLID_FROM - 100.0
    assert 0 < np.count_nonzero(broken) < len(left)
    assert left["kind"].tolist() == np.where(broken, MarkKind.BROKEN, MarkKind.SOLID).tolist()
    assert set(right["kind"].tolist()) == {MarkKind.SOLID}


@pytest.mark.parametrize("heading", [0.0, 0.3, -0.3])
def test_on_the_oncoming_lane_the_lines_ahead_of_the_car_are_told(marked: RoadMap, heading: float) -> None:
    car = Pose(100.0, 1.75, heading)
    left, right = seen(marked, car)
    c, s = math.cos(heading), math.sin(heading)
    for rows, y, first in ((left, 3.5, MarkKind.SOLID), (right, 0.0, MarkKind.BROKEN)):
        x = car.x + c * rows["x"] - s * rows["y"]
        assert car.y + s * rows["x"] + c * rows["y"] == pytest.approx(y, abs=1e-3)
        assert x[0] == pytest.approx(car.x, abs=1e-3) and 127.0 < x[-1] < 131.0
        assert np.all(np.diff(x) > 0.0)
        assert rows["kind"].tolist() == [first if at < SOLID_FROM - 1.0 else MarkKind.SOLID for at in x]


def test_a_car_that_goes_on_the_oncoming_lane_to_the_end_of_the_road_is_told_of_no_more(marked: RoadMap) -> None:
    left, right = seen(marked, Pose(395.0, 1.75, 0.0))
    assert left["x"].tolist() == right["x"].tolist() == pytest.approx([0.0, 2.0, 4.0])
