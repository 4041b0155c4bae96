"""Executable `tracker`: follows the planner's trajectory with a simulator's car."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tuling_fsm.ros.executable import run_executable


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; the return value is the exit code."""
    return run_executable(_tracker, arguments)


def _tracker() -> Callable[[], Any]:
    from tuling_fsm.ros.tracker import TrackerNode

    return TrackerNode


if __name__ == "__main__":
    sys.exit(main(sys.argv))
