"""The speed limit along a drive."""

from __future__ import annotations

from pathlib import Path

import pytest

from map import xodr
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.speed_limits import SpeedLimits

LANE = (
    '<center><lane id="0" type="none"/></center><right><lane id="-1" type="driving" level="false">'
    '<width sOffset="0" a="3.5" b="0" c="0" d="0"/><speed sOffset="0" max="{limit}"/></lane></right>'
)


@pytest.fixture(scope="module")
def two_roads(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Eastwards at 5 m/s, and 100 m north of it at 12 m/s."""
    roads = "".join(
        f'<road id="{number}" name="r" length="80" junction="-1"><planView><geometry s="0" x="0" y="{100 * number}"'
        f' hdg="0" length="80"><line/></geometry></planView><lanes><laneSection s="0">'
        f"{LANE.format(limit=limit)}</laneSection></lanes></road>"
        for number, limit in enumerate((5.0, 12.0))
    )
    file: Path = tmp_path_factory.mktemp("limits") / "two.xodr"
    head = '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="two"/>'
    file.write_text(f"{head}{roads}</OpenDRIVE>", encoding="utf-8")
    return read_map(file)


@pytest.mark.clause("EXPL-1")
def test_beside_the_road_the_limit_of_the_lane_nearby_holds_and_farther_off_the_last_one(two_roads: RoadMap) -> None:
    limits = SpeedLimits(two_roads, 8.33)
    assert limits.at(Pose(40.0, 50.0, 0.0)) == 8.33
    assert limits.at(Pose(40.0, -7.0, 0.0)) == 5.0
    assert limits.at(Pose(40.0, -30.0, 0.0)) == 5.0
    assert limits.at(Pose(40.0, 98.0, 0.0)) == 8.33
    assert SpeedLimits(two_roads, 15.0).at(Pose(40.0, 98.0, 0.0)) == 12.0


TOWN = '<type s="0" type="town"><speed max="30" unit="km/h"/></type>'
FAST = '<speed sOffset="{0}" max="100" unit="km/h"/>'


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize(
    ("kind", "inside", "limits"),
    [
        (TOWN, FAST.format(20), (30.0, 30.0)),
        ("", FAST.format(20), (50.0, 50.0)),
        (TOWN, FAST.format(0), (100.0, 30.0)),
        (TOWN, FAST.format("1e-4"), (100.0, 30.0)),
        (TOWN, '<speed sOffset="20" max="10" unit="km/h"/>', (10.0, 30.0)),
        (f'{TOWN}<type s="20" type="rural"><speed max="20" unit="km/h"/></type>', FAST.format(20), (30.0, 20.0)),
        (f'{TOWN}<type s="10" type="rural"><speed max="20" unit="km/h"/></type>', FAST.format(20), (20.0, 20.0)),
        ('<type s="30" type="motorway"><speed max="120" unit="km/h"/></type>', "", (50.0, 120.0)),
        ('<type s="80" type="motorway"><speed max="120" unit="km/h"/></type>', "", (50.0, 50.0)),
        ('<type s="1e-4" type="motorway"><speed max="120" unit="km/h"/></type>', "", (120.0, 120.0)),
    ],
)
def test_before_the_first_limit_of_a_lane_that_of_the_road_holds_and_before_that_the_default(
    tmp_path: Path, kind: str, inside: str, limits: tuple[float, float]
) -> None:
    """A lane in two sections of 40 m and 60 m; `inside` stands in the first one."""
    sections = [xodr.section([xodr.lane(-1, inside=inside)]), xodr.section([xodr.lane(-1)], s=40.0)]
    road_map = xodr.read(tmp_path, xodr.road(sections, kind=kind))
    found = [3.6 * road_map.lanes[LaneId("1", section, -1)].limit for section in (0, 1)]
    assert found == pytest.approx(limits)
