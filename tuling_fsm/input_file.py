"""Files that are looked for by a name that a user, or another file, gives."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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


class ReadText(NamedTuple):
    """What a file held when it was read."""

    text: str
    """Without a byte order mark; lines end in a newline."""
    sha256: str
    """Of its bytes, in hexadecimal digits."""


def read_text(path: str | Path) -> ReadText:
    """A text in UTF-8, and what tells these bytes from what the file may hold later.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is no UTF-8.
    """
    content = Path(path).read_bytes()
    return ReadText(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig").read(), hashlib.sha256(content).hexdigest())


def content_sha256(path: str | Path) -> str:
    """Tells files apart whatever they are called: SHA-256 of what is in it, in hexadecimal digits."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def joined_sha256(digits: Sequence[str]) -> str:
    """Of one file its SHA-256, of several that of the digits of all."""
    return digits[0] if len(digits) == 1 else hashlib.sha256("".join(digits).encode()).hexdigest()
