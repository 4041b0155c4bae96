"""The behaviour against guards that would have it go round for ever: each cycle of the table comes to an end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import Junction
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.world import RouteMatch

from ..worlds import FAR_LANE, NEAR_LANE, NEAR_Y, Drive, Place, departed, plan, route_along
from .test_model import BOUNDED

STEP_S = 0.2
TICKS = round(1800.0 / STEP_S)
Adversary = Callable[[Drive, int], None]
"""Ticks a drive, given the number of the tick."""


def way_to_route(drive: Drive, _: int) -> None:
    """From explore a way back is always seen, and the car never gets there."""
    drive.probe = plan()
    drive.tick(step=STEP_S)


def route_switched(drive: Drive, k: int) -> None:
    """The route server sends another route on every tick."""
    drive.tick(RouteMatch(-1, route_along(drive.place.road_map, FAR_LANE if k % 2 else NEAR_LANE)), step=STEP_S)


def junction_over(drive: Drive, k: int) -> None:
    """The car stands at the end of a junction, and is said to be in it and to be out of it in turns, 2 s each."""
    here = JunctionAhead(40.0, 70.0, Junction("j", (), {}, False), 0, 0, 30.0)
    drive.tick(junctions=(here,) if k // 10 % 2 else (), step=STEP_S)


ADVERSARIES: tuple[Adversary, ...] = (way_to_route, route_switched, junction_over)


@pytest.mark.slow
@pytest.mark.clause("SAF-4", "RRF-2", "EXP-4", "INT-6", "USE-2")
@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda each: each.__name__)
def test_a_cycle_comes_to_an_end(road: RoadMap, adversary: Adversary) -> None:
    """A car that can't move is beside its road."""
    name = adversary.__name__
    drive = departed(Place(road, y=NEAR_Y + 5.0, heading=0.9), route_along(road))
    for k in range(TICKS):
        adversary(drive, k)
        if drive.last.state == states.PARKED:
            break
    guards = [decision.transition.guard for decision in drive.decisions if decision.transition is not None]
    assert drive.last.state == states.PARKED and guards.count(name) >= 2


def test_every_guard_that_is_left_to_an_adversary_has_one() -> None:
    assert {each.__name__ for each in ADVERSARIES} == set(BOUNDED)
