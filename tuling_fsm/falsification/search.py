"""What is driven next: at first points spread over the space, then a covariance matrix adaptation evolution strategy
([hansen2016][]) that begins at the worst of them, and begins again there with a wider step where it has settled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import qmc

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.falsification.parameter_space import ParameterRange, overrides_at

if TYPE_CHECKING:
    from cmaes import CMA

EXTRA = "cmaes"
SPREAD_SHARE = 0.3
"""Of the runs, those that are spread over the space."""
FIRST_STEP, WIDEST_STEP = 0.2, 0.5
"""Standard deviation with which the evolution begins, and begins again at the most, of each range."""
TOGETHER = 8
"""So many of the first runs are asked for at a time."""
Overrides = tuple[tuple[str, str], ...]
Evaluate = Callable[[Sequence[Overrides]], Sequence[dict[str, Any]]]
"""Drives runs with these values and gives, in this order, what came of each, its `cost` with it."""


class SearchSample(NamedTuple):
    """A run of the search: how it was chosen (`spread`, `guided`), its values, and what came of it."""

    chosen: str
    overrides: Overrides
    outcome: dict[str, Any]


def require_cmaes() -> None:
    """Nothing if the evolution strategy is installed.

    Raises:
        InputError: it is not.
    """
    if find_spec(EXTRA) is None:
        raise InputError("falsify", f"the package {EXTRA} is not installed", "pip install 'tuling_fsm[falsify]'")


def search(space: Sequence[ParameterRange], runs: int, seed: int, evaluate: Evaluate) -> Iterator[SearchSample]:
    """Choose and drive so many runs. On one machine the same seed and the same costs give the same runs.

    Args:
        space: at least two ranges.
        runs: how many.
        seed: of the search.
        evaluate: drives a few runs at a time.

    Yields:
        Each run after it was driven.
    """
    spread = min(runs, max(2, round(SPREAD_SHARE * runs)))
    points = qmc.Halton(len(space), seed=seed).random(spread)
    worst, least, done, restarts = points[0], np.inf, 0, 0
    evolution: CMA | None = None
    while done < runs:
        if done < spread:
            chosen, asked = "spread", points[done : done + TOGETHER]
        else:
            if evolution is None or evolution.should_stop():
                evolution, restarts = _evolution(worst, seed, restarts), restarts + 1
            chosen, asked = "guided", np.array([evolution.ask() for _ in range(evolution.population_size)])
        kept = asked[: runs - done]
        driven = _driven(chosen, space, kept, evaluate)
        for point, one in zip(kept, driven, strict=True):
            if one.outcome["cost"] < least:
                worst, least = point, one.outcome["cost"]
            yield one
        if evolution is not None and len(kept) == len(asked):
            evolution.tell([(point, one.outcome["cost"]) for point, one in zip(kept, driven, strict=True)])
        done += len(kept)


def _driven(chosen: str, space: Sequence[ParameterRange], points: FloatArray, evaluate: Evaluate) -> list[SearchSample]:
    overrides = [overrides_at(space, point.tolist()) for point in points]
    return [SearchSample(chosen, *each) for each in zip(overrides, evaluate(overrides), strict=True)]


def _evolution(mean: FloatArray, seed: int, restarts: int) -> CMA:
    from cmaes import CMA

    bounds = np.tile([0.0, 1.0], (len(mean), 1))
    step = min(WIDEST_STEP, FIRST_STEP * (1 << min(restarts, 2)))
    return CMA(mean=np.asarray(mean, float), sigma=step, bounds=bounds, seed=(seed + restarts) % 2**32)
