"""What the parser has found as the nodes of `syntax_tree`."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any, cast

from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import FaultError

DIGITS = 15
"""Of a whole number that an enumeration or a hexadecimal literal has."""
Parsed = Any
"""A node or a token of Lark, which has no types of its own here."""


class TreeBuilder:
    """Builds the nodes of one file, whose name goes into their places where it is not the scenario's own."""

    def __init__(self, file: str = "") -> None:
        self._file = file
        self._statements: dict[str, Callable[[Parsed], syntax_tree.Statement]] = {
            "import": self._import,
            "physical_type": self._physical_type,
            "unit": self._unit,
            "enumeration": self._enumeration,
            "structured": self._structured,
            "modifier_type": self._modifier_type,
            "extension": self._extension,
            "global": self._global,
        }
        self._members: dict[str, Callable[[Parsed], syntax_tree.TypeMember]] = {
            "parameter": self._declaration,
            "variable": self._declaration,
            "keep": self._keep,
            "remove_default": self._remove_default,
            "method": self._method,
            "coverage": self._coverage,
            "event": self._event,
            "modifier": self._modifier,
            "do": self._do,
            "on": self._on,
        }
        self._behaviours: dict[str, Callable[[Parsed, str], syntax_tree.Behaviour]] = {
            "labelled": lambda node, _: self._behaviour(node.children[1], str(node.children[0])),
            "composition": self._composition,
            "invocation": self._invocation,
            "wait": lambda node, label: syntax_tree.WaitFor(self._at(node), self._expression(node.children[0]), label),
            "emit": self._emit,
            "call_method": self._call_method,
        }
        self._expressions: dict[str, Callable[[Parsed], syntax_tree.Expression]] = {
            "choice": lambda node: syntax_tree.Choice(self._at(node), *map(self._expression, node.children)),
            "implied": self._nested("=>"),
            "either": self._nested("or"),
            "both": self._nested("and"),
            "negation": self._nested("not"),
            "comparison": self._infix,
            "addition": self._infix,
            "multiplication": self._infix,
            "minus": self._sign,
            "call": self._call,
            "member": self._member,
            "element": lambda node: syntax_tree.Element(self._at(node), *map(self._expression, node.children)),
            "name": self._name,
            "literal": self._literal,
            "list": self._list,
            "range": self._range,
            "event_reference": self._event_reference,
            "filtered": self._filtered,
        }

    def statements(self, root: Parsed) -> list[syntax_tree.Statement]:
        """What stands in a file."""
        return [self._statements[node.data](node) for node in root.children]

    def value(self, root: Parsed) -> syntax_tree.Expression:
        """The one expression below a `value` root."""
        return self._expression(root.children[0])

    def _at(self, node: Parsed) -> SourceLocation:
        where = node.meta if hasattr(node, "meta") else node
        return SourceLocation(where.line, where.column, self._file)

    # Statements.

    def _import(self, node: Parsed) -> syntax_tree.Import:
        (what,) = node.children
        quoted = not hasattr(what, "data")
        path = self._text(what) if quoted else _dotted(what)
        return syntax_tree.Import(self._at(node), path, quoted)

    def _physical_type(self, node: Parsed) -> syntax_tree.PhysicalTypeDeclaration:
        name, si = node.children
        exponents = tuple((base, int(number)) for base, number in _si(si))
        return syntax_tree.PhysicalTypeDeclaration(self._at(name), str(name), exponents)

    def _unit(self, node: Parsed) -> syntax_tree.UnitDeclaration:
        name, kind, si = node.children
        parts = _si(si)
        given = dict(parts)
        return syntax_tree.UnitDeclaration(
            self._at(name),
            str(name).strip("|"),
            str(kind),
            tuple((base, int(number)) for base, number in parts if base not in ("factor", "offset")),
            given.get("factor", 1.0),
            given.get("offset", 0.0),
        )

    def _enumeration(self, node: Parsed) -> syntax_tree.EnumerationDeclaration:
        name, members = node.children
        return syntax_tree.EnumerationDeclaration(self._at(name), str(name), self._enumeration_members(members))

    def _enumeration_members(self, node: Parsed) -> tuple[syntax_tree.EnumerationMember, ...]:
        return tuple(
            syntax_tree.EnumerationMember(self._at(name), str(name), None if number is None else self._whole(number))
            for name, number in (member.children for member in node.children)
        )

    def _structured(self, node: Parsed) -> syntax_tree.TypeDeclaration:
        keyword, name, inherits, *body = node.children
        base, *condition = [None] if inherits is None else inherits.children
        return syntax_tree.TypeDeclaration(
            self._at(node),
            str(keyword),
            _dotted(name),
            self._body(body),
            "" if base is None else _dotted(base),
            self._optional(condition),
        )

    def _modifier_type(self, node: Parsed) -> syntax_tree.TypeDeclaration:
        name, of, *body = node.children
        of_what = "" if of is None else _dotted(of)
        return syntax_tree.TypeDeclaration(self._at(node), "modifier", _dotted(name), self._body(body), of=of_what)

    def _extension(self, node: Parsed) -> syntax_tree.Extension:
        name, body = node.children
        at = self._at(name)
        if body.data == "members":
            return syntax_tree.Extension(at, _dotted(name), enumeration=self._enumeration_members(body))
        return syntax_tree.Extension(at, _dotted(name), self._body([body]))

    def _global(self, node: Parsed) -> syntax_tree.GlobalDeclaration:
        return syntax_tree.GlobalDeclaration(self._at(node), self._declaration(node.children[0]))

    def _body(self, body: list[Parsed]) -> tuple[syntax_tree.TypeMember, ...]:
        return tuple(self._members[member.data](member) for part in body for member in part.children)

    # Members of types.

    def _declaration(self, node: Parsed) -> syntax_tree.Declaration:
        names, kind, *rest = node.children
        default = rest[0] if rest and rest[0] is not None and rest[0].data != "keeps" else None
        parts = [part for each in rest if each is not None and each.data == "keeps" for part in each.children]
        is_list, type_name = kind.children
        return syntax_tree.Declaration(
            self._at(node),
            tuple(syntax_tree.Name(self._at(name), str(name)) for name in names.children),
            syntax_tree.Name(self._at(type_name), _dotted(type_name)),
            is_list is not None,
            None if default is None else self._expression(default),
            tuple(self._keep(part) for part in parts if part.data == "keep"),
            tuple(
                self._coverage(part) if part.data == "coverage" else self._remove_default(part)
                for part in parts
                if part.data != "keep"
            ),
        )

    def _keep(self, node: Parsed) -> syntax_tree.Keep:
        qualifier, constraint = node.children
        return syntax_tree.Keep(self._at(node), self._expression(constraint), str(qualifier) == "default")

    def _remove_default(self, node: Parsed) -> syntax_tree.RemoveDefault:
        return syntax_tree.RemoveDefault(self._at(node), self._expression(node.children[0]))

    def _coverage(self, node: Parsed) -> syntax_tree.Coverage:
        keyword, arguments = node.children
        return syntax_tree.Coverage(self._at(node), str(keyword), self._arguments(arguments))

    def _event(self, node: Parsed) -> syntax_tree.EventDeclaration:
        name, parameters, *occurrence = node.children
        return syntax_tree.EventDeclaration(
            self._at(name), str(name), self._parameters(parameters), self._optional(occurrence)
        )

    def _parameters(self, node: Parsed) -> tuple[syntax_tree.Parameter, ...]:
        return () if node is None else tuple(self._parameter(child) for child in node.children)

    def _parameter(self, node: Parsed) -> syntax_tree.Parameter:
        name, kind, *default = node.children
        return syntax_tree.Parameter(self._at(name), str(name), _type_name(kind), self._optional(default))

    def _method(self, node: Parsed) -> syntax_tree.MethodDeclaration:
        name, parameters, returns, body = node.children
        return syntax_tree.MethodDeclaration(
            self._at(name),
            str(name),
            self._parameters(parameters),
            "" if returns is None else _type_name(returns),
            self._method_body(body),
        )

    def _method_body(self, node: Parsed) -> syntax_tree.Expression | syntax_tree.ExternalMethod | None:
        if node.data == "external":
            language, arguments = node.children
            return syntax_tree.ExternalMethod(self._at(node), _dotted(language), self._arguments(arguments))
        return self._expression(node.children[0]) if node.data == "expression" else None

    def _modifier(self, node: Parsed) -> syntax_tree.Call:
        return self._call(node.children[0])

    def _do(self, node: Parsed) -> syntax_tree.Do:
        return syntax_tree.Do(self._at(node), self._behaviour(node.children[0]))

    def _on(self, node: Parsed) -> syntax_tree.On:
        occurrence, *reactions = node.children
        return syntax_tree.On(
            self._at(node),
            self._expression(occurrence),
            tuple(
                self._emit(reaction, "") if reaction.data == "emit" else self._call_method(reaction, "")
                for reaction in reactions
            ),
        )

    # Behaviours.

    def _behaviour(self, node: Parsed, label: str = "") -> syntax_tree.Behaviour:
        return self._behaviours[node.data](node, label)

    def _invocation(self, node: Parsed, label: str) -> syntax_tree.Invocation:
        call, *rest = node.children
        return syntax_tree.Invocation(self._at(node), self._call(call), self._with(rest[0] if rest else None), label)

    def _emit(self, node: Parsed, label: str) -> syntax_tree.EmitEvent:
        name, arguments = node.children
        return syntax_tree.EmitEvent(self._at(name), str(name), label, self._arguments(arguments))

    def _call_method(self, node: Parsed, label: str) -> syntax_tree.CallMethod:
        return syntax_tree.CallMethod(self._at(node), self._call(node.children[0]), label)

    def _composition(self, node: Parsed, label: str) -> syntax_tree.Composition:
        operator, arguments, *members, block = node.children
        return syntax_tree.Composition(
            self._at(node),
            str(operator),
            self._arguments(arguments),
            tuple(self._behaviour(member) for member in members),
            self._with(block),
            label,
        )

    def _with(self, node: Parsed) -> syntax_tree.With:
        parts = [] if node is None else node.children
        return syntax_tree.With(
            tuple(self._modifier(part) for part in parts if part.data == "modifier"),
            tuple(
                syntax_tree.Until(self._at(part), self._expression(part.children[0]))
                for part in parts
                if part.data == "until"
            ),
            tuple(
                self._keep(part) if part.data == "keep" else self._remove_default(part)
                for part in parts
                if part.data in ("keep", "remove_default")
            ),
        )

    def _arguments(self, node: Parsed) -> tuple[syntax_tree.Argument, ...]:
        return () if node is None else tuple(self._argument(child) for child in node.children)

    def _argument(self, node: Parsed) -> syntax_tree.Argument:
        name, value = node.children
        return syntax_tree.Argument(self._at(node), None if name is None else str(name), self._expression(value))

    # Expressions.

    def _optional(self, parts: list[Parsed]) -> syntax_tree.Expression | None:
        """An expression that may be missing, as the rest of what a rule holds."""
        return self._expression(parts[0]) if parts else None

    def _expression(self, node: Parsed) -> syntax_tree.Expression:
        return self._expressions[node.data](node)

    def _call(self, node: Parsed) -> syntax_tree.Call:
        callee, arguments = node.children
        return syntax_tree.Call(self._at(node), self._expression(callee), self._arguments(arguments))

    def _member(self, node: Parsed) -> syntax_tree.Member:
        base, name = node.children
        return syntax_tree.Member(self._at(node), self._expression(base), str(name))

    def _name(self, node: Parsed) -> syntax_tree.Name:
        return syntax_tree.Name(self._at(node), str(node.children[0]))

    def _literal(self, node: Parsed) -> syntax_tree.Expression:
        (token,) = node.children
        at, text = self._at(token), str(token)
        match token.type:
            case "STRING":
                return syntax_tree.TextLiteral(at, self._text(token))
            case "BOOL":
                return syntax_tree.TruthLiteral(at, text == "true")
            case "HEXADECIMAL":
                return syntax_tree.NumberLiteral(at, float(self._whole(token)), "", whole=True)
            case "PHYSICAL" | "FLOAT" | "INTEGER":
                digits = _number_part(text)
                unit = text[len(digits) :].strip("|")
                return syntax_tree.NumberLiteral(at, float(digits), unit, digits.isdigit())
            case _:
                raise AssertionError(f"no literal for a {token.type}")

    def _text(self, token: Parsed) -> str:
        """What stands between the quotes of a token, escapes as Python has them."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # A backslash that escapes nothing stands for itself.
                return cast(str, ast.literal_eval(str(token)))
        except (SyntaxError, ValueError):
            raise FaultError(self._at(token), f"{str(token)!r} is no text", "escapes such as \\n or \\u00e4") from None

    def _whole(self, token: Parsed) -> int:
        """A whole number, decimal or hexadecimal."""
        text = str(token)
        if len(text) > DIGITS:
            raise FaultError(self._at(token), f"a number of {len(text)} digits", f"{DIGITS} at most")
        return int(text, 16) if text.startswith("0x") else int(text)

    def _nested(self, operator: str) -> Callable[[Parsed], syntax_tree.Operation]:
        """An operator that the rule itself names, between all its children."""
        return lambda node: syntax_tree.Operation(
            self._at(node), operator, tuple(self._expression(child) for child in node.children)
        )

    def _infix(self, node: Parsed) -> syntax_tree.Operation:
        left, operator, right = node.children
        return syntax_tree.Operation(self._at(node), str(operator), (self._expression(left), self._expression(right)))

    def _sign(self, node: Parsed) -> syntax_tree.Operation:
        operator, operand = node.children
        return syntax_tree.Operation(self._at(node), str(operator), (self._expression(operand),))

    def _list(self, node: Parsed) -> syntax_tree.ListOf:
        return syntax_tree.ListOf(self._at(node), tuple(self._expression(child) for child in node.children))

    def _range(self, node: Parsed) -> syntax_tree.Range:
        low, _, high = node.children
        return syntax_tree.Range(self._at(node), self._expression(low), self._expression(high))

    def _event_reference(self, node: Parsed) -> syntax_tree.EventReference:
        return syntax_tree.EventReference(self._at(node), _dotted(node.children[0]))

    def _filtered(self, node: Parsed) -> syntax_tree.FilteredEvent:
        event, *rest = node.children
        tokens = [part for part in rest if part is not None and not hasattr(part, "data")]
        nodes = [part for part in rest if hasattr(part, "data")]
        alias = next((str(token) for token in tokens if token.type == "NAME"), "")
        condition = self._expression(nodes[0]) if nodes else None
        return syntax_tree.FilteredEvent(self._at(node), self._event_reference(event), alias, condition)


def _dotted(node: Parsed) -> str:
    return ".".join(str(token) for token in node.children)


def _type_name(node: Parsed) -> str:
    is_list, name = node.children
    return _dotted(name) if is_list is None else f"list of {_dotted(name)}"


def _si(node: Parsed) -> list[tuple[str, float]]:
    """The parts of `SI(...)` with their signs."""
    parts = [part.children for part in node.children]
    return [(str(name), float(number) * (-1.0 if sign == "-" else 1.0)) for name, sign, number in parts]


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
