"""How long a behaviour lasts, as far as its text says it."""

from __future__ import annotations

import pytest

from tuling_fsm.sim.scenario.conditions import Elapsed
from tuling_fsm.sim.scenario.durations import exactly, time_span
from tuling_fsm.sim.scenario.model import Serial, Wait


@pytest.mark.clause("SIM-2")
def test_times_after_one_another_add_up_rounded_once() -> None:
    """As no version of Python adds them otherwise: one by one ten tenths are less than 1."""
    assert time_span(Serial((Wait(Elapsed(0.1)),) * 10)) == exactly(1.0)
    assert time_span(Serial(())) == exactly(0.0)
