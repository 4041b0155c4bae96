"""What a table is made of: leaves and regions (states), and rows (transitions)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import IntEnum
from functools import cached_property
from typing import Generic, TypeVar

B = TypeVar("B")
"""What a leaf does: opaque to the machine."""
C = TypeVar("C")
"""What guards look at: opaque to the machine."""
M = TypeVar("M")
"""What a running machine remembers: opaque to the machine."""

SEPARATOR = "/"
DEFAULT_DWELL_S = 0.3
DEFAULT_MIN_DWELL_S = 0.5


class Priority(IntEnum):
    """Class of a row; the lower value wins when several have matured on one tick (DWELL-4)."""

    SAFETY = 0
    FAILURE = 1
    MISSION = 2
    PROGRESS = 3


@dataclass(frozen=True)
class Leaf(Generic[B]):
    """A state without children.

    It is kept for at least `min_dwell_s` before a non-safety row leaves it (DWELL-2). A state that waits declares
    `retry_s`, the longest time between two attempts of its own; any other needs a row marked `deadline`. A `terminal`
    state needs neither, nor an exit. One that is not `enabled` is declared and drawn, but never entered (USE-2).
    """

    name: str
    body: B
    min_dwell_s: float = DEFAULT_MIN_DWELL_S
    retry_s: float | None = None
    terminal: bool = False
    enabled: bool = True


@dataclass(frozen=True)
class Region(Generic[B]):
    """A composite state; entering it enters the child `initial`."""

    name: str
    initial: str
    children: tuple[Leaf[B] | Region[B], ...]


@dataclass(frozen=True)
class Row(Generic[C]):
    """A transition from `source`, a leaf or a composite (then from every leaf below it), to `dest`, both full paths.

    `guard` is a pure and total predicate with a name of its own. The row fires once the guard has held without a
    break for `dwell_s`; `order` decides among rows of one priority class, the lower first. `min_dwell_s` replaces that
    of the leaf. `deadline` marks the row that leaves the source when nothing else does.
    """

    source: str
    dest: str
    guard: Callable[[C], bool]
    priority: Priority
    order: int
    _: KW_ONLY
    clause: str
    dwell_s: float = DEFAULT_DWELL_S
    min_dwell_s: float | None = None
    deadline: bool = False

    @cached_property
    def guard_name(self) -> str:
        """The predicate's name, empty for a callable that has none."""
        name = str(getattr(self.guard, "__name__", ""))
        return "" if name.startswith("<") else name

    @cached_property
    def key(self) -> str:
        """What tells this row from all others of a table, also in a saved record."""
        return f"{self.source} > {self.dest} : {self.guard_name}"

    @property
    def rank(self) -> tuple[int, int]:
        """Class, then order inside it: the lowest wins."""
        return self.priority, self.order


def covers(source: str, path: str) -> bool:
    """Whether `source` is the state `path` or a composite around it."""
    return path == source or path.startswith(source + SEPARATOR)
