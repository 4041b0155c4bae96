"""Conditions while they are waited for, and what of a storyboard outlives its nodes: events and variables."""

from __future__ import annotations

import math
import re
from calendar import monthrange, timegm
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario.commands import Command, Remove
from tuling_fsm.sim.scenario.conditions import (
    AllOf,
    AnyOf,
    Arrived,
    AtEndOfRoad,
    Colliding,
    Compare,
    Condition,
    Driven,
    Edge,
    Elapsed,
    ElementState,
    Emitted,
    InLane,
    InState,
    Lasting,
    ManeuverOver,
    OffRoad,
    OnEdge,
    Reached,
    Relation,
    SignalIs,
    SimulationTime,
    ValueType,
    VariableIs,
)
from tuling_fsm.sim.scenario.maneuvers import Domain, ManeuverCommand, domains_of
from tuling_fsm.sim.scenario.measurements import body_gap
from tuling_fsm.sim.scenario.model import Assign, Operator, SimulationView
from tuling_fsm.sim.scenario.overriding import ActionSettings
from tuling_fsm.sim.scenario.quantities import measured

TIME_TOLERANCE = 1e-6
"""Stamps are sums of steps: a wait is over when it misses its end by less than this, s."""
SPEED_TOLERANCE = 0.1
"""`Reached`, m/s."""
EXACT = 1e-9
"""`==` without a crossing, in the unit of the quantity."""


@dataclass
class StoryboardMemory:
    """When each event was emitted last, by its name (s), the state of each element by its label (standby before it is
    first spoken of) and what it has gone through, and the values of the variables as text.
    """

    events: dict[str, float] = field(default_factory=dict)
    states: dict[str, ElementState] = field(default_factory=dict)
    transitions: dict[tuple[str, ElementState], tuple[int, float]] = field(default_factory=dict)
    """The last of each kind: its number among all, and when (s)."""
    seen: dict[int, int] = field(default_factory=dict)
    """How many transitions there were when a condition (by its identity: a group that is executed again asks the same)
    was last asked.
    """
    count: int = 0
    """Of transitions."""
    variables: dict[str, str] = field(default_factory=dict)
    stamp: float = -math.inf
    """Of the step before, s: what has happened since is seen by all in this one."""
    under_way: dict[tuple[str, Domain], int] = field(default_factory=dict)
    """The last maneuver of each actor in each domain, by its number."""
    replaced: dict[int, float] = field(default_factory=dict)
    """When another maneuver has taken the place of one, by the number of this, s."""
    removals: dict[str, int] = field(default_factory=dict)
    """How often each actor was taken out of the world."""
    settings: ActionSettings = field(default_factory=ActionSettings)
    """What actions have set that their end takes back."""


@dataclass
class StoryboardStep:
    """One step: what is seen, what is remembered, what has been issued so far."""

    view: SimulationView
    memory: StoryboardMemory
    issued: list[Command] = field(default_factory=list)

    def emit(self, event: str) -> None:
        """An event happens now."""
        self.memory.events[event] = self.view.stamp

    def begin(self, action: object, commands: Sequence[Command]) -> None:
        """Give the commands of an action's begin."""
        self.memory.settings.begin(action, commands)
        self.issue(commands)

    def end(self, action: object, commands: Sequence[Command]) -> None:
        """Give the commands of an action's end, as far as no other action has set the same since it began."""
        self.issue(self.memory.settings.end(action, commands))

    def issue(self, commands: Sequence[Command]) -> None:
        """Give commands to the simulation: a maneuver takes the place of those before in its domains."""
        self.issued.extend(commands)
        for command in commands:
            if isinstance(command, ManeuverCommand):
                self._take_over(command)
            elif isinstance(command, Remove):
                self.memory.removals[command.actor] = self.memory.removals.get(command.actor, 0) + 1

    def _take_over(self, command: ManeuverCommand) -> None:
        memory = self.memory
        for domain in domains_of(command):
            memory.replaced.pop(command.number, None)
            key = command.actor, domain
            before, memory.under_way[key] = memory.under_way.get(key), command.number
            if before is not None and before != command.number:
                memory.replaced[before] = self.view.stamp

    def overridden(self, number: int) -> bool:
        """Whether another maneuver has taken the place of the one of a number in an earlier step. (One that was carried
        out by then was seen to be over in that step.)
        """
        return self.memory.replaced.get(number, math.inf) < self.view.stamp

    def announce(self, label: str, transition: ElementState) -> None:
        """The node of a label starts, ends, is stopped or skipped; one without label is not spoken of."""
        if not label:
            return
        memory = self.memory
        memory.count += 1
        memory.transitions[label, transition] = memory.count, self.view.stamp
        if transition in _EVENTS:
            self.emit(f"{label}.{_EVENTS[transition]}")
        memory.states[label] = _AFTER.get(transition, memory.states.get(label, ElementState.STANDBY))

    def stand_by(self, label: str) -> None:
        """The node of a label, with all below it, waits to be executed again."""
        states = self.memory.states
        for each in [each for each in states if each == label or each.startswith(f"{label}::")]:
            del states[each]

    def assign(self, node: Assign) -> None:
        """Change a variable."""
        before, after = number_of(self.memory.variables.get(node.variable, "")), number_of(node.value)
        value = node.value
        if node.operator is not Operator.SET and before is not None and after is not None:
            value = in_words(before + after if node.operator is Operator.ADD else before * after)
        self.memory.variables[node.variable] = value


_EVENTS = {ElementState.START: "start", ElementState.END: "end", ElementState.STOP: "end"}
"""What is told to those that wait for an element by an event: one that is cut short ends too."""
_AFTER = {
    ElementState.START: ElementState.RUNNING,
    ElementState.END: ElementState.COMPLETE,
    ElementState.STOP: ElementState.COMPLETE,
}
"""The state that a transition leads to."""


def in_words(value: bool | int | float | str) -> str:
    """The value of a variable as text: `true`, `12`, `0.5`."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def number_of(text: str) -> float | None:
    """The number that a text is, if it is one."""
    try:
        return float(text)
    except ValueError:
        return None


class ConditionMonitor:
    """One condition from the moment on that it is waited for."""

    def __init__(self, condition: Condition, since: float) -> None:
        self._condition = condition
        self._since = since
        self._previous: float | None = None
        self._removals: int | None = None
        """Of the actor, when the condition was looked at first."""
        self._truths = deque[tuple[float, bool]]()
        """When what it is asked for changed, and whether it held from then on: from the delay before now on."""
        self._held_since = math.inf
        nested = condition.conditions if isinstance(condition, AnyOf | AllOf) else ()
        single = (condition.condition,) if isinstance(condition, OnEdge | Lasting) else ()
        self._nested = [ConditionMonitor(member, since) for member in (*nested, *single)]

    def holds(self, now: StoryboardStep) -> bool:
        """Whether it holds now; called on every step."""
        match self._condition:
            case Elapsed(seconds):
                return now.view.stamp - self._since >= seconds - TIME_TOLERANCE
            case Emitted(event, at_once):
                since = max(self._since, now.memory.stamp) if at_once else self._since
                return now.memory.events.get(event, -math.inf) >= since
            case Driven(actor, metres):
                way = now.view.traveled(actor)
                self._previous = way if self._previous is None else self._previous
                return way - self._previous >= metres
            case Compare():
                return self._compare(self._condition, now)
            case AnyOf():
                return any(self._all_looked_at(now))
            case AllOf():
                return all(self._all_looked_at(now))
            case OnEdge(edge=edge, delay=delay):
                return self._on_edge(edge, delay, now)
            case Lasting(seconds=seconds):
                return self._lasting(seconds, now)
            case Arrived() | InLane() | Reached():
                return self._removed(self._condition.actor, now) or _holds(self._condition, now)
            case _:
                return _holds(self._condition, now)

    def _removed(self, actor: str, now: StoryboardStep) -> bool:
        """Whether the actor was taken out of the world since, also where it was put back in the same step."""
        removals = now.memory.removals.get(actor, 0)
        self._removals = removals if self._removals is None else self._removals
        return removals != self._removals

    def _all_looked_at(self, now: StoryboardStep) -> list[bool]:
        """Every member is evaluated on every step: a crossing shows only between two evaluations."""
        return [member.holds(now) for member in self._nested]

    def _compare(self, condition: Compare, now: StoryboardStep) -> bool:
        value = measured(condition.quantity, now.view)
        previous, self._previous = self._previous, value
        return value is not None and _RELATIONS[condition.relation](previous, value, condition.value)

    def _on_edge(self, edge: Edge, delay: float, now: StoryboardStep) -> bool:
        """Whether the edge was there `delay` s ago."""
        before, value = self._previous, self._nested[0].holds(now)
        self._previous = float(value)
        asked = _EDGES[edge](None if before is None else before > 0.0, value)
        if not self._truths or self._truths[-1][1] != asked:
            self._truths.append((now.view.stamp, asked))
        due = now.view.stamp - delay + TIME_TOLERANCE
        while len(self._truths) > 1 and self._truths[1][0] <= due:
            self._truths.popleft()
        stamp, was = self._truths[0]
        return was and stamp <= due

    def _lasting(self, seconds: float, now: StoryboardStep) -> bool:
        held = self._nested[0].holds(now)
        self._held_since = min(self._held_since, now.view.stamp) if held else math.inf
        return held and now.view.stamp - self._held_since >= seconds - TIME_TOLERANCE


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

_EDGES: dict[Edge, Callable[[bool | None, bool], bool]] = {
    Edge.NONE: lambda before, value: value,
    Edge.RISING: lambda before, value: before is False and value,
    Edge.FALLING: lambda before, value: before is True and not value,
    Edge.EITHER: lambda before, value: before is not None and before is not value,
}

_Plain = (
    Arrived | InLane | Reached | SimulationTime | InState | Colliding | AtEndOfRoad | OffRoad | VariableIs | SignalIs
    | ManeuverOver
)  # fmt: skip
"""Conditions that the present step alone decides."""


def _holds(condition: _Plain, now: StoryboardStep) -> bool:
    view = now.view
    match condition:
        case Arrived(actor):
            return view.arrived(actor)
        case InLane(actor):
            return view.in_lane(actor)
        case Reached(actor, target):
            state = view.actor(actor)
            return state is None or abs(state.speed - target) <= SPEED_TOLERANCE
        case SimulationTime(relation, value):
            before = now.memory.stamp
            previous = None if math.isinf(before) else _snapped(before, value)
            return _RELATIONS[relation](previous, _snapped(view.stamp, value), value)
        case InState():
            return _in_state(condition, now)
        case Colliding(actor, reference):
            return _collides(view, actor, reference)
        case AtEndOfRoad(actor):
            return view.actor(actor) is not None and view.at_end_of_road(actor)
        case OffRoad(actor):
            return view.actor(actor) is not None and not view.on_road(actor)
        case VariableIs(variable, relation, text, kind):
            return compared(now.memory.variables.get(variable, ""), relation, text, kind)
        case SignalIs(signal, light):
            return view.light(signal) is light
        case ManeuverOver(actor, number, held):
            return now.overridden(number) if held else view.maneuver_over(actor, number)
        case _:
            assert_never(condition)


def _snapped(stamp: float, value: float) -> float:
    return value if abs(stamp - value) <= TIME_TOLERANCE else stamp


def compared(value: str, relation: Relation, wanted: str, kind: ValueType) -> bool:
    """By the size of the value that each text is; as words, which are alike or not, where one is none."""
    left, right = (SIZES[kind](text) for text in (value, wanted))
    if left is not None and right is not None:
        return _RELATIONS[relation](None, left, right)
    return (relation is Relation.EQUAL and value == wanted) or (relation is Relation.UNEQUAL and value != wanted)


_DATE_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-4]):([0-5]\d):([0-5]\d(?:\.\d+)?)(?:Z|([+-])(\d\d):(\d\d))?", re.ASCII
)


def _instant(text: str) -> float | None:
    """Seconds of a `dateTime` (XML Schema); one without a time zone is in UTC."""
    found = _DATE_TIME.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute = map(int, found.groups()[:5])
    if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    east = 60.0 * (60 * int(f"{found[7]}{found[8]}") + int(f"{found[7]}{found[9]}")) if found[7] else 0.0
    return timegm((year, month, day, hour, minute, 0)) + float(found[6]) - east


def _truth(text: str) -> float | None:
    return {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}.get(text.strip().lower())


SIZES: dict[ValueType, Callable[[str], float | None]] = {
    ValueType.NUMBER: number_of,
    ValueType.TIME: _instant,
    ValueType.TRUTH: _truth,
    ValueType.WORD: lambda text: None,
}
"""What a text is as a value of a type; None where it is none."""


def _in_state(condition: InState, now: StoryboardStep) -> bool:
    """A transition holds once for each that asks: in the step in which it happens, or in the next one for those that
    were asked before it happened.
    """
    memory, element, state = now.memory, condition.element, condition.state
    if state in (ElementState.STANDBY, ElementState.RUNNING, ElementState.COMPLETE):
        return memory.states.get(element, ElementState.STANDBY) is state
    number, stamp = memory.transitions.get((element, state), (0, -math.inf))
    seen, memory.seen[id(condition)] = memory.seen.get(id(condition), 0), memory.count
    return number > seen and stamp >= memory.stamp


def _collides(view: SimulationView, actor: str, reference: str) -> bool:
    own = view.actor(actor)
    if own is None:
        return False
    named = view.actor(reference) if reference else None
    others = view.others(actor) if not reference else () if named is None else (named,)
    return any(body_gap(own, other) <= 0.0 for other in others)
