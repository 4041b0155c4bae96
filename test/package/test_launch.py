"""The launch files are Python, and describe what they say where launch is installed."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import pytest

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
FILES = sorted(LAUNCH.glob("*.launch.py"))


def test_there_are_launch_files():
    assert {"planner.launch.py", "sim.launch.py", "carla.launch.py", "replay.launch.py"} == {
        file.name for file in FILES
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_launch_file_compiles_and_makes_a_description(file):
    code = compile(file.read_text(), str(file), "exec")
    assert "generate_launch_description" in code.co_names


@pytest.mark.skipif(importlib.util.find_spec("launch_ros") is None, reason="launch_ros is not installed")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_launch_file_starts_the_planner(file):
    description = runpy.run_path(str(file))["generate_launch_description"]()
    executables = {getattr(entity, "node_executable", "") for entity in description.entities}
    assert "planner" in executables
