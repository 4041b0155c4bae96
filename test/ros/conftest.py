"""What a process needs before rclpy is imported; tests of this folder are skipped where there is no rclpy."""

from __future__ import annotations

import importlib.util
import os
import sys

if importlib.util.find_spec("rclpy") is None:
    collect_ignore_glob = ["test_*.py"]
os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
