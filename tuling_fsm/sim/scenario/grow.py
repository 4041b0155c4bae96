"""Lark's parse tree to the typed `tree`: one small function a rule."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, cast

from tuling_fsm.sim.scenario import tree
from tuling_fsm.sim.scenario.tree import At

Parsed = Any
"""A node or a token of Lark, which has no types of its own here."""


def grow(root: Parsed) -> list[tree.ScenarioText]:
    """The scenarios below the root; imports name libraries that are built in, so they are passed over."""
    return [_scenario(node) for node in root.children if node.data == "scenario"]


def grow_expression(root: Parsed) -> tree.Expression:
    """The one expression below a `value` root."""
    return _expression(root.children[0])


def _at(node: Parsed) -> At:
    where = node.meta if hasattr(node, "meta") else node
    return At(where.line, where.column)


def _dotted(node: Parsed) -> str:
    return ".".join(str(token) for token in node.children)


def _scenario(node: Parsed) -> tree.ScenarioText:
    name, *members = node.children
    return tree.ScenarioText(_at(node), _dotted(name), tuple(_MEMBERS[member.data](member) for member in members))


def _declaration(node: Parsed) -> tree.Declaration:
    names, kind, *rest = node.children
    default = rest[0] if rest and rest[0] is not None and rest[0].data != "keeps" else None
    keeps = [keep for part in rest if part is not None and part.data == "keeps" for keep in part.children]
    is_list, type_name = kind.children
    return tree.Declaration(
        _at(node),
        tuple(tree.Name(_at(name), str(name)) for name in names.children),
        tree.Name(_at(type_name), str(type_name)),
        is_list is not None,
        None if default is None else _expression(default),
        tuple(_keep(keep) for keep in keeps),
    )


def _keep(node: Parsed) -> tree.Keep:
    return tree.Keep(_at(node), _expression(node.children[-1]))


def _event(node: Parsed) -> tree.EventDeclaration:
    return tree.EventDeclaration(_at(node.children[0]), str(node.children[0]))


def _modifier(node: Parsed) -> tree.Call:
    return _call(node.children[0])


def _do(node: Parsed) -> tree.Do:
    return tree.Do(_at(node), _behaviour(node.children[0]))


def _behaviour(node: Parsed, label: str = "") -> tree.Behaviour:
    match node.data:
        case "labelled":
            return _behaviour(node.children[1], str(node.children[0]))
        case "composition":
            return _composition(node, label)
        case "invocation":
            call, *rest = node.children
            return tree.Invocation(_at(node), _call(call), _with(rest[0] if rest else None), label)
        case "wait":
            return tree.WaitFor(_at(node), _expression(node.children[0]), label)
        case "emit":
            return tree.EmitEvent(_at(node.children[0]), str(node.children[0]), label)
        case _:
            raise AssertionError(f"nobody grows a {node.data}")


def _composition(node: Parsed, label: str) -> tree.Composition:
    operator, arguments, *members, block = node.children
    return tree.Composition(
        _at(node),
        str(operator),
        _arguments(arguments),
        tuple(_behaviour(member) for member in members),
        _with(block),
        label,
    )


def _with(node: Parsed) -> tree.With:
    parts = [] if node is None else node.children
    return tree.With(
        tuple(_call(part.children[0]) for part in parts if part.data == "modifier"),
        tuple(tree.Until(_at(part), _expression(part.children[0])) for part in parts if part.data == "until"),
    )


def _arguments(node: Parsed) -> tuple[tree.Argument, ...]:
    return () if node is None else tuple(_argument(child) for child in node.children)


def _argument(node: Parsed) -> tree.Argument:
    name, value = node.children
    return tree.Argument(_at(node), None if name is None else str(name), _expression(value))


def _expression(node: Parsed) -> tree.Expression:
    return _EXPRESSIONS[node.data](node)


def _call(node: Parsed) -> tree.Call:
    callee, arguments = node.children
    return tree.Call(_at(node), _expression(callee), _arguments(arguments))


def _member(node: Parsed) -> tree.Member:
    base, name = node.children
    return tree.Member(_at(node), _expression(base), str(name))


def _name(node: Parsed) -> tree.Name:
    return tree.Name(_at(node), str(node.children[0]))


def _literal(node: Parsed) -> tree.Expression:
    (token,) = node.children
    at, text = _at(token), str(token)
    match token.type:
        case "STRING":
            return tree.Text(at, cast(str, ast.literal_eval(text)))
        case "BOOL":
            return tree.Truth(at, text == "true")
        case "PHYSICAL" | "FLOAT" | "INTEGER":
            digits = _number_part(text)
            return tree.Number(at, float(digits), text[len(digits) :], digits.isdigit())
        case _:
            raise AssertionError(f"nobody reads a {token.type}")


def _number_part(text: str) -> str:
    """The longest start of a physical literal that is a number."""
    ends = (end for end in range(len(text), 0, -1) if _is_number(text[:end]))
    return text[: next(ends)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text[-1].isdigit()


def _nested(operator: str) -> Callable[[Parsed], tree.Operation]:
    """An operator that the rule itself names, between all its children."""
    return lambda node: tree.Operation(_at(node), operator, tuple(_expression(child) for child in node.children))


def _infix(node: Parsed) -> tree.Operation:
    left, operator, right = node.children
    return tree.Operation(_at(node), str(operator), (_expression(left), _expression(right)))


def _sign(node: Parsed) -> tree.Operation:
    operator, operand = node.children
    return tree.Operation(_at(node), str(operator), (_expression(operand),))


def _list(node: Parsed) -> tree.ListOf:
    return tree.ListOf(_at(node), tuple(_expression(child) for child in node.children))


def _range(node: Parsed) -> tree.Range:
    low, _, high = node.children
    return tree.Range(_at(node), _expression(low), _expression(high))


def _event_reference(node: Parsed) -> tree.EventReference:
    return tree.EventReference(_at(node), _dotted(node.children[0]))


_MEMBERS: dict[str, Callable[[Parsed], tree.Declaration | tree.EventDeclaration | tree.Keep | tree.Call | tree.Do]] = {
    "parameter": _declaration,
    "variable": _declaration,
    "keep": _keep,
    "event": _event,
    "modifier": _modifier,
    "do": _do,
}
_EXPRESSIONS: dict[str, Callable[[Parsed], tree.Expression]] = {
    "either": _nested("or"),
    "both": _nested("and"),
    "negation": _nested("not"),
    "comparison": _infix,
    "addition": _infix,
    "multiplication": _infix,
    "minus": _sign,
    "call": _call,
    "member": _member,
    "name": _name,
    "literal": _literal,
    "list": _list,
    "range": _range,
    "event_reference": _event_reference,
}
