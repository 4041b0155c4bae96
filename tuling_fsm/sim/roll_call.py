"""Everybody on the road but the ego, gathered into tables."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.sim.cast import Cast
from tuling_fsm.sim.ego_way import PREDICTION_STEP_S
from tuling_fsm.sim.props import Boxes
from tuling_fsm.sim.referee import Others
from tuling_fsm.sim.traffic.manager import TrafficManager
from tuling_fsm.sim.walkers import SIZE_M, Walkers
from tuling_fsm.world.inputs import Kind

FIRST_WALKER_ID = 1_000_001


class Actor(NamedTuple):
    """Somebody to draw: centre of the box in `map`, size (m), speed (m/s)."""

    id: int
    kind: Kind
    pose: Pose
    length: float
    width: float
    v: float


class RollCall:
    """Asks the traffic, the cast and the walkers where they are."""

    def __init__(self, traffic: TrafficManager, cast: Cast, walkers: Walkers) -> None:
        self._traffic, self._cast, self._walkers = traffic, cast, walkers

    def free(self) -> Boxes:
        """Everybody that the traffic does not move: scripted actors, props, walkers."""
        parts = Boxes.of(self._cast.free()), self._cast.props.boxes, self._walking()
        return Boxes(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.kinds for part in parts]),
            np.concatenate([part.ids for part in parts]),
        )

    def others(self, free: Boxes) -> Others:
        """All boxes, kinds and ids: traffic first, then those that it does not move."""
        rows = np.flatnonzero(self._traffic.on_road)
        return Others(
            np.concatenate((self._vehicles(rows), free.rows)),
            np.concatenate((self._traffic.kinds[rows], free.kinds)).astype(np.uint8),
            np.concatenate((self._traffic.ids[rows], free.ids)).astype(np.uint32),
            dict(self._cast.props.seen_as),
        )

    def actors(self) -> tuple[Actor, ...]:
        """The same, one by one."""
        others = self.others(self.free())
        return tuple(
            Actor(number, Kind(kind), Pose(row[0], row[1], row[3]), row[4], row[5], row[6])
            for number, kind, row in zip(others.ids.tolist(), others.kinds.tolist(), others.boxes.tolist(), strict=True)
        )

    def _vehicles(self, rows: npt.NDArray[np.int64]) -> FloatArray:
        """Boxes (N, 7) of rows of the fleet."""
        car = np.asarray(self._traffic.fleet.car)[rows]
        boxes = np.empty((len(rows), 7))
        for i, name in enumerate(("x", "y", "z", "heading", "length", "width", "v")):
            boxes[:, i] = car[name]
        return boxes

    def _walking(self) -> Boxes:
        rows = [(w.pose.x, w.pose.y, math.nan, w.pose.heading, SIZE_M, SIZE_M, w.v) for w in self._walkers.walkers]
        count = len(rows)
        kinds, numbers = np.full(count, Kind.PEDESTRIAN, np.uint8), np.arange(count) + FIRST_WALKER_ID
        return Boxes(np.array(rows).reshape(-1, 7), kinds, numbers)

    def predicted(self, free: Boxes, horizon: float) -> FloatArray:
        """Boxes (M, 10) for the traffic of everybody that it does not move (`free`): now and, for those that move
        freely, later, up to a horizon (s).
        """
        walkers = self._walkers.walkers
        now = np.zeros((len(free.rows), 10))
        now[:, :7], now[:, 8], now[:, 9] = free.rows, free.ids, free.kinds == Kind.PEDESTRIAN
        moves = now[:, 6] > 0.0
        moves[len(moves) - len(walkers) :] = [walker.crossing for walker in walkers]
        moving = now[moves]
        if len(moving) == 0:
            return now
        times = np.arange(PREDICTION_STEP_S, horizon + 1e-9, PREDICTION_STEP_S)
        later = np.tile(moving, (len(times), 1))
        later[:, 7] = np.repeat(times, len(moving))
        later[:, 0] += later[:, 7] * later[:, 6] * elementwise.cos(later[:, 3])
        later[:, 1] += later[:, 7] * later[:, 6] * elementwise.sin(later[:, 3])
        return np.concatenate((now, later))

    def vehicles(self, free: Boxes, ego: FloatArray) -> FloatArray:
        """What walkers mind (N, 6): x, y, heading, length, width, speed of the ego's box (x, y, z, heading, ...) and
        all that stand or drive around, in the traffic or not.
        """
        traffic = self._vehicles(np.flatnonzero(self._traffic.on_road))
        boxes = np.concatenate((ego[None, :7], traffic, free.rows[free.kinds != Kind.PEDESTRIAN]))
        return np.asarray(boxes[:, _NO_Z])


_NO_Z = [0, 1, 3, 4, 5, 6]
