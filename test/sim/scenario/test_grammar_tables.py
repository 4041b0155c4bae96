"""The tables of the grammar are kept between processes, and what is kept never stands in the way."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuling_fsm.sim.scenario import syntax

TEXT = "scenario a:\n    ego: vehicle\n"
TREE = syntax.parse(TEXT, "f.osc")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a process that has just begun looks for them."""
    monkeypatch.setattr(syntax, "cache_from_source", lambda _: str(tmp_path / "syntax.pyc"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    syntax._parser.cache_clear()
    yield tmp_path / "syntax.lark"
    syntax._parser.cache_clear()


@pytest.mark.parametrize("left", [None, b"", b"rubbish", b"0" * 64 + b"\nrubbish"])
def test_they_are_built_where_they_are_not_or_are_spoilt_and_then_kept(left: bytes | None, kept: Path) -> None:
    if left is not None:
        kept.write_bytes(left)
    assert syntax.parse(TEXT, "f.osc") == TREE
    whole = kept.read_bytes()
    assert len(whole) > 10_000
    syntax._parser.cache_clear()
    assert syntax.parse(TEXT, "f.osc") == TREE
    assert kept.read_bytes() == whole


def test_those_of_a_file_cut_off_are_built_anew(kept: Path) -> None:
    syntax.parse(TEXT, "f.osc")
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    syntax._parser.cache_clear()
    assert syntax.parse(TEXT, "f.osc") == TREE
    assert len(kept.read_bytes()) > 0.9 * len(whole)


@pytest.mark.medium
def test_processes_that_begin_at_once_build_them_one_after_the_other(kept: Path) -> None:
    """Two that write into one file would leave a mixture of both."""
    code = (
        "import sys; from tuling_fsm.sim.scenario import syntax; syntax.cache_from_source = lambda _: sys.argv[1];"
        f"syntax.parse({TEXT!r}, 'f.osc'); print('parsed')"
    )
    command = [sys.executable, "-c", code, str(kept.with_suffix(".pyc"))]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(3.0)
        assert not kept.exists()
    assert waiting.communicate()[0] == "parsed\n"
    assert kept.exists()


def test_without_a_folder_to_write_to_they_are_built_each_time(kept: Path) -> None:
    kept.parent.rmdir()
    assert syntax.parse(TEXT, "f.osc") == TREE


def test_a_process_that_writes_no_bytecode_writes_none(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert syntax.parse(TEXT, "f.osc") == TREE
    assert list(kept.parent.iterdir()) == []
