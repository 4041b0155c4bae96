"""Ways that vehicles of the scenario are given: lanes to follow, as many at a time as a path takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuling_fsm.sim.traffic.fleet import LANES, PATH_LANES, RAILS, Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import LaneGraph
from tuling_fsm.sim.traffic.localization import append_lane
from tuling_fsm.sim.traffic.motion import LINE_GAP_M


class GivenWays:
    """What is left of the way of each vehicle that has one, by its row in the fleet."""

    def __init__(self, graph: LaneGraph) -> None:
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
        fleet.car.mode[row] = RAILS
        self._left[row] = (list(lanes[1:]), s_end + 0.5 * float(fleet.car.length[row]) + LINE_GAP_M)
        self._lengthen(fleet, row)

    def lead(self, fleet: Fleet, row: int, lanes: Sequence[int]) -> None:
        """Let a vehicle go on from the lane that it is on over others, and at random after the last."""
        k = path_index(fleet, row, fleet.car.arc[row])
        fleet.car.path_count[row] = k + 1
        fleet.car.cleared[row] = min(fleet.car.cleared[row], fleet.path_at[row, k + 1])
        fleet.car.mode[row] = RAILS
        self._left[row] = (list(lanes), None)
        self._lengthen(fleet, row)

    def lengthen(self, fleet: Fleet) -> None:
        """Let every path be as long as it may be."""
        for row in list(self._left):
            self._lengthen(fleet, row)

    def _lengthen(self, fleet: Fleet, row: int) -> None:
        """Put as much of a given way into a path as fits; the last lane ends where the front bumper is to stop."""
        lanes, end = self._left[row]
        while lanes and fleet.car.path_count[row] < PATH_LANES:
            append_lane(self._graph, fleet, row, lanes.pop(0))
        if not lanes:
            count = int(fleet.car.path_count[row])
            if end is None:
                fleet.car.mode[row] = LANES
            else:
                fleet.path_at[row, count] = fleet.path_at[row, count - 1] + end
            del self._left[row]

    def forget(self, row: int) -> None:
        """What is left of a way is not driven any more."""
        self._left.pop(row, None)

    def arrived(self, fleet: Fleet, row: int) -> bool:
        """Whether a vehicle has come to the end of its way."""
        end = fleet.path_at[row, fleet.car.path_count[row]]
        left = end - fleet.car.arc[row] - 0.5 * fleet.car.length[row]
        return bool(fleet.car.mode[row] == RAILS and row not in self._left and left < 1.0 and fleet.car.v[row] < 0.1)
