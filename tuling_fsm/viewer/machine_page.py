"""The page of the state machine: one HTML file to play with it, and to step through a run."""

from __future__ import annotations

import html
import json
import zlib
from base64 import b64encode
from pathlib import Path
from string import Template

from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.machine_run import RunDocument
from tuling_fsm.viewer.machine_tables import tables_data

_FILM = Path(__file__).with_name("page")
_OWN = _FILM / "machine"
_SHARED = ("clock.js", "columns.js", "dom.js", "keys.js", "palette.js")
"""Modules of the film that this page uses too."""


def write_machine(file: Path, run: RunDocument | None = None) -> None:
    """Write the page.

    Args:
        file: where to.
        run: transitions of a run, to be stepped through.

    Raises:
        InputError: the file cannot be written.
    """
    write_file(file, machine_page(run))


def machine_page(run: RunDocument | None = None) -> str:
    """The page as text."""
    modules = [
        *((f"#film/{name}", _FILM / name) for name in _SHARED),
        *((f"#machine/{file.name}", file) for file in sorted(_OWN.glob("*.js"))),
    ]
    return Template(_text(_OWN / "page.html")).substitute(
        title=html.escape("State machine" if run is None else f"State machine: {run['title']}"),
        styles=_text(_FILM / "film.css") + _text(_OWN / "machine.css"),
        tables=_embedded(tables_data()),
        run="" if run is None else f'<script type="text/plain" id="run">{_packed(run)}</script>',
        imports=json.dumps({"imports": {name: _address(name, file) for name, file in modules}}),
    )


def _address(name: str, file: Path) -> str:
    """A module as an address that holds it; its last line is its name in the browser's tools."""
    source = f"{_text(file)}\n//# sourceURL={name.removeprefix('#')}\n"
    return "data:text/javascript;base64," + b64encode(source.encode()).decode()


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _embedded(data: object) -> str:
    """JSON that ends no script of the page."""
    return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")


def _packed(data: object) -> str:
    return b64encode(zlib.compress(json.dumps(data).encode(), 9)).decode()
