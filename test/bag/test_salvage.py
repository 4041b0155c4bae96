"""What is left of a damaged bag: chunks that are whole, whatever their compression, of every file of a split bag."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

import pytest
from backports import zstd
from mcap.opcode import Opcode
from mcap.reader import make_reader
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer
from rosbags.rosbag2 import CompressionMode, StoragePlugin

from bag.test_bag import drive, foreign, outputs
from tuling_fsm.bag import reader, writer
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.errors import InputError


@pytest.fixture
def chunked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bag of many chunks."""
    monkeypatch.setattr(writer, "CHUNK_BYTES", 1 << 14)
    with BagWriter(tmp_path / "whole") as bag:
        for inputs in drive():
            bag.write_tick(inputs, outputs(inputs))
    return tmp_path / "whole" / "run.mcap"


def chunks(data: bytes) -> list[tuple[int, int]]:
    """Where the body of each chunk begins and ends."""
    found, position = [], len(MCAP0_MAGIC)
    while position < len(data) - len(MCAP0_MAGIC):
        opcode, size = struct.unpack_from("<BQ", data, position)
        if opcode == Opcode.CHUNK:
            found.append((position + 9, position + 9 + size))
        position += 9 + size
    return found


@pytest.mark.parametrize("number", [0, 3, -1])
def test_a_spoiled_chunk_costs_no_other(chunked: Path, tmp_path: Path, number: int) -> None:
    data = bytearray(chunked.read_bytes())
    stretches = chunks(data)
    assert len(stretches) > 5
    begin, end = stretches[number]
    data[(begin + end) // 2] ^= 0xFF
    spoiled = tmp_path / "spoiled.mcap"
    spoiled.write_bytes(data)
    whole, left = (list(read_messages(BagSource(file, salvage=True))) for file in (chunked, spoiled))
    assert set(left) < set(whole)
    assert 0 < len(whole) - len(left) < 2 * len(whole) / len(stretches)
    assert len(list(read_inputs(BagSource(spoiled, salvage=True)))) > 40


@pytest.mark.parametrize("compression", list(CompressionType))
def test_chunks_of_other_recorders_are_read_too(chunked: Path, tmp_path: Path, compression: CompressionType) -> None:
    """Those of zstd are written by `ros2 bag record` with its presets."""
    with chunked.open("rb") as whole, (tmp_path / "other.mcap").open("wb") as other:
        copy = Writer(other, 1 << 14, compression)
        copy.start("ros2")
        channels: dict[int, int] = {}
        for schema, channel, message in make_reader(whole).iter_messages(log_time_order=False):
            if channel.id not in channels:
                number = copy.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.id] = copy.register_channel(channel.topic, "cdr", number)
            copy.add_message(channels[channel.id], message.log_time, message.data, message.publish_time)
        copy.flush()
    assert list(read_messages(BagSource(tmp_path / "other.mcap", salvage=True))) == list(
        read_messages(BagSource(chunked, salvage=True))
    )


def test_a_recorder_that_is_killed_loses_no_more_than_the_chunk_that_it_fills(tmp_path: Path) -> None:
    with BagWriter(tmp_path) as bag:
        data = bytes(1000)
        for ns in range(1000):
            bag.write(ns, "state", data)
        left = list(read_messages(BagSource(tmp_path / "run.mcap", salvage=True)))
    assert 0 < 1000 - len(left) <= writer.CHUNK_BYTES // len(data)


def test_a_split_bag_is_read_file_after_file_and_an_empty_one_is_passed_over(tmp_path: Path) -> None:
    for number in (0, 9, 10):
        with (tmp_path / f"run_{number}.mcap").open("wb") as file:
            part = Writer(file)
            part.start("ros2")
            schema = part.register_schema("std_msgs/msg/String", "ros2msg", b"string data\n")
            channel = part.register_channel("/state", "cdr", schema)
            part.add_message(channel, number, b"\0\1\0\0\2\0\0\0a\0", number)
            part.finish()
    (tmp_path / "run_11.mcap").write_bytes(b"")
    assert [message.ns for message in read_messages(BagSource(tmp_path, salvage=True))] == [0, 9, 10]


def test_what_a_crashed_recorder_has_left_in_its_journal_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database in the mode of a journal, copied while its writer has it open."""
    base = sqlite3.connect(tmp_path / "live.db3")
    base.execute("PRAGMA journal_mode = WAL")
    base.execute("CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT, type TEXT)")
    base.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)")
    base.execute("INSERT INTO topics VALUES (1, '/state', 'std_msgs/msg/String')")
    base.executemany("INSERT INTO messages VALUES (?, 1, ?, ?)", [(n, n, b"\0\1\0\0\2\0\0\0a\0") for n in range(50)])
    base.commit()
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for suffix in ("", "-wal"):
        (crashed / f"run.db3{suffix}").write_bytes((tmp_path / f"live.db3{suffix}").read_bytes())
    base.close()
    assert len(list(read_messages(BagSource(crashed, salvage=True)))) == 50
    connect = sqlite3.connect

    def read_only(address: str, **how: bool) -> sqlite3.Connection:
        """As on a stick that is mounted read-only, where the third file that a journal needs cannot be made."""
        if crashed.as_uri() in address:
            raise sqlite3.OperationalError("unable to open database file")
        return connect(address, **how)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    assert len(list(read_messages(BagSource(crashed, salvage=True)))) == 50
    monkeypatch.setattr(reader, "copyfile", lambda source, _: Path(source).rename(tmp_path / "gone" / "x"))
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "run.db3").write_bytes(b"SQLite format 3\0" + bytes(4000))
    (damaged / "run.db3-wal").write_bytes(b"")
    assert list(read_messages(BagSource(damaged, salvage=True))) == []
    with pytest.raises(InputError, match=r"run\.db3: cannot be copied: No such file"):
        list(read_messages(BagSource(crashed, salvage=True)))
    monkeypatch.setattr(reader, "_opens", lambda _: True)
    with pytest.raises(InputError, match=r"run\.db3: cannot be read: unable to open"):
        list(read_messages(BagSource(crashed, salvage=True)))


@pytest.mark.parametrize("plugin", list(StoragePlugin))
@pytest.mark.parametrize("mode", [CompressionMode.MESSAGE, CompressionMode.FILE])
def test_what_other_recorders_have_compressed_is_read_with_its_folder_and_alone(
    tmp_path: Path, plugin: StoragePlugin, mode: CompressionMode
) -> None:
    foreign(tmp_path / "plain", plugin)
    foreign(tmp_path / "bag", plugin, mode)
    (file,) = (each for each in (tmp_path / "bag").iterdir() if each.name != "metadata.yaml")
    wanted = list(read_messages(BagSource(tmp_path / "plain")))
    assert len(wanted) > 100
    for bag in (tmp_path / "bag", file):
        for salvage in (True, False):
            assert list(read_messages(BagSource(bag, salvage=salvage))) == wanted


def test_of_a_damaged_compressed_file_the_beginning_is_read(tmp_path: Path) -> None:
    foreign(tmp_path / "bag", StoragePlugin.MCAP, CompressionMode.FILE)
    whole = len(list(read_messages(BagSource(tmp_path / "bag"))))
    file = tmp_path / "bag" / "bag.mcap.zstd"
    data = bytes(10_000_000)
    file.write_bytes(zstd.compress(zstd.decompress(file.read_bytes())[:-100] + data)[:-20])
    assert 0 < len(list(read_messages(BagSource(tmp_path / "bag", salvage=True)))) <= whole
    with pytest.raises(InputError, match=rf"{file}: truncated or corrupt"):
        list(read_messages(BagSource(file)))


def test_what_is_compressed_is_unpacked_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for mode in (CompressionMode.FILE, CompressionMode.MESSAGE):
        foreign(tmp_path / mode.name, StoragePlugin.MCAP, mode)
    whole = list(read_messages(BagSource(tmp_path / "FILE", salvage=True)))
    monkeypatch.setattr(reader, "LARGEST_FILE_RATIO", 1)
    assert len(list(read_messages(BagSource(tmp_path / "FILE", salvage=True)))) < len(whole)
    monkeypatch.setattr(reader, "LARGEST_MESSAGE_BYTES", 100)
    found = list(read_messages(BagSource(tmp_path / "MESSAGE", salvage=True)))
    assert {len(there.data) <= 100 for there, here in zip(whole, found, strict=True) if there == here} == {True}
    assert {len(there.data) <= 100 for there, here in zip(whole, found, strict=True) if there != here} == {False}
