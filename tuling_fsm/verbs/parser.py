"""Adding a verb to the command line, and what its arguments may be."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from tuling_fsm.core.parameters import Scalar
from tuling_fsm.run_settings import OWN, TRAFFIC
from tuling_fsm.sim.sensors.perception_levels import CLEAN, LEVELS
from tuling_fsm.terminal import Style, styled

Verb = Callable[[argparse.Namespace], int]
"""Does what its name says, and returns the exit code."""
Verbs = Any
"""What `ArgumentParser.add_subparsers` returns: its class is private."""
DEFAULT_SEED = 1
LARGEST_SEED = 2**31 - 1
LARGEST_PORT = 2**16 - 1
NEGATIVE = re.compile(r"-\.?\d[\d._]*([eE][-+]?\d+)?$")
"""No option though it begins with a dash; argparse itself knows neither `-1e1` nor `-10.` for numbers."""
EXAMPLE = "example:"
"""Begins the last lines of the help of a verb."""


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong with the usage in one line, and takes negative numbers for values; its verbs do the same."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._negative_number_matcher = NEGATIVE

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        text = f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)"
        self.exit(2, styled(text, Style.BAD, sys.stderr) + "\n")


class ExampleFormatter(argparse.HelpFormatter):
    """Leaves the lines of the epilog, which are commands, as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLE) else super()._fill_text(text, width, indent)


def add_verb(verbs: Verbs, name: str, verb: Verb, text: str, example: str) -> argparse.ArgumentParser:
    """A verb; its arguments are the caller's to add.

    Args:
        verbs: of the command line.
        name: of the verb.
        verb: what it does.
        text: its line of help.
        example: a command in which it is used, in the folder of the source tree.
    """
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=text, description=text, epilog=f"{EXAMPLE}\n  {example}", formatter_class=ExampleFormatter
    )
    parser.set_defaults(verb=verb)
    return parser


def add_perception(parser: argparse.ArgumentParser) -> None:
    """`--perception LEVEL`."""
    parser.add_argument(
        "--perception", choices=tuple(LEVELS), default=CLEAN,
        help="how much the sensors get wrong: noise, latency, drop-outs, occlusion (default %(default)s)",
    )  # fmt: skip


def add_traffic(parser: argparse.ArgumentParser) -> None:
    """`--traffic own|sumo`."""
    parser.add_argument(
        "--traffic", choices=TRAFFIC, default=OWN,
        help="what drives the other vehicles: this simulator, or SUMO (the extra `sumo`) (default %(default)s)",
    )  # fmt: skip


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """`--parameters F`."""
    parser.add_argument(
        "--parameters", type=path, metavar="F", help="of the planner and its car, as config/planner.yaml has them"
    )


def chosen_parameters(file: Path | None) -> tuple[tuple[str, Scalar], ...]:
    """Dotted names and values in the file of `--parameters`; none without one.

    Raises:
        InputError: no parameters of the planner, an unknown name, a value out of range.
        OSError: the file cannot be read.
    """
    if file is None:
        return ()
    # The planner takes half a second to load, which what only parses a command line does not wait for.
    from tuling_fsm.ros.parameter_reader import planner_parameters

    return planner_parameters(file)


def add_overrides(parser: argparse.ArgumentParser, owner: str) -> None:
    """`--set`, once for each variable."""
    parser.add_argument(
        "--set", dest="overrides", action="append", default=[], metavar="NAME=VALUE",
        help=f"override a variable of {owner}",
    )  # fmt: skip


def add_seed(parser: argparse.ArgumentParser) -> None:
    """`--seed`."""
    parser.add_argument(
        "--seed", type=seed, default=DEFAULT_SEED, help="seed of everything random (default %(default)s)"
    )


def folder(text: str) -> Path:
    """A folder to write to, for `type=`; a variable of the shell that is not set is none.

    Raises:
        ArgumentTypeError: an empty name, or something else than a folder has that name.
    """
    if not text:
        raise argparse.ArgumentTypeError("an empty name is no folder")
    place = Path(text)
    if place.exists() and not place.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder")
    return place


def written(text: str) -> Path:
    """A file to write, for `type=`.

    Raises:
        ArgumentTypeError: an empty name, or that of a folder.
    """
    place = path(text)
    if place.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder (expected the name of a file)")
    return place


def path(text: str) -> Path:
    """A file (or folder) to read, for `type=`; a variable of the shell that is not set is none.

    Raises:
        ArgumentTypeError: an empty name.
    """
    if not text:
        raise argparse.ArgumentTypeError("an empty name is no file")
    return Path(text)


def port(text: str) -> int:
    """A TCP port, for `type=`; 0 is any that is free.

    Raises:
        ArgumentTypeError: no such number.
    """
    if not text.isdecimal() or int(text) > LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (expected 0 to {LARGEST_PORT})")
    return int(text)


def finite(text: str) -> float:
    """A number that is one, for `type=`.

    Raises:
        ArgumentTypeError: none, or an infinite one.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is no finite number")
    return value


def seed(text: str) -> int:
    """A seed, for `type=`.

    Raises:
        ArgumentTypeError: no whole number from 0 to `LARGEST_SEED`.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 11 and int(text) <= LARGEST_SEED):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to {LARGEST_SEED}")
    return int(text)
