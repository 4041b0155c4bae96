"""Every clause that the code claims has a test that names it, and no test names a clause that does not exist."""

import ast
from collections.abc import Iterator
from pathlib import Path

from .clauses import OPEN, PROVEN

TESTS = Path(__file__).resolve().parents[1]


def named_clauses(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "clause":
            yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


def test_the_list_and_the_tests_agree() -> None:
    named = {clause for file in TESTS.rglob("test_*.py") for clause in named_clauses(file)}
    assert sorted(set(PROVEN) - named) == [], "claimed, but no test names them"
    assert sorted(named - set(PROVEN) - set(OPEN)) == [], "no such clause"
    assert sorted(named & set(OPEN)) == [], "named by a test: move them to PROVEN"


def test_no_clause_is_listed_twice() -> None:
    assert len({*PROVEN, *OPEN}) == len(PROVEN) + len(OPEN)
