"""The tables as they are, with guards that say what a test tells them: the set of those that hold is a tick's input."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from tuling_fsm.behaviour import table
from tuling_fsm.machine.elements import Row
from tuling_fsm.machine.engine import Engine, StepResult
from tuling_fsm.machine.table import Table

Holding = frozenset[str]
"""Names of the guards that hold on a tick; all others are false."""
FlaggedRow = Row[Holding]
FlaggedTable = Table[Holding, Any]
FlaggedEngine = Engine[Holding, Any, None]
FlaggedStep = StepResult[Holding]


def guards_said(source: Table[Any, Any]) -> FlaggedTable:
    """The same states and rows; a guard holds when its name is in the set."""
    made: dict[str, Callable[[Holding], bool]] = {}

    def stub(name: str) -> Callable[[Holding], bool]:
        def guard(holding: Holding) -> bool:
            return name in holding

        guard.__name__ = name
        return made.setdefault(name, guard)

    rows = tuple(dataclasses.replace(row, guard=stub(row.guard_name)) for row in source.rows)
    return dataclasses.replace(source, rows=rows, beside=())


def all_tables() -> dict[str, Table[Any, Any]]:
    """The hierarchy and every supervisor, by name, with their own guards."""
    hierarchy = table()
    return {machine.name: machine for machine in (hierarchy, *hierarchy.beside)}


REAL = all_tables()
MACHINES: dict[str, FlaggedTable] = {name: guards_said(machine) for name, machine in REAL.items()}
HIERARCHY = table().name
ENGINES: dict[str, FlaggedEngine] = {name: Engine(machine, machine.start(None)) for name, machine in MACHINES.items()}
"""One engine a machine: a test sets `record` and goes on from there."""
LEAVES: tuple[tuple[str, str], ...] = tuple(
    (name, path) for name, machine in MACHINES.items() for path, leaf in machine.leaves.items() if leaf.enabled
)
"""Every state that can be entered: machine, path."""
