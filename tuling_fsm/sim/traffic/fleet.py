"""All vehicles of the traffic as a structure of arrays.

A vehicle rides along the centres of a chain of lanes, its path. `arc` is the distance of its centre along that path
since it was put on the road; the path keeps the lanes that the tail still touches. Its two axles stand on the path,
so the body cuts corners as a car does and turns smoothly over kinks of the map.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.sim.traffic.lane_graph import Records, TrafficLaneGraph, lane_point

PATH_LANES = 64
"""Most lanes in a path."""
AXLE_SHARE = 0.3
"""Axles stand this share of the length before and behind the centre."""

OFF, ROAMING, GIVEN_PATH = 0, 1, 2
"""Modes: not on the road; driving on at random; along a given path that ends."""
NO_OWNER = -1
"""Owner of the scenario's vehicles."""


CAR = np.dtype(
    [
        ("mode", "i4"), ("path_count", "i4"), ("length", "f8"), ("width", "f8"), ("share", "f8"),
        ("wanted", "f8"), ("rate", "f8"), ("arc", "f8"), ("v", "f8"), ("a", "f8"), ("commanded", "f8"),
        ("x", "f8"), ("y", "f8"), ("z", "f8"), ("heading", "f8"), ("offset_from", "f8"),
        ("offset_to", "f8"), ("offset_time", "f8"), ("random", "u8"), ("cleared", "f8"), ("arrived", "f8"),
        ("stopped_at", "f8"), ("standing", "f8"), ("physical", "?"), ("steer", "f8"), ("error", "f8"),
        ("error_sum", "f8"), ("target", "f8"), ("lag_sum", "f8"), ("dormant_mode", "i4"), ("turn_at", "i4"),
        ("owner", "i4"), ("lights", "i4"), ("key", "u8"), ("cos", "f8"), ("sin", "f8"),
    ],
    align=True,
)  # fmt: skip
"""A vehicle. Body and driver: `mode`, `length`, `width` (m), `share` of the speed limit, `wanted` speed instead (m/s,
NaN for none) and the `rate` at which that is approached (m/s^2, inf for the driver's own). Motion: `arc` (m), `v`, `a`,
which the driver has last `commanded`, and the pose of the centre. The path has `path_count` lanes; beside it
`offset_from` to `offset_to` (m, + left), `offset_time` seconds into that movement. `random` is the state of its own
generator. Right of way: arc up to which junctions are `cleared`, when it `arrived` at the one that it waits for (s, inf
for none), arc of the stop sign that it last `stopped_at`, seconds `standing` without a red light. Dynamics, while it is
`physical`: angle of the front wheels `steer` (rad), last heading `error` to the point ahead and its sum over time,
`target` speed and the sum of what it lags behind that. `dormant_mode` is the mode that a dormant vehicle had before, 0
while it is not dormant. `turn_at` is the place of its next turn in the route, `owner` the traffic manager that it
belongs to, `lights` those that are on; what it ignores is drawn from `key`. `cos` and `sin` are those of the heading at
the beginning of the frame.
"""
RULES = np.dtype(
    [
        ("gap", "f8"), ("ignore_lights", "f8"), ("ignore_signs", "f8"), ("ignore_vehicles", "f8"),
        ("ignore_walkers", "f8"), ("offset", "f8"), ("keep_right", "f8"), ("auto_change", "?"), ("show_lights", "?"),
    ],
    align=True,
)  # fmt: skip
"""What a traffic manager has set for a vehicle (TM-2): `gap` to the leading vehicle at standstill (m); shares 0 to 1 of
the lights, signs, vehicles and walkers that are ignored; `offset` from the middle of its lane (m, + left); the chance
of moving to the right where it may; whether it changes lanes by itself, and whether its lights are updated.
"""


class Fleet(NamedTuple):
    """N vehicles and their rules; `path_lane` (N, `PATH_LANES`) are the lanes of the paths, `path_at` the arcs at which
    they start, and the end; `turns` (N, `TURNS`) are those still to be taken at junctions: 1 left, 0 straight on,
    -1 right, `ANY` for whatever comes.
    """

    car: Records
    rules: Records
    turns: Int32Array
    path_lane: Int32Array
    path_at: FloatArray


TURNS = 64
"""Most turns of a route."""
ANY = 9


def new_fleet(seeds: npt.NDArray[np.uint64]) -> Fleet:
    """A fleet of vehicles that are not on the road yet, one for each seed."""
    n = len(seeds)
    car = np.zeros(n, CAR).view(np.recarray)
    car["length"], car["width"], car["share"], car["random"] = 4.5, 1.85, 0.7, seeds
    car["key"] = seeds
    car["wanted"], car["rate"], car["offset_time"], car["arrived"] = np.nan, np.inf, np.inf, np.inf
    car["cleared"], car["stopped_at"] = -np.inf, -np.inf
    rules = np.zeros(n, RULES).view(np.recarray)
    rules["gap"], rules["auto_change"] = 2.0, True
    turns = np.full((n, TURNS), ANY, np.int32)
    return Fleet(car, rules, turns, np.zeros((n, PATH_LANES), np.int32), np.zeros((n, PATH_LANES + 1)))


def joined(one: Fleet, other: Fleet) -> Fleet:
    """The vehicles of both, one after the other."""

    def both(pair: tuple[Any, Any]) -> Any:
        return np.concatenate(pair).view(type(pair[0]))

    return Fleet(*map(both, zip(one, other, strict=True)))


@kernel
def draw(fleet: Fleet, i: int) -> float:
    """The next number in [0, 1) of the generator of vehicle `i` (SplitMix64, [steele2014][])."""
    fleet.car.random[i] += np.uint64(0x9E3779B97F4A7C15)
    z = fleet.car.random[i]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@inlined_kernel
def ignores(fleet: Fleet, i: int, share: float, what: int) -> bool:
    """Whether vehicle `i`, which ignores a share of a kind of things, ignores this one; the same answer every time."""
    if share <= 0.0:
        return False
    z = (np.uint64(what) + np.uint64(i + 1) * np.uint64(0xD1342543DE82EF95)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30)) ^ fleet.car.key[i]) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0 < share


@inlined_kernel
def path_index(fleet: Fleet, i: int, arc: float) -> int:
    """Which lane of the path lies at an arc (m), clamped to its ends."""
    k = 0
    while k + 1 < fleet.car.path_count[i] and fleet.path_at[i, k + 1] <= arc:
        k += 1
    return k


@inlined_kernel
def offset_at(fleet: Fleet, i: int, ahead_s: float, duration: float) -> float:
    """Lateral offset (m, + left) in `ahead_s` seconds: a smooth step from the old offset to the new that takes
    `duration` (s).
    """
    u = (fleet.car.offset_time[i] + ahead_s) / duration
    if u >= 1.0:
        return float(fleet.car.offset_to[i])
    u = max(u, 0.0)
    blend = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)
    return float(fleet.car.offset_from[i] + blend * (fleet.car.offset_to[i] - fleet.car.offset_from[i]))


@inlined_kernel
def path_point(graph: TrafficLaneGraph, fleet: Fleet, i: int, arc: float, offset: float) -> tuple[float, float, float]:
    """x, y, heading of the path of vehicle `i` at an arc (m), moved `offset` (m) to the left."""
    k = path_index(fleet, i, arc)
    x, y, heading = lane_point(graph, fleet.path_lane[i, k], arc - fleet.path_at[i, k])
    if offset != 0.0:
        sine, cosine = elementary.sin_cos(heading)
        x, y = x - offset * sine, y + offset * cosine
    return x, y, heading


@inlined_kernel
def nearest_sample(graph: TrafficLaneGraph, fleet: Fleet, i: int, arc: float) -> int:
    """The sample of the lane graph at an arc (m) along the path of vehicle `i`."""
    k = path_index(fleet, i, arc)
    lane = fleet.path_lane[i, k]
    position = round((arc - fleet.path_at[i, k]) / max(graph.lane.step[lane], 1e-9))
    return int(min(max(graph.lane.at[lane] + position, graph.lane.at[lane]), graph.lane.end[lane] - 1))


@kernel
def set_poses(graph: TrafficLaneGraph, fleet: Fleet, duration: float) -> None:
    """Put every body without dynamics where its path says; a lane change takes `duration` (s)."""
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] == 0 or fleet.car.physical[i]:
            continue
        axle = AXLE_SHARE * fleet.car.length[i]
        lead = axle / max(fleet.car.v[i], 1.0)
        rear_x, rear_y, _ = path_point(graph, fleet, i, fleet.car.arc[i] - axle, offset_at(fleet, i, -lead, duration))
        front_x, front_y, _ = path_point(graph, fleet, i, fleet.car.arc[i] + axle, offset_at(fleet, i, lead, duration))
        fleet.car.x[i], fleet.car.y[i] = 0.5 * (rear_x + front_x), 0.5 * (rear_y + front_y)
        fleet.car.heading[i] = elementary.atan2(front_y - rear_y, front_x - rear_x)
        fleet.car.z[i] = graph.sample.z[nearest_sample(graph, fleet, i, fleet.car.arc[i])]
