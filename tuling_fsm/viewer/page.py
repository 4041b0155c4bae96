"""The page of a film: one HTML file with its styles, modules, charts and data in it, so that it can be sent."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from string import Template

from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.recording import FilmRun, FilmSource, record

MOST_RUNS = 2
"""Runs that a page shows over each other or side by side."""
_NO_ICON = '<link rel="icon" href="data:,">\n'
"""A browser asks a server for one otherwise, also when it has ended."""
_FOLDER = Path(__file__).with_name("page")
_CHARTS = ("vendor/uPlot.LICENSE", "vendor/uPlot.iife.min.js")


def write_film(file: Path, sources: Sequence[FilmSource]) -> None:
    """Write the page.

    Args:
        file: where to.
        sources: one bag, or two to be compared.

    Raises:
        InputError: a bag or a map that cannot be read, or the file that cannot be written.
        ValueError: no source, or more than `MOST_RUNS`.
    """
    if not 1 <= len(sources) <= MOST_RUNS:
        raise ValueError(f"{len(sources)} runs")
    write_file(file, page([record(source) for source in sources]))


def page(recordings: Sequence[FilmRun]) -> str:
    """The page as text."""
    runs = (f'<script type="text/plain" class="run">{b64encode(each.data).decode()}</script>' for each in recordings)
    return _filled(" and ".join(each.title for each in recordings), "\n".join(runs), kind="kept")


def live_page(title: str) -> str:
    """The page of a drive that goes on: without data, which come from the server that it is read from."""
    return _filled(title, "", kind="live")


def _filled(title: str, runs: str, kind: str) -> str:
    licence, charts = (_text(name) for name in _CHARTS)
    return Template(_text("page.html")).substitute(
        title=html.escape(title),
        kind=kind,
        icon=_NO_ICON if kind == "live" else "",
        styles=_text("vendor/uPlot.min.css") + _text("film.css"),
        charts=f"/*\n{licence}\n*/\n{charts}",
        imports=json.dumps({"imports": dict(_modules())}),
        runs=runs,
    )


def _modules() -> list[tuple[str, str]]:
    """Every module by the name that others import it by, as an address that holds it."""
    return [
        (f"#film/{file.name}", "data:text/javascript;base64," + b64encode(_named(file).encode()).decode())
        for file in sorted(_FOLDER.glob("*.js"))
    ]


def _named(file: Path) -> str:
    """The text of a module; the last line is its name in the browser's tools."""
    return f"{file.read_text(encoding='utf-8')}\n//# sourceURL=film/{file.name}\n"


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
