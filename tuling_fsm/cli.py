"""`tuling-fsm`: one entry point, a module of `verbs` a subject.

Exit 0 on success, 1 when what was asked does not hold, 2 for bad usage or bad input (one line on standard error);
130 after Control-C and 141 where nobody reads on, as of every program in a shell.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.verbs import bench, campaign, commonroad, diagram, maps, plan, replay, runs, why
from tuling_fsm.verbs.parser import OneLineParser, Verb, Verbs

VERBS: tuple[Callable[[Verbs], None], ...] = (
    runs.add_demo,
    runs.add_sim,
    campaign.add_campaign,
    replay.add_replay,
    commonroad.add_commonroad,
    why.add_why,
    plan.add_plan,
    maps.add_map,
    maps.add_route,
    diagram.add_diagram,
    bench.add_bench,
)
"""In the order of the help."""
INTERRUPTED, UNREAD = 130, 141
"""What a shell reports of a program that SIGINT or SIGPIPE has ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the return value is the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # What a terminal has no letters for is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return _unread()


def _run(argv: Sequence[str] | None) -> int:
    arguments = command_line().parse_args(argv)
    verb: Verb = arguments.verb
    try:
        return verb(arguments)
    except InputError as error:
        print(error, file=sys.stderr)
    except FileNotFoundError as error:
        print(f"{error.filename}: no such file", file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{error.filename or error.__class__.__name__}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return 2


def _unread() -> int:
    """Whoever read the output has gone, as `head` does: what is still to be written goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return UNREAD


def command_line() -> argparse.ArgumentParser:
    """All verbs with their options."""
    parser = OneLineParser(prog="tuling-fsm", description="Hierarchical state-machine planner and its simulator.")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for add in VERBS:
        add(verbs)
    return parser


if __name__ == "__main__":
    sys.exit(main())
