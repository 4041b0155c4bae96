"""Reads a scenario file: its text to the compiled scenario, what happens in its first instant to the initial state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import read_text
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.action_types import ActionContext
from tuling_fsm.sim.scenario.arguments import Param
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import Place
from tuling_fsm.sim.scenario.declarations import Actors, Declarations, declare
from tuling_fsm.sim.scenario.ego_script import WAY_M
from tuling_fsm.sim.scenario.event_names import event_names
from tuling_fsm.sim.scenario.expressions import bind
from tuling_fsm.sim.scenario.imports import ScenarioSource, read_source
from tuling_fsm.sim.scenario.initial_instant import InitialInstant
from tuling_fsm.sim.scenario.model import (
    EGO,
    Action,
    EgoRoute,
    Node,
    Population,
    Scenario,
    ScenarioActor,
    ScriptedRoute,
    nodes,
)
from tuling_fsm.sim.scenario.path_constraints import PathConstraints
from tuling_fsm.sim.scenario.placements import Anywhere, OnPath, Placement, RelativeTo
from tuling_fsm.sim.scenario.scenario_members import ScenarioMembers, apply_modifiers, members_of
from tuling_fsm.sim.scenario.storyboard_builder import StoryboardBuilder
from tuling_fsm.sim.scenario.type_table import StructuredType
from tuling_fsm.sim.scenario.validation import refuse_impossible
from tuling_fsm.sim.scenario.values import FaultError, Physical, Struct, Symbol
from tuling_fsm.sim.scenario.xml.reader import SUFFIX, load_xosc

KINDS = {
    "vehicle": ActorKind.VEHICLE,
    "person": ActorKind.PERSON,
    "stationary_object": ActorKind.BARRIER,
}
"""What actors that are somewhere are, where the text does not say otherwise."""
EGO_NAMES = ("ego", "ego_vehicle", "ego_car", "hero", "sut", "dut", "vut")
"""What texts call the car under test, in any spelling; the first of these counts."""
TOP = "top"
"""The scenario of this name is run where a file holds several."""


def compile_scenario(source: ScenarioSource, file: str, overrides: Mapping[str, str]) -> Scenario:
    """Names resolved, units converted, actions turned into commands.

    Which vehicles need the default controller is known when all is compiled; then it is done once more with them.

    Raises:
        FaultError: anything wrong in the text.
        InputError: in an override.
    """
    kind = _chosen(source)
    controlled: frozenset[str] = frozenset()
    while True:
        script = ActionContext(file, controlled)
        scenario = _compile(source, kind, script, overrides)
        if script.wanted <= controlled:
            return scenario
        controlled |= script.wanted


def _chosen(source: ScenarioSource) -> StructuredType:
    """The scenario that is run: the only one, the one named `top`, or the only one that no other invokes."""
    if not source.scenarios:
        raise FaultError(syntax_tree.SourceLocation(1, 1), "no scenario in the file", "scenario <name>:")
    kinds = [source.types.behaviours[each.name] for each in source.scenarios]
    inherited = {kind.base for kind in kinds}
    invoked = {name for kind in kinds for name in _invoked(kind)} | inherited
    free = [kind for kind in kinds if kind.name not in invoked and kind.name.split(".")[-1] not in invoked]
    for choice in (kinds, [kind for kind in kinds if kind.name == TOP], free):
        if len(choice) == 1:
            return choice[0]
    expected = f"one scenario a file, one named {TOP}, or one that invokes all others"
    raise FaultError(source.scenarios[1].at, "a second scenario in the file", expected)


def _invoked(kind: StructuredType) -> list[str]:
    """Names of what a scenario invokes, with and without what is in front of the dot."""
    found: list[str] = []

    def look(behaviour: syntax_tree.Behaviour) -> None:
        if isinstance(behaviour, syntax_tree.Composition):
            for member in behaviour.members:
                look(member)
        elif isinstance(behaviour, syntax_tree.Invocation):
            callee = behaviour.call.callee
            found.append(callee.name if isinstance(callee, syntax_tree.Name | syntax_tree.Member) else "")

    for member in kind.members:
        if isinstance(member, syntax_tree.Do):
            look(member.behaviour)
    return found


def _compile(
    source: ScenarioSource, kind: StructuredType, script: ActionContext, overrides: Mapping[str, str]
) -> Scenario:
    members = members_of(kind, source.types)
    named, overrides = _ego_name(members, source, overrides)
    declared = declare(members.declaring, overrides, source.types, Actors(named))
    initial = InitialInstant()
    apply_modifiers(members.calls, declared, script, initial)
    events = event_names(members.events, members.behaviour, declared.scope)
    builder = StoryboardBuilder(declared, events, script, initial, invoked=(kind.name,))
    storyboard = builder.build(members.behaviour)
    if EGO not in declared.actors.bodies:
        raise FaultError(kind.at, "the scenario has no ego", f"{EGO}: vehicle")
    notes = (*source.notes, *declared.actors.notes, *script.notes)
    return replace(
        _scenario(script, declared, initial, storyboard, _duration(members.behaviour, builder)),
        name=kind.name,
        read_files={**source.imported, **script.read},
        notes=tuple(dict.fromkeys(f"{at.within(script.file)}: {what}" for at, what in notes)),
    )


def _ego_name(
    members: ScenarioMembers, source: ScenarioSource, overrides: Mapping[str, str]
) -> tuple[str, Mapping[str, str]]:
    """How the text calls the ego, and the overrides without the one that says so."""
    declaring = [*source.types.globals, *members.declaring]
    for other in source.scenarios:
        declaring += [each for each in other.members if isinstance(each, syntax_tree.Declaration)]
    vehicles = [
        name.name
        for each in declaring
        if isinstance(each, syntax_tree.Declaration) and source.types.simulated(each.type.name) == "vehicle"
        for name in each.names
    ]
    if overrides.get(EGO) in vehicles:
        return overrides[EGO], {name: value for name, value in overrides.items() if name != EGO}
    for wanted in EGO_NAMES:
        for name in vehicles:
            if name.lower() == wanted:
                return name, overrides
    return EGO, overrides


def _scenario(
    script: ActionContext,
    declared: Declarations,
    initial: InitialInstant,
    storyboard: Node,
    max_duration_s: float | None,
) -> Scenario:
    bodies = declared.actors.bodies
    issued = (command for node in nodes(storyboard) if isinstance(node, Action) for command in node.begin)
    placed = [command for command in issued if isinstance(command, Place)]
    later = {command.actor for command in placed}
    begins = _begins(script, initial, (command.placement for command in placed))
    actors = tuple(
        _actor(declared.actors, name, initial, begins.get(name, None if name in later else Anywhere()), script)
        for name, body in bodies.items()
        if name != EGO and body.type in KINDS
    )
    refuse_impossible(storyboard, (actor.name for actor in actors if actor.placement is not None))
    mission = initial.mission
    return Scenario(
        name="",
        file=script.file,
        map_file=script.map_file,
        ego=begins[EGO],
        ego_speed=initial.speeds.get(EGO, 0.0),
        route=_route(script, initial),
        actors=actors,
        population=initial.population or Population(),
        max_duration_s=max_duration_s,
        storyboard=storyboard,
        mission_file=None if mission is None else _file_beside(script.file, mission.file),
        variables=declared.variables(),
        places_at=initial.places_at,
    )


def _actor(
    actors: Actors, name: str, initial: InitialInstant, placement: Placement | None, script: ActionContext
) -> ScenarioActor:
    body, default = actors.bodies[name], actors.defaults[name]
    size = {"length": 0.0, "width": 0.0}
    box = body.fields.get("bounding_box")
    for fields in (default.fields, box.fields if isinstance(box, Struct) else {}, body.fields):
        for side in size:
            value = fields.get(side)
            if isinstance(value, Physical):
                size[side] = value.value
    look = body.fields.get("kind")
    kind = ActorKind(look.member) if isinstance(look, Symbol) else KINDS[body.type]
    return ScenarioActor(
        name,
        kind,
        size["length"],
        size["width"],
        placement,
        _begins_at(name, initial, placement, script),
        default_controller=name in script.controlled,
    )


def _begins_at(name: str, initial: InitialInstant, placement: Placement | None, script: ActionContext) -> float:
    """The speed at the beginning, m/s: of one that the script moves, else that of the actor it is beside."""
    if name in script.controlled and not initial.speeds.get(name) and isinstance(placement, RelativeTo):
        return initial.speeds.get(placement.actor, 0.0)
    return initial.speeds.get(name, 0.0)


def _route(script: ActionContext, initial: InitialInstant) -> EgoRoute | None:
    """The route that the text states, or so far straight on where it lets the ego drive without one."""
    if initial.route is not None or initial.mission is not None or not script.ego_driven:
        return initial.route
    return ScriptedRoute((), WAY_M)


def _begins(script: ActionContext, initial: InitialInstant, later: Iterable[Placement]) -> dict[str, Placement]:
    """Where everybody begins; `later` are the places that are given in the course of the run.

    An ego beside an actor that is drawn on a road is drawn itself, and the actor beside it: the ego is drawn first.
    """
    found = dict(initial.placements)
    ego = found.get(EGO) or script.ego_start
    if ego is None:
        ego = Anywhere() if script.path == PathConstraints() else OnPath(0, script.path)
    other = found.get(ego.actor) if isinstance(ego, RelativeTo) else None
    if isinstance(ego, RelativeTo) and isinstance(other, OnPath):
        found[ego.actor] = RelativeTo(EGO, -ego.ahead, -ego.lanes)
        ego = OnPath(max(other.lane - ego.lanes, 1) if other.lane > 0 else 0, other.path)
    if isinstance(ego, OnPath):
        ego = replace(ego, room_for=_beside_ego(found.values(), later))
    return {**found, EGO: ego}


def _beside_ego(*groups: Iterable[Placement]) -> tuple[tuple[float, int], ...]:
    """Places of others beside the ego: m ahead, lanes to the left."""
    return tuple(
        dict.fromkeys(
            (where.ahead, where.lanes)
            for group in groups
            for where in group
            if isinstance(where, RelativeTo) and where.actor == EGO
        )
    )


def _file_beside(file: str, other: str) -> str:
    return str(Path(file).parent / other)


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
        text, sha256 = read_text(path)
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", "an OpenSCENARIO 2 text") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read: {error}", "an OpenSCENARIO 2 text in UTF-8") from error
    scenario = compile_text(text, str(path), overrides)
    return replace(scenario, read_files={str(path): sha256, **scenario.read_files})


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
    try:
        return compile_scenario(read_source(text, file), file, overrides)
    except FaultError as fault:
        raise InputError(fault.at.within(file), fault.what, fault.expected) from fault
