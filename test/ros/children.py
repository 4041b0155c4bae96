"""Processes that others have started."""

from __future__ import annotations

from pathlib import Path


def children(pid: int) -> list[int]:
    """Child processes of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in task.read_text().split()]
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended (or waits as a zombie for a parent that is not us)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
