"""What a process of fuzzing is told to do."""

from __future__ import annotations

from typing import NamedTuple


class FuzzWork(NamedTuple):
    """What a process is to do.

    Args:
        target: a name of `targets.TARGETS`.
        folder: of its own.
        findings: folder for what is found.
        corpus: files to begin with; empty for the target's own.
        seed: of the mutants.
        first: number of the first run.
        runs: how many at the most.
        seconds: after so many no run is begun.
        memory_mb: that a run may take besides what the process has.
        again: files that are read instead of mutants, each with the folder that it is read as if it lay in.
    """

    target: str
    folder: str
    findings: str
    corpus: str
    seed: int
    first: int
    runs: int
    seconds: float
    memory_mb: int
    again: tuple[tuple[str, str], ...] = ()
