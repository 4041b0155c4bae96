"""Seeking a slot and waiting for one, tick by tick with memories made by hand (TMP-1, TMP-3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal
from tuling_fsm.behaviour.temporary_stop import guards
from tuling_fsm.behaviour.temporary_stop.approach import APPROACH
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, Hold, PullOver, Reason
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import Junction
from tuling_fsm.map.road_map import RoadMap

from ..mission.tasks import FRONT
from ..views import CLOCK, at
from ..worlds import FAR_Y, VEHICLE
from .looks import AT_X, DRIVES, FAILED, POINT, look, stopped


@pytest.mark.clause("TMP-1", "USE-9")
@pytest.mark.parametrize(
    ("plan", "since", "edges", "after"),
    [
        (DRIVES, CLOCK - 9.0, True, {"failing_since": None, "edges": True, "waiting": False}),
        (FAILED, None, True, {"failing_since": CLOCK, "edges": True, "waiting": False}),
        (FAILED, CLOCK - 0.25, True, {"failing_since": CLOCK - 0.25, "edges": True, "waiting": False}),
        (FAILED, CLOCK - 0.3, True, {"failing_since": None, "edges": False, "waiting": False}),
        (FAILED, CLOCK - 0.3, False, {"failing_since": None, "edges": False, "waiting": True, "usable": (0, 1)}),
    ],
)
def test_without_a_plan_the_road_s_edge_is_lifted_and_then_the_car_waits(
    road: RoadMap, plan: PlanOutcome, since: float | None, edges: bool, after: dict[str, Any]
) -> None:
    view = look(road, plan=plan)
    stop = APPROACH.update(at(view, stop=stopped(view, failing_since=since, edges=edges))).stop
    assert {name: getattr(stop, name) for name in after} == after
    assert not stop.failed


@pytest.mark.clause("USE-7")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        (Reason.NO_PATH, Reason.NO_PATH),
        (Reason.TIMEOUT, Reason.TIMEOUT),
        (Reason.PLAN_REJECTED, Reason.PLAN_REJECTED),
        (Reason.NONE, Reason.NO_PATH),
    ],
)
def test_beside_free_slots_the_car_says_why_there_is_no_way_into_one(road: RoadMap, said: Reason, code: Reason) -> None:
    view = look(road, plan=PlanOutcome(True, False, said))
    waits = APPROACH.update(at(view, stop=stopped(view, failing_since=CLOCK - 1.0, edges=False)))
    settled = at(view, stop=replace(waits.stop, settled=True))
    request = APPROACH.request(settled)
    assert isinstance(request, Hold)
    assert (request.reason, request.detail) == (code, "no way into a slot, a way round in 10 s")
    over = APPROACH.update(at(view, stop=replace(waits.stop, settled=True, waited_s=10.0)))
    for failed in (over, APPROACH.update(at(view, unexplained_s=60.0))):
        assert failed.stop.failed
        assert APPROACH.request(view.having(failed)) == Hold(code, detail="the next mission goal is being chosen")
        assert any(f"there is no way into a slot ({code.value})" in line for line in failed.reports)


def test_an_edge_that_no_slot_lies_beyond_is_not_lifted(road: RoadMap) -> None:
    view = look(road, plan=FAILED, point=replace(POINT, slots=POINT.slots[1:]))
    stop = APPROACH.update(at(view, stop=stopped(view, failing_since=CLOCK - 1.0))).stop
    assert (stop.edges, stop.waiting) == (True, True)


@pytest.mark.clause("TMP-3")
@pytest.mark.parametrize(
    ("changes", "settled", "waited"),
    [
        ({}, False, 3.0),
        ({"x": 139.6}, True, 3.05),
        ({"x": 139.4}, False, 3.0),
        ({"x": 139.6, "v": 0.11}, False, 3.0),
        ({"x": 139.6, "v": -0.11}, False, 3.0),
        ({"places": ()}, True, 3.05),
        ({"places": (), "v": 1.0}, True, 3.0),
        ({"settled": True}, True, 3.05),
        ({"plan": FAILED, "failing_since": CLOCK - 0.3}, True, 3.05),
        ({"plan": FAILED, "failing_since": CLOCK - 0.25}, False, 3.0),
    ],
)
def test_the_wait_counts_while_the_car_stands_out_of_the_way(
    road: RoadMap, changes: dict[str, Any], settled: bool, waited: float
) -> None:
    changes = dict(changes)
    stop = {key: changes.pop(key) for key in ("places", "settled", "failing_since") if key in changes}
    view = look(road, **changes)
    memory = {"places": (Pose(140.0, FAR_Y, 0.0),), "waiting": True, "waited_s": 3.0, "usable": (0, 1), **stop}
    after = APPROACH.update(at(view, stop=stopped(view, **memory))).stop
    assert (after.settled, after.waited_s, after.waiting) == (settled, pytest.approx(waited), True)
    free = APPROACH.update(at(view, stop=stopped(view, **{**memory, "usable": (0,)}))).stop
    assert (free.waiting, free.failing_since) == (False, None), "a slot has become free"


@pytest.mark.clause("TMP-3", "USE-2")
@pytest.mark.parametrize(
    ("waited", "spent", "localized", "failed"),
    [
        (9.9, 0.0, True, False),
        (9.95, 0.0, True, True),
        (0.0, 60.0, True, True),
        (0.0, 59.9, True, False),
        (9.95, 0.0, False, False),
    ],
)
def test_an_attempt_ends(road: RoadMap, waited: float, spent: float, localized: bool, failed: bool) -> None:
    view = look(road, localized=localized)
    memory = stopped(view, waiting=True, places=(), waited_s=waited, usable=(0, 1))
    after = APPROACH.update(at(view, stop=memory, unexplained_s=spent))
    assert (after.stop.failed, after.mission.attempts) == (failed, int(failed))
    assert any("there is no way into a slot" in line for line in after.reports) is failed
    parks = replace(view.memory.mission, goal=MissionGoal(GoalKind.CAR_PARK))
    assert not APPROACH.update(at(view, stop=memory, unexplained_s=99.0, mission=parks)).stop.failed
    idle = APPROACH.update(at(view, stop=memory, unexplained_s=spent, mission=replace(parks, goal=MissionGoal())))
    assert (idle.stop.failed, idle.mission.attempts) == (failed, 0), "it is no attempt at a task"


@pytest.mark.clause("TMP-3")
@pytest.mark.parametrize(
    ("v", "junction", "x"),
    [
        (0.0, None, [140.0, 145.0, 150.0]),
        (6.0, None, [150.0, 155.0, 160.0]),
        (0.0, (156.0, 170.0), [140.0, 145.0]),
        (0.0, (154.0, 170.0), [140.0]),
        (0.0, (149.0, 170.0), []),
        (0.0, (100.0, 139.0), [140.0, 145.0, 150.0]),
        (0.0, (100.0, 141.0), []),
    ],
)
def test_where_the_car_waits(road: RoadMap, v: float, junction: tuple[float, float] | None, x: list[float]) -> None:
    junctions = () if junction is None else (JunctionAhead(*junction, Junction("", (), {}, False), 0, 0, junction[0]),)
    view = look(road, v=v, plan=FAILED, junctions=junctions)
    after = APPROACH.update(at(view, stop=stopped(view, failing_since=CLOCK - 1.0, edges=False))).stop
    assert after.waiting
    assert [place.x for place in after.places] == pytest.approx(x, abs=0.01)
    for place in after.places:
        assert place.y == pytest.approx(-7.0 + 0.5 * (VEHICLE.width + 0.3) + 0.25, abs=0.26), "at the road's edge"


@pytest.mark.parametrize(
    ("stop", "goal", "dropped"),
    [
        ({}, None, False),
        ({}, MissionGoal(GoalKind.UNDECIDED), True),
        ({}, MissionGoal(GoalKind.CAR_PARK), True),
        ({"failed": True}, MissionGoal(GoalKind.CAR_PARK), False),
        ({"failed": True}, MissionGoal(GoalKind.UNDECIDED), True),
        ({"done": True}, MissionGoal(GoalKind.UNDECIDED), False),
    ],
)
def test_a_task_that_is_dropped(road: RoadMap, stop: dict[str, bool], goal: MissionGoal | None, dropped: bool) -> None:
    view = look(road)
    progress = view.memory.mission if goal is None else replace(view.memory.mission, goal=goal)
    view = at(view, stop=stopped(view, **stop), mission=progress)
    assert guards.task_dropped(view) is dropped
    assert guards.attempt_failed(view) is stop.get("failed", False)
    assert guards.mission_goal_chosen(view) is (progress.goal.kind is not GoalKind.UNDECIDED)
    assert not guards.nothing_left(view)
    assert guards.boarded(view) is stop.get("done", False)
    assert not guards.alighted(view)
    down = at(view, stop=stopped(view, goal=MissionGoal(GoalKind.DROPOFF)))
    assert (guards.boarded(down), guards.alighted(down)) == (False, stop.get("done", False))
    idle = at(view, mission=replace(progress, goal=MissionGoal()))
    assert (guards.nothing_left(idle), guards.mission_goal_chosen(idle)) == (True, False)


@pytest.mark.clause("NOR-10")
@pytest.mark.parametrize(
    ("stop", "there", "travel", "left"),
    [
        ({}, False, 20.0, False),
        ({}, True, 0.1, True),
        ({}, True, 3.0, False),
        ({"stood_s": 0.1}, False, 20.0, True),
        ({"failed": True}, True, 0.1, False),
        ({"done": True}, True, 0.1, False),
    ],
)
def test_where_nothing_is_left_to_do_the_car_first_comes_to_stand_in_the_slot(
    road: RoadMap, stop: dict[str, Any], there: bool, travel: float, left: bool
) -> None:
    view = look(road)
    if there:
        ego = view.world.ego._replace(pose=view.memory.stop.roadside_slots[0].goal)
        view = replace(view, world=replace(view.world, ego=ego))
    memory = stopped(view, **stop)
    idle = replace(view.memory.mission, goal=MissionGoal(GoalKind.NOTHING))
    plan = PlanOutcome(True, travel=travel)
    assert guards.task_dropped(at(view, stop=memory, mission=idle, plan=plan)) is left


@pytest.mark.clause("TMP-1")
def test_what_is_asked_for_on_the_way(road: RoadMap) -> None:
    near = look(road, x=AT_X - FRONT - 21.0)
    assert isinstance(APPROACH.request(near), PullOver)
    far = look(road, x=AT_X - FRONT - 23.0)
    request = APPROACH.request(far)
    assert isinstance(request, FollowLanes)
    assert request.goal_s is None
    assert 4.0 < request.speed_limit < 4.5
    assert isinstance(APPROACH.request(replace(far, world=replace(far.world, lanes=()))), PullOver)
    assert APPROACH.request(look(road, localized=False)) == Hold(Reason.NOT_LOCALIZED)
    over = at(near, stop=stopped(near, failed=True))
    assert APPROACH.request(over) == Hold(Reason.GOAL_OCCUPIED, detail="the next mission goal is being chosen")
    for usable, why in (((0,), "no way into a slot"), ((), "all slots are taken")):
        waits = at(near, stop=stopped(near, waiting=True, settled=True, waited_s=4.0, usable=usable))
        assert APPROACH.request(waits) == Hold(Reason.GOAL_OCCUPIED, detail=f"{why}, a way round in 6 s")
    places = (Pose(140.0, FAR_Y, 0.0),)
    drives = APPROACH.request(at(near, stop=stopped(near, waiting=True, places=places)))
    assert isinstance(drives, PullOver)
    assert (drives.goals, drives.allow_reverse) == (places, False)
    assert len(drives.lines) > 0
    for edges in (True, False):
        pulls = APPROACH.request(at(near, stop=stopped(near, edges=edges)))
        assert isinstance(pulls, PullOver)
        assert (len(pulls.lines) > 0) is edges
        assert (pulls.goal_tolerance, len(pulls.goals)) == (0.15, 2)
