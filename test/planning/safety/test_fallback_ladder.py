"""The ladder of stops rung by rung: what is sent when a plan is missing, for how long, and when plans count again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import FallbackParameters, PlanningParameters
from tuling_fsm.planning.safety.fallback import FallbackLadder, FallbackRung, accept, fall_back, is_stopping

from ..scenes import Thing, scene

pytestmark = pytest.mark.clause("SAF-1", "USE-11")

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
LIMITS = FallbackParameters(rest=0.5, comfort=3.0, release=0.5)
V = 5.0
NONE, REST, COMFORT, EMERGENCY = FallbackRung


def plan(stamp: float = 0.0, seconds: float = 7.0) -> Trajectory:
    """Straight on at constant speed from x = 20 + V `stamp`."""
    t = STEP_S * np.arange(round(seconds / STEP_S) + 1)
    zero = np.zeros(len(t))
    return Trajectory(stamp, t, 20.0 + V * (stamp + t), zero, zero, zero, zero + V, zero)


def at(stamp: float, v: float = V, things: tuple[Thing, ...] = ()) -> Scene:
    return scene(20.0 + V * stamp, v=v, stamp=stamp, things=things)


def fallen(
    ladder: FallbackLadder, now: Scene, least: FallbackRung = REST, parameters: PlanningParameters = PARAMETERS
) -> tuple[Trajectory, FallbackLadder]:
    return fall_back(ladder, now, Regulations(), VEHICLE, parameters, least)


@pytest.mark.parametrize("rung", list(FallbackRung))
@pytest.mark.parametrize(("v", "moves"), [(0.0, False), (0.019, False), (0.021, True), (-0.021, True), (5.0, True)])
def test_a_stop_is_under_way_from_the_comfortable_one_on_until_the_car_stands(
    rung: FallbackRung, v: float, moves: bool
) -> None:
    assert is_stopping(FallbackLadder(plan(), rung), at(1.0, v)) is (moves and rung >= COMFORT)


def test_a_plan_that_passed_is_sent_at_once_unless_a_stop_is_under_way() -> None:
    valid = plan(1.0)
    for rung, v in ((NONE, V), (REST, V), (COMFORT, 0.0), (EMERGENCY, 0.01)):
        is_sent, after = accept(FallbackLadder(plan(), rung, 0.7), valid, at(1.0, v), LIMITS)
        assert is_sent and after.last is valid
        assert (after.rung, after.since, after.valid_since) == (NONE, 0.0, math.inf)
    for rung in (COMFORT, EMERGENCY):
        before = FallbackLadder(plan(), rung, 0.7)
        is_sent, after = accept(before, valid, at(1.0), LIMITS)
        assert not is_sent and after.last is before.last
        assert (after.rung, after.since, after.valid_since) == (rung, 0.7, 1.0)


def test_without_a_valid_plan_nothing_is_sent_and_the_wait_begins_anew() -> None:
    before = FallbackLadder(plan(), COMFORT, 0.7, 0.9)
    is_sent, after = accept(before, None, at(1.0), LIMITS)
    assert not is_sent
    assert (after.last, after.rung, after.since, after.valid_since) == (before.last, COMFORT, 0.7, math.inf)


@pytest.mark.parametrize(("after", "is_sent"), [(0.1, False), (0.45, False), (0.5, True), (0.8, True)])
def test_during_a_stop_plans_have_to_be_valid_for_a_while(after: float, is_sent: bool) -> None:
    """Counted from the first of them, to the tick."""
    ladder, since = FallbackLadder(plan(), EMERGENCY, 2.0), 2.3
    _, ladder = accept(ladder, plan(since), at(since), LIMITS)
    assert ladder.valid_since == since
    _, ladder = accept(ladder, plan(since), at(since + 0.05), LIMITS)
    assert ladder.valid_since == since, "it is the first that counts"
    sent, later = accept(ladder, plan(since + after), at(since + after), LIMITS)
    assert sent is is_sent
    assert later.valid_since == (math.inf if is_sent else since)
    sent, _ = accept(ladder, plan(since + after), at(since + after), replace(LIMITS, release=0.05))
    assert sent, "it is a parameter"


@pytest.mark.parametrize("stamp", [0.0, 0.33, 6.0])
def test_the_rest_of_the_last_plan_is_driven_from_where_it_is_by_then(stamp: float) -> None:
    sent, ladder = fallen(FallbackLadder(plan()), at(stamp))
    assert (ladder.rung, ladder.since, ladder.valid_since) == (REST, stamp, math.inf) and ladder.last is sent
    assert sent.stamp == stamp and sent.x[0] == pytest.approx(20.0 + V * stamp)
    np.testing.assert_allclose(sent.v, V)
    assert sent.t[-1] == pytest.approx(7.0 - stamp)


@pytest.mark.parametrize(("stamp", "rest"), [(6.1, True), (6.9, False), (7.05, False), (-0.05, False)])
def test_a_plan_that_is_all_but_over_or_of_another_time_has_no_rest(stamp: float, rest: bool) -> None:
    sent, ladder = fallen(FallbackLadder(plan()), at(stamp))
    assert ladder.rung is (REST if rest else COMFORT)
    assert (sent.v[-1] == 0.0) is not rest
    none, ladder = fallen(FallbackLadder(None), at(1.0))
    assert ladder.rung is COMFORT and none.v[-1] == 0.0 and ladder.since == 1.0


@pytest.mark.parametrize(("held", "rung"), [(0.0, REST), (0.45, REST), (0.55, COMFORT), (2.0, COMFORT)])
def test_the_rest_is_driven_for_so_long_and_then_a_stop_begins_that_has_its_own_time(
    held: float, rung: FallbackRung
) -> None:
    ladder = FallbackLadder(plan(), REST, 1.0, 0.4)
    _, after = fallen(ladder, at(1.0 + held))
    assert after.rung is rung and after.since == (1.0 if rung is REST else 1.0 + held)
    assert after.valid_since == 0.4
    longer = replace(PARAMETERS, fallback=replace(PARAMETERS.fallback, rest=3.0))
    assert fallen(ladder, at(1.0 + held), parameters=longer)[1].rung is REST


@pytest.mark.parametrize(("held", "rung"), [(0.0, COMFORT), (2.95, COMFORT), (3.05, EMERGENCY)])
def test_a_comfortable_stop_lasts_so_long_and_then_the_car_brakes_fully(held: float, rung: FallbackRung) -> None:
    ladder = FallbackLadder(plan(1.0 + held), COMFORT, 1.0)
    sent, after = fallen(ladder, at(1.0 + held))
    assert after.rung is rung and after.since == (1.0 if rung is COMFORT else 1.0 + held)
    hardest = VEHICLE.comfort_decel if rung is COMFORT else VEHICLE.emergency_decel
    assert -sent.a.min() == pytest.approx(hardest)
    assert after.last is sent and sent.v[-1] == 0.0
    _, again = fallen(replace(after, last=plan(1.5 + held)), at(1.5 + held))
    assert again.rung >= rung


@pytest.mark.clause("DWELL-5")
def test_a_comfortable_stop_has_no_more_than_its_time_after_the_clock_has_been_set_back() -> None:
    _, ladder = fallen(FallbackLadder(plan(1000.0), COMFORT, 1000.0), at(2.0))
    assert (ladder.rung, ladder.since) == (COMFORT, 2.0)
    for held, rung in ((2.95, COMFORT), (3.05, EMERGENCY)):
        assert fallen(ladder, at(2.0 + held))[1].rung is rung


def test_an_emergency_stop_is_never_eased() -> None:
    ladder = FallbackLadder(plan(1.0), EMERGENCY, 0.5)
    sent, after = fallen(ladder, at(1.0))
    assert (after.rung, after.since) == (EMERGENCY, 0.5)
    assert -sent.a.min() == pytest.approx(VEHICLE.emergency_decel)


@pytest.mark.parametrize("least", [REST, COMFORT, EMERGENCY])
@pytest.mark.parametrize("rung", list(FallbackRung))
def test_no_rung_is_taken_above_the_one_that_is_asked_for_or_held(least: FallbackRung, rung: FallbackRung) -> None:
    """A rung that is new begins now."""
    ladder = FallbackLadder(plan(0.9), rung, 0.9)
    _, after = fallen(ladder, at(1.0), least)
    assert after.rung is max(rung, least)
    assert after.since == (0.9 if rung >= least else 1.0)


def test_what_is_in_the_way_of_the_rest_or_of_a_stop_leads_a_rung_down() -> None:
    bumper = 20.0 + V + VEHICLE.front
    far, near = Thing(1, bumper + 15.0 + 2.25, 0.0), Thing(1, bumper + 2.5 + 2.25, 0.0)
    _, after = fallen(FallbackLadder(plan()), at(1.0, things=(far,)))
    assert after.rung is COMFORT and after.since == 1.0
    sent, after = fallen(FallbackLadder(plan()), at(1.0, things=(near,)))
    assert -sent.a.min() == pytest.approx(VEHICLE.emergency_decel)
    hit = Thing(1, bumper + 1.0 + 2.25, 0.0)
    sent, after = fallen(FallbackLadder(plan()), at(1.0, things=(hit,)))
    assert after.rung is EMERGENCY and after.since == 1.0


def test_a_stop_goes_on_from_the_last_plan_where_the_car_is_on_it() -> None:
    """That bends to the left; the wheels are measured to be straight."""
    kappa = 0.04
    t = STEP_S * np.arange(71)
    turned = kappa * V * t
    last = Trajectory(0.0, t, 20.0 + np.sin(turned) / kappa, (1.0 - np.cos(turned)) / kappa, turned,
                      np.full(71, kappa), np.full(71, V), np.zeros(71))  # fmt: skip
    on = last.pose(10)
    sent, _ = fallen(FallbackLadder(last), scene(*on, v=V, stamp=1.0), COMFORT)
    center = (20.0, 1.0 / kappa)
    np.testing.assert_allclose(np.hypot(sent.x - center[0], sent.y - center[1]), 1.0 / kappa, atol=0.02)
    away = scene(on.x, on.y + 0.6, on.heading, v=V, stamp=1.0)
    sent, _ = fallen(FallbackLadder(last), away, COMFORT)
    across = (sent.y - on.y - 0.6) * math.cos(on.heading) - (sent.x - on.x) * math.sin(on.heading)
    np.testing.assert_allclose(across, 0.0, atol=1e-6)
