"""States that do nothing but stand, and say so. `test_worlds` shows it; `test_model` counts on it."""

from __future__ import annotations

from tuling_fsm.behaviour import states

HOLDING = (
    states.PLAN_ONCE,
    states.REPLAN,
    states.STOPPED,
    states.PICKUP_DECISION,
    states.NEXT_PLAN_ONCE,
    states.PARKED,
)
