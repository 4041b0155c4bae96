"""Writing MCAP files: chunked, compressed, with checksums and the index that Foxglove and rosbag2 read.

The format is that of the MCAP specification (mcap.dev/spec), profile `ros2`.
"""

from __future__ import annotations

import fcntl
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import lz4.frame

MAGIC = b"\x89MCAP0\r\n"
CHUNK_BYTES = 1 << 18
"""A chunk is closed when it has grown to this size: what a crash can cost."""

HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = 1, 2, 3, 4, 5, 6, 7, 8
STATISTICS, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END = 0x0B, 0x0C, 0x0D, 0x0E, 0x0F

_RECORD_HEAD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<BQHIQQ")
_MESSAGE_FIXED = 22
"""Bytes of a message record before its data."""


def string(text: str) -> bytes:
    """Length and letters."""
    data = text.encode()
    return struct.pack("<I", len(data)) + data


def string_map(pairs: dict[str, str]) -> bytes:
    """Length in bytes and pairs of strings."""
    body = b"".join(string(key) + string(value) for key, value in pairs.items())
    return struct.pack("<I", len(body)) + body


def record(opcode: int, body: bytes) -> bytes:
    """One record."""
    return _RECORD_HEAD.pack(opcode, len(body)) + body


@dataclass
class _Chunk:
    """The records that are not yet in the file."""

    data: bytearray = field(default_factory=bytearray)
    first: int = 2**63 - 1
    last: int = 0
    index: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


class McapWriter:
    """Writes messages (topic channels) to one file.

    Args:
        path: the file; it is written anew.
        library: who writes it, for the header.

    Raises:
        OSError: it cannot be written; a `BlockingIOError` where somebody else is writing it.
    """

    def __init__(self, path: Path, library: str) -> None:
        self._file: BinaryIO = path.open("ab")
        _claim(self._file)
        self._file.truncate(0)
        self._position = 0
        self._chunk = _Chunk()
        self._schemas: dict[str, bytes] = {}
        self._channels: list[bytes] = []
        self._chunk_indexes: list[bytes] = []
        self.counts: dict[int, int] = {}
        self._first, self._last = 2**63 - 1, 0
        self._put(MAGIC)
        self._put(record(HEADER, string("ros2") + string(library)))

    def add_channel(self, topic: str, type_name: str, definition: str, metadata: dict[str, str]) -> int:
        """Declare a topic of CDR messages; returns its channel number."""
        if type_name not in self._schemas:
            number = len(self._schemas) + 1
            body = struct.pack("<H", number) + string(type_name) + string("ros2msg") + string(definition)
            self._schemas[type_name] = record(SCHEMA, body)
            self._chunk.data += self._schemas[type_name]
        schema = list(self._schemas).index(type_name) + 1
        channel = len(self._channels) + 1
        body = struct.pack("<HH", channel, schema) + string(topic) + string("cdr") + string_map(metadata)
        self._channels.append(record(CHANNEL, body))
        self._chunk.data += self._channels[-1]
        self.counts[channel] = 0
        return channel

    def write(self, channel: int, ns: int, data: bytes) -> None:
        """Append a message with log and publish time `ns`."""
        chunk = self._chunk
        chunk.index.setdefault(channel, []).append((ns, len(chunk.data)))
        chunk.first, chunk.last = min(chunk.first, ns), max(chunk.last, ns)
        chunk.data += _MESSAGE_HEAD.pack(MESSAGE, _MESSAGE_FIXED + len(data), channel, self.counts[channel], ns, ns)
        chunk.data += data
        self.counts[channel] += 1
        if len(chunk.data) >= CHUNK_BYTES:
            self._close_chunk()

    def span(self) -> tuple[int, int]:
        """First and last log time of all messages so far, ns."""
        return min(self._first, self._chunk.first), max(self._last, self._chunk.last)

    def close(self, metadata: dict[str, dict[str, str]] | None = None) -> None:
        """Write what is left, named metadata, and the summary."""
        if self._chunk.data:
            self._close_chunk()
        indexes = [self._write_metadata(name, pairs) for name, pairs in (metadata or {}).items()]
        self._put(record(DATA_END, struct.pack("<I", 0)))
        self._write_summary(indexes)
        self._put(MAGIC)
        self._file.close()

    def _put(self, data: bytes) -> int:
        """Append to the file; returns where it starts."""
        start = self._position
        self._file.write(data)
        self._position += len(data)
        return start

    def _close_chunk(self) -> None:
        self._first, self._last = self.span()
        chunk, self._chunk = self._chunk, _Chunk()
        first, last = (chunk.first, chunk.last) if chunk.index else (0, 0)
        raw = bytes(chunk.data)
        packed = lz4.frame.compress(raw, store_size=False)
        head = struct.pack("<QQQI", first, last, len(raw), zlib.crc32(raw)) + string("lz4")
        start = self._put(record(CHUNK, head + struct.pack("<Q", len(packed)) + packed))
        end = self._position
        offsets = {
            channel: self._put(record(MESSAGE_INDEX, _message_index(channel, entries)))
            for channel, entries in chunk.index.items()
        }
        packed_offsets = b"".join(struct.pack("<HQ", *pair) for pair in offsets.items())
        self._chunk_indexes.append(
            struct.pack("<QQQQI", first, last, start, end - start, len(packed_offsets))
            + packed_offsets
            + struct.pack("<Q", self._position - end)
            + string("lz4")
            + struct.pack("<QQ", len(packed), len(raw))
        )
        self._file.flush()

    def _write_metadata(self, name: str, pairs: dict[str, str]) -> bytes:
        data = record(METADATA, string(name) + string_map(pairs))
        return struct.pack("<QQ", self._put(data), len(data)) + string(name)

    def _write_summary(self, metadata_indexes: list[bytes]) -> None:
        groups = (
            (SCHEMA, list(self._schemas.values())),
            (CHANNEL, self._channels),
            (CHUNK_INDEX, [record(CHUNK_INDEX, body) for body in self._chunk_indexes]),
            (METADATA_INDEX, [record(METADATA_INDEX, body) for body in metadata_indexes]),
            (STATISTICS, [record(STATISTICS, self._statistics(len(metadata_indexes)))]),
        )
        summary = self._position
        offsets = []
        for opcode, records in groups:
            if records:
                data = b"".join(records)
                offsets.append(record(SUMMARY_OFFSET, struct.pack("<BQQ", opcode, self._put(data), len(data))))
        offset_start = self._put(b"".join(offsets))
        self._put(record(FOOTER, struct.pack("<QQI", summary, offset_start, 0)))

    def _statistics(self, metadata: int) -> bytes:
        counts = b"".join(struct.pack("<HQ", *pair) for pair in self.counts.items())
        total = sum(self.counts.values())
        first, last = self.span() if total else (0, 0)
        head = (total, len(self._schemas), len(self._channels), 0, metadata, len(self._chunk_indexes), first, last)
        return struct.pack("<QHIIIIQQ", *head) + struct.pack("<I", len(counts)) + counts

    def __enter__(self) -> McapWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _claim(file: BinaryIO) -> None:
    """Raise `BlockingIOError` where another program writes a file, as far as the file system can tell."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return


def _message_index(channel: int, entries: list[tuple[int, int]]) -> bytes:
    body = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    return struct.pack("<HI", channel, len(body)) + body
