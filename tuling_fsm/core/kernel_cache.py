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


class _NumbaLocator(Protocol):
    """What Numba asks a locator."""

    def ensure_cache_path(self) -> None: ...
    def get_cache_path(self) -> str: ...
    def get_source_stamp(self) -> object: ...
    def get_disambiguator(self) -> str: ...


class _StampedLocator:
    """A locator of Numba's with another stamp: of a file of the package that of all its sources."""

    numba_locator: ClassVar[Any]
    _has_place: ClassVar[set[tuple[str, str]]] = set()
    """Locators and files whose folder Numba has written to: it would try each folder for each of some 500 kernels."""

    def __init__(self, locator: _NumbaLocator, file: str) -> None:
        self._locator = locator
        self._py_file = file  # Numba names it in its warnings.
        self._stamp = _stamp_of(file)
        self.ensure_cache_path = locator.ensure_cache_path
        self.get_cache_path = locator.get_cache_path

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> _StampedLocator | None:
        """The locator for a function in a file; `None` where Numba's has no place for it."""
        place = (cls.__name__, file)
        if place in cls._has_place:
            return cls(cls.numba_locator(function, file), file)
        locator = cls.numba_locator.from_function(function, file)
        if locator is None:
            return None
        cls._has_place.add(place)
        return cls(locator, file)

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
