"""Conditions that hold a while after what they are about."""

from __future__ import annotations

import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.sim.scenario.conditions import Arrived, Edge, OnEdge
from tuling_fsm.sim.scenario.monitors import ConditionMonitor, StoryboardMemory, StoryboardStep

from .storyboards import View

pytestmark = pytest.mark.clause("OSC-1")

STEP_S = 0.5


def _asked(edge: Edge, before: bool | None, value: bool) -> bool:
    if edge is Edge.NONE:
        return value
    changed = before is not None and before is not value
    return changed and (edge is Edge.EITHER or value is (edge is Edge.RISING))


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.sampled_from(Edge), st.integers(0, 6))
def test_a_condition_with_a_delay_holds_as_it_would_have_without_so_long_ago(
    truths: list[bool], edge: Edge, delay: int
) -> None:
    monitor = ConditionMonitor(OnEdge(Arrived("npc"), edge, delay * STEP_S), 0.0)
    at_once = [_asked(edge, before, value) for before, value in zip([None, *truths], truths, strict=False)]
    for step, value in enumerate(truths):
        view = View(step * STEP_S, at_end={"npc"} if value else set())
        expected = step >= delay and at_once[step - delay]
        assert monitor.holds(StoryboardStep(view, StoryboardMemory())) == expected


def test_what_is_waited_for_without_end_takes_no_more_room_from_step_to_step() -> None:
    monitor = ConditionMonitor(OnEdge(Arrived("npc"), Edge.NONE, math.inf), 0.0)
    step = StoryboardStep(View(), StoryboardMemory())
    tracemalloc.start()
    try:
        for _ in range(10_000):
            step.view.stamp += STEP_S
            assert not monitor.holds(step)
        assert tracemalloc.get_traced_memory()[0] < 50_000
    finally:
        tracemalloc.stop()
