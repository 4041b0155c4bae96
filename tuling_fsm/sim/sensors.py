"""What the car is told of the world, in the number formats of the wire."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.map.lanes import Lane, LaneId, LanePosition, Mark, MarkKind
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.collisions import SAME_LEVEL_M, touching
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.referee import Others
from tuling_fsm.sim.scenario.choices import SeenAs
from tuling_fsm.sim.sight import Sight
from tuling_fsm.world.inputs import LANE_LINES, OBJECTS, PARKING_SLOTS, Odometry

LINE_AHEAD_M = 30.0
LINE_STEP_M = 2.0
SLOT_TAKEN_SHARE = 0.8
"""A parking space is taken when something stands in this inner part of it."""


class Sensors:
    """Perfect sensors of limited range; lidar and camera are blind in rain and fog."""

    def __init__(self, road_map: RoadMap, parameters: SensorParameters) -> None:
        self._map = road_map
        self._p = parameters
        self._sight = Sight(parameters.lidar_range, parameters.radar_range, parameters.camera_range)
        slots = road_map.slots
        self._slots = np.zeros(len(slots), PARKING_SLOTS)
        self._slots["slot"] = [slot.number for slot in slots]
        for column, values in (
            ("x", [slot.pose.x for slot in slots]), ("y", [slot.pose.y for slot in slots]),
            ("heading", [slot.pose.heading for slot in slots]), ("length", [slot.length for slot in slots]),
            ("width", [slot.width for slot in slots]),
        ):  # fmt: skip
            self._slots[column] = values

    def odometry(self, stamp: float, pose: Pose, v: float, yaw_rate: float, localized: bool) -> Odometry:
        """The car's own motion; while localization is lost the pose is said to be useless."""
        lost = 0.0 if localized else self._p.lost_position_std
        return Odometry(stamp, pose, v, yaw_rate, lost, 0.0 if localized else math.pi)

    def objects(self, pose: Pose, z: float, others: Others, blind: bool) -> npt.NDArray[np.void]:
        """Rows of the topic `objects` within range and on the car's level; `blind`: in rain or fog."""
        boxes = others.boxes
        distance = elementwise.hypot(boxes[:, 0] - pose.x, boxes[:, 1] - pose.y)
        sources = self._sight.sources(others, distance, self._p.range, blind)
        shown = (sources > 0) & ~(np.abs(boxes[:, 2] - z) > SAME_LEVEL_M)
        if others.seen_as:
            shown &= [others.seen_as.get(number) is not SeenAs.OCCUPANCY for number in others.ids.tolist()]
        rows = np.flatnonzero(shown)
        seen = boxes[rows]
        table = np.zeros(len(rows), OBJECTS)
        table["id"], table["kind"], table["source"] = others.ids[rows], others.kinds[rows], sources[rows]
        table["x"], table["y"], table["heading"] = seen[:, 0], seen[:, 1], seen[:, 3]
        table["vx"], table["vy"] = seen[:, 6] * elementwise.cos(seen[:, 3]), seen[:, 6] * elementwise.sin(seen[:, 3])
        table["length"], table["width"], table["existence"] = seen[:, 4], seen[:, 5], 1.0
        return table

    def slots(self, pose: Pose, others: Others) -> npt.NDArray[np.void]:
        """Rows of the topic `parking_slots` within range."""
        rows = self._slots[
            elementwise.hypot(self._slots["x"] - pose.x, self._slots["y"] - pose.y) <= self._p.slot_range
        ].copy()
        rows["occupied"] = _taken(rows, others.boxes)
        return rows

    def lane_lines(self, pose: Pose, position: LanePosition | None, way: Collection[LaneId]) -> npt.NDArray[np.void]:
        """Rows of the topic `lane_lines`: both lines of the car's lane ahead of it, in `base_link`."""
        if position is None:
            return np.zeros(0, LANE_LINES)
        parts = [self._stretch(lane, s, end) for lane, s, end in self._lanes_ahead(position, way)]
        line, kind, x, y = np.concatenate(parts, axis=1)
        c, s = elementary.cos(pose.heading), elementary.sin(pose.heading)
        table = np.zeros(len(x), LANE_LINES)
        table["line"], table["kind"] = line, kind
        table["x"], table["y"] = c * (x - pose.x) + s * (y - pose.y), c * (y - pose.y) - s * (x - pose.x)
        return table[np.argsort(line, kind="stable")]

    def _lanes_ahead(self, position: LanePosition, way: Collection[LaneId]) -> Sequence[tuple[Lane, float, float]]:
        """Lanes from the car on, along its route where that branches: lane, from, to (m)."""
        lane, s, left = self._map.lanes[position.lane], position.s, LINE_AHEAD_M
        found = []
        while left > 0.0:
            end = min(s + left, lane.length)
            found.append((lane, s, end))
            left -= max(end - s, 0.1)
            if not lane.successors:
                break
            following = next((n for n in lane.successors if n in way), lane.successors[0])
            lane, s = self._map.lanes[following], 0.0
        return found

    def _stretch(self, lane: Lane, s_from: float, s_to: float) -> FloatArray:
        """Both lines of a stretch of lane (4, n): number, kind, x, y in `map`."""
        s = np.arange(s_from, max(s_to, s_from + 1e-6), LINE_STEP_M)
        centre = lane.center
        x, y, heading = (np.interp(s, centre.s, row) for row in (centre.xy[:, 0], centre.xy[:, 1], centre.heading))
        left, right = np.interp(s, centre.s, lane.left), -np.interp(s, centre.s, lane.right)
        parts = []
        for line, offset, marks in ((0, left, lane.left_marks), (1, right, lane.right_marks)):
            rows = np.empty((4, len(s)))
            rows[0], rows[1] = line, _kind_at(marks, s_from)
            rows[2], rows[3] = x - offset * elementwise.sin(heading), y + offset * elementwise.cos(heading)
            parts.append(rows)
        return np.concatenate(parts, axis=1)


@njit(cache=True)
def _taken(slots: npt.NDArray[np.void], boxes: FloatArray) -> npt.NDArray[np.bool_]:
    """Which parking spaces (rows of `PARKING_SLOTS`) something stands in, of boxes (N, >= 6)."""
    taken = np.zeros(len(slots), np.bool_)
    for i in range(len(slots)):
        slot = slots[i]
        length, width = SLOT_TAKEN_SHARE * slot["length"], SLOT_TAKEN_SHARE * slot["width"]
        inside = touching(float(slot["x"]), float(slot["y"]), np.nan, float(slot["heading"]), length, width, boxes)
        taken[i] = len(inside) > 0
    return taken


def _kind_at(marks: Sequence[Mark], s: float) -> int:
    return int(next((mark.kind for mark in marks if mark.s_from <= s <= mark.s_to), MarkKind.UNKNOWN))
