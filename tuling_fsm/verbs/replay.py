"""`replay`: a recorded run once more."""

from __future__ import annotations

import argparse
import sys

from tuling_fsm.verbs.names import add_bag, add_names, names_of
from tuling_fsm.verbs.parser import Verbs, add_verb, folder, path


def add_replay(verbs: Verbs) -> None:
    """A bag through a fresh planner."""
    parser = add_verb(
        verbs, "replay", _replay, "feed a rosbag2 to the planner by its own stamps and compare the transitions"
    )
    add_bag(parser)
    parser.add_argument("--against", type=path, metavar="BAG", help="compare with the transitions of this bag")
    parser.add_argument("--map", type=path, metavar="F", help="OpenDRIVE map instead of the one that the bag names")
    parser.add_argument(
        "--out", type=folder, metavar="DIR", help="gets a bag of the same inputs with the answers of now"
    )
    add_names(parser)


def _replay(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bag.replay import replay

    differences = replay(
        arguments.bag,
        against=arguments.against,
        map_file=arguments.map,
        out=arguments.out,
        names=names_of(arguments),
        salvage=arguments.salvage,
        report=lambda line: print(line, file=sys.stderr),
    )
    for line in differences:
        print(line)
    return 1 if differences else 0
