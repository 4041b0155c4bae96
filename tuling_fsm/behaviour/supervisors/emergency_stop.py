"""The supervisor `emergency_stop` (EST-1 to EST-3): while it is in a state of `STOPPED`, no other machine is ticked."""

from __future__ import annotations

from tuling_fsm.behaviour.guards import Guard
from tuling_fsm.behaviour.leaf import BehaviourRow, BehaviourView
from tuling_fsm.behaviour.supervisors import guards
from tuling_fsm.machine.elements import Leaf, Priority
from tuling_fsm.machine.table import Table

LINK_LOST = "link_lost"
STOPPED = ("stopped", LINK_LOST)


def table() -> Table[BehaviourView, None]:
    """`unarmed` until the first message, `stopped` by command, `link_lost` by silence until an operator clears it."""
    rows = (
        _row("unarmed", "stopped", guards.stop_commanded, 0, "EST-1"),
        _row("unarmed", "link_lost", guards.link_missing, 1, "EST-3"),
        _row("unarmed", "armed", guards.link_up, 2, "EST-3"),
        _row("armed", "stopped", guards.stop_commanded, 0, "EST-1"),
        _row("armed", "link_lost", guards.link_silent, 1, "EST-3"),
        _row("stopped", "link_lost", guards.link_silent, 0, "EST-3"),
        _row("stopped", "armed", guards.stop_released, 1, "EST-2"),
        _row("link_lost", "armed", guards.stop_cleared, 0, "EST-3"),
    )
    leaves = tuple(Leaf(name, None) for name in ("unarmed", "armed", *STOPPED))
    return Table("emergency_stop", "unarmed", leaves, rows, supervises=True)


def _row(source: str, dest: str, guard: Guard, order: int, clause: str) -> BehaviourRow:
    return BehaviourRow(source, dest, guard, Priority.SAFETY, order, clause=clause, dwell_s=0.0)
