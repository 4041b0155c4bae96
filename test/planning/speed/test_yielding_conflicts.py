"""Which of several conflicts a car goes before, waits for or cuts off: where each is on the path is given by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.obstacles.occupancy import ConflictBuffers, new_conflicts
from tuling_fsm.planning.speed import yielding as yi
from tuling_fsm.planning.speed.roll_out import StBoundaries, no_traffic

from ..scenes import PEDESTRIAN, Thing
from .test_yielding_among import DERIVED, Case, driven
from .test_yielding_rules import TIMES, free, spans

pytestmark = pytest.mark.clause("INT-7")

RSS = DERIVED.drive.rss
GAP = yi.GapAcceptance(lead=1.2, ease=1.0, crowding=0.0, begun=False, braking=10.0, hard_braking=3.0, rss=RSS)
WALK, TURNED, ACROSS, ALONG = 0, 1, 2, 3
"""Numbers of the things around."""


def around(bend: float = 0.0, sidestep: float = 0.0, v: float = 6.0) -> Case:
    """A walker and a car that cross, one that comes in at an angle, and one that drives along: all elsewhere now."""
    things = (
        Thing(WALK, 50.0, -9.0, 0.5 * math.pi, 1.5, kind=PEDESTRIAN, length=0.6, width=0.6),
        Thing(TURNED, 60.0, -12.0, 0.5, 0.6 * v),
        Thing(ACROSS, 55.0, -13.0, 0.5 * math.pi, v),
        Thing(ALONG, 62.0, -8.0, 0.1, v),
    )
    return Case(*things, sidestep=sidestep, bend=bend)


def row_of(case: Case, number: int) -> int:
    return next(i for i in range(len(case.things)) if case.named(i) == number)


def on_path(case: Case, *met: tuple[int, FloatArray]) -> ConflictBuffers:
    """The conflicts of these things."""
    conflicts = new_conflicts(len(met))
    for m, (number, there) in enumerate(met):
        conflicts.rows[m] = row_of(case, number)
        conflicts.spans[m] = there
    return conflicts


def goes_first(case: Case, number: int, there: FloatArray, rows: FloatArray, gap: yi.GapAcceptance = GAP) -> bool:
    return bool(yi._goes_first(case.swept.frenet, case.moving, row_of(case, number), there, rows, gap))


def decided(
    case: Case, conflicts: ConflictBuffers, rows: FloatArray, gap: yi.GapAcceptance = GAP, count: int | None = None
) -> tuple[int, int, StBoundaries]:
    """How many are yielded to, how badly the path cuts in, and what stands in the way then."""
    traffic, many = no_traffic(), len(conflicts.rows) if count is None else count
    yielded, cuts_in = yi.yield_to_conflicts(case.swept, case.moving, rows, gap, traffic, conflicts, many)
    return int(yielded), int(cuts_in), traffic


@pytest.mark.parametrize("bend", [0.0, 0.03, -0.03])
def test_the_course_of_an_object_is_its_angle_to_the_line_where_it_is_by_then(bend: float) -> None:
    case, s = around(bend), np.linspace(0.0, 80.0, 1601)
    line = np.array([driven(each, bend) for each in s])
    for thing in case.things:
        i = row_of(case, thing.number)
        for j in (0, 4, 9):
            there = thing.at(TIMES[j])
            nearest = int(np.argmin(np.hypot(line[:, 0] - there.x, line[:, 1] - there.y)))
            cos = math.cos(there.heading - line[nearest, 2])
            assert yi._course(case.swept.frenet, case.moving, i, j) == pytest.approx(cos, abs=0.03)
            if abs(cos - 0.5) > 0.03:
                assert bool(yi._goes_along(case.swept.frenet, case.moving, i, j)) is (cos > 0.5)


@pytest.mark.parametrize(("v", "turn", "along"), [(0.25, 1.5, True), (0.35, 1.5, False), (5.0, 1.0, True),
                                                   (5.0, 1.1, False), (0.25, 3.0, True), (5.0, -1.0, True),
                                                   (5.0, -1.1, False)])  # fmt: skip
def test_one_that_stands_or_is_turned_less_than_sixty_degrees_goes_along(v: float, turn: float, along: bool) -> None:
    case = Case(Thing(1, 60.0, 8.0, 0.5, 5.0), Thing(4, 50.0, -6.0, turn, v, moving=True))
    assert bool(yi._goes_along(case.swept.frenet, case.moving, row_of(case, 4), 0)) is along


def test_a_vehicle_can_stop_that_has_time_to_react_and_brake_and_people_are_not_trusted_to() -> None:
    case, v = around(), 6.0
    steps = (RSS.response + 0.5 * v / RSS.brake) / PREDICTION_STEP_S
    soon, late = math.floor(steps), math.floor(steps) + 1
    for first, can in ((soon, False), (late, True)):
        assert bool(yi._can_stop(case.moving, row_of(case, ACROSS), spans(first, 20, 5.0, 9.0), RSS)) is can
    assert yi._can_stop(case.moving, row_of(case, TURNED), spans(soon, 20, 5.0, 9.0), RSS), "it is slower"
    assert not yi._can_stop(case.moving, row_of(case, WALK), spans(late, 20, 5.0, 9.0), RSS)


def test_within_the_hardest_stop_the_car_goes_before_one_that_can_stop_but_not_where_it_would_stand_before_them() -> (
    None
):
    """Driving slowly, it would be far from past."""
    case, slow = around(), free(1.0)
    for near, first in ((2.9, True), (3.1, False)):
        assert goes_first(case, ACROSS, spans(10, 20, near, near + 3.0), slow) is first
        assert goes_first(case, WALK, spans(10, 20, near, near + 3.0), slow) is False
    assert not goes_first(case, ACROSS, spans(2, 20, 2.9, 6.0), slow), "it cannot stop any more"
    for near, first in ((-0.1, True), (0.1, False)):
        assert goes_first(case, ALONG, spans(10, 20, near, 6.0), slow) is first, "only if it comes in behind the bumper"


def test_time_to_spare_is_asked_for_only_where_the_car_can_still_stop_in_comfort_before_its_gap() -> None:
    case = around()
    keep = float(case.moving.keep[row_of(case, ACROSS)])
    assert keep > 0.5
    for beyond, lead in ((0.2, GAP.lead), (-0.2, 0.5)):
        near = GAP.braking + keep + beyond
        far = near + 3.0
        for spare, first in ((0.15, True), (-0.15, False)):
            rows = free(far / (TIMES[15] - lead - spare))
            assert goes_first(case, ACROSS, spans(15, 25, near, far), rows) is first, (beyond, spare)
        short = GAP._replace(lead=0.3)
        rows = free(far / (TIMES[15] - 0.4))
        assert goes_first(case, ACROSS, spans(15, 25, near, far), rows, short), "never more than is wanted anyway"


@pytest.mark.parametrize(("number", "v"), [(ALONG, 6.0), (TURNED, 3.6)])
def test_one_that_goes_the_same_way_is_left_its_room_at_its_own_speed(number: int, v: float) -> None:
    case = around()
    room = 2.0 + 0.6 * v + max(0.0, v - 5.0) * GAP.lead
    for spare, first in ((0.1, True), (-0.1, False)):
        rows = free(5.0)
        far = float(rows[round(TIMES[12] / STEP_S), 0]) - room - spare
        assert goes_first(case, number, spans(12, 12, 12.0, far), rows) is first


def test_all_of_the_conflicts_that_are_left_have_to_be_passed_before() -> None:
    case, near, far = around(), spans(12, 20, 12.0, 15.0), spans(20, 28, 20.0, 24.0)
    frenet, moving = case.swept.frenet, case.moving
    rows = free(15.2 / (TIMES[12] - GAP.lead))
    assert goes_first(case, ACROSS, near, rows) and not goes_first(case, WALK, spans(12, 20, 17.0, 20.0), rows)
    both = on_path(case, (ACROSS, near), (WALK, spans(12, 20, 17.0, 20.0)))
    assert yi.still_first(frenet, moving, rows, GAP, both, 1) and not yi.still_first(frenet, moving, rows, GAP, both, 2)
    turned = on_path(case, (WALK, spans(12, 20, 17.0, 20.0)), (ACROSS, near))
    assert not yi.still_first(frenet, moving, rows, GAP, turned, 2)
    turned.rows[0] = yi.NONE
    assert yi.still_first(frenet, moving, rows, GAP, turned, 2), "that one is not gone before any more"
    turned.rows[1] = row_of(case, WALK)
    assert yi.still_first(frenet, moving, rows, GAP, on_path(case, (WALK, far)), 0), "there are none"


def test_each_conflict_is_waited_for_or_gone_before_on_its_own() -> None:
    """Of three, the car is past the first, waits for the second, and never meets the third."""
    case, rows = around(), free(6.0)
    never = spans(0, 5, 50.0, 54.0)
    never[:6, 2] = 45.0
    conflicts = on_path(case, (ACROSS, spans(20, 28, 8.0, 11.0)), (WALK, spans(14, 24, 20.0, 22.0)), (TURNED, never))
    yielded, cuts_in, traffic = decided(case, conflicts, rows)
    assert (yielded, cuts_in) == (1, 0)
    assert list(conflicts.rows) == [row_of(case, ACROSS), yi.NONE, yi.NONE]
    keep = float(case.moving.keep[row_of(case, WALK)])
    assert np.all(traffic.wall_s[:25] == 20.0 - keep) and np.all(np.isinf(traffic.wall_s[25:]))
    assert {case.named(row) for row in traffic.wall_id[:25]} == {WALK}
    assert np.all(np.isinf(traffic.leader_s))


def test_only_the_first_so_many_conflicts_count() -> None:
    case, rows, there = around(), free(6.0), spans(14, 24, 20.0, 22.0)
    for count in (0, 1, 2):
        conflicts = on_path(case, (WALK, there), (ACROSS, there))
        assert decided(case, conflicts, rows, count=count)[0] == count
        assert np.sum(conflicts.rows == yi.NONE) == count


def test_one_that_comes_in_is_followed_no_faster_than_it_may_get_and_before_it_is_there_if_it_is_alongside() -> None:
    case, rows = around(), free(9.0)
    for number, v, beside in ((ALONG, 6.0, True), (TURNED, 3.6, False)):
        there = spans(5, PREDICTION_STEPS - 1, 20.0, 24.0, 14.0)
        conflicts = on_path(case, (number, there))
        yielded, cuts_in, traffic = decided(case, conflicts, rows)
        assert (yielded, cuts_in) == (1, 0) and conflicts.rows[0] == yi.NONE
        np.testing.assert_allclose(traffic.leader_v[5:], 1.5 * v + 1.0)
        np.testing.assert_array_equal(traffic.leader_s[5:], there[5:, 0])
        assert {case.named(row) for row in traffic.leader_id[5:]} == {number}
        assert bool(np.isfinite(traffic.leader_s[:5]).all()) is beside
        assert bool(np.isfinite(traffic.wall_s[:5]).all()) is not beside
        assert np.all(np.isinf(traffic.wall_s[5:]))


@pytest.mark.parametrize("now", [True, False])
def test_it_is_alongside_if_it_is_so_now_and_not_by_then(now: bool) -> None:
    """Its direction is told for every step: it is turned at the first one, or at all but that one."""
    case = around()
    i, there = row_of(case, ALONG), spans(5, PREDICTION_STEPS - 1, 30.0, 34.0, 4.0)
    turned = (math.cos(0.5), math.sin(0.5))
    case.moving.box[i, slice(1, None) if now else slice(0, 1), 2:4] = turned
    _, _, traffic = decided(case, on_path(case, (ALONG, there)), free(9.0))
    assert bool(np.isfinite(traffic.leader_s[:5]).all()) is now
    assert bool(np.isfinite(traffic.wall_s[:5]).all()) is not now


@pytest.mark.parametrize(
    ("near", "first", "sidestep", "cuts_off"),
    [(9.9, 3, 0.9, True), (10.1, 3, 0.9, False), (9.9, 0, 0.9, False), (9.9, 1, 0.9, True), (9.9, 3, 0.7, False)],
    ids=["too near to let it go first", "it can be let go", "it is there now", "it is there soon", "the car keeps on"],
)
def test_a_path_that_leads_in_where_the_car_can_no_longer_stop_cuts_off(
    near: float, first: int, sidestep: float, cuts_off: bool
) -> None:
    case = around(sidestep=sidestep)
    there = spans(first, 25, near, near + 40.0, 2.0)
    for number in (ALONG, TURNED):
        conflicts = on_path(case, (number, there))
        yielded, cuts_in, _ = decided(case, conflicts, free(6.0))
        assert (yielded, cuts_in) == (1, yi.CUTS_OFF if cuts_off else 0)
    assert decided(case, on_path(case, (ACROSS, there)), free(6.0))[1] == 0, "an agent that crosses is not cut off"


def test_one_that_is_passed_but_left_too_little_room_is_crowded_and_neither_followed_nor_waited_for() -> None:
    case, rows = around(sidestep=0.9), free(6.0)
    s = float(rows[round(TIMES[12] / STEP_S), 0])
    crowded = spans(12, 12, s - 6.0, s - 2.0)
    conflicts = on_path(case, (ALONG, crowded))
    yielded, cuts_in, traffic = decided(case, conflicts, rows)
    assert (yielded, cuts_in) == (0, yi.CROWDS)
    assert np.all(np.isinf(traffic.leader_s)) and np.all(np.isinf(traffic.wall_s))
    assert conflicts.rows[0] == row_of(case, ALONG), "the car goes before it"
    for ease, crowds in ((1.0, True), (0.2, False)):
        told = decided(case, on_path(case, (ALONG, crowded)), rows, GAP._replace(ease=ease))
        assert told[1] == (yi.CROWDS if crowds else 0)
    overtaken = spans(12, 12, s - 6.0, s + 0.1)
    assert decided(case, on_path(case, (ALONG, overtaken)), rows)[0] == 1, "the car is not past"
    cut_off = spans(3, 25, 9.9, 49.9, 2.0)
    for met in (((ALONG, crowded), (TURNED, cut_off)), ((TURNED, cut_off), (ALONG, crowded))):
        yielded, cuts_in, _ = decided(case, on_path(case, *met), rows)
        assert (yielded, cuts_in) == (1, yi.CUTS_OFF), "the worst of all counts"
    across = decided(case, on_path(case, (ACROSS, crowded)), rows)
    assert across[:2] == (1, 0), "one that crosses has to be gone before in time"


def test_one_that_stands_is_passed_without_time_to_spare_at_worst() -> None:
    """To cut off is worse than to crowd, and that is worse than neither."""
    assert 0 < yi.CROWDS < yi.CUTS_OFF
    case = Case(Thing(3, 60.0, 6.0, 0.0, 0.0, moving=True), sidestep=0.9)
    rows = free(6.0)
    conflicts = new_conflicts(1)
    for late, cuts_in in ((0.1, yi.CROWDS), (0.9, yi.CROWDS), (1.3, 0)):
        conflicts.rows[0], conflicts.spans[0] = 0, spans(14, 20, 12.0, 6.0 * (float(TIMES[14]) - late))
        assert decided(case, conflicts, rows)[:2] == (0, cuts_in)


def test_a_motion_that_ends_before_the_predictions_goes_on_as_fast() -> None:
    """It is driven for 3 s, and what comes there after 5.8 s comes half a second later than it."""
    short, where = free(8.0)[:31], 8.0 * TIMES[29]
    late = spans(29, 29, 18.0, float(where) - 8.0 * 0.5)
    assert yi._passes_first(late, short, 0.5 - 1e-6, 1.0, 0.0, False)
    assert not yi._passes_first(late, short, 0.7, 1.0, 0.0, False)
    room = 2.0 + 0.6 * 5.0
    for spare, passes in ((0.1, True), (-0.1, False)):
        behind = spans(29, 29, 10.0, float(where) - room - spare)
        assert bool(yi._passes_first(behind, short, 0.5, 1.0, 5.0, False)) is passes


def test_what_is_on_the_path_already_is_judged_by_where_the_car_is_now() -> None:
    fast = free(10.0)
    for far, passes in ((0.5, False), (-0.1, True)):
        assert bool(yi._passes_first(spans(0, 0, -4.0, far), fast, 1.2, 1.0, 0.0, False)) is passes
        assert bool(yi._passes_first(spans(1, 1, -4.0, far), fast, 1.2, 1.0, 0.0, False)) is passes, "or all but"


@pytest.mark.parametrize("v_other", [0.4, 0.9])
def test_a_slow_vehicle_that_goes_the_same_way_is_left_room_as_well(v_other: float) -> None:
    rows = free(6.0)
    s = float(rows[round(TIMES[12] / STEP_S), 0])
    room = 2.0 + 0.6 * v_other
    for spare, passes in ((0.1, True), (-0.1, False)):
        there = spans(12, 12, s - 9.0, s - room - spare)
        assert bool(yi._passes_first(there, rows, 0.0, 1.0, v_other, False)) is passes


@pytest.mark.parametrize(("v", "stands"), [(0.09, True), (0.11, False)])
def test_a_car_that_stands_by_then_is_seen_by_one_that_comes_from_behind(v: float, stands: bool) -> None:
    rows = np.column_stack((np.full(71, 12.0), np.full(71, v), np.zeros(71)))
    assert bool(yi._passes_first(spans(10, 20, 8.0, 11.5), rows, 1.0, 1.0, 3.0, False)) is stands
