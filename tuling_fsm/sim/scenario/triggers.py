"""Conditions from expressions: what may stand after `wait` and `until` (OSC-1)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.conditions import (
    Acceleration,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Direction,
    DistanceMode,
    Elapsed,
    Emitted,
    ObjectDistance,
    PointDistance,
    Quantity,
    Relation,
    RelativeSpeed,
    Speed,
    TimeHeadway,
    TimeToCollision,
)
from tuling_fsm.sim.scenario.expressions import RELATIONS, BoundArguments, Param, Scope, bind, evaluate
from tuling_fsm.sim.scenario.model import EGO
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import PHYSICAL_OBJECTS, ActorName, FaultError, Physical, convert


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


def condition(expression: syntax_tree.Expression, scope: Scope, events: Collection[str]) -> Condition:
    """The condition that an expression states; `events` are those that may be emitted.

    Raises:
        FaultError: it is no condition, names an unknown event or quantity, or compares what cannot be compared.
    """
    match expression:
        case syntax_tree.EventReference():
            return _emitted(expression, events)
        case syntax_tree.Call(callee=syntax_tree.Name(name="elapsed")):
            given = bind("elapsed", (Param("time", "time"),), expression.arguments, expression.at, scope)
            return elapsed(given.si("time"), expression.at)
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


def elapsed(seconds: float, at: SourceLocation) -> Elapsed:
    """The condition that a time has passed.

    Raises:
        FaultError: it is below 0.
    """
    if seconds < 0.0:
        raise FaultError(at, f"a time of {seconds:g} s", "0 s or more")
    return Elapsed(seconds)


def _emitted(expression: syntax_tree.EventReference, events: Collection[str]) -> Emitted:
    if expression.event not in events:
        expected = "one of " + ", ".join(f"@{event}" for event in events) if events else "a declared event"
        raise FaultError(expression.at, f"unknown event {expression.event!r}", expected)
    return Emitted(expression.event, expression.at)


def _comparison(expression: syntax_tree.Operation, scope: Scope) -> Compare:
    left, right = expression.operands
    relation = expression.operator
    if not _is_quantity(left) and _is_quantity(right):
        left, right, relation = right, left, FLIPPED[relation]
    quantity, kind = _quantity(left, scope)
    return _within(quantity, Relation(relation), _value(right, kind, scope), expression.at)


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


def _is_quantity(expression: syntax_tree.Expression) -> bool:
    callee = expression.callee if isinstance(expression, syntax_tree.Call) else expression
    return isinstance(callee, syntax_tree.Member) and callee.name in TRIGGERS


def _quantity(expression: syntax_tree.Expression, scope: Scope) -> tuple[Quantity, str]:
    """The quantity and the type of its value."""
    callee = expression.callee if isinstance(expression, syntax_tree.Call) else expression
    if not isinstance(callee, syntax_tree.Member):
        raise FaultError(expression.at, "nothing here changes while the scenario runs", EXPECTED)
    actor = scope.actor(callee.base)
    if actor.type not in PHYSICAL_OBJECTS or callee.name not in TRIGGERS:
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
    value = convert(evaluate(expression, scope), kind, expression.at)
    assert isinstance(value, Physical)
    return value.value
