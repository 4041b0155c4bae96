"""Conditions from expressions: what may stand after `wait` and `until` (OSC-1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.arguments import BoundArguments, Param
from tuling_fsm.sim.scenario.arithmetic import RELATIONS
from tuling_fsm.sim.scenario.conditions import (
    Acceleration,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Direction,
    DistanceMode,
    Driven,
    Edge,
    Elapsed,
    Emitted,
    ObjectDistance,
    OnEdge,
    PointDistance,
    Quantity,
    Relation,
    RelativeSpeed,
    Speed,
    TimeHeadway,
    TimeToCollision,
)
from tuling_fsm.sim.scenario.event_names import EventNames
from tuling_fsm.sim.scenario.expressions import Scope, bind, evaluate, evaluate_as
from tuling_fsm.sim.scenario.model import EGO
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import LENGTH, ActorName, FaultError, Measured, Physical, Struct


class Trigger(NamedTuple):
    """A quantity that a condition may compare: its parameters, the type of its value, how it is made."""

    params: tuple[Param, ...]
    type: str
    make: Callable[[str, BoundArguments], Quantity]


_HOW = (Param("direction", "distance_direction"), Param("mode", "distance_mode"))
TRIGGERS: dict[str, Trigger] = {
    "speed": Trigger((), "speed", lambda actor, _: Speed(actor)),
    "acceleration": Trigger((), "acceleration", lambda actor, _: Acceleration(actor)),
    "object_distance": Trigger(
        (Param("reference", "physical_object"), *_HOW),
        "length",
        lambda actor, given: ObjectDistance(
            actor,
            given.actor("reference"),
            Direction(given.member("direction")),
            DistanceMode(given.member("mode")),
        ),
    ),
    "point_distance": Trigger(
        (Param("reference", "position"), *_HOW),
        "length",
        lambda actor, given: PointDistance(
            actor,
            given.position("reference"),
            Direction(given.member("direction")),
            DistanceMode(given.member("mode")),
        ),
    ),
    "time_to_collision": Trigger(
        (Param("reference", "physical_object"),),
        "time",
        lambda actor, given: TimeToCollision(actor, given.actor("reference")),
    ),
    "time_headway": Trigger(
        (Param("reference", "physical_object"),),
        "time",
        lambda actor, given: TimeHeadway(actor, given.actor("reference")),
    ),
}
"""The quantities by name."""

OF_MOVING = ("speed", "acceleration", "time_headway")
"""Quantities that mean nothing of what stands for ever."""
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
EXPECTED = "elapsed(<time>), @<event>, or <actor>.<quantity> <relation> <value>, the quantity one of " + ", ".join(
    TRIGGERS
)


def condition(expression: syntax_tree.Expression, scope: Scope, events: EventNames) -> Condition:
    """The condition that an expression states; `events` are those of the scenario.

    Raises:
        FaultError: it is no condition, names an unknown event or quantity, or compares what cannot be compared.
    """
    match expression:
        case syntax_tree.EventReference():
            return _happens(expression, scope, events)
        case syntax_tree.FilteredEvent():
            return _filtered(expression, scope, events)
        case syntax_tree.Call(callee=syntax_tree.Name(name="elapsed")):
            given = bind("elapsed", (Param("time", "time"),), expression.arguments, expression.at, scope)
            return elapsed(given.si("time"), expression.at)
        case syntax_tree.Call(callee=syntax_tree.Name(name="rise" | "fall" as edge), arguments=(argument,)):
            return OnEdge(condition(argument.value, scope, events), _EDGES[edge])
        case syntax_tree.Operation(operator="and" | "or"):
            members = tuple(condition(operand, scope, events) for operand in expression.operands)
            return AllOf(members) if expression.operator == "and" else AnyOf(members)
        case syntax_tree.Operation(operator="in", operands=(item, syntax_tree.Range() as among)):
            quantity, kind = _quantity(item, scope)
            low, high = _value(among.low, kind, scope), _value(among.high, kind, scope)
            if low > high:
                raise FaultError(among.at, "nothing lies between these", "the lower limit first")
            at = expression.at
            return AllOf(
                (_within(quantity, Relation.GREATER_EQUAL, low, at), _within(quantity, Relation.LESS_EQUAL, high, at))
            )
        case syntax_tree.Operation() if expression.operator in RELATIONS:
            return _comparison(expression, scope)
    raise FaultError(expression.at, "this is no condition", EXPECTED)


_EDGES = {"rise": Edge.RISING, "fall": Edge.FALLING}


def elapsed(seconds: float, at: SourceLocation) -> Elapsed:
    """The condition that a time has passed.

    Raises:
        FaultError: it is below 0.
    """
    if seconds < 0.0:
        raise FaultError(at, f"a time of {seconds:g} s", "0 s or more")
    return Elapsed(seconds)


def _happens(reference: syntax_tree.EventReference, scope: Scope, events: EventNames) -> Condition:
    """That an event happens: one that is declared as something happens with it, any other when it is emitted."""
    name, at = reference.event, reference.at
    declared = events.declared.get(name)
    if declared is not None and declared.occurrence is not None:
        return condition(declared.occurrence, scope, events.without(name))
    if declared is not None and name in _BY_NAME and name not in events.emitted:
        params = [(each.name, each.type, each.default) for each in declared.parameters]
        return _by_name(name, params, scope, at)
    return Emitted(events.unique(name, at), at=at)


def _filtered(filtered: syntax_tree.FilteredEvent, scope: Scope, events: EventNames) -> Condition:
    """An event under a condition: on what it was emitted with, or on what is so at that moment."""
    reference, asked = filtered.event, filtered.condition
    if asked is None:
        return condition(reference, scope, events)
    sites = events.sites(reference.event)
    if not sites or not filtered.alias:
        happens = condition(reference, scope, events)
        now = replace(happens, now=True) if isinstance(happens, Emitted) else happens
        return AllOf((now, condition(asked, scope, events)))
    found = []
    for site in sites:
        values = {**scope.known(), filtered.alias: Struct(reference.event, site.given)}
        passed = _site_passes(asked, Scope(values, scope.types), events)
        if passed is not None:
            happens = Emitted(site.name, now=True, at=filtered.at)
            found.append(AllOf((happens, *passed)) if passed else happens)
    if not found:
        what = f"no emit of {reference.event!r} fulfils this"
        raise FaultError(asked.at, what, "a condition on what it is emitted with")
    return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _site_passes(asked: syntax_tree.Expression, scope: Scope, events: EventNames) -> tuple[Condition, ...] | None:
    """What is left to hold while the scenario runs; None where what is known already says no."""
    if isinstance(asked, syntax_tree.Operation) and asked.operator == "and":
        parts = [_site_passes(operand, scope, events) for operand in asked.operands]
        return None if None in parts else tuple(each for part in parts if part for each in part)
    if _changes(asked, scope):
        return (condition(asked, scope, events),)
    return () if scope.types.convert(evaluate(asked, scope), "bool", asked.at) else None


def _changes(expression: syntax_tree.Expression, scope: Scope) -> bool:
    """Whether an expression looks at quantities of actors."""
    if _is_quantity(expression, scope):
        return True
    return isinstance(expression, syntax_tree.Operation) and any(_changes(each, scope) for each in expression.operands)


def _by_name(
    name: str, params: list[tuple[str, str, syntax_tree.Expression | None]], scope: Scope, at: SourceLocation
) -> Condition:
    """An event that ScenarioRunner knows by its name: an actor and a distance are its parameters."""
    values = [evaluate_as(kind, default, scope) for _, kind, default in params if default is not None]
    actors = [value.name for value in values if isinstance(value, ActorName) and value.type == "vehicle"]
    lengths = [value.value for value in values if isinstance(value, Physical) and value.dimension == LENGTH]
    if len(actors) != 1 or len(lengths) != 1:
        expected = f"{name}(other_car: vehicle = <actor>, distance: length = <length>)"
        raise FaultError(at, f"{name!r} says of no actor how far", expected)
    return _BY_NAME[name](actors[0], lengths[0], at)


def _near(actor: str, distance: float, at: SourceLocation) -> Condition:
    between = ObjectDistance(actor, EGO, Direction.EUCLIDEAN, DistanceMode.REFERENCE_POINTS)
    return Compare(between, Relation.LESS, distance, at)


_BY_NAME: dict[str, Callable[[str, float, SourceLocation], Condition]] = {
    "drive_distance": lambda actor, distance, _: Driven(actor, distance),
    "near_collision": _near,
}
"""Events of ScenarioRunner: a car has gone so far from the wait on, or has come so near to the ego."""


def _comparison(expression: syntax_tree.Operation, scope: Scope) -> Compare:
    left, right = expression.operands
    relation = expression.operator
    if _is_quantity(left, scope) and _is_quantity(right, scope):
        return _of_both(left, right, relation, scope, expression.at)
    if not _is_quantity(left, scope) and _is_quantity(right, scope):
        left, right, relation = right, left, FLIPPED[relation]
    quantity, kind = _quantity(left, scope)
    return _within(quantity, Relation(relation), _value(right, kind, scope), expression.at)


def _of_both(
    left: syntax_tree.Expression, right: syntax_tree.Expression, relation: str, scope: Scope, at: SourceLocation
) -> Compare:
    one, other = _quantity(left, scope)[0], _quantity(right, scope)[0]
    if not isinstance(one, Speed) or not isinstance(other, Speed) or one.actor == other.actor:
        raise FaultError(at, "only the speeds of two actors are compared", "<actor>.speed < <actor>.speed")
    return Compare(RelativeSpeed(one.actor, other.actor), Relation(relation), 0.0, at)


def _within(quantity: Quantity, relation: Relation, value: float, at: SourceLocation) -> Compare:
    """The comparison.

    Raises:
        FaultError: it can never hold.
    """
    at_most = relation in (Relation.LESS_EQUAL, Relation.EQUAL) and value < 0.0
    if _never_negative(quantity) and (at_most or (relation is Relation.LESS and value <= 0.0)):
        raise FaultError(at, "this never holds: the quantity is never below 0", "a value above 0")
    return Compare(quantity, relation, value, at)


def _never_negative(quantity: Quantity) -> bool:
    match quantity:
        case Speed():
            return quantity.actor != EGO
        case Acceleration() | RelativeSpeed():
            return False
        case _:
            return True


def _is_quantity(expression: syntax_tree.Expression, scope: Scope) -> bool:
    if isinstance(expression, syntax_tree.Name):
        return isinstance(scope.known().get(expression.name), Measured)
    callee = expression.callee if isinstance(expression, syntax_tree.Call) else expression
    return isinstance(callee, syntax_tree.Member) and callee.name in TRIGGERS


def _quantity(expression: syntax_tree.Expression, scope: Scope) -> tuple[Quantity, str]:
    """The quantity and the type of its value."""
    if isinstance(expression, syntax_tree.Name):
        measured = scope.known().get(expression.name)
        if isinstance(measured, Measured):
            trigger = TRIGGERS[measured.quantity]
            return trigger.make(measured.actor.name, BoundArguments()), trigger.type
    callee = expression.callee if isinstance(expression, syntax_tree.Call) else expression
    if not isinstance(callee, syntax_tree.Member):
        raise FaultError(expression.at, "nothing here changes while the scenario runs", EXPECTED)
    actor = scope.actor(callee.base)
    if not scope.types.is_a(actor.type, "physical_object") or callee.name not in TRIGGERS:
        raise FaultError(callee.at, f"{actor.name!r} has no quantity {callee.name!r}", EXPECTED)
    if actor.type == "stationary_object" and callee.name in OF_MOVING:
        raise FaultError(callee.at, f"{actor.name!r} never moves: it has no {callee.name!r}", "another actor's")
    trigger = TRIGGERS[callee.name]
    arguments = expression.arguments if isinstance(expression, syntax_tree.Call) else ()
    given = bind(callee.name, trigger.params, arguments, expression.at, scope)
    reference = given.get("reference")
    if isinstance(reference, ActorName) and reference.name == actor.name:
        raise FaultError(expression.at, f"{callee.name!r} of {actor.name!r} to itself", "another actor")
    return trigger.make(actor.name, given), trigger.type


def _value(expression: syntax_tree.Expression, kind: str, scope: Scope) -> float:
    value = evaluate_as(kind, expression, scope)
    assert isinstance(value, Physical)
    return value.value
