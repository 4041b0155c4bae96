"""What a benchmark returns, and how it is written."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, rows of as many cells, how often each was run, and what a reader should know.

    Numbers are written with three digits; `None` is a dash.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    runs: str
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """The table as Markdown, with its machine and number of runs."""
        lines = [f"Machine: {machine()}. Runs: {self.runs}.", ""]
        lines += [_line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line([written(cell) for cell in row]) for row in self.rows]
        if self.notes:
            lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def text(self) -> str:
        """The table for a terminal."""
        cells = [self.columns, *([written(cell) for cell in row] for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [self.title, f"{machine()}; {self.runs}"]
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
        return "\n".join([*lines, *(f"* {note}" for note in self.notes)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def written(cell: Cell) -> str:
    """A cell as text."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.3g}" if abs(cell) < 1000.0 else f"{cell:.0f}"
    return str(cell)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies (the next one that was measured); NaN of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def machine() -> str:
    """Processor, cores that this process may use, how many wanted them in the last minute, Python."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        name = models[0] if models else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{name}, {cores} cores{load}, Python {platform.python_version()}"
