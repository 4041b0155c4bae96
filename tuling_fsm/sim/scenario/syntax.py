"""OpenSCENARIO 2 text to `syntax_tree`: lexing, indentation, grammar, and what a syntax error says."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, cast

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation

Parsed = Any
"""A node or a token of Lark, which has no types of its own here."""


def build_tree(root: Parsed) -> list[syntax_tree.ScenarioText]:
    """The scenarios below the root; imports name libraries that are built in, so they are passed over."""
    return [_scenario(node) for node in root.children if node.data == "scenario"]


def build_expression(root: Parsed) -> syntax_tree.Expression:
    """The one expression below a `value` root."""
    return _expression(root.children[0])


def _at(node: Parsed) -> SourceLocation:
    where = node.meta if hasattr(node, "meta") else node
    return SourceLocation(where.line, where.column)


def _dotted(node: Parsed) -> str:
    return ".".join(str(token) for token in node.children)


def _scenario(node: Parsed) -> syntax_tree.ScenarioText:
    name, *members = node.children
    return syntax_tree.ScenarioText(
        _at(node), _dotted(name), tuple(_MEMBERS[member.data](member) for member in members)
    )


def _declaration(node: Parsed) -> syntax_tree.Declaration:
    names, kind, *rest = node.children
    default = rest[0] if rest and rest[0] is not None and rest[0].data != "keeps" else None
    keeps = [keep for part in rest if part is not None and part.data == "keeps" for keep in part.children]
    is_list, type_name = kind.children
    return syntax_tree.Declaration(
        _at(node),
        tuple(syntax_tree.Name(_at(name), str(name)) for name in names.children),
        syntax_tree.Name(_at(type_name), str(type_name)),
        is_list is not None,
        None if default is None else _expression(default),
        tuple(_keep(keep) for keep in keeps),
    )


def _keep(node: Parsed) -> syntax_tree.Keep:
    return syntax_tree.Keep(_at(node), _expression(node.children[-1]))


def _event(node: Parsed) -> syntax_tree.EventDeclaration:
    return syntax_tree.EventDeclaration(_at(node.children[0]), str(node.children[0]))


def _modifier(node: Parsed) -> syntax_tree.Call:
    return _call(node.children[0])


def _do(node: Parsed) -> syntax_tree.Do:
    return syntax_tree.Do(_at(node), _behaviour(node.children[0]))


def _behaviour(node: Parsed, label: str = "") -> syntax_tree.Behaviour:
    match node.data:
        case "labelled":
            return _behaviour(node.children[1], str(node.children[0]))
        case "composition":
            return _composition(node, label)
        case "invocation":
            call, *rest = node.children
            return syntax_tree.Invocation(_at(node), _call(call), _with(rest[0] if rest else None), label)
        case "wait":
            return syntax_tree.WaitFor(_at(node), _expression(node.children[0]), label)
        case "emit":
            return syntax_tree.EmitEvent(_at(node.children[0]), str(node.children[0]), label)
        case _:
            raise AssertionError(f"no node for a {node.data}")


def _composition(node: Parsed, label: str) -> syntax_tree.Composition:
    operator, arguments, *members, block = node.children
    return syntax_tree.Composition(
        _at(node),
        str(operator),
        _arguments(arguments),
        tuple(_behaviour(member) for member in members),
        _with(block),
        label,
    )


def _with(node: Parsed) -> syntax_tree.With:
    parts = [] if node is None else node.children
    return syntax_tree.With(
        tuple(_call(part.children[0]) for part in parts if part.data == "modifier"),
        tuple(syntax_tree.Until(_at(part), _expression(part.children[0])) for part in parts if part.data == "until"),
    )


def _arguments(node: Parsed) -> tuple[syntax_tree.Argument, ...]:
    return () if node is None else tuple(_argument(child) for child in node.children)


def _argument(node: Parsed) -> syntax_tree.Argument:
    name, value = node.children
    return syntax_tree.Argument(_at(node), None if name is None else str(name), _expression(value))


def _expression(node: Parsed) -> syntax_tree.Expression:
    return _EXPRESSIONS[node.data](node)


def _call(node: Parsed) -> syntax_tree.Call:
    callee, arguments = node.children
    return syntax_tree.Call(_at(node), _expression(callee), _arguments(arguments))


def _member(node: Parsed) -> syntax_tree.Member:
    base, name = node.children
    return syntax_tree.Member(_at(node), _expression(base), str(name))


def _name(node: Parsed) -> syntax_tree.Name:
    return syntax_tree.Name(_at(node), str(node.children[0]))


def _literal(node: Parsed) -> syntax_tree.Expression:
    (token,) = node.children
    at, text = _at(token), str(token)
    match token.type:
        case "STRING":
            return syntax_tree.TextLiteral(at, cast(str, ast.literal_eval(text)))
        case "BOOL":
            return syntax_tree.TruthLiteral(at, text == "true")
        case "PHYSICAL" | "FLOAT" | "INTEGER":
            digits = _number_part(text)
            return syntax_tree.NumberLiteral(at, float(digits), text[len(digits) :], digits.isdigit())
        case _:
            raise AssertionError(f"no literal for a {token.type}")


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


def _nested(operator: str) -> Callable[[Parsed], syntax_tree.Operation]:
    """An operator that the rule itself names, between all its children."""
    return lambda node: syntax_tree.Operation(_at(node), operator, tuple(_expression(child) for child in node.children))


def _infix(node: Parsed) -> syntax_tree.Operation:
    left, operator, right = node.children
    return syntax_tree.Operation(_at(node), str(operator), (_expression(left), _expression(right)))


def _sign(node: Parsed) -> syntax_tree.Operation:
    operator, operand = node.children
    return syntax_tree.Operation(_at(node), str(operator), (_expression(operand),))


def _list(node: Parsed) -> syntax_tree.ListOf:
    return syntax_tree.ListOf(_at(node), tuple(_expression(child) for child in node.children))


def _range(node: Parsed) -> syntax_tree.Range:
    low, _, high = node.children
    return syntax_tree.Range(_at(node), _expression(low), _expression(high))


def _event_reference(node: Parsed) -> syntax_tree.EventReference:
    return syntax_tree.EventReference(_at(node), _dotted(node.children[0]))


_MEMBERS: dict[
    str,
    Callable[
        [Parsed],
        syntax_tree.Declaration | syntax_tree.EventDeclaration | syntax_tree.Keep | syntax_tree.Call | syntax_tree.Do,
    ],
] = {
    "parameter": _declaration,
    "variable": _declaration,
    "keep": _keep,
    "event": _event,
    "modifier": _modifier,
    "do": _do,
}
_EXPRESSIONS: dict[str, Callable[[Parsed], syntax_tree.Expression]] = {
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


READABLE = {
    "NAME": "a name",
    "_NEWLINE": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "STRING": "a string in quotes",
    "PHYSICAL": "a number with a unit",
    "INTEGER": "a number",
    "FLOAT": "a number",
    "BOOL": "true or false",
    "RELATION": "a relation",
    "SIGN": "+ or -",
    "SCALE": "an operator",
    "COMPOSITION": "serial, parallel or one_of",
    "LIST_OF": "list of",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "COLON": ":",
    "COMMA": ",",
    "EQUAL": "=",
    "DOT": ".",
    "AT": "@",
    "DOUBLE_DOT": "..",
    "$END": "the end of the file",
}
"""Terminals as a reader knows them; keywords go by their own spelling."""

VALUE = {"NAME", "STRING", "PHYSICAL", "INTEGER", "FLOAT", "BOOL", "LSQB", "LPAR", "AT", "NOT", "SIGN"}
OPERATOR = {"RELATION", "SIGN", "SCALE", "DOT", "LPAR", "AND", "OR"}
SUMMED_UP = (({"NAME", "INTEGER"}, VALUE, "a value"), ({"DOT", "RELATION"}, OPERATOR, "an operator"))
"""When the first set is possible, the word stands for all of the second."""
TAB = 4
"""Columns of indentation that a tab fills."""


def parse(text: str, file: str) -> list[syntax_tree.ScenarioText]:
    """The scenarios of a file, in order.

    Raises:
        InputError: a syntax error, at `file:line:column`.
    """
    return build_tree(_parse(text, file, "start"))


def parse_value(text: str, where: str) -> syntax_tree.Expression:
    """One expression, as an override on the command line gives it.

    Raises:
        InputError: a syntax error, at `where`.
    """
    try:
        return build_expression(_parser().parse(text, start="value"))
    except UnexpectedInput as error:
        raise InputError(where, f"{text!r} is no value", "as in 12, 1.5, 30kmph, true or a name") from error


def _parse(text: str, file: str, start: str) -> object:
    try:
        return _parser().parse(text if text.endswith("\n") else text + "\n", start=start)
    except UnexpectedToken as error:
        raise _unexpected(error, file) from error
    except UnexpectedCharacters as error:
        where = f"{file}:{error.line}:{error.column}"
        raise InputError(where, f"{text[error.pos_in_stream]!r} cannot stand here", _choice(error.allowed)) from error
    except _LayoutError as error:
        raise InputError(f"{file}:{error.at.line}:{error.at.column}", error.what, error.expected) from error


@cache
def _parser() -> Lark:
    """Built once a process. LALR(1) with a contextual lexer: keywords are keywords only where the grammar asks."""
    folder = __package__ or ""
    return Lark.open_from_package(
        folder, "osc2.lark", start=["start", "value"], parser="lalr", postlex=_Blocks(), propagate_positions=True
    )


def _unexpected(error: UnexpectedToken, file: str) -> InputError:
    token: Token = vars(error)["token"]
    expected = _choice(error.accepts or error.expected)
    where = f"{file}:{token.line}:{token.column}"
    if token.type in ("_NEWLINE", "_INDENT", "_DEDENT", "$END"):
        return InputError(where, f"{READABLE[token.type]} cannot stand here", expected)
    return InputError(where, f"{str(token)!r} cannot stand here", expected)


def _choice(terminals: Iterable[str]) -> str:
    """The terminals in words, values and operators summed up."""
    left, words = set(terminals), []
    for sign, group, word in SUMMED_UP:
        if left >= sign:
            words.append(word)
            left -= group
    words += [READABLE.get(name, name.lower()) for name in left if name != "COMMENT"]
    return " or ".join(sorted(set(words)))


class _LayoutError(Exception):
    """What the layout of the lines has wrong."""

    def __init__(self, at: SourceLocation, what: str, expected: str) -> None:
        self.at, self.what, self.expected = at, what, expected
        super().__init__(what)


class _Blocks:
    """Indentation to block tokens, between Lark's lexer and its parser; newlines inside brackets do not count."""

    always_accept = ("_NEWLINE",)

    def process(self, stream: Iterable[Token]) -> Iterator[Token]:
        """The tokens with `_INDENT` and `_DEDENT` put in."""
        brackets: list[Token] = []
        levels = [0]
        for token in stream:
            if token.type in ("LPAR", "LSQB"):
                brackets.append(token)
            elif token.type in ("RPAR", "RSQB") and brackets:
                brackets.pop()
            if token.type != "_NEWLINE":
                yield token
            elif not brackets:
                yield token
                yield from self._turn(token, levels)
        if brackets:
            at = SourceLocation(brackets[-1].line, brackets[-1].column)
            raise _LayoutError(at, f"{str(brackets[-1])!r} is never closed", "its counterpart")
        for _ in levels[1:]:
            yield Token("_DEDENT", "")

    def _turn(self, newline: Token, levels: list[int]) -> Iterator[Token]:
        """The block tokens of one line start."""
        width = len(newline.rsplit("\n", 1)[1].expandtabs(TAB))
        at = SourceLocation(newline.end_line, newline.end_column)
        if width > levels[-1]:
            levels.append(width)
            yield Token("_INDENT", "", line=at.line, column=at.column)
        while width < levels[-1]:
            levels.pop()
            yield Token("_DEDENT", "", line=at.line, column=at.column)
        if width != levels[-1]:
            raise _LayoutError(at, "the indentation fits no open block", "that of a line above")
