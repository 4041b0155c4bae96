"""`parking/slot_entry` and `parked`: into the slot in reverse, or back to the search; then standing (PRK-3 to 5)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from garage import LANE_M, SLOT_LENGTH, SLOT_WIDTH, slot_pose

from behaviour.worlds import Drive, Thing, plan
from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.free_driving import NO_REVERSING
from tuling_fsm.behaviour.leaf import BehaviourContext
from tuling_fsm.behaviour.operator_calls import answer_call
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, Reason
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.mission import Mission, MissionPoint, MissionSlot
from tuling_fsm.world.world import EmergencyInput, RouteMatch

from .drives import (
    LOWER_END,
    OUTSIDE,
    UPPER_END,
    arrived,
    car_park,
    entering,
    garage,
    probes,
    route_to,
    searching,
    seen_all,
)

ROW, PLACE = 0, 4
MIDDLE_M = 0.5 * (Vehicle().front - Vehicle().rear_overhang)


def in_place(ahead: float = 0.0, left: float = 0.0, turn: float = 0.0) -> tuple[float, float, float]:
    """The rear axle of a car that stands in the slot, out of its middle by so much."""
    x, y, heading = slot_pose(ROW, PLACE)
    c, s = math.cos(heading), math.sin(heading)
    x, y = x + ahead * c - left * s, y + ahead * s + left * c
    heading += turn
    return x - MIDDLE_M * math.cos(heading), y - MIDDLE_M * math.sin(heading), heading


def person_at(ahead: float, left: float) -> Thing:
    """Somebody so far from the middle of the slot towards the aisle and to the left (m)."""
    x, y, heading = slot_pose(ROW, PLACE)
    c, s = math.cos(heading), math.sin(heading)
    return Thing(x + ahead * c - left * s, y + ahead * s + left * c, length=0.5, width=0.5, kind=Kind.PEDESTRIAN)


def parked(road_map: RoadMap) -> Drive:
    """A drive that has parked."""
    drive = entering(road_map, ROW, PLACE)
    garage(drive).go_to(*in_place())
    drive.result = arrived()
    drive.until(states.PARKED, 1.5)
    return drive


def lines(drive: Drive) -> list[str]:
    return [line for decision in drive.decisions for line in decision.reports]


@pytest.mark.clause("PRK-3", "USE-8")
def test_the_slot_is_frozen_whatever_else_becomes_free(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    first = drive.last.request
    assert isinstance(first, FreeSpace)
    assert first.allow_reverse
    assert len(first.lines) > 0
    garage(drive).slots = tuple(
        replace(slot, x=slot.x + 0.1) for slot in seen_all((ROW, PLACE), (ROW, 0), (ROW, 1), (1, 1))
    )
    for decision in drive.run(2.0):
        assert decision.state == states.SLOT_ENTRY
        assert isinstance(decision.request, FreeSpace)
        assert decision.request.goal == first.goal
        assert decision.probe is None


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize("how", ["seen", "thing"])
def test_a_slot_that_turns_out_taken_is_barred_and_the_search_goes_on(car_park_map: RoadMap, how: str) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    x, y, heading = slot_pose(ROW, PLACE)
    if how == "seen":
        garage(drive).slots = seen_all()
    else:
        garage(drive).things = (Thing(x, y, heading),)
    event = drive.until(states.SLOT_SEARCH, 1.0).transition
    assert event is not None
    assert (event.clause, event.guard) == ("PRK-3", "slot_taken")
    assert any("is barred: it is taken" in line for line in lines(drive))
    garage(drive).slots, garage(drive).things = seen_all((ROW, PLACE)), ()
    assert all(decision.probe is None for decision in drive.run(3.0))


@pytest.mark.clause("PRK-1", "PRK-3")
def test_a_slot_that_was_taken_is_barred_until_it_has_been_free_for_a_while_but_once_only(
    car_park_map: RoadMap,
) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    for again in (False, True):
        garage(drive).slots = seen_all()
        drive.until(states.SLOT_SEARCH, 1.0)
        garage(drive).slots = seen_all((ROW, PLACE))
        assert not probes(drive, 2.0)
        garage(drive).slots = seen_all()
        assert not probes(drive, 0.5), "it was not free all the time"
        garage(drive).slots = seen_all((ROW, PLACE))
        assert not probes(drive, 4.9)
        assert bool(probes(drive, 0.5)) is not again
        assert len([line for line in lines(drive) if line == "slot 204 is free again"]) == 1
        if not again:
            drive.probe = plan()
            drive.until(states.SLOT_ENTRY, 1.0)
            drive.probe = None


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize("far", [True, False])
def test_a_slot_stays_barred_that_is_not_looked_at_or_that_had_no_way_in(car_park_map: RoadMap, far: bool) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    if far:
        garage(drive).slots = seen_all()
    else:
        drive.result = plan(False)
    drive.until(states.SLOT_SEARCH, 1.5)
    drive.result = None
    garage(drive).slots = seen_all((ROW, PLACE))
    if far:
        garage(drive).go_to(0.5 * LANE_M, 15.0, 0.5 * math.pi)
    drive.run(8.0)
    assert not any("free again" in line for line in lines(drive))


@pytest.mark.clause("PRK-3", "NOR-7")
@pytest.mark.parametrize(("ahead", "left"), [(0.0, 0.0), (2.0, 1.6), (4.5, 0.0), (-2.9, -1.7)])
def test_somebody_in_the_slot_is_waited_for(car_park_map: RoadMap, ahead: float, left: float) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    somebody = replace(person_at(ahead, left), speed=0.5)
    for slots in (seen_all(), seen_all((ROW, PLACE))):
        garage(drive).things, garage(drive).slots = (somebody,), slots
        decisions = drive.run(7.0)
        assert {decision.state for decision in decisions} == {states.SLOT_ENTRY}
        assert decisions[-1].request == Hold(Reason.PEDESTRIAN, detail="somebody is in slot 204")
    garage(drive).things, garage(drive).slots = (), seen_all()
    drive.run(0.9)
    garage(drive).slots = seen_all((ROW, PLACE))
    assert isinstance(drive.run(1.0)[-1].request, FreeSpace)
    assert drive.last.state == states.SLOT_ENTRY


@pytest.mark.clause("PRK-3", "NOR-7")
def test_somebody_who_stays_in_the_slot_takes_it_after_a_while(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    begin = drive.last.stamp
    garage(drive).things, garage(drive).slots = (person_at(0.0, 0.0),), seen_all()
    event = drive.until(states.SLOT_SEARCH, 20.0).transition
    assert event is not None
    assert (event.guard, event.stamp - begin) == ("slot_taken", pytest.approx(15.3, abs=0.2))


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize(("ahead", "left"), [(5.0, 0.0), (0.0, 2.0), (-3.4, 0.0)])
def test_a_slot_is_taken_by_a_thing_or_beside_somebody_too(car_park_map: RoadMap, ahead: float, left: float) -> None:
    x, y, heading = slot_pose(ROW, PLACE)
    for things in ((person_at(ahead, left),), (person_at(0.0, 0.0), Thing(x, y, heading, id=2))):
        drive = entering(car_park_map, ROW, PLACE)
        garage(drive).things, garage(drive).slots = things, seen_all()
        drive.until(states.SLOT_SEARCH, 1.0)


@pytest.mark.clause("PRK-4")
def test_somebody_beside_the_slot_does_not_keep_the_car_from_having_parked(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    garage(drive).go_to(*in_place())
    garage(drive).things = (person_at(0.0, 1.5),)
    drive.result = arrived()
    drive.until(states.PARKED, 1.5)


@pytest.mark.clause("PRK-1", "PRK-3")
@pytest.mark.parametrize("other", [Mission(5.0), car_park(stamp=5.0)])
def test_the_edges_hold_when_the_mission_that_told_of_the_car_park_is_gone(
    no_slots_map: RoadMap, other: Mission
) -> None:
    bay = MissionSlot(slot_pose(ROW, PLACE), SLOT_LENGTH, SLOT_WIDTH)
    drive = entering(no_slots_map, ROW, PLACE, x=slot_pose(ROW, PLACE).x, mission=car_park(slots=[bay]))
    before = drive.run(0.1)[-1].request
    garage(drive).mission = other
    after = drive.run(1.0)[-1].request
    assert drive.last.state == states.SLOT_ENTRY
    assert isinstance(before, FreeSpace) and isinstance(after, FreeSpace)
    assert len(before.lines) > 0
    assert np.array_equal(after.lines, before.lines)


@pytest.mark.clause("USE-9")
def test_one_scan_that_flickers_is_no_reason_to_give_a_slot_up(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    drive.run(1.0)
    for _ in range(4):
        garage(drive).slots = seen_all()
        drive.run(0.2)
        garage(drive).slots = seen_all((ROW, PLACE))
        drive.run(0.2)
    assert drive.last.state == states.SLOT_ENTRY


@pytest.mark.clause("PRK-3")
def test_the_car_itself_does_not_take_its_slot(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    garage(drive).go_to(*in_place(ahead=3.0))
    garage(drive).slots = seen_all()
    drive.run(2.0)
    assert drive.last.state == states.SLOT_ENTRY


@pytest.mark.clause("PRK-3", "USE-7")
def test_a_slot_without_a_path_is_barred_with_the_reason(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    drive.result = replace(plan(False), reason=Reason.GOAL_OCCUPIED)
    event = drive.until(states.SLOT_SEARCH, 1.5).transition
    assert event is not None
    assert event.guard == "no_way_in"
    assert any("barred: no way in (GOAL_OCCUPIED)" in line for line in lines(drive))


@pytest.mark.clause("RFG-1", "PRK-3")
def test_in_rain_the_car_waits_before_its_slot_and_goes_on_when_it_is_over(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    drive.result = plan(False)
    decisions = drive.run(20.0, rain_fog=True)
    assert {decision.state for decision in decisions} == {states.SLOT_ENTRY}
    assert decisions[-1].request == NO_REVERSING
    drive.result = None
    assert isinstance(drive.run(6.0, rain_fog=False)[-1].request, FreeSpace)
    assert drive.last.state == states.SLOT_ENTRY


@pytest.mark.clause("RFG-1", "PRK-3")
@pytest.mark.medium
@pytest.mark.parametrize("taken", [False, True])
def test_a_slot_that_only_the_weather_forbade_is_not_barred(car_park_map: RoadMap, taken: bool) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    drive.run(1.0, rain_fog=True)
    if taken:
        garage(drive).slots = seen_all()
    left = drive.run(121.0, rain_fog=True)
    assert states.SLOT_SEARCH in {decision.state for decision in left}
    assert any("is barred" in line for line in lines(drive)) is taken


@pytest.mark.clause("PRK-3")
def test_a_plan_that_is_rejected_on_the_way_is_made_again_where_the_car_stands(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    drive.result = replace(plan(False), reason=Reason.PLAN_REJECTED)
    garage(drive).v = 1.0
    drive.run(1.0)
    assert drive.last.state == states.SLOT_ENTRY
    garage(drive).v = 0.0
    drive.until(states.SLOT_SEARCH, 1.0)


@pytest.mark.clause("PRK-3", "USE-2")
@pytest.mark.medium
def test_a_slot_that_is_not_reached_in_two_minutes_is_barred(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    begin = drive.last.stamp
    garage(drive).localized = False
    drive.tick()
    assert drive.last.request == Hold(Reason.NOT_LOCALIZED)
    event = drive.until(states.SLOT_SEARCH, 125.0).transition
    assert event is not None
    assert event.stamp - begin == pytest.approx(120.0, abs=0.1)
    assert any("barred: not reached in time" in line for line in lines(drive))


@pytest.mark.clause("PRK-3", "MAT-1")
def test_a_slot_before_which_the_match_ends_is_not_barred_in_the_next_one(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE, mission=replace(car_park(), match_time_s=10.0))
    drive.until(states.PLAN_ONCE, 10.0)
    garage(drive).mission = car_park(stamp=drive.stamp)
    garage(drive).go_to(*OUTSIDE)
    while not drive.tick().route_requests:
        assert drive.last.time_in_state_s < 20.0
    drive.answer(route_to(car_park_map, LOWER_END))
    drive.until(states.NORMAL)
    garage(drive).go_to(20.0, -0.5 * LANE_M, 0.0)
    drive.until(states.SLOT_SEARCH)
    assert not any("is barred" in line for line in lines(drive))
    drive.probe = plan()
    drive.until(states.SLOT_ENTRY, 2.0)


@pytest.mark.clause("RRF-2")
def test_slot_entry_and_parked_keep_another_route_back(car_park_map: RoadMap) -> None:
    other = route_to(car_park_map, Pose(LOWER_END.x - 4.0, LOWER_END.y, 0.0))
    for drive in (entering(car_park_map, ROW, PLACE), parked(car_park_map)):
        before = drive.route
        drive.tick(RouteMatch(-1, other))
        drive.run(1.0)
        assert drive.route is before
        assert drive.behaviour.record.machine.memory.routing.kept is other


@pytest.mark.clause("PRK-1", "USE-9")
def test_a_mission_that_leads_elsewhere_is_not_parked_on_and_the_slot_is_not_barred(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    out = MissionPoint("out", -0.5 * LANE_M, -60.0, -0.5 * math.pi)
    garage(drive).mission = Mission(drive.stamp, goal=out)
    event = drive.until(states.SLOT_SEARCH, 1.0).transition
    assert event is not None
    assert event.clause == "PRK-1"
    assert drive.behaviour.record.machine.memory.parking.round.barred == ()
    assert not any("barred" in line for line in drive.last.reports)
    drive.probe = plan()
    assert drive.until(states.NORMAL, 1.0).route is drive.route
    assert states.PARKED not in drive.states()


@pytest.mark.clause("PRK-3")
def test_a_mission_that_is_withdrawn_does_not_end_the_way_into_the_slot(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    garage(drive).mission = Mission(drive.stamp)
    assert {decision.state for decision in drive.run(2.0)} == {states.SLOT_ENTRY}


@pytest.mark.clause("PRK-4", "USE-10")
def test_parked_is_standing_inside_the_slot_with_nothing_left_to_drive(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    drive.result = arrived()
    for offset in ({"ahead": 0.35}, {"left": 0.35}, {"turn": math.radians(6.0)}, {"ahead": 0.29, "turn": 0.08}):
        garage(drive).go_to(*in_place(**offset))
        drive.run(1.0)
        assert drive.last.state == states.SLOT_ENTRY, offset
    garage(drive).go_to(*in_place(ahead=0.2, left=-0.15, turn=math.radians(2.0)))
    garage(drive).v = 0.15
    drive.result = arrived()
    drive.tick()
    garage(drive).v = 0.0
    for result in (plan(reach=0.5, reason=Reason.TARGET), plan(reach=0.0, reason=Reason.GEAR_CHANGE)):
        drive.result = result
        drive.run(1.0)
        assert drive.last.state == states.SLOT_ENTRY
    drive.result = arrived()
    event = drive.until(states.PARKED, 1.0).transition
    assert event is not None
    assert event.clause == "PRK-4"


@pytest.mark.clause("PRK-4", "USE-10")
def test_a_car_that_still_rolls_has_not_parked(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, ROW, PLACE)
    drive.result = arrived()
    for _ in range(20):
        garage(drive).go_to(*in_place())
        garage(drive).v = -0.2
        drive.tick()
    assert drive.last.state == states.SLOT_ENTRY


@pytest.mark.clause("PRK-5")
@pytest.mark.medium
def test_parked_sends_speed_zero_for_ever_whatever_comes(car_park_map: RoadMap) -> None:
    drive = parked(car_park_map)
    planner = Planner(Vehicle(), PlanningParameters())
    garage(drive).mission = car_park(UPPER_END, stamp=drive.stamp)
    drive.tick(RouteMatch(-1, route_to(car_park_map, UPPER_END)))
    garage(drive).slots = seen_all((1, 1))
    for decision in drive.run(60.0):
        assert decision.state == states.PARKED
        assert isinstance(decision.request, Hold)
    request = drive.last.request
    assert isinstance(request, Hold)
    assert request.reason is Reason.ARRIVED
    assert request.detail == "parked in slot 204"
    result = planner.plan(request, Scene(0.0, Ego(Pose(*in_place()), 0.0, 0.0, 0.0)), None)
    assert result.trajectory is not None
    assert result.trajectory.stands


@pytest.mark.clause("PRK-5")
def test_only_an_operators_reset_leaves_it_and_all_begins_anew(car_park_map: RoadMap) -> None:
    drive = parked(car_park_map)
    event = drive.tick(reset=True).transition
    assert event is not None
    assert (event.source, event.dest, event.clause) == (states.PARKED, states.PLAN_ONCE, "PRK-5")
    drive.tick()
    assert drive.last.state == states.PLAN_ONCE
    drive.answer(route_to(car_park_map, UPPER_END))
    drive.until(states.REGRESSION, 1.0)
    garage(drive).slots = seen_all((ROW, PLACE))
    garage(drive).go_to(0.5 * LANE_M, 15.0, 0.5 * math.pi)
    drive.until(states.SLOT_SEARCH, 3.0)
    garage(drive).go_to(20.0, -0.5 * LANE_M, 0.0)
    assert any(decision.probe is not None for decision in drive.run(1.0)), "the slot that it stood in is not barred"


@pytest.mark.clause("PRK-5", "EST-1")
@pytest.mark.parametrize("called", [True, False])
def test_a_reset_during_an_emergency_stop_is_heard_when_it_is_released(car_park_map: RoadMap, called: bool) -> None:
    drive = parked(car_park_map)
    drive.place.emergency = EmergencyInput(True, 0.0)
    drive.tick()
    drive.tick(reset=called)
    assert {decision.state for decision in drive.run(1.0)} == {states.PARKED}
    drive.place.emergency = EmergencyInput(False, 0.0)
    assert drive.tick().state == (states.PLAN_ONCE if called else states.PARKED)
    assert not drive.behaviour.record.machine.memory.reset


@pytest.mark.clause("PRK-5")
def test_an_operator_is_told_when_a_reset_takes_effect(car_park_map: RoadMap) -> None:
    drive = parked(car_park_map)
    assert answer_call("reset", drive.last) == (True, "on the next tick")
    drive.place.emergency = EmergencyInput(True, 0.0)
    assert answer_call("reset", drive.tick()) == (True, "when the emergency stop is released")


@pytest.mark.clause("PRK-5", "EST-1")
def test_a_reset_before_the_car_is_parked_does_not_count_later(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map)
    drive.place.emergency = EmergencyInput(True, 0.0)
    drive.tick(reset=True)
    drive.place.emergency = EmergencyInput(False, 0.0)
    garage(drive).go_to(*in_place())
    drive.result = arrived()
    drive.until(states.PARKED)
    assert {decision.state for decision in drive.run(1.0)} == {states.PARKED}


def test_live_parameters_take_effect_on_the_next_tick(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    context: BehaviourContext = drive.behaviour.context
    slower = replace(context.parameters, parking=replace(context.parameters.parking, speed=1.0))
    drive.behaviour.context = replace(context, parameters=slower)
    request = drive.tick().request
    assert isinstance(request, FollowLanes)
    assert request.speed_limit == 1.0
