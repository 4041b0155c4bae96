"""What the states may do, and which lights they show: every state says it, and the rules say which may."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.leaf import LeafBehaviour
from tuling_fsm.behaviour.permissions import ON_LANES, Indication
from tuling_fsm.behaviour.tables import PERMISSIONS, permissions, table
from tuling_fsm.core.request import Hold, Reason

LANES = {states.NORMAL, states.SOLID_LINE_FREE, states.SAFE_DRIVING, "high_speed/normal"}
"""The states in which all rules of the road hold."""
ROADSIDE = {path for path in PERMISSIONS if path.startswith("temporary_stop/")}


def test_every_state_says_what_it_may() -> None:
    assert set(PERMISSIONS) == set(table().leaves)
    behaviour: Callable[..., LeafBehaviour] = LeafBehaviour
    with pytest.raises(TypeError, match="may"):
        behaviour(lambda _: Hold(Reason.NONE))


def test_lines_and_edges_hold_where_the_car_drives_along_its_lanes() -> None:
    assert {path for path, may in PERMISSIONS.items() if not may.cross_lines} == LANES
    assert {path for path, may in PERMISSIONS.items() if not may.leave_road} == LANES | ROADSIDE


def test_only_a_stop_and_the_end_are_reasons_to_stand() -> None:
    assert {path for path, may in PERMISSIONS.items() if may.stand} == {states.STOPPED, states.PARKED}


@pytest.mark.clause("USE-14")
def test_hazard_lights_warn_of_standing_and_of_going_anywhere() -> None:
    shown = {light: {path for path, may in PERMISSIONS.items() if may.indication is light} for light in Indication}
    assert shown[Indication.KERB] == {states.APPROACH}
    assert shown[Indication.HAZARD] == ROADSIDE - {states.APPROACH} | {states.SLOT_ENTRY, states.EXPLORE}


@pytest.mark.parametrize("state", ["", "elsewhere", "parking", "parking/parked/"])
def test_an_unknown_state_may_nothing_special(state: str) -> None:
    assert permissions(state) == ON_LANES
