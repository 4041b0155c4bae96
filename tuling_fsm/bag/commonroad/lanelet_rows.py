"""Lanelets side by side as rows, which become roads; which row follows which, and the junctions where they fork."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tuling_fsm.bag.commonroad.lanelets import Lanelet, in_common


@dataclass(eq=False)
class LaneletRow:
    """A road: its lanelets from left to right, the rows that follow it, and the junction that it belongs to."""

    id: int
    lanelets: list[Lanelet]
    following: list[LaneletRow] = field(default_factory=list)
    before: list[LaneletRow] = field(default_factory=list)
    junction: int = -1

    def lane(self, lanelet: str) -> int | None:
        """The number of the lane that a lanelet is."""
        return next((-i - 1 for i, each in enumerate(self.lanelets) if each.id == lanelet), None)

    def links(self, other: LaneletRow) -> list[tuple[int, int]]:
        """Which lanes of this row lead into which lanes of another one."""
        return [
            (-i - 1, lane)
            for i, each in enumerate(self.lanelets)
            for successor in each.successors
            if (lane := other.lane(successor)) is not None
        ]


def rows_of(lanelets: Mapping[str, Lanelet]) -> list[LaneletRow]:
    """Lanelets side by side, from the leftmost on; then which lane follows which, and the junctions."""
    on_the_right = {right.id for each in lanelets.values() if (right := _beside(each, lanelets)) is not None}
    rows: list[LaneletRow] = []
    of: dict[str, LaneletRow] = {}
    for first in sorted(lanelets.values(), key=lambda each: (each.id in on_the_right, each.id)):
        if first.id in of:
            continue
        row = LaneletRow(len(rows) + 1, [])
        rows.append(row)
        lanelet: Lanelet | None = first
        while lanelet is not None and lanelet.id not in of:
            row.lanelets.append(lanelet)
            of[lanelet.id] = row
            lanelet = _beside(lanelet, lanelets)
    for row in rows:
        followers = [of[s] for each in row.lanelets for s in each.successors if s in of and of[s] is not row]
        row.following = list(dict.fromkeys(followers))
        for each in row.following:
            each.before.append(row)
    _number_junctions(rows)
    return rows


def _beside(lanelet: Lanelet, lanelets: Mapping[str, Lanelet]) -> Lanelet | None:
    """The neighbour on the right, where it has the bound between them in common."""
    right = lanelets.get(lanelet.right_neighbour or "")
    return right if right is not None and in_common(lanelet, right) else None


def _number_junctions(rows: list[LaneletRow]) -> None:
    """The roads behind a fork share a junction, and with those of every other fork that leads into one of them."""
    for fork in rows:
        if len(fork.following) < 2:
            continue
        number = 1000 + fork.id
        known = {each.junction for each in fork.following} - {-1}
        for row in rows:
            if row in fork.following or row.junction in known:
                row.junction = number
