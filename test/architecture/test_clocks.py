"""Clocks are read by few files, and by nothing that a trace is made by (DWELL-3, SIM-2)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tuling_fsm

ROOT = Path(tuling_fsm.__file__).parent
PAGE = Path(__file__).resolve().parents[2] / "docs" / "decisions" / "same_bits.md"
CLOCKS = {"time", "datetime", "timeit"}


def reads_a_clock(source: str) -> bool:
    tree = ast.parse(source)
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return bool(modules & CLOCKS)


@pytest.mark.clause("SIM-2")
def test_the_files_that_read_a_clock_are_those_of_the_page() -> None:
    said = re.search(r"^\*\*Clocks\.\*\*.*\n.*", PAGE.read_text(encoding="utf-8"), re.M)
    assert said is not None
    told = set(re.findall(r"`([\w/]+(?:\.py|/))`", said[0]))
    files = [path for path in ROOT.rglob("*.py") if reads_a_clock(path.read_text(encoding="utf-8"))]
    names = {path.relative_to(ROOT).as_posix() for path in files}
    assert {"ros/" if name.startswith("ros/") else name for name in names} == told


@pytest.mark.parametrize(
    ("source", "reads"), [("import time", True), ("from time import monotonic", True), ("from map import time", False)]
)
def test_a_clock_is_seen(source: str, reads: bool) -> None:
    assert reads_a_clock(source) is reads
