"""All that a running machine is: a plain value that can be kept, pickled and gone on from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from tuling_fsm.machine.elements import M


@dataclass(frozen=True)
class StateRecord(Generic[M]):
    """Where a machine stands, and what it remembers.

    Every time except `stamp` is on the active clock (s): it runs with the stamps of the input while the machine is
    ticked, and stands while the machine is frozen, so that a timer goes on with the time it had left (EST-2).
    `true_since` tells for each row whose guard held on the last tick, by `Row.key`, since when.
    """

    path: str
    memory: M
    clock: float = 0.0
    stamp: float | None = None
    entered_at: float = 0.0
    true_since: tuple[tuple[str, float], ...] = ()

    @property
    def in_state_s(self) -> float:
        """How long the present leaf has been active, s."""
        return self.clock - self.entered_at
