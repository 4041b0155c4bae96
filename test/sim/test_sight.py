"""Which sensor sees which kind of thing, in which weather."""

from __future__ import annotations

import math

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.sensors.perception import Sensors, SensorVisibility
from tuling_fsm.world.inputs import Kind, Source

REACH = 120.0
ALL, OPTICAL = Source.LIDAR | Source.RADAR | Source.CAMERA, Source.LIDAR | Source.CAMERA


def at(kind: Kind, x: float, v: float = 0.0) -> AgentBoxes:
    box = (x, 0.0, math.nan, 0.0, 1.0, 1.0, v)
    return AgentBoxes(np.array([box]), np.array([kind], np.uint8), np.array([7], np.uint32))


def seen(sight: SensorVisibility, agents: AgentBoxes, blind: bool) -> int:
    bits = sight.sources(agents, agents.boxes[:, 0], REACH, blind)
    sight.remember(agents, bits & OPTICAL > 0)
    return int(bits[0])


@pytest.mark.clause("RFG-1")
@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_its_sensors(kind: Kind) -> None:
    strong = kind in (Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE, Kind.BARRIER)
    weak = kind in (Kind.BICYCLE, Kind.PEDESTRIAN, Kind.ANIMAL)
    for x, radar in ((49.0, strong or weak), (51.0, strong)):
        assert seen(SensorVisibility(), at(kind, x), False) == (ALL if radar else OPTICAL)
        assert seen(SensorVisibility(), at(kind, x), True) == (Source.RADAR if radar else 0)
    assert seen(SensorVisibility(), at(kind, REACH + 1.0), False) == 0


@pytest.mark.clause("RFG-1")
def test_the_history_map_knows_what_stood_there_and_has_not_moved() -> None:
    sight = SensorVisibility()
    seen(sight, at(Kind.CONE, 30.0), False)
    assert seen(sight, at(Kind.CONE, 30.1), True) == Source.HISTORY_MAP
    assert seen(sight, at(Kind.CONE, 31.0), True) == 0
    seen(sight, at(Kind.PEDESTRIAN, 60.0), False)
    seen(sight, at(Kind.PEDESTRIAN, 60.0, 1.0), False)
    assert seen(sight, at(Kind.PEDESTRIAN, 60.0), True) == 0


@pytest.fixture(scope="module")
def hill(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """A road of 100 m along x that rises by a quarter, and a level one 5 m above it that crosses it half-way."""
    lanes = xodr.section([xodr.lane(-1)])
    across = xodr.geometry(0.0, 50.0, -50.0, 0.5 * math.pi, 100.0)
    return xodr.read(
        tmp_path_factory.mktemp("maps"),
        xodr.road(lanes, "1", kind=rising(0.0, 0.25)),
        xodr.road(lanes, "2", across, kind=rising(17.5, 0.0)),
    )


def rising(height: float, slope: float) -> str:
    return f'<elevationProfile><elevation s="0" a="{height}" b="{slope}" c="0" d="0"/></elevationProfile>'


@pytest.mark.parametrize(
    ("x", "y", "z", "there"),
    [(95.0, -1.75, 23.75, True), (60.0, -1.75, 15.0, True), (51.75, -30.0, 17.5, False), (51.75, -1.75, 17.5, False)],
    ids=["far up the road", "up the road", "on the other road", "on the bridge"],
)
def test_a_road_is_seen_up_its_slope_and_nothing_of_one_above_it(
    hill: RoadMap, x: float, y: float, z: float, there: bool
) -> None:
    sensors = Sensors(hill, SensorParameters())

    def rows(pose: Pose, level: float, box: tuple[float, ...]) -> int:
        agents = AgentBoxes(np.array([box]), np.array([Kind.CAR], np.uint8), np.array([7], np.uint32))
        return len(sensors.objects(pose, level, agents, False))

    here = Pose(10.0, -1.75, 0.0)
    assert rows(here, 2.5, (x, y, z, 0.0, 4.0, 1.8, 0.0)) == there
    assert rows(Pose(x, y, 0.0), z, (*here[:2], 2.5, 0.0, 4.0, 1.8, 0.0)) == there, "nor down from there"
