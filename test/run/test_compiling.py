"""The second process that compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tuling_fsm import compiling
from tuling_fsm.compiling import compiling_beside


def test_an_empty_cache_is_noticed(tmp_path: Path) -> None:
    asks = "from tuling_fsm.compiling import nothing_compiled; print(nothing_compiled())"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", asks], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said == ["True\n", "False\n"]


def test_a_process_runs_beside_only_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "nothing_compiled", lambda: False)
    with compiling_beside() as process:
        assert process is None
    monkeypatch.setattr(compiling, "nothing_compiled", lambda: True)
    with compiling_beside() as process:
        assert process is not None and process.wait() == 0
    with compiling_beside() as process:
        assert process is not None and process.poll() is None
    assert process.returncode is not None
