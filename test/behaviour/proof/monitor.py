"""DWELL-1 to DWELL-5 watched from outside: from stamps and guards alone it is known which row has to fire when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tuling_fsm.machine.table import Table

from .loop import Moment
from .oracle import landing, ready, rows_out_of, winner


@dataclass
class Monitor:
    """Follows one machine through its moments."""

    machine: Table[Any, Any]
    max_gap: float
    path: str = ""
    clock: float = 0.0
    entered: float = 0.0
    stamp: float | None = None
    since: dict[str, float] = field(default_factory=dict)

    def see(self, moment: Moment) -> None:
        """Take the next moment.

        Raises:
            AssertionError: the machine did something else than it should have.
        """
        if moment.begins:
            record = moment.record
            self.path, self.clock, self.entered, self.stamp = record.path, record.clock, record.entered_at, record.stamp
            self.since = dict(record.true_since)
        step = 0.0 if self.stamp is None else moment.stamp - self.stamp
        self.stamp = moment.stamp
        if not 0.0 <= step <= self.max_gap:
            self.since = {}
        elif not moment.frozen:
            self.clock += step
        assert moment.record.path == self.path
        if moment.holding is None:
            assert moment.fired is None
            return
        rows = rows_out_of(self.machine, self.path)
        self.since = {row.key: self.since.get(row.key, self.clock) for row in rows if row.guard_name in moment.holding}
        age = self.clock - self.entered
        held = {key: self.clock - at for key, at in self.since.items()}
        matured = [row for row in rows if row.key in held and ready(self.machine, self.path, row, held[row.key], age)]
        expected = winner(self.machine, self.path, matured)
        assert moment.fired == (None if expected is None else expected.key)
        if expected is not None:
            self._enter(landing(self.machine, expected.dest), expected.key)

    def _enter(self, path: str, fired: str) -> None:
        around = {row.key for row in self.machine.rows
                  if path.startswith(row.source + "/") and self.path.startswith(row.source + "/")}  # fmt: skip
        self.since = {key: at for key, at in self.since.items() if key in around and key != fired}
        self.path, self.entered = path, self.clock
