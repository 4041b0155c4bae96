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

    def entered(self, source: str, dest: str, clock: float, window: float) -> Flaps:
        """A state has been entered from another one, the first of all from the one that the machine began in.

        Args:
            source: the state that was left.
            dest: the state that was entered.
            clock: active clock, s.
            window: two returns to a state within this time (s) are flapping.
        """
        visited = self.visited if source in self.visited else (*self.visited, source)
        if dest not in visited:
            return replace(self, visited=(*visited, dest))
        last = dict(self.returns)
        again = dest in last and clock - last[dest] <= window
        last[dest] = clock
        return replace(self, visited=visited, returns=tuple(last.items()), count=self.count + again)
