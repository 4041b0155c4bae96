"""Where the files are that are installed beside the code: config, scenarios, the course, launch files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tuling_fsm.core.errors import InputError

PACKAGE = "tuling_fsm"


def share_file(*parts: str) -> Path:
    """The path of an installed file or folder, such as `share_file("config", "planner.yaml")`.

    The source tree around this package comes first, then the interpreter's prefix, then those of sourced workspaces.

    Raises:
        InputError: it is in none of them.
    """
    for folder in _folders():
        if folder.joinpath(*parts).exists():
            return folder.joinpath(*parts)
    raise InputError("/".join(parts), "not installed", "a complete installation of tuling_fsm")


def _folders() -> Iterator[Path]:
    source = Path(__file__).resolve().parents[1]
    if (source / "package.xml").is_file():
        yield source
    prefixes = [sys.prefix, *filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))]
    for prefix in prefixes:
        yield Path(prefix) / "share" / PACKAGE
