"""How long a state still waits is told on every tick, and then it is left."""

from __future__ import annotations

import pytest

from tuling_fsm.behaviour import states, table
from tuling_fsm.behaviour.deadlines import TIMED
from tuling_fsm.core.request import Reason
from tuling_fsm.map.road_map import RoadMap

from .worlds import ONCOMING_Y, TICK, Drive, Place, departed, in_normal, plan, route_along

COUNTED = {"no_way_round"}
"""Guards of deadline rows that count attempts, not time."""


def test_every_deadline_that_is_a_time_is_known() -> None:
    deadlines = {row.guard for row in table().rows if row.deadline}
    assert {guard.__name__ for guard in deadlines - set(TIMED)} == COUNTED
    assert set(TIMED) <= deadlines


def stuck_in_normal(road: RoadMap) -> Drive:
    drive = in_normal(Place(road), route_along(road))
    drive.result = plan(reach=0.0, reason=Reason.OBSTACLE)
    return drive


def maneuvering(road: RoadMap) -> Drive:
    return departed(Place(road, y=ONCOMING_Y, heading=3.1), route_along(road))


@pytest.mark.clause("EXPL-1", "USE-2")
@pytest.mark.parametrize(
    ("begin", "state", "patience"), [(stuck_in_normal, states.NORMAL, 10.0), (maneuvering, states.REGRESSION, 60.0)]
)
@pytest.mark.medium
def test_the_time_left_runs_down_and_then_the_state_is_left(
    road: RoadMap, begin: object, state: str, patience: float
) -> None:
    assert callable(begin)
    drive: Drive = begin(road)
    drive.tick()
    first = drive.tick().timeout
    assert first is not None and patience - 1.0 < first.remaining_s <= patience
    left = first.remaining_s
    while left > 1.5 * TICK:
        decision = drive.tick()
        assert decision.state == state
        assert decision.timeout is not None
        assert decision.timeout.remaining_s == pytest.approx(left - TICK)
        left = decision.timeout.remaining_s
    decision = drive.run(0.2)[-1]
    event = next(d.transition for d in reversed(drive.decisions) if d.transition)
    assert decision.state == first.dest == event.dest
    assert (event.guard, event.clause) == (first.guard, first.clause)


@pytest.mark.clause("EXPL-1")
def test_a_state_that_waits_without_end_has_no_time_left(road: RoadMap) -> None:
    drive = Drive(Place(road))
    assert drive.tick().state == states.PLAN_ONCE
    assert drive.last.timeout is None
