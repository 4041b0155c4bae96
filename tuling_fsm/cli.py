"""`tuling-fsm`: one entry point, a module of `verbs` a subject.

Exit 0 on success, 1 when what was asked does not hold, 2 for bad usage or bad input (one line on standard error);
130 after Control-C, 141 where the reader has gone, 143 after SIGTERM and 129 after SIGHUP, as of every program in a
shell.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

import tuling_fsm
from tuling_fsm.core.errors import InputError
from tuling_fsm.garbage import collect_seldom
from tuling_fsm.interruption import interruptible
from tuling_fsm.requirements import require_packages
from tuling_fsm.terminal import Style, styled

if TYPE_CHECKING:
    from tuling_fsm.verbs.parser import Verb

REFUSED = 2
INTERRUPTED, UNREAD = 130, 141
"""What a shell reports of a program that SIGINT or SIGPIPE has ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the return value is the exit code."""
    _prepare_streams()
    collect_seldom()
    try:
        require_packages()
        with interruptible():
            return _run(argv)
    except InputError as error:
        _say_bad(str(error))
    except FileNotFoundError as error:
        _say_bad(f"{error.filename}: no such file")
    except BrokenPipeError:
        _let_go(sys.stdout, sys.stderr)
        return UNREAD
    except OSError as error:
        _say_bad(f"{error.filename or error.__class__.__name__}: {error.strerror or error}")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return REFUSED


def _say_bad(text: str) -> None:
    """Where nothing can be said any more the exit code still tells."""
    try:
        print(styled(text, Style.BAD, sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        _let_go(sys.stderr)


def _run(argv: Sequence[str] | None) -> int:
    """Parse and do; whatever becomes of it, what was printed is written before it returns."""
    try:
        arguments = command_line().parse_args(argv)
        verb: Verb = arguments.verb
        return verb(arguments)
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # Python would try again at its end, and fail with lines of its own.
            _let_go(sys.stdout)
            raise


def _prepare_streams() -> None:
    """A stream that was closed from the start takes what is not read; what a terminal has no letters for is no reason
    to fail.
    """
    sys.stdout = sys.stdout or os.fdopen(_nowhere(), "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(_nowhere(), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _let_go(*streams: TextIO) -> None:
    """Let what is still to be written go nowhere: the disk is full, or its reader has gone, as `head` does."""
    nowhere = _nowhere()
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)


def command_line() -> argparse.ArgumentParser:
    """All verbs with their options, in the order of the help."""
    from tuling_fsm.verbs import (
        bags,
        campaign,
        commonroad,
        completion,
        falsify,
        faults,
        fuzz,
        machine,
        maps,
        planner,
        report,
        runs,
    )
    from tuling_fsm.verbs.parser import OneLineParser

    parser = OneLineParser(
        prog="tuling-fsm",
        description="Hierarchical state-machine planner and its simulator.",
        epilog="tuling-fsm VERB --help tells the options of a verb, with an example.",
    )
    parser.add_argument("--version", action="version", version=f"tuling-fsm {tuling_fsm.__version__}")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for add in (
        runs.add_demo,
        runs.add_sim,
        campaign.add_campaign,
        faults.add_faults,
        falsify.add_falsify,
        bags.add_replay,
        commonroad.add_commonroad,
        bags.add_why,
        report.add_report,
        planner.add_plan,
        maps.add_map,
        maps.add_route,
        machine.add_machine,
        machine.add_diagram,
        planner.add_bench,
        fuzz.add_fuzz,
    ):
        add(verbs)
    completion.add_completion(verbs, command_line)
    return parser


if __name__ == "__main__":
    sys.exit(main())
