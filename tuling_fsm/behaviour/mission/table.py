"""The row that ends the run from every state when the match time is over (MAT-1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.conduct import BehaviourRow
from tuling_fsm.behaviour.mission.guards import match_over
from tuling_fsm.machine.elements import SEPARATOR, Leaf, Priority, Region

LAST = 99
"""After every other row: what is under way is not cut off on the same tick."""


def rows(regions: Sequence[Region[Any]], dwell: float) -> tuple[BehaviourRow, ...]:
    """One row for every state of these composites, but for the one in which the car stays for good."""
    sources = [
        region.name + SEPARATOR + leaf.name
        for region in regions
        for leaf in region.children
        if isinstance(leaf, Leaf) and leaf.enabled
    ]
    return tuple(
        BehaviourRow(source, states.PLAN_ONCE, match_over, Priority.PROGRESS, LAST, "MAT-1", dwell, 0.0)
        for source in sources
        if source != states.PARKED
    )
