"""Named columns of numbers as few bytes: quantised, as differences, byte plane by byte plane, deflated.

What Gorilla ([pelkonen2015][]) does for time series, with the arithmetic that a browser can undo in a few
lines: a pose that moves on evenly has second differences near zero, and zeros deflate to nothing. The format is told
by the header, which is JSON; `page/columns.js` reads it.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import FloatArray

WIDTHS = (1, 2, 4, 6)
"""Bytes of a value that there are; a browser counts in doubles, which hold no more than 53 bits exactly."""
FARTHEST = 2**44
"""Steps from 0: what is farther off in a bag, and nowhere on a screen, is told as that, so that differences fit."""
LEVEL = 9


class ColumnWriter:
    """Columns by name, to be packed with a header."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, float]] = {}
        self._planes: list[bytes] = []
        self._size = 0

    def add(self, name: str, values: npt.ArrayLike, step: float = 1.0, order: int = 1) -> None:
        """Add a column.

        Args:
            name: of the column; each can be added once.
            values: finite numbers (N,).
            step: what they are rounded to, in their own unit.
            order: how many times differences are taken: 0 for codes, 1 for what drifts, 2 for what moves evenly.

        Raises:
            ValueError: the name is taken, or a value is not finite.
        """
        numbers = np.asarray(values, dtype=np.float64).ravel()
        if name in self._entries or not np.isfinite(numbers).all():
            raise ValueError(f"{name}: there already, or not finite")
        whole = np.rint(np.clip(numbers, -FARTHEST * step, FARTHEST * step) / step).astype(np.int64)
        first = int(whole[0]) if len(whole) else 0
        differences = whole - first
        for _ in range(order):
            differences = np.diff(differences, prepend=np.int64(0))
        zigzag = np.where(differences < 0, -2 * differences - 1, 2 * differences)
        most = int(zigzag.max(initial=0))
        width = next(width for width in WIDTHS if most < 1 << (8 * width))
        planes = zigzag.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes()
        self._entries[name] = {
            "at": self._size, "n": len(whole), "width": width, "order": order, "first": first, "step": step,
        }  # fmt: skip
        self._planes.append(planes)
        self._size += len(planes)

    def packed(self, header: Mapping[str, object]) -> bytes:
        """Deflated: length of the header, the header with the `columns`, the columns."""
        text = json.dumps({**header, "columns": self._entries}, allow_nan=False, separators=(",", ":")).encode()
        return zlib.compress(struct.pack("<I", len(text)) + text + b"".join(self._planes), LEVEL)


def unpacked(data: bytes) -> tuple[dict[str, object], dict[str, FloatArray]]:
    """The inverse of `ColumnWriter.packed`: the header, and the columns by name, as the page reads them."""
    header, _, columns = _read(data)
    return header, columns


def joined(parts: Sequence[bytes]) -> bytes:
    """Several packed parts of the same columns as one: the columns one after the other, the headers as its `parts`."""
    writer, read = ColumnWriter(), [_read(part) for part in parts]
    for name, entry in read[0][1].items():
        writer.add(name, np.concatenate([columns[name] for *_, columns in read]), entry["step"], int(entry["order"]))
    return writer.packed({"parts": [header for header, *_ in read]})


_Entries = dict[str, dict[str, float]]


def _read(data: bytes) -> tuple[dict[str, object], _Entries, dict[str, FloatArray]]:
    """Header, how the columns are packed, and what is in them."""
    raw = zlib.decompress(data)
    (size,) = struct.unpack_from("<I", raw)
    header = json.loads(raw[4 : 4 + size])
    columns, entries = {}, header.pop("columns")
    for name, entry in entries.items():
        count, width = int(entry["n"]), int(entry["width"])
        planes = np.frombuffer(raw, np.uint8, count * width, 4 + size + int(entry["at"])).reshape(width, count)
        zigzag = sum((planes[k].astype(np.int64) << (8 * k) for k in range(width)), np.zeros(count, np.int64))
        values = np.where(zigzag & 1, -((zigzag + 1) >> 1), zigzag >> 1)
        for _ in range(int(entry["order"])):
            values = np.cumsum(values)
        columns[name] = (values + int(entry["first"])) * float(entry["step"])
    return header, entries, columns


class TextTable:
    """Every text once; others call it by its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.texts: list[str] = []
        """By number."""

    def number(self, text: str) -> int:
        """Of a text, which is added where it is new."""
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
        return found
