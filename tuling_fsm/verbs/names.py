"""Options of the verbs that read bags of others."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuling_fsm.bag.names import Names


def add_names(parser: argparse.ArgumentParser) -> None:
    """`--remap` and `--frame`."""
    parser.add_argument(
        "--remap", action="append", default=[], metavar="TOPIC:=OURS", help="what the bag calls one of our topics"
    )
    parser.add_argument("--frame", default="map", metavar="NAME", help="the frame of the bag that is taken for map")


def names_of(arguments: argparse.Namespace) -> Names:
    """What they say.

    Raises:
        InputError: a remap that cannot be used.
    """
    from tuling_fsm.bag.names import Names, parse_remaps

    return Names(parse_remaps(arguments.remap), arguments.frame)
