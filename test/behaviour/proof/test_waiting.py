"""Which standstills are right, plan by plan: the truth table of NOR-7."""

from __future__ import annotations

import pytest

from tuling_fsm.behaviour.guards import EXPLAINED, waits_rightly
from tuling_fsm.behaviour.memory import YIELDS, PlanOutcome
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.map.road_map import RoadMap

from ..worlds import Place, Thing

OTHER_ID = 8


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize("reason", list(Reason))
@pytest.mark.parametrize("moving", [True, False])
@pytest.mark.parametrize("blocker", [7, OTHER_ID, -1])
def test_only_lights_people_blindness_and_a_leader_that_has_moved_explain_a_standstill(
    road: RoadMap, reason: Reason, moving: bool, blocker: int
) -> None:
    things = (Thing(80.0, 0.0, moving=moving, id=7), Thing(90.0, 0.0, moving=not moving, id=OTHER_ID))
    world = Place(road, things=things).world(100.0, None)
    moved = {7: moving, OTHER_ID: not moving}.get(blocker, False)
    expected = reason in EXPLAINED or (reason is Reason.LEADER and moved)
    assert waits_rightly(world, PlanOutcome(True, limit=Limit(reason, blocker=blocker))) == expected
    assert waits_rightly(world, PlanOutcome(True, reason=reason)) == (reason in EXPLAINED)


@pytest.mark.clause("NOR-7")
def test_no_plan_is_a_failure_unless_it_is_a_stop_for_a_light_or_a_person_or_one_that_has_begun() -> None:
    assert EXPLAINED >= set(YIELDS) == {Reason.RED_LIGHT, Reason.PEDESTRIAN}
    assert not PlanOutcome().failed, "nothing is known yet"
    assert not PlanOutcome(True, True).failed
    assert PlanOutcome(True, False).failed
    for reason in Reason:
        assert PlanOutcome(True, False, reason).failed == (reason not in YIELDS)
        held = reason is Reason.PLAN_REJECTED
        assert PlanOutcome(True, False, limit=Limit(reason)).failed == (reason not in YIELDS and not held)
    assert PlanOutcome(True, False, Reason.PLAN_REJECTED, Limit(Reason.PLAN_REJECTED)).failed
