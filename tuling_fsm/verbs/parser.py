"""Adding a verb to the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Verb = Callable[[argparse.Namespace], int]
"""Does what its name says, and returns the exit code."""
Verbs = Any
"""What `ArgumentParser.add_subparsers` returns: its class is private."""


def add_verb(verbs: Verbs, name: str, verb: Verb, text: str) -> argparse.ArgumentParser:
    """A verb with its line of help; its arguments are the caller's to add."""
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
    parser.set_defaults(verb=verb)
    return parser
