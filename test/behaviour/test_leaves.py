"""What states remember and ask for, one tick each, with memories made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour import states, table
from tuling_fsm.behaviour.memory import (
    FreeDrivingLadder,
    Memory,
    PlanOutcome,
    RouteProgress,
    RouteQuestion,
    RoutingMemory,
)
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.behaviour.on_road.explore import EXPLORE
from tuling_fsm.behaviour.on_road.memory import ExploreMemory, OnRoadMemory, RouteBlock
from tuling_fsm.behaviour.on_road.normal import NORMAL
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.parking.memory import ParkingMemory, SlotSearch, TargetSlot
from tuling_fsm.behaviour.parking.parked import PARKED
from tuling_fsm.behaviour.parking.slot_search import SLOT_SEARCH, area_of, edges_before, into_slot
from tuling_fsm.behaviour.temporary_stop.pickup_decision import PICKUP_DECISION
from tuling_fsm.behaviour.temporary_stop.plan_once import PLAN_ONCE
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import load, nest
from tuling_fsm.core.request import FreeSpace, Hold, Limit, PlanResult, Reason
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import MissionPoint

from .views import CLOCK, DRIVES, FAILED, at, remembering, view_of
from .worlds import FAR_LANE, NEAR_Y, Drive, Place, in_normal, mission, plan, route_along

GOALS = (Pose(60.0, NEAR_Y, 0.0), Pose(80.0, NEAR_Y, 0.0))


FLAGS = {
    # Which states defer another route, or one the other way, ask for one themselves (or for none), take a pushed one
    # as the answer, or are directed by hand.
    states.PLAN_ONCE: "dap", states.REGRESSION: "t", states.NORMAL: "", states.SOLID_LINE_FREE: "",
    states.NO_LINE_FREE: "", states.REPLAN: "dap", states.EXPLORE: "", states.SAFE_DRIVING: "d",
    states.JUNCTION_NO_LINE_FREE: "dh", states.JUNCTION_REGRESSION: "dt", states.APPROACH: "d", states.STOPPED: "da",
    states.PICKUP_DECISION: "da", states.NEXT_PLAN_ONCE: "dap", states.SLOT_SEARCH: "", states.SLOT_ENTRY: "d",
    states.PARKED: "d",
}  # fmt: skip


@pytest.mark.clause("RRF-2", "INT-5")
def test_which_states_defer_a_route_ask_for_one_or_are_directed_by_hand() -> None:
    found = {}
    for path, leaf in table(BehaviourParameters()).leaves.items():
        body = leaf.body
        asks = "a" * body.asks_itself + "p" * body.takes_pushed
        found[path] = "d" * body.defers_route + "t" * body.turning_back + asks + "h" * body.by_hand
    assert {path: flags for path, flags in found.items() if path in FLAGS} == FLAGS


@pytest.mark.clause("NOR-7", "EXP-4")
def test_normal_forgets_exploring_and_blocks_and_counts_progress_from_here(road: RoadMap) -> None:
    block = RouteBlock(np.zeros((0, 3)), ())
    memory = NORMAL.enter(
        remembering(road, on_road=OnRoadMemory(block, ExploreMemory(9.0, 2, 3, True)), progress=RouteProgress(1.0, 2.0))
    )
    assert (memory.progress, memory.on_road.exploring, memory.on_road.block) == (
        RouteProgress(50.0, CLOCK),
        ExploreMemory(),
        None,
    )


@pytest.mark.clause("NOR-7")
@pytest.mark.parametrize(
    ("s", "plan", "here"),
    [
        (49.1, DRIVES, False),
        (48.9, DRIVES, True),
        (50.9, DRIVES, False),
        (51.1, DRIVES, True),
        (50.0, PlanOutcome(True, limit=Limit(Reason.RED_LIGHT)), True),
        (50.0, FAILED, False),
    ],
)
def test_a_metre_is_progress_and_so_is_waiting_rightly(road: RoadMap, s: float, plan: PlanOutcome, here: bool) -> None:
    before = RouteProgress(s, CLOCK - 5.0)
    after = NORMAL.update(remembering(road, plan=plan, progress=before)).progress
    assert after == (RouteProgress(50.0, CLOCK) if here else before)


@pytest.mark.clause("EXP-4")
@pytest.mark.parametrize(
    ("spent", "changes", "after"),
    [
        (29.9, {}, (29.95, 1, False)),
        (29.95, {}, (0.0, 2, True)),
        (29.95, {"localized": False}, (29.95, 1, False)),
        (20.0, {"timed_out": True}, (20.0, 1, True)),
    ],
)
def test_time_in_explore(road: RoadMap, spent: float, changes: dict[str, Any], after: tuple[float, int, bool]) -> None:
    changes = dict(changes)
    exploring = ExploreMemory(spent, 1, 4, changes.pop("timed_out", False))
    memory = EXPLORE.update(
        remembering(road, on_road=OnRoadMemory(exploring=exploring), ladder=FreeDrivingLadder(GOALS), **changes)
    )
    found = memory.on_road.exploring
    assert (found.spent_s, found.timeouts, found.timed_out) == (pytest.approx(after[0]), *after[1:])
    assert found.visits == 4
    entered = EXPLORE.enter(remembering(road, on_road=OnRoadMemory(exploring=replace(exploring, timed_out=True))))
    assert entered.on_road.exploring == ExploreMemory(spent, 1, 5, False)


@pytest.mark.clause("EXP-1")
def test_where_explore_looks(road: RoadMap) -> None:
    route = route_along(road)
    memory = EXPLORE.enter(remembering(road, routing=RoutingMemory(route=route)))
    places = memory.ladder.goals
    assert places[4:] == places[:4], "on the road first, then beyond its edges as well"
    places = places[:4]
    assert all(abs(place.y - NEAR_Y) <= 10.0 and math.dist(place[:2], (50.0, NEAR_Y)) <= 10.01 for place in places)
    assert [place.x for place in places[:2]] == pytest.approx([60.0, 54.0]), "as near together as that"
    offsets = [abs(place.y - NEAR_Y) for place in places]
    assert offsets == sorted(offsets), "the nearest to the route first"
    for i, one in enumerate(places):
        assert all(math.dist(one[:2], other[:2]) >= 4.0 for other in places[:i])
    assert EXPLORE.enter(remembering(road, routing=RoutingMemory())).ladder.exhausted, "no route, nothing to look for"


@pytest.mark.clause("EXP-1", "EXP-2")
@pytest.mark.parametrize(
    ("failing", "x", "localized", "again"),
    [
        (None, 59.5, True, True),
        (None, 58.5, True, False),
        (CLOCK - 1.0, 50.0, True, True),
        (CLOCK - 0.95, 50.0, True, False),
        (CLOCK - 1.0, 50.0, False, False),
    ],
)
def test_explore_looks_again_when_there_or_after_a_rest(
    road: RoadMap, failing: float | None, x: float, localized: bool, again: bool
) -> None:
    ladder = FreeDrivingLadder(GOALS, 0 if failing is None else 2, failing_since=failing)
    routing = RoutingMemory(route=route_along(road))
    memory = EXPLORE.update(remembering(road, x, ladder=ladder, routing=routing, localized=localized))
    assert (memory.ladder.goals != GOALS) is again


@pytest.mark.clause("EXP-2", "EXP-3")
def test_what_explore_tries_beside(road: RoadMap) -> None:
    routing = RoutingMemory(route=route_along(road))
    period = remembering(road).context.parameters.explore.probe_period
    for ago, tried in ((period, True), (period - 0.05, False)):
        probe = EXPLORE.probe(remembering(road, routing=routing, probed_at=CLOCK - ago))
        assert (probe is not None) is tried
    assert EXPLORE.probe(remembering(road, routing=RoutingMemory())) is None
    assert EXPLORE.probe(remembering(road, routing=routing, localized=False)) is None
    probe = EXPLORE.probe(remembering(road, routing=routing))
    assert isinstance(probe, FreeSpace)
    parameters = remembering(road).context.parameters
    distances = np.arange(parameters.regression.target, parameters.free.radius, 4.0)
    assert probe.goal == pytest.approx((50.0 + distances[-1], NEAR_Y, 0.0))
    assert (probe.goal_tolerance, probe.goal_heading_tolerance) == (0.5, 0.35)
    request = EXPLORE.request(remembering(road, ladder=FreeDrivingLadder(GOALS)))
    assert isinstance(request, FreeSpace)
    assert (request.goal, request.free_heading, request.goal_tolerance) == (GOALS[0], True, 0.5)
    assert request.speed_limit <= 5.0 / 3.6 + 1e-3


@pytest.mark.clause("EXP-2")
def test_explore_tries_the_nearest_target_where_that_is_beyond_the_lane_markings_that_hold(road: RoadMap) -> None:
    parameters = load(BehaviourParameters, nest({"regression.target": 30.0, "free.radius": 20.0}))
    view = remembering(road, routing=RoutingMemory(route=route_along(road)))
    probe = EXPLORE.probe(replace(view, context=replace(view.context, parameters=parameters)))
    assert isinstance(probe, FreeSpace)
    assert probe.goal == pytest.approx((80.0, NEAR_Y, 0.0))


def test_a_new_memory_is_empty() -> None:
    assert RouteQuestion() == RouteQuestion("initial", 0, 0, None, 0.0, False)
    routing = RoutingMemory()
    assert (routing.route, routing.kept, routing.outbox, routing.held) == (None, None, (), ())
    assert (routing.switched, routing.arrived) == (False, False)
    assert (routing.number, routing.refresh, routing.refreshed_at) == (0, -1, 0.0)
    assert (routing.ticket, routing.serves) == (0, 0)
    memory = Memory()
    assert (memory.entered, memory.probed_at, memory.unexplained_s) == (False, -math.inf, 0.0)
    assert (memory.ladder.exhausted, memory.ladder.rung, memory.ladder.lines.shape) == (True, 0, (0, 4))
    assert (memory.plan, memory.probe) == (PlanOutcome(False, True, Reason.NONE, Limit(Reason.NONE), False, 0.0),) * 2
    assert (memory.progress, memory.reports) == (RouteProgress(0.0, 0.0), ())
    assert (memory.rules.walls, memory.rules.zones, memory.rules.speed_limit) == ((), (), math.inf)
    assert memory.on_road.exploring == ExploreMemory(0.0, 0, 0, False)
    round_ = memory.parking.round
    assert (round_.area, round_.passes, round_.preset, round_.asking, round_.stuck) == (-1, 0, 0, False, False)
    assert (memory.parking.tried_at, memory.mission.ticket, memory.mission.attempts) == (
        -math.inf,
        0,
        0,
    )
    assert (memory.mission.elapsed_s, memory.mission.summed_at, memory.mission.near) == (
        0.0,
        -math.inf,
        False,
    )
    assert (memory.stop.waiting, memory.stop.settled, memory.stop.failed, memory.stop.done) == (False,) * 4
    assert (memory.stop.edges, memory.stop.waited_s, memory.stop.stood_s) == (True, 0.0, 0.0)


@pytest.mark.clause("PRK-5", "EXP-4")
def test_why_the_car_is_parked(road: RoadMap) -> None:
    target_slot = TargetSlot("slot 4", Pose(0.0, 0.0, 0.0), 5.0, 2.5)
    for timed_out, entry, rest in (
        (True, target_slot, Hold(Reason.TIMEOUT, detail="no way on after exploring 3 times")),
        (False, target_slot, Hold(Reason.ARRIVED, detail="parked in slot 4")),
        (False, None, Hold(Reason.ARRIVED, detail="parked")),
    ):
        view = remembering(
            road,
            on_road=OnRoadMemory(RouteBlock(np.zeros((0, 3)), ()), ExploreMemory(9.0, 3, 3, timed_out)),
            parking=ParkingMemory(entry=entry),
        )
        memory = PARKED.enter(view)
        assert PARKED.request(view.having(memory)) == rest
        assert memory.parking == ParkingMemory(rest=rest)
        assert (memory.on_road.exploring, memory.on_road.block) == (ExploreMemory(), None)
    assert PARKED.request(remembering(road)) == Hold(Reason.ARRIVED, detail="parked")


def result(feasible: bool = True, **more: Any) -> PlanResult:
    t, row = np.array((0.0, 1.0, 2.0)), np.zeros(3)
    driven = Trajectory(0.0, t, np.array((0.0, 3.0, 0.0)), np.array((0.0, 4.0, 0.0)), row, row, row, row)
    return PlanResult(feasible, driven, Limit(Reason.NONE), Reason.NONE, **more)


def test_what_is_kept_of_a_plan() -> None:
    assert PlanOutcome.of(None) == PlanOutcome()
    assert PlanOutcome.of(result()) == PlanOutcome(True, travel=10.0), "the way there and back"
    assert PlanOutcome.of(result(uses_reverse=True)).uses_reverse
    assert PlanOutcome.of(replace(result(False), trajectory=None)) == PlanOutcome(True, False)


@pytest.mark.clause("TMP-3", "DEP-2")
@pytest.mark.parametrize(
    ("goal", "around", "after"),
    [
        (MissionGoal(GoalKind.PICKUP, MissionPoint("", 150.0, -5.25, 0.0), 0), None, Pose(155.0, -5.25, 0.0)),
        (MissionGoal(GoalKind.PICKUP, MissionPoint("", 150.0, -5.25, 0.0), 0), Pose(1.0, 1.0, 0.0), None),
        (MissionGoal(GoalKind.CAR_PARK, MissionPoint("", 150.0, -5.25, 0.0)), None, None),
        (MissionGoal(GoalKind.PICKUP, None, 0), None, None),
    ],
)
def test_after_a_failure_the_way_is_asked_for_the_other_way_round(
    road: RoadMap, goal: MissionGoal, around: Pose | None, after: Pose | None
) -> None:
    late = RouteQuestion("next", first=1, asked_at=CLOCK - 2.05)
    for question, turned in ((late, True), (replace(late, asked_at=CLOCK), False)):
        routing = RoutingMemory(route=route_along(road, FAR_LANE), number=1, question=question)
        memory = PLAN_ONCE.update(remembering(road, mission=MissionProgress(goal=goal, around=around), routing=routing))
        assert memory.mission.around == (
            None if not (after if turned else around) else pytest.approx(after if turned else around)
        )


@pytest.mark.clause("TPO-1")
def test_another_goal_is_asked_for_anew(road: RoadMap) -> None:
    for asked_at, ticket, anew in ((CLOCK, 3, True), (CLOCK, 2, False), (None, 3, True), (None, 2, False)):
        question = RouteQuestion("next", first=1, failures=1, asked_at=asked_at, due_at=CLOCK + 9.0, ticket=2)
        routing = RoutingMemory(route=route_along(road), number=1, ticket=2, question=question)
        memory = PLAN_ONCE.update(remembering(road, mission=MissionProgress(ticket=ticket), routing=routing))
        assert (memory.routing.question.failures == 0) is anew
    assert PLAN_ONCE.request(remembering(road, routing=RoutingMemory(question=RouteQuestion(answered=True)))) == Hold(
        Reason.NONE, detail="setting off"
    )


@pytest.mark.clause("PUD-1")
def test_what_keeps_the_next_goal_from_being_chosen(road: RoadMap) -> None:
    adding = Hold(Reason.NO_ROUTE, detail="adding up route lengths, 0 tasks are open")
    assert PICKUP_DECISION.request(remembering(road)) == adding
    assert PICKUP_DECISION.request(remembering(road, localized=False)) == Hold(Reason.NOT_LOCALIZED)


@pytest.mark.clause("PRK-1", "PRK-3")
@pytest.mark.parametrize(
    ("area", "stamp", "entry"), [(-1, 7.0, None), (3, 7.0, None), (-1, 8.0, None), (-1, 7.0, "bay")]
)
def test_without_an_area_a_search_begins_anew(road: RoadMap, area: int, stamp: float, entry: str | None) -> None:
    target_slot = None if entry is None else TargetSlot(entry, Pose(0.0, 0.0, 0.0), 5.0, 2.5)
    round_ = SlotSearch(area, stamp, passes=1, asking=True, stuck=True, start=GOALS[0])
    view = view_of(Place(road), route_along(road))
    view = at(
        view,
        mission=MissionProgress(mission(stamp=7.0)),
        parking=ParkingMemory(round_, entry=target_slot, entry_fault="why"),
        routing=RoutingMemory(route=route_along(road)),
    )
    assert area_of(view) is None
    memory = SLOT_SEARCH.enter(view)
    found = memory.parking.round
    assert found == SlotSearch(-1, 7.0, barred=() if target_slot is None else (target_slot,))
    assert memory.reports == (() if target_slot is None else ("bay is barred: why",))
    assert memory.progress == RouteProgress(50.0, CLOCK)


def test_a_slot_outside_all_areas_has_no_edges_to_keep_within(road: RoadMap) -> None:
    view = remembering(road)
    target_slot = TargetSlot("", Pose(50.0, NEAR_Y, 0.0), 8.0, 3.0)
    request = into_slot(view, target_slot, edges_before(view, target_slot), 9.0, 77)
    limits = view.context.parameters.parking
    assert (request.lines.shape, request.speed_limit, request.max_expansions) == ((0, 4), 9.0, 77)
    assert (request.goal_tolerance, request.goal_heading_tolerance) == (limits.goal_tolerance, limits.goal_heading)


@pytest.mark.clause("EST-1")
def test_the_latest_probe_is_kept_while_there_is_no_other(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.behaviour.step(drive.place.world(drive.stamp, drive.route), plan(), plan(reach=7.0))
    memory = drive.behaviour.record.machine.memory
    assert (memory.plan.travel, memory.probe.travel) == (20.0, 7.0)
    drive.behaviour.step(drive.place.world(drive.stamp + 0.05, drive.route), None, None)
    memory = drive.behaviour.record.machine.memory
    assert (memory.plan, memory.probe.travel) == (PlanOutcome(), 7.0)


@pytest.mark.clause("EST-3")
def test_the_stop_says_what_stopped_it(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.place.emergency = replace(drive.place.emergency, value=False, age=0.0)
    drive.tick()
    drive.place.emergency = replace(drive.place.emergency, age=0.6)
    drive.tick()
    request = drive.last.request
    assert isinstance(request, Hold)
    assert (request.emergency, request.detail) == (True, "the remote is silent: an operator has to clear it")
    drive.place.emergency = replace(drive.place.emergency, age=0.0, clear=True)
    drive.tick()
    drive.place.emergency = replace(drive.place.emergency, value=True, clear=False)
    drive.tick()
    request = drive.last.request
    assert isinstance(request, Hold)
    assert request.detail == "commanded by the remote"
