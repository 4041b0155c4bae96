"""Executable `carla_bridge`: the planner drives the ego of a CARLA world through carla-ros-bridge."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tuling_fsm.ros.executable import run_executable


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the scenario is over or a signal comes; the return value is the exit code."""
    return run_executable(_bridge, arguments)


def _bridge() -> Callable[[], Any]:
    from tuling_fsm.ros.carla.bridge import CarlaBridge
    from tuling_fsm.ros.carla.types import InstalledTypes

    types = InstalledTypes()
    return lambda: CarlaBridge(types)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
