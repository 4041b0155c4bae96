"""The error that a user's input can raise, the one that a missing case is, and words for any other."""

from __future__ import annotations

import traceback
from typing import NoReturn

_SHOWN = 300
"""Characters of a place or of a fault that are shown: what is wrong may be of any length."""
_EXPECTED_SHOWN = 800
"""Characters that are shown of what would be right: it may list names of the file's own."""
INNERMOST = 3
"""Frames that are named of an exception's way."""


class InputError(ValueError):
    """Bad input, said in one line: where it is, what is wrong, what would be right."""

    def __init__(self, where: str, what: str, expected: str = "") -> None:
        self.where = where
        self.what = what
        self.expected = expected
        right = f" (expected {_short(expected, _EXPECTED_SHOWN)})" if expected else ""
        line = f"{_short(where)}: {_short(what)}{right}"
        super().__init__(_printable(" ".join(line.split())))

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        """Its own arguments, so that it comes whole from one process to another."""
        return type(self), (self.where, self.what, self.expected)


def assert_never(value: NoReturn) -> NoReturn:
    """The end of a dispatch that knows every member: the type checker refuses it where one is missing.

    `typing` has it from Python 3.11 on.
    """
    raise AssertionError(f"no case for {value!r}")


def _printable(line: str) -> str:
    """What a terminal would take for a command, or show as something else, as Python writes it."""
    if line.isprintable():
        return line
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in line)


def _short(text: str, shown: int = _SHOWN) -> str:
    return text if len(text) <= shown else f"{text[:shown]}..."


def in_one_line(error: BaseException) -> str:
    """For a log: what an unexpected exception is, and the innermost places that it came through."""
    frames = traceback.extract_tb(error.__traceback__)[-INNERMOST:]
    places = ", ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames)
    return f"{type(error).__name__}: {' '.join(str(error).split())} (in {places})"
