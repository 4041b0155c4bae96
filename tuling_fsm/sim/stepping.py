"""The simulation as a CARLA client knows its world: `tick`, `wait_for_tick`, `on_tick` and a queue for every sensor
(SIM-1).

`SyncWorld` is synchronous: nothing moves but by `tick`, which asks the planner for this frame's plan and applies it.
`AsyncWorld` goes on by the clock on the wall with whatever plan is there. Any number of threads may wait for ticks or
read queues. Of the four ways to combine them with fixed and variable steps only synchronous fixed steps repeat.
"""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.sim.environment.weather import CALLS
from tuling_fsm.sim.scenario.choices import Sensor
from tuling_fsm.sim.sensors.faults import PARTS
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Inputs

Drive = Callable[[Inputs], Trajectory | None]
"""Asks the planner for the plan of a frame."""
SENSORS = tuple(sensor.value for sensor in Sensor if sensor not in PARTS)
"""Sensors with a message of their own."""
NOTHING_NEW_S = 0.1
"""After this long without a new frame the planner of an asynchronous world looks whether that is over."""
SHORTEST_S = 0.001
"""No variable step is shorter than this."""


class Snapshot(NamedTuple):
    """A frame that the world has come to: its number and time (s)."""

    frame: int
    stamp: float


class SyncWorld:
    """Steps a simulation, each frame driven by `drive`.

    With `variable_step` a frame lasts as long as its plan took, up to what the sub-steps allow: physics and time then
    part when the planner is slower than that, and no run repeats, which a `RuntimeWarning` says.
    """

    def __init__(self, simulation: Simulation, drive: Drive, variable_step: bool = False) -> None:
        self.simulation = simulation
        self.snapshot = Snapshot(simulation.frame, simulation.stamp)
        """The frame that the world has come to last; while the simulation goes on it is still the one before."""
        self._drive = drive
        self._variable_step = variable_step
        if variable_step:
            _warn("synchronous variable-step")
        self._ticked = threading.Condition()
        self._callbacks: dict[int, Callable[[Snapshot], None]] = {}
        self._next_callback = 0
        self._queues: list[tuple[str, queue.SimpleQueue[Any]]] = []
        self._failure: BaseException | None = None
        """What has stopped a world that ticks by itself."""

    def tick(self) -> int:
        """Go on by one frame and return its number: first the queues are filled, then callbacks are called,
        then waiters wake.
        """
        began = time.monotonic()
        trajectory = self._drive(self.simulation.inputs())
        return self._go_on(trajectory, self._lasting(time.monotonic() - began) if self._variable_step else None)

    def reload(self, seed: int, drive: Drive) -> None:
        """Begin again, with a seed and a planner that knows nothing yet; queues and callbacks stay.

        A reloaded world does not remember its seed: the same one has to be given for the same run (SIM-2).

        Raises:
            InputError: its traffic is served to clients (`TrafficServer`), who would be left with the old one.
        """
        if self.simulation.traffic.before_frame:
            raise InputError(
                "reload", "a traffic server serves this world", "the server closed, and one of the new world"
            )
        self.simulation, self._drive = self.simulation.restarted(seed), drive
        self.snapshot = Snapshot(self.simulation.frame, self.simulation.stamp)

    def _lasting(self, seconds: float) -> float:
        """A frame as long as something took, within what the sub-steps allow."""
        stepping = self.simulation.settings.stepping
        return min(max(seconds, SHORTEST_S), stepping.max_substep_delta * stepping.max_substeps)

    def _go_on(self, trajectory: Trajectory | None, delta: float | None) -> int:
        before = self.simulation.inputs()
        self.simulation.advance(trajectory, delta=delta)
        snapshot, inputs = Snapshot(self.simulation.frame, self.simulation.stamp), self.simulation.inputs()
        self.snapshot = snapshot
        for sensor, waiting in self._queues:
            message = getattr(inputs, sensor)
            if message is not None and message is not getattr(before, sensor):
                waiting.put((snapshot.frame, message))
        for callback in list(self._callbacks.values()):
            callback(snapshot)
        with self._ticked:
            self._ticked.notify_all()
        return snapshot.frame

    def wait_for_tick(self, seconds: float = 10.0) -> Snapshot:
        """Wait until another thread ticks, at most so many seconds.

        Raises:
            RuntimeError: the run is over, so that there will be no tick.
            TimeoutError: there was no tick within that time.
        """
        with self._ticked:
            frame = self.snapshot.frame
            if not self._ticked.wait_for(
                lambda: self._failure is not None or self.snapshot.frame > frame or self._no_more, timeout=seconds
            ):
                raise TimeoutError(f"no tick within {seconds:g} s")
            if self._failure is not None:
                raise self._failure
            if self.snapshot.frame == frame:
                raise RuntimeError(f"the run is over ({self.simulation.end})")
            return self.snapshot

    @property
    def _no_more(self) -> bool:
        """Whether the run is over and its last frame is told of."""
        return self.simulation.finished and self.snapshot.frame == self.simulation.frame

    def on_tick(self, callback: Callable[[Snapshot], None]) -> int:
        """Call back on every tick, in the order of registration; the number is for `remove_on_tick`."""
        self._next_callback += 1
        self._callbacks[self._next_callback] = callback
        return self._next_callback

    def remove_on_tick(self, number: int) -> None:
        """Stop calling back."""
        self._callbacks.pop(number, None)

    def listen(self, sensor: str) -> queue.SimpleQueue[Any]:
        """A queue that gets (frame, message) of one sensor on every tick on which it has a new one.

        Raises:
            InputError: there is no such sensor.
        """
        if sensor not in SENSORS:
            raise InputError("sensor", f"{sensor!r} is unknown", "one of " + ", ".join(SENSORS))
        waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._queues.append((sensor, waiting))
        return waiting


class AsyncWorld(SyncWorld):
    """A world that ticks by itself, in real time, from entering the context to leaving it.

    The planner runs beside it and is given the newest frame, with what came on a single frame of those that it was too
    slow for: calls of the operator and answers of the route server. A frame takes its latest plan. With `variable_step`
    a frame lasts as long as the last one took. Neither repeats: the same seed gives another run each time, which a
    `RuntimeWarning` says.

    What the planner, the simulation or a callback raises stops the world and ends a run that is not over as an `error`;
    leaving the context raises it, and so does `wait_for_tick`. No plan is asked for once the run is over.
    """

    def __init__(self, simulation: Simulation, drive: Drive, variable_step: bool = False) -> None:
        super().__init__(simulation, drive)
        self._variable_step = variable_step
        self._latest: Trajectory | None = None
        self._unseen: queue.SimpleQueue[Inputs] = queue.SimpleQueue()
        self._unseen.put(simulation.inputs())
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,), daemon=True) for work in (self._serve, self._plan)
        ]
        _warn("variable-step" if variable_step else "asynchronous")

    def __enter__(self) -> AsyncWorld:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        if self._failure is not None:
            if not self.simulation.finished:
                self.simulation.abort()
            if raised is not self._failure:
                raise self._failure

    def reload(self, seed: int, drive: Drive) -> None:
        """Not for this world.

        Raises:
            RuntimeError: always: its frames follow the clock, so that no seed brings a run back.
        """
        raise RuntimeError("an asynchronous world does not repeat")

    def tick(self) -> int:
        """Not for this world.

        Raises:
            RuntimeError: always: it ticks by itself.
        """
        raise RuntimeError("an asynchronous world ticks by itself")

    def _guarded(self, work: Callable[[], None]) -> None:
        """What one thread does; what it raises stops the other one."""
        try:
            work()
        except BaseException as failure:
            with self._ticked:
                self._failure = self._failure or failure
                self._over.set()
                self._ticked.notify_all()

    def _serve(self) -> None:
        last = time.monotonic()
        while not self.simulation.finished:
            if self._over.wait(max(last + self.simulation.dt - time.monotonic(), 0.0)):
                return
            took, last = time.monotonic() - last, time.monotonic()
            self._go_on(self._latest, self._lasting(took) if self._variable_step else None)
            if not self.simulation.finished:
                self._unseen.put(self.simulation.inputs())

    def _plan(self) -> None:
        while not self._over.is_set() and not self.simulation.finished:
            with contextlib.suppress(queue.Empty):
                inputs = self._unseen.get(timeout=NOTHING_NEW_S)
                while not self._unseen.empty():
                    inputs = _together(inputs, self._unseen.get())
                self._latest = self._drive(inputs)


def _together(before: Inputs, inputs: Inputs) -> Inputs:
    """The later of two frames with what came only on the earlier one."""
    calls = {name: getattr(before, name) or getattr(inputs, name) for name in CALLS}
    return dataclasses.replace(inputs, route_answers=before.route_answers + inputs.route_answers, **calls)


def _warn(mode: str) -> None:
    warnings.warn(f"{mode} runs do not repeat", RuntimeWarning, stacklevel=3)
