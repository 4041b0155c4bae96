"""Part of the first stage: who moves with dynamics, and who sleeps because no ego is near (TM-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.sim.parameters import TrafficParameters
from tuling_fsm.sim.traffic.dynamics import take_wheel
from tuling_fsm.sim.traffic.fleet import LANES, OFF, Fleet, path_index, path_point
from tuling_fsm.sim.traffic.lane_graph import BoolArray, LaneGraph
from tuling_fsm.sim.traffic.lifecycle import appear, clear_of, places
from tuling_fsm.sim.traffic.localization import keep_path

WAKE_GAP_M = 8.0
STUCK, MISSING, RESTLESS, SWITCHED = 1, 2, 4, 8
"""What `look_round` finds: somebody who stands for too long, is off the road, sleeps or is tired, or is to have
dynamics and has none or the other way round.
"""
LEAST_RESPAWN_M = 20.0


@dataclass(frozen=True)
class Terms:
    """How a traffic manager treats vehicles far from any ego. `hybrid`: those farther than `radius` (m) move without
    dynamics. Those farther than `active` sleep; with `respawn` they come back between `nearest` and `farthest`.

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


def terms_of(p: TrafficParameters) -> Terms:
    """What the parameters say of vehicles far from the ego."""
    return Terms(
        p.hybrid_physics, p.hybrid_radius, p.sleep_distance, p.respawn_sleepers, p.respawn_nearest, p.respawn_farthest
    )


@part
def _away(car: Any, heroes: FloatArray) -> float:
    """Distance of a vehicle from the nearest hero (K, 2), inf where there is none, m."""
    away = np.inf
    for k in range(len(heroes)):
        away = min(away, elementary.hypot(car.x - heroes[k, 0], car.y - heroes[k, 1]))
    return away


@kernel
def look_round(fleet: Fleet, heroes: FloatArray, terms: FloatArray, patience: float) -> int:
    """What there is to do at the beginning of a frame, as bits; in most there is nothing.

    Args:
        fleet: everybody.
        heroes: (K, 2), m.
        terms: for every owner the radius within which there are dynamics, and that beyond which one sleeps, m.
        patience: standing longer than this is too long, s.
    """
    found = 0
    for i in range(len(fleet.car)):
        car = fleet.car[i]
        if car.mode == OFF:
            found |= RESTLESS if car.asleep != OFF else MISSING
            continue
        if car.standing > patience:
            found |= STUCK
        if car.owner < 0:
            continue
        away = _away(car, heroes)
        if (away <= terms[car.owner, 0]) != car.physical:
            found |= SWITCHED
        if car.mode == LANES and len(heroes) > 0 and away > terms[car.owner, 1]:
            found |= RESTLESS
    return found


@kernel
def take_off_stuck(fleet: Fleet, heroes: FloatArray, first: int, patience: float, distance: float) -> int:
    """Take off, from the `first` vehicle on, who stands for longer than `patience` (s) farther than `distance` (m) from
    all heroes (K, 2). Returns how many.
    """
    count = 0
    for i in range(first, len(fleet.car)):
        car = fleet.car[i]
        if car.mode == LANES and car.standing > patience and _away(car, heroes) > distance:
            car.mode = OFF
            count += 1
    return count


def radii(terms: Sequence[Terms]) -> FloatArray:
    """The table for `look_round`."""
    return np.array([(term.radius if term.hybrid else np.inf, term.active) for term in terms])


def distances(fleet: Fleet, heroes: FloatArray) -> FloatArray:
    """Distance of every vehicle from the nearest hero (K, 2), inf where there is none, m."""
    dx, dy = (fleet.car[name][:, None] - heroes[None, :, axis] for axis, name in enumerate(("x", "y")))
    return np.asarray(np.min(elementwise.hypot(dx, dy), axis=1, initial=np.inf))


def switch_physics(fleet: Fleet, terms: Sequence[Terms], away: FloatArray) -> None:
    """Vehicles within the radius of any hero get dynamics, the others lose them; without hybrid mode all have them."""
    on_road = fleet.car.mode != OFF
    for owner, term in enumerate(terms):
        near = away <= term.radius if term.hybrid else np.ones(len(away), dtype=np.bool_)
        mine = on_road & (fleet.car.owner == owner)
        for i in np.flatnonzero(mine & near & ~fleet.car.physical):
            take_wheel(fleet, i)
        fleet.car.physical[mine & ~near] = False


def rest(graph: LaneGraph, fleet: Fleet, terms: Sequence[Terms], heroes: FloatArray, dt: float) -> BoolArray:
    """Put to sleep, wake, respawn or teleport along; returns who woke or respawned."""
    away = distances(fleet, heroes)
    woken = np.zeros(len(away), dtype=np.bool_)
    for owner, term in enumerate(terms):
        mine = fleet.car.owner == owner
        tired = mine & (fleet.car.mode == LANES) & (away > term.active) & (len(heroes) > 0)
        fleet.car.asleep[tired] = fleet.car.mode[tired]
        fleet.car.mode[tired], fleet.car.physical[tired] = OFF, False
        sleepers = np.flatnonzero(mine & (fleet.car.asleep != OFF))
        if len(sleepers) == 0:
            continue
        where = places(graph, _rings(heroes, term.nearest), _rings(heroes, term.farthest))
        for i in sleepers:
            if away[i] <= term.active:
                woken[i] = wake(graph, fleet, i)
            elif term.respawn and appear(graph, fleet, i, where, WAKE_GAP_M):
                fleet.car.asleep[i], woken[i] = OFF, True
            elif term.hybrid and not term.respawn:
                drift(graph, fleet, i, dt)
    return woken


def _rings(heroes: FloatArray, radius: float) -> FloatArray:
    return np.column_stack((heroes, np.full(len(heroes), radius)))


@kernel
def wake(graph: LaneGraph, fleet: Fleet, i: int) -> bool:
    """Back on the road where it is, if there is room."""
    car = fleet.car
    if not clear_of(fleet, i, car.x[i], car.y[i], car.heading[i], WAKE_GAP_M, WAKE_GAP_M):
        return False
    car.mode[i], car.asleep[i], car.cleared[i], car.arrived[i] = car.asleep[i], 0, -np.inf, np.inf
    return True


@kernel
def drift(graph: LaneGraph, fleet: Fleet, i: int, dt: float) -> None:
    """Teleport a sleeper along its path as far as it would drive; at a dead end it leaves the road."""
    car = fleet.car
    lane = fleet.path_lane[i, path_index(fleet, i, car.arc[i])]
    car.v[i] = graph.lane.limit[lane] * car.share[i]
    car.arc[i] += car.v[i] * dt
    keep_path(graph, fleet, i, True)
    if car.arc[i] + 0.5 * car.length[i] >= fleet.path_at[i, car.path_count[i]]:
        car.asleep[i] = 0
        return
    car.x[i], car.y[i], car.heading[i] = path_point(graph, fleet, i, car.arc[i], car.offset_to[i])
