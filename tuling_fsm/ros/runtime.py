"""The planner node while it is active: ticks, sends, records and reports. Nothing here imports rclpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.parameters import flatten
from tuling_fsm.ros.driver import Driver, Ticked
from tuling_fsm.ros.health import Health
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.rhythm import Rhythm
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.outputs import Messages, Outputs, Wanted, everything, failure_messages, trajectory_messages
from tuling_fsm.wire.text import pack_json
from tuling_fsm.wire.why import explain
from tuling_fsm.world.inputs import RouteRequest

BEFORE_THE_PLAN = ("route_blocked", "state")
"""In lock-step these are waited for: a run would not repeat if the plan, or the next question, overtook them."""
HEALTH_PERIOD_NS = 1_000_000_000
KEEP_PERIOD_NS = 500_000_000


class Port(Protocol):
    """The node's ends of topics and services: `Endpoints`."""

    def publish(self, topic: str, message: bytes) -> None:
        """Send one serialized message."""

    def wanted(self, topic: str) -> bool:
        """Whether somebody listens."""

    def rivals(self) -> int:
        """How many others send trajectories on the same topic."""

    def flush(self, topics: Iterable[str]) -> None:
        """Wait a little until subscribers have what was sent."""

    def ask(self, ns: int, request: RouteRequest) -> None:
        """Send one question to the route server."""

    def give_up_questions(self, timeout_s: float) -> None:
        """Forget questions that have been open for longer than a time."""

    def rest(self, seconds: float) -> None:
        """Call `Runtime.rested` after a time, once; a new time takes the place of the last one."""

    def now_ns(self) -> int:
        """The node's clock."""


Refreshed = Callable[[], "tuple[PlannerNodeParameters, Any] | None"]


class Runtime:
    """From activation to deactivation.

    Args:
        driver: decides when to tick.
        port: where messages go.
        own: the node's parameters.
        bag: records every tick, if given.
        refreshed: gives the parameters when one has been set since.
        keep: given the state record every now and then, if anybody wants it.
        rhythm: of the odometry.
    """

    def __init__(
        self,
        driver: Driver,
        port: Port,
        own: PlannerNodeParameters,
        bag: BagWriter | None,
        refreshed: Refreshed,
        keep: Callable[[Any], None] | None = None,
        rhythm: Rhythm | None = None,
    ) -> None:
        self._driver = driver
        self._port = port
        self._own = own
        self._bag = bag
        self._wanted: Wanted = port.wanted if bag is None else everything
        self._refreshed = refreshed
        self._keep = keep
        self._rhythm = rhythm or Rhythm()
        self._kept_ns = 0
        self._outputs = Outputs()
        self._health = Health()
        self._last: Any = None
        self._plan: Messages = []
        self._new_parameters: Any = None
        """Set since the last tick, and not yet recorded."""
        self._odometry_at: int | None = None
        self._health_at = 0

    def received(self, topic: str, raw: bytes) -> None:
        """A message has come into the inbox."""
        if topic == "odometry":
            self._rhythm.heard()
            if self._driver.repeated(raw):
                self._send(self._plan)
            if self._driver.moves_on():
                self._odometry_at = self._port.now_ns()
        if topic == "odometry" or self._driver.lock_step:
            self._tick_if_due()

    def answered(self, number: int, points: FloatArray | None) -> None:
        """The route server has answered, or will not."""
        self._driver.unanswered.discard(number)
        if points is not None:
            self._driver.inbox.answer(number, points)
        if self._driver.lock_step:
            self._tick_if_due()

    def timer(self) -> None:
        """Tick where odometry is silent, and report on health."""
        now = self._port.now_ns()
        silent = self._driver.silent_tick(now, nanoseconds(self._own.odometry_timeout), self._odometry_at)
        if silent is not None:
            self._tick(silent)
        self._port.give_up_questions(self._own.route_timeout)
        if not 0 <= now - self._health_at < HEALTH_PERIOD_NS:
            self._health_at = now
            driver = self._driver
            received, rivals = driver.inbox.received, self._port.rivals()
            self._port.publish("/diagnostics", self._health.message(now, received, driver.last_ns, rivals))

    def rested(self) -> None:
        """The next odometry is near. What a tick needs has been driven out of the processor's caches by others since
        the last one: to do that once more, for nothing else, brings it back.
        """
        if self._own.keep_warm and self._last is not None:
            self._driver.repeat_tick()
            list(trajectory_messages(self._last.trajectory, nanoseconds(self._last.stamp), self._wanted))

    def explanation(self) -> str:
        """One sentence on what the car does and why, in the language that is set."""
        self._take_new_parameters()
        return "no tick yet" if self._last is None else explain(self._last, self._own.language)

    def halt(self) -> None:
        """Send a stop and see that it arrives, keep the state, close the bag."""
        stamp_ns = (self._driver.last_ns or self._port.now_ns()) + 1
        stop = self._driver.stop(stamp_ns / 1e9)
        self._send(trajectory_messages(stop, stamp_ns))
        self._port.flush(("trajectory",))
        self._keep_state(stamp_ns)
        if self._bag is not None:
            self._close(self._bag)

    def _tick_if_due(self) -> None:
        ns = self._driver.due()
        if ns is None:
            return
        elapsed_s = self._tick(ns)
        rest = None if self._driver.lock_step else self._rhythm.rest(elapsed_s)
        if rest is not None and self._own.keep_warm:
            self._port.rest(rest)

    def _tick(self, ns: int) -> float:
        """One tick; how long it took until there was a plan, s."""
        self._take_new_parameters()
        ticked = self._driver.tick(ns, self._own.late_after)
        plan = trajectory_messages(ticked.trajectory, ns, self._wanted)
        self._plan = list(plan) if self._driver.lock_step else self._send(plan)
        more = self._more(ticked, ns)
        self._send(more)
        if self._driver.lock_step:
            self._port.flush(topic for topic, _ in more if topic in BEFORE_THE_PLAN)
            self._send(self._plan)
        if ticked.tick is not None:
            self._last = ticked.tick
            for request in ticked.tick.decision.route_requests:
                self._driver.unanswered.add(request.number)
                self._port.ask(ns, request)
        self._health.ticked(ticked)
        if not 0 <= ns - self._kept_ns < KEEP_PERIOD_NS:
            self._keep_state(ns)
        if self._bag is not None:
            try:
                self._record(self._bag, ticked, ns, more)
            except InputError as error:
                self._driver.report(f"record: {error}; driving on without")
                self._bag, self._wanted = None, self._port.wanted
        return ticked.elapsed_s

    def _record(self, bag: BagWriter, ticked: Ticked, ns: int, more: Messages) -> None:
        """All of a tick; the parameters first, where they are new to it.

        Raises:
            InputError: it cannot be written, as on a full disk.
        """
        new, self._new_parameters = self._new_parameters, None
        if new is not None:
            bag.write(ns, "parameters", pack_json(flatten(new)))
        late = [("late", pack_json({"elapsed_ms": 1e3 * ticked.elapsed_s}))] if ticked.late else []
        bag.write_tick(ticked.inputs, [*more, *self._plan, *late])

    def _close(self, bag: BagWriter) -> None:
        try:
            bag.close()
        except InputError as error:
            self._driver.report(f"record: {error}")

    def _keep_state(self, ns: int) -> None:
        """Hand over the state of the planner, once it has one."""
        if self._keep is not None and self._last is not None:
            self._kept_ns = ns
            self._keep(self._driver.agent.record)

    def _more(self, ticked: Ticked, ns: int) -> Messages:
        """What is sent beside the plan."""
        if ticked.tick is None:
            return failure_messages(ns)
        return self._outputs.messages(ticked.tick, ns, self._own.why_rate, self._wanted)

    def _send(self, messages: Iterable[tuple[str, bytes]]) -> Messages:
        """Each as soon as it is made; returns all of them."""
        sent = []
        for topic, message in messages:
            self._port.publish(topic, message)
            sent.append((topic, message))
        return sent

    def _take_new_parameters(self) -> None:
        new = self._refreshed()
        if new is not None:
            self._own, self._new_parameters = new
            self._driver.agent.reconfigure(self._new_parameters)
