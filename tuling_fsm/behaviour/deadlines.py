"""How long the present state still has: what is left of the time of its deadline rows (EXPL-1, USE-2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from tuling_fsm.behaviour import guards
from tuling_fsm.behaviour.intersection.guards import directed_by_hand
from tuling_fsm.behaviour.leaf import BehaviourRow, BehaviourView
from tuling_fsm.behaviour.parking.guards import entry_overdue, search_stands_still
from tuling_fsm.behaviour.temporary_stop.guards import alighted, attempt_failed, boarded
from tuling_fsm.core.request import Reason


@dataclass(frozen=True)
class Timeout:
    """The state is left for `dest` in `remaining_s`, if nothing that `guard` looks at changes."""

    dest: str
    guard: str
    clause: str
    remaining_s: float


def timed(rows: Iterable[BehaviourRow]) -> tuple[BehaviourRow, ...]:
    """The deadline rows whose clock can be told."""
    return tuple(row for row in rows if row.deadline and row.guard in TIMED)


def time_left(view: BehaviourView, rows: Iterable[BehaviourRow]) -> Timeout | None:
    """The soonest of the `timed` rows of the present leaf; None where there are none."""
    left = [(max(TIMED[row.guard](view), 0.0), row) for row in rows]
    if not left:
        return None
    remaining_s, row = min(left, key=itemgetter(0))
    return Timeout(row.dest, row.guard_name, row.clause, remaining_s)


def _of_maneuver(view: BehaviourView) -> float:
    return view.context.parameters.switching.deadline - view.memory.unexplained_s


def _of_progress(view: BehaviourView) -> float:
    normal = view.context.parameters.normal
    waits: Reason = view.memory.plan.limit.reason
    patience = normal.junction_patience if waits in guards.JUNCTION_WAITS else normal.no_progress
    return patience - (view.clock - view.memory.progress.at)


def _of_exploring(view: BehaviourView) -> float:
    return view.context.parameters.explore.timeout - view.memory.on_road.exploring.spent_s


def _of_standing_at_junction(view: BehaviourView) -> float:
    return view.context.parameters.intersection.by_hand_after - view.memory.intersection.standing_s


def _of_stop(view: BehaviourView) -> float:
    return view.context.parameters.stop.duration - view.memory.stop.stood_s


def _of_wait_for_slot(view: BehaviourView) -> float:
    if not view.memory.stop.waiting:
        return _of_maneuver(view)
    return min(view.context.parameters.stop.wait - view.memory.stop.waited_s, _of_maneuver(view))


def _of_slot_entry(view: BehaviourView) -> float:
    return view.context.parameters.parking.timeout - view.in_state_s


TIMED: Mapping[Callable[[BehaviourView], bool], Callable[[BehaviourView], float]] = {
    guards.overdue: _of_maneuver,
    guards.no_progress: _of_progress,
    guards.explore_timed_out: _of_exploring,
    directed_by_hand: _of_standing_at_junction,
    boarded: _of_stop,
    alighted: _of_stop,
    attempt_failed: _of_wait_for_slot,
    entry_overdue: _of_slot_entry,
    search_stands_still: _of_progress,
}
"""What is left until a guard of a deadline row holds, s. One that counts attempts instead of time is not in here."""
