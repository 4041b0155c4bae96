"""All vehicles of the traffic as a structure of arrays.

A vehicle rides along the centres of a chain of lanes, its path. `arc` is the distance of its centre along that path
since it was put on the road; the path keeps the lanes that the tail still touches. Its two axles stand on the path,
so the body cuts corners as a car does and turns smoothly over kinks of the map.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.sim.traffic.lane_graph import IntArray, LaneGraph, lane_point

PATH_LANES = 64
"""Most lanes in a path."""
AXLE_SHARE = 0.3
"""Axles stand this share of the length before and behind the centre."""

OFF, LANES, RAILS = 0, 1, 2
"""Modes: not on the road; driving on at random; along a given path that ends."""


class Fleet(NamedTuple):
    """N vehicles; `path_lane` and `path_at` are (N, `PATH_LANES`), the rest (N,)."""

    mode: IntArray
    length: FloatArray
    width: FloatArray
    share: FloatArray
    """Of the speed limit."""
    wanted: FloatArray
    """Speed to drive instead (m/s), NaN for none."""
    rate: FloatArray
    """Acceleration with which `wanted` is approached (m/s^2), inf for the driver's own."""
    arc: FloatArray
    v: FloatArray
    a: FloatArray
    x: FloatArray
    y: FloatArray
    z: FloatArray
    heading: FloatArray
    path_lane: IntArray
    path_at: FloatArray
    """Arc at which each lane of the path starts; one more entry than lanes counts: the end."""
    path_count: IntArray
    offset_from: FloatArray
    offset_to: FloatArray
    """Lateral offset (m, + left) before and after the lateral movement under way ..."""
    offset_time: FloatArray
    """... and for how long that has been under way, s."""
    random: npt.NDArray[np.uint64]
    """State of each vehicle's own generator."""
    cleared: FloatArray
    """Arc up to which junctions may be entered."""
    arrived: FloatArray
    """When it came to the junction that it waits for (s), inf when it waits for none."""
    stopped_at: FloatArray
    """Arc of the stop sign last heeded, -inf for none."""
    standing: FloatArray
    """For how long it has stood without a red light (s)."""


def new_fleet(seeds: npt.NDArray[np.uint64]) -> Fleet:
    """A fleet of vehicles that are not on the road yet, one for each seed."""
    n = len(seeds)

    def full(value: float) -> FloatArray:
        return np.full(n, value)

    return Fleet(
        mode=np.zeros(n, np.int32),
        length=full(4.5),
        width=full(1.85),
        share=full(0.7),
        wanted=full(np.nan),
        rate=full(np.inf),
        arc=full(0.0),
        v=full(0.0),
        a=full(0.0),
        x=full(0.0),
        y=full(0.0),
        z=full(0.0),
        heading=full(0.0),
        path_lane=np.zeros((n, PATH_LANES), np.int32),
        path_at=np.zeros((n, PATH_LANES + 1)),
        path_count=np.zeros(n, np.int32),
        offset_from=full(0.0),
        offset_to=full(0.0),
        offset_time=full(np.inf),
        random=seeds.copy(),
        cleared=full(-np.inf),
        arrived=full(np.inf),
        stopped_at=full(-np.inf),
        standing=full(0.0),
    )


@njit(cache=True)
def draw(random: npt.NDArray[np.uint64], i: int) -> float:
    """The next number in [0, 1) of generator `i` (SplitMix64, Steele et al. 2014)."""
    random[i] += np.uint64(0x9E3779B97F4A7C15)
    z = random[i]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True)
def path_index(fleet: Fleet, i: int, arc: float) -> int:
    """Which lane of the path lies at an arc, clamped to its ends."""
    k = 0
    while k + 1 < fleet.car.path_count[i] and fleet.path_at[i, k + 1] <= arc:
        k += 1
    return k


@njit(cache=True)
def offset_at(fleet: Fleet, i: int, ahead_s: float, duration: float) -> float:
    """Lateral offset in `ahead_s` seconds: a smooth step from the old offset to the new."""
    u = (fleet.car.offset_time[i] + ahead_s) / duration
    if u >= 1.0:
        return float(fleet.car.offset_to[i])
    u = max(u, 0.0)
    blend = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)
    return float(fleet.car.offset_from[i] + blend * (fleet.car.offset_to[i] - fleet.car.offset_from[i]))


@njit(cache=True)
def path_point(graph: LaneGraph, fleet: Fleet, i: int, arc: float, offset: float) -> tuple[float, float, float]:
    """x, y, heading of the path of vehicle `i` at an arc, moved `offset` to the left."""
    k = path_index(fleet, i, arc)
    x, y, heading = lane_point(graph, fleet.path_lane[i, k], arc - fleet.path_at[i, k])
    return x - offset * math.sin(heading), y + offset * math.cos(heading), heading


@njit(cache=True)
def nearest_sample(graph: LaneGraph, fleet: Fleet, i: int) -> int:
    """The sample of the lane graph at the centre of vehicle `i`."""
    k = path_index(fleet, i, fleet.car.arc[i])
    lane = fleet.path_lane[i, k]
    position = round((fleet.car.arc[i] - fleet.path_at[i, k]) / max(graph.lane.step[lane], 1e-9))
    return int(min(max(graph.lane.at[lane] + position, graph.lane.at[lane]), graph.lane.end[lane] - 1))


@njit(cache=True)
def set_poses(graph: LaneGraph, fleet: Fleet, duration: float) -> None:
    """Put every body where its path says."""
    for i in range(len(fleet.car.mode)):
        if fleet.car.mode[i] == 0:
            continue
        axle = AXLE_SHARE * fleet.car.length[i]
        lead = axle / max(fleet.car.v[i], 1.0)
        rear_x, rear_y, _ = path_point(graph, fleet, i, fleet.car.arc[i] - axle, offset_at(fleet, i, -lead, duration))
        front_x, front_y, _ = path_point(graph, fleet, i, fleet.car.arc[i] + axle, offset_at(fleet, i, lead, duration))
        fleet.car.x[i], fleet.car.y[i] = 0.5 * (rear_x + front_x), 0.5 * (rear_y + front_y)
        fleet.car.heading[i] = math.atan2(front_y - rear_y, front_x - rear_x)
        fleet.car.z[i] = graph.sample.z[nearest_sample(graph, fleet, i)]
