"""Builds the storyboard of a scenario: its behaviours as nodes, those of scenarios that it invokes in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.action_types import ActionCall, ActionContext, ActionEffect, ActionType, ModifierCall
from tuling_fsm.sim.scenario.actions import action_type
from tuling_fsm.sim.scenario.arguments import BoundArguments, Param
from tuling_fsm.sim.scenario.conditions import AnyOf, Condition, Driven, parts
from tuling_fsm.sim.scenario.declarations import Declarations, declare_inside
from tuling_fsm.sim.scenario.durations import AT_ONCE, TimeSpan, exactly, time_span
from tuling_fsm.sim.scenario.event_names import EventNames, event_names
from tuling_fsm.sim.scenario.expressions import Scope, bind, evaluate, parameters_of
from tuling_fsm.sim.scenario.initial_instant import InitialInstant
from tuling_fsm.sim.scenario.model import EGO, Action, Emit, Node, OneOf, Parallel, Serial, Wait
from tuling_fsm.sim.scenario.movement import CONTROLLED
from tuling_fsm.sim.scenario.scenario_members import ScenarioMembers, apply_modifiers, members_of
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.triggers import condition, elapsed
from tuling_fsm.sim.scenario.type_table import StructuredType
from tuling_fsm.sim.scenario.values import ActorName, FaultError, Symbol, Value

DURATION = Param("duration", "time", optional=True)
_NOTHING = Action(())
"""What is left of an action that the initial instant has taken whole."""


@dataclass
class Instant:
    """Whether no time of the run has passed yet, all along while the storyboard is built."""

    first: bool = True


@dataclass
class StoryboardBuilder:
    """Builds the nodes of one scenario. `initial`, `script` and `instant` are those of the whole run."""

    declared: Declarations
    events: EventNames
    script: ActionContext
    initial: InitialInstant = field(default_factory=InitialInstant)
    instant: Instant = field(default_factory=Instant)
    it: ActorName | None = None
    """The actor that the scenario is one of, where it was invoked for one."""
    invoked: tuple[str, ...] = ()
    """The scenarios that this one is invoked in, and itself."""
    _counts: dict[str, int] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        """What the names of the scenario stand for."""
        return self.declared.scope

    def build(self, behaviour: syntax_tree.Behaviour, inside: str = "", phase: TimeSpan | None = None) -> Node:
        """The node of a behaviour that stands in a composition `inside` (empty: right after `do`), of which `phase`
        is left if the text states its duration.

        Raises:
            FaultError: unknown actors, actions, events; wrong arguments; a wait outside serial.
        """
        match behaviour:
            case syntax_tree.Composition():
                return self._composition(behaviour, phase)
            case syntax_tree.Invocation():
                return self._invocation(behaviour, phase)
            case syntax_tree.EmitEvent():
                return self._emit(behaviour)
            case syntax_tree.WaitFor():
                if inside != "serial":
                    where = f"in {inside}" if inside else "right after do"
                    raise FaultError(behaviour.at, f"a wait {where} waits for nothing", "it inside a serial")
                self.instant.first = False
                awaited = self._condition(behaviour.condition)
                return Wait(awaited, self.events.label(behaviour.label), behaviour.at)
            case syntax_tree.CallMethod():
                evaluate(behaviour.call, self.scope)
                self.script.note(behaviour.at, "call: a method computes a value and changes nothing")
                return Action((), label=self.events.label(behaviour.label), at=behaviour.at)
            case _:
                assert_never(behaviour)

    def _condition(self, expression: syntax_tree.Expression) -> Condition:
        """A condition; only the default controller knows how far a vehicle has gone."""
        found = condition(expression, self.scope, self.events)
        driven = (part.actor for part in parts(found) if isinstance(part, Driven))
        self.script.wanted.update(actor for actor in driven if actor != EGO)
        return found

    def _emit(self, emit: syntax_tree.EmitEvent) -> Node:
        if emit.event not in self.events.declared:
            expected = "one of " + ", ".join(self.events.declared) if self.events.declared else "event <name> before"
            raise FaultError(emit.at, f"unknown event {emit.event!r}", expected)
        label = self.events.label(emit.label)
        event = self.events.unique(emit.event, emit.at)
        if emit.at not in self.events.emits:
            return Emit(event, label, emit.at)
        _, site = self.events.emits[emit.at]
        return Serial((Emit(site.name, at=emit.at), Emit(event, at=emit.at)), label=label, at=emit.at)

    def _composition(self, composition: syntax_tree.Composition, phase: TimeSpan | None) -> Node:
        what, label, at = composition.operator, self.events.label(composition.label), composition.at
        given = bind(what, (DURATION,), composition.arguments, composition.at, self.scope)
        _no_modifiers(composition.modifiers, what, ())
        until = self._until(None, given, composition.modifiers, at)
        phase = exactly(given.si("duration")) if given["duration"] is not None else phase
        if what == "one_of":
            # Which one it will be is not known yet, so that none can be folded into the initial instant.
            self.instant.first = False
            return OneOf(tuple(self.build(member, what, phase) for member in composition.members), until, label, at)
        if what == "parallel":
            members = self._parallel_members(composition.members, phase)
            return Parallel(tuple(member for member in members if member != _NOTHING), until, label, at)
        if what == "serial":
            members = self._serial_members(composition.members, phase)
            return Serial(tuple(member for member in members if member != _NOTHING), until, label, at)
        raise AssertionError(f"no composition {what}")

    def _serial_members(self, members: Sequence[syntax_tree.Behaviour], phase: TimeSpan | None) -> list[Node]:
        """Each has what the members before it leave of the phase."""
        built: list[Node] = []
        for member, following in zip_longest(members, members[1:]):
            built.append(self.build(member, "serial", phase))
            left = None if phase is None else phase.after(time_span(built[-1]))
            if left == AT_ONCE != phase and following is not None:
                what = "this is never reached: what stands before it takes all the time that there is"
                self.script.note(following.at, f"{what}, as a movement without a duration does")
            phase = left
        return built

    def _parallel_members(self, members: Iterable[syntax_tree.Behaviour], phase: TimeSpan | None) -> list[Node]:
        """Every member begins in the instant in which the first does; the last to end says whether time has passed."""
        begins, built, ends = self.instant.first, [], True
        for member in members:
            self.instant.first = begins
            built.append(self.build(member, "parallel", phase))
            ends = ends and self.instant.first
        self.instant.first = begins and ends
        return built

    def _invocation(self, invocation: syntax_tree.Invocation, phase: TimeSpan | None) -> Node:
        """An action, or a scenario in its place."""
        callee = invocation.call.callee
        if isinstance(callee, syntax_tree.Name):
            scenario = self.scope.types.behaviours.get(callee.name)
            if scenario is not None and scenario.keyword == "scenario":
                return self._scenario(scenario, invocation, phase, None)
            if self.it is None:
                raise FaultError(callee.at, "this is no action", "<actor>.<action>(...)")
            return self._of_actor(self.it, callee.name, invocation, phase)
        if not isinstance(callee, syntax_tree.Member):
            raise FaultError(invocation.call.at, "this is no action", "<actor>.<action>(...)")
        if isinstance(callee.base, syntax_tree.Name) and callee.base.name not in self.scope.known():
            scenario = self.scope.types.behaviours.get(f"{callee.base.name}.{callee.name}")
            if scenario is not None and scenario.keyword == "scenario":
                return self._scenario(scenario, invocation, phase, None)
        return self._of_actor(self.scope.actor(callee.base), callee.name, invocation, phase)

    def _of_actor(
        self, actor: ActorName, name: str, invocation: syntax_tree.Invocation, phase: TimeSpan | None
    ) -> Node:
        declared = self.scope.types.member(actor.stated, name)
        if declared is not None and any(isinstance(member, syntax_tree.Do) for member in declared.members):
            return self._scenario(declared, invocation, phase, actor)
        return self._action(actor, action_type(actor, name, invocation.call.at), name, invocation, phase)

    def _action(
        self,
        actor: ActorName,
        kind: ActionType,
        name: str,
        invocation: syntax_tree.Invocation,
        phase: TimeSpan | None,
    ) -> Action:
        call, at = invocation.call, invocation.at
        declared = self.scope.types.member(actor.stated, name)
        if declared is None:
            raise AssertionError(f"the standard library lacks {actor.type}.{name}")
        params = parameters_of(declared, self.scope)
        given = bind(name, (*_optional_path(params), DURATION), call.arguments, call.at, self.scope)
        if given.get("adjust") is True:
            self.script.note(call.at, "adjust has no effect: speeds meet what is asked of the end of a movement anyway")
        modifiers, ending = self._modifiers(invocation.modifiers, name, kind.modifiers)
        lasts = exactly(given.si("duration")) if given["duration"] is not None else phase
        action = ActionCall(
            actor.name, given, modifiers, call.at, self.script, ending, self.instant.first, lasts
        )  # fmt: skip
        perform = kind.perform
        if actor.name in self.script.controlled and actor.name != EGO:
            perform = CONTROLLED.get(name, perform)
        return self._performed(perform(action), given, invocation, at)

    def _performed(
        self, effect: ActionEffect, given: BoundArguments, invocation: syntax_tree.Invocation, at: SourceLocation
    ) -> Action:
        if effect.setup is not None:
            if not self.instant.first:
                raise FaultError(at, "this can only be set at the beginning", "it before any wait, and in no one_of")
            self.initial.set_up(effect.setup, at)
        take = self.initial.take
        begin = tuple(command for command in effect.begin if not (self.instant.first and take(command, at)))
        until = self._until(effect, given, invocation.modifiers, at)
        self.instant.first = self.instant.first and until is None
        label = self.events.label(invocation.label)
        return Action(begin, until, effect.end if until is not None else (), label, at)

    def _modifiers(
        self, block: syntax_tree.With, what: str, allowed: tuple[str, ...]
    ) -> tuple[Mapping[str, ModifierCall], Mapping[str, ModifierCall]]:
        """The modifiers of an action by name: those that hold from its beginning, and those of its end."""
        _no_modifiers(block, what, allowed)
        found: dict[str, ModifierCall] = {}
        ending: dict[str, ModifierCall] = {}
        for call in block.modifiers:
            assert isinstance(call.callee, syntax_tree.Name)
            name = call.callee.name
            params = parameters_of(self.scope.types.modifiers[name], self.scope, optional=True)
            given = bind(name, params, call.arguments, call.at, self.scope)
            table = ending if given.get("at") == Symbol("at", "end") else found
            if name in table:
                raise FaultError(call.at, f"{name!r} is given twice", "one value")
            table[name] = ModifierCall(given, call.at)
        return found, ending

    def _until(
        self, effect: ActionEffect | None, given: BoundArguments, block: syntax_tree.With, at: SourceLocation
    ) -> Condition | None:
        """Whichever comes first: the own end, the duration, the `until` conditions."""
        ends = [] if effect is None or effect.until is None else [effect.until]
        if given["duration"] is not None:
            own = elapsed(given.si("duration"), at)
            ends += [own] if own not in ends else []
        ends += [self._condition(until.condition) for until in block.until]
        return ends[0] if len(ends) == 1 else AnyOf(tuple(ends)) if ends else None

    def _scenario(
        self,
        kind: StructuredType,
        invocation: syntax_tree.Invocation,
        phase: TimeSpan | None,
        it: ActorName | None,
    ) -> Node:
        """The storyboard of another scenario, with its own names; those of this one are known in it too."""
        call, at = invocation.call, invocation.at
        if kind.name in self.invoked:
            raise FaultError(at, f"{kind.name!r} is invoked in itself", "another scenario")
        members = members_of(kind, self.scope.types)
        params = [Param(name, of, optional=True) for name, of in self.scope.types.fields(kind.name).items()]
        duration = [] if any(param.name == "duration" for param in params) else [DURATION]
        given = bind(kind.name, (*params, *duration), call.arguments, call.at, self.scope)
        values: dict[str, Value] = {name: value for name, value in given.items() if value is not None}
        own = BoundArguments({"duration": values.pop("duration", None) if duration else None})
        _no_modifiers(invocation.modifiers, kind.name, ())
        until = self._until(None, own, invocation.modifiers, at)
        phase = exactly(own.si("duration")) if own["duration"] is not None else phase
        node = self._inside(kind, members, values, it, invocation.label).build(members.behaviour, phase=phase)
        label = self.events.label(invocation.label)
        return Serial((node,), until, label, at) if until is not None or label else node

    def _inside(
        self,
        kind: StructuredType,
        members: ScenarioMembers,
        values: Mapping[str, Value],
        it: ActorName | None,
        label: str,
    ) -> StoryboardBuilder:
        """What builds an invoked scenario."""
        declared = declare_inside(members.declaring, values, self.declared)
        apply_modifiers(members.calls, declared, self.script, self.initial)
        self._counts[kind.name] = self._counts.get(kind.name, 0) + 1
        prefix = f"{self.events.prefix}{label or f'{kind.name}({self._counts[kind.name]})'}."
        events = event_names(members.events, members.behaviour, declared.scope, prefix)
        return StoryboardBuilder(
            declared, events, self.script, self.initial, self.instant, it, (*self.invoked, kind.name)
        )  # fmt: skip


def _optional_path(params: Iterable[Param]) -> Iterable[Param]:
    """The path of a movement may be left out: what is asked of the road is said of the path itself."""
    return tuple(param._replace(optional=True) if param.type == "Path" else param for param in params)


def _no_modifiers(block: syntax_tree.With, what: str, allowed: tuple[str, ...]) -> None:
    """Refuse what is not among the allowed modifiers."""
    for call in block.modifiers:
        if not isinstance(call.callee, syntax_tree.Name) or call.callee.name not in allowed:
            expected = "one of " + ", ".join((*allowed, "until"))
            raise FaultError(call.at, f"{what!r} takes no such modifier", expected)
    for constraint in block.constraints:
        raise FaultError(constraint.at, "a behaviour takes no constraints here", "arguments of the action")
