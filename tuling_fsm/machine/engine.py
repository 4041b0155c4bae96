"""Runs a table: one tick evaluates the guards, filters them by dwell and fires at most one row (DWELL-1 to DWELL-5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from transitions.extensions.nesting import HierarchicalMachine, NestedState

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.core.records import replace
from tuling_fsm.machine.elements import SEPARATOR, B, C, Leaf, M, Priority, Region, Row
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.machine.table import Table

TOLERANCE_S = 1e-6
"""Sums of tick lengths carry rounding errors; a timer is due this much early."""
DEFAULT_MAX_GAP_S = 1.0


class _State(NestedState):
    separator = SEPARATOR


class _Hierarchy(HierarchicalMachine):
    state_cls = _State


class _Position:
    """The model of `transitions`: holds the path of the active leaf."""

    state: str


@dataclass(frozen=True)
class Pending:
    """A row whose guard holds, but not yet for long enough: how far its dwell has come, and what is left (s)."""

    dest: str
    guard: str
    clause: str
    held_s: float
    dwell_s: float
    remaining_s: float


@dataclass(frozen=True)
class StepResult(Generic[C]):
    """What one tick did: the leaf before and after. `pending` have not matured; `rejected` had, but lost to `fired`."""

    source: str
    dest: str
    fired: Row[C] | None = None
    pending: tuple[Pending, ...] = ()
    rejected: tuple[Row[C], ...] = ()


class Engine(Generic[C, B, M]):
    """One running machine. `record` is all of its state; an engine built from it goes on where it was taken.

    A tick is `advance`, then `step`; or `freeze` alone. One engine belongs to one thread.

    Raises:
        InputError: a record of another table.
    """

    def __init__(self, table: Table[C, B], record: StateRecord[M], max_gap_s: float = DEFAULT_MAX_GAP_S) -> None:
        self.table = table
        self._max_gap_s = max_gap_s
        self.restore(record)
        self._position = _Position()
        self._hierarchy = _hierarchy(table, self._position)
        self._triggers = {row.key: f"row_{i}" for i, row in enumerate(table.rows)}
        self._destinations: dict[tuple[str, str], str] = {}
        """Where a row leads from a leaf, as far as it has been asked: the library takes 0.3 ms to find it."""

    def restore(self, record: StateRecord[M]) -> None:
        """Go on from a record.

        Raises:
            InputError: a record of another table.
        """
        if record.path not in self.table.leaves:
            known = "one of " + ", ".join(self.table.leaves)
            raise InputError(f"record of {self.table.name}", f"unknown state {record.path!r}", known)
        self.record = record

    @property
    def leaf(self) -> Leaf[B]:
        """The active leaf."""
        return self.table.leaves[self.record.path]

    def advance(self, stamp: float) -> float:
        """Take the tick's stamp: the active clock goes on. Returns a jump of time (s), 0 for none.

        A step backwards, or forwards by more than `max_gap_s`, is a jump: dwell timers start anew and the clock does
        not move, so that no deadline passes by it (DWELL-5).
        """
        step, jump = self._interval(stamp)
        if jump:
            self.record = replace(self.record, stamp=stamp, true_since=())
        else:
            self.record = replace(self.record, stamp=stamp, clock=self.record.clock + step)
        return jump

    def freeze(self, stamp: float) -> float:
        """Take the stamp of a tick on which the machine stands still: no timer moves. Returns a jump as `advance`."""
        _, jump = self._interval(stamp)
        kept = () if jump else self.record.true_since
        self.record = replace(self.record, stamp=stamp, true_since=kept)
        return jump

    def remember(self, memory: M) -> None:
        """Replace what the machine remembers."""
        if memory is not self.record.memory:
            self.record = replace(self.record, memory=memory)

    def step(self, context: C) -> StepResult[C]:
        """Evaluate every row of the active leaf and fire the first that has matured."""
        record, leaf = self.record, self.leaf
        rows = [row for row in self.table.rows_from[record.path] if row.guard(context)]
        if not rows and not record.true_since:
            return StepResult(record.path, record.path)
        since = dict(record.true_since)
        holding: dict[str, float] = {}
        pending: list[Pending] = []
        matured: list[Row[C]] = []
        for row in rows:
            start = holding[row.key] = since.get(row.key, record.clock)
            remaining = max(start + row.dwell_s, record.entered_at + _min_dwell_s(row, leaf)) - record.clock
            if remaining <= TOLERANCE_S:
                matured.append(row)
            else:
                pending.append(
                    Pending(row.dest, row.guard_name, row.clause, record.clock - start, row.dwell_s, remaining)
                )
        fired = matured[0] if matured else None
        if fired is None:
            self.record = replace(record, true_since=tuple(holding.items()))
        else:
            self._fire(fired, holding)
        return StepResult(record.path, self.record.path, fired, tuple(pending), tuple(matured[1:]))

    def _interval(self, stamp: float) -> tuple[float, float]:
        if self.record.stamp is None:
            return 0.0, 0.0
        step = stamp - self.record.stamp
        return (step, 0.0) if 0.0 <= step <= self._max_gap_s + TOLERANCE_S else (0.0, step)

    def _fire(self, row: Row[C], holding: dict[str, float]) -> None:
        old = self.record.path
        new = self._destination(old, row)
        # A timer outlives the transition where its source does: a composite around both leaves.
        around = [path for path in _ancestors(old) if path in _ancestors(new)]
        kept = {other.key for other in self.table.rows_from[old] if other.source in around and other is not row}
        timers = tuple((key, at) for key, at in holding.items() if key in kept)
        self.record = replace(self.record, path=new, entered_at=self.record.clock, true_since=timers)

    def _destination(self, source: str, row: Row[C]) -> str:
        known = self._destinations.get((source, row.key))
        if known is None:
            self._hierarchy.set_state(source, self._position)
            self._hierarchy.trigger_event(self._position, self._triggers[row.key])
            known = self._destinations[source, row.key] = self._position.state
        return known


def _min_dwell_s(row: Row[Any], leaf: Leaf[Any]) -> float:
    if row.priority is Priority.SAFETY:
        return 0.0
    return leaf.min_dwell_s if row.min_dwell_s is None else row.min_dwell_s


def _ancestors(path: str) -> list[str]:
    names = path.split(SEPARATOR)
    return [SEPARATOR.join(names[:i]) for i in range(1, len(names))]


def _hierarchy(table: Table[Any, Any], position: _Position) -> _Hierarchy:
    """The same states and rows for `transitions`: each row is a trigger of its own, at the root, with full paths."""
    hierarchy = _Hierarchy(
        model=position,
        states=[_as_dict(child) for child in table.children],
        initial=table.initial,
        auto_transitions=False,
        name=table.name,
    )
    for i, row in enumerate(table.rows):
        hierarchy.add_transition(f"row_{i}", row.source, row.dest)
    return hierarchy


def _as_dict(state: Leaf[Any] | Region[Any]) -> dict[str, Any]:
    match state:
        case Leaf():
            return {"name": state.name}
        case Region():
            children = [_as_dict(child) for child in state.children]
            return {"name": state.name, "initial": state.initial, "children": children}
        case _:
            assert_never(state)
