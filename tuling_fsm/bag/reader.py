"""Reading rosbag2 bags, MCAP or sqlite3, a folder or one file; of a damaged one what is left of it."""

from __future__ import annotations

import mmap
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from itertools import chain
from pathlib import Path
from shutil import copyfile
from string import digits
from tempfile import TemporaryDirectory

from backports import zstd
from mcap import records
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.stream_reader import breakup_chunk
from mcap.writer import MCAP0_MAGIC
from rosbags.rosbag2 import Reader

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.topic_names import Message, TopicNames
from tuling_fsm.bag.writer import DESCRIPTION
from tuling_fsm.core.errors import InputError

_SQLITE = b"SQLite format 3\0"
_CANNOT_OPEN = "unable to open"
"""What SQLite says of a file that it did not even look into."""
_ZSTD, _ZSTD_SUFFIX = b"\x28\xb5\x2f\xfd", ".zstd"
_BLOCK_BYTES = 1 << 20
LARGEST_MESSAGE_BYTES = 1 << 28
"""A compressed message that is larger than this is left as it is."""
LARGEST_FILE_RATIO = 1000
"""A compressed file is read up to so many times its size; of recorded drives it is 2 to 20 times."""
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
    return chain.from_iterable(kind(file, names, str(file)) for kind, file in found)


def files_of(path: Path) -> list[Path]:
    """What makes a bag, a folder or one file; a path to nothing is itself."""
    return [*_files(path), path / DESCRIPTION] if path.is_dir() else [path]


def _files(path: Path) -> list[Path]:
    """Those of a folder in the order of their numbers, as a recorder splits a bag."""
    if path.is_file():
        return [path]
    found = (each for each in path.iterdir() if _plain_name(each).suffix in (".mcap", ".db3"))
    return sorted(found, key=_name_and_number)


def _plain_name(file: Path) -> Path:
    """What it is called without the ending of a recorder that compresses files."""
    return Path(file.name.removesuffix(_ZSTD_SUFFIX))


def _name_and_number(file: Path) -> tuple[str, int]:
    stem = _plain_name(file).stem
    name = stem.rstrip(digits)
    return name, int(stem[len(name) :] or 0)


def _kind(file: Path) -> Callable[[Path, TopicNames, str], Iterator[Message]] | None:
    """How a file is read, by how it begins."""
    with file.open("rb") as stream:
        start = stream.read(len(_SQLITE))
    readers = {MCAP0_MAGIC: _of_mcap, _SQLITE: _of_sqlite, _ZSTD: _of_zstd}
    return next((reader for magic, reader in readers.items() if start.startswith(magic)), None)


def _of_zstd(path: Path, names: TopicNames, where: str) -> Iterator[Message]:
    """What is in a file that was compressed as a whole, up to the damage."""
    with _decompressed(path) as file:
        kind = _kind(file)
        if kind is not None and kind is not _of_zstd:
            yield from kind(file, names, where)


@contextmanager
def _decompressed(path: Path) -> Iterator[Path]:
    """A file as it was before it was compressed, for as long as it is read; up to the damage or the largest size."""
    largest = LARGEST_FILE_RATIO * path.stat().st_size
    with TemporaryDirectory(prefix="tuling_fsm_") as folder:
        file = Path(folder) / _plain_name(path)
        try:
            with suppress(EOFError, zstd.ZstdError), zstd.open(path) as packed, file.open("wb") as plain:
                while block := packed.read1(min(_BLOCK_BYTES, largest - plain.tell())):
                    plain.write(block)
        except OSError as error:
            raise InputError(str(path), f"cannot be unpacked: {error.strerror}", f"room in {folder}") from None
        yield file


def _decompressed_message(data: bytes) -> bytes:
    """A message as it was before a recorder compressed it. In CDR none begins as zstd does."""
    if not data.startswith(_ZSTD):
        return data
    decompressor = zstd.ZstdDecompressor()
    with suppress(zstd.ZstdError):
        plain: bytes = decompressor.decompress(data, LARGEST_MESSAGE_BYTES)
        if decompressor.eof:
            return plain
    return data


def _of_sqlite(path: Path, names: TopicNames, where: str) -> Iterator[Message]:
    """Rows up to the first page that is not there; what a recorder that crashed has left in its journal too."""
    if not _journal(path).exists():
        yield from _rows(path, "mode=ro&immutable=1", names, where)
    elif _opens(path):
        yield from _rows(path, "mode=ro", names, where)
    else:
        with _copied(path) as file:
            yield from _rows(file, "mode=ro", names, where)


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _opens(path: Path) -> bool:
    """Whether a file with a journal is read where it is: for that a third one is made beside them. A copy of what is
    damaged is read no better.
    """
    try:
        with _opened(path, "mode=ro") as base:
            base.execute("SELECT name FROM sqlite_master")
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True
    return True


@contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """A file with its journal at a writable place, for as long as it is read."""
    with TemporaryDirectory(prefix="tuling_fsm_") as folder:
        try:
            for each in (path, _journal(path)):
                copyfile(each, Path(folder) / each.name)
        except OSError as error:
            raise InputError(str(path), f"cannot be copied: {error.strerror}", f"room in {folder}") from None
        yield Path(folder) / path.name


@contextmanager
def _opened(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)) as base:
        base.execute("PRAGMA writable_schema = ON")  # or a file shorter than it says is not read at all
        yield base


def _rows(path: Path, how: str, names: TopicNames, where: str) -> Iterator[Message]:
    """Those up to the damage.

    Raises:
        InputError: the file cannot be opened, whatever is in it.
    """
    try:
        with _opened(path, how) as base:
            topics = {number: (name, kind) for number, name, kind in base.execute("SELECT id, name, type FROM topics")}
            table = names.table([name for name, _ in topics.values()], where, complete=False)
            for number, ns, data in base.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY id"):
                name, kind = topics[number]
                if isinstance(data, bytes):  # A damaged row can have anything.
                    yield Message(ns, table[name], kind, names.in_map(kind, _decompressed_message(data)))
    except (sqlite3.Error, KeyError) as error:
        if _CANNOT_OPEN in str(error):
            raise InputError(where, f"cannot be read: {error}", "a file that can be opened") from None


def _of_mcap(path: Path, names: TopicNames, where: str) -> Iterator[Message]:
    """What is in every record up to the first one that is cut off, but for chunks that do not match their checksum."""
    scan = _Scan(names, where)
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
                data = _decompressed_message(record.data)
                yield Message(record.log_time, self._table[topic], kind, self._names.in_map(kind, data))


def read_messages(bag: BagSource) -> Iterator[Message]:
    """Every message by log time.

    Raises:
        InputError: no bag, a truncated or corrupt one, or names that do not fit it.
    """
    path, names = bag.path, bag.names
    if not path.exists():
        raise InputError(str(bag), "no such file or folder", "a rosbag2")
    if bag.salvage:
        return salvaged(path, names)
    compressed = path.is_file() and _kind(path) is _of_zstd
    return _complete_of_zstd(path, names) if compressed else _complete(path, names, str(path))


def _complete_of_zstd(path: Path, names: TopicNames) -> Iterator[Message]:
    """A file of a bag that was compressed as a whole: with its folder the reader of bags does this itself."""
    with _decompressed(path) as file:
        yield from _complete(file, names, str(path))


def _complete(path: Path, names: TopicNames, where: str) -> Iterator[Message]:
    """What an intact bag holds. Its reader can fail in many ways on damaged files; to a user all are the same."""
    if path.is_dir() and not (path / DESCRIPTION).exists():
        raise InputError(where, f"no {DESCRIPTION} in it", "a rosbag2; salvage one whose recorder has crashed")
    reader = None
    try:
        reader = Reader(path)
        reader.open()
        table = names.table(reader.topics, where)
        for connection, ns, data in reader.messages():
            kind = connection.msgtype
            yield Message(ns, table[connection.topic], kind, names.in_map(kind, _decompressed_message(bytes(data))))
    except (GeneratorExit, InputError):
        raise
    except Exception as error:
        what = f"{error}" or type(error).__name__
        raise InputError(where, f"truncated or corrupt: {what}", "a complete rosbag2") from None
    finally:
        if reader is not None and reader.is_open:
            reader.close()
