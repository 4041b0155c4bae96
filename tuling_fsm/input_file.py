"""Files that are looked for by a name that a user, or another file, gives."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_BYTE = re.compile(r"\\u(dc[89a-f][0-9a-f])")
"""A byte that is no UTF-8, as Python writes it (PEP 383)."""


def is_there(path: str | Path) -> bool:
    """Whether there is a file or folder of this name, no device; a name that no file can have is that of none."""
    try:
        return Path(path).is_file() or Path(path).is_dir()
    except (OSError, ValueError):  # Too long, or with a zero byte in it.
        return False


def is_file(path: str | Path) -> bool:
    """As `is_there`, for files alone."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def in_letters(path: str | Path) -> str:
    """A path as text that can be encoded: of a name that is no UTF-8 the bytes as Python writes them."""
    return str(path).encode(errors="backslashreplace").decode()


def from_letters(text: str) -> str:
    """The path that `in_letters` has made a text of."""
    return _BYTE.sub(lambda found: chr(int(found[1], 16)), text)


def content_sha256(path: str | Path, *others: str | Path) -> str:
    """Tells files apart whatever they are called: SHA-256 of what is in it, in hexadecimal digits; of several files
    that of the digits of all.
    """
    digits = [hashlib.sha256(Path(each).read_bytes()).hexdigest() for each in (path, *others)]
    return hashlib.sha256("".join(digits).encode()).hexdigest() if others else digits[0]
