"""What goes wrong between the world and a sensor's message: noise, drop-out and latency (SIM-2: seeded).

All of it is off unless parameters or a scenario say so. Every sensor draws from a stream of its own: a fault of one
changes nothing in what the other sensors see.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.sim.parameters import FaultParameters, SensorParameters
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import Sensor
from tuling_fsm.sim.seeds import generator, normal
from tuling_fsm.world.inputs import Occupancy, Odometry, Source, StampedRows

Message = TypeVar("Message", Odometry, StampedRows, Occupancy)
Rows = npt.NDArray[np.void]
RAD_PER_M = 0.02
"""Noise of a heading per noise of a position."""


class SensorChannel:
    """One sensor: its faults, its random stream, and the messages that are under way."""

    def __init__(self, seed: np.random.SeedSequence, fault: FaultParameters) -> None:
        self.fault = fault
        self._random = generator(seed)
        self._under_way: list[tuple[float, Any]] = []

    def rows(self, rows: Rows) -> Rows:
        """Rows as the sensor gives them: some missing, positions (and velocities) noisy."""
        if self.fault.drop_out > 0.0:
            rows = rows[self._random.random(len(rows)) >= self.fault.drop_out]
        if self.fault.noise <= 0.0:
            return rows
        noisy, names = rows.copy(), rows.dtype.names or ()
        for name in [name for name in ("x", "y", "vx", "vy") if name in names]:
            noisy[name] += normal(self._random, self.fault.noise, len(rows)).astype(np.float32)
        if "heading" in names:
            turned = rows["heading"] + normal(self._random, RAD_PER_M * self.fault.noise, len(rows))
            noisy["heading"] = elementwise.wrap_angle(turned)
        return noisy

    def odometry(self, message: Odometry) -> Odometry:
        """A noisy pose that says how noisy it is."""
        noise = self.fault.noise
        if noise <= 0.0:
            return message
        dx, dy, turn = normal(self._random, noise, 3).tolist()
        x, y, heading = message.pose
        return dataclasses.replace(
            message,
            pose=Pose(x + dx, y + dy, float(wrap_angle(heading + RAD_PER_M * turn))),
            position_std=max(message.position_std, noise),
            heading_std=max(message.heading_std, RAD_PER_M * noise),
        )

    def lost(self) -> bool:
        """Whether a whole message is lost."""
        return self.fault.drop_out > 0.0 and bool(self._random.random() < self.fault.drop_out)

    def recall(self) -> None:
        """Take back what is under way: it has been overtaken."""
        self._under_way.clear()

    def send(self, now: float, message: Message | None, last: Message | None) -> Message | None:
        """Put a message on its way (None: there is none) `now` (s); returns the latest that is there, else `last`."""
        if message is not None and self.fault.latency <= 0.0 and not self._under_way:
            return message
        if message is not None:
            self._under_way.append((now + self.fault.latency, message))
        arrived = [place for place, item in enumerate(self._under_way) if item[0] <= now + 1e-9]
        if not arrived:
            return last
        newest: Message = self._under_way[arrived[-1]][1]
        # What was sent before it has been overtaken.
        self._under_way = self._under_way[arrived[-1] + 1 :]
        return newest


class SensorChannels:
    """All sensors."""

    def __init__(self, seed: np.random.SeedSequence, parameters: SensorParameters) -> None:
        self._level: Mapping[Sensor, FaultParameters] = {
            sensor: getattr(parameters, f"{sensor.value}_faults") for sensor in Sensor
        }
        """What is wrong with each as long as nobody disturbs it."""
        streams = seed.spawn(len(Sensor))
        self._channels = {
            sensor: SensorChannel(stream, self._level[sensor]) for sensor, stream in zip(Sensor, streams, strict=True)
        }

    def __getitem__(self, sensor: Sensor) -> SensorChannel:
        return self._channels[sensor]

    def apply(self, command: commands.SensorCommand) -> None:
        """Carry out a command."""
        match command:
            case commands.DisturbSensor(sensor, noise, latency, drop_out, occlusion):
                self._channels[sensor].fault = FaultParameters(noise, latency, drop_out, occlusion)
            case commands.ResetSensor(sensor):
                self._channels[sensor].fault = self._level[sensor]
            case _:
                assert_never(command)


PARTS = {Sensor.LIDAR: Source.LIDAR, Sensor.RADAR: Source.RADAR, Sensor.CAMERA: Source.CAMERA}
"""The sensors that make up the table of objects, with their bits in `source`."""
PERFECT = FaultParameters()
MEASURED = ("x", "y", "heading", "vx", "vy")


class SensorFusion:
    """An object is where the best of those sensors that see it says: that of the least latency, then of the least
    noise.
    """

    def __init__(self, channels: SensorChannels) -> None:
        self._channels = channels
        self._views: dict[Sensor, StampedRows | None] = dict.fromkeys(PARTS)
        self._whole: StampedRows | None = None
        """What every sensor saw last, if all were perfect then: the views are made when one is not any more."""

    def objects(self, stamp: float, rows: Rows, hidden: Callable[[], npt.NDArray[np.uint32]]) -> Rows:
        """What is left of a table of objects, and where it seems to be.

        Args:
            stamp: the frame's time, s.
            rows: of the topic `objects`, with every sensor in `source` that would see the object if all were well.
            hidden: asked for the ids of the objects that stand behind other ones.
        """
        faults = {sensor: self._channels[sensor].fault for sensor in PARTS}
        if all(fault == PERFECT for fault in faults.values()):
            self._whole = StampedRows(stamp, rows)
            return rows
        self._take_apart()
        behind = hidden() if any(fault.occlusion for fault in faults.values()) else np.zeros(0, np.uint32)
        views = {
            sensor: self._view(sensor, stamp, rows, behind if fault.occlusion else behind[:0])
            for sensor, fault in faults.items()
        }
        fused = rows.copy()
        fused["source"] &= ~np.uint8(sum(PARTS.values()))
        placed = fused["source"] > 0
        for sensor in sorted(PARTS, key=lambda each: (faults[each].latency, faults[each].noise)):
            seen = views[sensor]
            _, mine, theirs = np.intersect1d(fused["id"], seen["id"], assume_unique=True, return_indices=True)
            fused["source"][mine] |= np.uint8(PARTS[sensor])
            new = ~placed[mine]
            for name in MEASURED:
                fused[name][mine[new]] = seen[name][theirs[new]]
            placed[mine] = True
        return fused[placed]

    def _take_apart(self) -> None:
        """A sensor that becomes late says what it has seen last while all was well."""
        whole, self._whole = self._whole, None
        if whole is None:
            return
        for sensor, bit in PARTS.items():
            self._channels[sensor].recall()
            self._views[sensor] = StampedRows(whole.stamp, whole.rows[whole.rows["source"] & np.uint8(bit) > 0])

    def _view(self, sensor: Sensor, stamp: float, rows: Rows, behind: npt.NDArray[np.uint32]) -> Rows:
        """What a sensor says now: what it saw as long ago as its latency is."""
        channel = self._channels[sensor]
        seen = rows[(rows["source"] & np.uint8(PARTS[sensor]) > 0) & ~np.isin(rows["id"], behind)]
        view = channel.send(stamp, StampedRows(stamp, channel.rows(seen)), self._views[sensor])
        self._views[sensor] = view
        return rows[:0] if view is None else view.rows
