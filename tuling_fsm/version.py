"""The version of this package (semver.org). `package.xml` alone says it; `setup.py` reads it there too."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from tuling_fsm.share import PACKAGE


def _version() -> str:
    """That of the source tree around this package, else that of the installation."""
    source = Path(__file__).resolve().parents[1] / "package.xml"
    if source.is_file():
        return ElementTree.parse(source).findtext("version", "")
    return metadata.version(PACKAGE)


__version__ = _version()
