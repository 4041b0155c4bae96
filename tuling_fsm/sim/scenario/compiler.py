"""Reads a scenario file: its text to the compiled scenario, what happens in its first instant to the initial state."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.action_types import MODIFIERS, ActionCall, ActionEffect, ActionType, MissionFile, Setup
from tuling_fsm.sim.scenario.actions import action_type
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import ChangeSpeed, Command, Place, Remove
from tuling_fsm.sim.scenario.conditions import AnyOf, Condition
from tuling_fsm.sim.scenario.declarations import Declarations, declare
from tuling_fsm.sim.scenario.expressions import BoundArguments, Param, Scope, bind
from tuling_fsm.sim.scenario.model import (
    EGO,
    Action,
    EgoRoute,
    Emit,
    Node,
    OneOf,
    Parallel,
    Population,
    RandomRoute,
    RouteTo,
    RouteVia,
    Scenario,
    ScenarioActor,
    ScriptedRoute,
    Serial,
    Wait,
    nodes,
)
from tuling_fsm.sim.scenario.placements import Anywhere, Placement
from tuling_fsm.sim.scenario.syntax import parse
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.triggers import condition, elapsed
from tuling_fsm.sim.scenario.validation import refuse_impossible
from tuling_fsm.sim.scenario.values import ActorName, FaultError, Physical, Struct, Symbol
from tuling_fsm.sim.scenario.xml.reader import SUFFIX, load_xosc

_DURATION = Param("duration", "time", optional=True)
_NOTHING = Action(())
"""What is left of an action that the initial instant has taken whole."""


@dataclass
class InitialInstant:
    """What holds when the run begins, gathered from the first instant."""

    placements: dict[str, Placement] = field(default_factory=dict)
    places_at: dict[str, SourceLocation] = field(default_factory=dict)
    """Where the text gives the placements."""
    removed: set[str] = field(default_factory=set)
    """Actors that are removed in the first instant: a placement after that is not their initial one."""
    speeds: dict[str, float] = field(default_factory=dict)
    route: EgoRoute | None = None
    population: Population | None = None
    mission: MissionFile | None = None

    def take(self, command: Command, at: SourceLocation) -> bool:
        """Whether the command is one that the initial instant can hold."""
        match command:
            case Remove(actor):
                self.removed.add(actor)
            case Place(actor, placement, speed) if actor not in self.placements and actor not in self.removed:
                self.placements[actor], self.places_at[actor] = placement, at
                self.speeds.setdefault(actor, speed)
                return True
            case ChangeSpeed(actor, target, math.inf):
                self.speeds[actor] = target
                return True
        return False

    def set_up(self, setup: Setup, at: SourceLocation) -> None:
        """Route, population or mission; each once."""
        match setup:
            case Population():
                taken = self.population is not None
                self.population = setup
            case MissionFile():
                taken = self.mission is not None
                self.mission = setup
            case RandomRoute() | RouteTo() | RouteVia() | ScriptedRoute():
                taken = self.route is not None
                self.route = setup
            case _:
                assert_never(setup)
        if taken:
            raise FaultError(at, "this is set already", "it once for the whole run")


@dataclass
class StoryboardBuilder:
    """Builds the nodes of one scenario. `_initial_instant` says, all along, whether no time has passed yet."""

    scope: Scope
    events: Collection[str]
    initial: InitialInstant = field(default_factory=InitialInstant)
    _initial_instant: bool = True

    def build(self, behaviour: syntax_tree.Behaviour, inside: str = "") -> Node:
        """The node of a behaviour that stands in a composition `inside` (empty: right after `do`).

        Raises:
            FaultError: unknown actors, actions, events; wrong arguments; a wait outside serial.
        """
        match behaviour:
            case syntax_tree.Composition():
                return self._composition(behaviour)
            case syntax_tree.Invocation():
                return self._action(behaviour)
            case syntax_tree.EmitEvent():
                if behaviour.event not in self.events:
                    expected = "one of " + ", ".join(self.events) if self.events else "event <name> before"
                    raise FaultError(behaviour.at, f"unknown event {behaviour.event!r}", expected)
                return Emit(behaviour.event, behaviour.label, behaviour.at)
            case syntax_tree.WaitFor():
                if inside != "serial":
                    where = f"in {inside}" if inside else "right after do"
                    raise FaultError(behaviour.at, f"a wait {where} waits for nothing", "it inside a serial")
                self._initial_instant = False
                return Wait(condition(behaviour.condition, self.scope, self.events), behaviour.label, behaviour.at)
            case _:
                assert_never(behaviour)

    def _composition(self, composition: syntax_tree.Composition) -> Node:
        what, label, at = composition.operator, composition.label, composition.at
        given = bind(what, (_DURATION,), composition.arguments, composition.at, self.scope)
        _no_modifiers(composition.modifiers.modifiers, what, ())
        until = self._until(None, given, composition.modifiers, at)
        if what == "one_of":
            # Which one it will be is not known yet, so that none can be folded into the initial instant.
            self._initial_instant = False
            return OneOf(tuple(self.build(member, what) for member in composition.members), until, label, at)
        if what == "parallel":
            members = self._parallel_members(composition.members)
            return Parallel(tuple(member for member in members if member != _NOTHING), until, label, at)
        if what == "serial":
            members = [self.build(member, what) for member in composition.members]
            return Serial(tuple(member for member in members if member != _NOTHING), until, label, at)
        raise AssertionError(f"no composition {what}")

    def _parallel_members(self, members: Iterable[syntax_tree.Behaviour]) -> list[Node]:
        """Every member begins in the instant in which the first does; the last to end says whether time has passed."""
        begins, built, ends = self._initial_instant, [], True
        for member in members:
            self._initial_instant = begins
            built.append(self.build(member, "parallel"))
            ends = ends and self._initial_instant
        self._initial_instant = begins and ends
        return built

    def _action(self, invocation: syntax_tree.Invocation) -> Action:
        kind, action_call, given = self._resolve_call(invocation)
        effect = kind.perform(action_call)
        if effect.setup is not None:
            if not self._initial_instant:
                raise FaultError(
                    invocation.at, "this can only be set at the beginning", "it before any wait, and in no one_of"
                )
            self.initial.set_up(effect.setup, invocation.at)
        at, take = invocation.at, self.initial.take
        begin = tuple(command for command in effect.begin if not (self._initial_instant and take(command, at)))
        until = self._until(effect, given, invocation.modifiers, at)
        self._initial_instant = self._initial_instant and until is None
        return Action(begin, until, effect.end if until is not None else (), invocation.label, at)

    def _resolve_call(self, invocation: syntax_tree.Invocation) -> tuple[ActionType, ActionCall, BoundArguments]:
        call = invocation.call
        if not isinstance(call.callee, syntax_tree.Member):
            raise FaultError(call.at, "this is no action", "<actor>.<action>(...)")
        actor = self.scope.actor(call.callee.base)
        kind = action_type(actor, call.callee.name, call.at)
        given = bind(call.callee.name, (*kind.params, _DURATION), call.arguments, call.at, self.scope)
        modifiers = self._modifiers(invocation.modifiers.modifiers, call.callee.name, kind.modifiers)
        return kind, ActionCall(actor.name, given, modifiers, call.at), given

    def _modifiers(
        self, calls: Iterable[syntax_tree.Call], what: str, allowed: tuple[str, ...]
    ) -> dict[str, BoundArguments]:
        _no_modifiers(calls, what, allowed)
        found: dict[str, BoundArguments] = {}
        for call in calls:
            assert isinstance(call.callee, syntax_tree.Name)
            name = call.callee.name
            if name in found:
                raise FaultError(call.at, f"{name!r} is given twice", "one value")
            found[name] = bind(name, MODIFIERS[name], call.arguments, call.at, self.scope)
        return found

    def _until(
        self, effect: ActionEffect | None, given: BoundArguments, block: syntax_tree.With, at: SourceLocation
    ) -> Condition | None:
        """Whichever comes first: the own end, the duration, the `until` conditions."""
        ends = [] if effect is None or effect.until is None else [effect.until]
        if given["duration"] is not None:
            ends.append(elapsed(given.si("duration"), at))
        ends += [condition(until.condition, self.scope, self.events) for until in block.until]
        return ends[0] if len(ends) == 1 else AnyOf(tuple(ends)) if ends else None


def _no_modifiers(calls: Iterable[syntax_tree.Call], what: str, allowed: tuple[str, ...]) -> None:
    """Refuse what is not among the allowed modifiers."""
    for call in calls:
        if not isinstance(call.callee, syntax_tree.Name) or call.callee.name not in allowed:
            expected = "one of " + ", ".join((*allowed, "until"))
            raise FaultError(call.at, f"{what!r} takes no such modifier", expected)


ACTOR_DEFAULTS = {
    "vehicle": (ActorKind.VEHICLE, 4.5, 1.8),
    "person": (ActorKind.PERSON, 0.6, 0.6),
    "stationary_object": (ActorKind.BARRIER, 2.0, 0.5),
}
"""Kind, length and width (m) of an actor whose size the text does not say."""


def compile_scenario(scenario: syntax_tree.ScenarioText, file: str, overrides: Mapping[str, str]) -> Scenario:
    """Names resolved, units converted, actions turned into commands.

    Raises:
        InputError: anything wrong in the text, at `file:line:column`, or in an override.
    """
    try:
        return _compile(scenario, file, overrides)
    except FaultError as fault:
        raise InputError(f"{file}:{fault.at.line}:{fault.at.column}", fault.what, fault.expected) from fault


def _compile(scenario: syntax_tree.ScenarioText, file: str, overrides: Mapping[str, str]) -> Scenario:
    members = scenario.members
    declared = declare([m for m in members if isinstance(m, syntax_tree.Declaration | syntax_tree.Keep)], overrides)
    if EGO not in declared.bodies:
        raise FaultError(scenario.at, "the scenario has no ego", f"{EGO}: vehicle")
    map_file = _map_file([m for m in members if isinstance(m, syntax_tree.Call)], file, declared)
    behaviour = _behaviour(scenario)
    events = [m.name for m in members if isinstance(m, syntax_tree.EventDeclaration)] + list(_labels(behaviour))
    builder = StoryboardBuilder(declared.scope, events)
    storyboard = builder.build(behaviour)
    return _scenario(
        scenario=scenario,
        file=file,
        declared=declared,
        map_file=map_file,
        initial=builder.initial,
        storyboard=storyboard,
        max_duration_s=_duration(behaviour, builder),
    )


def _scenario(
    scenario: syntax_tree.ScenarioText,
    file: str,
    declared: Declarations,
    map_file: str | None,
    initial: InitialInstant,
    storyboard: Node,
    max_duration_s: float | None,
) -> Scenario:
    placed = (command for node in nodes(storyboard) if isinstance(node, Action) for command in node.begin)
    later = {command.actor for command in placed if isinstance(command, Place)}
    actors = tuple(
        _actor(body, name, initial, None if name in later else Anywhere())
        for name, body in declared.bodies.items()
        if name != EGO and body.type in ACTOR_DEFAULTS
    )
    refuse_impossible(storyboard, (actor.name for actor in actors if actor.placement is not None))
    mission = initial.mission
    return Scenario(
        name=scenario.name,
        file=file,
        map_file=map_file,
        ego=initial.placements.get(EGO, Anywhere()),
        ego_speed=initial.speeds.get(EGO, 0.0),
        route=initial.route,
        actors=actors,
        population=initial.population or Population(),
        max_duration_s=max_duration_s,
        storyboard=storyboard,
        mission_file=None if mission is None else _file_beside(file, mission.file),
        variables=declared.variables(),
        places_at=initial.places_at,
    )


def _actor(body: Struct, name: str, initial: InitialInstant, otherwise: Placement | None) -> ScenarioActor:
    kind, length, width = ACTOR_DEFAULTS[body.type]
    size = {"length": length, "width": width}
    box = body.fields.get("bounding_box")
    for fields in (box.fields if isinstance(box, Struct) else {}, body.fields):
        for side in size:
            value = fields.get(side)
            if isinstance(value, Physical):
                size[side] = value.value
    look = body.fields.get("kind")
    kind = ActorKind(look.member) if isinstance(look, Symbol) else kind
    placement = initial.placements.get(name, otherwise)
    return ScenarioActor(name, kind, size["length"], size["width"], placement, initial.speeds.get(name, 0.0))


def _map_file(calls: list[syntax_tree.Call], file: str, declared: Declarations) -> str | None:
    """The file that `map.set_map_file` names, beside the scenario."""
    found: str | None = None
    for call in calls:
        callee = call.callee
        if not isinstance(callee, syntax_tree.Member) or callee.name != "set_map_file":
            raise FaultError(call.at, "no such modifier of a scenario", "map.set_map_file(<file>)")
        actor = declared.scope.actor(callee.base)
        if actor != ActorName("map", "map") or found is not None:
            raise FaultError(call.at, "a scenario has one map", "map.set_map_file(<file>), once")
        given = bind("set_map_file", (Param("file", "string"),), call.arguments, call.at, declared.scope)
        found = _file_beside(file, given.text("file"))
        if not Path(found).is_file():
            raise FaultError(call.arguments[0].at, f"no such file: {found}", "an OpenDRIVE map beside the scenario")
    return found


def _file_beside(file: str, other: str) -> str:
    return str(Path(file).parent / other)


def _behaviour(scenario: syntax_tree.ScenarioText) -> syntax_tree.Behaviour:
    found = [member for member in scenario.members if isinstance(member, syntax_tree.Do)]
    if len(found) != 1:
        at = found[1].at if found else scenario.at
        raise FaultError(at, f"{len(found)} do in the scenario", "do serial: or do parallel:, once")
    return found[0].behaviour


def _duration(behaviour: syntax_tree.Behaviour, builder: StoryboardBuilder) -> float | None:
    """What the outermost composition says of the length of the run."""
    if not isinstance(behaviour, syntax_tree.Composition):
        return None
    given = bind(
        behaviour.operator,
        (Param("duration", "time", optional=True),),
        behaviour.arguments,
        behaviour.at,
        builder.scope,
    )
    return None if given["duration"] is None else given.si("duration")


def _labels(behaviour: syntax_tree.Behaviour) -> Iterator[str]:
    """The events that labels bring with them, each label once.

    Raises:
        FaultError: a label is used twice.
    """
    seen: dict[str, SourceLocation] = {}
    for label, at in _labelled(behaviour):
        if label in seen:
            raise FaultError(at, f"the label {label!r} is used twice", "another label")
        seen[label] = at
        yield from (f"{label}.start", f"{label}.end")


def _labelled(behaviour: syntax_tree.Behaviour) -> Iterator[tuple[str, SourceLocation]]:
    if behaviour.label:
        yield behaviour.label, behaviour.at
    if isinstance(behaviour, syntax_tree.Composition):
        for member in behaviour.members:
            yield from _labelled(member)


NOTHING: Mapping[str, str] = {}


def load_scenario(path: str | Path, overrides: Mapping[str, str] = NOTHING) -> Scenario:
    """The scenario of a file, in the DSL or (`.xosc`) in XML; `overrides` are values of its variables as text, e.g.
    `{"gap": "20m"}`.

    Raises:
        InputError: an unreadable file, a fault in the text (`file:line:column`), an override that does not fit.
    """
    if Path(path).suffix.lower() == SUFFIX:
        return load_xosc(Path(path), overrides)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", "an OpenSCENARIO 2 text") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read: {error}", "an OpenSCENARIO 2 text in UTF-8") from error
    return compile_text(text, str(path), overrides)


def compile_text(text: str, file: str, overrides: Mapping[str, str] = NOTHING) -> Scenario:
    """The same for text at hand; `file` stands in messages, and other files are looked for beside it.

    Raises:
        InputError: as `load_scenario`.
    """
    try:
        return _only_scenario(text, file, overrides)
    except RecursionError as error:
        raise InputError(file, "something is nested too deeply", "fewer levels") from error


def _only_scenario(text: str, file: str, overrides: Mapping[str, str]) -> Scenario:
    scenarios = parse(text, file)
    if not scenarios:
        raise InputError(f"{file}:1:1", "no scenario in the file", "scenario <name>:")
    if len(scenarios) > 1:
        line, column = scenarios[1].at
        raise InputError(f"{file}:{line}:{column}", "a second scenario in the file", "one scenario a file")
    return compile_scenario(scenarios[0], file, overrides)
