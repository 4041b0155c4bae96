"""Stopped at any tick, for any time, even in another process: what follows is what would have followed (EST-2)."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from .afresh import Said, behaviour_from_bytes, frozen, go_on, jobs_from_bytes, plain_decision
from .flagged import ENGINES, HIERARCHY
from .loop import Loop, Moment
from .recording import SCENARIOS, read

pytestmark = pytest.mark.exhaustive

FREEZES_S = (0.1, 5.0, 60.0)
SHARE = float(os.environ.get("FREEZE_SHARE", "0.05"))
"""Of the ticks of a recorded scenario, drawn beside those on which a row fires; `make proofs` takes all."""
AFTER = 12
"""Ticks that are looked at after a freeze: longer than most dwells."""
TO_THE_END = 10 if SHARE == 1.0 else 3
"""Freezes of every run after which it is followed to its end; ten in `make proofs`."""
SEEDED = 20
IN_ANOTHER_PROCESS = 40
"""Ticks that are gone on with there."""


def _unbroken(name: str, moments: Sequence[Moment]) -> list[Said]:
    """What the machine says in the run, and that it is what it said when it was driven."""
    said: list[Said] = []
    for moment in moments:
        record = moment.record if moment.begins else ENGINES[name].record
        said += go_on((name, record, (moment,), 0.0))
        assert said[-1][3] == moment.fired
    return said


def _freeze_before(name: str, moments: Sequence[Moment], share: float) -> set[int]:
    """Ticks of a run: a share of them, drawn, and all on which a row fires, or is about to."""
    drawn = random.Random(name).sample(range(len(moments)), round(share * len(moments)))
    return {*drawn, *(at - k for at, moment in enumerate(moments) if moment.fired is not None for k in (0, 1) if at)}


def _freeze_everywhere(log: dict[str, list[Moment]], share: float = 1.0) -> int:
    """Freeze every machine before every tick of its run, for one of several times. Returns the number of freezes.

    It moves nothing in the record but the stamp, and the run goes on as if it had not been.
    """
    count = 0
    for name, moments in log.items():
        unbroken, stretches = _unbroken(name, moments), _stretches(moments)
        to_the_end = set(random.Random(name).sample(range(len(moments)), min(TO_THE_END, len(moments))))
        looked_at = to_the_end | _freeze_before(name, moments, share)
        for at, end in stretches:
            record = moments[at].record
            if record.stamp is None or at not in looked_at:
                continue
            seconds = FREEZES_S[at % len(FREEZES_S)]
            later = replace(record, stamp=record.stamp + seconds)
            assert frozen(name, record, seconds) == later, (name, at, seconds)
            count += 1
            stop = end if at in to_the_end else min(end, at + AFTER)
            assert go_on((name, later, moments[at:stop], seconds)) == unbroken[at:stop], (name, at, seconds)
    return count


def _stretches(moments: Sequence[Moment]) -> list[tuple[int, int]]:
    """Every tick, and the end of the stretch that the machine went through by itself from there."""
    ends = [at for at, moment in enumerate(moments) if moment.begins and at] + [len(moments)]
    return [(at, next(end for end in ends if end > at)) for at in range(len(moments))]


@pytest.mark.clause("EST-2", "DWELL-3")
def test_frozen_before_any_tick_for_any_time_it_goes_on_as_if_nothing_had_been(tour: Loop) -> None:
    visited = {moment.record.path for moment in tour.log.machines[HIERARCHY]}
    assert len(visited) > 6
    assert _freeze_everywhere(tour.log.machines) > 500


@pytest.mark.slow
@pytest.mark.clause("EST-2", "DWELL-3")
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_recorded_scenario_can_be_frozen(name: str) -> None:
    machines = read(name)
    assert _freeze_everywhere(machines, SHARE) > 0.7 * SHARE * len(machines[HIERARCHY])


def _seeded(moments: Sequence[Any], composite: str, path_of: Any, most: int) -> list[int]:
    there = [at for at, moment in enumerate(moments) if path_of(moment).split("/")[0] == composite]
    return sorted(random.Random(composite).sample(there, min(most, len(there))))


@pytest.mark.clause("EST-2", "DWELL-3")
def test_a_record_goes_on_in_another_process(tour: Loop) -> None:
    jobs, expected = [], []
    for name, moments in tour.log.machines.items():
        unbroken, ends = _unbroken(name, moments), dict(_stretches(moments))
        for composite in sorted({moment.record.path.split("/")[0] for moment in moments}):
            for at in _seeded(moments, composite, lambda moment: moment.record.path, SEEDED):
                stop = min(ends[at], at + IN_ANOTHER_PROCESS)
                shift = 0.0
                record = moments[at].record
                if record.stamp is not None:
                    shift = FREEZES_S[at % len(FREEZES_S)]
                    record = frozen(name, record, shift)
                jobs.append((name, record, moments[at:stop], shift))
                expected.append(unbroken[at:stop])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(jobs_from_bytes, (pickle.dumps(jobs),)) == expected
    assert len(jobs) > 5 * SEEDED


@pytest.mark.clause("EST-2", "DWELL-3")
def test_the_whole_behaviour_goes_on_in_another_process(tour: Loop) -> None:
    moments = tour.log.behaviour
    composites = sorted({moment.record.machine.path.split("/")[0] for moment in moments})
    runs, expected = [], []
    for composite in composites:
        for at in _seeded(moments[:-5], composite, lambda moment: moment.record.machine.path, SEEDED):
            run = moments[at : at + 5]
            steps = [(a.decision.record.machine, b.record.machine) for a, b in itertools.pairwise(run)]
            if all(one is other for one, other in steps):
                runs.append(run)
                expected.append([plain_decision(moment.decision) for moment in run])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        said = pool.apply(behaviour_from_bytes, (Path(tour.map_file), pickle.dumps([_bare(run) for run in runs])))
    assert said == expected
    assert len(runs) >= 10 * len(composites)


def _bare(run: Sequence[Any]) -> list[Any]:
    """Moments without what is to be found out."""
    return [type(at)(at.record, at.world, at.result, at.probe, None) for at in run]
