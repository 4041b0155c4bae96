"""Which sensor sees which kind of thing, in which weather."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.sim.sensors.perception import SensorVisibility
from tuling_fsm.world.inputs import Kind, Source

REACH = 120.0
ALL, OPTICAL = Source.LIDAR | Source.RADAR | Source.CAMERA, Source.LIDAR | Source.CAMERA


def at(kind: Kind, x: float, v: float = 0.0) -> AgentBoxes:
    box = (x, 0.0, math.nan, 0.0, 1.0, 1.0, v)
    return AgentBoxes(np.array([box]), np.array([kind], np.uint8), np.array([7], np.uint32))


def seen(sight: SensorVisibility, agents: AgentBoxes, blind: bool) -> int:
    (bits,) = sight.sources(agents, agents.boxes[:, 0], REACH, blind).tolist()
    return int(bits)


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
