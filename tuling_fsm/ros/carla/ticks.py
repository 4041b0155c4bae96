"""Keeps count of CARLA's ticks: each is owed exactly one command (CAR-1). No ROS here."""

from __future__ import annotations

WORLD_RELOADED_NS = 1_000_000_000
"""A stamp that lies further back than this belongs to a new world; a nearer one came late."""


class Ticks:
    """Which tick waits for its command."""

    def __init__(self) -> None:
        self.last: int | None = None
        """Stamp (ns) of the last tick that was heard of."""
        self.owed: int | None = None
        """Stamp of the tick that has no command yet."""
        self.commands = 0
        self.dropped = 0
        """Ticks that were over before their command was there."""

    def heard(self, ns: int) -> bool:
        """A message of the tick with this stamp has come; whether that is a new tick."""
        if self.last is not None and self.last - WORLD_RELOADED_NS <= ns <= self.last:
            return False
        self.dropped += self.owed is not None
        self.last = self.owed = ns
        return True

    def pay(self, ns: int) -> bool:
        """Whether a command for this tick is to be sent now; then it counts as sent."""
        if self.owed != ns:
            return False
        self.owed = None
        self.commands += 1
        return True
