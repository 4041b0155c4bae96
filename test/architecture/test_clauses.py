"""Every clause that the code claims has a test that names it, no test names another one, and a page tells of it all."""

from pathlib import Path

from tuling_fsm.behaviour import table

from .contract import CONTRACT, OPEN, PROVEN
from .trace import PAGE, all_marked_tests, marked_tests, page


def test_the_list_and_the_tests_agree() -> None:
    named = {clause for _, clause, _ in all_marked_tests()}
    assert sorted(set(PROVEN) - named) == [], "claimed, but no test names them"
    assert sorted(named - set(PROVEN) - set(OPEN)) == [], "no such clause"
    assert sorted(named & set(OPEN)) == [], "named by a test: take them out of OPEN"


def test_what_is_open_is_in_the_contract() -> None:
    assert set(OPEN) <= set(CONTRACT)


def test_every_row_carries_out_a_proven_clause() -> None:
    hierarchy = table()
    claimed = {row.clause for machine in (hierarchy, *hierarchy.beside) for row in machine.rows}
    assert sorted(claimed - set(PROVEN)) == []


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make clauses"


def test_marks_are_found_on_functions_classes_and_modules(tmp_path: Path) -> None:
    file = tmp_path / "test_marked.py"
    file.write_text(
        "pytestmark = pytest.mark.clause('A-1')\n"
        "@pytest.mark.clause('B-1', 'B-2')\ndef test_one(): ...\n"
        "@pytest.mark.clause('C-1')\nclass TestMore:\n    def test_two(self): ...\n"
        "def helper(): ...\n"
    )
    assert sorted(marked_tests(file)) == [
        ("A-1", "test_one"), ("A-1", "test_two"), ("B-1", "test_one"), ("B-2", "test_one"), ("C-1", "test_two"),
    ]  # fmt: skip
