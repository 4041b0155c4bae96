"""Time lost against the speed limit."""

from __future__ import annotations

import pytest

from tuling_fsm.core.time_loss import ALL, TimeLoss, TimeLossKey, TimeLossSample, by_loss, summed, time_losses

LANE, BAY, LIGHT = "on_road/normal", "on_road/regression", "RED_LIGHT"


def driven(*stretches: tuple[str, str, float, float]) -> list[TimeLossSample]:
    """Samples every 0.5 s of stretches: state, code, speed (m/s), seconds; the limit is 10 m/s."""
    samples, ends = [], 0.0
    for state, code, v, lasts in stretches:
        samples += [TimeLossSample(ends + 0.5 * k, state, code, v, 10.0) for k in range(round(lasts / 0.5))]
        ends += lasts
    return [*samples, samples[-1]._replace(t=ends)]


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize(("v", "lost"), [(10.0, 0.0), (5.0, 2.0), (-5.0, 2.0), (0.0, 4.0), (12.0, -0.8)])
def test_what_is_lost_is_the_time_beyond_that_of_the_same_way_at_the_limit(v: float, lost: float) -> None:
    (loss,) = time_losses(driven((LANE, "NONE", v, 4.0))).values()
    assert loss.lost_s == pytest.approx(lost)
    assert (loss.time_s, loss.distance_m, loss.mean_speed) == pytest.approx((4.0, 4.0 * abs(v), abs(v)))


@pytest.mark.clause("EXPL-1")
def test_the_limit_is_the_one_in_force_there() -> None:
    samples = [TimeLossSample(0.0, LANE, "NONE", 5.0, 10.0), TimeLossSample(1.0, LANE, "NONE", 5.0, 5.0)]
    (loss,) = time_losses([*samples, samples[-1]._replace(t=2.0)]).values()
    assert loss.lost_s == pytest.approx(0.5)


def test_a_silence_in_the_record_counts_nowhere() -> None:
    early, late = driven((LANE, "NONE", 5.0, 2.0)), driven((LANE, "NONE", 5.0, 3.0))
    (loss,) = time_losses([*early, *(sample._replace(t=sample.t + 60.0) for sample in late)]).values()
    assert loss.time_s == pytest.approx(5.0)


@pytest.mark.clause("EXPL-1")
def test_time_in_which_nobody_knows_the_speed_counts_with_no_metres_and_no_loss() -> None:
    known, unknown = driven((LANE, "NONE", 5.0, 2.0)), driven((BAY, "NO_ODOMETRY", 8.0, 3.0), (BAY, "NONE", 5.0, 2.0))
    hidden = [sample._replace(v=None) if sample.code == "NO_ODOMETRY" else sample for sample in unknown]
    losses = time_losses([*known, *(sample._replace(t=sample.t + 2.0) for sample in hidden)])
    blind, bay, total = (summed(losses, TimeLossKey(*each)) for each in ((BAY, "NO_ODOMETRY"), (BAY, ALL), (ALL, ALL)))
    assert (blind.known, blind.time_s, blind.unknown_s, blind.distance_m) == (False, 3.0, 3.0, 0.0)
    assert (bay.known, bay.time_s, bay.unknown_s, bay.mean_speed, bay.lost_s) == (True, 5.0, 3.0, 5.0, 1.0)
    assert (total.known, total.time_s, total.distance_m, total.lost_s) == (True, 7.0, 20.0, 2.0)


@pytest.mark.clause("EXPL-1")
def test_rows_come_by_what_was_lost_each_state_with_its_codes_and_the_total_last() -> None:
    losses = time_losses(driven((LANE, "NONE", 10.0, 9.0), (LANE, LIGHT, 0.0, 3.0), (BAY, "STEERING", 0.0, 4.0)))
    assert by_loss(losses) == tuple(
        TimeLossKey(*each) for each in ((BAY, "STEERING"), (LANE, ALL), (LANE, LIGHT), (LANE, "NONE"), (ALL, ALL))
    )
    assert summed(losses, TimeLossKey(LANE, ALL)).time_s == pytest.approx(12.0)
    assert summed(losses, TimeLossKey(ALL, ALL)).lost_s == pytest.approx(7.0)
    assert summed(losses, TimeLossKey("parking/parked", ALL)) == TimeLoss()


@pytest.mark.clause("EXPL-1")
def test_two_drives_are_put_in_order_by_what_the_first_lost_beyond_the_second() -> None:
    slow = time_losses(driven((LANE, LIGHT, 0.0, 9.0), (BAY, "STEERING", 0.0, 8.0)))
    quick = time_losses(driven((LANE, LIGHT, 0.0, 9.0), (BAY, "STEERING", 0.0, 2.0), (LANE, "NONE", 5.0, 1.0)))
    assert [key.code for key in by_loss(slow, quick)] == ["STEERING", ALL, LIGHT, "NONE", ALL]
