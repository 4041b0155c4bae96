"""When a compiled kernel is out of date: as soon as any source changes that it may have taken in.

Numba keeps compiled code beside a stamp of the kernel's own file. But a kernel takes in constants of other files and
other files' kernels, and goes on with what they were. Here the stamp is of the file and of all files of this package
that it imports, and that those import; and it is part of the name under which the code is kept, as what another version
of the package has left there may hold classes that are no more. The locators are named to Numba by its
`NUMBA_CACHE_LOCATOR_CLASSES`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container
from functools import cache
from pathlib import Path

from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator

ROOT = Path(__file__).parents[2]
"""The folder that the package lies in."""
_PACKAGE = Path(__file__).parents[1].name
STAMP_LENGTH = 16
_STAMPED = re.compile(rf"-([0-9a-f]{{{STAMP_LENGTH}}})\.py\d")
_IMPORT = re.compile(
    rf"^\s*(?:from ({_PACKAGE}[\w.]*) import (\([^)]*\)|[^\n]*)|import ({_PACKAGE}[\w.]*))", re.MULTILINE
)


@cache
def source_stamp(file: Path) -> str:
    """A digest of a file of the package and of all files of the package that it takes anything from."""
    digest = hashlib.sha256()
    for each in sorted(_sources(file.relative_to(ROOT).as_posix())):
        digest.update(f"{each} {_read(each)[0]}\n".encode())
    return digest.hexdigest()[:STAMP_LENGTH]


def _sources(file: str) -> set[str]:
    found, new = {file}, [file]
    while new:
        for each in _read(new.pop())[1] - found:
            found.add(each)
            new.append(each)
    return found


@cache
def _read(file: str) -> tuple[str, frozenset[str]]:
    """Digest of a file, and the files of the package that it imports itself, both below the root."""
    text = (ROOT / file).read_text(encoding="utf-8")
    files = set[str]()
    for module, names, whole in _IMPORT.findall(text):
        modules = [module or whole, *(f"{module}.{name}" for name in re.findall(r"\w+", names) if module)]
        for path in (each.replace(".", "/") for each in modules):
            files.update(each for each in (f"{path}.py", f"{path}/__init__.py") if _is_file(each))
    return hashlib.sha256(text.encode()).hexdigest(), frozenset(files)


@cache
def _is_file(file: str) -> bool:
    return (ROOT / file).is_file()


def is_current(name: str, stamps: Container[str]) -> bool:
    """Whether a file with this name holds code that was compiled from sources with one of these stamps."""
    found = _STAMPED.search(name)
    return found is not None and found[1] in stamps


@cache
def _stamp_of(file: str) -> str | None:
    """The stamp of a file of the package; None of any other file."""
    path = Path(file).resolve()
    return source_stamp(path) if path.is_relative_to(ROOT / _PACKAGE) else None


_USABLE = set[str]()
"""Folders into which a file could be written: Numba would try it again for each of some 500 kernels."""


class _Stamped:
    """What makes a locator of Numba's one with another stamp: of a file of the package that of all its sources."""

    _py_file: str

    def ensure_cache_path(self) -> None:
        """See that there is a folder that can be written to.

        Raises:
            OSError: there is none.
        """
        folder = self.get_cache_path()  # type: ignore[attr-defined]
        if folder not in _USABLE or not Path(folder).is_dir():
            super().ensure_cache_path()  # type: ignore[misc]
            _USABLE.add(folder)

    def get_source_stamp(self) -> object:
        """What tells whether kept code is out of date."""
        return _stamp_of(self._py_file) or super().get_source_stamp()  # type: ignore[misc]

    def get_disambiguator(self) -> str:
        """What the names of the files end in."""
        line, stamp = str(super().get_disambiguator()), _stamp_of(self._py_file)  # type: ignore[misc]
        return line if stamp is None else f"{line}-{stamp}"


class InTreeLocator(_Stamped, InTreeCacheLocator):  # type: ignore[misc]
    """In the folder `__pycache__` beside the file."""


class UserWideLocator(_Stamped, UserWideCacheLocator):  # type: ignore[misc]
    """In the user's cache folder, where the one beside the file can't be written."""


class UserProvidedLocator(_Stamped, UserProvidedCacheLocator):  # type: ignore[misc]
    """In the folder that `NUMBA_CACHE_DIR` names."""


_OURS = (UserProvidedLocator, InTreeLocator, UserWideLocator)
LOCATORS = ",".join(
    [*(f"{each.__module__}.{each.__name__}" for each in _OURS), "IPythonCacheLocator", "ZipCacheLocator"]
)
"""For `NUMBA_CACHE_LOCATOR_CLASSES`, in the order in which Numba tries them."""
