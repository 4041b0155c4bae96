"""The page of a film: one HTML file with its styles, modules, charts and data in it, so that it can be sent."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from string import Template

from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.embedding import WEB, import_map, text
from tuling_fsm.viewer.recording import FilmRun, FilmSource, record

MOST_RUNS = 2
"""Runs that a page shows over each other or side by side."""
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
    licence, charts = (text(name) for name in _CHARTS)
    runs = (f'<script type="text/plain" class="run">{b64encode(each.data).decode()}</script>' for each in recordings)
    modules = ((f"#film/{file.name}", file) for file in sorted(WEB.glob("*.js")))
    return Template(text("page.html")).substitute(
        title=html.escape(" and ".join(each.title for each in recordings)),
        styles=text("vendor/uPlot.min.css") + text("theme.css") + text("film.css"),
        charts=f"/*\n{licence}\n*/\n{charts}",
        imports=json.dumps(import_map(modules)),
        runs="\n".join(runs),
    )
