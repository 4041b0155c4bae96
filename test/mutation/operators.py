"""Small faults that can be planted in a source text, one at a time."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
BOUNDARIES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
"""Only where something is counted: no two measured times or lengths are ever equal."""
SUMS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
OTHER_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
NOT_BEHAVIOUR = ("param", "InputError", "TypeVar", "report")
"""What these are called with is text, or the limits of a parameter."""

Change = tuple[str, ast.AST]


Path = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Mutant:
    """A source text with one fault on a line, in a statement that begins at `begin`."""

    file: str
    begin: int
    line: int
    fault: str
    where: str
    """The function or method in whose body it lies, with its class; empty for what is run while loading."""
    nth: int
    """Of those that read the same there."""
    plain: str
    path: Path
    instead: ast.AST

    @property
    def source(self) -> str:
        """The text with the fault in it."""
        mutated = ast.parse(self.plain)
        _put(mutated, self.path, self.instead)
        return ast.unparse(ast.fix_missing_locations(mutated))

    @property
    def name(self) -> str:
        """Stays the same while the rest of the file is edited."""
        return f"{self.file} {self.where} {self.fault} {self.nth}"


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """All mutants of a text, in the order of the text."""
    tree = ast.parse(source)
    seen: Counter[tuple[str, str]] = Counter()
    for path in _places(tree):
        node = _at(tree, path)
        where, begin = _where(tree, path)
        for fault, instead in _changes(node):
            line = getattr(node, "lineno", begin)
            yield Mutant(file, begin, line, fault, where, seen[where, fault], source, path, instead)
            seen[where, fault] += 1


def _where(tree: ast.AST, path: Path) -> tuple[str, int]:
    """The outermost function in whose body a node lies, and the line on which its statement begins."""
    names, function, begin = list[str](), "", 0
    for name, index in path:
        if isinstance(tree, ast.stmt):
            begin = tree.lineno
        if isinstance(tree, (ast.ClassDef, ast.FunctionDef)) and not function:
            names.append(tree.name)
            if isinstance(tree, ast.FunctionDef):
                if name != "body":
                    return "", begin
                function = ".".join(names)
        tree = _at(tree, ((name, index),))
    return function, tree.lineno if isinstance(tree, ast.stmt) else begin


def _places(tree: ast.AST) -> Iterator[Path]:
    """Ways to every node whose value matters when the program runs."""

    def visit(node: ast.AST, path: Path) -> Iterator[Path]:
        yield path
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "type_params", "type_comment", "decorator_list"):
                continue
            if isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.AST) and not _is_idle(item):
                        yield from visit(item, (*path, (name, i)))
            elif isinstance(value, ast.AST) and not _is_idle(value):
                yield from visit(value, (*path, (name, None)))

    return visit(tree, ())


def _is_idle(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert, ast.Raise)):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        return name in NOT_BEHAVIOUR
    return False


def _at(tree: ast.AST, path: Path) -> ast.AST:
    for name, index in path:
        child = getattr(tree, name)
        tree = child if index is None else child[index]
    return tree


def _put(tree: ast.AST, path: Path, instead: ast.AST) -> None:
    *way, (name, index) = path
    parent = _at(tree, tuple(way))
    if index is None:
        setattr(parent, name, instead)
    else:
        getattr(parent, name)[index] = instead


def _changes(node: ast.AST) -> Iterator[Change]:
    for make in _OPERATORS:
        yield from make(node)


def _comparison(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Compare):
        return
    operands = [node.left, *node.comparators]
    for i, op in enumerate(node.ops):
        others = [COMPARISONS[type(op)]]
        if type(op) in BOUNDARIES and (_is_count(operands[i]) or _is_count(operands[i + 1])):
            others.append(BOUNDARIES[type(op)])
        for other in others:
            changed = copy.deepcopy(node)
            changed.ops[i] = other()
            yield f"{ast.unparse(node)} -> {ast.unparse(changed)}", changed


def _is_count(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _junction(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        changed = ast.BoolOp(other, node.values)
        yield f"{ast.unparse(node)} -> {ast.unparse(changed)}", changed
        for i in range(len(node.values)):
            rest = [value for j, value in enumerate(node.values) if j != i]
            less = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            yield f"{ast.unparse(node)} without {ast.unparse(node.values[i])}", less


def _negation(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield f"{ast.unparse(node)} -> {ast.unparse(node.operand)}", node.operand
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        changed = copy.deepcopy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        yield f"if {ast.unparse(node.test)} -> if not", changed


def _number(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield f"{value} -> {not value}", ast.Constant(not value)
    elif isinstance(value, (int, float)):
        other = value + 1 if isinstance(value, int) else (1.0 if value == 0.0 else 2.0 * value)
        yield f"{value!r} -> {other!r}", ast.Constant(other)


def _arithmetic(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and type(node.op) in SUMS:
        changed = ast.BinOp(node.left, SUMS[type(node.op)](), node.right)
        yield f"{ast.unparse(node)} -> {ast.unparse(changed)}", changed


def _call(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name) and node.func.id in OTHER_NAMES:
        other = OTHER_NAMES[node.func.id]
        yield f"{node.func.id} -> {other}", ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords)
    if getattr(node.func, "id", getattr(node.func, "attr", "")) == "replace":
        for i, keyword in enumerate(node.keywords):
            rest = [other for j, other in enumerate(node.keywords) if j != i]
            yield f"replace without {keyword.arg}", ast.Call(node.func, node.args, rest)


def _row(node: ast.AST) -> Iterator[Change]:
    """A row of a table, or any other element that is a call, is left out."""
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for i, element in enumerate(node.elts):
            if isinstance(element, ast.Call):
                rest = [other for j, other in enumerate(node.elts) if j != i]
                yield f"without {ast.unparse(element)}", ast.Tuple(rest, node.ctx)


def _verdict(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Return) and isinstance(node.value, (ast.Compare, ast.BoolOp, ast.Attribute)):
        negated = ast.Return(ast.UnaryOp(ast.Not(), node.value))
        if not isinstance(node.value, ast.Attribute):
            yield f"return {ast.unparse(node.value)} -> return not", negated


_OPERATORS: tuple[Callable[[ast.AST], Iterator[Change]], ...] = (
    _comparison,
    _junction,
    _negation,
    _number,
    _arithmetic,
    _call,
    _row,
    _verdict,
)
