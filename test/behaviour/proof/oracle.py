"""Which row should fire, written down a second time: from the rows and the contract's words, not from the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tuling_fsm.behaviour import states
from tuling_fsm.machine.elements import Region, Row
from tuling_fsm.machine.table import Table

CLASSES = ("SAFETY", "FAILURE", "MISSION", "PROGRESS")
"""DWELL-4: who wins."""
IN_NORMAL = ("NOR-2", "NOR-9", "NOR-7", "NOR-1", "NOR-8", "NOR-10")
"""DWELL-4: the order in `on_road/normal`."""


def rows_out_of(machine: Table[Any, Any], path: str) -> tuple[Row[Any], ...]:
    """Rows of the leaf and of the composites around it that lead to a state which may be entered, as declared."""
    parts = path.split("/")
    around = {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    return tuple(row for row in machine.rows if row.source in around and enabled(machine, landing(machine, row.dest)))


def landing(machine: Table[Any, Any], dest: str) -> str:
    """The leaf in which a transition to `dest` ends."""
    state = machine.states[dest]
    return landing(machine, f"{dest}/{state.initial}") if isinstance(state, Region) else dest


def enabled(machine: Table[Any, Any], path: str) -> bool:
    return machine.leaves[path].enabled


def beats(state: str, one: Row[Any], other: Row[Any]) -> bool:
    """Whether `one` is to fire when both could."""
    if state == states.NORMAL and one.clause in IN_NORMAL and other.clause in IN_NORMAL and one.clause != other.clause:
        return IN_NORMAL.index(one.clause) < IN_NORMAL.index(other.clause)
    mine, theirs = CLASSES.index(one.priority.name), CLASSES.index(other.priority.name)
    return mine < theirs if mine != theirs else one.order < other.order


def winner(state: str, ready: Iterable[Row[Any]]) -> Row[Any] | None:
    """The one that beats all others.

    Raises:
        AssertionError: two could fire, and nothing says which.
    """
    rows = list(ready)
    if not rows:
        return None
    best = [row for row in rows if all(beats(state, row, other) for other in rows if other is not row)]
    assert len(best) == 1, f"in {state} nothing decides between {[row.key for row in rows]}"
    return best[0]


def ready(machine: Table[Any, Any], path: str, row: Row[Any], held_s: float, in_state_s: float) -> bool:
    """DWELL-1 and DWELL-2: held long enough, and the state kept long enough unless it is about safety."""
    minimum = machine.leaves[path].min_dwell_s if row.min_dwell_s is None else row.min_dwell_s
    if row.priority.name == "SAFETY":
        minimum = 0.0
    return held_s >= row.dwell_s - 1e-6 and in_state_s >= minimum - 1e-6
