"""Free-space driving from attempt to attempt, case by case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour import free_driving
from tuling_fsm.behaviour.free_driving import begin, go_on, reached, toward_goal
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import FreeDrivingLadder, PlanOutcome
from tuling_fsm.behaviour.on_road.free_states import SOLID_LINE_FREE
from tuling_fsm.behaviour.permissions import FREE_SPACE, ON_LANES
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, Hold, Reason
from tuling_fsm.map.road_map import RoadMap

from .views import CLOCK, DRIVES, FAILED, remembering
from .worlds import NEAR_Y

GOALS = (Pose(60.0, NEAR_Y, 0.0), Pose(80.0, NEAR_Y, 0.0))


@pytest.mark.clause("REG-2", "USE-9")
@pytest.mark.parametrize(
    ("plan", "rung", "since", "after"),
    [
        (DRIVES, 0, CLOCK - 9.0, (0, None)),
        (FAILED, 0, None, (0, CLOCK)),
        (FAILED, 0, CLOCK - 0.25, (0, CLOCK - 0.25)),
        (FAILED, 0, CLOCK - 0.3, (1, None)),
        (FAILED, 1, CLOCK - 0.3, (2, CLOCK)),
        (FAILED, 2, CLOCK - 9.0, (2, CLOCK - 9.0)),
        (DRIVES, 2, CLOCK - 9.0, (2, CLOCK - 9.0)),
    ],
)
def test_an_attempt_is_kept_until_it_keeps_failing(
    road: RoadMap, plan: PlanOutcome, rung: int, since: float | None, after: tuple[int, float | None]
) -> None:
    taken: list[int] = []

    def lines(_: BehaviourView, at_rung: int) -> Any:
        taken.append(at_rung)
        return np.full((1, 4), float(at_rung))

    ladder = FreeDrivingLadder(GOALS, rung, failing_since=since)
    found = go_on(remembering(road, plan=plan, ladder=ladder), lines).ladder
    assert (found.rung, found.failing_since) == after
    assert taken == ([1] if (rung, after[0]) == (0, 1) else [])
    first = begin(remembering(road), GOALS, lines).ladder
    assert (first.rung, first.failing_since, first.lines[0, 0]) == (0, None, 0.0)
    assert begin(remembering(road), (), lines).ladder.failing_since == CLOCK


def test_places_ahead_are_three_metres_apart_at_least(road: RoadMap) -> None:
    first, second, *_ = SOLID_LINE_FREE.enter(remembering(road)).ladder.goals
    assert (first.x, second.x) == pytest.approx((65.0, 65.0))
    assert abs(first.y - second.y) == pytest.approx(3.5), "the nearest on every lane first"


def test_at_the_goal_of_an_attempt(road: RoadMap) -> None:
    for x, there in ((59.1, True), (58.9, False), (60.9, True), (61.1, False)):
        assert reached(remembering(road, x, ladder=FreeDrivingLadder(GOALS))) is there
        assert not reached(remembering(road, x, ladder=FreeDrivingLadder(GOALS, 2)))
    away = Pose(60.0, NEAR_Y + 1.1, 0.0)
    assert not reached(remembering(road, 60.0, ladder=FreeDrivingLadder((away,))))
    held = toward_goal(remembering(road, ladder=FreeDrivingLadder(GOALS, 2)), 1.0)
    assert held == Hold(Reason.NO_PATH, detail="all of 2 free-space attempts have failed")
    assert toward_goal(remembering(road, ladder=FreeDrivingLadder(GOALS), localized=False), 1.0) == Hold(
        Reason.NOT_LOCALIZED
    )


def test_which_lines_hold(road: RoadMap) -> None:
    view = remembering(road)
    solid, edges = free_driving.solid_lines(view), free_driving.road_edges(view)
    assert len(solid) > 0
    assert len(edges) > 0
    assert len(free_driving.lines_held(view, ON_LANES)) == len(solid) + len(edges)
    assert free_driving.lines_held(view, FREE_SPACE).shape == (0, 4)


@pytest.mark.clause("SLF-2")
def test_the_lane_planner_is_tried_now_and_then(road: RoadMap) -> None:
    for ago, changes, tried in (
        (0.2, {}, True),
        (0.15, {}, False),
        (9.0, {"localized": False}, False),
        (9.0, {"route": None}, False),
    ):
        assert (free_driving.lane_probe(remembering(road, probed_at=CLOCK - ago, **changes)) is not None) is tried


@pytest.mark.clause("SLF-2", "USE-5")
def test_to_creep_up_to_a_person_is_no_way_out(road: RoadMap) -> None:
    rules = remembering(road).memory.rules._replace(creeps_up=True)
    view = remembering(road, rules=rules, probed_at=CLOCK - 9.0)
    probe = free_driving.lane_probe(view)
    assert free_driving.follow_lanes(view).creeps_up
    assert isinstance(probe, FollowLanes) and not probe.creeps_up
