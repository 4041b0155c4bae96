"""Last stage: lights of the vehicles, by what they do, where they turn next and what the weather is (TM-1)."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.traffic.fleet import Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import LaneGraph

POSITION, LOW_BEAM, BRAKE, RIGHT, LEFT, FOG = 1, 2, 8, 16, 32, 128
"""Bits of the lights that are on, as CARLA's vehicle light state has them."""
BRAKING = -0.5
"""Braking harder than this (m/s^2), or standing, shows."""
STANDING = 0.1
INDICATE_M = 40.0
"""A turn at a junction is shown from this far before it."""
CHANGING_M = 0.3


class Weather(NamedTuple):
    """What lights depend on: darkness, heavy rain, dense fog."""

    dark: bool = False
    rain: bool = False
    fog: bool = False


@kernel
def _turn_ahead(graph: LaneGraph, fleet: Fleet, i: int) -> int:
    """Where vehicle `i` turns in its junction or the next one that is near: 1 left, -1 right."""
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    for k in range(path_index(fleet, i, fleet.car.arc[i]), fleet.car.path_count[i]):
        if fleet.path_at[i, k] > front + INDICATE_M:
            return 0
        lane = fleet.path_lane[i, k]
        if graph.lane.junction[lane] >= 0:
            return int(graph.lane.turn[lane])
    return 0


@kernel
def work_lights(graph: LaneGraph, fleet: Fleet, weather: Weather, duration: float) -> None:
    """The stage: set the lights of all vehicles whose lights are worked."""
    around = 0
    if weather.dark or weather.rain:
        around |= POSITION | LOW_BEAM
    if weather.fog:
        around |= POSITION | LOW_BEAM | FOG
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] == 0 or not fleet.rules.show_lights[i]:
            continue
        on = around
        if fleet.car.a[i] < BRAKING or fleet.car.v[i] < STANDING:
            on |= BRAKE
        side = float(_turn_ahead(graph, fleet, i))
        change = fleet.car.offset_to[i] - fleet.car.offset_from[i]
        if fleet.car.offset_time[i] < duration and abs(change) > CHANGING_M:
            side = change
        if side > 0.0:
            on |= LEFT
        elif side < 0.0:
            on |= RIGHT
        fleet.car.lights[i] = on
