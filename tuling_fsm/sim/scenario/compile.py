"""A parsed scenario to the compiled one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario import bound, tree
from tuling_fsm.sim.scenario.build import Beginning, Builder
from tuling_fsm.sim.scenario.commands import Place
from tuling_fsm.sim.scenario.declare import Declared, declare
from tuling_fsm.sim.scenario.evaluate import bind
from tuling_fsm.sim.scenario.foresight import refuse_what_never_happens
from tuling_fsm.sim.scenario.model import (
    EGO,
    Action,
    Actor,
    ActorKind,
    Node,
    Population,
    Scenario,
    nodes,
)
from tuling_fsm.sim.scenario.placements import Anywhere, Placement
from tuling_fsm.sim.scenario.scope import Param
from tuling_fsm.sim.scenario.tree import At
from tuling_fsm.sim.scenario.values import ActorName, FaultError, Physical, Struct, Symbol

SIZES = {
    "vehicle": (ActorKind.VEHICLE, 4.5, 1.8),
    "person": (ActorKind.PERSON, 0.6, 0.6),
    "stationary_object": (ActorKind.BARRIER, 2.0, 0.5),
}
"""Kind, length and width (m) of an actor whose size the text does not say."""


def compile_scenario(scenario: tree.ScenarioText, file: str, overrides: Mapping[str, str]) -> Scenario:
    """Names resolved, units converted, actions turned into commands.

    Raises:
        InputError: anything wrong in the text, at `file:line:column`, or in an override.
    """
    try:
        return _compile(scenario, file, overrides)
    except FaultError as fault:
        raise InputError(f"{file}:{fault.at.line}:{fault.at.column}", fault.what, fault.expected) from fault


def _compile(scenario: tree.ScenarioText, file: str, overrides: Mapping[str, str]) -> Scenario:
    members = scenario.members
    declared = declare([m for m in members if isinstance(m, tree.Declaration | tree.Keep)], overrides)
    if EGO not in declared.bodies:
        raise FaultError(scenario.at, "the scenario has no ego", f"{EGO}: vehicle")
    map_file = _map_file([m for m in members if isinstance(m, tree.Call)], file, declared)
    behaviour = _behaviour(scenario)
    events = [m.name for m in members if isinstance(m, tree.EventDeclaration)] + list(_labels(behaviour))
    builder = Builder(declared.scope, events)
    storyboard = builder.build(behaviour)
    return _scenario(scenario, file, declared, map_file, builder.beginning, storyboard, _duration(behaviour, builder))


def _scenario(
    scenario: tree.ScenarioText,
    file: str,
    declared: Declared,
    map_file: str | None,
    beginning: Beginning,
    storyboard: Node,
    max_duration_s: float | None,
) -> Scenario:
    placed = (command for node in nodes(storyboard) if isinstance(node, Action) for command in node.begin)
    later = {command.actor for command in placed if isinstance(command, Place)}
    actors = tuple(
        _actor(body, name, beginning, None if name in later else Anywhere())
        for name, body in declared.bodies.items()
        if name != EGO and body.type in SIZES
    )
    refuse_what_never_happens(storyboard, (actor.name for actor in actors if actor.placement is not None))
    mission = beginning.mission
    return Scenario(
        name=scenario.name,
        file=file,
        map_file=map_file,
        ego=beginning.placements.get(EGO, Anywhere()),
        ego_speed=beginning.speeds.get(EGO, 0.0),
        route=beginning.route,
        actors=actors,
        population=beginning.population or Population(),
        max_duration_s=max_duration_s,
        storyboard=storyboard,
        mission_file=None if mission is None else _beside(file, mission.file),
        variables=declared.variables(),
        places_at=beginning.places_at,
    )


def _actor(body: Struct, name: str, beginning: Beginning, otherwise: Placement | None) -> Actor:
    kind, length, width = SIZES[body.type]
    size = {"length": length, "width": width}
    box = body.fields.get("bounding_box")
    for fields in (box.fields if isinstance(box, Struct) else {}, body.fields):
        for side in size:
            value = fields.get(side)
            if isinstance(value, Physical):
                size[side] = value.value
    look = body.fields.get("kind")
    kind = ActorKind(look.member) if isinstance(look, Symbol) else kind
    placement = beginning.placements.get(name, otherwise)
    return Actor(name, kind, size["length"], size["width"], placement, beginning.speeds.get(name, 0.0))


def _map_file(calls: list[tree.Call], file: str, declared: Declared) -> str | None:
    """The file that `map.set_map_file` names, beside the scenario."""
    found: str | None = None
    for call in calls:
        callee = call.callee
        if not isinstance(callee, tree.Member) or callee.name != "set_map_file":
            raise FaultError(call.at, "no such modifier of a scenario", "map.set_map_file(<file>)")
        actor = declared.scope.actor(callee.base)
        if actor != ActorName("map", "map") or found is not None:
            raise FaultError(call.at, "a scenario has one map", "map.set_map_file(<file>), once")
        given = bind("set_map_file", (Param("file", "string"),), call.arguments, call.at, declared.scope)
        found = _beside(file, bound.text(given, "file"))
        if not Path(found).is_file():
            raise FaultError(call.arguments[0].at, f"no such file: {found}", "an OpenDRIVE map beside the scenario")
    return found


def _beside(file: str, other: str) -> str:
    return str(Path(file).parent / other)


def _behaviour(scenario: tree.ScenarioText) -> tree.Behaviour:
    found = [member for member in scenario.members if isinstance(member, tree.Do)]
    if len(found) != 1:
        at = found[1].at if found else scenario.at
        raise FaultError(at, f"{len(found)} do in the scenario", "do serial: or do parallel:, once")
    return found[0].behaviour


def _duration(behaviour: tree.Behaviour, builder: Builder) -> float | None:
    """What the outermost composition says of the length of the run."""
    if not isinstance(behaviour, tree.Composition):
        return None
    given = bind(
        behaviour.operator,
        (Param("duration", "time", optional=True),),
        behaviour.arguments,
        behaviour.at,
        builder.scope,
    )
    return None if given["duration"] is None else bound.si(given, "duration")


def _labels(behaviour: tree.Behaviour) -> Iterator[str]:
    """The events that labels bring with them, each label once.

    Raises:
        FaultError: a label is used twice.
    """
    seen: dict[str, At] = {}
    for label, at in _labelled(behaviour):
        if label in seen:
            raise FaultError(at, f"the label {label!r} is used twice", "another label")
        seen[label] = at
        yield from (f"{label}.start", f"{label}.end")


def _labelled(behaviour: tree.Behaviour) -> Iterator[tuple[str, At]]:
    if behaviour.label:
        yield behaviour.label, behaviour.at
    if isinstance(behaviour, tree.Composition):
        for member in behaviour.members:
            yield from _labelled(member)
