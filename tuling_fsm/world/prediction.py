"""Where others go in the next 6 s (`core.scene.Obstacles`).

A vehicle on a lane with a matching heading follows the lanes: its offset from the centre decays, its speed stays but
is limited in bends, it stops while it still can for a light that is known to be closed, for a stop sign, and before a
junction whose way the car holds already, and it stays behind its leader, the car included. Where lanes fork, or lie
over one another in a junction, each plausible way gives a row of its own with the same id, at most three: the
straightest and the outermost ones that its speed allows. Every other mover keeps its velocity, whose turning fades
away. Whatever stands is predicted in place.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEPS, Ego, Obstacles
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.world.inputs import Kind, Light
from tuling_fsm.world.lane_index import STOP, BoolArray, IntArray, LaneIndex
from tuling_fsm.world.lane_kernels import chains, locate
from tuling_fsm.world.objects import Detections, is_vehicle, is_vulnerable
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.prediction_kernels import drift, follow_chains
from tuling_fsm.world.tracks import Tracks
from tuling_fsm.world.traffic import Traffic

CLOSED = (Light.RED, Light.RED_YELLOW, Light.YELLOW)
"""Lights that others are expected to stop for, as far as they still can."""

CHAIN_REACH_M = 60.0
_AT_LINE_M = 5.0
_REVERSING_SPEED = -0.5


class Closed(NamedTuple):
    """What stops others: stop lines of the map by their number in the index, and the connecting lanes that the car
    holds.
    """

    lines: BoolArray
    held: IntArray


def closed_lines(index: LaneIndex, lights: dict[int, Light]) -> BoolArray:
    """Which stop lines of the map close the way to others now: stop signs, and lights known not to be green."""
    signals = index.arrays.line_signal
    closed = index.arrays.line_kind == STOP
    shut = [signal for signal, state in lights.items() if state in CLOSED]
    return np.asarray(closed | np.isin(signals, shut) if shut else closed, dtype=np.bool_)


class _Ways(NamedTuple):
    """Predicted chains: which object, the chain's geometry, the motion along it, who is ahead, and which lines (m)."""

    row: IntArray
    chain: IntArray
    begin: FloatArray
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    leader: IntArray
    gap: FloatArray
    to_light: FloatArray
    """To the first closed light."""
    to_line: FloatArray
    """To the first stop line of any kind, or junction."""


def see_traffic(
    index: LaneIndex,
    found: Detections,
    tracks: Tracks,
    ego: Ego,
    vehicle: Vehicle,
    closed: Closed,
    stamp: float,
    parameters: WorldParameters,
) -> tuple[Traffic, Obstacles, Tracks]:
    """Put objects on the map and predict them.

    `tracks` are those of `follow`, in the order of `found`; they come back with what has been learnt.
    """
    n = len(found.id)
    everyone = _with_ego(found, ego, vehicle)
    follows = is_vehicle(found.kind)
    forward = found.vx * np.cos(found.heading) + found.vy * np.sin(found.heading)
    follows &= forward > _REVERSING_SPEED
    lane, arc, offset, turn = locate(
        index.arrays, everyone.x, everyone.y, everyone.heading, np.append(follows, True), parameters.lane_heading
    )
    on_road = (lane[:n, 0] >= 0) & ~index.arrays.in_junction[np.maximum(lane[:n, 0], 0)]
    tracks = dataclasses.replace(tracks, road_lane=np.where(on_road, lane[:n, 0], tracks.road_lane))
    ways = _ways(index, everyone, n, tracks, closed, (lane, arc, offset, turn), parameters)
    waiting = _waiting(found, tracks, ways, stamp, parameters)
    tracks = dataclasses.replace(tracks, moved=np.where(waiting, stamp, tracks.moved))
    moving = (stamp - tracks.moved <= parameters.stopped_leader) | is_vulnerable(found.kind)
    obstacles, obstacle_row = _obstacles(found, tracks, ways, moving, parameters)
    traffic = Traffic(
        found.id, found.kind, found.source, found.x, found.y, found.heading, found.vx, found.vy, found.speed,
        found.length, found.width, moving, stamp - tracks.still, waiting, lane[:n], arc[:n], offset[:n],
        ways.row, ways.chain, ways.begin, obstacle_row,
    )  # fmt: skip
    return traffic, obstacles, tracks


def _with_ego(found: Detections, ego: Ego, vehicle: Vehicle) -> Detections:
    """The objects and, as the last one, the car: others follow it as they follow each other."""
    middle = 0.5 * (vehicle.front - vehicle.rear_overhang)
    c, s = np.cos(ego.pose.heading), np.sin(ego.pose.heading)
    forward = max(ego.v, 0.0)
    own = {
        "id": 0, "kind": Kind.CAR, "source": 0, "x": ego.pose.x + middle * c, "y": ego.pose.y + middle * s,
        "heading": ego.pose.heading, "vx": forward * c, "vy": forward * s, "speed": forward,
        "length": vehicle.length, "width": vehicle.width,
    }  # fmt: skip
    return Detections(**{name: _with_last(getattr(found, name), value) for name, value in own.items()})


def _with_last(column: npt.NDArray[Any], value: float) -> npt.NDArray[Any]:
    longer = np.empty(len(column) + 1, column.dtype)
    longer[:-1], longer[-1] = column, value
    return longer


def _ways(
    index: LaneIndex,
    everyone: Detections,
    n: int,
    tracks: Tracks,
    closed: Closed,
    places: tuple[IntArray, FloatArray, FloatArray, FloatArray],
    parameters: WorldParameters,
) -> _Ways:
    lane, arc, offset, turn = places
    lateral, decel = parameters.others_lateral_accel, parameters.others_decel
    row, chain, begin, side = chains(
        index.arrays, everyone.x[:n], everyone.y[:n], everyone.speed[:n], tracks.yaw_rate, tracks.road_lane,
        lane[:n], arc[:n], offset[:n], turn[:n], CHAIN_REACH_M, lateral, decel,
    )  # fmt: skip
    motion = follow_chains(
        index.arrays, closed.lines, closed.held, row, chain, begin, side,
        everyone.x, everyone.y, everyone.heading, everyone.speed, everyone.length, everyone.width,
        lane, arc, offset, parameters.moving_speed, lateral, decel, parameters.follow_gap,
    )  # fmt: skip
    return _Ways(row, chain, begin, *motion)


def _waiting(found: Detections, tracks: Tracks, ways: _Ways, stamp: float, parameters: WorldParameters) -> BoolArray:
    """Who stands at a closed light, or not too long at another line or junction, or close behind one that waits."""
    n = len(found.id)
    stands = found.speed <= parameters.moving_speed
    lately = stands & (stamp - tracks.still <= parameters.junction_wait)
    waiting = np.zeros(n + 1, dtype=np.bool_)
    waiting[ways.row[(ways.to_light < _AT_LINE_M) & stands[ways.row]]] = True
    waiting[ways.row[(ways.to_line < _AT_LINE_M) & lately[ways.row]]] = True
    queued = stands[ways.row] & (ways.leader >= 0) & (ways.gap < parameters.queue_gap)
    row, leader = ways.row[queued], ways.leader[queued]
    for _ in range(n):
        joining = row[waiting[leader] & ~waiting[row]]
        if len(joining) == 0:
            break
        waiting[joining] = True
    return waiting[:n]


def _obstacles(
    found: Detections, tracks: Tracks, ways: _Ways, moving: BoolArray, parameters: WorldParameters
) -> tuple[Obstacles, IntArray]:
    """Rows in the order of the objects: their ways where they move along lanes, else one row."""
    walks = is_vulnerable(found.kind)
    moves = (found.speed > parameters.moving_speed) | (walks & (found.speed > 0.0))
    driven = np.flatnonzero(moves[ways.row])
    on_lanes = np.zeros(len(found.id), dtype=np.bool_)
    on_lanes[ways.row[driven]] = True
    adrift = np.flatnonzero(~on_lanes)
    x, y, heading = (np.empty((len(adrift), PREDICTION_STEPS)) for _ in range(3))
    turns = np.where(walks, 0.0, tracks.yaw_rate)
    drift(
        found.x[adrift], found.y[adrift], found.heading[adrift], np.where(moves, found.vx, 0.0)[adrift],
        np.where(moves, found.vy, 0.0)[adrift], np.where(moves, turns, 0.0)[adrift], x, y, heading,
    )  # fmt: skip
    rows = np.concatenate((ways.row[driven], adrift)).astype(np.int64)
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    obstacles = Obstacles(
        id=found.id[rows], kind=found.kind[rows], moving=moving[rows],
        length=found.length[rows], width=found.width[rows],
        x=np.concatenate((ways.x[driven], x))[order],
        y=np.concatenate((ways.y[driven], y))[order],
        heading=np.concatenate((ways.heading[driven], heading))[order],
        speed=found.speed[rows],
    )  # fmt: skip
    return obstacles, rows
