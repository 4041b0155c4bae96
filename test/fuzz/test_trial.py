"""What is a finding, and what is not."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.fuzz.trial import BrokenRuleError, attempt
from tuling_fsm.fuzz.worker import signature


def raising(error: BaseException) -> Callable[[Path], NoReturn]:
    def read(file: Path) -> NoReturn:
        raise error

    return read


def warns(file: Path) -> None:
    warnings.warn("odd", RuntimeWarning, stacklevel=1)


def overflows(file: Path) -> None:
    np.array([1e308]) * 10.0


def hangs(file: Path) -> None:
    while True:
        try:
            file.exists()
        except Exception:  # What a reader may do with any fault, it may not do with its end.
            continue


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda file: None, "read"),
        (raising(InputError("a.xodr:3", "x=1e9 is out of range", "from 0 to 10 m")), "refused"),
        (raising(InputError("a.xodr:3", "x=1e9 is out of range")), "unclear"),
        (raising(InputError("x" * 2000, "w" * 2000, "y" * 2000)), "refused"),
        (raising(ValueError("x")), "exception"),
        (raising(SystemExit(3)), "exception"),
        (raising(MemoryError()), "memory"),
        (raising(BrokenRuleError("not finite")), "rule"),
        (warns, "warning"),
        (overflows, "warning"),
        (lambda file: print("odd", file=sys.stderr), "output"),
        (hangs, "time"),
    ],
)
@pytest.mark.medium
def test_all_but_a_result_and_one_clear_line_is_a_finding(
    read: Callable[[Path], object], kind: str, tmp_path: Path
) -> None:
    trial = attempt(read, tmp_path / "file", 0.3)
    assert trial.kind == kind and trial.is_finding is (kind not in ("read", "refused"))


def test_work_is_counted_and_the_folder_of_a_file_is_no_part_of_its_line(tmp_path: Path) -> None:
    assert attempt(lambda file: 7, tmp_path / "a", 1.0).work == 7
    trial = attempt(raising(InputError(str(tmp_path / "a"), "wrong", "right")), tmp_path / "a", 1.0)
    assert trial.detail == "a: wrong (expected right)"


def test_findings_of_one_place_have_one_name(tmp_path: Path) -> None:
    read = raising(ValueError("x"))
    names = {signature(target, attempt(read, tmp_path / "a", 1.0)) for target in ("map", "map", "bag")}
    assert len(names) == 2


def test_what_a_terminal_would_take_for_a_command_is_shown() -> None:
    assert str(InputError("a\x1b[2J", "\u202eb", "c\u00e4")) == "a\\x1b[2J: \\u202eb (expected c\u00e4)"
