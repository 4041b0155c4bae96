"""What makes a page one file: its texts, and its modules as addresses that hold them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

WEB = Path(__file__).with_name("page")
"""The folder of all that a browser reads."""


def text(name: str) -> str:
    """A file of the folder, by its path in it."""
    return (WEB / name).read_text(encoding="utf-8")


def import_map(modules: Iterable[tuple[str, Path]]) -> dict[str, dict[str, str]]:
    """The import map of some modules, each by the name that others import it by."""
    return {"imports": {name: _address(name, file) for name, file in modules}}


def _address(name: str, file: Path) -> str:
    """The module itself; its last line is its name in the browser's tools."""
    source = f"{file.read_text(encoding='utf-8')}\n//# sourceURL={name.removeprefix('#')}\n"
    return "data:text/javascript;base64," + b64encode(source.encode()).decode()
