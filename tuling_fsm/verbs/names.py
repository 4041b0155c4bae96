"""Options of the verbs that read bags of others."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tuling_fsm.verbs.parser import path

if TYPE_CHECKING:
    from tuling_fsm.bag.names import Names


def add_bag(parser: argparse.ArgumentParser) -> None:
    """The bag itself."""
    parser.add_argument("bag", type=path, metavar="BAG", help="a rosbag2: its folder, or one .mcap or .db3 file")


def add_names(parser: argparse.ArgumentParser) -> None:
    """`--remap`, `--frame` and `--salvage`."""
    parser.add_argument(
        "--remap", action="append", default=[], metavar="TOPIC:=OURS", help="what the bag calls one of our topics"
    )
    parser.add_argument("--frame", default="map", metavar="NAME", help="the frame of the bag that is taken for map")
    parser.add_argument("--salvage", action="store_true", help="use what can be read of a damaged bag")


def names_of(arguments: argparse.Namespace) -> Names:
    """What they say.

    Raises:
        InputError: a remap that cannot be used.
    """
    from tuling_fsm.bag.names import Names, parse_remaps

    return Names(parse_remaps(arguments.remap), arguments.frame)
