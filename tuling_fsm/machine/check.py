"""What a table is refused for: errors that `transitions` accepts in silence, and dead ends (USE-2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.machine.elements import SEPARATOR, Leaf, Priority, Region, Row, covers

AnyState = Leaf[Any] | Region[Any]
Ways = Mapping[str, Sequence[tuple[str, Row[Any]]]]
"""For every enabled leaf the leaves it leads to, with the row."""


def check_states(where: str, initial: str, children: Sequence[AnyState]) -> None:
    """Names, initial states and times of all states, depth first."""
    names = [child.name for child in children]
    for child in children:
        place = f"{where}{SEPARATOR}{child.name}"
        if not child.name or SEPARATOR in child.name:
            raise InputError(where, f"bad state name {child.name!r}", f"a name without {SEPARATOR!r}")
        if names.count(child.name) > 1:
            raise InputError(place, "declared twice", "one state of a name")
        match child:
            case Region():
                check_states(place, child.initial, child.children)
            case Leaf():
                _check_leaf(place, child)
            case _:
                assert_never(child)
    if initial not in names:
        raise InputError(where, f"no initial state {initial!r}", "one of " + ", ".join(names))


def _check_leaf(place: str, leaf: Leaf[Any]) -> None:
    _check_time(place, "min_dwell_s", leaf.min_dwell_s)
    if leaf.retry_s is not None:
        _check_time(place, "retry_s", leaf.retry_s)


def _check_time(place: str, name: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0.0):
        raise InputError(place, f"{name} is {value}", "seconds, 0 or more")


def check_rows(where: str, states: Sequence[str], rows: Sequence[Row[Any]]) -> None:
    """Each row by itself, and all pairs that can be active at once."""
    guards: dict[str, Callable[[Any], bool]] = {}
    for row in rows:
        _check_row(where, states, row)
        if guards.setdefault(row.guard_name, row.guard) is not row.guard:
            raise InputError(f"{where}: {row.key}", "two guards have this name", "one predicate of a name")
    for i, row in enumerate(rows):
        for other in rows[:i]:
            if row.key == other.key:
                raise InputError(f"{where}: {row.key}", "declared twice", "one row")
            nested = covers(row.source, other.source) or covers(other.source, row.source)
            if nested and row.rank == other.rank:
                raise InputError(f"{where}: {row.key}", f"same priority and order as {other.key}", "a distinct order")


def _check_row(where: str, states: Sequence[str], row: Row[Any]) -> None:
    place = f"{where}: {row.key}"
    for path in (row.source, row.dest):
        if path not in states:
            raise InputError(place, f"unknown state {path!r}", "one of " + ", ".join(states))
    if not callable(row.guard) or not row.guard_name:
        raise InputError(place, f"unknown guard {row.guard!r}", "a named predicate")
    if not row.clause:
        raise InputError(place, "no clause", "the clause that the row implements")
    _check_time(place, "dwell_s", row.dwell_s)
    _check_time(place, "min_dwell_s", row.min_dwell_s or 0.0)
    if row.priority is Priority.SAFETY and row.dwell_s > 0.0:
        raise InputError(place, f"dwell of {row.dwell_s} s on a safety row", "0 (DWELL-1)")


def check_ways(
    where: str, start: str, leaves: Mapping[str, Leaf[Any]], ways: Ways, rest: Sequence[str], supervises: bool
) -> None:
    """That every enabled leaf can be reached, can be left, leads to rest, and does not last for ever."""
    if start not in leaves:
        raise InputError(where, f"the initial state {start} is disabled", "an enabled one")
    for path in rest:
        if path not in leaves:
            raise InputError(where, f"unknown state of rest {path!r}", "one of " + ", ".join(leaves))
    seen = _reached(start, ways)
    for path, leaf in leaves.items():
        place = f"{where}{SEPARATOR}{path}"
        if path not in seen:
            raise InputError(place, "cannot be reached", "a row that leads to it, or the state disabled")
        if leaf.terminal:
            continue
        if all(dest == path for dest, _ in ways[path]):
            raise InputError(place, "no exit", "a row that leaves it, or terminal")
        if rest and not _reached(path, ways) & set(rest):
            raise InputError(place, "a trap", "a way to " + " or ".join(rest))
        if not (supervises or leaf.retry_s is not None or any(row.deadline for _, row in ways[path])):
            raise InputError(place, "no deadline", "a row marked deadline, or retry_s for a state that waits")


def _reached(start: str, ways: Ways) -> set[str]:
    seen, frontier = {start}, [start]
    while frontier:
        for dest, _ in ways[frontier.pop()]:
            if dest not in seen:
                seen.add(dest)
                frontier.append(dest)
    return seen
