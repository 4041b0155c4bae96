"""The stages of one frame, each over all vehicles at once (TM-1).

Lifecycle and state come first (`manager`, `sleeping`); then the buffered paths (`localization`, `lane_change`), what is
in the way (`collision`), lights, signs and junctions (`lines`, `right_of_way`), motion (`motion`, `dynamics`) and the
lights of the vehicles (`vehicle_lights`). No stage begins before the one before it is through with everybody.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.sim.traffic.boxes import BOX, gather, sort_into_cells
from tuling_fsm.sim.traffic.collision import AHEAD, Driver, LongArray, watch_out
from tuling_fsm.sim.traffic.fleet import Fleet, set_poses
from tuling_fsm.sim.traffic.lane_change import change_lanes
from tuling_fsm.sim.traffic.lane_graph import IntArray, LaneGraph, Records
from tuling_fsm.sim.traffic.lines import ORDERS, mind_lines
from tuling_fsm.sim.traffic.localization import localize
from tuling_fsm.sim.traffic.motion import move
from tuling_fsm.sim.traffic.right_of_way import DESK, EgoRequest, share_junctions
from tuling_fsm.sim.traffic.vehicle_lights import Weather, work_lights

LINE_REACH_M = 100.0
MOST_OTHERS = 256
"""Room for so many boxes of others to begin with."""


class Stages(NamedTuple):
    """What goes from stage to stage: `AHEAD` and `ORDERS` of every vehicle, `DESK` of every lane, `BOX` of everybody as
    they come and cell by cell, and room for a list of some of them.
    """

    ahead: Records
    orders: Records
    desk: Records
    loose: Records
    boxes: Records
    found: IntArray


class Frame(NamedTuple):
    """What a frame brings: boxes (M, 10) of everybody else, states of the lights, what the ego asks for, pairs that do
    not see each other (sorted keys), the weather, time and length of the frame (s), and its number.
    """

    others: FloatArray
    lights: IntArray
    ego: EgoRequest
    blind: LongArray
    weather: Weather
    stamp: float
    dt: float
    number: int


@njit(cache=True)
def run_stages(
    graph: LaneGraph, fleet: Fleet, ids: npt.NDArray[np.uint32], k: Driver, stages: Stages, frame: Frame
) -> bool:
    """One frame of all vehicles, stage after stage. Returns whether the ego may enter its junction."""
    count = gather(fleet, ids, frame.others, stages.loose)
    grid = sort_into_cells(stages.loose, count, stages.boxes)
    change_lanes(graph, fleet, stages.boxes, grid, stages.ahead, k, frame.number)
    localize(graph, fleet)
    watch_out(graph, fleet, stages.boxes, grid, frame.blind, k, stages.ahead, stages.found)
    mind_lines(graph, fleet, frame.lights, LINE_REACH_M, stages.orders)
    ego_goes = share_junctions(graph, fleet, frame.stamp, frame.ego, stages.ahead, k, stages.desk, stages.orders)
    move(graph, fleet, stages.ahead, stages.orders, k, frame.dt)
    set_poses(graph, fleet, k.lane_change_time)
    work_lights(graph, fleet, frame.weather, k.lane_change_time)
    return bool(ego_goes)


def new_stages(vehicles: int, lanes: int, others: int = MOST_OTHERS) -> Stages:
    """Room for what so many vehicles and lanes, and boxes of others, have."""
    ahead, orders = np.zeros(vehicles, AHEAD).view(np.recarray), np.zeros(vehicles, ORDERS).view(np.recarray)
    ahead["gap"] = np.inf
    loose, boxes = (np.zeros(vehicles + others, BOX).view(np.recarray) for _ in range(2))
    found = np.zeros(vehicles + others + 1, np.int32)
    return Stages(ahead, orders, np.zeros(lanes, DESK).view(np.recarray), loose, boxes, found)
