"""What is left of a damaged bag."""

from __future__ import annotations

import mmap
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from string import digits

import lz4.frame
from backports import zstd

from tuling_fsm.bag.mcap import CHANNEL, CHUNK, MAGIC, MESSAGE, SCHEMA
from tuling_fsm.bag.message import Message
from tuling_fsm.bag.names import Names
from tuling_fsm.core.errors import InputError

_SQLITE = b"SQLite format 3\0"
_UNPACKED: dict[str, Callable[[bytes], bytes]] = {"": bytes, "lz4": lz4.frame.decompress, "zstd": zstd.decompress}
"""By the compression of a chunk."""
_NONSENSE = (struct.error, UnicodeDecodeError, KeyError, RuntimeError, zstd.ZstdError)
_HEAD, _MESSAGE = struct.Struct("<BQ"), struct.Struct("<HIQQ")
"""How a record begins, and how the body of a message does."""


def salvaged(path: Path, names: Names) -> Iterator[Message]:
    """Messages in the order of the file up to the damage; of a folder those of one file after the other.

    Args:
        path: a file, or a folder with some.
        names: how the bag calls its topics and frames.

    Raises:
        InputError: nothing that even begins as a bag.
    """
    found = [(kind, file) for file in _files(path) if (kind := _kind(file)) is not None]
    if not found:
        raise InputError(str(path), "begins neither as MCAP nor as sqlite3", "a rosbag2, or a file of one")
    return chain.from_iterable(kind(file, names) for kind, file in found)


def _files(path: Path) -> list[Path]:
    """Those of a folder in the order of their numbers, as a recorder splits a bag."""
    if path.is_file():
        return [path]
    return sorted((each for each in path.iterdir() if each.suffix in (".mcap", ".db3")), key=_name_and_number)


def _name_and_number(file: Path) -> tuple[str, int]:
    name = file.stem.rstrip(digits)
    return name, int(file.stem[len(name) :] or 0)


def _kind(file: Path) -> Callable[[Path, Names], Iterator[Message]] | None:
    """How a file is read, by how it begins."""
    with file.open("rb") as stream:
        start = stream.read(len(_SQLITE))
    if start.startswith(MAGIC):
        return _of_mcap
    return _of_sqlite if start == _SQLITE else None


def _of_sqlite(path: Path, names: Names) -> Iterator[Message]:
    """Rows up to the first page that is not there; what a recorder that crashed has left in its journal too."""
    journal = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if journal else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)) as base:
            base.execute("PRAGMA writable_schema = ON")  # or a file shorter than it says is not read at all
            topics = {number: (name, kind) for number, name, kind in base.execute("SELECT id, name, type FROM topics")}
            table = names.table([name for name, _ in topics.values()], str(path), complete=False)
            for number, ns, data in base.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY id"):
                name, kind = topics[number]
                yield Message(ns, table[name], kind, names.in_map(kind, data))
    except (sqlite3.Error, KeyError):
        return


def _of_mcap(path: Path, names: Names) -> Iterator[Message]:
    """What is in every record up to the first one that is cut off, but for chunks that do not match their checksum."""
    scan = _Scan(names, str(path))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for opcode, body in _records(data, len(MAGIC)):
            if opcode in (SCHEMA, CHANNEL):  # Of a whole file they stand at the end once more.
                scan.declare(opcode, body)
        for opcode, body in _records(data, len(MAGIC)):
            yield from scan.messages(opcode, body)


def _records(data: bytes | mmap.mmap, position: int) -> Iterator[tuple[int, bytes]]:
    """Opcode and body of each whole record."""
    while position + _HEAD.size <= len(data):
        opcode, size = _HEAD.unpack_from(data, position)
        position += _HEAD.size + size
        if position > len(data):
            return
        yield opcode, data[position - size : position]


class _Scan:
    """Reads record after record, as a file without its index has to be; what makes no sense is passed over."""

    def __init__(self, names: Names, where: str) -> None:
        self._names = names
        self._where = where
        self._types: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str]] = {}
        self._table: dict[str, str] = {}

    def declare(self, opcode: int, body: bytes) -> None:
        """A type, or a topic of one."""
        with suppress(*_NONSENSE):
            if opcode == SCHEMA:
                self._types[struct.unpack_from("<H", body)[0]] = _text(body, 2)
                return
            channel, schema = struct.unpack_from("<HH", body)
            self._channels[channel] = _text(body, 4), self._types[schema]
            topics = dict.fromkeys(topic for topic, _ in self._channels.values())
            self._table = self._names.table(topics, self._where, complete=False)

    def messages(self, opcode: int, body: bytes) -> Iterator[Message]:
        """Those of a record: none, one, or those of a chunk."""
        if opcode in (SCHEMA, CHANNEL):
            self.declare(opcode, body)
        elif opcode == MESSAGE and len(body) >= _MESSAGE.size:
            channel, _, ns, _ = _MESSAGE.unpack_from(body)
            if channel in self._channels:
                topic, kind = self._channels[channel]
                yield Message(ns, self._table[topic], kind, self._names.in_map(kind, body[_MESSAGE.size :]))
        elif opcode == CHUNK:
            for inner, content in _records(_inflate(body), 0):
                yield from self.messages(inner, content)


def _text(body: bytes, position: int) -> str:
    (size,) = struct.unpack_from("<I", body, position)
    return body[position + 4 : position + 4 + size].decode()


def _inflate(body: bytes) -> bytes:
    """The records of a chunk; nothing of one that does not match its checksum."""
    with suppress(*_NONSENSE):
        _, _, size, checksum = struct.unpack_from("<QQQI", body)
        compression = _text(body, 28)
        raw = _UNPACKED[compression](body[32 + len(compression) + 8 :])
        if len(raw) == size and checksum in (0, zlib.crc32(raw)):
            return raw
    return b""
