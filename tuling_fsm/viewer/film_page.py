"""The page of a film: one HTML file with its styles, modules, charts and data in it, so that it can be sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.recording import FilmRun, FilmSource, record
from tuling_fsm.viewer.single_file import single_file

MOST_RUNS = 2
"""Runs that a page shows over each other or side by side."""
_NO_ICON = '<link rel="icon" href="data:,">\n'
"""A browser asks a server for one otherwise, also when it has ended."""


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
    recordings: list[FilmRun] = []
    for source in sources:
        recordings.append(record(source, recordings[0] if recordings else None))
    write_file(file, page(recordings))


def page(recordings: Sequence[FilmRun]) -> str:
    """The page as text."""
    title = " and ".join(each.title for each in recordings)
    return single_file("page", title, [each.data for each in recordings], charts=True, kind="kept", icon="")


def live_page(title: str) -> str:
    """The page of a drive that goes on: without data, which come from the server that it is read from."""
    return single_file("page", title, charts=True, kind="live", icon=_NO_ICON)
