from __future__ import annotations

import ast
from dataclasses import replace

from .coverage_map import LOADING, CoverageMap
from .operators import Mutant

NEAR, SLOW, FAR = "test/room/t.py::near", "test/room/t.py::slow", "test/other/t.py::far"
GOLDEN, HUGE = "test/t.py::golden", "test/room/t.py::huge"
MAP = CoverageMap(
    {"pkg/room/file.py": {3: [FAR, SLOW, NEAR, HUGE], 9: [LOADING], 12: [HUGE]}},
    {FAR: 0.1, SLOW: 1.5, NEAR: 0.2, GOLDEN: 0.01, HUGE: 5.0},
)
MUTANT = Mutant("pkg/room/file.py", 3, 5, "fault", "f", 0, "", (), ast.Pass())


def test_the_quickest_tests_of_a_line_come_first_those_of_its_room_above_all() -> None:
    assert MAP.tests(MUTANT, 3.0) == [NEAR, FAR, SLOW]
    assert MAP.tests(MUTANT, 0.35) == [NEAR, FAR]


def test_slow_tests_are_for_lines_that_have_no_others() -> None:
    assert MAP.tests(replace(MUTANT, begin=11, line=12), 1.0) == [HUGE]


def test_a_statement_that_no_test_runs_has_none() -> None:
    assert MAP.tests(replace(MUTANT, begin=4), 3.0) == []


def test_what_is_run_while_loading_is_tried_on_the_tests_of_the_file_and_then_on_all() -> None:
    for begin in (9, 99):
        assert MAP.tests(replace(MUTANT, where="", begin=begin, line=begin), 3.0) == [NEAR, FAR, SLOW, GOLDEN]
    assert MAP.runs_while_loading(replace(MUTANT, begin=8, line=9))
    assert not MAP.runs_while_loading(MUTANT)
