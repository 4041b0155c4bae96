"""Which tasks are served, in which order, against trying everything."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.behaviour.mission.choice import ServiceTimes, Tour, best_tour, next_best

seconds = st.one_of(st.floats(0.0, 200.0).map(lambda value: round(value, 1)), st.just(math.inf))


@st.composite
def matches(draw: st.DrawFn) -> tuple[int, ServiceTimes]:
    many = draw(st.integers(0, 4))
    fetch = draw(st.lists(st.lists(seconds, min_size=many, max_size=many), min_size=many + 1, max_size=many + 1))
    carry, home = (draw(st.lists(seconds, min_size=many, max_size=many)) for _ in range(2))
    times = ServiceTimes(
        lambda before, i: fetch[many if before is None else before][i], lambda i: carry[i], lambda i: home[i]
    )
    return many, times


def _total(order: tuple[int, ...], times: ServiceTimes) -> float:
    before, total = None, 0.0
    for task in order:
        total += times.fetch(before, task) + times.carry(task)
        before = task
    return total + times.home(order[-1])


def _by_trying(many: int, times: ServiceTimes, left: float) -> tuple[int, float] | None:
    found = [
        (-length, _total(order, times))
        for length in range(1, many + 1)
        for order in itertools.permutations(range(many), length)
    ]
    usable = [item for item in found if item[1] <= left and math.isfinite(item[1])]
    return min(usable, default=None)


@pytest.mark.clause("PUD-2")
@given(matches(), st.one_of(st.floats(0.0, 900.0), st.just(math.inf)))
@pytest.mark.medium
def test_as_many_tasks_as_possible_in_the_shortest_time(match: tuple[int, ServiceTimes], left: float) -> None:
    many, times = match
    expected, tour = _by_trying(many, times, left), best_tour(range(many), times, left)
    if expected is None or tour is None:
        assert expected is None and tour is None
        return
    assert len(tour.order) == -expected[0] == len(set(tour.order))
    assert tour.total == pytest.approx(expected[1])
    assert tour.total == pytest.approx(_total(tour.order, times))


@pytest.mark.clause("PUD-1")
@pytest.mark.parametrize("search", [best_tour, next_best])
def test_a_task_is_taken_when_the_time_is_just_enough(search: object) -> None:
    assert callable(search)
    times = ServiceTimes(lambda _, __: 50.0, lambda _: 30.0, lambda _: 20.0)
    assert search([3], times, 100.0) == Tour((3,), 100.0)
    assert search([3], times, 99.9) is None
    assert search([], times, math.inf) is None


@pytest.mark.clause("PUD-2")
@given(matches(), st.floats(0.0, 900.0))
@pytest.mark.medium
def test_of_many_tasks_one_is_taken_whenever_one_can_be_served(match: tuple[int, ServiceTimes], left: float) -> None:
    many, times = match
    tour = next_best(range(many), times, left)
    singles = [_total((i,), times) for i in range(many)]
    assert (tour is not None) == any(total <= left and math.isfinite(total) for total in singles)
    if tour is not None:
        assert tour.total <= left
        soonest = min(times.serve(None, i) for i in range(many) if singles[i] <= left)
        assert times.serve(None, tour.order[0]) == soonest
