"""The members of a scenario by what they are for, and its modifiers: the map, and what is asked of the road."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tuling_fsm.input_file import is_file
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.action_types import ActionContext
from tuling_fsm.sim.scenario.arguments import Param, assign
from tuling_fsm.sim.scenario.commands import Place
from tuling_fsm.sim.scenario.declarations import Declarations, DeclaringMember
from tuling_fsm.sim.scenario.expressions import Scope, bind, evaluate, evaluate_as, parameters_of
from tuling_fsm.sim.scenario.initial_instant import InitialInstant
from tuling_fsm.sim.scenario.path_constraints import ANY, BendAhead, JunctionOnPath, PathConstraints, ValueRange
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.type_table import StructuredType, TypeTable
from tuling_fsm.sim.scenario.values import ActorName, FaultError, Physical, Value
from tuling_fsm.sim.scenario.xml.files import look_up

DIRECTION_TOLERANCE = math.pi / 36.0
"""Of a single direction over a junction, rad."""
_MAP = ActorName("map", "map")


@dataclass(frozen=True)
class ScenarioMembers:
    """Declarations and constraints in order, events, modifiers, and what it does."""

    declaring: tuple[DeclaringMember, ...]
    events: tuple[syntax_tree.EventDeclaration, ...]
    calls: tuple[syntax_tree.Call, ...]
    behaviour: syntax_tree.Behaviour


def members_of(kind: StructuredType, types: TypeTable) -> ScenarioMembers:
    """The members of a scenario with those that it inherits, which go first; what it does itself counts.

    Raises:
        FaultError: it does nothing, or two things; a member that is not carried out.
    """
    line = list(types.line(kind.name))[::-1]
    declaring: list[DeclaringMember] = []
    events: list[syntax_tree.EventDeclaration] = []
    calls: list[syntax_tree.Call] = []
    for each in line:
        if each.condition is not None:
            declaring.append(syntax_tree.Keep(each.at, each.condition))
        for member in each.members:
            match member:
                case syntax_tree.EventDeclaration():
                    events.append(member)
                case syntax_tree.Call():
                    calls.append(member)
                case syntax_tree.On():
                    expected = "a serial with a wait in a parallel beside the rest"
                    raise FaultError(member.at, "what `on` says is not carried out", expected)
                case syntax_tree.Do() | syntax_tree.MethodDeclaration():
                    pass
                case _:
                    declaring.append(member)
    return ScenarioMembers(tuple(declaring), tuple(events), tuple(calls), _behaviour(kind, line[::-1]))


def _behaviour(kind: StructuredType, line: list[StructuredType]) -> syntax_tree.Behaviour:
    for each in line:
        found = [member for member in each.members if isinstance(member, syntax_tree.Do)]
        if len(found) == 1:
            return found[0].behaviour
        if found:
            raise FaultError(found[1].at, f"{len(found)} do in the scenario", "do serial: or do parallel:, once")
    raise FaultError(kind.at, "0 do in the scenario", "do serial: or do parallel:, once")


def apply_modifiers(
    calls: Iterable[syntax_tree.Call], declared: Declarations, script: ActionContext, initial: InitialInstant
) -> None:
    """The modifiers of a scenario: the map, the road that its cars begin on, where they are.

    Raises:
        FaultError: an unknown modifier, wrong arguments, a second map.
    """
    scope = declared.scope
    for call in calls:
        actor, name = _target(call, scope)
        if actor is None:
            evaluate(call, scope)
            script.note(call.at, "a method computes a value, which nothing takes here")
        elif actor == _MAP and name == "set_map_file":
            _set_map_file(call, scope, script)
        elif actor.type == "Path" and name == "set_map":
            _set_map(call, scope, script)
        elif actor.type == "Path" and name in _PATH:
            script.path = _PATH[name](script.path, _intervals(name, call, scope))
        elif actor.type == "vehicle" and name == "set_position":
            _set_position(call, actor, scope, script, initial)
        else:
            known = ", ".join(f"path.{each}" for each in _PATH)
            expected = f"map.set_map_file(<file>), path.set_map(<town>), {known}, <vehicle>.set_position(...)"
            raise FaultError(call.at, "no such modifier of a scenario", expected)


def _target(call: syntax_tree.Call, scope: Scope) -> tuple[ActorName | None, str]:
    """Whom a modifier is for; one without an actor is for the path. None for the method of a struct."""
    callee = call.callee
    if isinstance(callee, syntax_tree.Name):
        return ActorName("path", "Path"), callee.name
    if not isinstance(callee, syntax_tree.Member):
        raise FaultError(call.at, "no such modifier of a scenario", "<actor>.<modifier>(...)")
    if isinstance(callee.base, syntax_tree.Name):
        value = scope.known().get(callee.base.name)
        if not isinstance(value, ActorName) and (value is not None or scope.types.is_struct(callee.base.name)):
            return None, callee.name
    return scope.actor(callee.base), callee.name


def _once(call: syntax_tree.Call, script: ActionContext) -> None:
    if script.map_file is not None:
        raise FaultError(call.at, "a scenario has one map", "map.set_map_file(<file>), once")


def _set_map_file(call: syntax_tree.Call, scope: Scope, script: ActionContext) -> None:
    """The OpenDRIVE file beside the scenario."""
    _once(call, script)
    given = bind("set_map_file", (Param("file", "string"),), call.arguments, call.at, scope)
    found = str(Path(script.file).parent / given.text("file"))
    if not is_file(found):
        raise FaultError(call.arguments[0].at, f"no such file: {found}", "an OpenDRIVE map beside the scenario")
    script.map_file = found


def _set_map(call: syntax_tree.Call, scope: Scope, script: ActionContext) -> None:
    """A town by its name: a file of that name in the scenario's folder or above, or what --map says instead."""
    _once(call, script)
    given = bind("set_map", (Param("map_name", "string"),), call.arguments, call.at, scope)
    file, name = Path(script.file), given.text("map_name")
    script.map_file = str(look_up(file, name, ".xodr") or file.parent / name)


def _intervals(name: str, call: syntax_tree.Call, scope: Scope) -> Mapping[str, Value | ValueRange]:
    """The arguments of a path modifier, ranges as such."""
    params = parameters_of(scope.types.modifiers[f"Path.{name}"], scope, optional=True)
    filled = assign(name, params, call.arguments, call.at)
    if not filled:
        raise FaultError(call.at, f"{name!r} says nothing", ", ".join(f"{each.name}: {each.type}" for each in params))
    found: dict[str, Value | ValueRange] = {}
    for param in params:
        if param.name in filled:
            value = filled[param.name].value
            if isinstance(value, syntax_tree.Range):
                low, high = (_si(evaluate_as(param.type, end, scope), end.at) for end in (value.low, value.high))
                found[param.name] = ValueRange(low, high)
            else:
                found[param.name] = evaluate_as(param.type, value, scope)
    return found


def _si(value: Value, at: SourceLocation) -> float:
    if isinstance(value, Physical):
        return value.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise FaultError(at, "this is no number", "a number, with or without a unit")


def _number(given: Mapping[str, Value | ValueRange], name: str, otherwise: float) -> float:
    value = given.get(name)
    if isinstance(value, ValueRange):
        return value.low
    return otherwise if value is None else _si(value, syntax_tree.NO_TEXT)


def _within(given: Mapping[str, Value | ValueRange], name: str) -> ValueRange:
    """A range, or from 0 to a single value: within so much."""
    value = given.get(name)
    if value is None or isinstance(value, ValueRange):
        return ANY if value is None else value
    return ValueRange(0.0, _si(value, syntax_tree.NO_TEXT))


def _direction(given: Mapping[str, Value | ValueRange]) -> ValueRange:
    value = given.get("direction")
    if value is None or isinstance(value, ValueRange):
        return ANY if value is None else value
    angle = _si(value, syntax_tree.NO_TEXT)
    return ValueRange(angle - DIRECTION_TOLERANCE, angle + DIRECTION_TOLERANCE)


def _min_lanes(path: PathConstraints, given: Mapping[str, Value | ValueRange]) -> PathConstraints:
    return replace(path, lanes=path.lanes._replace(low=_number(given, "min_lanes", 0.0)))


def _max_lanes(path: PathConstraints, given: Mapping[str, Value | ValueRange]) -> PathConstraints:
    return replace(path, lanes=path.lanes._replace(high=_number(given, "max_lanes", math.inf)))


def _length(path: PathConstraints, given: Mapping[str, Value | ValueRange]) -> PathConstraints:
    return replace(path, length=_number(given, "length", 0.0))


def _junction(path: PathConstraints, given: Mapping[str, Value | ValueRange]) -> PathConstraints:
    before, inside, after = (_within(given, f"distance_{where}") for where in ("before", "in", "after"))
    return replace(path, junction=JunctionOnPath(_direction(given), before, inside, after))


def _curve(path: PathConstraints, given: Mapping[str, Value | ValueRange]) -> PathConstraints:
    side = given.get("side")
    left = None if side is None else getattr(side, "member", "") == "left"
    radius = ValueRange(_number(given, "min_radius", 0.0), _number(given, "max_radius", math.inf))
    return replace(path, curve=BendAhead(radius, left))


_PATH: dict[str, Callable[[PathConstraints, Mapping[str, Value | ValueRange]], PathConstraints]] = {
    "path_min_driving_lanes": _min_lanes,
    "path_max_lanes": _max_lanes,
    "path_length": _length,
    "path_over_junction": _junction,
    "path_curve": _curve,
}
"""Modifiers of a path by name."""


def _set_position(
    call: syntax_tree.Call, actor: ActorName, scope: Scope, script: ActionContext, initial: InitialInstant
) -> None:
    """A pose in CARLA's coordinates, whose y axis and angles go the other way.

    ScenarioRunner takes the number of an angle for degrees, whatever its unit is: one beyond a whole turn is meant so.
    """
    params = parameters_of(scope.types.modifiers["vehicle.set_position"], scope, optional=True)
    given = bind("set_position", params, call.arguments, call.at, scope)
    if given["x"] is None or given["y"] is None:
        raise FaultError(call.at, "'set_position' needs 'x' and 'y'", "x: length, y: length, yaw: angle")
    heading = None
    if given["yaw"] is not None:
        yaw = given.si("yaw")
        if abs(yaw) > 2.0 * math.pi:
            script.note(call.at, f"a yaw of {yaw:g} rad is read as degrees, as ScenarioRunner does")
            yaw = yaw * math.pi / 180.0
        heading = -yaw
    if any(given[name] is not None and abs(given.si(name)) > 0.0 for name in ("z", "pitch", "roll")):
        script.note(call.at, "z, pitch and roll are those of the road")
    initial.take(Place(actor.name, AtPose(given.si("x"), -given.si("y"), heading)), call.at)
