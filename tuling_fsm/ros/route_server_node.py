"""Executable `route_server`: answers `plan_route` from the map, or from a preset route."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from tuling_fsm.ros.executable import run_executable


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; the return value is the exit code."""
    return run_executable(_route_server, arguments)


def _route_server() -> Callable[[], Any]:
    from tuling_fsm.ros.route_service import RouteServiceNode

    return RouteServiceNode


if __name__ == "__main__":
    sys.exit(main(sys.argv))
