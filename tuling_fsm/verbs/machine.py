"""The verbs about the state machine: `machine`, a page to play with, and `diagram`."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from tuling_fsm.core.errors import InputError
from tuling_fsm.verbs.bags import add_names, bags_of, keep_bags
from tuling_fsm.verbs.parser import Verbs, add_verb, path, written


def add_machine(verbs: Verbs) -> None:
    """The page, or Mermaid on standard output."""
    parser = add_verb(
        verbs,
        "machine",
        _machine,
        "the state machine to play with, or a run of it to step through, in one HTML file; without one as `diagram`",
        "tuling-fsm machine --html machine.html --run out/roam",
    )
    parser.add_argument("--html", type=written, metavar="F", help="the page")
    parser.add_argument("--run", type=path, metavar="BAG", help="a rosbag2 whose transitions the page has too")
    add_names(parser)


def _machine(arguments: argparse.Namespace) -> int:
    if arguments.html is None:
        if arguments.run is not None:
            raise InputError("--run", "no page to show it in", "--html F beside it")
        return _diagram(arguments)

    from tuling_fsm.viewer.machine_page import write_machine
    from tuling_fsm.viewer.machine_run import run_data

    run = None
    if arguments.run is not None:
        (bag,) = bags_of(arguments, (arguments.run,), partial(print, file=sys.stderr))
        keep_bags(arguments.html, [bag])
        run = run_data(bag)
    write_machine(arguments.html, run)
    print(arguments.html)
    return 0


def add_diagram(verbs: Verbs) -> None:
    """Mermaid on standard output."""
    add_verb(
        verbs,
        "diagram",
        _diagram,
        "the state machine as Mermaid, from its tables",
        "tuling-fsm diagram",
    )


def _diagram(_: argparse.Namespace) -> int:
    from tuling_fsm.behaviour import table
    from tuling_fsm.machine.mermaid import mermaid

    print(mermaid(table()), end="")
    return 0
