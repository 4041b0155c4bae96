"""What a search for a slot remembers from tick to tick: tries, turning round, and the round it is on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from garage import SLOT_LENGTH, SLOT_WIDTH, slot_pose

from behaviour.views import CLOCK, at
from behaviour.worlds import Thing
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import FreeDrivingLadder, PlanOutcome, RoutingMemory
from tuling_fsm.behaviour.parking.memory import ParkingMemory, SlotSearch, TargetSlot
from tuling_fsm.behaviour.parking.slot_search import SLOT_SEARCH, TURN_FROM_M
from tuling_fsm.behaviour.routing import destination
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap

from .drives import LOWER_END, UPPER_END, car_park, look, route_to, seen_all, to_park


def searching(road_map: RoadMap, parking: ParkingMemory, **more: Any) -> BehaviourView:
    """In the search, on its route."""
    route = route_to(road_map, LOWER_END)
    memory = {key: more.pop(key) for key in ("probe", "probed_at", "plan") if key in more}
    view = look(road_map, route=route, **more)
    return at(view, routing=RoutingMemory(route=route), parking=parking, **memory)


ROUND = SlotSearch(area=0, mission_stamp=0.0)
OTHER = TargetSlot("other", slot_pose(0, 6), SLOT_LENGTH, SLOT_WIDTH)


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(
    ("probe", "probed_at", "found", "failed"),
    [
        (PlanOutcome(True), CLOCK - 0.05, True, False),
        (PlanOutcome(True, False), CLOCK - 0.05, False, True),
        (PlanOutcome(), CLOCK - 0.05, False, False),
        (PlanOutcome(True), CLOCK - 0.1, False, False),
    ],
)
def test_what_comes_of_a_try(
    car_park_map: RoadMap, probe: PlanOutcome, probed_at: float, found: bool, failed: bool
) -> None:
    parking = ParkingMemory(ROUND, trying=OTHER, tried_at=CLOCK - 0.05)
    view = searching(car_park_map, parking, slots=seen_all((0, 6)), probe=probe, probed_at=probed_at)
    after = SLOT_SEARCH.update(view).parking
    assert after.found == (OTHER if found else None)
    assert after.failed == (((OTHER, CLOCK),) if failed else ())
    assert after.trying == (None if found or failed else OTHER)
    lost = SLOT_SEARCH.update(replace(view, world=replace(view.world, localized=False)))
    assert lost.parking == replace(parking, lost_since=CLOCK)
    full = searching(car_park_map, parking, slots=seen_all(), probe=probe, probed_at=probed_at)
    assert SLOT_SEARCH.update(full).parking.found is None


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(
    ("parking", "tried"),
    [
        (ParkingMemory(ROUND, tried_at=CLOCK - 0.2), True),
        (ParkingMemory(ROUND, tried_at=CLOCK - 0.15), False),
        (ParkingMemory(ROUND, tried_at=CLOCK - 9.0, found=OTHER), False),
        (ParkingMemory(ROUND, failed=((OTHER, CLOCK - 1.95),)), False),
        (ParkingMemory(ROUND, failed=((OTHER, CLOCK - 2.0),)), True),
        (ParkingMemory(replace(ROUND, barred=(OTHER,))), False),
    ],
)
def test_which_slot_is_tried_next(car_park_map: RoadMap, parking: ParkingMemory, tried: bool) -> None:
    after = SLOT_SEARCH.update(searching(car_park_map, parking, slots=seen_all((0, 6)))).parking
    assert (after.trying is not None) is tried
    if tried:
        assert after.tried_at == CLOCK
        assert after.failed == ()
        assert after.trying is not None
        assert after.trying.is_at(OTHER.pose.x, OTHER.pose.y)


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize("again", [1.0, None])
def test_a_search_goes_on_when_its_mission_is_sent_again_or_not_heard(
    car_park_map: RoadMap, again: float | None
) -> None:
    parking = ParkingMemory(replace(ROUND, passes=1, goal=LOWER_END))
    view = searching(car_park_map, parking)
    mission = None if again is None else car_park(stamp=again)
    view = replace(view, world=replace(view.world, mission=mission))
    assert destination(view) == LOWER_END
    assert SLOT_SEARCH.update(view).parking.round == parking.round
    assert SLOT_SEARCH.enter(view).parking.round == parking.round


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(("asking", "goal"), [(True, UPPER_END), (False, LOWER_END)])
def test_without_a_mission_the_goal_of_a_search_counts_while_it_is_asked_for(
    car_park_map: RoadMap, asking: bool, goal: Pose
) -> None:
    round_ = replace(ROUND, mission_stamp=None, asking=asking, goal=UPPER_END)
    view = searching(car_park_map, ParkingMemory(round_), mission=None)
    assert destination(view) == pytest.approx(goal, abs=0.01)


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize("area", [0, 1])
def test_another_mission_begins_the_search_anew_where_the_car_is(car_park_map: RoadMap, area: int) -> None:
    """Its slots may join areas, which are then numbered otherwise."""
    old = replace(ROUND, area=area, passes=1, barred=(OTHER,), asking=True, goal=LOWER_END)
    view = searching(car_park_map, ParkingMemory(old))
    view = at(view, mission=to_park(car_park(stamp=1.0)))
    assert SLOT_SEARCH.update(view).parking.round == SlotSearch(area=0, mission_stamp=1.0)


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(("since", "turns"), [(None, False), (CLOCK - 0.25, False), (CLOCK - 0.3, True)])
def test_a_car_that_is_off_route_begins_to_turn(car_park_map: RoadMap, since: float | None, turns: bool) -> None:
    parking = ParkingMemory(replace(ROUND, start=LOWER_END), off_route_since=since)
    view = searching(car_park_map, parking, pose=Pose(20.0, -1.75, 1.6), slots=seen_all())
    after = SLOT_SEARCH.update(view)
    assert after.parking.turning_since == (CLOCK if turns else None)
    assert after.parking.off_route_since == (None if turns else CLOCK if since is None else since)
    if turns:
        first = after.ladder.goals[0]
        assert first.x == pytest.approx(20.0 + TURN_FROM_M, abs=0.05)
    along = SLOT_SEARCH.update(searching(car_park_map, parking, slots=seen_all())).parking
    assert (along.off_route_since, along.round.start) == (None, None)


@pytest.mark.clause("PRK-1", "PRK-3")
@pytest.mark.parametrize(
    ("area", "stamp", "same"), [(0, 0.0, True), (1, 0.0, False), (0, 1.0, False), (-1, None, False)]
)
def test_a_search_goes_on_in_its_own_area_and_mission(
    car_park_map: RoadMap, area: int, stamp: float | None, same: bool
) -> None:
    before = SlotSearch(area, stamp, passes=1, driven=(("2", 0),), asking=True, stuck=True, start=LOWER_END)
    memory = SLOT_SEARCH.enter(searching(car_park_map, ParkingMemory(before, entry=OTHER)))
    kept = replace(before, asking=False, stuck=False, start=None) if same else ROUND
    assert memory.parking == ParkingMemory(replace(kept, barred=(OTHER,)))
    assert memory.reports == ("other is barred: not reached in time",)


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("x", "v", "reverse", "turning"),
    [(24.0, 0.2, False, False), (20.0, 0.2, False, True), (24.0, 0.05, False, True), (24.0, 0.2, True, True)],
)
def test_turning_ends_at_its_goal_and_on_the_move(
    car_park_map: RoadMap, x: float, v: float, reverse: bool, turning: bool
) -> None:
    parking = ParkingMemory(replace(ROUND, start=LOWER_END), turning_since=CLOCK - 3.0)
    plan = PlanOutcome(True, uses_reverse=reverse, travel=5.0)
    view = searching(car_park_map, parking, pose=Pose(x, -1.75, 0.0), v=v, slots=seen_all(), plan=plan)
    view = at(view, ladder=FreeDrivingLadder((Pose(24.0, -1.75, 0.0),), route=view.world.route))
    after = SLOT_SEARCH.update(view)
    assert after.parking.turning_since == (CLOCK - 3.0 if turning else None)
    assert (after.progress.at == CLOCK) is not turning
    anew = SLOT_SEARCH.update(at(view, ladder=replace(view.memory.ladder, route=None)))
    assert (anew.ladder.route is view.world.route) is turning


@pytest.mark.clause("PRK-2")
def test_the_car_turns_to_a_place_within_24_m(car_park_map: RoadMap) -> None:
    parking = ParkingMemory(ROUND, off_route_since=CLOCK - 1.0)
    for length, many in ((0.0, 4), (12.0, 2), (27.0, 0)):
        blocked = (Thing(16.0 + 0.5 * length, -1.75, length=length, width=2.0),) if length else ()
        view = searching(car_park_map, parking, pose=Pose(14.0, -1.75, 1.6), slots=seen_all(), things=blocked)
        goals = SLOT_SEARCH.update(view).ladder.goals
        assert len(goals) >= many if many else goals == ()
        assert all(14.0 + TURN_FROM_M - 0.1 <= goal.x <= 14.0 + 22.1 for goal in goals)
