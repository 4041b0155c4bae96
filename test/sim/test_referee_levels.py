"""The referee where roads cross above one another: what is on another level is nothing to the car."""

from __future__ import annotations

import math

import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.actors.agent_states import EgoState
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.referee import NO_AGENTS, Referee

from .staging import DT

BRIDGE_M = 8.0
HIGH = f'<elevationProfile><elevation s="0" a="{BRIDGE_M}" b="0" c="0" d="0"/></elevationProfile>'
WALL = '<objects><object id="5" type="wall" s="50" t="-1.75" zOffset="0" hdg="0" length="4" width="3"/></objects>'


@pytest.mark.parametrize(("z", "charged"), [(0.0, []), (BRIDGE_M, [("collision", True)])])
def test_a_wall_of_the_map_is_run_into_on_its_level_and_once(
    tmp_path_factory: pytest.TempPathFactory, z: float, charged: list[tuple[str, bool]]
) -> None:
    across = xodr.geometry(0.0, 50.0, -50.0, 0.5 * math.pi, 100.0)
    road_map = xodr.read(
        tmp_path_factory.mktemp("maps"),
        xodr.road(xodr.section([xodr.lane(-1)]), "1"),
        xodr.road(xodr.section([xodr.lane(-1)]), "2", across, kind=HIGH, inside=WALL),
    )
    assert [thing.solid for thing in road_map.objects] == [True]
    place = Pose(30.0, -1.75, 0.0) if z == 0.0 else Pose(51.75, -20.0, 0.5 * math.pi)
    referee = Referee(road_map, Vehicle(), RefereeParameters())
    for k in range(100):
        place = shifted(place, 0.25)
        position = road_map.project(*place, z)
        ego = EgoState(place, z, 5.0, 0.0, 0.0, position)
        referee.watch(k * DT, DT, ego, NO_AGENTS, {}, frozenset(), False)
    assert [(each.kind, each.at_fault) for each in referee.infractions if each.at_fault] == charged
