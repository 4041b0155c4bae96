"""What a process needs before rclpy is imported; tests of this folder are skipped where there is no rclpy."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ros.rig import Rig

if importlib.util.find_spec("rclpy") is None:
    collect_ignore_glob = ["test_*.py"]
os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):
    os.environ[name] = str(Path(__file__).with_name("dds.xml"))


@pytest.fixture
def map_file(tmp_path: Path) -> Path:
    """A map that exists: the planner in question does not read it."""
    file = tmp_path / "town.xodr"
    file.write_text("map")
    return file


@pytest.fixture
def rig() -> Iterator[Rig]:
    from ros.rig import Rig

    with Rig() as rig:
        yield rig
