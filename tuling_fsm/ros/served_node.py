"""A node that is served until it is told to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

import rclpy
from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from tuling_fsm.core.errors import InputError, in_one_line
from tuling_fsm.interruption import ending_signals, postponed
from tuling_fsm.ros.environment import PARENT

POLL_S = 0.1
"""Longest wait for work, and so the longest time until a signal is seen."""


class ServedNode(Node):
    """What `run_node` serves."""

    finished = False
    """There is nothing more to do."""
    exit_code = 0
    interruptible = True
    """There is nothing to bring to rest."""
    interrupted = False
    """A signal has come: whatever waits need not go on."""
    hurried = False
    """It wants its messages with the least delay."""

    def stop(self) -> None:
        """Bring everything to rest, while messages can still be sent."""


class Interrupted:
    """Set by SIGINT, SIGTERM and SIGHUP, however often they come; the process ends in its own time.

    Where nothing has to be brought to rest first the very first one leaves at once, so that a long compilation does not
    have to be waited for.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.node: ServedNode | None = None
        self.leaving = False
        self._numbers = ending_signals()
        for number in self._numbers:
            signal.signal(number, self._set)

    def never_again(self) -> None:
        """From now on signals are ignored: one that comes while the interpreter ends would look like a crash."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)

    def _set(self, number: int, frame: FrameType | None) -> None:
        if postponed(number, frame):
            return
        first, self.signal = self.signal is None, self.signal or number
        if self.node is not None:
            self.node.interrupted = True
        if first and not self.leaving and (self.node is None or self.node.interruptible):
            raise SystemExit(0)


def orphaned() -> bool:
    """Whether the process that started this one as part of a run is gone."""
    parent = os.environ.get(PARENT)
    return parent is not None and os.getppid() != int(parent)


def run_node(make_node: Callable[[], ServedNode], arguments: Sequence[str] | None) -> int:
    """Build a node, serve it until it has `finished` or a signal comes, and take it down in order.

    rclpy's own signal handlers would end the context at once, so that a last message could not be sent; these do not.

    Args:
        make_node: called once rclpy is initialized.
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
    try:
        node = interrupted.node = make_node()
        _serve(node, interrupted)
        return node.exit_code
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except SystemExit:
        return 0
    finally:
        interrupted.leaving = True
        if interrupted.node is not None:
            with contextlib.suppress(Exception):
                interrupted.node.destroy_node()
        rclpy.try_shutdown()
        interrupted.never_again()


def make_executor(hurried: bool, context: Context | None = None) -> Executor:
    """One thread. In a hurry one that is woken by events, where this rclpy has it (Jazzy and later): it need not ask
    every topic, service and timer of the node before each callback, which saves a quarter of a millisecond. It logs
    any exception of a callback at length, SystemExit too, so that nodes in no hurry do without.
    """
    if hurried:
        with contextlib.suppress(ImportError):
            from rclpy.experimental import EventsExecutor

            return EventsExecutor(context=context)
    return SingleThreadedExecutor(context=context)


def _serve(node: ServedNode, interrupted: Interrupted) -> None:
    """Until there is nothing more to do. No exception of a callback ends it: that is logged (SAF-1)."""
    executor = make_executor(node.hurried)
    executor.add_node(node)
    while interrupted.signal is None and not node.finished and not orphaned():
        try:
            executor.spin_once(timeout_sec=POLL_S)
        except Exception as error:
            node.get_logger().error(f"in a callback: {in_one_line(error)}", throttle_duration_sec=1.0)
    node.stop()
    executor.shutdown(timeout_sec=0.2)
