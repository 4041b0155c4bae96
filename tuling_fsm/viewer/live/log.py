"""The patches of a drive, kept for pages that are opened later or fall behind."""

from __future__ import annotations

import threading
from typing import NamedTuple

from tuling_fsm.viewer.columns import joined

BLOCK = 200
"""Patches that are joined, when they are older than as many again."""


class LoggedPatch(NamedTuple):
    """One patch, or a block of them, and the number of the next one."""

    data: bytes
    following: int


class PatchLog:
    """Filled by one thread, read by those of the pages."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._recent: list[bytes] = []
        self._changed = threading.Condition()
        self.closed = False

    def append(self, patch: bytes) -> None:
        """Add a patch."""
        block = joined(self._recent[:BLOCK]) if len(self._recent) >= 2 * BLOCK else None
        with self._changed:
            if block is not None:
                self._blocks.append(block)
                self._recent = self._recent[BLOCK:]
            self._recent.append(patch)
            self._changed.notify_all()

    def close(self) -> None:
        """No more come."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def wait(self, number: int, timeout_s: float) -> bool:
        """As long as a number is that of the next patch; False when the time (s) is over before one comes."""
        with self._changed:
            return self._changed.wait_for(lambda: self.closed or number != self._end(), timeout_s)

    def at(self, number: int) -> LoggedPatch | None:
        """The patch of a number, or the block that begins with it; None where there is none, or not any more."""
        with self._changed:
            blocks, recent = divmod(number, BLOCK)[0], number - BLOCK * len(self._blocks)
            if 0 <= recent < len(self._recent):
                return LoggedPatch(self._recent[recent], number + 1)
            if number >= 0 and recent < 0 and number % BLOCK == 0:
                return LoggedPatch(self._blocks[blocks], number + BLOCK)
            return None

    @property
    def end(self) -> int:
        """The number of the next patch."""
        with self._changed:
            return self._end()

    def _end(self) -> int:
        return BLOCK * len(self._blocks) + len(self._recent)
