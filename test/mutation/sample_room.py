"""Something small to plant faults in."""

from __future__ import annotations

from functools import lru_cache

LIMIT = 3


class Room:
    """With a method and a property."""

    def __init__(self, seats: int) -> None:
        self.seats = seats

    @property
    def is_full(self) -> bool:
        """Whether somebody has to stand."""
        return self.seats > LIMIT

    @staticmethod
    def twice(number: int) -> int:
        """Two of them."""
        return 2 * number


@lru_cache
def half(number: float) -> float:
    """Of a number."""
    return number / 2.0


def with_default(number: int, more: int = 1) -> int:
    """A sum."""
    return number + more
