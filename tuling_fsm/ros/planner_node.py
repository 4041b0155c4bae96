"""Executable `planner`: the planner as a ROS 2 lifecycle node."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tuling_fsm.ros.executable import run_executable


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes or the node is shut down; the return value is the exit code."""
    return run_executable(_planner, arguments)


def _planner() -> Callable[[], Any]:
    from tuling_fsm.ros.planner import PlannerNode, brain

    return lambda: PlannerNode(brain())


if __name__ == "__main__":
    sys.exit(main(sys.argv))
