"""Counts flapping: more than one return to the same state within a few seconds (USE-1)."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.records import replace


@dataclass(frozen=True)
class Flaps:
    """The states visited so far, the latest return to each (active clock, s), and how often there was flapping."""

    visited: tuple[str, ...] = ()
    returns: tuple[tuple[str, float], ...] = ()
    count: int = 0

    def entered(self, path: str, clock: float, window: float) -> Flaps:
        """A state has been entered from another one."""
        if path not in self.visited:
            return replace(self, visited=(*self.visited, path))
        last = dict(self.returns)
        again = path in last and clock - last[path] <= window
        last[path] = clock
        return replace(self, returns=tuple(last.items()), count=self.count + again)
