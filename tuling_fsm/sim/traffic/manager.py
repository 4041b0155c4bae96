"""Runs the stages over all vehicles at once and keeps the population up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.sim.parameters import TrafficParameters
from tuling_fsm.sim.traffic.collision import AHEAD, BOX, Driver, build_grid, watch_out
from tuling_fsm.sim.traffic.fleet import (
    LANES,
    OFF,
    PATH_LANES,
    RAILS,
    Fleet,
    new_fleet,
    offset_at,
    path_index,
    set_poses,
)
from tuling_fsm.sim.traffic.lane_graph import BoolArray, IntArray, LaneGraph, Records
from tuling_fsm.sim.traffic.lifecycle import appear, capacity, draw_sizes, places, put_on_lane
from tuling_fsm.sim.traffic.lines import ORDERS, mind_lines
from tuling_fsm.sim.traffic.localization import append_lane, localize
from tuling_fsm.sim.traffic.motion import LINE_GAP_M, move
from tuling_fsm.sim.traffic.right_of_way import DESK, EgoRequest, share_junctions

LINE_REACH_M = 100.0
ATTEMPTS = 400
"""Places that are tried for a vehicle when the population is made."""
START_GAP_M = 8.0
RESPAWN_GAP_M = 30.0
NO_EGO = EgoRequest(np.zeros(0, np.int32), np.inf, False, False)


class Stages(NamedTuple):
    """What goes from stage to stage: `AHEAD` and `ORDERS` of every vehicle, `DESK` of every lane."""

    ahead: Records
    orders: Records
    desk: Records


@njit(cache=True)
def gather(fleet: Fleet, others: FloatArray, boxes: Records) -> None:
    """Fill `boxes` with all bodies on the road and the boxes of everybody else."""
    car = fleet.car
    rows = np.flatnonzero(car.mode)
    for j, i in enumerate(rows):
        boxes.x[j], boxes.y[j], boxes.z[j], boxes.heading[j] = car.x[i], car.y[i], car.z[i], car.heading[i]
        boxes.length[j], boxes.width[j], boxes.v[j] = car.length[i], car.width[i], car.v[i]
        boxes.when[j], boxes.owner[j] = 0.0, i
    for k in range(len(others)):
        j, row = len(rows) + k, others[k]
        boxes.x[j], boxes.y[j], boxes.z[j], boxes.heading[j] = row[0], row[1], row[2], row[3]
        boxes.length[j], boxes.width[j], boxes.v[j], boxes.when[j] = row[4], row[5], row[6], row[7]
        boxes.owner[j] = -1


@njit(cache=True)
def run_stages(
    graph: LaneGraph, fleet: Fleet, others: FloatArray, lights: IntArray, ego: EgoRequest, k: Driver, stages: Stages,
    boxes: Records, stamp: float, dt: float,
) -> bool:  # fmt: skip
    """One frame of all vehicles. Returns whether the ego may enter its junction."""
    localize(graph, fleet)
    gather(fleet, others, boxes)
    watch_out(graph, fleet, boxes, build_grid(boxes), k, stages.ahead)
    mind_lines(graph, fleet, lights, LINE_REACH_M, stages.orders)
    ego_goes = share_junctions(graph, fleet, stamp, ego, stages.ahead, k, stages.desk, stages.orders)
    move(graph, fleet, stages.ahead, stages.orders, k, dt)
    set_poses(graph, fleet, k.lane_change_time)
    return bool(ego_goes)


class TrafficManager:
    """The vehicles of the traffic: the first `scripted` rows of the fleet belong to the scenario, the rest are
    population.
    """

    def __init__(
        self,
        graph: LaneGraph,
        seeds: npt.NDArray[np.uint64],
        scripted: int,
        parameters: TrafficParameters,
        first_id: int,
    ) -> None:
        self.graph = graph
        self.fleet = new_fleet(seeds)
        self.ids = np.zeros(len(seeds), dtype=np.uint32)
        self.removed = 0
        """How many vehicles were taken off because they had stood for too long."""
        self._scripted = scripted
        self._parameters = parameters
        self._next_id = first_id
        rows = range(scripted, len(seeds))
        self.kinds = draw_sizes(self.fleet, rows, parameters.limit_spread, parameters.limit_share)
        n, lanes = len(seeds), len(graph.lane)
        self._stages = Stages(
            np.zeros(n, AHEAD).view(np.recarray),
            np.zeros(n, ORDERS).view(np.recarray),
            np.zeros(lanes, DESK).view(np.recarray),
        )
        p = parameters
        self._driver = Driver(
            p.max_accel, p.comfort_decel, p.max_decel, p.headway, p.standing_gap, p.lateral_accel, p.side_clearance,
            p.lane_change_time, p.patience,
        )  # fmt: skip
        self._refill: list[int] = []
        self._routes: dict[int, tuple[list[int], float]] = {}

    @staticmethod
    def fitting(graph: LaneGraph, wanted: int, gap: float = 25.0) -> int:
        """How many of `wanted` vehicles the map takes and still flows."""
        return min(wanted, capacity(graph, gap))

    def populate(self, circles: FloatArray) -> int:
        """Put the population on the road, standing, outside circles (K, 3) of x, y, radius. Returns how many found a
        place.
        """
        where = places(self.graph, circles)
        for i in range(self._scripted, len(self.ids)):
            if any(appear(self.graph, self.fleet, i, where, START_GAP_M) for _ in range(ATTEMPTS)):
                self._name(i)
        self._refill = [i for i in range(self._scripted, len(self.ids)) if self.fleet.car.mode[i] != OFF]
        return len(self._refill)

    def step(
        self, stamp: float, dt: float, others: FloatArray, lights: IntArray, ego: EgoRequest, x: float, y: float
    ) -> bool:
        """One frame.

        Args:
            stamp: the frame's time, s.
            dt: its length, s.
            others: boxes (M, 8) of everybody else: x, y, z (NaN: any level), heading, length, width, speed, seconds
            from now.
            lights: states by index of the lane graph's signals.
            ego: what the ego asks for, `NO_EGO` for nothing.
            x: where the ego is (m); nobody appears or vanishes near it.
            y: as `x`.

        Returns:
            Whether the ego may enter its junction.
        """
        if len(self.ids) == 0:
            return True
        self._renew(x, y)
        for row in list(self._routes):
            self._lengthen(row)
        boxes = np.empty(int(self.on_road.sum()) + len(others), BOX).view(np.recarray)
        return bool(
            run_stages(
                self.graph, self.fleet, others, lights, ego, self._driver, self._stages, boxes, stamp, dt
            )
        )  # fmt: skip

    def _renew(self, x: float, y: float) -> None:
        """Take off who is stuck, and let those that are off the road try to come back, all out of the ego's sight."""
        fleet, p = self.fleet, self._parameters
        stuck = np.flatnonzero((fleet.car.standing > p.removal_time) & (fleet.car.mode == LANES))
        for i in stuck:
            far = np.hypot(fleet.car.x[i] - x, fleet.car.y[i] - y) > p.respawn_distance
            if i >= self._scripted and far:
                fleet.car.mode[i] = OFF
                self.removed += 1
        off = [i for i in self._refill if fleet.car.mode[i] == OFF]
        if off:
            where = places(self.graph, np.array([[x, y, p.respawn_distance]]))
            for i in off:
                if appear(self.graph, fleet, i, where, RESPAWN_GAP_M):
                    self._name(i)

    def _name(self, row: int) -> None:
        self.ids[row] = self._next_id
        self._next_id += 1

    # Vehicles of the scenario.

    def put(self, row: int, lane: int, s: float, speed: float, offset: float = 0.0) -> None:
        """Put a scripted vehicle with its centre on a lane; it drives on from there."""
        put_on_lane(self.graph, self.fleet, row, lane, s, speed)
        self.fleet.car.offset_from[row] = self.fleet.car.offset_to[row] = offset
        set_poses(self.graph, self.fleet, self._parameters.lane_change_time)

    def take_off(self, row: int) -> None:
        """Take a scripted vehicle off the road."""
        self.fleet.car.mode[row] = OFF
        self._routes.pop(row, None)

    def set_speed(self, row: int, wanted: float | None, rate: float = np.inf) -> None:
        """Let a vehicle approach a speed (m/s) at a rate (m/s^2); None: it drives as traffic does."""
        self.fleet.car.wanted[row] = np.nan if wanted is None else wanted
        self.fleet.car.rate[row] = rate

    def follow(self, row: int, lanes: Sequence[int], s: float, s_end: float) -> None:
        """Let a vehicle at `s` of the first lane follow lanes until its centre is at `s_end` of the last, where it
        stops.
        """
        fleet = self.fleet
        fleet.path_lane[row, 0], fleet.car.path_count[row] = lanes[0], 1
        fleet.path_at[row, 0] = fleet.car.arc[row] - s
        fleet.path_at[row, 1] = fleet.path_at[row, 0] + self.graph.lane.length[lanes[0]]
        fleet.car.cleared[row] = -np.inf
        fleet.car.mode[row] = RAILS
        self._routes[row] = (list(lanes[1:]), s_end + 0.5 * float(fleet.car.length[row]) + LINE_GAP_M)
        self._lengthen(row)

    def _lengthen(self, row: int) -> None:
        """Put as much of a given route into a path as fits; the last lane ends where the front bumper is to stop."""
        fleet = self.fleet
        lanes, end = self._routes[row]
        while lanes and fleet.car.path_count[row] < PATH_LANES:
            append_lane(self.graph, fleet, row, lanes.pop(0))
        if not lanes:
            count = int(fleet.car.path_count[row])
            fleet.path_at[row, count] = fleet.path_at[row, count - 1] + end
            del self._routes[row]

    def arrived(self, row: int) -> bool:
        """Whether a vehicle that follows given lanes has come to their end."""
        fleet = self.fleet
        end = fleet.path_at[row, fleet.car.path_count[row]]
        left = end - fleet.car.arc[row] - 0.5 * fleet.car.length[row]
        return bool(fleet.car.mode[row] == RAILS and row not in self._routes and left < 1.0 and fleet.car.v[row] < 0.1)

    def change_lane(self, row: int, lanes: int) -> bool:
        """Let a vehicle move over by lanes (+ left) from where it is; False where there is no such lane."""
        fleet, graph = self.fleet, self.graph
        k = path_index(fleet, row, fleet.car.arc[row])
        lane, s = int(fleet.path_lane[row, k]), float(fleet.car.arc[row] - fleet.path_at[row, k])
        target, beside = lane, graph.lane.left if lanes > 0 else graph.lane.right
        for _ in range(abs(lanes)):
            target = int(beside[target])
            if target < 0:
                return False
        share = s / graph.lane.length[lane]
        offset = offset_at(fleet, row, 0.0, self._parameters.lane_change_time)
        width = self._gap(lane, target, share)
        fleet.path_lane[row, 0], fleet.car.path_count[row] = target, 1
        fleet.path_at[row, 0] = fleet.car.arc[row] - share * graph.lane.length[target]
        fleet.path_at[row, 1] = fleet.path_at[row, 0] + graph.lane.length[target]
        fleet.car.offset_from[row], fleet.car.offset_to[row], fleet.car.offset_time[row] = offset - width, 0.0, 0.0
        fleet.car.mode[row] = LANES
        self._routes.pop(row, None)
        return True

    def _gap(self, lane: int, target: int, share: float) -> float:
        """How far the centre of `target` lies to the left of that of `lane`, m."""
        graph = self.graph
        here = graph.lane.at[lane] + round(share * (graph.lane.end[lane] - graph.lane.at[lane] - 1))
        there = graph.lane.at[target] + round(share * (graph.lane.end[target] - graph.lane.at[target] - 1))
        dx, dy = graph.sample.x[there] - graph.sample.x[here], graph.sample.y[there] - graph.sample.y[here]
        heading = graph.sample.heading[here]
        return float(dy * np.cos(heading) - dx * np.sin(heading))

    @property
    def on_road(self) -> BoolArray:
        """Which rows are on the road."""
        return np.asarray(self.fleet.car.mode != OFF)
