"""Executes a scenario: steps the tree of serial, parallel and one_of nodes and gives the commands of each step."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import (
    AllOf,
    AnyOf,
    Arrived,
    Compare,
    Condition,
    Elapsed,
    Emitted,
    Reached,
    Relation,
)
from tuling_fsm.sim.scenario.measurements import measure
from tuling_fsm.sim.scenario.model import Action, Emit, Node, OneOf, Parallel, Scenario, Serial, SimulationView, Wait

TIME_TOLERANCE = 1e-6
"""Stamps are sums of steps: a wait is over when it misses its end by less than this, s."""
SPEED_TOLERANCE = 0.1
"""`Reached`, m/s."""
EXACT = 1e-9
"""`==` without a crossing, in the unit of the quantity."""


class Storyboard:
    """The running storyboard of a scenario. Holds all that changes; the scenario stays as it was compiled.

    Every `one_of` is drawn before anything is executed, in the order of the text: nothing on the way changes a draw.
    """

    def __init__(self, scenario: Scenario, draw: np.random.Generator) -> None:
        self._root = _runner(scenario.storyboard, draw)
        self._events: dict[str, float] = {}
        self.finished = False

    def step(self, view: SimulationView) -> tuple[Command, ...]:
        """Execute on to the view's stamp; what begins and ends in one instant is issued in the order of the text."""
        if self.finished:
            return ()
        now = _Step(view, self._events)
        self.finished = self._root.step(now)
        return tuple(now.issued)


@dataclass
class _Step:
    """One step: what is seen, what has been emitted (event to stamp), what has been issued so far."""

    view: SimulationView
    events: dict[str, float]
    issued: list[Command] = field(default_factory=list)

    def emit(self, event: str) -> None:
        self.events[event] = self.view.stamp


class _ConditionMonitor:
    """One condition from the moment on that it is waited for."""

    def __init__(self, condition: Condition, since: float) -> None:
        self._condition = condition
        self._since = since
        self._previous: float | None = None
        nested = condition.conditions if isinstance(condition, AnyOf | AllOf) else ()
        self._nested = [_ConditionMonitor(member, since) for member in nested]

    def holds(self, now: _Step) -> bool:
        match self._condition:
            case Elapsed(seconds):
                return now.view.stamp - self._since >= seconds - TIME_TOLERANCE
            case Arrived(actor):
                return now.view.arrived(actor)
            case Reached(actor, target):
                state = now.view.actor(actor)
                return state is not None and abs(state.speed - target) <= SPEED_TOLERANCE
            case Emitted(event):
                return now.events.get(event, -math.inf) >= self._since
            case Compare():
                return self._compare(self._condition, now)
            case AnyOf():
                return any(self._all_looked_at(now))
            case AllOf():
                return all(self._all_looked_at(now))
            case _:
                assert_never(self._condition)

    def _all_looked_at(self, now: _Step) -> list[bool]:
        """Every member is evaluated on every step: a crossing shows only between two evaluations."""
        return [member.holds(now) for member in self._nested]

    def _compare(self, condition: Compare, now: _Step) -> bool:
        value = measure(condition.quantity, now.view)
        previous, self._previous = self._previous, value
        return value is not None and _RELATIONS[condition.relation](previous, value, condition.value)


def _equal(previous: float | None, value: float, wanted: float) -> bool:
    crossed = previous is not None and (previous - wanted) * (value - wanted) < 0.0
    return crossed or abs(value - wanted) <= EXACT


_RELATIONS: dict[Relation, Callable[[float | None, float, float], bool]] = {
    Relation.LESS: lambda previous, value, wanted: value < wanted,
    Relation.LESS_EQUAL: lambda previous, value, wanted: value <= wanted,
    Relation.EQUAL: _equal,
    Relation.UNEQUAL: lambda previous, value, wanted: not _equal(previous, value, wanted),
    Relation.GREATER_EQUAL: lambda previous, value, wanted: value >= wanted,
    Relation.GREATER: lambda previous, value, wanted: value > wanted,
}


class _Runner(ABC):
    """One node while it is executed: `step` until it says that it is over, or `cut` it short."""

    def __init__(self, node: Node) -> None:
        self._label = node.label
        self._until = node.until if isinstance(node, Action | Serial | Parallel | OneOf) else None
        self._end_monitor: _ConditionMonitor | None = None
        self._started = False

    def step(self, now: _Step) -> bool:
        """Execute to the stamp of `now`; whether the node is over."""
        if not self._started:
            self._start(now)
        elif self._end_monitor is not None and self._end_monitor.holds(now):
            self.cut(now)
            return True
        over = self.execute(now)
        if over:
            self._announce(now, "end")
        return over

    @abstractmethod
    def execute(self, now: _Step) -> bool:
        """The part that differs by node: whether it is over."""

    def cut(self, now: _Step) -> None:
        """End now whatever is still going on."""
        self._announce(now, "end")

    def _start(self, now: _Step) -> None:
        self._started = True
        if self._until is not None:
            self._end_monitor = _ConditionMonitor(self._until, now.view.stamp)
        self._announce(now, "start")

    def _announce(self, now: _Step, what: str) -> None:
        if self._label:
            now.emit(f"{self._label}.{what}")


class _ActionRunner(_Runner):
    def __init__(self, node: Action) -> None:
        super().__init__(node)
        self._node = node

    def _start(self, now: _Step) -> None:
        super()._start(now)
        now.issued.extend(self._node.begin)

    def execute(self, now: _Step) -> bool:
        if self._end_monitor is not None:
            return False
        now.issued.extend(self._node.end)
        return True

    def cut(self, now: _Step) -> None:
        now.issued.extend(self._node.end)
        super().cut(now)


class _WaitRunner(_Runner):
    def __init__(self, node: Wait) -> None:
        super().__init__(node)
        self._condition = node.condition
        self._monitor: _ConditionMonitor | None = None

    def execute(self, now: _Step) -> bool:
        if self._monitor is None:
            self._monitor = _ConditionMonitor(self._condition, now.view.stamp)
        return self._monitor.holds(now)


class _EmitRunner(_Runner):
    def __init__(self, node: Emit) -> None:
        super().__init__(node)
        self._event = node.event

    def execute(self, now: _Step) -> bool:
        now.emit(self._event)
        return True


class _SerialRunner(_Runner):
    def __init__(self, node: Serial, draw: np.random.Generator) -> None:
        super().__init__(node)
        self._members = [_runner(member, draw) for member in node.members]

    def execute(self, now: _Step) -> bool:
        while self._members:
            if not self._members[0].step(now):
                return False
            self._members.pop(0)
        return True

    def cut(self, now: _Step) -> None:
        if self._members:
            self._members[0].cut(now)
        super().cut(now)


class _ParallelRunner(_Runner):
    def __init__(self, node: Parallel, draw: np.random.Generator) -> None:
        super().__init__(node)
        self._members = [_runner(member, draw) for member in node.members]

    def execute(self, now: _Step) -> bool:
        self._members = [member for member in self._members if not member.step(now)]
        return not self._members

    def cut(self, now: _Step) -> None:
        for member in self._members:
            member.cut(now)
        super().cut(now)


class _OneOfRunner(_Runner):
    def __init__(self, node: OneOf, draw: np.random.Generator) -> None:
        super().__init__(node)
        members = [_runner(member, draw) for member in node.members]
        self._chosen = members[int(draw.integers(len(members)))]

    def execute(self, now: _Step) -> bool:
        return self._chosen.step(now)

    def cut(self, now: _Step) -> None:
        self._chosen.cut(now)
        super().cut(now)


def _runner(node: Node, draw: np.random.Generator) -> _Runner:
    match node:
        case Action():
            return _ActionRunner(node)
        case Wait():
            return _WaitRunner(node)
        case Emit():
            return _EmitRunner(node)
        case Serial():
            return _SerialRunner(node, draw)
        case Parallel():
            return _ParallelRunner(node, draw)
        case OneOf():
            return _OneOfRunner(node, draw)
        case _:
            assert_never(node)
