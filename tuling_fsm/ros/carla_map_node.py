"""Executable `carla_map`: saves the map of the CARLA world for the planner."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.environment import require_rclpy


def main(arguments: Sequence[str] | None = None) -> int:
    """Wait for the map; the return value is the exit code."""
    try:
        require_rclpy()
        from tuling_fsm.ros.carla.types import InstalledTypes

        types = InstalledTypes()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from tuling_fsm.ros.carla.map_saver import MapSaver
    from tuling_fsm.ros.loop import run_node

    return run_node(lambda: MapSaver(types), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
