"""`tuling-fsm bench` without its peers: how results are found, written and kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuling_fsm import bench
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError

TOY = """
from benchmark.common.table import Table

def run() -> Table:
    return Table("A toy", ("what", "ours", "peer"), (("speed", 1234.5, None), ("length", 0.12345, 7)), "3", ("a note",))
"""


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A source tree with two benchmarks, and the real tables."""
    folder = tmp_path / "benchmark"
    (folder / "common").mkdir(parents=True)
    for package in (folder, folder / "common"):
        (package / "__init__.py").touch()
    real = bench.FOLDER / "common" / "table.py"
    (folder / "common" / "table.py").write_text(real.read_text(encoding="utf-8"), encoding="utf-8")
    for name in ("toy", "second"):
        (folder / f"{name}.py").write_text(TOY, encoding="utf-8")
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "FOLDER", folder)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmark"]:
        del sys.modules[name]


def test_the_benchmarks_are_the_modules_of_the_folder() -> None:
    assert "free_space" in bench.names()
    assert not any(name.startswith("_") for name in bench.names())


def test_an_unknown_benchmark_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "nothing"]) == 2
    assert "nothing: no benchmark (expected" in capsys.readouterr().err


def test_an_installation_without_the_source_tree_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    with pytest.raises(InputError, match="source tree"):
        bench.names()


def test_a_table_is_printed_and_kept_with_its_machine_and_runs(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("A toy") == 2
    assert "1234" in printed and "0.123" in printed
    kept = (toys / "RESULTS.md").read_text(encoding="utf-8")
    assert kept.count("| speed | 1234 | - |") == 2
    assert kept.index("## second") < kept.index("## toy")
    assert "cores" in kept and "Runs: 3." in kept and "- a note" in kept


def test_only_the_last_result_of_a_benchmark_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    for name, text in (("one", "old"), ("two", "stays"), ("one", "new")):
        bench.keep(file, name, text)
    assert file.read_text(encoding="utf-8").split("\n## ")[1:] == ["one\n\nnew\n", "two\n\nstays\n"]
