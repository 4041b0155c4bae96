from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .__main__ import drawn
from .operators import mutants


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", {"a >= b"}),
        ("len(a) < 2.0", {"len(a) <= 2.0", "len(a) >= 2.0", "len(a) < 4.0"}),
        ("a and b", {"a or b", "a", "b"}),
        ("x = not a", {"x = a"}),
        ("x = 0.5", {"x = 1.0"}),
        ("x = min(a, b)", {"x = max(a, b)"}),
        ("y = replace(x, a=p, b=q)", {"y = replace(x, b=q)", "y = replace(x, a=p)"}),
        ("rows = (Row(p), Row(q))", {"rows = (Row(q),)", "rows = (Row(p),)"}),
        ("if a:\n    b", {"if not a:\n    b"}),
        ("x: Literal[1] = f'{1 + 1}'", set()),
        ('"""1 < 2"""', set()),
    ],
)
def test_every_fault_is_planted_alone(source: str, expected: set[str]) -> None:
    assert {mutant.source for mutant in mutants("x.py", source)} == expected


@pytest.mark.slow
def test_every_mutant_can_be_compiled_and_differs() -> None:
    source = Path(__file__).with_name("operators.py").read_text(encoding="utf-8")
    plain = ast.unparse(ast.parse(source))
    made = list(mutants("operators.py", source))
    assert len(made) > 50
    for mutant in made:
        compile(mutant.source, mutant.file, "exec")
        assert mutant.source != plain
        assert 0 < mutant.line <= source.count("\n")


def test_a_sample_hardly_changes_when_the_text_does() -> None:
    source = Path(__file__).with_name("operators.py").read_text(encoding="utf-8")
    before = drawn(list(mutants("operators.py", source)), 40, 1)
    assert len({mutant.name for mutant in before}) == 40
    assert drawn(list(mutants("operators.py", source)), 40, 2) != before
    edited = "LIMIT = 1\n" + source.replace("isinstance(node, ast.UnaryOp)", "type(node) is ast.UnaryOp")
    after = drawn(list(mutants("operators.py", edited)), 40, 1)
    assert len({mutant.name for mutant in before} & {mutant.name for mutant in after}) >= 36
