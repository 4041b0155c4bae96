"""Executable `carla_bridge`: the planner drives the ego of a CARLA world through carla-ros-bridge."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.environment import require_rclpy


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the scenario is over or a signal comes; the return value is the exit code."""
    try:
        require_rclpy()
        from tuling_fsm.ros.carla.types import InstalledTypes

        types = InstalledTypes()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from tuling_fsm.ros.carla.bridge import CarlaBridge
    from tuling_fsm.ros.loop import run_node

    return run_node(lambda: CarlaBridge(types), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
