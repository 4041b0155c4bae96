"""Every state, every combination of the guards that it reads, every row, every two rows in a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tuling_fsm.machine.record import StateRecord

from .flagged import ENGINES, LEAVES, MACHINES, FlaggedRow, FlaggedTable
from .oracle import landing, ready, rows_out_of, winner

pytestmark = pytest.mark.exhaustive

TICK = 0.05
NOW = 1000.0
LONG_AGO = 0.0
TOO_MANY = 200_000

Switch = tuple[str, str, FlaggedRow, FlaggedRow]


def _clocks(rows: tuple[FlaggedRow, ...]) -> Iterator[dict[str, float | None]]:
    """For every guard: false, true from this tick on, true for ever; in all combinations."""
    names = sorted({row.guard_name for row in rows})
    values = (None, NOW, LONG_AGO)
    if len(values) ** len(names) > TOO_MANY:
        values = (None, LONG_AGO)
    for combination in itertools.product(values, repeat=len(names)):
        yield dict(zip(names, combination, strict=True))


@pytest.mark.clause("DWELL-1", "DWELL-2", "DWELL-4")
@pytest.mark.parametrize(("name", "path"), LEAVES)
@pytest.mark.parametrize("entered_at", [LONG_AGO, NOW - 0.1])
def test_the_row_that_fires_is_the_contracts_for_every_combination_of_guards(
    name: str, path: str, entered_at: float
) -> None:
    machine, engine = MACHINES[name], ENGINES[name]
    rows = rows_out_of(machine, path)
    fired = set()
    for since in _clocks(rows):
        entered = max(entered_at, LONG_AGO)
        true_since = tuple((row.key, at) for row in rows if (at := since[row.guard_name]) is not None)
        engine.record = StateRecord(path, None, NOW, NOW, entered, true_since)
        step = engine.step(frozenset(guard for guard, at in since.items() if at is not None))
        matured = [row for row in rows if (at := since[row.guard_name]) is not None
                   and ready(machine, path, row, NOW - at, NOW - entered)]  # fmt: skip
        expected = winner(machine, path, matured)
        assert step.fired is expected
        assert set(step.rejected) == set(matured) - {expected}
        assert len(step.pending) == len(true_since) - len(matured)
        assert engine.record.path == (path if expected is None else landing(machine, expected.dest))
        fired.add(expected)
    if entered_at == LONG_AGO:
        assert fired == {None, *rows}, "a row that never fires"


@pytest.mark.parametrize(("name", "path"), LEAVES)
def test_no_event_moves_a_state_that_has_no_row_for_it(name: str, path: str) -> None:
    machine, engine = MACHINES[name], ENGINES[name]
    own = {row.guard_name for row in rows_out_of(machine, path)}
    others = {row.guard_name for table in MACHINES.values() for row in table.rows} - own
    for holding in (*(frozenset((guard,)) for guard in sorted(others)), frozenset(others)):
        engine.record = StateRecord(path, None, NOW, NOW, LONG_AGO)
        for tick in range(1, 15):
            engine.advance(NOW + tick * TICK)
            step = engine.step(holding)
            assert (step.fired, step.pending, engine.record.path) == (None, (), path)


def _switches() -> Iterator[Switch]:
    """Every row from every leaf that it leaves, followed by every row of the state that it leads to."""
    for name, path in LEAVES:
        for first in rows_out_of(MACHINES[name], path):
            for second in rows_out_of(MACHINES[name], landing(MACHINES[name], first.dest)):
                yield name, path, first, second


SWITCHES = list(_switches())


class _Drill:
    """One machine from a state just entered on; guards are told, stamps are 50 ms apart."""

    def __init__(self, name: str, path: str) -> None:
        self.engine, self.stamp = ENGINES[name], NOW
        self.engine.record = StateRecord(path, None, 0.0, NOW)

    @property
    def path(self) -> str:
        return self.engine.record.path

    def hold(self, ticks: int, *guards: str) -> None:
        """These guards hold for so many ticks, and nothing fires."""
        for _ in range(ticks):
            assert self._tick(*guards) is None

    def fire(self, row: FlaggedRow, after: int) -> None:
        """The row's guard holds, and it fires after so many ticks and not one sooner."""
        self.hold(after, row.guard_name)
        assert self._tick(row.guard_name) is row

    def freeze(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK)):
            self.stamp += TICK
            self.engine.freeze(self.stamp)

    def _tick(self, *guards: str) -> FlaggedRow | None:
        fired = self.engine.step(frozenset(guards)).fired
        self.stamp += TICK
        self.engine.advance(self.stamp)
        return fired


def _wait(machine: FlaggedTable, path: str, row: FlaggedRow, held: int, age: int) -> int:
    """Ticks until a row may fire whose guard has held for some ticks, in a state that is some ticks old."""
    wait = 0
    while not ready(machine, path, row, (held + wait) * TICK, (age + wait) * TICK):
        wait += 1
    return wait


@pytest.mark.clause("DWELL-1", "DWELL-2", "DWELL-4", "EST-2")
@pytest.mark.parametrize("between", ["nothing", "a flicker", "an emergency stop"])
def test_every_two_rows_fire_one_after_the_other_each_at_its_time(between: str) -> None:
    for name, path, first, second in SWITCHES:
        machine, drill = MACHINES[name], _Drill(name, path)
        waited = _wait(machine, path, first, 0, 0)
        drill.fire(first, waited)
        here = landing(machine, first.dest)
        assert drill.path == here
        # A composite's timer goes on across a transition inside the composite.
        goes_on = second is not first and second.guard is first.guard and second.source not in (path, here)
        held = waited + 1 if goes_on and second in rows_out_of(machine, path) else 0
        wait = _wait(machine, here, second, held, 1)
        if between != "nothing" and wait > 0:
            part = wait // 2 if between == "an emergency stop" else wait
            drill.hold(part, second.guard_name)
            if between == "an emergency stop":
                drill.freeze(5.0)
                wait -= part
            else:
                drill.hold(1)
                wait = _wait(machine, here, second, 0, 1 + part + 1)
        drill.fire(second, wait)
        assert drill.path == landing(machine, second.dest)
