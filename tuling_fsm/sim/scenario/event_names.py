"""The events of a scenario: those that it declares, and those that the labels of its behaviours bring with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.arguments import Param
from tuling_fsm.sim.scenario.expressions import Scope, bind, evaluate_as
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import FaultError, Value


class EmitSite(NamedTuple):
    """An `emit` with arguments: the event that stands for it alone, and what it is emitted with."""

    name: str
    given: Mapping[str, Value]


@dataclass(frozen=True)
class EventNames:
    """Events by the names that the text gives them. A run may have several scenarios: `prefix` keeps theirs apart."""

    declared: Mapping[str, syntax_tree.EventDeclaration]
    labels: tuple[str, ...]
    emitted: frozenset[str]
    """Declared events that the text emits."""
    prefix: str = ""
    emits: Mapping[SourceLocation, tuple[str, EmitSite]] = field(default_factory=dict)
    """By where it stands, each `emit` with arguments and its event."""

    def unique(self, name: str, at: SourceLocation) -> str:
        """What the storyboard calls an event.

        Raises:
            FaultError: there is no such event.
        """
        if name not in self.declared and name not in self.labels:
            names = [*self.declared, *self.labels]
            expected = "one of " + ", ".join(f"@{each}" for each in names) if names else "a declared event"
            raise FaultError(at, f"unknown event {name!r}", expected)
        return self.prefix + name

    def label(self, name: str) -> str:
        """What the storyboard calls the behaviour of a label."""
        return self.prefix + name if name else ""

    def sites(self, name: str) -> list[EmitSite]:
        """Where an event is emitted with arguments."""
        return [site for event, site in self.emits.values() if event == name]

    def without(self, name: str) -> EventNames:
        """The others: an event that is declared by means of another one is no part of itself."""
        return replace(self, declared={key: value for key, value in self.declared.items() if key != name})


def event_names(
    declarations: Iterable[syntax_tree.EventDeclaration],
    behaviour: syntax_tree.Behaviour,
    scope: Scope,
    prefix: str = "",
) -> EventNames:
    """The events of one scenario.

    Raises:
        FaultError: a name or label that is used twice, an `emit` with other arguments than the event declares.
    """
    declared: dict[str, syntax_tree.EventDeclaration] = {}
    for declaration in declarations:
        if declaration.name in declared:
            raise FaultError(declaration.at, f"the event {declaration.name!r} is declared twice", "another name")
        declared[declaration.name] = declaration
    emits: dict[SourceLocation, tuple[str, EmitSite]] = {}
    emitted: set[str] = set()
    for emit in _emits(behaviour):
        emitted.add(emit.event)
        if emit.event in declared and (emit.arguments or declared[emit.event].parameters):
            given = _bound(declared[emit.event], emit, scope)
            name = f"{prefix}{emit.event}({len(emits) + 1})"
            emits[emit.at] = emit.event, EmitSite(name, given)
    return EventNames(declared, tuple(_labels(behaviour)), frozenset(emitted), prefix, emits)


def _bound(declared: syntax_tree.EventDeclaration, emit: syntax_tree.EmitEvent, scope: Scope) -> Mapping[str, Value]:
    params = [
        Param(each.name, each.type, None if each.default is None else evaluate_as(each.type, each.default, scope))
        for each in declared.parameters
    ]
    given = bind(emit.event, params, emit.arguments, emit.at, scope)
    return {name: value for name, value in given.items() if value is not None}


def _emits(behaviour: syntax_tree.Behaviour) -> Iterator[syntax_tree.EmitEvent]:
    match behaviour:
        case syntax_tree.EmitEvent():
            yield behaviour
        case syntax_tree.Composition(members=members):
            for member in members:
                yield from _emits(member)
        case _:
            pass


def _labels(behaviour: syntax_tree.Behaviour) -> Iterator[str]:
    """The events that labels bring with them, each label once."""
    seen: set[str] = set()
    for label, at in _labelled(behaviour):
        if label in seen:
            raise FaultError(at, f"the label {label!r} is used twice", "another label")
        seen.add(label)
        yield from (f"{label}.start", f"{label}.end")


def _labelled(behaviour: syntax_tree.Behaviour) -> Iterator[tuple[str, SourceLocation]]:
    if behaviour.label:
        yield behaviour.label, behaviour.at
    if isinstance(behaviour, syntax_tree.Composition):
        for member in behaviour.members:
            yield from _labelled(member)
