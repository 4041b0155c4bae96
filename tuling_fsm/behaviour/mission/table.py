"""The rows that end the run when the match time is over (MAT-1)."""

from __future__ import annotations

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.leaf import BehaviourRow
from tuling_fsm.behaviour.mission.guards import match_over
from tuling_fsm.machine.elements import Priority

SOURCES = ("on_road", "intersection", "temporary_stop", states.SLOT_SEARCH, states.SLOT_ENTRY)
"""Wherever the match time counts: not before the first route, and not where the car stays for good."""
LAST = 99
"""After every other row: what is under way is not cut off on the same tick."""


def rows(dwell: float) -> tuple[BehaviourRow, ...]:
    """One row for each of these; that of a composite holds in all of its states."""
    return tuple(
        BehaviourRow(source, states.PLAN_ONCE, match_over, Priority.PROGRESS, LAST,
                     clause="MAT-1", dwell_s=dwell, min_dwell_s=0.0)
        for source in SOURCES
    )  # fmt: skip
