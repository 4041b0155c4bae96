"""When the planner ticks, and what is sent when a tick fails; everything of the planner node that needs no ROS."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.ros.failure import in_one_line
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.last_resort import braking
from tuling_fsm.wire.cdr import stamp_ns
from tuling_fsm.world.inputs import Inputs

LOCK_STEP_TABLES = ("objects", "traffic_lights")
"""Tables that have to bear the odometry's stamp in lock-step: DDS gives no order across topics."""
LATE_AT_MOST = 5
"""After so many late plans in a row the car is stopped."""
LOOK_S, SLOWER = 1.0, 0.3
"""A plan brakes that is slower than another by so much (m/s) after this time (s)."""


class Agent(Protocol):
    """The planner: `tuling_fsm.agent.Agent`."""

    def warm_up(self) -> None:
        """Compile everything."""

    def step(self, inputs: Inputs) -> Any:
        """One tick; returns a `Tick`."""

    def repeat(self) -> None:
        """Do the last tick once more, without any effect."""

    def reconfigure(self, parameters: Any) -> None:
        """Take new parameters for the next tick; only live ones have changed."""

    @property
    def record(self) -> Any:
        """The state, plain and picklable."""

    def restore(self, record: Any) -> None:
        """Go on from a record."""


@dataclass(frozen=True, eq=False)
class Ticked:
    """What came of a tick: `tick` is None when the agent failed; a `late` plan is not the one to send."""

    inputs: Inputs
    tick: Any | None
    trajectory: Trajectory
    late: bool
    elapsed_s: float


class Driver:
    """Calls the agent when a tick is due, and has an answer whatever the agent does (SAF-1).

    Args:
        agent: what plans.
        inbox: where its inputs come in.
        lock_step: wait for the tables of the odometry's stamp and for the answers of the route server.
        decel: braking of the last resort, m/s^2.
        report: told of what went wrong.
        clock: seconds of wall time; nothing but the lateness of a plan is judged by it.
    """

    def __init__(
        self,
        agent: Agent,
        inbox: Inbox,
        lock_step: bool,
        decel: float,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.agent = agent
        self.inbox = inbox
        self.lock_step = lock_step
        self.decel = decel
        self.report = report
        self._clock = clock
        self.unanswered: set[int] = set()
        """Numbers of the questions to the route server that are open."""
        self.last_ns: int | None = None
        """Stamp of the last tick."""
        self._ticked_on: int | None = None
        """Stamp of the odometry of the last tick."""
        self.sent: Trajectory | None = None
        """The trajectory that was sent last."""
        self.failures = 0
        """Ticks in a row that the agent failed."""
        self.late_in_a_row = 0

    def due(self) -> int | None:
        """The stamp (ns) of the tick that the messages received so far ask for."""
        ns = self.inbox.received.get("odometry")
        if ns is None or not self.moves_on():
            return None
        if self.lock_step:
            complete = all(self.inbox.received.get(topic) == ns for topic in LOCK_STEP_TABLES)
            return ns if complete and not self.unanswered else None
        return ns

    def moves_on(self) -> bool:
        """Whether the latest odometry is another one than that of the last tick; a clock that stands is silence."""
        return self.inbox.received.get("odometry") not in (self._ticked_on, self.last_ns)

    def repeated(self, raw: bytes) -> bool:
        """In lock-step: whether this odometry has been answered already, so that the answer must have been lost."""
        return self.lock_step and self.last_ns is not None and stamp_ns(raw) == self.last_ns

    def tick(self, ns: int, late_after: float) -> Ticked:
        """One tick; a plan that took longer than `late_after` (s) gives way to the rest of the last one, if any."""
        began = self._clock()
        inputs = self.inbox.take(ns)
        self.last_ns, self._ticked_on = ns, self.inbox.received.get("odometry")
        try:
            tick = self.agent.step(inputs)
            trajectory: Trajectory = tick.trajectory
            self.failures = 0
        except Exception as error:
            if self.failures == 0:
                self.report(f"the planner failed, braking: {in_one_line(error)}")
            self.failures += 1
            tick, trajectory = None, self.stop(inputs.stamp, inputs)
        elapsed = self._clock() - began
        late = not self.lock_step and elapsed > late_after
        self.late_in_a_row = self.late_in_a_row + 1 if late else 0
        if late and tick is not None:
            trajectory = self._instead_of_late(trajectory)
        self.sent = trajectory
        return Ticked(inputs, tick, trajectory, late, elapsed)

    def repeat_tick(self) -> None:
        """Do the last tick once more, without any effect; nothing that comes of it stops the node."""
        try:
            self.agent.repeat()
        except Exception as error:
            self.report(f"the last tick could not be repeated: {in_one_line(error)}")

    def _instead_of_late(self, late: Trajectory) -> Trajectory:
        """The rest of the last plan, after some in a row a comfortable stop; a plan that brakes is never held back."""
        if self.sent is None or self.sent.end_stamp <= late.stamp:
            return late
        if self.late_in_a_row > LATE_AT_MOST:
            return self.stop(late.stamp)
        rest = self.sent.after(late.stamp)
        soon = late.stamp + LOOK_S
        return late if abs(late.sample(soon)[2]) < abs(rest.sample(soon)[2]) - SLOWER else rest

    def stop(self, stamp: float, inputs: Inputs | None = None) -> Trajectory:
        """Braking along the last trajectory; without one, straight on from where the car is."""
        if self.sent is None and inputs is not None and inputs.odometry is not None:
            odometry = inputs.odometry
            return braking(_straight(stamp, odometry.pose, odometry.v), stamp, self.decel)
        return braking(self.sent or Trajectory.standing(stamp, Pose(0.0, 0.0, 0.0)), stamp, self.decel)

    def silent_tick(self, now_ns: int, timeout_ns: int, odometry_at_ns: int | None) -> int | None:
        """The stamp of the tick that silence asks for: the odometry's time goes on by the node's clock.

        Args:
            now_ns: the node's clock.
            timeout_ns: after so much silence (SAF-1).
            odometry_at_ns: the node's clock when odometry came last.
        """
        if self.lock_step or (odometry_at_ns is not None and now_ns - odometry_at_ns < timeout_ns):
            return None
        stamp = now_ns
        if odometry_at_ns is not None:
            stamp = self.inbox.received["odometry"] + now_ns - odometry_at_ns
        return stamp if self.last_ns is None or stamp > self.last_ns else None


def _straight(stamp: float, pose: Pose, v: float) -> Trajectory:
    """A minute straight on at constant speed."""
    t = np.array([0.0, 60.0])
    way = v * t
    zero = np.zeros(2)
    x, y = pose.x + way * elementwise.cos(pose.heading), pose.y + way * elementwise.sin(pose.heading)
    return Trajectory(stamp, t, x, y, zero + pose.heading, zero, zero + v, zero)
