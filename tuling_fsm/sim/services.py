"""Counts the services by what can be seen: where the car stands, and for how long (USE-10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import FloatArray, Pose, distance
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.bodies import center_ahead, shifted

STOP_S = 10.0
"""A passenger needs this long to get on or off, s."""
STANDING_SPEED = 0.1
"""Below this the car stands, m/s."""
NEAR_M = 30.0
"""Spaces of the map this near to a point are its slots."""
AT_POINT_M = 5.0
"""Where there are none, the car stops this near to it."""
POINTS = ("pickup", "dropoff")


class Services:
    """Watches one car that serves a mission's tasks, one passenger at a time.

    Args:
        mission: as on the topic `mission`.
        road_map: its parking spaces are slots of the points near them.
        vehicle: the car.
    """

    def __init__(self, mission: Mapping[str, Any], road_map: RoadMap, vehicle: Vehicle) -> None:
        self._boxes = [[_slots(task[name], road_map) for name in POINTS] for task in mission.get("tasks", ())]
        self._vehicle = vehicle
        self._served = [0] * len(self._boxes)
        """Of every task: points served, in their order."""
        self._aboard: int | None = None
        self._stood = 0.0

    @property
    def count(self) -> int:
        """Pick-up and drop-off pairs that have been served."""
        return sum(served == len(POINTS) for served in self._served)

    @property
    def stops(self) -> int:
        """Pick-ups and drop-offs that have been served."""
        return sum(self._served)

    @property
    def wanted_stops(self) -> int:
        """All that the mission has."""
        return len(POINTS) * len(self._boxes)

    def watch(self, dt: float, pose: Pose, v: float) -> None:
        """Look at one frame of `dt` (s): the car's rear axle and its speed (m/s)."""
        if abs(v) >= STANDING_SPEED:
            self._stood = 0.0
            return
        before, self._stood = self._stood, self._stood + dt
        if before < STOP_S - 1e-6 <= self._stood:
            self._stop(pose)

    def _stop(self, pose: Pose) -> None:
        x, y, _ = shifted(pose, center_ahead(self._vehicle))
        waiting = [i for i, served in enumerate(self._served) if served == 0]
        for task in waiting if self._aboard is None else [self._aboard]:
            if _inside(self._boxes[task][self._served[task]], x, y):
                self._served[task] += 1
                self._aboard = task if self._served[task] < len(POINTS) else None
                return


def _slots(point: Mapping[str, Any], road_map: RoadMap) -> FloatArray:
    """The slots of a point as rows x, y, heading, length, width (N, 5)."""
    x, y = float(point["x"]), float(point["y"])
    if point.get("slots"):
        rows: Sequence[Sequence[float]] = [
            [slot[key] for key in ("x", "y", "heading", "length", "width")] for slot in point["slots"]
        ]
        return np.array(rows, dtype=np.float64)
    near = [slot for slot in road_map.slots if distance(slot.pose[:2], (x, y)) <= NEAR_M]
    if near:
        return np.array([(*slot.pose, slot.length, slot.width) for slot in near])
    return np.array(((x, y, 0.0, 2.0 * AT_POINT_M, 2.0 * AT_POINT_M),))


def _inside(slots: FloatArray, x: float, y: float) -> bool:
    dx, dy, c, s = x - slots[:, 0], y - slots[:, 1], elementwise.cos(slots[:, 2]), elementwise.sin(slots[:, 2])
    along, across = np.abs(c * dx + s * dy), np.abs(c * dy - s * dx)
    return bool(np.any((along <= 0.5 * slots[:, 3]) & (across <= 0.5 * slots[:, 4])))
