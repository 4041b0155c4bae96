"""What a scenario asks of the road that its cars begin on: the path modifiers of ScenarioRunner, as plain values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class ValueRange(NamedTuple):
    """From `low` to `high`, both included."""

    low: float = -math.inf
    high: float = math.inf

    def holds(self, value: float) -> bool:
        """Whether a value is inside."""
        return self.low <= value <= self.high


ANY = ValueRange()
"""Whatever there is."""


@dataclass(frozen=True)
class JunctionOnPath:
    """A junction that is passed: the change of heading from before to after it (rad, counter-clockwise, 0 to 2 pi), and
    lengths of the way before, in and after it, m.
    """

    direction: ValueRange = ANY
    before: ValueRange = ANY
    inside: ValueRange = ANY
    after: ValueRange = ANY


@dataclass(frozen=True)
class BendAhead:
    """A bend: its radius in m, and whether it goes to the left (None: either way)."""

    radius: ValueRange
    left: bool | None = None


@dataclass(frozen=True)
class PathConstraints:
    """All that is asked of a road: driving lanes in one direction, length of way ahead (m), junction and bend ahead."""

    lanes: ValueRange = ANY
    length: float = 0.0
    junction: JunctionOnPath | None = None
    curve: BendAhead | None = None

    def in_words(self) -> str:
        """What is asked for, for messages."""
        told = [words for words, asked in _WORDS if asked(self)]
        return " and ".join(told) if told else "a driving lane"


_WORDS: tuple[tuple[str, Callable[[PathConstraints], bool]], ...] = (
    ("so many driving lanes in one direction", lambda path: path.lanes != ANY),
    ("such a length", lambda path: path.length > 0.0),
    ("such a junction ahead", lambda path: path.junction is not None),
    ("such a bend", lambda path: path.curve is not None),
)
