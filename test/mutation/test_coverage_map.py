from __future__ import annotations

import pytest

from .coverage_map import LOADING, CoverageMap

MAP = CoverageMap(
    {"pkg/room/file.py": {3: ["test/other/t.py::far", "test/room/t.py::slow", "test/room/t.py::near"], 9: [LOADING]}},
    {"test/other/t.py::far": 0.1, "test/room/t.py::slow": 5.0, "test/room/t.py::near": 0.2, "test/t.py::golden": 0.01},
)


@pytest.mark.parametrize("line", [3, 5])
def test_the_nearest_tests_of_a_line_come_first_in_rounds_that_fit(line: int) -> None:
    near, slow, far = "test/room/t.py::near", "test/room/t.py::slow", "test/other/t.py::far"
    assert MAP.rounds("pkg/room/file.py", line, (1.0, 5.0, 1.0)) == [[near], [slow], [far]]


def test_what_is_run_while_loading_is_tried_on_the_quickest_of_all() -> None:
    quick = ["test/t.py::golden", "test/other/t.py::far", "test/room/t.py::near"]
    assert MAP.rounds("pkg/room/file.py", 9, (1.0, 1.0)) == [quick]
    assert MAP.rounds("pkg/elsewhere.py", 1, (1.0, 1.0)) == [quick]
