"""Every guard of the hierarchy over one view, with its bounds on both sides."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tuling_fsm.behaviour import guards
from tuling_fsm.behaviour.memory import FreeDrivingLadder, PlanOutcome, RouteProgress, RouteQuestion, RoutingMemory
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.behaviour.on_road.memory import ExploreMemory, OnRoadMemory
from tuling_fsm.behaviour.parking import guards as parking_guards
from tuling_fsm.behaviour.parking.memory import ParkingMemory
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.map.road_map import RoadMap

from .views import CLOCK, DRIVES, FAILED, at, limited, look
from .worlds import FAR_Y, LENGTH, NEAR_Y, VEHICLE, Thing, route_along


@pytest.mark.clause("REG-3")
@pytest.mark.parametrize(
    ("degrees", "changes", "back", "off_route"),
    [
        (29.0, {}, True, False),
        (-29.0, {}, True, False),
        (31.0, {}, False, False),
        (59.0, {}, False, False),
        (61.0, {}, False, True),
        (-61.0, {}, False, True),
        (0.0, {"y": 1.0}, False, True),
        (0.0, {"localized": False}, False, False),
        (61.0, {"localized": False}, False, False),
        (61.0, {"route": None}, False, False),
    ],
)
def test_on_the_road_and_along_it(
    road: RoadMap, degrees: float, changes: dict[str, Any], back: bool, off_route: bool
) -> None:
    # Between the lanes the whole body is on the road.
    view = look(road, heading=math.radians(degrees), **{"y": 0.5 * (NEAR_Y + FAR_Y), **changes})
    assert (guards.back_on_road(view), guards.off_route(view)) == (back, off_route)
    off = changes.get("y", 0.0) > 0.0
    assert guards.off_road(view) is off
    assert guards.not_localized(view) is not changes.get("localized", True)
    if off:
        assert not guards.off_road(look(road, y=1.0, localized=False))
        assert not guards.off_road(look(road, y=1.0, route=None))


OUTER = 0.5 * VEHICLE.width


@pytest.mark.clause("REG-3", "NOR-6")
@pytest.mark.parametrize(
    ("y", "heading", "back"),
    [
        (NEAR_Y, 0.5, False),
        (FAR_Y, -0.5, False),
        (-OUTER + 0.09, 0.0, True),
        (-OUTER + 0.11, 0.0, False),
        (-7.0 + OUTER - 0.09, 0.0, True),
        (-7.0 + OUTER - 0.11, 0.0, False),
        (NEAR_Y + 0.39, 0.09, True),
    ],
)
def test_the_whole_body_is_back_on_the_road(road: RoadMap, y: float, heading: float, back: bool) -> None:
    assert guards.back_on_road(look(road, y=y, heading=heading)) is back


@pytest.mark.clause("REG-3")
def test_where_lanes_are_narrow_it_is_straight_in_the_middle_of_its_own(road: RoadMap) -> None:
    view = look(road, y=-OUTER + 0.5)
    for offset, heading, back in (
        (0.39, 0.09, True),
        (-0.39, -0.09, True),
        (0.41, 0.0, False),
        (-0.41, 0.0, False),
        (0.0, 0.11, False),
        (0.0, -0.11, False),
    ):
        world = replace(view.world, route_offset=offset, heading_error=heading)
        assert guards.back_on_road(replace(view, world=world)) is back


@pytest.mark.clause("NOR-10", "USE-7", "USE-10")
@pytest.mark.parametrize(
    ("to_end", "changes", "ended"),
    [
        (1.9, {}, True),
        (2.1, {}, False),
        (1.9, {"v": 0.09}, True),
        (1.9, {"v": 0.11}, False),
        (1.9, {"v": -0.11}, False),
        (1.9, {"heading": 0.6}, False),
        (1.9, {"heading": 0.5}, True),
        (1.9, {"y": 1.0}, False),
        (1.9, {"localized": False}, False),
        # What stands at the end is stopped before, bumper to it.
        (2.0 + VEHICLE.front - 0.1, {"memory": {"plan": limited(Reason.OBSTACLE)}}, True),
        (2.0 + VEHICLE.front - 0.1, {"memory": {"plan": PlanOutcome(True, False, Reason.OBSTACLE)}}, True),
        (2.0 + VEHICLE.front + 0.1, {"memory": {"plan": limited(Reason.OBSTACLE)}}, False),
        (2.0 + VEHICLE.front - 0.1, {"memory": {"plan": limited(Reason.LEADER)}}, False),
        (1.9, {"memory": {"mission": MissionProgress(goal=MissionGoal(GoalKind.PICKUP))}}, False),
        (1.9, {"memory": {"mission": MissionProgress(goal=MissionGoal(GoalKind.GOAL))}}, True),
    ],
)
def test_the_end_of_the_route(road: RoadMap, to_end: float, changes: dict[str, Any], ended: bool) -> None:
    view = look(road, LENGTH - to_end, **changes)
    assert guards.route_ended(view) is ended
    failed = at(view, plan=replace(view.memory.plan, feasible=False), progress=RouteProgress(0.0, 0.0))
    assert guards.no_path(failed) is not ended
    assert guards.no_progress(failed) is not ended
    assert not guards.stands_at_end(replace(view, world=replace(view.world, route=None)), True)


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize(
    ("plan", "failed"),
    [
        (FAILED, True),
        (DRIVES, False),
        (replace(FAILED, known=False), False),
        (replace(FAILED, reason=Reason.RED_LIGHT), False),
        (replace(FAILED, limit=Limit(Reason.PEDESTRIAN)), False),
        (replace(FAILED, limit=Limit(Reason.LEADER)), True),
    ],
)
def test_no_path(road: RoadMap, plan: PlanOutcome, failed: bool) -> None:
    assert plan.failed is failed
    assert guards.no_path(look(road, memory={"plan": plan})) is failed
    assert plan.yields is (Reason.RED_LIGHT is plan.reason or Reason.PEDESTRIAN is plan.limit.reason)


@pytest.mark.clause("NOR-7", "USE-2")
@pytest.mark.parametrize(
    ("waited", "reason", "stuck"),
    [
        (9.95, Reason.NONE, False),
        (10.0, Reason.NONE, True),
        (10.0, Reason.OBSTACLE, True),
        (10.0, Reason.STOP_SIGN, False),
        (10.0, Reason.JUNCTION_OCCUPIED, False),
        (10.0, Reason.JUNCTION_EXIT_BLOCKED, False),
    ],
)
def test_no_progress(road: RoadMap, waited: float, reason: Reason, stuck: bool) -> None:
    memory = {"plan": limited(reason), "progress": RouteProgress(50.0, CLOCK - waited)}
    assert guards.no_progress(look(road, memory=memory)) is stuck
    assert parking_guards.search_stands_still(look(road, memory=memory)) is stuck
    assert not parking_guards.search_stands_still(look(road, memory=memory, localized=False))
    lost = {**memory, "parking": ParkingMemory(lost_since=CLOCK - waited)}
    assert parking_guards.lost_for_long(look(road, memory=lost, localized=False)) is stuck
    assert not parking_guards.lost_for_long(look(road, memory=lost))
    assert not parking_guards.lost_for_long(look(road, memory=memory, localized=False))
    turning = {**memory, "parking": ParkingMemory(turning_since=CLOCK)}
    assert not parking_guards.search_stands_still(look(road, memory=turning))


def test_patience_at_a_junction_ends_too(road: RoadMap) -> None:
    patience = look(road).context.parameters.normal.junction_patience
    for waited, stuck in ((patience - 0.05, False), (patience, True)):
        memory = {"plan": limited(Reason.STOP_SIGN), "progress": RouteProgress(50.0, CLOCK - waited)}
        assert guards.no_progress(look(road, memory=memory)) is stuck


@pytest.mark.clause("SLF-2", "NLF-3")
@pytest.mark.parametrize(
    ("probe", "changes", "out"),
    [
        (replace(DRIVES, travel=5.0), {}, None),
        (replace(DRIVES, travel=0.0), {}, False),
        (limited(Reason.RED_LIGHT), {}, True),
        (DRIVES, {}, True),
        (replace(DRIVES, known=False), {}, False),
        (replace(DRIVES, feasible=False), {}, False),
        (DRIVES, {"y": 1.0}, False),
        (DRIVES, {"y": -OUTER + 0.09}, True),
        (DRIVES, {"y": -OUTER + 0.11}, False),
        (DRIVES, {"v": -0.09}, True),
        (DRIVES, {"v": -0.11}, False),
        (DRIVES, {"memory": {"plan": replace(DRIVES, uses_reverse=True)}}, False),
        (DRIVES, {"memory": {"plan": PlanOutcome(False, uses_reverse=True)}}, True),
        (DRIVES, {"memory": {"plan": limited(Reason.CROSSING, uses_reverse=True)}}, True),
        (DRIVES, {"memory": {"plan": limited(Reason.CROSSING, uses_reverse=True, travel=1.0)}}, False),
        (DRIVES, {"memory": {"plan": limited(Reason.OBSTACLE, uses_reverse=True)}}, False),
    ],
)
def test_a_way_out(road: RoadMap, probe: PlanOutcome, changes: dict[str, Any], out: bool | None) -> None:
    changes = {**changes, "memory": {"probe": probe, **changes.get("memory", {})}}
    view = look(road, **changes)
    if out is None:
        least = view.context.parameters.free.way_out
        for travel, gets_on in ((least, True), (least - 0.01, False)):
            assert guards.way_out(at(view, probe=replace(probe, travel=travel))) is gets_on
        return
    assert guards.way_out(view) is out


@pytest.mark.clause("SLF-2", "USE-7")
@pytest.mark.parametrize(("end", "out"), [(51.9, True), (52.1, False)])
def test_at_the_end_of_the_route_no_plan_has_to_lead_farther(road: RoadMap, end: float, out: bool) -> None:
    memory = {"probe": PlanOutcome(True)}
    assert guards.way_out(look(road, route=route_along(road, end=end), memory=memory)) is out


@pytest.mark.clause("NOR-7")
def test_waiting_rightly(road: RoadMap) -> None:
    leader = Thing(70.0, NEAR_Y, moving=True, id=3)
    parked = Thing(80.0, NEAR_Y, id=4)
    world = look(road, things=(parked, leader)).world
    for outcome, rightly in (
        (limited(Reason.LEADER, 3), True),
        (limited(Reason.LEADER, 4), False),
        (limited(Reason.LEADER, 5), False),
        (limited(Reason.OBSTACLE, 3), False),
        (limited(Reason.RED_LIGHT), True),
        (PlanOutcome(True, False, Reason.PEDESTRIAN), True),
        (limited(Reason.OBJECTS_STALE), True),
        (limited(Reason.RADAR_STALE), True),
        (DRIVES, False),
    ):
        assert guards.waits_rightly(world, outcome) is rightly


def test_flags_of_the_memory(road: RoadMap) -> None:
    two = (Pose(0.0, 0.0, 0.0), Pose(1.0, 0.0, 0.0))
    for rung, exhausted in ((0, False), (1, False), (2, True), (3, True)):
        ladder = FreeDrivingLadder(two, rung)
        assert guards.attempts_exhausted(look(road, memory={"ladder": ladder})) is exhausted
        assert ladder.goal == two[min(rung, 1)]
    assert guards.attempts_exhausted(look(road, memory={"ladder": FreeDrivingLadder()}))
    for spent, late in ((59.95, False), (60.0, True)):
        assert guards.overdue(look(road, memory={"unexplained_s": spent})) is late
    for answered in (False, True):
        routing = RoutingMemory(question=RouteQuestion(answered=answered), switched=answered)
        view = look(road, memory={"routing": routing})
        assert guards.route_found(view) is answered
        assert guards.route_switched(view) is answered


@pytest.mark.clause("RPL-1", "RPL-3")
@pytest.mark.parametrize(
    ("failures", "answered", "none"), [(2, False, False), (3, False, True), (4, False, True), (3, True, False)]
)
def test_no_way_round(road: RoadMap, failures: int, answered: bool, none: bool) -> None:
    question = RouteQuestion(failures=failures, answered=answered)
    view = look(road, memory={"routing": RoutingMemory(route_along(road), question=question)})
    assert view.context.parameters.route.replan_attempts == 3
    assert guards.no_way_round(view) is none
    nowhere = at(view, routing=RoutingMemory(question=question))
    assert guards.no_way_round(nowhere) is not answered, "there is nowhere to ask a route to"
    assert guards.nothing_blocked(view)


@pytest.mark.clause("EXP-2", "EXP-4")
@pytest.mark.parametrize(
    ("visits", "in_state_s", "out"),
    [
        (0, 0.0, True),
        (1, 0.0, True),
        (2, 0.95, False),
        (2, 1.0, True),
        (3, 1.95, False),
        (3, 2.0, True),
        (9, 5.0, True),
    ],
)
def test_a_way_to_the_route_is_believed_a_little_later_after_each_visit(
    road: RoadMap, visits: int, in_state_s: float, out: bool
) -> None:
    memory = {"probe": DRIVES, "on_road": OnRoadMemory(exploring=ExploreMemory(visits=visits))}
    assert guards.way_to_route(look(road, in_state_s=in_state_s, memory=memory)) is out
    for probe in (replace(DRIVES, known=False), replace(DRIVES, feasible=False)):
        assert not guards.way_to_route(look(road, in_state_s=9.0, memory={**memory, "probe": probe}))
    assert not guards.way_to_route(look(road, in_state_s=9.0, memory=memory, localized=False))


@pytest.mark.clause("EXP-4")
@pytest.mark.parametrize(("timed_out", "timeouts", "given_up"), [(True, 2, False), (True, 3, True), (False, 3, False)])
def test_exploring_ends(road: RoadMap, timed_out: bool, timeouts: int, given_up: bool) -> None:
    view = look(road, memory={"on_road": OnRoadMemory(exploring=ExploreMemory(timed_out=timed_out, timeouts=timeouts))})
    assert guards.explore_timed_out(view) is timed_out
    assert guards.explore_given_up(view) is given_up
