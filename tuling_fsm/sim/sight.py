"""Which sensor sees what, in which weather (RFG-1).

Rain and fog blind lidar and camera; what the radar sees is left, and what a history map remembers: things that stood
there, and were seen, before the weather turned.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.sim.referee import Others
from tuling_fsm.world.inputs import Kind, Source

WEAK_RADAR_RANGE_M = 50.0
"""The radar sees weak reflectors up to this far."""
STANDS, MOVED_M = 0.1, 0.3
"""Below this speed (m/s) a thing is mapped; once it has moved so far (m) the history map knows nothing of it."""

LIDAR, RADAR, CAMERA, HISTORY_MAP = (
    np.uint8(source) for source in (Source.LIDAR, Source.RADAR, Source.CAMERA, Source.HISTORY_MAP)
)

REFLECTS_STRONGLY: dict[Kind, bool] = {
    Kind.CAR: True, Kind.TRUCK: True, Kind.BUS: True, Kind.MOTORCYCLE: True, Kind.BARRIER: True,
    Kind.BICYCLE: False, Kind.PEDESTRIAN: False, Kind.ANIMAL: False,
}  # fmt: skip
"""Kinds that the radar sees: whether they reflect strongly (metal, water). Lidar and camera see every kind."""


class Sight:
    """Says by which sensors each object is seen; remembers what stood where while it could be seen well.

    Args:
        lidar: reach of the lidar, m.
        radar: of the radar.
        camera: of the camera.
    """

    def __init__(self, lidar: float = math.inf, radar: float = math.inf, camera: float = math.inf) -> None:
        self._lidar, self._camera = lidar, camera
        self._mapped: dict[int, tuple[float, float]] = {}
        reflects = np.array([REFLECTS_STRONGLY.get(kind) is not None for kind in Kind])
        self._radar_range = np.where(
            [REFLECTS_STRONGLY.get(kind, False) for kind in Kind], math.inf, WEAK_RADAR_RANGE_M
        )
        self._radar_range[~reflects] = -math.inf
        self._radar_range = np.minimum(self._radar_range, radar)

    def sources(
        self, others: Others, distance: npt.NDArray[np.float64], reach: float, blind: bool
    ) -> npt.NDArray[np.uint8]:
        """Bits of `Source` (N,) of each object, 0 for those that nothing sees.

        Args:
            others: N objects.
            distance: from the car to each (N,), m.
            reach: of every sensor, m.
            blind: whether lidar and camera see nothing.
        """
        radar = distance <= np.minimum(self._radar_range[others.kinds], reach)
        bits: npt.NDArray[np.uint8] = radar * RADAR
        if not blind:
            bits |= (distance <= min(self._lidar, reach)) * LIDAR
            bits |= (distance <= min(self._camera, reach)) * CAMERA
            self._map(others, bits & (LIDAR | CAMERA) > 0)
        elif self._mapped:
            bits |= ((distance <= reach) & self._known(others)) * HISTORY_MAP
        return bits

    def _map(self, others: Others, seen: npt.NDArray[np.bool_]) -> None:
        for number, box in zip(others.ids[seen].tolist(), others.boxes[seen].tolist(), strict=True):
            if abs(box[6]) < STANDS:
                self._mapped[number] = box[0], box[1]
            else:
                self._mapped.pop(number, None)

    def _known(self, others: Others) -> npt.NDArray[np.bool_]:
        places = [self._mapped.get(number, (math.inf, math.inf)) for number in others.ids.tolist()]
        there = np.array(places).reshape(-1, 2)
        moved = elementwise.hypot(others.boxes[:, 0] - there[:, 0], others.boxes[:, 1] - there[:, 1])
        return np.asarray(moved < MOVED_M)
