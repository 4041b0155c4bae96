"""What an operator's calls can do now: one that nothing can follow is refused, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.supervisors.emergency_stop import LINK_LOST, STOPPED

_NEXT_TICK, _RELEASED = "on the next tick", "when the emergency stop is released"


class _Effect(NamedTuple):
    """Whether a call can do anything after a decision, why it cannot, and when it does, without and with a stop."""

    possible: Callable[[Decision], bool]
    otherwise: str
    driving: str = _NEXT_TICK
    stopped: str = _RELEASED


def _parked(decision: Decision) -> bool:
    return decision.state == states.PARKED


def _has_task(decision: Decision) -> bool:
    return decision.record.machine.memory.mission.goal.is_stop


def _link_lost(decision: Decision) -> bool:
    return _emergency_stop(decision) == LINK_LOST


def _emergency_stop(decision: Decision) -> str | None:
    return dict(decision.supervisors).get("emergency_stop")


_EFFECTS: Mapping[str, _Effect] = {
    "reset": _Effect(_parked, "the car is not parked"),
    "skip_task": _Effect(_has_task, "there is no task to skip"),
    "clear_emergency_stop": _Effect(
        _link_lost, "no lost link stops the car", stopped=f"{_NEXT_TICK}, if the remote is heard and says go"
    ),
}


def answer_call(name: str, decision: Decision) -> tuple[bool, str]:
    """Whether a call, one of `wire.inputs.OPERATOR`, can do anything after the latest decision, and when or why not."""
    effect = _EFFECTS[name]
    if not effect.possible(decision):
        return False, effect.otherwise
    return True, effect.stopped if _emergency_stop(decision) in STOPPED else effect.driving
