"""A checked set of states and rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

from tuling_fsm.core.errors import assert_never
from tuling_fsm.machine.check import check_rows, check_states, check_ways
from tuling_fsm.machine.elements import SEPARATOR, B, C, Leaf, M, Region, Row, covers
from tuling_fsm.machine.record import StateRecord


@dataclass(frozen=True)
class Table(Generic[C, B]):
    """A state machine as data; building one checks it.

    `rest` are the leaves of which every other must be able to reach one. The states of a supervisor (`supervises`) may
    last for ever and need no deadline. `beside` are the supervisors that run next to this machine, for the diagram.

    Raises:
        InputError: a table that could not run, or that has a dead end (USE-2).
    """

    name: str
    initial: str
    children: tuple[Leaf[B] | Region[B], ...]
    rows: tuple[Row[C], ...]
    rest: tuple[str, ...] = ()
    supervises: bool = False
    beside: tuple[Table[Any, Any], ...] = ()

    def __post_init__(self) -> None:
        check_states(self.name, self.initial, self.children)
        check_rows(self.name, tuple(self.states), self.rows)
        leaves = {path: leaf for path, leaf in self.leaves.items() if leaf.enabled}
        check_ways(self.name, self.resolve(self.initial), leaves, self._ways(leaves), self.rest, self.supervises)

    @cached_property
    def states(self) -> dict[str, Leaf[B] | Region[B]]:
        """Every state by its full path, parents before children."""
        return dict(_walk(self.children, ""))

    @cached_property
    def leaves(self) -> dict[str, Leaf[B]]:
        """Every leaf by its full path."""
        return {path: state for path, state in self.states.items() if isinstance(state, Leaf)}

    @cached_property
    def rows_from(self) -> dict[str, tuple[Row[C], ...]]:
        """For every leaf the rows that can leave it, its composites' among them, the first to win first (DWELL-4)."""
        usable = [row for row in self.rows if self._usable(row)]
        return {
            path: tuple(sorted((row for row in usable if covers(row.source, path)), key=lambda row: row.rank))
            for path in self.leaves
        }

    def start(self, memory: M) -> StateRecord[M]:
        """The record of a machine that has not run yet."""
        return StateRecord(self.resolve(self.initial), memory)

    def resolve(self, path: str) -> str:
        """The leaf that is entered when `path` is."""
        state = self.states[path]
        match state:
            case Leaf():
                return path
            case Region():
                return self.resolve(path + SEPARATOR + state.initial)
            case _:
                assert_never(state)

    def _usable(self, row: Row[C]) -> bool:
        source = self.states[row.source]
        source_enabled = source.enabled if isinstance(source, Leaf) else True
        return source_enabled and self.leaves[self.resolve(row.dest)].enabled

    def _ways(self, leaves: dict[str, Leaf[B]]) -> dict[str, tuple[tuple[str, Row[C]], ...]]:
        return {path: tuple((self.resolve(row.dest), row) for row in self.rows_from[path]) for path in leaves}


def _walk(children: tuple[Leaf[B] | Region[B], ...], prefix: str) -> Iterator[tuple[str, Leaf[B] | Region[B]]]:
    for child in children:
        path = prefix + child.name
        yield path, child
        match child:
            case Region():
                yield from _walk(child.children, path + SEPARATOR)
            case Leaf():
                pass
            case _:
                assert_never(child)
