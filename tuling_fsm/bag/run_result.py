"""`result.json` beside a bag: how a simulated run ended, and what the referee says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tuling_fsm.bag.writer import FILE_NAME, RESULT, SETTINGS

_SAID = {"t", "kind", "detail", "at_fault"}
"""What is said of an infraction."""


def result_file(bag: Path) -> Path:
    """Where the result of a simulated run is, as seen from its bag: a folder, or one `.mcap` or `.db3` file."""
    return (bag if bag.is_dir() else bag.parent) / RESULT


def result_beside(bag: Path, run: Mapping[str, Any]) -> dict[str, Any] | None:
    """`result.json` of the same folder, which a simulated run has; None where it is that of a run of other settings,
    or cannot be read. One that tells no settings, as processes leave it, is that of the folder's `run.mcap` alone.

    Args:
        bag: a bag folder, or one `.mcap` or `.db3` file.
        run: what the bag says of its run.
    """
    try:
        result = json.loads(result_file(bag).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(result, dict) or not _are_infractions(result.get("infractions")):
        return None
    if SETTINGS not in result:
        return result if _is_own(bag) else None
    settings = result[SETTINGS]
    same = isinstance(settings, dict) and settings == {name: run.get(name) for name in settings}
    return result if same else None


def _is_own(bag: Path) -> bool:
    """Whether it is the bag that runs leave."""
    return (bag / FILE_NAME).is_file() if bag.is_dir() else bag.name == FILE_NAME


def _are_infractions(found: object) -> bool:
    return isinstance(found, list) and all(
        isinstance(item, dict) and item.keys() >= _SAID and isinstance(item["t"], float | int) for item in found
    )
