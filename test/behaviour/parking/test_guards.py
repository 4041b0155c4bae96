"""The guards of `parking`, case by case."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tuling_fsm.behaviour.memory import FreeDrivingLadder, PlanOutcome, RoutingMemory
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.behaviour.parking import guards as parking_guards
from tuling_fsm.behaviour.parking.memory import ParkingMemory, SlotSearch, TargetSlot
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import MissionPoint

from ..views import CLOCK, DRIVES, FAILED, at, limited, look
from ..worlds import LENGTH, NEAR_Y, VEHICLE, Thing, route_along

BAY = TargetSlot("b", Pose(50.0, NEAR_Y, 0.0), 8.0, 3.0)


@pytest.mark.clause("PRK-2", "USE-2")
@pytest.mark.parametrize(
    ("since", "rung", "cannot"),
    [(None, 9, False), (CLOCK, 0, False), (CLOCK - 59.95, 0, False), (CLOCK - 60.0, 0, True), (CLOCK, 1, True)],
)
def test_turning_round_ends(road: RoadMap, since: float | None, rung: int, cannot: bool) -> None:
    memory = {"parking": ParkingMemory(turning_since=since), "ladder": FreeDrivingLadder((BAY.pose,), rung)}
    assert parking_guards.cannot_turn(look(road, memory=memory)) is cannot


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize(
    ("plan", "changes", "none"),
    [
        (FAILED, {}, True),
        (DRIVES, {}, False),
        (FAILED, {"localized": False}, False),
        (FAILED, {"v": -1.0}, True),
        (PlanOutcome(True, False, Reason.PLAN_REJECTED), {"v": 0.09}, True),
        (PlanOutcome(True, False, Reason.PLAN_REJECTED), {"v": -0.09}, True),
        (PlanOutcome(True, False, Reason.PLAN_REJECTED), {"v": -0.11}, False),
    ],
)
def test_no_way_into_the_slot(road: RoadMap, plan: PlanOutcome, changes: dict[str, Any], none: bool) -> None:
    assert (
        parking_guards.no_way_in(look(road, memory={"plan": plan, "parking": ParkingMemory(entry=BAY)}, **changes))
        is none
    )
    assert parking_guards.no_way_in(look(road, memory={"plan": plan}, **changes))


MIDDLE = 0.5 * (VEHICLE.front - VEHICLE.rear_overhang)


@pytest.mark.clause("PRK-3", "PRK-4", "USE-10")
@pytest.mark.parametrize(
    ("plan", "changes", "inside"),
    [
        (limited(Reason.ARRIVED), {}, True),
        (limited(Reason.TARGET), {}, True),
        (limited(Reason.NONE), {}, False),
        (limited(Reason.ARRIVED, travel=0.1), {}, False),
        (replace(limited(Reason.ARRIVED), known=False), {}, False),
        (replace(limited(Reason.ARRIVED), feasible=False), {}, False),
        (limited(Reason.ARRIVED), {"v": 0.09}, True),
        (limited(Reason.ARRIVED), {"v": 0.11}, False),
        (limited(Reason.ARRIVED), {"v": -0.11}, False),
        (limited(Reason.ARRIVED), {"localized": False}, False),
        (limited(Reason.ARRIVED), {"x": 50.0 - MIDDLE + 0.29}, True),
        (limited(Reason.ARRIVED), {"x": 50.0 - MIDDLE - 0.31}, False),
        (limited(Reason.ARRIVED), {"y": NEAR_Y + 0.29}, True),
        (limited(Reason.ARRIVED), {"y": NEAR_Y + 0.31}, False),
        (limited(Reason.ARRIVED), {"heading": math.radians(4.9)}, True),
        (limited(Reason.ARRIVED), {"heading": math.radians(-4.9)}, True),
        (limited(Reason.ARRIVED), {"heading": math.radians(5.1)}, False),
    ],
)
def test_parked(road: RoadMap, plan: PlanOutcome, changes: dict[str, Any], inside: bool) -> None:
    view = look(road, **{"x": 50.0 - MIDDLE, "memory": {"plan": plan, "parking": ParkingMemory(entry=BAY)}, **changes})
    assert parking_guards.in_slot(view) is inside
    assert not parking_guards.in_slot(at(view, parking=ParkingMemory()))
    narrow = BAY._replace(length=4.6)
    assert not parking_guards.in_slot(at(view, parking=ParkingMemory(entry=narrow))), "a bumper looks out of it"


def test_other_rows_of_parking(road: RoadMap) -> None:
    stone = (Thing(50.0, NEAR_Y, length=0.5, width=0.5),)
    for things, target_slot, localized, taken in (
        (stone, BAY, True, True),
        ((), BAY, True, False),
        (stone, None, True, False),
        (stone, BAY, False, False),
    ):
        view = look(
            road,
            20.0,
            things=things,
            localized=localized,
            memory={"parking": ParkingMemory(entry=target_slot, found=target_slot)},
        )
        assert parking_guards.slot_taken(view) is taken
        assert parking_guards.slot_found(view) is (target_slot is not None and localized)
    for spent, overdue in ((119.95, False), (120.0, True)):
        assert parking_guards.entry_overdue(look(road, in_state_s=spent)) is overdue
    for called in (False, True):
        assert parking_guards.reset_called(look(road, reset=called)) is called


@pytest.mark.clause("PRK-1")
def test_a_mission_with_another_place_to_go_to_is_not_parked_on(road: RoadMap) -> None:
    place = MissionPoint("", 300.0, NEAR_Y, 0.0)
    for goal, elsewhere in (
        (MissionGoal(GoalKind.CAR_PARK, place), False),
        (MissionGoal(GoalKind.GOAL, place), True),
        (MissionGoal(GoalKind.PICKUP, place, 0), True),
        (MissionGoal(GoalKind.NOTHING), False),
    ):
        memory = {"mission": MissionProgress(goal=goal), "parking": ParkingMemory(found=BAY)}
        view = look(road, 20.0, memory=memory)
        assert parking_guards.sent_elsewhere(view) is elsewhere
        assert parking_guards.slot_found(view) is not elsewhere


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("to_end", "changes", "driven"),
    [
        (1.9, {}, True),
        (2.1, {}, False),
        (7.9, {"plan": limited(Reason.OBSTACLE)}, True),
        (7.9, {"plan": PlanOutcome(True, False, Reason.OBSTACLE)}, True),
        (8.1, {"plan": limited(Reason.OBSTACLE)}, False),
        (7.9, {"plan": limited(Reason.LEADER)}, False),
        (7.9, {"plan": limited(Reason.OBSTACLE), "v": 0.11}, False),
        (7.9, {"plan": limited(Reason.OBSTACLE), "v": -0.11}, False),
        (7.9, {"plan": limited(Reason.OBSTACLE), "heading": 1.2}, False),
        (1.9, {"localized": False}, False),
        (1.9, {"routing": RoutingMemory()}, False),
    ],
)
def test_the_route_of_the_search_has_been_driven(
    road: RoadMap, to_end: float, changes: dict[str, Any], driven: bool
) -> None:
    changes = dict(changes)
    route = route_along(road)
    memory = {key: changes.pop(key) for key in ("plan", "routing") if key in changes}
    view = look(road, LENGTH - to_end, route=route, memory={"routing": RoutingMemory(route=route), **memory}, **changes)
    assert parking_guards.route_driven(view) is driven


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize(
    ("parking", "changes", "blocked"),
    [
        (ParkingMemory(), {}, True),
        (ParkingMemory(turning_since=CLOCK), {}, False),
        (ParkingMemory(SlotSearch(asking=True)), {}, False),
        (ParkingMemory(), {"heading": 0.7}, False),
        (ParkingMemory(), {"heading": 1.2}, False),
        (ParkingMemory(), {"x": LENGTH - 1.0}, False),
    ],
)
def test_the_aisle_is_blocked(road: RoadMap, parking: ParkingMemory, changes: dict[str, Any], blocked: bool) -> None:
    route = route_along(road)
    memory = {"plan": FAILED, "parking": parking, "routing": RoutingMemory(route=route)}
    assert parking_guards.lane_blocked(look(road, route=route, memory=memory, **changes)) is blocked
    assert not parking_guards.lane_blocked(look(road, route=route, memory={**memory, "plan": DRIVES}, **changes))
