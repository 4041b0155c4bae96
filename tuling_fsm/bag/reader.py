"""Reading rosbag2 bags, MCAP or sqlite3, a folder or one file; of a damaged one what is left of it."""

from __future__ import annotations

import mmap
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from io import BytesIO
from itertools import chain
from pathlib import Path
from string import digits

from mcap import records
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.stream_reader import breakup_chunk
from mcap.writer import MCAP0_MAGIC
from rosbags.rosbag2 import Reader

from tuling_fsm.bag.topic_names import OURS, Message, TopicNames
from tuling_fsm.bag.writer import DESCRIPTION
from tuling_fsm.core.errors import InputError

_SQLITE = b"SQLite format 3\0"
_HEAD = struct.Struct("<BQ")
"""How a record of MCAP begins."""


def salvaged(path: Path, names: TopicNames) -> Iterator[Message]:
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


def _kind(file: Path) -> Callable[[Path, TopicNames], Iterator[Message]] | None:
    """How a file is read, by how it begins."""
    with file.open("rb") as stream:
        start = stream.read(len(_SQLITE))
    if start.startswith(MCAP0_MAGIC):
        return _of_mcap
    return _of_sqlite if start == _SQLITE else None


def _of_sqlite(path: Path, names: TopicNames) -> Iterator[Message]:
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


def _of_mcap(path: Path, names: TopicNames) -> Iterator[Message]:
    """What is in every record up to the first one that is cut off, but for chunks that do not match their checksum."""
    scan = _Scan(names, str(path))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for opcode, body in _bodies(data):
            if opcode in (Opcode.SCHEMA, Opcode.CHANNEL):  # Of a whole file they stand at the end once more.
                scan.declare(_parsed(opcode, body))
        for opcode, body in _bodies(data):
            yield from scan.messages(_parsed(opcode, body))


def _bodies(data: mmap.mmap) -> Iterator[tuple[int, bytes]]:
    """Opcode and body of each whole record. The package's own reader ends at the first one that makes no sense."""
    position = len(MCAP0_MAGIC)
    while position + _HEAD.size <= len(data):
        opcode, size = _HEAD.unpack_from(data, position)
        position += _HEAD.size + size
        if position > len(data):
            return
        yield opcode, data[position - size : position]


def _parsed(opcode: int, body: bytes) -> list[records.McapRecord]:
    """A record that declares or is a message, or those in a chunk; none of what makes no sense."""
    stream = ReadDataStream(BytesIO(body))
    with suppress(Exception):  # Parsing and unpacking can fail in many ways on damaged records.
        if opcode == Opcode.CHUNK:
            return breakup_chunk(records.Chunk.read(stream), validate_crc=True)
        if opcode == Opcode.MESSAGE:
            return [records.Message.read(stream, len(body))]
        if opcode == Opcode.SCHEMA:
            return [records.Schema.read(stream)]
        if opcode == Opcode.CHANNEL:
            return [records.Channel.read(stream)]
    return []


class _Scan:
    """Reads record after record, as a file without its index has to be."""

    def __init__(self, names: TopicNames, where: str) -> None:
        self._names = names
        self._where = where
        self._types: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str]] = {}
        self._table: dict[str, str] = {}

    def declare(self, found: Iterable[records.McapRecord]) -> None:
        """Types, and topics of them."""
        for record in found:
            if isinstance(record, records.Schema):
                self._types[record.id] = record.name
            elif isinstance(record, records.Channel) and record.schema_id in self._types:
                self._channels[record.id] = record.topic, self._types[record.schema_id]
                topics = dict.fromkeys(topic for topic, _ in self._channels.values())
                self._table = self._names.table(topics, self._where, complete=False)

    def messages(self, found: Iterable[records.McapRecord]) -> Iterator[Message]:
        """The messages among some records."""
        for record in found:
            if not isinstance(record, records.Message):
                self.declare((record,))
            elif record.channel_id in self._channels:
                topic, kind = self._channels[record.channel_id]
                yield Message(record.log_time, self._table[topic], kind, self._names.in_map(kind, record.data))


def read_messages(path: str | Path, salvage: bool = False, names: TopicNames = OURS) -> Iterator[Message]:
    """Every message by log time.

    Args:
        path: a bag folder, or one `.mcap` or `.db3` file.
        salvage: read a damaged file up to the damage instead of refusing it.
        names: how the bag calls its topics and frames.

    Raises:
        InputError: no bag, a truncated or corrupt one, or names that do not fit it.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(str(path), "no such file or folder", "a rosbag2")
    return salvaged(path, names) if salvage else _complete(path, names)


def _complete(path: Path, names: TopicNames) -> Iterator[Message]:
    """What an intact bag holds. Its reader can fail in many ways on damaged files; to a user all are the same."""
    if path.is_dir() and not (path / DESCRIPTION).exists():
        raise InputError(str(path), f"no {DESCRIPTION} in it", "a rosbag2; salvage one whose recorder has crashed")
    reader = None
    try:
        reader = Reader(path)
        reader.open()
        table = names.table(reader.topics, str(path))
        for connection, ns, data in reader.messages():
            kind = connection.msgtype
            yield Message(ns, table[connection.topic], kind, names.in_map(kind, bytes(data)))
    except (GeneratorExit, InputError):
        raise
    except Exception as error:
        what = f"{error}" or type(error).__name__
        raise InputError(str(path), f"truncated or corrupt: {what}", "a complete rosbag2") from None
    finally:
        if reader is not None and reader.is_open:
            reader.close()
