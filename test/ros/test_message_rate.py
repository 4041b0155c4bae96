"""The last tick is done once more before the next odometry, when there is time for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from ros.stand import Bench, frame
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.timing import MessageRate

TICK_S = 0.002


class Clock:
    """Goes on by as much as it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def listened(steps: Iterable[float]) -> tuple[MessageRate, Clock]:
    """A rate that has heard a message after each step (s), the last of them a tick ago."""
    clock = Clock()
    rate = MessageRate(clock)
    for step in steps:
        clock.now += step
        rate.heard()
    clock.now += TICK_S
    return rate, clock


def test_what_is_to_be_done_ends_shortly_before_the_next_arrival():
    rate, clock = listened([0.02] * 9)
    rest = rate.rest(TICK_S)
    assert rest is not None
    ends = clock.now + rest + TICK_S
    assert 9 * 0.02 + 0.015 < ends < 10 * 0.02 - 0.002


def test_the_shortest_of_the_last_steps_counts():
    rate, _ = listened([0.02, 0.02, 0.016, *[0.02] * 6])
    regular, _ = listened([0.02] * 9)
    assert rate.rest(TICK_S) == pytest.approx(regular.rest(TICK_S) - 0.004)


@pytest.mark.parametrize(
    ("steps", "takes"),
    [
        ([0.02] * 8, TICK_S),
        ([0.02] * 9, 0.005),
        ([0.1] * 9, 0.03),
        ([0.008] * 9, 0.001),
        ([0.02, 0.02, 0.0001, *[0.02] * 6], TICK_S),
    ],
    ids=["rate not known", "large share", "long tick", "hardly a rest", "two at once"],
)
def test_no_time_for_it(steps, takes):
    rate, _ = listened(steps)
    assert rate.rest(takes) is None


def driven(lock_step: bool = False, ticks: int = 12) -> Bench:
    """Odometry fifty times a second."""
    clock = Clock()
    bench = Bench(lock_step=lock_step, rate=MessageRate(clock))
    for k in range(ticks):
        clock.now = 0.02 * k
        bench.send(frame(1.0 + 0.02 * k))
        bench.answer()
    return bench


def test_it_rests_and_does_the_tick_once_more_without_sending_anything():
    bench = driven()
    assert len(bench.rests) == 4
    sent = len(bench.sent)
    bench.cycle.rested()
    assert bench.agent.repeated == 1
    assert len(bench.sent) == sent


@pytest.mark.clause("SAF-1")
def test_what_fails_the_second_time_is_reported_and_the_next_tick_comes(monkeypatch):
    bench = driven()

    def fail() -> None:
        raise RuntimeError("not again")

    monkeypatch.setattr(bench.agent, "repeat", fail)
    bench.cycle.rested()
    (line,) = bench.lines
    assert line.startswith("the last tick could not be repeated: RuntimeError: not again")
    bench.send(frame(2.0))
    assert bench.trajectories()[-1].stamp == 2.0


def test_in_lock_step_nothing_is_done_twice():
    bench = driven(lock_step=True)
    assert len(bench.trajectories()) == 12
    assert bench.rests == []


@pytest.mark.clause("USE-12")
def test_it_is_left_from_the_tick_on_which_that_is_wished():
    bench = driven()
    rests = len(bench.rests)
    bench.cycle.reconfigure(replace(PlannerNodeParameters(), keep_warm=False), bench.agent.parameters)
    bench.send(frame(2.0))
    bench.cycle.rested()
    assert len(bench.rests) == rests
    assert bench.agent.repeated == 0
