"""Executable `planner`: the planner as a ROS 2 lifecycle node."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.environment import require_rclpy


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes or the node is shut down; the return value is the exit code."""
    try:
        require_rclpy()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from tuling_fsm.ros.loop import run_node
    from tuling_fsm.ros.planner import PlannerNode, brain

    return run_node(lambda: PlannerNode(brain()), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
