"""Runs the stages over all vehicles at once and keeps the population up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import BoolArray, FloatArray, Int32Array
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.traffic import population
from tuling_fsm.sim.traffic.collision import PAIR, IdmParameters
from tuling_fsm.sim.traffic.fleet import (
    ANY,
    NO_OWNER,
    OFF,
    ROAMING,
    RULES,
    joined,
    new_fleet,
    offset_at,
    path_index,
    set_poses,
)
from tuling_fsm.sim.traffic.foresight import foresee
from tuling_fsm.sim.traffic.given_routes import GivenRoutes
from tuling_fsm.sim.traffic.lane_change import start_lane_change
from tuling_fsm.sim.traffic.lane_graph import Records, TrafficLaneGraph, endless_without
from tuling_fsm.sim.traffic.population import (
    HybridPhysics,
    around,
    capacity,
    draw_sizes,
    hero_distances,
    hybrid_physics,
    hybrid_radii,
    places_taken,
    put_on_lane,
    remove_stuck,
    spawn_places,
    switch_physics,
    try_spawn,
    update_dormant,
)
from tuling_fsm.sim.traffic.right_of_way import JunctionRequest
from tuling_fsm.sim.traffic.stages import LightConditions, StageInput, new_stage_buffers, run_stages

ATTEMPTS = 400
"""Places that are tried for a vehicle when the population is made."""
START_GAP_M = 8.0
RESPAWN_GAP_M = 30.0
EGO_NUMBER, EGO_AS_SEEN = 0, (1 << 31) - 1
"""Numbers of the ego's boxes: with its route for those that know it, and as it is seen for the others."""
NO_HERO = np.zeros((0, 2))
NO_BOXES = np.zeros((0, 10))
NO_REQUEST = JunctionRequest(np.zeros(0, np.int32), np.inf, False, False)


class TrafficManager:
    """The vehicles of the traffic: the first `scripted` rows of the fleet belong to the scenario and do exactly what it
    says, the rest are population, which other traffic managers may add to (`register`).
    """

    def __init__(
        self,
        graph: TrafficLaneGraph,
        seeds: npt.NDArray[np.uint64],
        scripted: int,
        parameters: TrafficManagerParameters,
        first_id: int,
    ) -> None:
        self.graph = graph._replace(lane=graph.lane.copy())
        """With what is closed in this run."""
        self._endless: BoolArray = graph.lane["endless"]
        """Lanes with a way on as long as nothing is closed."""
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
        self.fleet.car["owner"][:scripted] = NO_OWNER
        self._stages = new_stage_buffers(len(seeds), len(graph.lane))
        p = parameters
        self._idm = IdmParameters(
            max_accel=p.max_accel,
            comfort_decel=p.comfort_decel,
            max_decel=p.max_decel,
            headway=p.headway,
            standing_gap=p.standing_gap,
            lateral_accel=p.lateral_accel,
            side_clearance=p.side_clearance,
            lane_change_time=p.lane_change_time,
            patience=p.patience,
        )
        self._refill: Int32Array = np.zeros(0, np.int32)
        self._routes = GivenRoutes(graph)
        self._frame = 0
        self._heroes: FloatArray = NO_HERO
        self._other_boxes: FloatArray = NO_BOXES
        """What `step` was last told: vehicles that are registered keep clear of it."""
        self.before_frame: list[Callable[[int, float], None]] = []
        """Called with number and time (s) of a frame before anything moves."""
        self.ignored_pairs: Int32Array = np.zeros(0, np.int64)
        """Sorted keys of the pairs without collision detection."""
        self._unseen: frozenset[int] = frozenset()
        """Those of them that no setting changes."""
        self._by_sight: frozenset[int] | None = None
        """Rows of the vehicles that do not know the ego's route; None where nobody asks."""
        self._own_pairs: set[int] = set()
        """Those of them that were set for the vehicles that are there now."""
        self._inherited: dict[tuple[int, str], float] = {}
        """What a vehicle's own setting has taken the place of, by row and name."""
        self._held: dict[int, float] = {}
        """Speeds that vehicles that are held will want again, by row."""
        self._set_for_all: set[tuple[int, str]] = set()
        """What has been set for whichever vehicle is in a row, by row and name."""
        self.weather = LightConditions()
        self.hybrid = [hybrid_physics(parameters)]
        """How the vehicles of each traffic manager are treated far from the ego."""

    @staticmethod
    def fitting(graph: TrafficLaneGraph, wanted: int, gap: float = 25.0) -> int:
        """How many of `wanted` vehicles the map takes and still flows."""
        return min(wanted, capacity(graph, gap))

    def populate(self, circles: FloatArray) -> int:
        """Put the population on the road, standing, outside circles (K, 3) of x, y, radius. Returns how many found a
        place.
        """
        self._spawn(range(self._scripted, len(self.ids)), circles)
        rows = np.arange(self._scripted, len(self.ids), dtype=np.int32)
        self._refill = rows[self.fleet.car.mode[rows] != OFF]
        return len(self._refill)

    def register(
        self, seeds: npt.NDArray[np.uint64], hybrid: HybridPhysics, circles: FloatArray, owner: int | None = None
    ) -> range:
        """Add vehicles with generators of their own, and put them on the road.

        Args:
            seeds: of the new vehicles.
            terms: how they are treated far from the ego.
            circles: (K, 3) of x, y, radius (m): no vehicle is spawned there, near an ego, or on another agent.
            owner: the traffic manager that they belong to; None for one that is new.

        Returns:
            Their rows in the fleet; those that found no place come later.
        """
        first, p = len(self.ids), self.parameters
        more = new_fleet(seeds)
        kinds = draw_sizes(more, range(len(seeds)), p.limit_spread, p.limit_share)
        more.rules["gap"], more.rules["auto_change"] = p.standing_gap, p.auto_lane_change
        if owner is None:
            owner = len(self.hybrid)
            self.hybrid.append(hybrid)
        more.car["owner"] = owner
        self.fleet = joined(self.fleet, more)
        self.kinds = np.concatenate((self.kinds, kinds))
        self.ids = np.concatenate((self.ids, np.zeros(len(seeds), dtype=np.uint32)))
        self._stages = new_stage_buffers(len(self.ids), len(self.graph.lane))
        if self._by_sight is not None:
            self.hide_route(self._by_sight)
        rows = range(first, len(self.ids))
        near = around(self._heroes, p.respawn_distance)
        self._spawn(rows, np.vstack((circles, near, places_taken(self._other_boxes, p.standing_gap))))
        self._refill = np.concatenate((self._refill, np.array(rows, dtype=np.int32)))
        return rows

    def _spawn(self, rows: range, circles: FloatArray) -> None:
        where = spawn_places(self.graph, circles)
        for i in rows:
            if any(try_spawn(self.graph, self.fleet, i, where, START_GAP_M) for _ in range(ATTEMPTS)):
                self._assign_id(i)

    def step(
        self,
        stamp: float,
        dt: float,
        other_boxes: FloatArray,
        lights: Int32Array,
        ego: JunctionRequest,
        heroes: FloatArray,
    ) -> bool:
        """One frame.

        Args:
            stamp: the frame's time, s.
            dt: its length, s.
            other_boxes: boxes (M, 10) of other agents: x, y, z (NaN: any level), heading, length, width, speed, seconds
            from now, number, 1 for a person.
            lights: states by index of the lane graph's signals.
            ego: what the ego asks for, `NO_REQUEST` for nothing.
            heroes: where the egos are (K, 2), m; no vehicle appears or vanishes near them.

        Returns:
            Whether the ego may enter its junction.
        """
        self._heroes, self._other_boxes = heroes, other_boxes
        for prepare in list(self.before_frame):
            prepare(self._frame, stamp)
        if len(self.ids) == 0:
            self._frame += 1
            return True
        self._update_population(heroes, dt, other_boxes)
        self._routes.lengthen(self.fleet)
        other_boxes, ignored_pairs = self._expected(other_boxes)
        if len(self.ids) + len(other_boxes) > len(self._stages.boxes):
            ahead = self._stages.ahead
            self._stages = new_stage_buffers(len(self.ids), len(self.graph.lane), 2 * len(other_boxes))._replace(
                ahead=ahead
            )
        frame = StageInput(
            other_boxes=other_boxes,
            lights=lights,
            ego=ego,
            ignored_pairs=ignored_pairs,
            weather=self.weather,
            stamp=stamp,
            dt=dt,
            number=self._frame,
        )
        self._frame += 1
        return bool(run_stages(self.graph, self.fleet, self.ids, self._idm, self._stages, frame))

    def _expected(self, other_boxes: FloatArray) -> tuple[FloatArray, Int32Array]:
        """The boxes of other agents and the pairs without collision detection, for one frame: none comes through those
        before it, and these do not wait for one behind them.
        """
        pairs = self.ignored_pairs
        for number in (EGO_NUMBER, EGO_AS_SEEN):
            other_boxes, before = foresee(self.fleet.car, other_boxes, number)
            if len(before):
                pairs = np.union1d(pairs, before * PAIR + number)
        return other_boxes, pairs

    def _update_population(self, heroes: FloatArray, dt: float, other_boxes: FloatArray = NO_BOXES) -> None:
        """First stage: remove stuck vehicles and respawn those that are off the road, all out of the egos' sight;
        update dormant ones, and give dynamics to vehicles that are near.
        """
        fleet, p = self.fleet, self.parameters
        found = population.check_population(fleet, heroes, hybrid_radii(self.hybrid), p.removal_time)
        if found & population.STUCK:
            self.removed += remove_stuck(fleet, heroes, self._scripted, p.removal_time, p.respawn_distance)
        if not found:
            return
        came = found & (population.STUCK | population.MISSING) and self._respawn(heroes, other_boxes)
        if found & population.DORMANCY:
            update_dormant(self.graph, fleet, self.hybrid, heroes, places_taken(other_boxes, p.standing_gap), dt)
        if came or found & (population.DORMANCY | population.PHYSICS):
            switch_physics(fleet, self.hybrid, hero_distances(fleet, heroes))

    def _respawn(self, heroes: FloatArray, other_boxes: FloatArray) -> bool:
        """Try to respawn the vehicles that are off the road, clear of the other agents; whether one is."""
        fleet, car, p = self.fleet, np.asarray(self.fleet.car), self.parameters
        off = self._refill[(car["mode"][self._refill] == OFF) & (car["dormant_mode"][self._refill] == OFF)]
        if len(off) == 0:
            return False
        near = around(heroes, p.respawn_distance)
        where = spawn_places(self.graph, np.vstack((near, places_taken(other_boxes, p.standing_gap))))
        came = [i for i in off.tolist() if try_spawn(self.graph, fleet, i, where, RESPAWN_GAP_M)]
        for i in came:
            self._assign_id(i)
        return bool(came)

    def _assign_id(self, row: int) -> None:
        """A vehicle that is new in its row: nothing that was set for the one before concerns it."""
        self.ids[row] = self._next_id
        self._next_id += 1
        for name in [name for at, name in self._inherited if at == row]:
            self._write(row, name, self._inherited.pop((row, name)))
        own = [divmod(key, PAIR) for key in self._own_pairs]
        self.detect_collisions([pair for pair in own if pair[0] == row], True)
        self.fleet.car.offset_from[row] = self.fleet.car.offset_to[row] = self.fleet.rules.offset[row]
        self.fleet.turns[row], self.fleet.car.turn_at[row] = ANY, 0
        self._routes.forget(row)

    def _table(self, name: str) -> Records:
        return self.fleet.rules if name in (RULES.names or ()) else self.fleet.car

    def set_rule(self, rows: Iterable[int], name: str, value: float, own: bool) -> None:
        """Set a rule, the `share` of the limit or the `wanted` speed of vehicles: as their `own`, or for all that will
        be in their rows.
        """
        for row in rows:
            if own:
                wanted = self._held.get(row) if name == "wanted" else None
                self._inherited.setdefault((row, name), self._table(name)[name][row] if wanted is None else wanted)
            else:
                self._inherited.pop((row, name), None)
                self._set_for_all.add((row, name))
            self._write(row, name, value)

    def _write(self, row: int, name: str, value: float) -> None:
        """Note what is set; the wanted speed of a vehicle that is held is for later."""
        if name == "wanted" and row in self._held:
            self._held[row] = value
        else:
            self._table(name)[name][row] = value

    def is_set(self, row: int, name: str) -> bool:
        """Whether `set_rule` has set this for the vehicle in a row, as its own or for all."""
        return (row, name) in self._inherited or (row, name) in self._set_for_all

    def detect_collisions(self, pairs: Collection[tuple[int, int]], detect: bool) -> None:
        """Let vehicles brake for other agents, or not: pairs of a row and a number (`EGO_NUMBER`: the ego)."""
        blind = self._by_sight or frozenset()
        seen = ((row, EGO_AS_SEEN if number == EGO_NUMBER and row in blind else number) for row, number in pairs)
        keys, known = {row * PAIR + number for row, number in seen} - self._unseen, set(self.ignored_pairs.tolist())
        self._own_pairs = self._own_pairs - keys if detect else self._own_pairs | (keys - known)
        self.ignored_pairs = np.array(sorted(known - keys if detect else known | keys), dtype=np.int64)

    def hide_route(self, rows: Collection[int]) -> None:
        """Let the vehicles of these rows see the ego as `EGO_AS_SEEN` alone, and all others, also those that are
        registered later, as `EGO_NUMBER` alone.
        """
        known = set(self.ignored_pairs.tolist()) - self._unseen
        self._by_sight = frozenset(rows)
        hidden = (EGO_NUMBER if row in self._by_sight else EGO_AS_SEEN for row in range(len(self.ids)))
        self._unseen = frozenset(row * PAIR + number for row, number in enumerate(hidden))
        self.ignored_pairs = np.array(sorted(known | self._unseen), dtype=np.int64)

    def close_lanes(self, closed: Collection[int]) -> None:
        """Let vehicles that drive at random turn off before lanes (by index) that lead nowhere now, as signs tell; all
        others are open. One on such a lane already drives on to what closes it.
        """
        before = self.graph.lane["endless"].copy()
        self.graph.lane["endless"] = endless_without(self.graph, self._endless, closed)
        lost = before & ~self.graph.lane["endless"]
        car = self.fleet.car
        for row in np.flatnonzero(car["mode"] == ROAMING).tolist():
            here = path_index(self.fleet, row, car.arc[row])
            if lost[self.fleet.path_lane[row, here + 1 : car.path_count[row]]].any():
                self.drop_path(row)

    # Vehicles of the scenario.

    def place(self, row: int, lane: int, s: float, speed: float, offset: float = 0.0) -> None:
        """Put a scripted vehicle with its centre on a lane; it drives on from there."""
        put_on_lane(self.graph, self.fleet, row, lane, s, speed)
        self.fleet.car.offset_from[row] = self.fleet.car.offset_to[row] = offset
        set_poses(self.graph, self.fleet, self.parameters.lane_change_time)

    def remove(self, row: int) -> None:
        """Take a scripted vehicle off the road."""
        self.fleet.car.mode[row] = OFF
        self._routes.forget(row)

    def set_speed(self, row: int, wanted: float | None, rate: float = np.inf) -> None:
        """Let a vehicle approach a speed (m/s) at a rate (m/s^2); None: it drives as traffic does."""
        self.fleet.car.wanted[row] = np.nan if wanted is None else wanted
        self.fleet.car.rate[row] = rate

    def hold(self, row: int, rate: float) -> None:
        """Let a vehicle brake to a stand at a rate (m/s^2) and stay there, whatever speed is set meanwhile."""
        self._held.setdefault(row, float(self.fleet.car.wanted[row]))
        self.set_speed(row, 0.0, rate)

    def release(self, row: int) -> None:
        """Let one that was held drive on at the speed that is set."""
        self.set_speed(row, self._held.pop(row, None))

    def follow(self, row: int, lanes: Sequence[int], s: float, s_end: float) -> None:
        """Let a vehicle at `s` of the first lane follow lanes until its centre is at `s_end` of the last, where it
        stops.
        """
        self._routes.follow(self.fleet, row, lanes, s, s_end)

    def set_path(self, row: int, lanes: Sequence[int]) -> None:
        """Let a vehicle go on from the lane that it is on over others, and at random after the last."""
        self._routes.set_path(self.fleet, row, lanes)

    def set_offset(self, row: int, offset: float) -> None:
        """Let a vehicle move to an offset from the middle of its lane (m, + left)."""
        car, duration = self.fleet.car, self.parameters.lane_change_time
        car.offset_from[row] = offset_at(self.fleet, row, 0.0, duration)
        car.offset_to[row], car.offset_time[row] = offset, 0.0

    def drop_path(self, row: int) -> None:
        """Let a vehicle choose its path anew, from the next junction on that it may not enter yet."""
        car, count = self.fleet.car, int(self.fleet.car.path_count[row])
        front = car.arc[row] + 0.5 * car.length[row]
        k = path_index(self.fleet, row, max(front, car.cleared[row]))
        while k + 1 < count and self.graph.lane.junction[self.fleet.path_lane[row, k]] >= 0:
            k += 1
        car.path_count[row] = k + 1
        car.mode[row] = ROAMING
        self._routes.forget(row)

    def drive_on(self, row: int) -> None:
        """Let a vehicle that has come to the end of given lanes go on from there at random."""
        self._routes.drive_on(self.fleet, row)

    def arrived(self, row: int) -> bool:
        """Whether a vehicle that follows given lanes has come to their end."""
        return self._routes.arrived(self.fleet, row)

    def change_lane(self, row: int, lanes: int) -> bool:
        """Let a vehicle move over by lanes (+ left) from where it is; False where there is no such lane. From there it
        goes on to the end of its route, if it follows one, else at random.

        Raises:
            InputError: no lanes lead to that end from there.
        """
        fleet, graph = self.fleet, self.graph
        k = path_index(fleet, row, fleet.car.arc[row])
        lane = int(fleet.path_lane[row, k])
        target, beside = lane, graph.lane.left if lanes > 0 else graph.lane.right
        for _ in range(abs(lanes)):
            target = int(beside[target])
            if target < 0:
                return False
        route = self._routes.beside(fleet, row, target)
        start_lane_change(graph, fleet, row, target, self.parameters.lane_change_time)
        self._routes.forget(row)
        if route is not None:
            self.follow(row, route[0], float(fleet.car.arc[row] - fleet.path_at[row, 0]), route[1])
        return True

    def in_lane(self, row: int) -> bool:
        """Whether a vehicle is through with its last change of lanes."""
        return bool(self.fleet.car.offset_time[row] >= self.parameters.lane_change_time)

    @property
    def on_road(self) -> BoolArray:
        """Which rows are on the road."""
        return np.asarray(np.asarray(self.fleet.car)["mode"] != OFF)
