"""`completion`: what a shell has to know to complete the commands.

The script is written by shtab from the parser, once and for all: pressing the tabulator starts no Python, where
argcomplete would start this program each time, and a second of imports with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.verbs.parser import Verbs, add_verb, folder, path, written

SHELLS = ("bash", "fish", "tcsh", "zsh")


def add_completion(verbs: Verbs, command_line: Callable[[], argparse.ArgumentParser]) -> None:
    """A script for one of the shells.

    Args:
        verbs: of the command line.
        command_line: makes the parser that is completed.
    """

    def script(arguments: argparse.Namespace) -> int:
        print(completion_script(command_line(), arguments.shell), end="")
        return 0

    parser = add_verb(
        verbs,
        "completion",
        script,
        "the script with which a shell completes verbs, options and files",
        "tuling-fsm completion bash",
    )
    parser.add_argument("shell", choices=SHELLS, help="which one")


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """A script for a shell to source.

    Raises:
        InputError: shtab is not installed.
    """
    try:
        import shtab
    except ModuleNotFoundError:
        raise InputError("completion", "the package shtab is not installed", "pip install shtab") from None
    for action in _actions(parser):
        if action.type in (path, written, folder):
            action.complete = shtab.DIRECTORY if action.type is folder else shtab.FILE
    script: str = shtab.complete(parser, shell)
    return script


def _actions(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """The arguments of a parser and of its verbs."""
    for action in parser._actions:
        yield action
        if isinstance(action.choices, Mapping):
            for verb in action.choices.values():
                yield from _actions(verb)
