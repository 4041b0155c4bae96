"""What executes the nodes of a storyboard, one runner each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

from tuling_fsm.sim.scenario.conditions import ElementState
from tuling_fsm.sim.scenario.model import (
    Action,
    Event,
    EventPriority,
    Node,
    OneOf,
    Parallel,
    Repeat,
    ScriptedManeuver,
    Serial,
    SignalCycle,
)
from tuling_fsm.sim.scenario.monitors import TIME_TOLERANCE, ConditionMonitor, StoryboardStep

Build = Callable[[Node], "Runner"]
"""Makes the runner of a node."""


class Runner(ABC):
    """One node while it is executed: `step` until it says that it is over, or `cut` it short."""

    outcome = ElementState.END
    """What it has gone through when it is over."""

    def __init__(self, node: Node) -> None:
        self._label = node.label
        self._until = node.until if isinstance(node, Action | Serial | Parallel | OneOf) else None
        self._end_monitor: ConditionMonitor | None = None
        self._started = False

    def step(self, now: StoryboardStep) -> bool:
        """Execute to the stamp of `now`; whether the node is over."""
        if not self._started:
            self._start(now)
        elif self._end_monitor is not None and self._end_monitor.holds(now):
            self.cut(now, self._at_until(now))
            return True
        over = self.execute(now)
        if over:
            now.announce(self._label, self.outcome)
        return over

    def _at_until(self, now: StoryboardStep) -> ElementState:
        """What it goes through when its `until` holds."""
        return ElementState.STOP

    @abstractmethod
    def execute(self, now: StoryboardStep) -> bool:
        """The part that differs by node: whether it is over."""

    def cut(self, now: StoryboardStep, how: ElementState = ElementState.STOP) -> None:
        """End now whatever is still going on."""
        now.announce(self._label, how)

    def _start(self, now: StoryboardStep) -> None:
        self._started = True
        if self._until is not None:
            self._end_monitor = ConditionMonitor(self._until, now.view.stamp)
        now.announce(self._label, ElementState.START)


class ManeuverRunner(Runner):
    """Events on standby and going on (ASAM OpenSCENARIO XML 1.3, 7.3.2)."""

    def __init__(self, node: ScriptedManeuver, build: Build) -> None:
        super().__init__(node)
        self._events = [_EventRunner(event, build) for event in node.events]

    def execute(self, now: StoryboardStep) -> bool:
        """Go on by a step; whether it is over."""
        for event in self._events:
            if event.triggered(now):
                self._begin(event, now)
            event.step(now)
        return all(event.complete for event in self._events)

    def _begin(self, event: _EventRunner, now: StoryboardStep) -> None:
        others = [other for other in self._events if other is not event and other.running]
        if event.node.priority is EventPriority.SKIP and others:
            event.skip(now)
            return
        if event.node.priority is EventPriority.OVERRIDE:
            for other in others:
                other.cut(now)
        event.begin(now)

    def cut(self, now: StoryboardStep, how: ElementState = ElementState.STOP) -> None:
        """End all events, those on standby too."""
        for event in self._events:
            if not event.complete:
                event.cut(now)
        super().cut(now, how)


class _EventRunner:
    """One event of a maneuver, through all its executions."""

    def __init__(self, node: Event, build: Build) -> None:
        self.node = node
        self._build = build
        self._monitor: ConditionMonitor | None = None
        self._left = node.executions
        self._running: Runner | None = None

    @property
    def running(self) -> bool:
        """Whether its actions are going on."""
        return self._running is not None

    @property
    def complete(self) -> bool:
        """Whether it has been executed as often as it may."""
        return self._running is None and self._left <= 0

    def triggered(self, now: StoryboardStep) -> bool:
        """Whether it is to begin. What happens to its trigger while it is going on is seen, so that it is not taken for
        news once it is on standby again, but begins nothing.
        """
        if self._left <= 0:
            return False
        if self.node.trigger is None:
            return not self.running
        if self._monitor is None:
            self._monitor = ConditionMonitor(self.node.trigger, now.view.stamp)
        return self._monitor.holds(now) and not self.running

    def begin(self, now: StoryboardStep) -> None:
        """Begin its actions."""
        self._left -= 1
        self._running = self._build(self.node.member)
        now.announce(self.node.label, ElementState.START)

    def skip(self, now: StoryboardStep) -> None:
        """It would begin, but others go on."""
        self._left -= 1
        now.announce(self.node.label, ElementState.SKIP)
        if self.complete:
            now.memory.states[self.node.label] = ElementState.COMPLETE

    def step(self, now: StoryboardStep) -> None:
        """Go on with its actions."""
        if self._running is not None and self._running.step(now):
            self._running = None
            now.announce(self.node.label, ElementState.END)
            if not self.complete:
                now.stand_by(self.node.label)

    def cut(self, now: StoryboardStep) -> None:
        """End its actions now; it is not executed again."""
        if self._running is not None:
            self._running.cut(now)
        self._running, self._left = None, 0
        now.announce(self.node.label, ElementState.STOP)


class CycleRunner(Runner):
    """Phases of a signal controller by the clock: one that begins between two steps ends as if it had not been late."""

    def __init__(self, node: SignalCycle) -> None:
        super().__init__(node)
        self._node = node
        self._next, self._due = 0, node.start
        """The phase to begin next, and when, s."""
        self._set = -math.inf
        """When another phase was asked for last, s."""

    def execute(self, now: StoryboardStep) -> bool:
        """Begin the phases that are due; False: there is always a next one."""
        phases = self._node.phases
        asked = now.memory.events.get(self._node.controller, -math.inf)
        if asked > self._set:
            self._set = asked
            names = [phase.name for phase in phases]
            self._next = names.index(now.memory.variables[self._node.controller])
            self._go_on(asked)
        for _ in phases:
            if now.view.stamp < self._due - TIME_TOLERANCE:
                break
            phase = phases[self._next]
            now.issued.extend(phase.commands)
            now.memory.variables[self._node.controller] = phase.name
            self._go_on(self._due)
        self._catch_up(now.view.stamp)
        return False

    def _go_on(self, begun: float) -> None:
        """The next phase begins when the present one, which has begun at a time (s), is over."""
        self._due = begun + self._node.phases[self._next].seconds
        self._next = (self._next + 1) % len(self._node.phases)

    def _catch_up(self, stamp: float) -> None:
        """Whole cycles that are shorter than a step are left out; one of no length goes no further."""
        cycle = math.fsum(phase.seconds for phase in self._node.phases)
        behind = stamp - self._due
        if behind >= 0.0:
            self._due = self._due + math.floor(behind / cycle) * cycle if cycle > 0.0 else math.inf


class RepeatRunner(Runner):
    """A node again and again."""

    def __init__(self, node: Repeat, build: Build) -> None:
        super().__init__(node)
        self._build, self._member, self._left = build, node.member, node.times
        self._running: Runner | None = None

    def execute(self, now: StoryboardStep) -> bool:
        """Go on by a step; whether it is over. An execution that takes no time is the last one in its step."""
        while self._left > 0:
            begins = self._running is None
            if self._running is None:
                self._running = self._build(self._member)
            if not self._running.step(now):
                return False
            self._running, self._left = None, self._left - 1
            if self._left > 0:
                now.stand_by(self._member.label)
                if begins:
                    return False
        return True

    def cut(self, now: StoryboardStep, how: ElementState = ElementState.STOP) -> None:
        """End the present execution, the last one."""
        if self._running is not None:
            self._running.cut(now)
        super().cut(now, how)
