"""The stops of a drive, told while it goes on as they are told of all of it."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from tuling_fsm.core.standstills import LimitChange, StandstillCause, StandstillWatch, stops

CODES = ("NONE", "RED_LIGHT", "SPEED_LIMIT", "LEADER", "")


def drive(seed: int) -> tuple[list[tuple[float, float]], list[LimitChange]]:
    """Two minutes of motion at 20 Hz, with gaps, and of what limited the car, in steps of any length."""
    random, motion, said = Random(seed), list[tuple[float, float]](), list[LimitChange]()
    begin = 0.0
    while len(motion) < 2400:
        v = random.choice((0.0, 0.0, 3.0))
        motion += [(begin + 0.05 * k, v) for k in range(random.randrange(1, 200))]
        begin = motion[-1][0] + random.choice((0.05, 0.05, 0.9, 1.1, 30.0))
    t = random.choice((0.0, 5.0))
    while t < motion[-1][0]:
        said.append(LimitChange(t, random.choice(CODES), random.choice("abc")))
        t += 0.05 * random.choice((1, 4, 4, 40))
    return motion, said


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("seed", range(10))
def test_at_any_moment_the_stops_are_those_of_the_drive_so_far(seed: int) -> None:
    motion, said = drive(seed)
    watch, heard = StandstillWatch(), 0
    for k, (t, v) in enumerate(motion):
        watch.move(t, v)
        while heard < len(said) and said[heard].t <= t:
            watch.say(said[heard])
            heard += 1
        if k % 50 == 0:
            told = [*watch.over, *([] if watch.now is None else [watch.now])]
            assert told == [stop.summary for stop in stops(motion[: k + 1], said[:heard])]
    assert len(watch.over) > 1


@pytest.mark.clause("EXPL-1")
def test_in_a_gap_of_more_than_a_second_nobody_knows_whether_the_car_stands() -> None:
    stamps = [0.5 * k for k in range(7)] + [4.0 + 0.5 * k for k in range(7)] + [30.0 + 0.5 * k for k in range(7)]
    found = list(stops([(t, 0.0) for t in stamps], [LimitChange(0.0, "LEADER", "a"), LimitChange(30.0, "NONE", "b")]))
    assert [(stop.t_from, stop.t_to, stop.primary.code) for stop in found] == [
        (0.0, 7.0, "LEADER"), (30.0, 33.0, "NONE"),
    ]  # fmt: skip


@pytest.mark.clause("EXPL-1")
def test_a_long_stop_costs_no_more_than_a_short_one() -> None:
    watch, sizes = StandstillWatch(), []
    for k in range(20 * 600):
        t = 0.05 * k
        watch.move(t, 0.0)
        if k % 4 == 0:
            watch.say(LimitChange(t, CODES[k // 100 % 5], "ab"[k // 60 % 2]))
        if k in (1000, 20 * 600 - 1):
            sizes.append(len(pickle.dumps(watch)))
    assert sizes[1] == pytest.approx(sizes[0], rel=0.1)
    assert watch.now == StandstillCause(0.0, 599.95, "RED_LIGHT", "a")
