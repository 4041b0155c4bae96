"""The page's engine is the planner's: both over the same random guards, compared to the last bit."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest

from tuling_fsm.behaviour.tables import table
from tuling_fsm.map.road_map import RoadMap

from .told_machine import random_ticks, said_by_page, told

STEPS = int(os.environ.get("MACHINE_STEPS", "6000"))
"""`make proofs` asks for a million."""
MANY = 500_000
"""In so many every row fires."""
BATCH = 10_000


def run_both(node: str, course: RoadMap, seed: int, count: int) -> list[list[Any]]:
    """What the planner's engine said, which is what the page's said."""
    with told(course) as behaviour:
        both = list(random_ticks(behaviour, random.Random(seed), count))
    said = said_by_page(node, [tick for tick, _ in both])
    assert len(said) == count
    for number, ((tick, ours), theirs) in enumerate(zip(both, said, strict=True)):
        assert theirs == ours, f"seed {seed}, tick {number}: {tick}"
    return [ours for _, ours in both]


@pytest.mark.clause("DWELL-1", "DWELL-2", "DWELL-3", "DWELL-4", "DWELL-5", "EST-1", "EST-2")
@pytest.mark.timeout(7200)
@pytest.mark.medium
def test_the_page_steps_as_the_planner_does(node: str, course: RoadMap) -> None:
    fired: Counter[str] = Counter()
    states: set[str] = set()
    frozen = lost = jumps = 0
    for seed in range(0, STEPS, BATCH):
        for jump, records, steps in run_both(node, course, seed, min(BATCH, STEPS - seed)):
            states.update(record[0] for record in records)
            fired.update(step[0] for step in steps if step and step[0])
            frozen += steps[0] is None
            lost += any(step and step[2] for step in steps)
            jumps += jump != 0.0
    enabled = {path for path, leaf in table().leaves.items() if leaf.enabled}
    assert enabled <= states
    never = {row.key for each in (table(), *table().beside) for row in each.rows} - set(fired)
    assert len(never) < (1 if STEPS >= MANY else 30), never
    assert min(frozen, lost, jumps) > 0.01 * STEPS
    print(f"{STEPS} ticks, {fired.total()} transitions by {len(fired)} rows, {frozen} frozen, {jumps} jumps")
