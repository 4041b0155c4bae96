"""The tables of the state machine as plain data for a page: states, rows, guards in words, and what runs them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from tuling_fsm.behaviour.leaf import LeafBehaviour
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.supervisors.emergency_stop import STOPPED
from tuling_fsm.behaviour.tables import table
from tuling_fsm.core.errors import assert_never
from tuling_fsm.machine.elements import Leaf, Priority, Region, Row
from tuling_fsm.machine.engine import TOLERANCE_S
from tuling_fsm.machine.table import Table

TICK_S = 0.05
"""A tick of the planner's odometry, s."""


class StateEntry(TypedDict, total=False):
    """A leaf or a composite by its full path; only a composite has `initial`."""

    path: str
    initial: str
    minDwellS: float
    retryS: float | None
    terminal: bool
    enabled: bool
    asksItself: bool
    words: str


class RowEntry(TypedDict):
    """A transition; times in s."""

    source: str
    dest: str
    guard: str
    priority: str
    rank: tuple[int, int]
    clause: str
    dwellS: float
    minDwellS: float | None
    safety: bool
    deadline: bool


class TableEntry(TypedDict):
    """One table."""

    name: str
    initial: str
    states: list[StateEntry]
    rows: list[RowEntry]


class TablesDocument(TypedDict):
    """The machine, then its supervisors in the order in which they are ticked, and all guards in words."""

    tickS: float
    maxGapS: float
    toleranceS: float
    stopped: list[str]
    machines: list[TableEntry]
    guards: dict[str, str]


def tables_data() -> TablesDocument:
    """All tables, with the dwell times that parameters have by default.

    Raises:
        InputError: a table with a dead end or an ambiguity.
    """
    parameters = BehaviourParameters()
    hierarchy = table(parameters)
    machines: list[Table[Any, Any]] = [hierarchy, *hierarchy.beside]
    rows = [row for machine in machines for row in machine.rows]
    return {
        "tickS": TICK_S,
        "maxGapS": parameters.switching.max_gap,
        "toleranceS": TOLERANCE_S,
        "stopped": list(STOPPED),
        "machines": [_machine(each) for each in machines],
        "guards": {row.guard_name: _in_words(row.guard.__doc__) for row in rows},
    }


def _machine(machine: Table[Any, Any]) -> TableEntry:
    return {
        "name": machine.name,
        "initial": machine.initial,
        "states": list(_states(machine.states)),
        "rows": [_row(row) for row in machine.rows],
    }


def _states(states: Mapping[str, Leaf[Any] | Region[Any]]) -> Iterator[StateEntry]:
    for path, state in states.items():
        match state:
            case Region():
                yield {"path": path, "initial": state.initial}
            case Leaf():
                body: object = state.body
                yield {
                    "path": path,
                    "minDwellS": state.min_dwell_s,
                    "retryS": state.retry_s,
                    "terminal": state.terminal,
                    "enabled": state.enabled,
                    "asksItself": isinstance(body, LeafBehaviour) and body.asks_itself,
                    "words": _state_in_words(body),
                }
            case _:
                assert_never(state)


def _row(row: Row[Any]) -> RowEntry:
    return {
        "source": row.source,
        "dest": row.dest,
        "guard": row.guard_name,
        "priority": row.priority.name.lower(),
        "rank": (int(row.priority), row.order),
        "clause": row.clause,
        "dwellS": row.dwell_s,
        "minDwellS": row.min_dwell_s,
        "safety": row.priority is Priority.SAFETY,
        "deadline": row.deadline,
    }


def _state_in_words(body: object) -> str:
    """What the module of a state's request says of it, behind its name."""
    if not isinstance(body, LeafBehaviour):
        return ""
    said = _in_words(sys.modules[body.request.__module__].__doc__)
    return said.partition(": ")[2] or said


def _in_words(doc: str | None) -> str:
    """The first paragraph of a docstring, in one line."""
    return " ".join((doc or "").strip().partition("\n\n")[0].replace("`", "").split())
