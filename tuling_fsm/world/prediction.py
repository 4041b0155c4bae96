"""Where other road users go in the next 6 s (`core.scene.Obstacles`).

A vehicle on a lane with a matching heading follows the lanes: its offset from the centre decays, after it has grown for
a moment where the vehicle is turned away from all lanes that it may follow; over an edge of its lane one that comes
towards the car keeps an offset that it has had for a second. Its speed stays but is limited in bends, it stops while it
still can for a light that is known to be closed, for a stop sign, and before a junction whose way the car holds
already, and it stays behind its leader, the car included, but for a two-wheeler that has room beside it. Where lanes
fork, or lie over one another in a junction, each plausible way gives a row of its own with the same id, at most three:
the straightest and the outermost ones that its speed allows. One that surely gathers speed has a second row for each
way, on which it does so for some time yet, up to the speed limit ([autoware][]): the car passes before it where it
would before both, and who is followed is not trusted to go on. Every other moving obstacle keeps its velocity, whose
turning fades away. Whatever stands is predicted in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.records import replace
from tuling_fsm.core.scene import Ego, Obstacles
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.lane_index import STOP, LaneIndex
from tuling_fsm.world.objects import BODY, HEADING, LENGTH, WIDTH, Detections, X, Y
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.prediction_kernels import PredictionParameters
from tuling_fsm.world.queues import QueueParameters
from tuling_fsm.world.tracks import STILL, Tracks
from tuling_fsm.world.traffic import PredictedLanes
from tuling_fsm.world.traffic_kernels import put_on_map

OPEN = (Light.GREEN, Light.FLASHING_YELLOW)
"""Lights at which nobody has a reason to wait."""
CLOSED = (Light.RED, Light.RED_YELLOW, Light.YELLOW)
"""Lights that other vehicles are expected to stop for, as far as they still can."""


class ClosedLines(NamedTuple):
    """What stops other vehicles: stop lines of the map by their number in the index, the connecting lanes that the car
    holds, and the lines whose light is known to let them through.
    """

    lines: BoolArray
    held: IntArray
    green: BoolArray


def closed_lines(index: LaneIndex, lights: dict[int, Light]) -> BoolArray:
    """Which stop lines of the map close the way to other vehicles now: stop signs, and lights known not to be green."""
    signals = index.arrays.line_signal
    closed = index.arrays.line_kind == STOP
    shut = [signal for signal, state in lights.items() if state in CLOSED]
    return np.asarray(closed | np.isin(signals, shut) if shut else closed, dtype=np.bool_)


def green_lines(index: LaneIndex, lights: dict[int, Light]) -> BoolArray:
    """Which stop lines of the map have a light that is known to let traffic through now."""
    free = [signal for signal, state in lights.items() if state in OPEN]
    return np.asarray(np.isin(index.arrays.line_signal, free), dtype=np.bool_)


def see_traffic(
    index: LaneIndex,
    found: Detections,
    tracks: Tracks,
    ego: Ego,
    vehicle: Vehicle,
    closed: ClosedLines,
    stamp: float,
    parameters: WorldParameters,
) -> tuple[PredictedLanes, Obstacles, Tracks]:
    """Put objects on the map and predict them.

    `tracks` are those of `follow`, in the order of `found`; they come back with what has been learnt.
    """
    bodies, expected, queues = _with_ego(found, ego, vehicle), _expected(parameters), _queues(index, parameters)
    seen = put_on_map(index.arrays, *closed, found.id, found.kind, bodies, tracks.past, stamp, expected, queues)
    traffic = PredictedLanes(
        id=found.id, kind=found.kind, source=found.source, body=found.body,
        moving=seen.moving, standing_for=stamp - seen.past[:, STILL], waiting=seen.waiting.waiting,
        given_up=seen.waiting.given_up, line_size=seen.waiting.size, line_still=seen.waiting.still,
        line_seen_moving=seen.waiting.seen_moving, lane=seen.lane, lane_s=seen.lane_s,
        chain_row=seen.chain_row, chain=seen.chain, chain_begin=seen.chain_begin, obstacle_row=seen.obstacle_row,
    )  # fmt: skip
    return traffic, Obstacles(*seen.predicted), replace(tracks, past=seen.past)


def _with_ego(found: Detections, ego: Ego, vehicle: Vehicle) -> FloatArray:
    """The bodies of the objects and, as the last one, of the car: other vehicles follow it as they follow each
    other, but are ready for its stopping at once, whatever its velocity.
    """
    middle = 0.5 * (vehicle.front - vehicle.rear_overhang)
    s, c = elementary.sin_cos(ego.pose.heading)
    bodies = np.zeros((len(found.body) + 1, BODY))
    bodies[:-1], car = found.body, bodies[-1]
    car[X], car[Y], car[HEADING] = ego.pose.x + middle * c, ego.pose.y + middle * s, ego.pose.heading
    car[LENGTH], car[WIDTH] = vehicle.length, vehicle.width
    return bodies


def _expected(p: WorldParameters) -> PredictionParameters:
    return PredictionParameters(
        lane_heading=p.lane_heading, lateral=p.others_lateral_accel, decel=p.others_decel, follow_gap=p.follow_gap,
        standing=p.moving_speed, stopped_leader=p.stopped_leader,
    )  # fmt: skip


def _queues(index: LaneIndex, p: WorldParameters) -> QueueParameters:
    return QueueParameters(
        standing=p.moving_speed, creeping=p.queue_creeping, gap=p.queue_gap, kerb=p.queue_kerb,
        kerb_side=1.0 if index.left_hand else -1.0, turn=p.junction_wait, patience=p.queue_patience,
    )  # fmt: skip
