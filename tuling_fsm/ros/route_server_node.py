"""Executable `route_server`: answers `plan_route` from the map, or from a preset route."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.environment import require_rclpy


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; the return value is the exit code."""
    try:
        require_rclpy()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from tuling_fsm.ros.loop import run_node
    from tuling_fsm.ros.route_service import RouteServiceNode

    return run_node(RouteServiceNode, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
