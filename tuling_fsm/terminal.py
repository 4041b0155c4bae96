"""Colours, where a person looks at a terminal and has not asked for none (https://no-color.org)."""

from __future__ import annotations

import os
from enum import Enum
from typing import TextIO


class Style(Enum):
    """How a text looks: a parameter of ECMA-48's Select Graphic Rendition."""

    GOOD = "32"
    BAD = "31"
    WARNING = "33"
    HEADING = "1"


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at it; a stream that was closed is none."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def has_colours(stream: TextIO) -> bool:
    """Whether it is a terminal with colours, and `NO_COLOR` is not set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, style: Style | None, stream: TextIO) -> str:
    """A text as it is to be written to a stream: as it is where there are no colours."""
    return f"\x1b[{style.value}m{text}\x1b[0m" if style is not None and has_colours(stream) else text
