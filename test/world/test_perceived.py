"""Parking spaces that perception sees again and again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.world.perceived import ObservedSlot, PerceivedSlot, remember_slots

SLOT = PerceivedSlot(7, False, 12.3, -4.5, 3.1, 5.2, 2.5)
DT = 0.05
Observed = dict[int, ObservedSlot]


@given(st.floats(-1e4, 1e4), st.floats(-10.0, 10.0), st.integers(1, 80))
def test_what_is_told_without_noise_stays_what_was_told(x: float, heading: float, times: int) -> None:
    told, observed = replace(SLOT, x=x, heading=heading), Observed()
    for k in range(times):
        occupied = replace(told, occupied=k % 3 == 0)
        slots, observed = remember_slots((occupied,), k * DT, observed, -math.inf)
        assert slots == (occupied,)


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize("heading", [0.3, math.pi, -math.pi])
def test_noise_is_averaged_while_some_are_missing(heading: float) -> None:
    draw, observed = np.random.default_rng(4), Observed()
    places = [replace(SLOT, number=i, x=3.0 * i, heading=heading) for i in range(60)]
    for k in range(60):
        x, y, turn = draw.normal(0.0, (0.5, 0.5, 0.01), (len(places), 3)).T
        told = tuple(
            replace(slot, x=slot.x + x[i], y=slot.y + y[i], heading=slot.heading + turn[i])
            for i, slot in enumerate(places)
            if draw.random() > 0.2
        )
        slots, observed = remember_slots(told, k * DT, observed, k * DT - 3.0)
        assert [slot.number for slot in slots] == [slot.number for slot in told], "what is not seen is not told"
    off = np.array([(slot.x - 3.0 * slot.number, slot.y - SLOT.y, slot.heading - heading) for slot in slots])
    assert np.all(np.sqrt(np.mean(off**2, axis=0)) < (0.12, 0.12, 0.0024))


def test_one_that_is_told_elsewhere_or_forgotten_is_another_one() -> None:
    _, observed = remember_slots((SLOT,), 0.0, {}, -3.0)
    for told, stamp in ((replace(SLOT, x=SLOT.x + 2.5), DT), (replace(SLOT, x=SLOT.x + 0.5), 3.1)):
        slots, now = remember_slots((told,), stamp, observed, stamp - 3.0)
        assert slots == (told,) and now[7].poses == 1
    (halfway,), _ = remember_slots((replace(SLOT, x=SLOT.x + 0.5),), DT, observed, DT - 3.0)
    assert halfway.x == pytest.approx(SLOT.x + 0.25)


def test_the_same_table_counts_once_and_a_number_that_is_told_twice_is_two_spaces() -> None:
    other = replace(SLOT, y=SLOT.y + 6.0)
    slots, observed = remember_slots((SLOT, other), 0.0, {}, -3.0)
    assert slots == (SLOT, other)
    moved = replace(other, x=other.x + 1.0)
    _, observed = remember_slots((moved,), DT, observed, -3.0)
    again, _ = remember_slots((moved,), DT, observed, -3.0)
    assert again[0].x == pytest.approx(other.x + 0.5)
