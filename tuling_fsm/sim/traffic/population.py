"""First stage: which vehicles are on the road, where they spawn, which have dynamics and which are dormant (TM-3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray, Int32Array
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.traffic.fleet import OFF, ROAMING, Fleet, draw, path_index, path_point
from tuling_fsm.sim.traffic.lane_graph import TrafficLaneGraph, lane_point
from tuling_fsm.sim.traffic.localization import update_path
from tuling_fsm.sim.traffic.motion import start_dynamics
from tuling_fsm.world.inputs import Kind


class VehicleClass(NamedTuple):
    """A class of vehicles: kind, length and width (m), share of the population."""

    kind: Kind
    length: float
    width: float
    share: float


VEHICLE_CLASSES = (
    VehicleClass(Kind.CAR, 3.7, 1.65, 0.25),
    VehicleClass(Kind.CAR, 4.5, 1.82, 0.40),
    VehicleClass(Kind.CAR, 4.9, 1.92, 0.17),
    VehicleClass(Kind.TRUCK, 5.6, 2.0, 0.10),
    VehicleClass(Kind.MOTORCYCLE, 2.2, 0.8, 0.08),
)
SIDE_ROOM_M = 0.4
"""A lane must be this much wider than the vehicle."""
LANE_ROOM_M = 6.0
"""A vehicle appears on a lane that is this much longer than itself."""


class SpawnPlaces(NamedTuple):
    """Where vehicles may appear: lanes with the cumulated share of each, circles (x, y, radius) to stay out of, and
    circles one of which is to be kept within, if there are any.
    """

    lanes: Int32Array
    shares: FloatArray
    circles: FloatArray
    within: FloatArray


def draw_sizes(fleet: Fleet, rows: range, spread: float, share: float) -> Int32Array:
    """Draw class and eagerness of vehicles; returns their kinds (N,) for the whole fleet."""
    kinds = np.full(len(fleet.car), int(Kind.CAR), dtype=np.int32)
    for i in rows:
        pick = draw(fleet, i)
        for size in VEHICLE_CLASSES:
            if pick < size.share:
                break
            pick -= size.share
        kinds[i] = size.kind
        fleet.car.length[i], fleet.car.width[i] = size.length, size.width
        fleet.car.share[i] = share * (1.0 + spread * (2.0 * draw(fleet, i) - 1.0))
    return kinds


ANYWHERE = np.zeros((0, 3))


def spawn_places(graph: TrafficLaneGraph, circles: FloatArray, within: FloatArray = ANYWHERE) -> SpawnPlaces:
    """All lanes outside junctions that lead somewhere, weighted by their length."""
    room = np.maximum(graph.lane.length - min(size.length for size in VEHICLE_CLASSES) - LANE_ROOM_M, 0.0)
    room[
        (graph.lane.junction >= 0) | (graph.lane.width < min(size.width for size in VEHICLE_CLASSES) + SIDE_ROOM_M)
    ] = 0.0
    endless = np.where(graph.lane.endless, room, 0.0)
    weights = endless if endless.sum() > 0.0 else room
    lanes = np.flatnonzero(weights).astype(np.int32)
    outside, inside = (np.ascontiguousarray(each, dtype=np.float64).reshape(-1, 3) for each in (circles, within))
    return SpawnPlaces(lanes, np.cumsum(weights[lanes]), outside, inside)


def places_taken(other_boxes: FloatArray, gap: float) -> FloatArray:
    """Circles (K, 3) around what other agents are now (M, 10: as for `TrafficManager.step`): a vehicle with its centre
    outside has a gap (m) to them, whatever its class.
    """
    now = other_boxes[other_boxes[:, 7] == 0.0]
    longest = max(size.length for size in VEHICLE_CLASSES)
    return np.column_stack((now[:, :2], 0.5 * (np.max(now[:, 4:6], axis=1) + longest) + gap))


def capacity(graph: TrafficLaneGraph, gap: float) -> int:
    """How many vehicles the lanes take without filling up, a gap (m) between one and the next."""
    mean = math.fsum(size.length * size.share for size in VEHICLE_CLASSES)
    room = graph.lane.length[graph.lane.junction < 0].sum()
    return int(room / (mean + gap))


@kernel
def clear_of(fleet: Fleet, i: int, x: float, y: float, heading: float, ahead: float, behind: float) -> bool:
    """Whether a place in a lane is free for vehicle `i`, from `behind` to `ahead` (m) of it."""
    s, c = elementary.sin_cos(heading)
    for j in range(len(fleet.car)):
        if j == i or fleet.car.mode[j] == OFF:
            continue
        dx, dy = fleet.car.x[j] - x, fleet.car.y[j] - y
        along, across = c * dx + s * dy, c * dy - s * dx
        reach = 0.5 * (fleet.car.length[i] + fleet.car.length[j])
        if -reach - behind < along < reach + ahead and abs(across) < 0.5 * (fleet.car.width[i] + fleet.car.length[j]):
            return False
    return True


@kernel
def _in_any(circles: FloatArray, x: float, y: float) -> bool:
    inside = 0
    for k in range(len(circles)):
        inside += elementary.hypot(x - circles[k, 0], y - circles[k, 1]) < circles[k, 2]
    return inside > 0


@kernel
def put_on_lane(graph: TrafficLaneGraph, fleet: Fleet, i: int, lane: int, s: float, v: float) -> None:
    """Put vehicle `i` on the road with its centre at `s` of a lane; its path is that lane and grows from there."""
    fleet.path_lane[i, 0] = lane
    fleet.path_at[i, 0], fleet.path_at[i, 1] = -s, graph.lane.length[lane] - s
    fleet.car.path_count[i] = 1
    fleet.car.arc[i], fleet.car.v[i], fleet.car.a[i], fleet.car.commanded[i] = 0.0, v, 0.0, 0.0
    fleet.car.x[i], fleet.car.y[i], fleet.car.heading[i] = lane_point(graph, lane, s)
    fleet.car.offset_time[i] = np.inf
    fleet.car.cleared[i], fleet.car.stopped_at[i] = -np.inf, -np.inf
    fleet.car.arrived[i], fleet.car.standing[i] = np.inf, 0.0
    fleet.car.offset_from[i] = fleet.car.offset_to[i] = fleet.rules.offset[i]
    fleet.car.mode[i], fleet.car.physical[i] = ROAMING, False


@kernel
def try_spawn(graph: TrafficLaneGraph, fleet: Fleet, i: int, where: SpawnPlaces, gap: float) -> bool:
    """Try to put vehicle `i` on the road, standing, at a place drawn by its own generator; nothing happens where there
    is no room with `gap` (m) to other vehicles.
    """
    if len(where.lanes) == 0:
        return False
    pick = draw(fleet, i) * where.shares[-1]
    share = draw(fleet, i)
    lane = where.lanes[min(np.searchsorted(where.shares, pick, side="right"), len(where.lanes) - 1)]
    free = graph.lane.length[lane] - fleet.car.length[i] - LANE_ROOM_M
    if free < 0.0 or graph.lane.width[lane] < fleet.car.width[i] + SIDE_ROOM_M:
        return False
    s = 0.5 * (graph.lane.length[lane] - free) + share * free
    x, y, heading = lane_point(graph, lane, s)
    if _in_any(where.circles, x, y) or (len(where.within) > 0 and not _in_any(where.within, x, y)):
        return False
    if not clear_of(fleet, i, x, y, heading, gap, gap):
        return False
    put_on_lane(graph, fleet, i, lane, s, 0.0)
    return True


DORMANT_GAP_M = 8.0
STUCK, MISSING, DORMANCY, PHYSICS = 1, 2, 4, 8
"""What `check_population` finds: a vehicle that stands for too long, that is off the road, that is dormant or far away,
or that is to have dynamics and has none or the other way round.
"""
LEAST_RESPAWN_M = 20.0


@dataclass(frozen=True)
class HybridPhysics:
    """How a traffic manager treats vehicles far from any ego (CARLA's hybrid physics mode). `hybrid`: beyond `radius`
    (m) they move without dynamics. Beyond `active` they are dormant; with `respawn` they come back between `nearest`
    and `farthest`.

    Raises:
        InputError: bounds that are not in order, or nearer than 20 m.
    """

    hybrid: bool = True
    radius: float = 50.0
    active: float = 2000.0
    respawn: bool = False
    nearest: float = 25.0
    farthest: float = 700.0

    def __post_init__(self) -> None:
        if not LEAST_RESPAWN_M <= self.nearest < self.farthest <= self.active:
            raise InputError(
                "traffic.respawn", f"{self.nearest:g} to {self.farthest:g} m",
                f"at least {LEAST_RESPAWN_M:g} m, in order, at most {self.active:g} m",
            )  # fmt: skip


def hybrid_physics(p: TrafficManagerParameters) -> HybridPhysics:
    """What the parameters say of vehicles far from the ego."""
    return HybridPhysics(
        p.hybrid_physics, p.hybrid_radius, p.sleep_distance, p.respawn_sleepers, p.respawn_nearest, p.respawn_farthest
    )


@inlined_kernel
def _hero_distance(car: Any, heroes: FloatArray) -> float:
    """Distance of a vehicle from the nearest hero (K, 2), inf where there is none, m."""
    away = np.inf
    for k in range(len(heroes)):
        away = min(away, elementary.hypot(car.x - heroes[k, 0], car.y - heroes[k, 1]))
    return away


@kernel
def check_population(fleet: Fleet, heroes: FloatArray, hybrid: FloatArray, patience: float) -> int:
    """What there is to do at the beginning of a frame, as bits; in most there is nothing.

    Args:
        fleet: all vehicles.
        heroes: (K, 2), m.
        hybrid: for every owner the radius within which there are dynamics, and beyond which vehicles are dormant, m.
        patience: standing longer than this is too long, s.
    """
    found = 0
    for i in range(len(fleet.car)):
        car = fleet.car[i]
        if car.mode == OFF:
            found |= DORMANCY if car.dormant_mode != OFF else MISSING
            continue
        if car.standing > patience:
            found |= STUCK
        if car.owner < 0:
            continue
        away = _hero_distance(car, heroes)
        if (away <= hybrid[car.owner, 0]) != car.physical:
            found |= PHYSICS
        if car.mode == ROAMING and len(heroes) > 0 and away > hybrid[car.owner, 1]:
            found |= DORMANCY
    return found


@kernel
def remove_stuck(fleet: Fleet, heroes: FloatArray, first: int, patience: float, distance: float) -> int:
    """Remove, from the `first` vehicle on, all that stand for longer than `patience` (s) farther than `distance` (m)
    from all heroes (K, 2). Returns how many.
    """
    count = 0
    for i in range(first, len(fleet.car)):
        car = fleet.car[i]
        if car.mode == ROAMING and car.standing > patience and _hero_distance(car, heroes) > distance:
            car.mode = OFF
            count += 1
    return count


def hybrid_radii(hybrid: Sequence[HybridPhysics]) -> FloatArray:
    """The table for `check_population`."""
    return np.array([(term.radius if term.hybrid else np.inf, term.active) for term in hybrid])


def hero_distances(fleet: Fleet, heroes: FloatArray) -> FloatArray:
    """Distance of every vehicle from the nearest hero (K, 2), inf where there is none, m."""
    dx, dy = (fleet.car[name][:, None] - heroes[None, :, axis] for axis, name in enumerate(("x", "y")))
    return np.asarray(np.min(elementwise.hypot(dx, dy), axis=1, initial=np.inf))


def switch_physics(fleet: Fleet, hybrid: Sequence[HybridPhysics], away: FloatArray) -> None:
    """Vehicles within the radius of any hero get dynamics, all else lose them; without hybrid mode all have them."""
    on_road = fleet.car.mode != OFF
    for owner, term in enumerate(hybrid):
        near = away <= term.radius if term.hybrid else np.ones(len(away), dtype=np.bool_)
        mine = on_road & (fleet.car.owner == owner)
        for i in np.flatnonzero(mine & near & ~fleet.car.physical):
            start_dynamics(fleet, i)
        fleet.car.physical[mine & ~near] = False


def update_dormant(
    graph: TrafficLaneGraph,
    fleet: Fleet,
    hybrid: Sequence[HybridPhysics],
    heroes: FloatArray,
    taken: FloatArray,
    dt: float,
) -> BoolArray:
    """Make vehicles dormant, wake, respawn or teleport them along, none into circles (K, 3) that are taken; returns
    which woke or respawned.
    """
    away = hero_distances(fleet, heroes)
    woken = np.zeros(len(away), dtype=np.bool_)
    for owner, term in enumerate(hybrid):
        mine = fleet.car.owner == owner
        far = mine & (fleet.car.mode == ROAMING) & (away > term.active) & (len(heroes) > 0)
        fleet.car.dormant_mode[far] = fleet.car.mode[far]
        fleet.car.mode[far], fleet.car.physical[far] = OFF, False
        dormant = np.flatnonzero(mine & (fleet.car.dormant_mode != OFF))
        if len(dormant) == 0:
            continue
        where = spawn_places(graph, np.vstack((around(heroes, term.nearest), taken)), around(heroes, term.farthest))
        for i in dormant:
            if away[i] <= term.active:
                woken[i] = wake_dormant(fleet, i, taken)
            elif term.respawn and try_spawn(graph, fleet, i, where, DORMANT_GAP_M):
                fleet.car.dormant_mode[i], woken[i] = OFF, True
            elif term.hybrid and not term.respawn:
                teleport_dormant(graph, fleet, i, dt)
    return woken


def around(heroes: FloatArray, radius: float) -> FloatArray:
    """Circles (K, 3) of a radius (m) around heroes (K, 2)."""
    return np.column_stack((heroes, np.full(len(heroes), radius)))


@kernel
def wake_dormant(fleet: Fleet, i: int, taken: FloatArray) -> bool:
    """Back on the road where it is, if there is room outside circles (K, 3) that are taken."""
    car = fleet.car
    if _in_any(taken, car.x[i], car.y[i]) or not clear_of(
        fleet, i, car.x[i], car.y[i], car.heading[i], DORMANT_GAP_M, DORMANT_GAP_M
    ):
        return False
    car.mode[i], car.dormant_mode[i], car.cleared[i], car.arrived[i] = car.dormant_mode[i], 0, -np.inf, np.inf
    return True


@kernel
def teleport_dormant(graph: TrafficLaneGraph, fleet: Fleet, i: int, dt: float) -> None:
    """Teleport a dormant vehicle along its path as far as it would drive; at a dead end it leaves the road."""
    car = fleet.car
    lane = fleet.path_lane[i, path_index(fleet, i, car.arc[i])]
    car.v[i] = graph.lane.limit[lane] * car.share[i]
    car.arc[i] += car.v[i] * dt
    update_path(graph, fleet, i, True)
    if car.arc[i] + 0.5 * car.length[i] >= fleet.path_at[i, car.path_count[i]]:
        car.dormant_mode[i] = 0
        return
    car.x[i], car.y[i], car.heading[i] = path_point(graph, fleet, i, car.arc[i], car.offset_to[i])
