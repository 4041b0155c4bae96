"""Runs the benchmarks of the source tree and keeps their results."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import write_file
from tuling_fsm.progress import Report, TimeLeft

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmark"
RESULTS = "RESULTS.md"


def names() -> list[str]:
    """The benchmarks: modules that lie in `benchmark/` itself.

    Raises:
        InputError: this is an installation without the source tree.
    """
    found = sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_"))
    if not found:
        raise InputError("benchmark", "not in this installation", "the source tree")
    return found


def bench(name: str | None, say: Callable[[str], None], progress: Report | None = None) -> None:
    """Run one benchmark, or all, say each table, and put it into `benchmark/RESULTS.md`.

    Args:
        name: of the only one; all if None.
        say: takes each table.
        progress: told of each before it begins.

    Raises:
        InputError: no benchmark of that name, or its peers or data are missing.
    """
    known = names()
    if name is not None and name not in known:
        raise InputError(name, "no benchmark", " or ".join(known))
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    wanted, left = known if name is None else [name], TimeLeft()
    for count, each in enumerate(wanted):
        if progress is not None:
            share = count / len(wanted)
            progress(left.line(f"{each}, {count + 1} of {len(wanted)} benchmarks  {100 * share:3.0f} %", share))
        table = importlib.import_module(f"benchmark.{each}").run()
        say(table.text())
        keep(FOLDER / RESULTS, each, table.markdown())


def keep(file: Path, name: str, result: str) -> None:
    """Put a result (Markdown) into a file of sections, in the place of the last one of that name."""
    sections = {}
    if file.exists():
        for section in file.read_text(encoding="utf-8").split("\n## ")[1:]:
            title, _, body = section.partition("\n")
            sections[title.strip()] = body.strip()
    sections[name] = result.strip()
    text = "# Results of the last runs\n\nWritten by `tuling-fsm bench`.\n"
    text += "".join(f"\n## {title}\n\n{body}\n" for title, body in sorted(sections.items()))
    write_file(file, text)
