"""Where the time of a drive goes: what is lost against the speed limit, by state and by what limits the car (EXPL-1).

As SUMO's `timeLoss` ([sumo2018][]): the time that went by, less the time that the same way takes at the ideal speed,
here the speed limit in force where the car is. Standing loses all of the time; driving above the limit gains some.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

ALL = "all"
"""Stands for every code of a state, and for every state."""
LONGEST_GAP_S = 1.0
"""Of a longer silence between two samples nothing is known: it counts nowhere."""


class TimeLossSample(NamedTuple):
    """What holds from a stamp (s) on: state, code of what limits the car, its speed and the limit (m/s); None where
    nobody knows how fast it is.
    """

    t: float
    state: str
    code: str
    v: float | None
    limit: float


class TimeLossKey(NamedTuple):
    """What time is lost in: a state, and the code of what limited the car; `ALL` for all of them."""

    state: str
    code: str


@dataclass(frozen=True)
class TimeLoss:
    """Seconds, the metres driven in them forward or in reverse, the seconds that these take at the limit, and the
    seconds in which nobody knows how fast the car was.
    """

    time_s: float = 0.0
    distance_m: float = 0.0
    ideal_s: float = 0.0
    unknown_s: float = 0.0

    @property
    def known(self) -> bool:
        """Whether there is any time in which it is known how fast the car was, or no time at all."""
        return self.unknown_s < self.time_s or self.time_s == 0.0

    @property
    def lost_s(self) -> float:
        """Time lost against the speed limit where it is known, s."""
        return self.time_s - self.unknown_s - self.ideal_s

    @property
    def mean_speed(self) -> float:
        """Mean speed where it is known, m/s; 0 of no time."""
        moved_s = self.time_s - self.unknown_s
        return self.distance_m / moved_s if moved_s > 0.0 else 0.0

    @classmethod
    def of(cls, parts: Iterable[TimeLoss]) -> TimeLoss:
        """All of them together."""
        listed = list(parts)
        return cls(
            math.fsum(part.time_s for part in listed),
            math.fsum(part.distance_m for part in listed),
            math.fsum(part.ideal_s for part in listed),
            math.fsum(part.unknown_s for part in listed),
        )


TimeLosses = Mapping[TimeLossKey, TimeLoss]
"""By state and code, without sums."""


def time_losses(samples: Iterable[TimeLossSample]) -> TimeLosses:
    """What every state lost to every code. A sample holds until the next, and the last one for no time.

    Args:
        samples: by time; a limit has to be positive.
    """
    parts: dict[TimeLossKey, list[TimeLoss]] = defaultdict(list)
    for sample, after in pairwise(samples):
        lasted = after.t - sample.t
        if 0.0 < lasted <= LONGEST_GAP_S:
            parts[TimeLossKey(sample.state, sample.code)].append(_over(sample, lasted))
    return {key: TimeLoss.of(each) for key, each in parts.items()}


def _over(sample: TimeLossSample, lasted: float) -> TimeLoss:
    """Of a sample that holds for so long (s)."""
    if sample.v is None:
        return TimeLoss(lasted, unknown_s=lasted)
    way = abs(sample.v) * lasted
    return TimeLoss(lasted, way, way / sample.limit)


def summed(losses: TimeLosses, key: TimeLossKey) -> TimeLoss:
    """What a key stands for, `ALL` taken as any."""
    wanted = (loss for each, loss in losses.items() if key.state in (ALL, each.state) and key.code in (ALL, each.code))
    return TimeLoss.of(wanted)


def by_loss(losses: TimeLosses, against: TimeLosses | None = None) -> Sequence[TimeLossKey]:
    """The rows of a table, most time lost first, or most lost beyond `against`: each state with all of its codes, then
    code by code where it has several; the total last.
    """
    other = against or {}

    def weight(key: TimeLossKey) -> tuple[float, TimeLossKey]:
        return summed(other, key).lost_s - summed(losses, key).lost_s, key

    found = sorted({*losses, *other}, key=weight)
    rows: list[TimeLossKey] = []
    for state in sorted({TimeLossKey(key.state, ALL) for key in found}, key=weight):
        codes = [key for key in found if key.state == state.state]
        rows += codes if len(codes) == 1 else [state, *codes]
    return (*rows, TimeLossKey(ALL, ALL))
