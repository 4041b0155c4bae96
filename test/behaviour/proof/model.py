"""A model checker for tables: breadth first over states, guards and bounded timers.

Times are mapped to ticks in their order (0 stays 0, the shortest becomes 1 tick, the next longer one 2, ...): what
matters is only which of two times passes first, and so the timers are bounded and the configurations finite.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tuling_fsm.machine.engine import Engine
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.machine.table import Table

from .flagged import FlaggedEngine, FlaggedRow, FlaggedTable, Holding

FREEZE: Holding = frozenset(("(emergency stop)",))
"""An input of its own: the machine is frozen for a tick."""


@dataclass(frozen=True)
class Config:
    """A state with its timers in ticks: how old it is, and how long each row's guard has held; capped."""

    path: str
    age: int
    held: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Edge:
    """What one tick did."""

    before: Config
    holding: Holding
    fired: FlaggedRow | None
    after: Config


class CounterexampleError(AssertionError):
    """A property does not hold: the shortest way to where it breaks, as a table."""

    def __init__(self, what: str, edges: Iterable[Edge]) -> None:
        head = ("tick", "state", "age", "guards that hold", "fires")
        rows = [
            (
                str(tick),
                edge.before.path,
                str(edge.before.age),
                ", ".join(sorted(edge.holding)) or "-",
                "-" if edge.fired is None else f"{edge.fired.dest} [{edge.fired.clause}]",
            )
            for tick, edge in enumerate(edges)
        ]
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
        super().__init__("\n".join((what, *lines)))


def in_ticks(machine: FlaggedTable) -> FlaggedTable:
    """The same table with every time replaced by its rank among all of them."""
    leaves = machine.leaves.values()
    times = {row.dwell_s for row in machine.rows} | {leaf.min_dwell_s for leaf in leaves}
    times |= {row.min_dwell_s for row in machine.rows if row.min_dwell_s is not None}
    rank = {time: float(i) for i, time in enumerate(sorted(times | {0.0}))}

    def state(old: Any) -> Any:
        if hasattr(old, "children"):
            return dataclasses.replace(old, children=tuple(state(child) for child in old.children))
        return dataclasses.replace(old, min_dwell_s=rank[old.min_dwell_s])

    rows = tuple(
        dataclasses.replace(
            row,
            dwell_s=rank[row.dwell_s],
            min_dwell_s=None if row.min_dwell_s is None else rank[row.min_dwell_s],
        )
        for row in machine.rows
    )
    return dataclasses.replace(machine, children=tuple(state(child) for child in machine.children), rows=rows)


def cap_of(machine: Table[Any, Any]) -> int:
    """No timer has to count further than this, ticks."""
    times = [row.dwell_s for row in machine.rows] + [leaf.min_dwell_s for leaf in machine.leaves.values()]
    times += [row.min_dwell_s or 0.0 for row in machine.rows]
    return int(max(times))


def subsets(guards: Iterable[str], strength: int | None) -> Iterator[Holding]:
    """Sets of guards that hold: all of them, or those of at most `strength`, with all, and with all but one."""
    names = sorted(guards)
    for size in range(len(names) + 1):
        if strength is None or size <= strength or size >= len(names) - 1:
            yield from map(frozenset, itertools.combinations(names, size))


class _Shortcut:
    """In place of the library's machine, which takes 0.1 ms a transition: that it lands rightly is shown elsewhere."""

    def __init__(self, machine: FlaggedTable) -> None:
        self.landings = {f"row_{i}": machine.resolve(row.dest) for i, row in enumerate(machine.rows)}

    def set_state(self, path: str, position: Any) -> None:
        position.state = path

    def trigger_event(self, position: Any, trigger: str) -> None:
        position.state = self.landings[trigger]


class Checker:
    """Drives the engine of a table through every configuration that can be reached.

    On every tick it tries the sets of guards that `subsets` gives for `strength`.
    """

    def __init__(self, machine: FlaggedTable, strength: int | None = None) -> None:
        self.strength = strength
        self.machine = in_ticks(machine)
        self.cap = cap_of(self.machine)
        self.engine: FlaggedEngine = Engine(self.machine, self.machine.start(None), max_gap_s=2.0)
        self.engine._hierarchy = _Shortcut(self.machine)
        self.inputs = {
            path: list(subsets({row.guard_name for row in rows}, strength))
            for path, rows in self.machine.rows_from.items()
        }
        self.came_by: dict[Config, Edge | None] = {}
        self.ways: dict[Config, set[Config]] = {}
        """From where each configuration is reached in one tick."""
        self._stays: dict[Config, list[Edge]] = {}

    def start(self, path: str | None = None) -> Config:
        """A state just entered; without a path the initial one."""
        return Config(self.machine.resolve(self.machine.initial) if path is None else path, 0, ())

    def step(self, config: Config, holding: Holding) -> Edge:
        """One tick of the engine from a configuration."""
        base = float(self.cap)
        timers = tuple((key, base - ticks) for key, ticks in config.held)
        self.engine.record = StateRecord(config.path, None, base, base, base - config.age, timers)
        if holding is FREEZE:
            self.engine.freeze(base + 1.0)
            return Edge(config, holding, None, self._config())
        fired = self.engine.step(holding).fired
        self.engine.advance(base + 1.0)
        return Edge(config, holding, fired, self._config())

    def explore(self, start: Config, check: Callable[[Edge], str | None]) -> set[Config]:
        """Breadth first from a configuration on, with every set of guards on every tick.

        Raises:
            CounterexampleError: `check` objects to an edge.
        """
        self.came_by, self.ways = {start: None}, {}
        queue = deque((start,))
        while queue:
            config = queue.popleft()
            for holding in (FREEZE, *self.inputs[config.path]):
                edge = self.step(config, holding)
                objection = check(edge)
                if objection:
                    raise CounterexampleError(objection, (*self.way_to(config), edge))
                self.ways.setdefault(edge.after, set()).add(config)
                if edge.after not in self.came_by:
                    self.came_by[edge.after] = edge
                    queue.append(edge.after)
        return set(self.came_by)

    def way_to(self, config: Config) -> list[Edge]:
        """The ticks by which the latest exploration came to a configuration first."""
        way: list[Edge] = []
        edge = self.came_by.get(config)
        while edge is not None:
            way.append(edge)
            edge = self.came_by[edge.before]
        return way[::-1]

    def longest_stay(self, config: Config, inputs: Callable[[str], Iterable[Holding]]) -> list[Edge]:
        """The longest time in the present state while only these inputs come; an endless one ends where it repeats.

        Returns:
            The ticks of that stay; its last edge leaves the state, or leads back to a configuration passed before.
        """
        self._stays.clear()
        return self._stay(config, inputs, set())

    def longest_stays(
        self, configs: Iterable[Config], inputs: Callable[[str], Iterable[Holding]]
    ) -> Iterator[tuple[Config, list[Edge]]]:
        """The same for many configurations."""
        self._stays.clear()
        for config in configs:
            yield config, self._stay(config, inputs, set())

    def _stay(self, at: Config, inputs: Callable[[str], Iterable[Holding]], passing: set[Config]) -> list[Edge]:
        if at in self._stays:
            return self._stays[at]
        passing.add(at)
        longest: list[Edge] = []
        for holding in inputs(at.path):
            edge = self.step(at, holding)
            if edge.fired is not None:
                way = [edge]
            elif edge.after in passing:
                return [edge]
            else:
                way = [edge, *self._stay(edge.after, inputs, passing)]
            if way[-1].fired is None:
                return way
            longest = max(longest, way, key=len)
        passing.discard(at)
        self._stays[at] = longest
        return longest

    def _config(self) -> Config:
        record = self.engine.record
        held = sorted((key, min(self.cap, round(record.clock - since))) for key, since in record.true_since)
        return Config(record.path, min(self.cap, round(record.in_state_s)), tuple(held))
