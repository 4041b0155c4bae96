"""Executable `sim`: the embedded simulator on the planner's topics, in lock-step with it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.environment import require_rclpy


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one scenario; the return value is the exit code."""
    try:
        require_rclpy()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from tuling_fsm.ros.loop import run_node
    from tuling_fsm.ros.simulator import SimNode

    return run_node(SimNode, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
