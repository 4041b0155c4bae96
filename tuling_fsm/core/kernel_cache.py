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
    for each in sorted(_sources(file)):
        digest.update(f"{each.relative_to(ROOT)} {_read(each)[0]}\n".encode())
    return digest.hexdigest()[:STAMP_LENGTH]


def _sources(file: Path) -> set[Path]:
    found, new = {file}, [file]
    while new:
        for each in _read(new.pop())[1] - found:
            found.add(each)
            new.append(each)
    return found


@cache
def _read(file: Path) -> tuple[str, frozenset[Path]]:
    """Digest of a file, and the files of the package that it imports itself."""
    text = file.read_text(encoding="utf-8")
    files = set[Path]()
    for module, names, whole in _IMPORT.findall(text):
        modules = [module or whole, *(f"{module}.{name}" for name in re.findall(r"\w+", names) if module)]
        for path in (ROOT.joinpath(*each.split(".")) for each in modules):
            files.update(each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file())
    return hashlib.sha256(text.encode()).hexdigest(), frozenset(files)


def is_current(name: str, stamps: Container[str]) -> bool:
    """Whether a file with this name holds code that was compiled from sources with one of these stamps."""
    found = _STAMPED.search(name)
    return found is not None and found[1] in stamps


class _SourceStamp:
    """What the locators share: of a file of the package the stamp of all its sources, of others what Numba takes."""

    _py_file: str

    def _stamp(self) -> str | None:
        file = Path(self._py_file).resolve()
        return source_stamp(file) if file.is_relative_to(ROOT / _PACKAGE) else None

    def get_source_stamp(self) -> object:
        """What tells whether kept code is out of date."""
        return self._stamp() or super().get_source_stamp()  # type: ignore[misc]

    def get_disambiguator(self) -> str:
        """What the names of the files end in."""
        line, stamp = super().get_disambiguator(), self._stamp()  # type: ignore[misc]
        return line if stamp is None else f"{line}-{stamp}"


class InTreeLocator(_SourceStamp, InTreeCacheLocator):  # type: ignore[misc]
    """In the folder `__pycache__` beside the file."""


class UserWideLocator(_SourceStamp, UserWideCacheLocator):  # type: ignore[misc]
    """In the user's cache folder, where the one beside the file can't be written."""


class UserProvidedLocator(_SourceStamp, UserProvidedCacheLocator):  # type: ignore[misc]
    """In the folder that `NUMBA_CACHE_DIR` names."""


_OURS = (UserProvidedLocator, InTreeLocator, UserWideLocator)
LOCATORS = ",".join(
    [*(f"{each.__module__}.{each.__name__}" for each in _OURS), "IPythonCacheLocator", "ZipCacheLocator"]
)
"""For `NUMBA_CACHE_LOCATOR_CLASSES`, in the order in which Numba tries them."""
