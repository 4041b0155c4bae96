"""Runs the stages over all vehicles at once and keeps the population up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.sim.parameters import TrafficParameters
from tuling_fsm.sim.traffic import sleeping
from tuling_fsm.sim.traffic.collision import Driver, LongArray
from tuling_fsm.sim.traffic.fleet import (
    LANES,
    OFF,
    joined,
    new_fleet,
    offset_at,
    path_index,
    set_poses,
)
from tuling_fsm.sim.traffic.given_ways import GivenWays
from tuling_fsm.sim.traffic.lane_change import move_over
from tuling_fsm.sim.traffic.lane_graph import BoolArray, IntArray, LaneGraph
from tuling_fsm.sim.traffic.lifecycle import appear, capacity, draw_sizes, places, put_on_lane
from tuling_fsm.sim.traffic.right_of_way import EgoRequest
from tuling_fsm.sim.traffic.sleeping import Terms, distances, radii, rest, switch_physics, take_off_stuck, terms_of
from tuling_fsm.sim.traffic.stages import Frame, new_stages, run_stages
from tuling_fsm.sim.traffic.vehicle_lights import Weather

ATTEMPTS = 400
"""Places that are tried for a vehicle when the population is made."""
START_GAP_M = 8.0
RESPAWN_GAP_M = 30.0
NOBODY = -1
"""Owner of the scenario's vehicles."""
NO_HERO = np.zeros((0, 2))
NO_EGO = EgoRequest(np.zeros(0, np.int32), np.inf, False, False)


class TrafficManager:
    """The vehicles of the traffic: the first `scripted` rows of the fleet belong to the scenario and do exactly what it
    says, the rest are population, which other traffic managers may add to (`enlist`).
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
        self.ids: npt.NDArray[np.uint32] = np.zeros(len(seeds), dtype=np.uint32)
        self.removed = 0
        """How many vehicles were taken off because they had stood for too long."""
        self._scripted = scripted
        self.parameters = parameters
        self._next_id = first_id
        rows = range(scripted, len(seeds))
        self.kinds = draw_sizes(self.fleet, rows, parameters.limit_spread, parameters.limit_share)
        self.fleet.rules["gap"], self.fleet.rules["auto_change"] = parameters.standing_gap, parameters.auto_lane_change
        self.fleet.car["owner"][:scripted] = NOBODY
        self._stages = new_stages(len(seeds), len(graph.lane))
        p = parameters
        self._driver = Driver(
            p.max_accel, p.comfort_decel, p.max_decel, p.headway, p.standing_gap, p.lateral_accel, p.side_clearance,
            p.lane_change_time, p.patience,
        )  # fmt: skip
        self._refill: IntArray = np.zeros(0, np.int32)
        self._ways = GivenWays(graph)
        self._frame = 0
        self.before_frame: list[Callable[[int, float], None]] = []
        """Called with number and time (s) of a frame before anything moves."""
        self.blind: LongArray = np.zeros(0, np.int64)
        """Sorted keys of the pairs that do not see each other."""
        self.weather = Weather()
        self.terms = [terms_of(parameters)]
        """How the vehicles of each traffic manager are treated far from the ego."""

    @staticmethod
    def fitting(graph: LaneGraph, wanted: int, gap: float = 25.0) -> int:
        """How many of `wanted` vehicles the map takes and still flows."""
        return min(wanted, capacity(graph, gap))

    def populate(self, circles: FloatArray) -> int:
        """Put the population on the road, standing, outside circles (K, 3) of x, y, radius. Returns how many found a
        place.
        """
        self._settle(range(self._scripted, len(self.ids)), circles)
        rows = np.arange(self._scripted, len(self.ids), dtype=np.int32)
        self._refill = rows[self.fleet.car.mode[rows] != OFF]
        return len(self._refill)

    def enlist(
        self, seeds: npt.NDArray[np.uint64], terms: Terms, circles: FloatArray, owner: int | None = None
    ) -> range:
        """Add vehicles with generators of their own, and put them on the road.

        Args:
            seeds: of the new vehicles.
            terms: how they are treated far from the ego.
            circles: (K, 3) of x, y, radius (m): nobody is put there.
            owner: the traffic manager that they belong to; None for one that is new.

        Returns:
            Their rows in the fleet; those that found no place come later.
        """
        first, p = len(self.ids), self.parameters
        more = new_fleet(seeds)
        kinds = draw_sizes(more, range(len(seeds)), p.limit_spread, p.limit_share)
        more.rules["gap"], more.rules["auto_change"] = p.standing_gap, p.auto_lane_change
        if owner is None:
            owner = len(self.terms)
            self.terms.append(terms)
        more.car["owner"] = owner
        self.fleet = joined(self.fleet, more)
        self.kinds = np.concatenate((self.kinds, kinds))
        self.ids = np.concatenate((self.ids, np.zeros(len(seeds), dtype=np.uint32)))
        self._stages = new_stages(len(self.ids), len(self.graph.lane))
        rows = range(first, len(self.ids))
        self._settle(rows, circles)
        self._refill = np.concatenate((self._refill, np.array(rows, dtype=np.int32)))
        return rows

    def _settle(self, rows: range, circles: FloatArray) -> None:
        where = places(self.graph, circles)
        for i in rows:
            if any(appear(self.graph, self.fleet, i, where, START_GAP_M) for _ in range(ATTEMPTS)):
                self._name(i)

    def step(
        self, stamp: float, dt: float, others: FloatArray, lights: IntArray, ego: EgoRequest, heroes: FloatArray
    ) -> bool:
        """One frame.

        Args:
            stamp: the frame's time, s.
            dt: its length, s.
            others: boxes (M, 10) of everybody else: x, y, z (NaN: any level), heading, length, width, speed, seconds
            from now, number, 1 for a person.
            lights: states by index of the lane graph's signals.
            ego: what the ego asks for, `NO_EGO` for nothing.
            heroes: where the egos are (K, 2), m; nobody appears or vanishes near them.

        Returns:
            Whether the ego may enter its junction.
        """
        for prepare in list(self.before_frame):
            prepare(self._frame, stamp)
        if len(self.ids) == 0:
            self._frame += 1
            return True
        self._renew(heroes, dt)
        self._ways.lengthen(self.fleet)
        if len(self.ids) + len(others) > len(self._stages.boxes):
            ahead = self._stages.ahead
            self._stages = new_stages(len(self.ids), len(self.graph.lane), 2 * len(others))._replace(ahead=ahead)
        frame = Frame(others, lights, ego, self.blind, self.weather, stamp, dt, self._frame)
        self._frame += 1
        return bool(run_stages(self.graph, self.fleet, self.ids, self._driver, self._stages, frame))

    def _renew(self, heroes: FloatArray, dt: float) -> None:
        """First stage: take off who is stuck, let those that are off the road try to come back, all out of the egos'
        sight; put to sleep and wake, and give dynamics to those that are near.
        """
        fleet, p = self.fleet, self.parameters
        found = sleeping.look_round(fleet, heroes, radii(self.terms), p.removal_time)
        if found & sleeping.STUCK:
            self.removed += take_off_stuck(fleet, heroes, self._scripted, p.removal_time, p.respawn_distance)
        came = found & (sleeping.STUCK | sleeping.MISSING) and self._bring_back(heroes)
        if found & sleeping.RESTLESS:
            rest(self.graph, fleet, self.terms, heroes, dt)
        if came or found & (sleeping.RESTLESS | sleeping.SWITCHED):
            switch_physics(fleet, self.terms, distances(fleet, heroes))

    def _bring_back(self, heroes: FloatArray) -> bool:
        """Let those that are off the road try to come back; whether one does."""
        fleet, car = self.fleet, np.asarray(self.fleet.car)[self._refill]
        off = self._refill[(car["mode"] == OFF) & (car["asleep"] == OFF)]
        if len(off) == 0:
            return False
        where = places(self.graph, np.column_stack((heroes, np.full(len(heroes), self.parameters.respawn_distance))))
        came = [i for i in off.tolist() if appear(self.graph, fleet, i, where, RESPAWN_GAP_M)]
        for i in came:
            self._name(i)
        return bool(came)

    def _name(self, row: int) -> None:
        self.ids[row] = self._next_id
        self._next_id += 1

    # Vehicles of the scenario.

    def put(self, row: int, lane: int, s: float, speed: float, offset: float = 0.0) -> None:
        """Put a scripted vehicle with its centre on a lane; it drives on from there."""
        put_on_lane(self.graph, self.fleet, row, lane, s, speed)
        self.fleet.car.offset_from[row] = self.fleet.car.offset_to[row] = offset
        set_poses(self.graph, self.fleet, self.parameters.lane_change_time)

    def take_off(self, row: int) -> None:
        """Take a scripted vehicle off the road."""
        self.fleet.car.mode[row] = OFF
        self._ways.forget(row)

    def set_speed(self, row: int, wanted: float | None, rate: float = np.inf) -> None:
        """Let a vehicle approach a speed (m/s) at a rate (m/s^2); None: it drives as traffic does."""
        self.fleet.car.wanted[row] = np.nan if wanted is None else wanted
        self.fleet.car.rate[row] = rate

    def follow(self, row: int, lanes: Sequence[int], s: float, s_end: float) -> None:
        """Let a vehicle at `s` of the first lane follow lanes until its centre is at `s_end` of the last, where it
        stops.
        """
        self._ways.follow(self.fleet, row, lanes, s, s_end)

    def lead(self, row: int, lanes: Sequence[int]) -> None:
        """Let a vehicle go on from the lane that it is on over others, and at random after the last."""
        self._ways.lead(self.fleet, row, lanes)

    def shift(self, row: int, offset: float) -> None:
        """Let a vehicle move to an offset from the middle of its lane (m, + left)."""
        car, duration = self.fleet.car, self.parameters.lane_change_time
        car.offset_from[row] = offset_at(self.fleet, row, 0.0, duration)
        car.offset_to[row], car.offset_time[row] = offset, 0.0

    def forget_way(self, row: int) -> None:
        """Let a vehicle choose its way anew, from the next junction on that it may not enter yet."""
        car, count = self.fleet.car, int(self.fleet.car.path_count[row])
        front = car.arc[row] + 0.5 * car.length[row]
        k = path_index(self.fleet, row, max(front, car.cleared[row]))
        while k + 1 < count and self.graph.lane.junction[self.fleet.path_lane[row, k]] >= 0:
            k += 1
        car.path_count[row] = k + 1
        car.mode[row] = LANES
        self._ways.forget(row)

    def arrived(self, row: int) -> bool:
        """Whether a vehicle that follows given lanes has come to their end."""
        return self._ways.arrived(self.fleet, row)

    def change_lane(self, row: int, lanes: int) -> bool:
        """Let a vehicle move over by lanes (+ left) from where it is; False where there is no such lane."""
        fleet, graph = self.fleet, self.graph
        k = path_index(fleet, row, fleet.car.arc[row])
        lane = int(fleet.path_lane[row, k])
        target, beside = lane, graph.lane.left if lanes > 0 else graph.lane.right
        for _ in range(abs(lanes)):
            target = int(beside[target])
            if target < 0:
                return False
        move_over(graph, fleet, row, target, self.parameters.lane_change_time)
        self._ways.forget(row)
        return True

    def in_lane(self, row: int) -> bool:
        """Whether a vehicle is through with its last change of lanes."""
        return bool(self.fleet.car.offset_time[row] >= self.parameters.lane_change_time)

    @property
    def on_road(self) -> BoolArray:
        """Which rows are on the road."""
        return np.asarray(np.asarray(self.fleet.car)["mode"] != OFF)
