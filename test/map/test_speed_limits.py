"""The speed limit along a drive."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.geometry import Pose
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
