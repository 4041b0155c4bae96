"""The stages of one frame, each over all vehicles at once, up to the lights of the vehicles (TM-1).

Lifecycle and state come first (`manager`, `population`); then the buffered paths (`localization`, `lane_change`), what
is in the way (`collision`), lights, signs and junctions (`right_of_way`), motion (`motion`) and the lights of the
vehicles (here). No stage begins before the one before it is through with all vehicles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.sim.traffic.collision import AHEAD, IdmParameters, ObstacleStage, detect_obstacles
from tuling_fsm.sim.traffic.fleet import Fleet, path_index, set_poses
from tuling_fsm.sim.traffic.lane_change import change_lanes
from tuling_fsm.sim.traffic.lane_graph import Records, TrafficLaneGraph
from tuling_fsm.sim.traffic.localization import localize
from tuling_fsm.sim.traffic.motion import move
from tuling_fsm.sim.traffic.right_of_way import (
    LANE_OCCUPANCY,
    STOP_POINTS,
    JunctionRequest,
    JunctionStage,
    manage_junctions,
    obey_traffic_controls,
)
from tuling_fsm.sim.traffic.spatial_grid import BOX, gather_boxes, sort_into_cells

POSITION, LOW_BEAM, BRAKE, RIGHT, LEFT, FOG = 1, 2, 8, 16, 32, 128
"""Bits of the lights that are on, as CARLA's vehicle light state has them."""
BRAKING = -0.5
"""Braking harder than this (m/s^2), or standing, shows."""
STANDING = VEHICLE_STANDS
INDICATE_M = 40.0
"""A turn at a junction is shown from this far before it."""
CHANGING_M = 0.3


class LightConditions(NamedTuple):
    """What lights depend on: darkness, heavy rain, dense fog."""

    dark: bool = False
    rain: bool = False
    fog: bool = False


@kernel
def _turn_ahead(graph: TrafficLaneGraph, fleet: Fleet, i: int) -> int:
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
def update_lights(graph: TrafficLaneGraph, fleet: Fleet, weather: LightConditions, duration: float) -> None:
    """The stage: set the lights of all vehicles for which `show_lights` is set."""
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


LINE_REACH_M = 100.0
INITIAL_BOXES = 256
"""Room for so many boxes of agents beside the traffic, to begin with."""


class StageBuffers(NamedTuple):
    """What goes from stage to stage: `AHEAD` and `STOP_POINTS` of every vehicle, `LANE_OCCUPANCY` of every lane, `BOX`
    of every agent unsorted and cell by cell, and room for a list of some of them.
    """

    ahead: Records
    stop_points: Records
    occupancy: Records
    unsorted: Records
    boxes: Records
    candidates: Int32Array


class StageInput(NamedTuple):
    """What a frame brings: boxes (M, 10) of all agents beside the traffic, states of the lights, what the ego asks for,
    pairs without collision detection (sorted keys), the weather, time and length of the frame (s), and its number.
    """

    other_boxes: FloatArray
    lights: Int32Array
    ego: JunctionRequest
    ignored_pairs: Int32Array
    weather: LightConditions
    stamp: float
    dt: float
    number: int


@array_kernel
def run_stages(
    graph: TrafficLaneGraph,
    fleet: Fleet,
    ids: npt.NDArray[np.uint32],
    k: IdmParameters,
    stages: StageBuffers,
    frame: StageInput,
) -> bool:
    """One frame of all vehicles, stage after stage. Returns whether the ego may enter its junction."""
    count = gather_boxes(fleet, ids, frame.other_boxes, stages.unsorted)
    grid = sort_into_cells(stages.unsorted, count, stages.boxes)
    change_lanes(graph, fleet, stages.boxes, grid, stages.ahead, k, frame.number)
    localize(graph, fleet)
    detect_obstacles(
        graph, fleet, ObstacleStage(stages.boxes, grid, frame.ignored_pairs, k, stages.ahead, stages.candidates)
    )
    obey_traffic_controls(graph, fleet, frame.lights, LINE_REACH_M, stages.stop_points)
    junctions = JunctionStage(frame.stamp, frame.ego, stages.ahead, k, stages.occupancy, stages.stop_points)
    ego_goes = manage_junctions(graph, fleet, junctions)
    move(graph, fleet, stages.ahead, stages.stop_points, k, frame.dt)
    set_poses(graph, fleet, k.lane_change_time)
    update_lights(graph, fleet, frame.weather, k.lane_change_time)
    return bool(ego_goes)


def new_stage_buffers(vehicles: int, lanes: int, other_boxes: int = INITIAL_BOXES) -> StageBuffers:
    """Room for what so many vehicles, lanes and other boxes have."""
    ahead, stop_points = np.zeros(vehicles, AHEAD).view(np.recarray), np.zeros(vehicles, STOP_POINTS).view(np.recarray)
    ahead["gap"] = np.inf
    unsorted, boxes = (np.zeros(vehicles + other_boxes, BOX).view(np.recarray) for _ in range(2))
    candidates = np.zeros(vehicles + other_boxes + 1, np.int32)
    return StageBuffers(
        ahead, stop_points, np.zeros(lanes, LANE_OCCUPANCY).view(np.recarray), unsorted, boxes, candidates
    )
