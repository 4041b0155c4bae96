"""Which tasks to serve, and in what order (PUD-1, PUD-2). All in seconds, `inf` where there is no way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, eq=False)
class ServiceTimes:
    """What every part of a tour takes.

    `fetch` is the way to a task's pick-up and the stop there, from another task's drop-off or from the car (None);
    `carry` the way on to its drop-off and the stop there; `home` the way from the drop-off of the last task to the
    end of the mission.
    """

    fetch: Callable[[int | None, int], float]
    carry: Callable[[int], float]
    home: Callable[[int], float]

    def serve(self, before: int | None, task: int) -> float:
        """The time from the end of one task to that of the next."""
        return self.fetch(before, task) + self.carry(task)


class Tour(NamedTuple):
    """Tasks in the order in which they are served, and the time to the end of the mission."""

    order: tuple[int, ...]
    total: float


def best_tour(tasks: Sequence[int], times: ServiceTimes, left: float) -> Tour | None:
    """The tour that serves most tasks in the time left, the shortest of these; None when not even one can be served.

    Exact, by dynamic programming over the sets of served tasks ([held1962][]): for every set and last task only
    the quickest order matters. Needs time and memory of the order 2^n n^2.
    """
    quickest: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {}
    for place, task in enumerate(tasks):
        quickest[1 << place, place] = times.serve(None, task), (task,)
    best: tuple[int, float, tuple[int, ...]] | None = None
    for served in range(1, 1 << len(tasks)):
        for last in range(len(tasks)):
            spent, order = quickest.get((served, last), (math.inf, ()))
            if not spent <= left or math.isinf(spent):
                continue
            total = spent + times.home(tasks[last])
            if total <= left and math.isfinite(total):
                rank = (-len(order), total, order)
                best = rank if best is None else min(best, rank)
            for place, task in enumerate(tasks):
                if not served >> place & 1:
                    key, longer = (served | 1 << place, place), (*order, task)
                    later = spent + times.serve(tasks[last], task), longer
                    quickest[key] = min(quickest.get(key, later), later)
    return None if best is None else Tour(best[2], best[1])


def next_best(tasks: Sequence[int], times: ServiceTimes, left: float) -> Tour | None:
    """The one task that is served soonest and leaves the time to get home; None when there is none.

    For many tasks: what is served soonest leaves most time for the other tasks.
    """
    rated = [(times.serve(None, task), times.home(task), task) for task in tasks]
    usable = [item for item in rated if item[0] + item[1] <= left and math.isfinite(item[0] + item[1])]
    if not usable:
        return None
    serve, home, task = min(usable)
    return Tour((task,), serve + home)
