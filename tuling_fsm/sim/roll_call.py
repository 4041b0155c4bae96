"""Everybody on the road but the ego, gathered into tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.sim.cast import Cast
from tuling_fsm.sim.props import Boxes
from tuling_fsm.sim.referee import Others
from tuling_fsm.sim.scenario.model import ActorKind
from tuling_fsm.sim.traffic.manager import TrafficManager
from tuling_fsm.sim.walkers import SIZE_M, Walkers
from tuling_fsm.world.inputs import Kind

FIRST_WALKER_ID = 1_000_001
PREDICTION_STEP_S = 0.5


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

    def others(self) -> Others:
        """All boxes, kinds and ids: traffic first, then scripted bodies, then walkers."""
        car, rows = np.asarray(self._traffic.fleet.car), np.flatnonzero(self._traffic.on_road)
        boxes = np.empty((len(rows), 7))
        for i, name in enumerate(("x", "y", "z", "heading", "length", "width", "v")):
            boxes[:, i] = car[name][rows]
        free, props, walking = self._scripted(), self._cast.props.boxes, self._walker_boxes()
        count = len(walking)
        persons, numbers = np.full(count, Kind.PEDESTRIAN), np.arange(count) + FIRST_WALKER_ID
        return Others(
            np.vstack((boxes, free.rows, props.rows, walking)),
            np.concatenate((self._traffic.kinds[rows], free.kinds, props.kinds, persons)).astype(np.uint8),
            np.concatenate((self._traffic.ids[rows], free.ids, props.ids, numbers)).astype(np.uint32),
            dict(self._cast.props.seen_as),
        )

    def actors(self) -> tuple[Actor, ...]:
        """The same, one by one."""
        others = self.others()
        return tuple(
            Actor(number, Kind(kind), Pose(row[0], row[1], row[3]), row[4], row[5], row[6])
            for number, kind, row in zip(others.ids.tolist(), others.kinds.tolist(), others.boxes.tolist(), strict=True)
        )

    def _scripted(self) -> Boxes:
        """Scripted actors that the traffic does not move."""
        return Boxes.of(self._cast.free())

    def _walker_boxes(self) -> FloatArray:
        rows = [(*walker.pose, walker.v) for walker in self._walkers.walkers]
        boxes = np.full((len(rows), 7), np.nan)
        boxes[:, (0, 1, 3, 6)] = np.array(rows).reshape(-1, 4)
        boxes[:, 4:6] = SIZE_M
        return boxes

    def predicted(self, horizon: float) -> FloatArray:
        """Boxes (M, 10) for the traffic of everybody that it does not move: now and, for those that move
        freely, later.
        """
        persons = self._walker_boxes()
        free = np.vstack([_named(boxes) for boxes in (self._scripted(), self._cast.props.boxes)])
        numbers = np.arange(len(persons)) + FIRST_WALKER_ID
        persons = np.column_stack((persons, numbers, np.ones(len(persons))))
        crossing = np.array([walker.crossing for walker in self._walkers.walkers], dtype=np.bool_)
        now = np.vstack((free, persons))
        moving = np.vstack((free[free[:, 6] > 0.0], persons[crossing]))
        tables = [_at(now, 0.0)]
        if len(moving) == 0:
            return tables[0]
        for when in np.arange(PREDICTION_STEP_S, horizon + 1e-9, PREDICTION_STEP_S).tolist():
            later = _at(moving, when)
            later[:, 0] += when * moving[:, 6] * np.cos(moving[:, 3])
            later[:, 1] += when * moving[:, 6] * np.sin(moving[:, 3])
            tables.append(later)
        return np.vstack(tables)

    def vehicles(self, ego: FloatArray) -> FloatArray:
        """What walkers mind (N, 6): x, y, heading, length, width, speed of the ego's box (x, y, z, heading, ...) and
        all vehicles.
        """
        car, rows = np.asarray(self._traffic.fleet.car), np.flatnonzero(self._traffic.on_road)
        table = np.empty((len(rows) + 1, 6))
        table[0] = ego[_NO_Z]
        for i, name in enumerate(("x", "y", "heading", "length", "width", "v")):
            table[1:, i] = car[name][rows]
        scripted = [
            (*pose, body.length, body.width, body.v)
            for _, pose, body in self._cast.free()
            if body.kind is not ActorKind.PERSON
        ]
        return np.vstack((table, np.array(scripted).reshape(-1, 6), self._cast.props.boxes.rows[:, _NO_Z]))


_NO_Z = [0, 1, 3, 4, 5, 6]


def _named(boxes: Boxes) -> FloatArray:
    """Boxes (M, 9) with their number, and 1 for persons."""
    return np.column_stack((boxes.rows, boxes.ids, boxes.kinds == Kind.PEDESTRIAN))


def _at(boxes: FloatArray, when: float) -> FloatArray:
    """Boxes with their seconds from now between speed and number."""
    return np.column_stack((boxes[:, :7], np.full(len(boxes), when), boxes[:, 7:]))
