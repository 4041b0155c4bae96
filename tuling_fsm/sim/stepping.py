"""The simulation as a CARLA client knows its world: `tick`, `wait_for_tick`, `on_tick` and a queue for every sensor
(SIM-1).

The stepping is synchronous: nothing moves but by `tick`, which asks the planner for this frame's plan and applies it.
Any number of threads may wait for ticks or read queues.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Inputs

SENSORS = ("odometry", "objects", "lane_lines", "traffic_lights", "parking_slots")


class Snapshot(NamedTuple):
    """A frame that the world has come to: its number and time (s)."""

    frame: int
    stamp: float


class SyncWorld:
    """Steps a simulation, each frame driven by `drive`."""

    def __init__(self, simulation: Simulation, drive: Callable[[Inputs], Trajectory | None]) -> None:
        self.simulation = simulation
        self._drive = drive
        self._ticked = threading.Condition()
        self._callbacks: dict[int, Callable[[Snapshot], None]] = {}
        self._next_callback = 0
        self._queues: list[tuple[str, queue.SimpleQueue[Any]]] = []

    @property
    def snapshot(self) -> Snapshot:
        """The present frame."""
        return Snapshot(self.simulation.frame, self.simulation.stamp)

    def tick(self) -> int:
        """Go on by one frame and return its number: first the queues are filled, then callbacks are called,
        then waiters wake.
        """
        simulation = self.simulation
        simulation.advance(self._drive(simulation.inputs()))
        snapshot, inputs = self.snapshot, simulation.inputs()
        for sensor, waiting in self._queues:
            waiting.put((snapshot.frame, getattr(inputs, sensor)))
        for callback in list(self._callbacks.values()):
            callback(snapshot)
        with self._ticked:
            self._ticked.notify_all()
        return snapshot.frame

    def wait_for_tick(self, seconds: float = 10.0) -> Snapshot:
        """Wait until another thread ticks.

        Raises:
            TimeoutError: nobody did within that time.
        """
        with self._ticked:
            frame = self.simulation.frame
            if not self._ticked.wait_for(lambda: self.simulation.frame > frame, timeout=seconds):
                raise TimeoutError(f"no tick within {seconds:g} s")
            return self.snapshot

    def on_tick(self, callback: Callable[[Snapshot], None]) -> int:
        """Call back on every tick, in the order of registration; the number is for `remove_on_tick`."""
        self._next_callback += 1
        self._callbacks[self._next_callback] = callback
        return self._next_callback

    def remove_on_tick(self, number: int) -> None:
        """Stop calling back."""
        self._callbacks.pop(number, None)

    def listen(self, sensor: str) -> queue.SimpleQueue[Any]:
        """A queue that gets (frame, message) of one sensor on every tick.

        Raises:
            InputError: there is no such sensor.
        """
        if sensor not in SENSORS:
            raise InputError("sensor", f"{sensor!r} is unknown", "one of " + ", ".join(SENSORS))
        waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._queues.append((sensor, waiting))
        return waiting
