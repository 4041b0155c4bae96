"""Reading rosbag2 bags, MCAP or sqlite3, a folder or one file; of a damaged MCAP file what is left of it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import lz4.frame
from rosbags.rosbag2 import Reader

from tuling_fsm.bag.mcap import CHANNEL, CHUNK, MAGIC, MESSAGE, SCHEMA
from tuling_fsm.bag.names import OURS, Names
from tuling_fsm.core.errors import InputError


class Message(NamedTuple):
    """One message: log time (ns), our name of its topic (the full one of what is not ours), type, serialized data."""

    ns: int
    topic: str
    type: str
    data: bytes


def read_messages(path: str | Path, salvage: bool = False, names: Names = OURS) -> Iterator[Message]:
    """Every message by log time.

    Args:
        path: a bag folder, or one `.mcap` or `.db3` file.
        salvage: read a damaged MCAP file up to the damage instead of refusing it.
        names: how the bag calls its topics and frames.

    Raises:
        InputError: no bag, a truncated or corrupt one, or names that do not fit it.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(str(path), "no such file or folder", "a rosbag2")
    return _salvaged(_only_file(path), names) if salvage else _complete(path, names)


def _complete(path: Path, names: Names) -> Iterator[Message]:
    """What an intact bag holds. Its reader can fail in many ways on damaged files; to a user all are the same."""
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


def _only_file(path: Path) -> Path:
    """The one MCAP file of a folder."""
    if path.is_file():
        return path
    files = sorted(path.glob("*.mcap"))
    if len(files) != 1:
        raise InputError(str(path), f"{len(files)} MCAP files", "one to salvage")
    return files[0]


def _salvaged(path: Path, names: Names) -> Iterator[Message]:
    """Messages in file order up to the first record that cannot be read."""
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        raise InputError(str(path), "does not begin as MCAP", "an MCAP file")
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
