"""A planner keeps nothing that a result depends on, and shares nothing with another."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, PlanningRequest, PlanResult, PullOver
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.free_space.solver import new_tree
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.lane_lines import LaneLineCache, smooth_lines
from tuling_fsm.planning.lanes.workspace import LaneWorkspace
from tuling_fsm.planning.planner import Planner

from .free_space.places import slot_across, slot_along
from .lane_drives import PARAMETERS, VEHICLE
from .scenes import TICK_S, Thing, follow, obstacles, road, scene

Case = tuple[PlanningRequest, Scene]
TICKS = 4
LEADER, CROSSING = Thing(7, 45.0, 0.0, v=3.0), Thing(8, 60.0, -8.0, 1.57, 2.0)
LANES = road(2)
ALONG = FreeSpace(Pose(0.0, 0.0, 0.0))
ACROSS = FreeSpace(Pose(0.0, 0.0, 0.0), goal_tolerance=0.1)
CASES: dict[str, tuple[Case, Case]] = {
    "lanes": (
        (follow(LANES), scene(v=7.0, things=(LEADER, CROSSING))),
        (follow(road(1, pieces=((40.0, 0.0), (40.0, 0.04)))), scene(y=0.3, v=4.0, things=(CROSSING,))),
    ),
    "free space": (
        (ALONG, scene(8.0, 3.2, segments=slot_along(0.6))),
        (ACROSS, scene(9.0, -8.0, 1.57, segments=slot_across())),
    ),
    "all": (
        (PullOver((Pose(50.0, -4.0, 0.0),)), scene(v=5.0, things=(LEADER,))),
        (ACROSS, scene(9.0, -8.0, 1.57, segments=slot_across())),
    ),
}


def later(now: Scene, tick: int) -> Scene:
    return Scene(TICK_S * tick, now.ego, now.obstacles, now.static_segments)


def plans(planner: Planner, case: Case) -> Iterator[Trajectory]:
    """Some ticks of a car that goes on with its plan, and then one that begins anew."""
    request, now = case
    result: PlanResult | None = None
    for tick in range(TICKS):
        result = planner.plan(request, later(now, tick), result)
        assert result.trajectory is not None
        yield result.trajectory
    last = planner.plan(request, now, None).trajectory
    assert last is not None
    yield last


def bits(trajectories: Iterator[Trajectory]) -> list[list[FloatArray]]:
    return [[np.copy(getattr(each, field.name)) for field in fields(each)] for each in trajectories]


def assert_same(one: list[list[FloatArray]], other: list[list[FloatArray]]) -> None:
    for mine, theirs in zip(one, other, strict=True):
        for column, same in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(column, same)


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.medium
def test_two_planners_that_take_turns_plan_as_each_alone(name: str) -> None:
    alone = [bits(plans(Planner(VEHICLE, PARAMETERS), case)) for case in CASES[name]]
    turns = [plans(Planner(VEHICLE, PARAMETERS), case) for case in CASES[name]]
    pairs = list(zip(*turns, strict=True))
    for number in range(2):
        assert_same(bits(iter([pair[number] for pair in pairs])), alone[number])


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.medium
def test_two_planners_in_two_threads_plan_as_each_alone(name: str) -> None:
    alone = [bits(plans(Planner(VEHICLE, PARAMETERS), case)) for case in CASES[name]]
    found: dict[int, list[list[FloatArray]]] = {}

    def work(number: int) -> None:
        found[number] = bits(plans(Planner(VEHICLE, PARAMETERS), CASES[name][number]))

    for _ in range(3):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(2):
            assert_same(found.pop(number), alone[number])


@pytest.mark.medium
def test_a_planner_that_has_planned_anything_else_plans_as_a_new_one() -> None:
    used = Planner(VEHICLE, PARAMETERS)
    for case in (case for pair in CASES.values() for case in pair):
        assert_same(bits(plans(used, case)), bits(plans(Planner(VEHICLE, PARAMETERS), case)))


def test_what_follows_from_the_parameters_holds_no_arrays() -> None:
    def flat(value: object) -> Iterator[object]:
        yield value
        if isinstance(value, tuple):
            for each in value:
                yield from flat(each)

    derived = DerivedParameters.of(VEHICLE, PARAMETERS)
    assert not any(isinstance(each, np.ndarray) for each in flat(derived))
    assert derived == DerivedParameters.of(VEHICLE, PARAMETERS)


def test_lines_are_smoothed_once_while_the_lanes_are_the_same() -> None:
    derived, cache = DerivedParameters.of(VEHICLE, PARAMETERS), LaneLineCache()
    first = cache.smoothed(follow(LANES), derived.reference_line, derived.body)
    assert cache.smoothed(follow(LANES, speed_limit=3.0), derived.reference_line, derived.body) is first
    assert cache.smoothed(follow(LANES, keep_lane=True), derived.reference_line, derived.body) is not first
    for _ in range(LaneLineCache.KEPT):
        cache.smoothed(follow(road(1)), derived.reference_line, derived.body)
    again = cache.smoothed(follow(LANES), derived.reference_line, derived.body)
    assert again is not first
    exact = smooth_lines(LANES, None, False, derived.reference_line, derived.body)
    for lines in (first, again):
        for at, points in enumerate(exact.points):
            np.testing.assert_array_equal(lines.row[at, :points], exact.row[at, :points])


def test_buffers_grow_with_the_objects() -> None:
    workspace = LaneWorkspace(11)
    few = workspace.buffers(3)
    many = workspace.buffers(len(few.conflicts.rows) + 1)
    assert len(many.conflicts.rows) == len(many.conflicts.spans) > len(few.conflicts.rows)
    assert many.rows is few.rows
    assert workspace.buffers(2) is many


def test_more_objects_than_there_was_room_for_are_yielded_to_all_the_same() -> None:
    crowd = [Thing(100 + i, 30.0 + 0.5 * i, -6.0, 1.57, 2.0, length=0.4, width=0.4) for i in range(150)]
    request, now = follow(LANES), scene(v=6.0)
    crowded = Scene(0.0, now.ego, obstacles(crowd), now.static_segments)
    one = Planner(VEHICLE, PARAMETERS).plan(request, crowded, None)
    used = Planner(VEHICLE, PARAMETERS)
    used.plan(request, now, None)
    other = used.plan(request, crowded, None)
    assert one.trajectory is not None and other.trajectory is not None
    assert one.limit == other.limit
    np.testing.assert_array_equal(one.trajectory.v, other.trajectory.v)


def test_a_tree_belongs_to_its_caller() -> None:
    assert new_tree().pose is not new_tree().pose
