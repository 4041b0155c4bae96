"""Lidar, radar and camera one by one: each with its own faults, and one table of objects of what they see together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tuling_fsm.sim.faults import Channels
from tuling_fsm.sim.parameters import FaultParameters
from tuling_fsm.sim.scenario.choices import Sensor
from tuling_fsm.world.inputs import Source, Table

Rows = npt.NDArray[np.void]
PARTS = {Sensor.LIDAR: Source.LIDAR, Sensor.RADAR: Source.RADAR, Sensor.CAMERA: Source.CAMERA}
"""The sensors that make up the table of objects, with their bits in `source`."""
PERFECT = FaultParameters()
MEASURED = ("x", "y", "heading", "vx", "vy")


class Fusion:
    """An object is where the best of those sensors that see it says: that of the least latency, then of the least
    noise.
    """

    def __init__(self, channels: Channels) -> None:
        self._channels = channels
        self._views: dict[Sensor, Table | None] = dict.fromkeys(PARTS)

    def objects(self, stamp: float, rows: Rows, hidden: Callable[[], npt.NDArray[np.uint32]]) -> Rows:
        """What is left of a table of objects, and where it seems to be.

        Args:
            stamp: the frame's time, s.
            rows: of `OBJECTS`, with every sensor in `source` that would see the object if all were well.
            hidden: asked for the ids of the objects that stand behind others.
        """
        faults = {sensor: self._channels[sensor].fault for sensor in PARTS}
        if all(fault == PERFECT for fault in faults.values()):
            self._views = dict.fromkeys(PARTS)
            return rows
        behind = hidden() if any(fault.occlusion for fault in faults.values()) else np.zeros(0, np.uint32)
        fused = rows.copy()
        fused["source"] &= ~np.uint8(sum(PARTS.values()))
        placed = fused["source"] > 0
        for sensor in sorted(PARTS, key=lambda each: (faults[each].latency, faults[each].noise)):
            seen = self._view(sensor, stamp, rows, behind if faults[sensor].occlusion else behind[:0])
            _, mine, theirs = np.intersect1d(fused["id"], seen["id"], assume_unique=True, return_indices=True)
            fused["source"][mine] |= np.uint8(PARTS[sensor])
            new = ~placed[mine]
            for name in MEASURED:
                fused[name][mine[new]] = seen[name][theirs[new]]
            placed[mine] = True
        return fused[placed]

    def _view(self, sensor: Sensor, stamp: float, rows: Rows, behind: npt.NDArray[np.uint32]) -> Rows:
        """What a sensor says now: what it saw as long ago as its latency is."""
        channel = self._channels[sensor]
        seen = rows[(rows["source"] & np.uint8(PARTS[sensor]) > 0) & ~np.isin(rows["id"], behind)]
        view = channel.send(stamp, Table(stamp, channel.rows(seen)), self._views[sensor])
        self._views[sensor] = view
        return rows[:0] if view is None else view.rows
