"""An unexpected exception in one line for a log."""

from __future__ import annotations

import traceback

INNERMOST = 3
"""Frames that are named."""


def in_one_line(error: BaseException) -> str:
    """What it is, and the innermost places that it came through."""
    frames = traceback.extract_tb(error.__traceback__)[-INNERMOST:]
    places = ", ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames)
    return f"{type(error).__name__}: {' '.join(str(error).split())} (in {places})"
