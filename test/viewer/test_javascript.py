"""The modules of the page: their own tests, their types and their style. Each part needs its tool, and says so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).with_name("javascript")
MODULES = TOOLS / "node_modules" / ".bin"


def said_by(*command: str, folder: Path = TOOLS) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture
def modules(node: str) -> Path:
    if not MODULES.is_dir():
        pytest.skip(f"no {MODULES.parent}; `make testable` brings them where there is npm")
    return MODULES


@pytest.mark.medium
def test_the_modules_do_what_their_own_tests_say(node: str) -> None:
    assert said_by(node, "--test") == ""


@pytest.mark.slow
def test_the_modules_are_of_the_types_that_they_say(modules: Path) -> None:
    assert said_by(str(modules / "tsc"), "--project", ".") == ""


def test_the_charts_are_those_of_the_package(modules: Path) -> None:
    package = modules.parent / "uplot"
    vendored = TOOLS.parents[2] / "tuling_fsm" / "viewer" / "page" / "vendor"
    pairs = {
        "uPlot.iife.min.js": "dist/uPlot.iife.min.js",
        "uPlot.min.css": "dist/uPlot.min.css",
        "uPlot.LICENSE": "LICENSE",
    }
    for ours, theirs in pairs.items():
        assert (vendored / ours).read_bytes() == (package / theirs).read_bytes(), ours


@pytest.mark.slow
def test_the_modules_keep_the_rules_of_style(modules: Path) -> None:
    config = str(TOOLS / "eslint.config.js")
    found = said_by(
        str(modules / "eslint"),
        "--config",
        config,
        "tuling_fsm/viewer/page",
        "test/viewer/javascript",
        folder=TOOLS.parents[2],
    )
    assert found == ""
