"""Running one node until it is told to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.environment import PARENT
from tuling_fsm.ros.failure import in_one_line

POLL_S = 0.1
"""Longest wait for work, and so the longest time until a signal is seen."""


class Interrupted:
    """Set by SIGINT and SIGTERM, however often they come; the process ends in its own time."""

    def __init__(self) -> None:
        self.signal: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._set)

    def _set(self, number: int, _: FrameType | None) -> None:
        self.signal = self.signal or number


def orphaned() -> bool:
    """Whether the process that started this one as part of a run is gone."""
    parent = os.environ.get(PARENT)
    return parent is not None and os.getppid() != int(parent)


def run_node(make_node: Callable[[], Any], arguments: Sequence[str] | None = None) -> int:
    """Build a node, serve it until it has `finished` or a signal comes, and take it down in order.

    rclpy's own signal handlers would end the context at once, so that a last message could not be sent; these do not.
    No exception of a callback ends the loop: it is logged (SAF-1).

    Args:
        make_node: called once rclpy is initialized; the node has `finished` (nothing more to do), `stop()` (bring
            everything to rest while messages can still be sent) and `exit_code`.
        arguments: the command line with its `--ros-args`; the process's own if not given.

    Returns:
        Exit code: the node's own `exit_code`, or 2 for bad parameters, said in one line.
    """
    interrupted = Interrupted()
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    node: Any = None
    try:
        node = make_node()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while interrupted.signal is None and not node.finished and not orphaned():
            try:
                executor.spin_once(timeout_sec=POLL_S)
            except Exception as error:
                node.get_logger().error(f"in a callback: {in_one_line(error)}", throttle_duration_sec=1.0)
        node.stop()
        executor.shutdown(timeout_sec=0.2)
        return int(node.exit_code)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        if node is not None:
            with contextlib.suppress(Exception):
                node.destroy_node()
        rclpy.try_shutdown()
