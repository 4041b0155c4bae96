"""What is left of a damaged bag."""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import lz4.frame

from tuling_fsm.bag.mcap import CHANNEL, CHUNK, MAGIC, MESSAGE, SCHEMA
from tuling_fsm.bag.message import Message
from tuling_fsm.bag.names import Names
from tuling_fsm.core.errors import InputError

_SQLITE = b"SQLite format 3\0"


def salvaged(path: Path, names: Names) -> Iterator[Message]:
    """Messages in the order of the file up to the damage.

    Args:
        path: a file, or a folder with one.
        names: how the bag calls its topics and frames.

    Raises:
        InputError: the file does not even begin as a bag.
    """
    path = _only_file(path)
    with path.open("rb") as file:
        start = file.read(len(_SQLITE))
    if start.startswith(MAGIC):
        return _of_mcap(path, names)
    if start == _SQLITE:
        return _of_sqlite(path, names)
    raise InputError(str(path), "begins neither as MCAP nor as sqlite3", "a file of a rosbag2")


def _only_file(path: Path) -> Path:
    """The one file of a folder."""
    if path.is_file():
        return path
    files = sorted(each for each in path.iterdir() if each.suffix in (".mcap", ".db3"))
    if len(files) != 1:
        raise InputError(str(path), f"{len(files)} files of MCAP or sqlite3", "one to salvage")
    return files[0]


def _of_sqlite(path: Path, names: Names) -> Iterator[Message]:
    """Rows up to the first page that is not there."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
            base.execute("PRAGMA writable_schema = ON")  # or a file shorter than it says is not read at all
            topics = {number: (name, kind) for number, name, kind in base.execute("SELECT id, name, type FROM topics")}
            table = names.table([name for name, _ in topics.values()], str(path), complete=False)
            for number, ns, data in base.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY id"):
                name, kind = topics[number]
                yield Message(ns, table[name], kind, names.in_map(kind, data))
    except (sqlite3.Error, KeyError):
        return


def _of_mcap(path: Path, names: Names) -> Iterator[Message]:
    """Records up to the first one that cannot be read."""
    data = path.read_bytes()
    scan = _Scan(names, str(path))
    try:
        yield from scan.messages(data, len(MAGIC))
    except (_DamagedError, struct.error, UnicodeDecodeError, KeyError, IndexError):
        return


class _DamagedError(Exception):
    """A record that ends beyond the data, or a chunk that does not match its checksum."""


class _Scan:
    """Reads record after record, as a file without its index has to be."""

    def __init__(self, names: Names, where: str) -> None:
        self._names = names
        self._where = where
        self._types: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str]] = {}
        self._table: dict[str, str] = {}

    def messages(self, data: bytes, position: int) -> Iterator[Message]:
        """The messages of a stretch of records."""
        while position < len(data):
            opcode, size = struct.unpack_from("<BQ", data, position)
            position += 9
            if position + size > len(data):
                raise _DamagedError
            body = data[position : position + size]
            position += size
            if opcode == MESSAGE:
                channel, _, ns, _ = struct.unpack_from("<HIQQ", body)
                topic, kind = self._channels[channel]
                yield Message(ns, self._table[topic], kind, self._names.in_map(kind, body[22:]))
            elif opcode == CHUNK:
                yield from self.messages(_inflate(body), 0)
            elif opcode == SCHEMA:
                self._types[struct.unpack_from("<H", body)[0]] = _text(body, 2)
            elif opcode == CHANNEL:
                channel, schema = struct.unpack_from("<HH", body)
                self._channels[channel] = _text(body, 4), self._types[schema]
                topics = dict.fromkeys(topic for topic, _ in self._channels.values())
                self._table = self._names.table(topics, self._where, complete=False)


def _text(body: bytes, position: int) -> str:
    (size,) = struct.unpack_from("<I", body, position)
    return body[position + 4 : position + 4 + size].decode()


def _inflate(body: bytes) -> bytes:
    _, _, size, checksum = struct.unpack_from("<QQQI", body)
    compression = _text(body, 28)
    packed = body[32 + len(compression) + 8 :]
    try:
        raw = lz4.frame.decompress(packed) if compression == "lz4" else packed
    except RuntimeError:
        raise _DamagedError from None
    if len(raw) != size or (checksum and zlib.crc32(raw) != checksum):
        raise _DamagedError
    return raw
