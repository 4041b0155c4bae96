"""Executes a scenario: steps the tree of its nodes and gives the commands of each step."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import ElementState, ManeuverOver
from tuling_fsm.sim.scenario.model import (
    Action,
    Assign,
    Emit,
    Node,
    OneOf,
    Parallel,
    Repeat,
    Scenario,
    ScriptedManeuver,
    Serial,
    SignalCycle,
    SimulationView,
    Wait,
)
from tuling_fsm.sim.scenario.monitors import ConditionMonitor, StoryboardMemory, StoryboardStep, in_words
from tuling_fsm.sim.scenario.runners import CycleRunner, ManeuverRunner, RepeatRunner, Runner


class Storyboard:
    """The running storyboard of a scenario. Holds all that changes; the scenario stays as it was compiled.

    Every `one_of` is drawn before anything is executed, in the order of the text: nothing on the way changes a draw.
    """

    def __init__(self, scenario: Scenario, draw: np.random.Generator) -> None:
        self._root = _runner(scenario.storyboard, draw)
        self._memory = StoryboardMemory(variables={name: in_words(value) for name, value in scenario.variables.items()})
        self.finished = False

    def step(self, view: SimulationView) -> tuple[Command, ...]:
        """Execute on to the view's stamp; what begins and ends in one instant is issued in the order of the text."""
        if self.finished:
            return ()
        now = StoryboardStep(view, self._memory)
        self.finished = self._root.step(now)
        self._memory.stamp = view.stamp
        return tuple(now.issued)


class _ActionRunner(Runner):
    def __init__(self, node: Action) -> None:
        super().__init__(node)
        self._node = node

    def _start(self, now: StoryboardStep) -> None:
        super()._start(now)
        now.begin(self, self._node.begin)

    def execute(self, now: StoryboardStep) -> bool:
        if self._end_monitor is not None:
            return False
        now.end(self, self._node.end)
        return True

    def _at_until(self, now: StoryboardStep) -> ElementState:
        until = self._node.until
        if isinstance(until, ManeuverOver) and now.overridden(until.number):
            self.outcome = ElementState.STOP
        return self.outcome

    def cut(self, now: StoryboardStep, how: ElementState = ElementState.STOP) -> None:
        now.end(self, self._node.end)
        super().cut(now, how)


class _WaitRunner(Runner):
    def __init__(self, node: Wait) -> None:
        super().__init__(node)
        self._condition = node.condition
        self._monitor: ConditionMonitor | None = None

    def execute(self, now: StoryboardStep) -> bool:
        if self._monitor is None:
            self._monitor = ConditionMonitor(self._condition, now.view.stamp)
        return self._monitor.holds(now)


class _EmitRunner(Runner):
    def __init__(self, node: Emit) -> None:
        super().__init__(node)
        self._event = node.event

    def execute(self, now: StoryboardStep) -> bool:
        now.emit(self._event)
        return True


class _AssignRunner(Runner):
    def __init__(self, node: Assign) -> None:
        super().__init__(node)
        self._node = node

    def execute(self, now: StoryboardStep) -> bool:
        now.assign(self._node)
        return True


class _SerialRunner(Runner):
    def __init__(self, node: Serial, draw: np.random.Generator) -> None:
        super().__init__(node)
        self._members = [_runner(member, draw) for member in node.members]

    def execute(self, now: StoryboardStep) -> bool:
        while self._members:
            if not self._members[0].step(now):
                return False
            self._members.pop(0)
        return True

    def cut(self, now: StoryboardStep, how: ElementState = ElementState.STOP) -> None:
        if self._members:
            self._members[0].cut(now)
        super().cut(now, how)


class _ParallelRunner(Runner):
    def __init__(self, node: Parallel, draw: np.random.Generator) -> None:
        super().__init__(node)
        self._members = [_runner(member, draw) for member in node.members]

    def execute(self, now: StoryboardStep) -> bool:
        over = [member for member in self._members if member.step(now)]
        if any(member.outcome is ElementState.STOP for member in over):
            self.outcome = ElementState.STOP
        self._members = [member for member in self._members if member not in over]
        return not self._members

    def cut(self, now: StoryboardStep, how: ElementState = ElementState.STOP) -> None:
        for member in self._members:
            member.cut(now)
        super().cut(now, how)


class _OneOfRunner(Runner):
    def __init__(self, node: OneOf, draw: np.random.Generator) -> None:
        super().__init__(node)
        members = [_runner(member, draw) for member in node.members]
        self._chosen = members[int(draw.integers(len(members)))]

    def execute(self, now: StoryboardStep) -> bool:
        return self._chosen.step(now)

    def cut(self, now: StoryboardStep, how: ElementState = ElementState.STOP) -> None:
        self._chosen.cut(now)
        super().cut(now, how)


def _runner(node: Node, draw: np.random.Generator) -> Runner:
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
        case ScriptedManeuver():
            return ManeuverRunner(node, lambda member: _runner(member, draw))
        case SignalCycle():
            return CycleRunner(node)
        case Repeat():
            return RepeatRunner(node, lambda member: _runner(member, draw))
        case Assign():
            return _AssignRunner(node)
        case _:
            assert_never(node)
