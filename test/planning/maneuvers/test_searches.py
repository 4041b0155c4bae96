"""What a plan leaves to the next tick. A car that stands searches in steps, one a tick; a search in vain is made again
after a change or a while. Until then it stands, and says why.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, PlanningRequest, PlanResult, PullOver, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.free_space import plan_free_space, solver
from tuling_fsm.planning.free_space.hybrid_a_star import BestPath, search
from tuling_fsm.planning.planner import Planner

from ..scenes import Thing, scene
from .closed_loop import PARAMETERS, PLANNER, VEHICLE, drive_checked
from .places import slot

BEYOND = FreeSpace(Pose(20.0, 0.0, 0.0))
RETRY = PARAMETERS.maneuver.retry


def closed(x0: float = -4.0) -> FloatArray:
    """Four walls around the car, the one behind it at `x0`."""
    corners = [(x0, -3.0), (9.0, -3.0), (9.0, 3.0), (x0, 3.0)]
    return np.array([(*corners[i], *corners[(i + 1) % 4]) for i in range(4)])


HERE = scene(0.0, segments=closed())


def after(first: PlanResult, now: Scene, request: PlanningRequest = BEYOND, seconds: float = 0.05) -> PlanResult:
    return PLANNER.plan(request, replace(now, stamp=seconds), first)


def ticks(request: PlanningRequest, where: Scene, previous: PlanResult | None = None) -> list[PlanResult]:
    """All results up to the one with which the search is over, a tick each."""
    results = [PLANNER.plan(request, where, previous)]
    while results[-1].search is not None:
        assert len(results) < 20
        results.append(PLANNER.plan(request, replace(where, stamp=where.stamp + 0.05 * len(results)), results[-1]))
    return results


@pytest.fixture(scope="module")
def first() -> PlanResult:
    found = replace(ticks(BEYOND, replace(HERE, stamp=-0.1))[-1], search=None)
    assert found.reason is Reason.NO_PATH
    assert found.in_vain[0].scene.stamp == 0.0
    assert len(found.in_vain) == 1
    return found


@pytest.mark.clause("USE-9", "EXPL-1")
def test_it_is_not_made_again_on_the_next_ticks(first: PlanResult) -> None:
    jitter = HERE.ego._replace(pose=Pose(0.05, -0.05, 0.01))
    result = first
    for k in range(1, 10):
        result = after(result, replace(HERE, ego=jitter), seconds=0.05 * k)
        assert result.in_vain == first.in_vain
        assert not result.feasible
        assert result.reason is result.limit.reason is Reason.NO_PATH
        assert result.limit.detail == f"none found {0.05 * k:.2f} s ago"
        assert result.trajectory is not None and result.trajectory.stands


@pytest.mark.clause("USE-9")
def test_it_is_made_again_after_a_while(first: PlanResult) -> None:
    again = ticks(BEYOND, replace(HERE, stamp=RETRY + 0.1), first)
    assert len(again) == 3
    for result in again:
        assert not result.feasible, "there is none as before, until one is found"
        assert result.reason is result.limit.reason is Reason.NO_PATH
    assert again[-1].in_vain[0].scene.stamp > RETRY


CHANGES = {
    "the car is elsewhere": (replace(HERE, ego=HERE.ego._replace(pose=Pose(0.5, 0.0, 0.0))), BEYOND),
    "it is turned": (replace(HERE, ego=HERE.ego._replace(pose=Pose(0.0, 0.0, 0.2))), BEYOND),
    "a wall is elsewhere": (replace(HERE, static_segments=closed(-4.5)), BEYOND),
    "something has come": (scene(0.0, segments=closed(), things=(Thing(1, 14.0, 0.0),)), BEYOND),
    "another goal": (HERE, replace(BEYOND, goal=Pose(20.0, 1.0, 0.0))),
    "another line": (HERE, replace(BEYOND, lines=np.array(((30.0, 0.0, 30.0, 1.0),)))),
    "forward only": (HERE, replace(BEYOND, allow_reverse=False)),
}


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize("change", CHANGES)
def test_it_is_made_again_at_once_after_a_change(change: str, first: PlanResult) -> None:
    now, request = CHANGES[change]
    assert after(first, now, request).search is not None


@pytest.mark.clause("USE-9")
def test_what_is_far_and_the_order_of_what_is_seen_change_nothing() -> None:
    near, beside, far = Thing(4, 14.0, 0.0), Thing(2, 14.0, 5.0), Thing(9, 95.0, 3.0)
    found = ticks(BEYOND, scene(0.0, segments=closed(), things=(near, beside)))[-1]
    assert found.in_vain
    for things in ((beside, near), (near, beside, far), (far, beside, near)):
        again = after(found, scene(0.0, segments=closed(), things=things), seconds=0.2)
        assert again.search is None and again.in_vain == found.in_vain
    moved = (near, replace(beside, x=14.5))
    assert after(found, scene(0.0, segments=closed(), things=moved), seconds=0.2).search is not None


@pytest.mark.clause("USE-9")
def test_a_way_that_opens_is_taken_at_once(first: PlanResult) -> None:
    result = after(first, replace(HERE, static_segments=np.zeros((0, 4))))
    assert result.feasible
    assert result.in_vain == ()


def test_what_needs_no_search_is_looked_at_on_every_tick() -> None:
    occupied = scene(0.0, things=(Thing(1, 20.0, 0.0),))
    result = PLANNER.plan(BEYOND, occupied, None)
    assert result.reason is Reason.GOAL_OCCUPIED
    assert result.in_vain == ()


@pytest.mark.clause("TMP-1")
def test_every_goal_at_the_roadside_is_searched_for_once() -> None:
    """However long that takes; and while it lasts, those that have been are not searched for again."""
    request = PullOver(tuple(Pose(15.0 + 3.0 * k, 0.0, 0.0) for k in range(6)))
    results = ticks(request, HERE)
    assert len(results) == 13, "each goal in three ticks, the last of the one is the first of the other"
    assert 0.05 * len(results) > RETRY
    assert not results[-1].feasible
    in_vain = results[-1].in_vain
    assert {failed.request.goal for failed in in_vain} == set(request.goals)
    again = after(results[-1], HERE, request, seconds=0.05 * len(results))
    assert not again.feasible
    assert {failed.request.goal for failed in again.in_vain} == set(request.goals)


SLOT = FreeSpace(Pose(0.0, -3.0, 0.0))
BESIDE = scene(0.0, segments=slot())


def at_once(request: FreeSpace, where: Scene) -> Trajectory:
    found = plan_free_space(request, where, VEHICLE, PARAMETERS.free_space).trajectory
    assert found is not None
    return found


@pytest.mark.clause("USE-8", "EXPL-1")
def test_a_car_that_stands_searches_in_steps_and_finds_the_same() -> None:
    *steps, last = ticks(SLOT, BESIDE)
    assert 3 <= len(steps) <= 5
    for step in steps:
        assert step.feasible
        assert step.limit.reason is Reason.PLANNING
        assert step.trajectory is not None and step.trajectory.stands
    assert last.maneuver is not None
    whole, other = last.maneuver.whole, at_once(SLOT, BESIDE)
    assert whole.stamp == pytest.approx(0.05 * len(steps)), "it begins now, not when it was looked for"
    for column in ("t", "x", "y", "heading", "curvature", "v", "a"):
        assert np.array_equal(getattr(whole, column), getattr(other, column)), column


def test_a_search_goes_on_the_same_from_what_was_kept_of_it() -> None:
    results = ticks(SLOT, BESIDE)
    fresh = Planner(VEHICLE, PARAMETERS)
    for k in range(1, len(results)):
        kept = replace(results[k - 1], alternatives=tuple)
        again = fresh.plan(SLOT, replace(BESIDE, stamp=0.05 * k), pickle.loads(pickle.dumps(kept)))
        now, other = again.trajectory, results[k].trajectory
        assert now is not None and other is not None
        assert np.array_equal(now.x, other.x)
        assert np.array_equal(now.v, other.v)
        assert again.limit == results[k].limit


@pytest.mark.parametrize(
    "now",
    [scene(0.0, segments=slot(), things=(Thing(1, 30.0, 0.0),)), scene(0.5, segments=slot()), scene(0.0, 0.0, 0.1)],
    ids=["something has come", "the car is elsewhere", "it is turned"],
)
def test_after_a_change_on_the_way_the_search_is_made_at_once(now: Scene) -> None:
    results = ticks(SLOT, BESIDE)
    result = after(results[0], now, SLOT)
    assert result.search is None
    assert result.maneuver is not None


def test_a_car_that_rolls_plans_at_once_and_so_does_one_that_only_asks() -> None:
    rolling = scene(0.0, v=1.2, segments=slot())
    assert PLANNER.plan(SLOT, rolling, None).maneuver is not None
    only = PLANNER.plan(replace(SLOT, feasibility_only=True), BESIDE, None)
    assert only.feasible
    assert only.maneuver is not None
    nowhere = PLANNER.plan(replace(BEYOND, feasibility_only=True), HERE, None)
    assert nowhere.reason is Reason.NO_PATH


def test_what_is_planned_at_once_is_searched_for_half_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    def counted(task: Any, tree: Any, found: BestPath, *others: Any) -> Any:
        result = search(task, tree, found, *others)
        used.append(int(found.used[0]))
        return result

    def most_of(results: Sequence[PlanResult]) -> int:
        assert results[-1].limit.reason is Reason.TIMEOUT
        total = sum(used)
        used.clear()
        return total

    monkeypatch.setattr(solver, "search", counted)
    request = replace(BEYOND, max_expansions=400)
    steps = ticks(request, HERE)
    assert 200 < most_of(steps) <= 400
    assert 100 < most_of([after(steps[0], scene(0.0, segments=closed(-4.5)), request)]) <= 200
    assert 100 < most_of([PLANNER.plan(request, scene(0.0, v=1.2, segments=closed()), None)]) <= 200


@pytest.mark.clause("EXPL-1")
@pytest.mark.medium
def test_a_car_that_rolls_slowly_stops_first() -> None:
    creeping = PLANNER.plan(SLOT, scene(0.0, v=0.6, segments=slot()), None)
    assert creeping.search is None
    assert creeping.limit.reason is Reason.PLANNING
    assert creeping.trajectory is not None
    assert creeping.trajectory.length < 1.0
    log = drive_checked(SLOT, scene(0.0, v=0.6, segments=slot()), 40.0)
    assert log[-1][2].limit.reason is Reason.ARRIVED
