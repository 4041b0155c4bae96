"""Ways over SUMO's edges that have driving lanes of the map: random walks, and the way on from an edge."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from tuling_fsm.sim.sumo.matching import LaneMatch
from tuling_fsm.sim.sumo.network import SumoLane, SumoNetwork


class EdgeGraph:
    """Edges and what follows them, over open lanes only."""

    def __init__(self, network: SumoNetwork, match: LaneMatch) -> None:
        self.lanes: Mapping[str, tuple[SumoLane, ...]] = {
            edge.id: lanes
            for edge in network.edges.values()
            if (lanes := tuple(lane for lane in edge.lanes if lane.id in match.open))
        }
        """Open lanes by edge."""
        following: dict[str, dict[str, None]] = {edge: {} for edge in self.lanes}
        for each in network.connections:
            ends = f"{each.source}_{each.source_lane}", f"{each.target}_{each.target_lane}"
            if all(end in match.open for end in ends):
                following[each.source][each.target] = None
        self.successors: Mapping[str, tuple[str, ...]] = {edge: tuple(found) for edge, found in following.items()}
        self._endless = _endless(self.successors)

    def starts(self) -> tuple[SumoLane, ...]:
        """Lanes to appear on: those from which one can drive for ever, or all where there are none."""
        # In the order of the file: that of a set of names is another in every process.
        edges = [edge for edge in self.lanes if edge in self._endless] or self.lanes
        return tuple(lane for edge in edges for lane in self.lanes[edge])

    def walk(self, edge: str, count: int, random: np.random.Generator) -> list[str]:
        """A random way of so many edges, beginning with one; into a dead end only where there is no other way."""
        way = [edge]
        while len(way) < count:
            onward = self.successors[way[-1]]
            onward = tuple(each for each in onward if each in self._endless) or onward
            if not onward:
                break
            way.append(onward[int(random.integers(len(onward)))])
        return way

    def onward(self, edge: str, count: int) -> list[str]:
        """So many edges that follow, always the first way; fewer before a dead end."""
        way: list[str] = []
        while len(way) < count and self.successors.get(way[-1] if way else edge):
            onward = self.successors[way[-1] if way else edge]
            way.append(next((each for each in onward if each in self._endless), onward[0]))
        return way

    def between(self, edge: str, goal: str) -> list[str] | None:
        """Fewest edges from one (which is left out) to another (which is not); None where no way leads there."""
        before: dict[str, str] = {}
        queue = deque([edge])
        while queue:
            here = queue.popleft()
            for each in self.successors.get(here, ()):
                if each not in before:
                    before[each] = here
                    if each == goal:
                        return _traced(before, edge, goal)
                    queue.append(each)
        return None


def _traced(before: Mapping[str, str], edge: str, goal: str) -> list[str]:
    way = [goal]
    while before[way[-1]] != edge:
        way.append(before[way[-1]])
    return way[::-1]


def _endless(successors: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Edges from which one can drive for ever."""
    left = set(successors)
    while True:
        ended = {edge for edge in left if not any(each in left for each in successors[edge])}
        if not ended:
            return frozenset(left)
        left -= ended
