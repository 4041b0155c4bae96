"""The scores, by hand-made records and traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog
from tuling_fsm.sim.scoring.score import COEFFICIENTS, OWN_COEFFICIENTS, Infraction, Metrics, MetricValues, score

FINE = MetricValues()
RED = Infraction(3.0, "red_light", "signal 1", True)
PERSON = Infraction(4.0, "collision", "pedestrian 9, front contact at 2.0 m/s", True)
BLAMELESS = Infraction(5.0, "collision", "car 8, rear contact at 2.0 m/s", False)
CONE = Infraction(5.0, "collision", "cone 5, front contact at 1.0 m/s", True)
WALL = Infraction(5.0, "collision", "thing 4 of the map (wall), contact at 1.0 m/s", True)
ANIMAL = Infraction(5.0, "collision", "animal 3, front contact at 1.0 m/s", True)
JERK = Infraction(6.0, "comfort", "jerk 9.0 m/s^3", False)
NEAR = Infraction(3.0, "near_miss", "car 7, in 0.6 s", False)
QUEUE = Infraction(6.5, "queue_overtaken", "past vehicle 7 that waits in line", True)
OFF = Infraction(7.0, "off_road", "at (1.0, 2.0)", True)
START = Pose(0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("infractions", "completion", "driving"),
    [
        ([], 1.0, 1.0),
        ([], 0.3, 0.3),
        ([RED, RED], 0.5, 0.5 / 1.8),
        ([PERSON, BLAMELESS], 1.0, 0.5),
        ([CONE, OFF], 1.0, 1.0 / 1.6),
        ([WALL], 1.0, 1.0 / 1.6),
        ([ANIMAL], 1.0, 1.0 / 1.6),
        ([QUEUE, RED], 1.0, 1.0 / 1.65),
        ([JERK], 1.0, 1.0),
    ],
)
def test_the_driving_score_is_completion_times_penalties(
    infractions: list[Infraction], completion: float, driving: float
) -> None:
    assert score(infractions, completion, FINE)["driving"] == pytest.approx(driving, abs=1e-4)


@pytest.mark.parametrize(
    ("infractions", "completion", "measures", "closed_loop"),
    [
        ([], 1.0, FINE, 1.0),
        ([BLAMELESS, RED], 1.0, FINE, 1.0),
        ([PERSON], 1.0, FINE, 0.0),
        ([CONE], 1.0, FINE, 0.5),
        ([CONE, CONE], 1.0, FINE, 0.0),
        ([WALL], 1.0, FINE, 0.5),
        ([ANIMAL], 1.0, FINE, 0.5),
        ([OFF], 1.0, FINE, 0.0),
        ([], 0.1, FINE, 0.0),
        ([], 0.4, FINE, (5.0 * 0.4 + 11.0) / 16.0),
        ([JERK], 1.0, FINE, 14.0 / 16.0),
        ([NEAR], 1.0, FINE, 11.0 / 16.0),
        ([], 1.0, MetricValues(overspeed=1.115), 14.0 / 16.0),
        ([], 1.0, MetricValues(overspeed=9.0), 12.0 / 16.0),
        ([], 1.0, MetricValues(against_m=1.9), 1.0),
        ([], 1.0, MetricValues(against_m=4.0), 0.5),
        ([], 1.0, MetricValues(against_m=7.0), 0.0),
    ],
)
def test_the_closed_loop_score_is_a_mean_times_factors(
    infractions: list[Infraction], completion: float, measures: MetricValues, closed_loop: float
) -> None:
    assert score(infractions, completion, measures)["closed_loop"] == pytest.approx(closed_loop, abs=1e-4)


def test_what_is_measured_against_a_route_that_nobody_asked_for_is_in_no_score() -> None:
    found = score([NEAR, RED], None, FINE)
    assert [name for name, value in found.items() if value is None] == [
        "route_completion", "progress", "making_progress",
    ]  # fmt: skip
    assert found["closed_loop"] == pytest.approx((4.0 + 2.0) / 11.0, abs=1e-4)
    assert found["driving"] == pytest.approx(1.0 / 1.4, abs=1e-4)


def test_speeding_is_averaged_over_the_run() -> None:
    metrics = Metrics()
    for above in (2.0, 2.0, -5.0, -5.0):
        metrics.note_speed(0.05, above)
    assert metrics.measures().overspeed == pytest.approx(1.0)


def test_metres_against_the_traffic_are_those_of_a_second() -> None:
    metrics = Metrics()
    for frame in range(60):
        metrics.note_against(0.05 * frame, 0.25)
    assert metrics.measures().against_m == pytest.approx(5.0)
    metrics.note_against(10.0, 1.0)
    assert metrics.measures().against_m == pytest.approx(5.0)


def test_the_way_outside_the_route_is_taken_out_of_the_completion() -> None:
    metrics = Metrics()
    for outside in (False, False, False, True):
        metrics.note_way(5.0, outside)
    assert metrics.measures().outside_route_lanes == pytest.approx(0.25)
    assert score([], 0.8, metrics.measures())["driving"] == pytest.approx(0.6)


def test_coefficients_of_our_own_are_apart_from_the_published_ones() -> None:
    assert not set(COEFFICIENTS) & set(OWN_COEFFICIENTS)


def row(t: float, v: float, reason: Reason, state: str = "on_road/normal") -> LogRow:
    return LogRow(t, state, START, v, Limit(reason), 1.0)


def test_stops_without_a_reason_are_counted_once_they_last() -> None:
    log = RunLog()
    for k in range(200):
        t = 0.05 * k
        reason = Reason.RED_LIGHT if t < 3.0 else Reason.NONE
        v = 0.0 if t < 2.5 or 4.0 < t < 6.0 or 7.0 < t < 7.6 else 5.0
        log.rows.append(row(t, v, reason))
    assert len(log.stops()) == 2
    assert log.unexplained_stops() == 1


def test_time_in_line_free_states_is_added_up() -> None:
    log = RunLog()
    for k, state in enumerate(["on_road/normal", "on_road/no_line_free", "intersection/no_line_free"] * 10):
        log.rows.append(row(float(k), 1.0, Reason.NONE, state))
    log.rows.append(row(30.0, 1.0, Reason.NONE))
    assert log.line_free_seconds() == pytest.approx(20.0)


def test_the_docs_name_every_term() -> None:
    text = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
    assert [name for name in score([], 1.0, FINE) if f"`{name}`" not in text] == []
