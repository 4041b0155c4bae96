"""Conflicts of the ways through a crossing."""

from __future__ import annotations

from pathlib import Path

from map import towns
from tuling_fsm.map.lanes import LaneId


def way(one: int, other: int) -> LaneId:
    return LaneId(str(100 * one + other), 0, -1)


def test_conflicts_of_a_crossing(tmp_path: Path) -> None:
    """Arms 1 to 4 run counter-clockwise. 28 pairs in all: 16 crossings and 12 merges, as traffic manuals count them."""
    junction = towns.crossing(tmp_path).junctions["9"]
    assert len(junction.lanes) == 12
    assert not junction.has_lights
    conflicts = {lane: set(others) for lane, others in junction.conflicts.items()}
    assert sum(map(len, conflicts.values())) == 2 * 28
    assert all(a in conflicts[b] for a, others in conflicts.items() for b in others)
    assert way(2, 4) in conflicts[way(1, 3)], "crossing"
    assert way(2, 3) in conflicts[way(1, 3)], "merging"
    assert way(1, 4) not in conflicts[way(1, 3)], "diverging"
    assert way(3, 1) not in conflicts[way(1, 3)], "oncoming"
