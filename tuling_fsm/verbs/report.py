"""`report`: one drive as a film, or two to be compared."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from tuling_fsm.verbs.bags import add_bag, add_names, bags_of, keep_bags
from tuling_fsm.verbs.parser import Verbs, add_verb, path, written

FILE_NAME = "report.html"


def add_report(verbs: Verbs) -> None:
    """A page from one bag or two."""
    parser = add_verb(
        verbs,
        "report",
        _report,
        "a drive as a film in one HTML file: what it saw, what it weighed, why; of one bag or two",
        "tuling-fsm report out/roam",
    )
    add_bag(parser)
    parser.add_argument("other", type=path, nargs="?", metavar="BAG", help="another one, to be shown with the first")
    parser.add_argument(
        "--out",
        type=written,
        metavar="F",
        help=f"the page (default {FILE_NAME} beside the first bag; of two, in this folder)",
    )
    parser.add_argument("--map", type=path, metavar="F", help="OpenDRIVE map instead of the one that the bag names")
    add_names(parser)


def _report(arguments: argparse.Namespace) -> int:
    from tuling_fsm.compiling import compile_kernels
    from tuling_fsm.viewer.film_page import write_film
    from tuling_fsm.viewer.recording import FilmSource

    bags = bags_of(arguments, (arguments.bag, arguments.other), partial(print, file=sys.stderr))
    file = arguments.out or _beside([bag.path for bag in bags])
    keep_bags(file, bags, arguments.map)
    compile_kernels(("world",))
    write_film(file, [FilmSource(bag, arguments.map) for bag in bags])
    print(file)
    return 0


def _beside(bags: list[Path]) -> Path:
    if len(bags) > 1:
        return Path(FILE_NAME)
    return (bags[0] if bags[0].is_dir() else bags[0].parent) / FILE_NAME
