"""Ways over given lanes: the shortest to where a vehicle shall go, and what is left of those that vehicles follow."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.sim.traffic.fleet import GIVEN_PATH, PATH_LANES, ROAMING, Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import TrafficLaneGraph
from tuling_fsm.sim.traffic.localization import append_lane
from tuling_fsm.sim.traffic.motion import LINE_GAP_M


def shortest_way(graph: TrafficLaneGraph, start: int, s: float, goals: Mapping[int, float]) -> list[int] | None:
    """Lanes after `start`, from `s` (m) of it on, up to the nearest of the goals: lanes, each with the place on it (m).

    None where none can be reached. A goal that lies behind on the lane itself is reached over the way round.
    """
    if goals.get(start, -math.inf) >= s:
        return []
    queue: list[tuple[float, int, tuple[int, ...]]] = [(0.0, start, ())]
    done: set[int] = set()
    while queue:
        length, lane, way = heapq.heappop(queue)
        if way and lane in goals:
            return list(way)
        if lane in done:
            continue
        done.add(lane)
        for k in range(graph.lane.next_at[lane], graph.lane.next_end[lane]):
            following = int(graph.next[k])
            heapq.heappush(queue, (length + float(graph.lane.length[following]), following, (*way, following)))
    return None


class GivenRoutes:
    """What is left of the given path of each vehicle that has one, by its row in the fleet."""

    def __init__(self, graph: TrafficLaneGraph) -> None:
        self._graph = graph
        self._left: dict[int, tuple[list[int], float | None]] = {}
        """Lanes, and where on the last one the front bumper is to stop, m; None: the vehicle drives on at random."""

    def follow(self, fleet: Fleet, row: int, lanes: Sequence[int], s: float, s_end: float) -> None:
        """Let a vehicle at `s` of the first lane follow lanes until its centre is at `s_end` of the last, where it
        stops.
        """
        fleet.path_lane[row, 0], fleet.car.path_count[row] = lanes[0], 1
        fleet.path_at[row, 0] = fleet.car.arc[row] - s
        fleet.path_at[row, 1] = fleet.path_at[row, 0] + self._graph.lane.length[lanes[0]]
        fleet.car.cleared[row] = -np.inf
        fleet.car.mode[row] = GIVEN_PATH
        self._left[row] = (list(lanes[1:]), s_end + 0.5 * float(fleet.car.length[row]) + LINE_GAP_M)
        self._lengthen(fleet, row)

    def set_path(self, fleet: Fleet, row: int, lanes: Sequence[int]) -> None:
        """Let a vehicle go on from the lane that it is on over others, and at random after the last."""
        k = path_index(fleet, row, fleet.car.arc[row])
        fleet.car.path_count[row] = k + 1
        fleet.car.cleared[row] = min(fleet.car.cleared[row], fleet.path_at[row, k + 1])
        fleet.car.mode[row] = GIVEN_PATH
        self._left[row] = (list(lanes), None)
        self._lengthen(fleet, row)

    def lengthen(self, fleet: Fleet) -> None:
        """Let every path be as long as it may be."""
        for row in list(self._left):
            self._lengthen(fleet, row)

    def _lengthen(self, fleet: Fleet, row: int) -> None:
        """Put as much of the given lanes into a path as fits; the last one ends where the front bumper is to stop."""
        lanes, end = self._left[row]
        while lanes and fleet.car.path_count[row] < PATH_LANES:
            append_lane(self._graph, fleet, row, lanes.pop(0))
        if not lanes:
            count = int(fleet.car.path_count[row])
            if end is None:
                fleet.car.mode[row] = ROAMING
            else:
                fleet.path_at[row, count] = fleet.path_at[row, count - 1] + end
            del self._left[row]

    def forget(self, row: int) -> None:
        """Drop what is left of a given path."""
        self._left.pop(row, None)

    def arrived(self, fleet: Fleet, row: int) -> bool:
        """Whether a vehicle has come to the end of its given path."""
        end = fleet.path_at[row, fleet.car.path_count[row]]
        left = end - fleet.car.arc[row] - 0.5 * fleet.car.length[row]
        return bool(
            fleet.car.mode[row] == GIVEN_PATH
            and row not in self._left
            and left < 1.0
            and fleet.car.v[row] < VEHICLE_STANDS
        )

    def drive_on(self, fleet: Fleet, row: int) -> None:
        """Let a vehicle that has come to the end of its given path go on from there at random."""
        if not self.arrived(fleet, row):
            return
        last = int(fleet.car.path_count[row]) - 1
        whole = self._graph.lane.length[fleet.path_lane[row, last]]
        fleet.path_at[row, last + 1] = fleet.path_at[row, last] + whole
        fleet.car.mode[row] = ROAMING

    def beside(self, fleet: Fleet, row: int, target: int) -> tuple[list[int], float] | None:
        """The lanes on which a vehicle comes to the end of its route from a lane beside its own, by the roads of that
        route, and where on the last its centre is to stop (m); None for one that follows no route to an end.

        Raises:
            InputError: no lanes lead there.
        """
        lane, count, length = self._graph.lane, int(fleet.car.path_count[row]), float(fleet.car.length[row])
        shown = float(fleet.path_at[row, count] - fleet.path_at[row, count - 1])
        ahead, end = self._left.get(row, ([], shown))
        if fleet.car.mode[row] != GIVEN_PATH or end is None or self.arrived(fleet, row):
            return None
        k = path_index(fleet, row, fleet.car.arc[row])
        here, *route = list(map(int, fleet.path_lane[row, k:count])) + ahead
        last = route[-1] if route else here
        s_end = (end - 0.5 * length - LINE_GAP_M) / lane.length[last]
        s = float((fleet.car.arc[row] - fleet.path_at[row, k]) / lane.length[here] * lane.length[target])
        way = [target]
        for goal in [*(each for each in route[:-1] if lane.junction[each] < 0), last]:
            goals = {each: s_end * lane.length[each] if goal == last else math.inf for each in self._abreast(goal)}
            found = shortest_way(self._graph, way[-1], s, goals)
            if found is None:
                raise InputError("traffic", "no lanes lead along its route from the lane beside", "a change elsewhere")
            way, s = way + found, 0.0 if found else s
        return way, float(s_end * lane.length[way[-1]])

    def _abreast(self, lane: int) -> list[int]:
        """A lane and those beside it."""
        found = [lane]
        for beside in (self._graph.lane.left, self._graph.lane.right):
            each = int(beside[lane])
            while each >= 0:
                found.append(each)
                each = int(beside[each])
        return found
