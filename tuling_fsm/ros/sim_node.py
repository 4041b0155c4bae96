"""Executable `sim`: the embedded simulator on the planner's topics, in lock-step with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tuling_fsm.ros.executable import run_executable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one scenario; the return value is the exit code."""
    return run_executable(_simulator, arguments)


def _simulator() -> Callable[[], Any]:
    from tuling_fsm.ros.simulator import SimNode

    return SimNode


if __name__ == "__main__":
    sys.exit(main(sys.argv))
