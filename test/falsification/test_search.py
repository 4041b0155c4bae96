"""What is driven next: the search finds what spreading alone does not, and repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.falsification import search as searching
from tuling_fsm.falsification.parameter_space import parameter_range
from tuling_fsm.falsification.search import Overrides, SearchSample, require_cmaes, search

SPACE = [parameter_range("a=0.0..1.0"), parameter_range("b=0.0..10.0")]


def valley(asked: Sequence[Overrides]) -> list[dict[str, Any]]:
    """A narrow valley that falls towards a = 0.83, b = 6.1."""
    costs = []
    for values in asked:
        a, b = (float(value) for _, value in values)
        costs.append({"cost": 100.0 * (b / 10.0 - 0.2 - 0.5 * a) ** 2 + (a - 0.83) ** 2})
    return costs


def costs(runs: Sequence[SearchSample]) -> list[float]:
    return [one.outcome["cost"] for one in runs]


def test_the_guided_part_finds_what_spreading_as_many_does_not() -> None:
    better = 0
    for seed in range(10):
        runs = list(search(SPACE, 120, seed, valley))
        assert [one.chosen for one in runs] == ["spread"] * 36 + ["guided"] * 84
        random = np.random.default_rng(seed).random((120, 2)) * (1.0, 10.0)
        spread = valley([(("a", str(a)), ("b", str(b))) for a, b in random])
        better += min(costs(runs)[36:]) < min(each["cost"] for each in spread)
    assert better >= 7, "which points are tried differs between processors"


def test_the_same_seed_chooses_the_same_runs_and_another_one_others() -> None:
    one, again, other = (list(search(SPACE, 30, seed, valley)) for seed in (4, 4, 5))
    assert one == again
    assert one != other


@pytest.mark.parametrize("runs", [1, 2, 3, 7, 20])
def test_no_more_is_driven_than_was_asked_for(runs: int) -> None:
    asked: list[Overrides] = []

    def evaluate(values: Sequence[Overrides]) -> list[dict[str, Any]]:
        asked.extend(values)
        return valley(values)

    assert len(list(search(SPACE, runs, 1, evaluate))) == runs
    assert len(asked) == runs


def test_where_it_has_settled_it_begins_again() -> None:
    runs = list(search(SPACE, 900, 2, valley))
    late = np.array([[float(value) for _, value in one.overrides] for one in runs[-200:]])
    assert np.ptp(late[:, 0]) > 0.2, "it still tries values far apart"


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    require_cmaes()
    monkeypatch.setattr(searching, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'tuling_fsm\[falsify\]'"):
        require_cmaes()
