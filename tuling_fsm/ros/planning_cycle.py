"""The planner from activation to deactivation: what comes in, when it ticks, what is to be sent. Nothing here imports
rclpy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tuling_fsm.bag.saved_state import save_state
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.behaviour.operator_calls import answer_call
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError, in_one_line
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.notice import Notice
from tuling_fsm.core.parameters import flatten
from tuling_fsm.core.topics import INPUTS
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.last_resort import braking, is_elsewhere, straight_on
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.timing import Health, MessageRate, MonotonicClock
from tuling_fsm.wire.cdr import nanoseconds, seconds
from tuling_fsm.wire.outputs import Messages, Outputs, Wanted, everything, trajectory_messages
from tuling_fsm.wire.text import pack_json
from tuling_fsm.wire.why import CLOCK_STANDS, PLANNER_FAILED, Failure, explain
from tuling_fsm.world.inputs import Inputs, RouteRequest

if TYPE_CHECKING:
    from tuling_fsm.agent import Agent, Parameters, Tick

LOCK_STEP = tuple(topic.name for topic in INPUTS if topic.lock_step)
"""Inputs that have to bear the odometry's stamp in lock-step."""
BEFORE_THE_PLAN = ("route_blocked", "state")
"""In lock-step these are waited for: a run would not repeat if the plan, or the next question, overtook them."""
LATE_AT_MOST = 5
"""After so many late plans in a row the car is stopped."""
LOOK_S, SLOWER = 1.0, 0.3
"""A plan brakes that is slower than another by so much (m/s) after this time (s)."""
BUSY_S = 0.1
"""Where the timer is called so long after the last time (s) the node was busy, and what came meanwhile waits."""
HEALTH_PERIOD_S = 1.0
KEEP_PERIOD_NS = 500_000_000


class Log(Protocol):
    """Where lines for people go: the node's logger."""

    def error(self, line: str) -> object:
        """Something failed."""

    def warning(self, line: str) -> object:
        """Something is odd."""

    def info(self, line: str) -> object:
        """Something goes as it should."""


@dataclass(frozen=True)
class Acknowledge:
    """To wait until every reliable subscriber has what was sent on some topics: DDS gives no order across topics.

    For topics of depth 1 that takes some milliseconds; deeper ones are acknowledged every few seconds only.
    """

    topics: tuple[str, ...]
    needed: bool
    """Whether to go on without would make the run another one."""


@dataclass(frozen=True)
class PendingRouteRequest:
    """A question for the route server, with the stamp (ns) of its tick."""

    ns: int
    request: RouteRequest


@dataclass(frozen=True)
class RestTimer:
    """`rested` is to be called after a time (s), once; a new time takes the place of the last one."""

    seconds: float


Output = tuple[str, bytes] | Acknowledge | PendingRouteRequest | RestTimer
"""What is to be done, in its order: a topic with the serialized message to publish on it, or another kind."""


@dataclass(frozen=True, eq=False)
class TickOutcome:
    """What came of a tick: `tick` is None when the agent failed; a `late` plan is not the one to send."""

    inputs: Inputs
    tick: Tick | None
    trajectory: Trajectory
    late: bool
    elapsed_s: float


class PlanningCycle:
    """Ticks the agent when that is due, and has an answer whatever the agent does (SAF-1).

    What is to be sent is given out piece by piece, each made when the one before has been taken: the trajectory is on
    its way before anything else is made.

    Args:
        agent: what plans.
        inbox: where its inputs come in; it begins anew.
        own: the node's parameters.
        log: told of what went wrong.
        now_ns: the node's clock.
        wanted: whether a topic has a subscriber.
        bag: records every tick, if given.
        clock: seconds of wall time, by which the lateness of a plan and of the timer are judged, and a node's clock
            that stands.
        odometry_rate: when the next odometry is to be expected.
        left_hand: whether the map's traffic keeps to the left.
        road_map: the map, as a saved state names it.
        name: of the node, on `/diagnostics`.
    """

    def __init__(
        self,
        agent: Agent,
        inbox: Inbox,
        own: PlannerNodeParameters,
        log: Log,
        now_ns: Callable[[], int],
        wanted: Wanted,
        bag: BagWriter | None = None,
        clock: Callable[[], float] = time.perf_counter,
        odometry_rate: MessageRate | None = None,
        left_hand: bool = False,
        road_map: str = "",
        name: str = "planner",
    ) -> None:
        inbox.begin_anew(agent.record.mission is not None, own.lock_step)
        self._agent = agent
        self._road_map = road_map
        self._inbox = inbox
        self._own = own
        self._log = log
        self._now_ns = now_ns
        self._monotonic = MonotonicClock(now_ns)
        self._listened = wanted
        self._wanted = wanted if bag is None else everything
        self._bag = bag
        self._clock = clock
        self._odometry_rate = odometry_rate or MessageRate()
        self._health = Health(name)
        self._outputs = Outputs(left_hand)
        self._unanswered: set[int] = set()
        """Numbers of the questions to the route server that are open."""
        self._last: Tick | None = None
        self._last_ns: int | None = None
        """Stamp of the last tick."""
        self._ticked_on: int | None = None
        """Stamp of the odometry of the last tick."""
        self._heard_ns: int | None = None
        """Stamp of the odometry that came last; a clock that stands is silence."""
        self._awaited_at = self._monotonic.ns() or None
        """The monotonic clock when odometry began to be waited for; None while a simulated clock has not come."""
        self._odometry_at: int | None = None
        """The same when it came."""
        self._late = False
        """Whether it has been told that odometry came too late."""
        self._plan: Messages = []
        """What was sent of the last trajectory."""
        self._sent: Trajectory | None = None
        """The trajectory that was sent last."""
        self._sent_ns: int | None = None
        """Its stamp."""
        self._failure: Failure | None = None
        """Why that does not come from the agent; None where it does."""
        self._late_in_a_row = 0
        self._new_parameters: Parameters | None = None
        """Set since the last tick, and not yet recorded."""
        self._kept_ns = 0
        self._unkept = self._unrecorded = ""
        """What was said last of a state that cannot be kept, and of a tick that cannot be recorded."""
        self._health_at: float | None = None
        self._called_at: float | None = None
        """When the timer was called last."""

    def receive(self, topic: str, raw: bytes) -> Iterator[Output]:
        """A message has come: it goes into the inbox, and what is due is done."""
        usable, odometry = self._inbox.receive(topic, raw, ticking=True), topic == "odometry"
        if odometry and self._inbox.heard_ns != self._heard_ns:
            if not usable and self._odometry_at is not None and not self._late:
                self._late = True
                self._log.warning("odometry: older than a tick of silence, not taken (expected in odometry_timeout)")
            self._heard_ns, self._odometry_at = self._inbox.heard_ns, self._monotonic.ns()
        if not usable:
            return
        if odometry:
            self._odometry_rate.heard()
            if self._own.lock_step and self._inbox.stamps[topic] == self._last_ns:
                yield from self._plan  # It has been answered already, so that the answer must have been lost.
        if odometry or self._own.lock_step:
            yield from self._tick_if_due()

    def answer(self, number: int, points: FloatArray | None) -> Iterator[Output]:
        """The route server has answered, or will not."""
        self._unanswered.discard(number)
        if points is not None:
            self._inbox.answer(number, points)
        if self._own.lock_step:
            yield from self._tick_if_due()

    def timer(self, other_publishers: int) -> Iterator[Output]:
        """Called every now and then: tick where odometry is silent, and report on health. After a long tick the timer
        may be called before the odometry that has come meanwhile, which is no silence: then the next call tells.

        Args:
            other_publishers: how many other nodes send trajectories on the same topic.
        """
        now, called = self._now_ns(), self._clock()
        if self._awaited_at is None and now:
            self._begin_to_wait()
        busy = self._called_at is not None and called - self._called_at > BUSY_S
        self._called_at = called
        # In lock-step it stands between two steps.
        if not self._own.lock_step and self._monotonic.begins_to_stand(now, called, busy):
            self._log.warning("the ROS clock stands (expected /clock with use_sim_time): silence is told by wall time")
        silent = None if busy else self._silent(self._monotonic.ns())
        if silent is not None and self._monotonic.stands:
            yield from self._brake(silent)
        elif silent is not None:
            yield from self._outputs_of(self._tick(silent), silent)
        if self._health_at is None or called - self._health_at >= HEALTH_PERIOD_S:
            self._health_at = called
            heard, quiet_s = self._inbox.stamps, self._quiet_s(busy)
            yield "/diagnostics", self._health.message(now, heard, self._sent_ns, other_publishers, quiet_s)

    def rested(self) -> None:
        """The next odometry is near. What a tick needs has left the processor's caches since the last one: doing
        it once more, for nothing else, brings it back.
        """
        if not self._own.keep_warm or self._last is None:
            return
        try:
            self._agent.repeat()
        except Exception as error:
            self._log.error(f"the last tick could not be repeated: {in_one_line(error)}")
        list(trajectory_messages(self._last.trajectory, nanoseconds(self._last.stamp), self._wanted))

    def reconfigure(self, own: PlannerNodeParameters, parameters: Parameters) -> None:
        """Take other parameters from the next tick on (USE-12); only live ones have changed."""
        self._own, self._new_parameters = own, parameters
        self._agent.reconfigure(parameters)

    def explanation(self) -> str:
        """One sentence on what the car does and why, in the language that is set."""
        if self._failure is not None:
            return self._failure.words[self._own.language]
        return "no tick yet" if self._last is None else explain(self._last, self._own.language)

    def call(self, name: str) -> tuple[bool, str]:
        """A service call of the operator: whether it can do anything in the present state, and when or why not."""
        if self._last is None:
            return False, "no tick yet"
        possible, said = answer_call(name, self._last.decision)
        if possible:
            self._inbox.call(name)
        return possible, said

    def halt(self) -> Iterator[Output]:
        """Send a stop and see that it arrives, keep the state, close the bag."""
        ns = (self._sent_ns or self._now_ns()) + 1
        yield from trajectory_messages(self._stop(seconds(ns)), ns)
        yield Acknowledge(("trajectory",), needed=False)
        self._keep_state(ns)
        if self._bag is not None:
            try:
                self._bag.close()
            except InputError as error:
                self._log.error(f"record: {error}")

    def _tick_if_due(self) -> Iterator[Output]:
        ns = self._inbox.stamps.get("odometry")
        if ns is None or not self._moves_on():
            return
        if self._own.lock_step:
            complete = all(self._inbox.stamps.get(topic) == ns for topic in LOCK_STEP)
            if not complete or self._unanswered:
                return
        outcome = self._tick(ns)
        yield from self._outputs_of(outcome, ns)
        rest = None if self._own.lock_step else self._odometry_rate.rest(outcome.elapsed_s)
        if rest is not None and self._own.keep_warm:
            yield RestTimer(rest)

    def _moves_on(self) -> bool:
        """Whether the latest odometry is another one than that of the last tick."""
        return self._inbox.stamps.get("odometry") not in (self._ticked_on, self._last_ns)

    def _quiet_s(self, busy: bool) -> float | None:
        """Since odometry came (s), none where more of it may wait for the node; None where none has come."""
        if self._odometry_at is None:
            return None
        return 0.0 if busy else seconds(self._monotonic.ns() - self._odometry_at)

    def _silent(self, now_ns: int) -> int | None:
        """The stamp of the tick that silence asks for (SAF-1): the odometry's time goes on by the node's clock."""
        if self._own.lock_step:
            return None
        silence = now_ns - ((self._awaited_at or 0) if self._odometry_at is None else self._odometry_at)
        if silence < nanoseconds(self._own.odometry_timeout):
            return None
        known = self._odometry_at is not None and "odometry" in self._inbox.stamps
        stamp = self._inbox.stamps["odometry"] + silence if known else now_ns
        return stamp if self._last_ns is None or stamp > self._last_ns else None

    def _begin_to_wait(self) -> None:
        """The node's clock has come, which is no silence of as many years, nor is 0 a time to tick at."""
        self._awaited_at = self._monotonic.ns()
        if self._odometry_at is not None:
            self._odometry_at = self._awaited_at

    def _brake(self, ns: int) -> Iterator[Output]:
        """A stop beside the agent, for which no time goes by: a simulation that was paused goes on as it was."""
        self._failure = CLOCK_STANDS
        self._sent, self._sent_ns = self._stop(seconds(ns)), ns
        yield from trajectory_messages(self._sent, ns, self._wanted)
        yield from self._outputs.failure(CLOCK_STANDS, ns)

    def _tick(self, ns: int) -> TickOutcome:
        """One tick; a plan that took too long gives way to the rest of the last one, if any."""
        began = self._clock()
        inputs = self._inbox.take(ns)
        self._last_ns, self._ticked_on = ns, self._inbox.stamps.get("odometry")
        tick: Tick | None = None
        try:
            tick = self._agent.step(inputs)
            trajectory, self._failure = tick.trajectory, None
        except Exception as error:
            if self._failure is not PLANNER_FAILED:
                self._log.error(f"the planner failed, braking: {in_one_line(error)}")
            self._failure = PLANNER_FAILED
            trajectory = self._stop(inputs.stamp, inputs)
        elapsed = self._clock() - began
        late = not self._own.lock_step and elapsed > self._own.late_after
        self._late_in_a_row = self._late_in_a_row + 1 if late else 0
        if late and tick is not None:
            trajectory = self._instead_of_late(trajectory)
        self._sent, self._sent_ns = trajectory, ns
        return TickOutcome(inputs, tick, trajectory, late, elapsed)

    def _outputs_of(self, outcome: TickOutcome, ns: int) -> Iterator[Output]:
        """What is to be sent of a tick, and then what is kept of it."""
        plan = trajectory_messages(outcome.trajectory, ns, self._wanted)
        if self._own.lock_step:
            self._plan, more = list(plan), self._more(outcome, ns)
            yield from more
            yield Acknowledge(tuple(topic for topic, _ in more if topic in BEFORE_THE_PLAN), needed=True)
            yield from self._plan
        else:
            self._plan = []
            for message in plan:
                yield message
                self._plan.append(message)
            more = self._more(outcome, ns)
            yield from more
        flaps = None
        if outcome.tick is not None:
            self._last, flaps = outcome.tick, outcome.tick.decision.flaps
            for request in outcome.tick.decision.route_requests:
                self._unanswered.add(request.number)
                yield PendingRouteRequest(ns, request)
        self._health.ticked(outcome.elapsed_s, outcome.late, flaps)
        if not 0 <= ns - self._kept_ns < KEEP_PERIOD_NS:
            self._keep_state(ns)
        self._record(outcome, ns, more)

    def _more(self, outcome: TickOutcome, ns: int) -> Messages:
        """What is sent beside the plan; what the tick reports goes to the log too."""
        if outcome.tick is None:
            return self._outputs.failure(PLANNER_FAILED, ns)
        messages = self._outputs.messages(outcome.tick, ns, self._own.why_rate, self._wanted)
        for line in self._outputs.new_reports:
            (self._log.info if isinstance(line, Notice) else self._log.warning)(line)
        return messages

    def _instead_of_late(self, late: Trajectory) -> Trajectory:
        """The rest of the last plan, after some in a row a comfortable stop; a plan that brakes is never held back, nor
        one for a car that is elsewhere (SAF-5).
        """
        if self._sent is None or self._sent.end_stamp <= late.stamp:
            return late
        if is_elsewhere(self._sent, late.stamp, late.pose(0)):
            return late
        if self._late_in_a_row > LATE_AT_MOST:
            return self._stop(late.stamp)
        rest, soon = self._sent.after(late.stamp), late.stamp + LOOK_S
        return late if abs(late.sample(soon)[2]) < abs(rest.sample(soon)[2]) - SLOWER else rest

    def _stop(self, stamp: float, inputs: Inputs | None = None) -> Trajectory:
        """Braking along the last trajectory; without one, or elsewhere, straight on from where the car is (SAF-5)."""
        way, odometry = self._sent, None if inputs is None else inputs.odometry
        if odometry is not None and (way is None or is_elsewhere(way, stamp, odometry.pose)):
            way = straight_on(stamp, odometry.pose, odometry.v)
        decel = self._agent.parameters.vehicle.comfort_decel
        return braking(way or Trajectory.standing(stamp, Pose(0.0, 0.0, 0.0)), stamp, decel)

    def _keep_state(self, ns: int) -> None:
        """Write the state of the planner, once it has one, where that is wished (EST-2)."""
        if not self._own.state_file or self._last is None:
            return
        self._kept_ns = ns
        try:
            save_state(self._own.state_file, self._agent.record, self._road_map)
            self._unkept = ""
        except InputError as error:
            if self._unkept != str(error):
                self._unkept = str(error)
                self._log.warning(f"state_file: {error}")

    def _record(self, outcome: TickOutcome, ns: int, more: Messages) -> None:
        """All of a tick into the bag; the parameters first, where they are new to it. A disk that is full ends that; a
        message that cannot be written is told once, and its tick is recorded without it and what follows it.
        """
        if self._bag is None:
            return
        new, self._new_parameters = self._new_parameters, None
        late = [("late", pack_json({"elapsed_ms": 1e3 * outcome.elapsed_s}))] if outcome.late else []
        try:
            if new is not None:
                self._bag.write(ns, "parameters", pack_json(flatten(new)))
            self._bag.write_tick(outcome.inputs, [*more, *self._plan, *late])
        except InputError as error:
            self._log.error(f"record: {error}; driving on without")
            self._bag, self._wanted = None, self._listened
        except Exception as error:
            if self._unrecorded != (said := in_one_line(error)):
                self._unrecorded = said
                self._log.error(f"record: not all of a tick: {said}")
