"""Tests that run at once are in domains of their own."""

from __future__ import annotations

from itertools import islice

import pytest

from ros.domains import domains
from tuling_fsm.ros.processes import DOMAINS


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_no_two_workers_ever_share_a_domain(workers: int) -> None:
    taken = [set(islice(domains(4711, worker, workers), 200)) for worker in range(workers)]
    assert sum(map(len, taken)) == len(set().union(*taken)) == DOMAINS // workers * workers
    assert set().union(*taken) <= set(range(1, DOMAINS + 1))


def test_a_worker_comes_back_to_a_domain_as_late_as_may_be() -> None:
    first = list(islice(domains(7, 1, 2), DOMAINS // 2))
    assert len(set(first)) == len(first)
