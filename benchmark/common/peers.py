"""Peers run in an environment of their own, as scripts that answer JSON with JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
DATA = ROOT.parent / "shared" / "data"
"""Real cases and maps, kept beside the project."""


def ask(script: str, question: dict[str, Any]) -> dict[str, Any]:
    """What a script of `benchmark/peers` answers.

    Raises:
        InputError: the environment is missing, or the script failed.
    """
    if not PYTHON.exists():
        raise InputError(str(PYTHON.parent.parent.name), "no environment of the peers", "make bench-peers")
    run = subprocess.run(
        [str(PYTHON), str(ROOT / "benchmark" / "peers" / script)],
        input=json.dumps(question), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode != 0:
        raise InputError(script, (run.stderr.strip().splitlines() or ["failed"])[-1], "a peer that runs")
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def data(*parts: str) -> Path:
    """A folder of real cases.

    Raises:
        InputError: it is not there.
    """
    folder = DATA.joinpath(*parts)
    if not folder.is_dir():
        raise InputError("/".join(parts), "not beside the project", "the folder of real cases")
    return folder
