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
from collections.abc import Callable, Container
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Protocol

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


class _NumbaLocator(Protocol):
    """What Numba asks a locator."""

    def ensure_cache_path(self) -> None: ...
    def get_cache_path(self) -> str: ...
    def get_source_stamp(self) -> object: ...
    def get_disambiguator(self) -> str: ...


class _StampedLocator:
    """A locator of Numba's with another stamp: of a file of the package that of all its sources."""

    numba_locator: ClassVar[Any]

    def __init__(self, locator: _NumbaLocator, file: Path) -> None:
        self._locator = locator
        self._py_file = str(file)  # Numba names it in its warnings.
        self._stamp = source_stamp(file) if file.is_relative_to(ROOT / _PACKAGE) else None
        self.ensure_cache_path = locator.ensure_cache_path
        self.get_cache_path = locator.get_cache_path

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> _StampedLocator | None:
        """The locator for a function in a file; `None` where Numba's has no place for it."""
        locator = cls.numba_locator.from_function(function, file)
        return None if locator is None else cls(locator, Path(file).resolve())

    def get_source_stamp(self) -> object:
        """What tells whether kept code is out of date."""
        return self._stamp or self._locator.get_source_stamp()

    def get_disambiguator(self) -> str:
        """What the names of the files end in."""
        line = self._locator.get_disambiguator()
        return line if self._stamp is None else f"{line}-{self._stamp}"


class InTreeLocator(_StampedLocator):
    """In the folder `__pycache__` beside the file."""

    numba_locator = InTreeCacheLocator


class UserWideLocator(_StampedLocator):
    """In the user's cache folder, where the one beside the file can't be written."""

    numba_locator = UserWideCacheLocator


class UserProvidedLocator(_StampedLocator):
    """In the folder that `NUMBA_CACHE_DIR` names."""

    numba_locator = UserProvidedCacheLocator


_OURS = (UserProvidedLocator, InTreeLocator, UserWideLocator)
LOCATORS = ",".join(
    [*(f"{each.__module__}.{each.__name__}" for each in _OURS), "IPythonCacheLocator", "ZipCacheLocator"]
)
"""For `NUMBA_CACHE_LOCATOR_CLASSES`, in the order in which Numba tries them."""
