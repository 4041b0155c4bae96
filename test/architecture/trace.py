"""Writes docs/clauses.md: what every clause says, the rows of the state machine that carry it out, and its tests.

cd test && python -m architecture.trace
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tuling_fsm.behaviour import table
from tuling_fsm.machine.table import Table

from .contract import CONTRACT, OPEN

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "clauses.md"
HEAD = """# Clauses

What every clause of the behaviour contract says in short, the rows of the state machine that carry it out, and the
tests that would fail without it. Numbers are defaults of parameters, see [tuning.md](tuning.md). A supervisor's states
have its name in front. Written by `make clauses`; a test tells when it is out of date.

| clause | what it says | rows | tests |
|---|---|---|---|
"""
GROUPS = {
    "DWELL": "switching", "DEP": "departure", "REG": "regression", "NOR": "normal", "SLF": "solid-line free",
    "NLF": "no-line free", "RPL": "replan", "EXP": "explore", "INT": "intersection", "TMP": "approach to a stop",
    "STP": "stopped", "PUD": "pick-up decision", "TPO": "next route", "MAT": "match time", "PRK": "parking",
    "RFG": "rain and fog", "EST": "emergency stop", "RRF": "route refresh", "SAF": "always", "EXPL": "why",
    "SIM": "simulator", "TM": "traffic", "ORCA": "pedestrians", "OSC": "scenarios", "CAR": "CARLA", "USE": "use",
}  # fmt: skip


def clause_calls(node: ast.AST) -> Iterator[str]:
    """Clauses named by `clause(...)` marks below a node."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "clause":
            yield from (str(argument.value) for argument in call.args if isinstance(argument, ast.Constant))


def marked_tests(file: Path) -> Iterator[tuple[str, str]]:
    """Clause and test function for every mark in a file; a mark on a class or module counts for all of it."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    whole = [clause for node in tree.body if isinstance(node, ast.Assign) for clause in clause_calls(node)]
    yield from _marked(tree.body, whole)


def _marked(body: list[ast.stmt], around: list[str]) -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            own = [clause for decorator in node.decorator_list for clause in clause_calls(decorator)]
            yield from _marked(node.body, around + own)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            own = [clause for decorator in node.decorator_list for clause in clause_calls(decorator)]
            yield from ((clause, node.name) for clause in dict.fromkeys(around + own))


@cache
def all_marked_tests() -> tuple[tuple[Path, str, str], ...]:
    """File, clause and test function for every mark in any file."""
    files = sorted(TESTS.rglob("test_*.py"))
    return tuple((file, clause, name) for file in files for clause, name in marked_tests(file))


def page() -> str:
    """The whole text."""
    rows, tests = _rows(), _tests()
    lines, group = [], ""
    for clause in sorted(CONTRACT, key=_order):
        prefix = clause.rsplit("-", 1)[0]
        if prefix != group:
            group = prefix
            lines.append(f"| **{GROUPS[prefix]}** | | | |")
        proof = "<br>".join(tests.get(clause, ())) or ("open" if clause in OPEN else "")
        lines.append(f"| {clause} | {CONTRACT[clause]} | {'<br>'.join(rows.get(clause, ()))} | {proof} |")
    return HEAD + "\n".join(lines) + "\n"


def _order(clause: str) -> tuple[int, int]:
    prefix, number = clause.rsplit("-", 1)
    return list(GROUPS).index(prefix), int(number)


def _rows() -> dict[str, list[str]]:
    hierarchy = table()
    found: dict[str, list[str]] = {}
    for machine in (hierarchy, *hierarchy.beside):
        prefix = "" if machine is hierarchy else f"{machine.name}/"
        for row in _in_order(machine):
            text = f"`{prefix}{row.source}` → `{prefix}{row.dest}`: {row.guard_name}"
            found.setdefault(row.clause, []).append(text)
    return found


def _in_order(machine: Table[Any, Any]) -> list[Any]:
    places = list(machine.states)
    return sorted(machine.rows, key=lambda row: (places.index(row.source), row.rank))


def _tests() -> dict[str, list[str]]:
    found: dict[str, dict[str, list[str]]] = {}
    for file, clause, name in all_marked_tests():
        found.setdefault(clause, {}).setdefault(file.relative_to(TESTS).as_posix(), []).append(name)
    return {
        clause: [f"[{file}](../test/{file}): {', '.join(names)}" for file, names in files.items()]
        for clause, files in found.items()
    }


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
