"""Which alternatives the lane planner looks at, and which of them wins."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.request import Candidate, PlanResult, Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import ChoiceParameters, PlanningParameters
from tuling_fsm.planning.planner import Planner

from ..scenes import LANE, Thing, drive, follow, road, scene

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
PLANNER = Planner(VEHICLE, PARAMETERS)
SIGHT_M = 30.0
"""Shorter than what the car drives in 5 s, so that candidates show where their lane is lost from sight."""


def by_lane(result: PlanResult) -> dict[int, list[Candidate]]:
    lanes: dict[int, list[Candidate]] = defaultdict(list)
    for candidate in result.candidates:
        lanes[candidate.shift].append(candidate)
    return lanes


def choosing(**change: float) -> Planner:
    """A planner with other weights."""
    return Planner(VEHICLE, replace(PARAMETERS, choice=replace(ChoiceParameters(), **change)))


@pytest.mark.clause("NOR-3")
@pytest.mark.parametrize("own", [0, 1, 2])
def test_candidates_lead_to_the_end_of_sight_of_every_lane_with_several_offsets(own: int) -> None:
    lanes = road(3, own, window=(-10.0, SIGHT_M))
    found = by_lane(PLANNER.plan(follow(lanes), scene(v=8.0), None))
    assert sorted(found) == [line.shift for line in reversed(lanes)]
    for line in lanes:
        end = float(line.center.xy[-1, 0]) - VEHICLE.front
        offsets = sorted(candidate.offset for candidate in found[line.shift])
        assert offsets == [-PARAMETERS.lateral.offset, 0.0, PARAMETERS.lateral.offset]
        if abs(line.shift) > 1:
            continue
        for candidate in found[line.shift]:
            assert end - 1.5 < candidate.x <= end
            assert abs(candidate.y - LANE * line.shift) < 0.5 * LANE - 0.5, "in that lane by then"
        assert len({round(candidate.y, 1) for candidate in found[line.shift]}) == 3


@pytest.mark.clause("NOR-3")
def test_what_is_seen_farther_is_planned_farther() -> None:
    reach = [
        PLANNER.plan(follow(road(1, 0, window=(-10.0, sight))), scene(v=8.0), None).trajectory
        for sight in (20.0, 30.0, 45.0)
    ]
    ends = [float(trajectory.x[-1]) for trajectory in reach if trajectory is not None]
    assert ends == pytest.approx([20.0 + sight - VEHICLE.front for sight in (20.0, 30.0, 45.0)], abs=1.0)


@pytest.mark.clause("NOR-4")
def test_every_candidate_is_planned_without_what_moves_and_with_it() -> None:
    """The first pass finds the same ways as on an empty road; the second adds ways round what moves, and judges all."""
    slow = (Thing(7, 50.0, 0.9, v=2.0, length=1.8, width=0.6, kind=5),)
    lanes = road(2, 0, width=5.0)
    empty, busy = (PLANNER.plan(follow(lanes), scene(v=8.0, things=things), None) for things in ((), slow))
    ways = [{(c.shift, c.offset) for c in result.candidates} for result in (empty, busy)]
    assert ways[0] < ways[1]
    straight_on = {(c.shift, c.offset): c for c in busy.candidates}[(0, 0.0)]
    assert straight_on.rejected is Reason.LEADER, "its speed profile yields in the first pass too"
    alone = {(c.shift, c.offset): c for c in empty.candidates}[(0, 0.0)]
    assert straight_on.cost > alone.cost + 5.0


@pytest.mark.clause("NOR-4")
def test_with_the_first_pass_alone_nothing_that_moves_is_led_around() -> None:
    slow = (Thing(7, 50.0, 0.9, v=2.0, length=1.8, width=0.6, kind=5),)
    lanes = road(2, 0, width=5.0)
    empty, busy = (
        PLANNER.plan(follow(lanes, static_path=True), scene(v=8.0, things=things), None) for things in ((), slow)
    )
    assert {(c.shift, c.offset) for c in empty.candidates} == {(c.shift, c.offset) for c in busy.candidates}


@pytest.mark.clause("NOR-5")
def test_the_winner_is_the_cheapest_and_gets_farthest_in_five_seconds() -> None:
    for things in ((), (Thing(7, 55.0, 0.0, v=2.0),), (Thing(7, 45.0, 0.0), Thing(8, 60.0, 3.5, v=3.0))):
        result = PLANNER.plan(follow(road(2, 0)), scene(v=8.0, things=things), None)
        won = [c for c in result.candidates if c.rejected is Reason.NONE]
        assert len(won) == 1
        assert won[0].cost == min(c.cost for c in result.candidates)
        here = result.trajectory
        assert here is not None
        at_five = float(np.interp(5.0, here.t, here.x))
        assert won[0].x == pytest.approx(at_five, abs=0.3)
        assert won[0].x > max(c.x for c in result.candidates) - 2.0, "clearance and smoothness are small change"


@pytest.mark.clause("NOR-5")
@pytest.mark.parametrize(("weight", "shift"), [(4.0, 1), (50.0, 0)])
def test_a_lane_beside_the_routes_own_costs_what_its_weight_says(weight: float, shift: int) -> None:
    slow = (Thing(7, 50.0, 0.0, v=4.0),)
    assert choosing(lane=weight).plan(follow(road(2, 0)), scene(v=8.0, things=slow), None).shift == shift


@pytest.mark.clause("NOR-5")
def test_the_switching_cost_keeps_it_from_alternating_between_equals() -> None:
    """Two leaders that are alternately a little slower: without the cost the choice follows the noise."""

    def changes(planner: Planner) -> int:
        def plan(stamp: float, now: object, previous: PlanResult | None) -> PlanResult:
            slower = round(stamp / 0.3) % 2
            things = tuple(Thing(7 + i, 55.0 + 4.0 * stamp, 3.5 * i, v=4.0 + 0.4 * (i == slower)) for i in range(2))
            here = scene(20.0 + 4.0 * stamp, 1.75, v=6.0, things=things, stamp=stamp)
            return planner.plan(follow(road(2, 0, pieces=((400.0, 0.0),), at=here.ego.pose.x)), here, previous)

        shifts = [result.shift for _, _, result in drive(plan, scene(v=6.0), 3.0)]
        return sum(a != b for a, b in itertools.pairwise(shifts))

    assert changes(choosing(lane=0.0, switch=5.0)) <= 1
    assert changes(choosing(lane=0.0, switch=0.0, shift=0.0)) > 3


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize("dashed", [True, False])
def test_no_candidate_crosses_a_solid_line(dashed: bool) -> None:
    things = (Thing(7, 60.0, 0.0),)
    result = PLANNER.plan(follow(road(2, 0, dashed=dashed)), scene(v=8.0, things=things), None)
    assert result.trajectory is not None
    half = 0.5 * VEHICLE.width
    over = max(abs(float(y)) + half for y in result.trajectory.y)
    assert (over > 0.5 * LANE) is dashed
    beyond = [c for c in result.candidates if abs(c.y) + half > 0.5 * LANE + 0.05]
    assert bool(beyond) is dashed


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize("gap", [1.0, 3.0, 6.0])
def test_a_car_close_behind_an_obstacle_does_not_back_off(gap: float) -> None:
    things = (Thing(7, 20.0 + VEHICLE.front + gap + 2.25, 0.0),)
    result = PLANNER.plan(follow(road(1, 0)), scene(things=things), None)
    assert result.trajectory is not None
    assert result.trajectory.v.min() >= 0.0
    assert not result.uses_reverse
