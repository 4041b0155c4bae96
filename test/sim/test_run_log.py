import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.standstills import LimitChange, stops
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog


def log_of(*rows: tuple[float, str, float, Limit]) -> RunLog:
    return RunLog([LogRow(t, state, Pose(t, 0.0, 0.0), v, limit, 1.0) for t, state, v, limit in rows])


RED = Limit(Reason.RED_LIGHT, 3.0, "signal 4")
FREE = Limit(Reason.NONE)


def test_states_add_up_to_the_time_driven() -> None:
    log = log_of((0.0, "a", 1.0, FREE), (1.0, "a", 1.0, FREE), (2.0, "b", 1.0, FREE), (5.0, "a", 1.0, FREE))
    assert log.state_seconds() == {"a": 2.0, "b": 3.0}


def test_a_stop_has_its_reason_and_its_span() -> None:
    log = log_of(
        (0.0, "a", 3.0, FREE), (1.0, "a", 0.0, RED), (2.0, "a", 0.0, RED), (3.0, "a", 0.0, FREE), (4.0, "a", 3.0, FREE)
    )  # fmt: skip
    (stop,) = log.stops()
    assert (stop.t_from, stop.t_to) == (1.0, 3.0)
    assert (stop.primary.code, stop.primary.words) == ("RED_LIGHT", "signal 4")


def test_a_cause_is_told_as_it_was_for_longest() -> None:
    said = [LimitChange(0.0, "RED_LIGHT", "signal 4 red"), LimitChange(9.5, "RED_LIGHT", "signal 4 green")]
    (stop,) = stops([(float(t), 0.0) for t in range(11)], said)
    assert [(cause.t_from, cause.t_to, cause.words) for cause in stop.causes] == [(0.0, 10.0, "signal 4 red")]


def test_a_moment_of_standing_is_no_stop() -> None:
    log = log_of((0.0, "a", 3.0, FREE), (1.0, "a", 0.0, RED), (1.5, "a", 0.0, RED), (2.0, "a", 3.0, FREE))
    assert log.stops() == []


def test_standing_without_a_reason_is_measured() -> None:
    log = log_of(
        (0.0, "a", 0.0, RED), (1.0, "a", 0.0, FREE), (2.0, "a", 0.0, FREE), (3.0, "a", 0.0, RED), (4.0, "a", 0.0, FREE)
    )  # fmt: skip
    assert log.longest_unexplained_stop_s() == 2.0


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("reason", [Reason.NONE, Reason.SPEED_LIMIT, Reason.CURVATURE])
def test_what_limits_a_car_that_drives_is_no_reason_to_stand(reason: Reason) -> None:
    log = log_of(*((0.5 * k, "a", 0.0, RED if k < 2 else Limit(reason)) for k in range(6)))
    (stop,) = log.stops()
    assert (stop.primary.code, log.longest_unexplained_stop_s()) == ("RED_LIGHT", 1.5)
