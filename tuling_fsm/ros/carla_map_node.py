"""Executable `carla_map`: saves the map of the CARLA world for the planner."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tuling_fsm.ros.executable import run_executable


def main(arguments: Sequence[str] | None = None) -> int:
    """Wait for the map; the return value is the exit code."""
    return run_executable(_map_saver, arguments)


def _map_saver() -> Callable[[], Any]:
    from tuling_fsm.ros.carla.map_saver import MapSaver
    from tuling_fsm.ros.carla.types import InstalledTypes

    types = InstalledTypes()
    return lambda: MapSaver(types)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
