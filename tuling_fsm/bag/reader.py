"""Reading rosbag2 bags, MCAP or sqlite3, a folder or one file; of a damaged one what is left of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rosbags.rosbag2 import Reader

from tuling_fsm.bag.message import Message
from tuling_fsm.bag.names import OURS, Names
from tuling_fsm.bag.salvage import salvaged
from tuling_fsm.bag.writer import DESCRIPTION
from tuling_fsm.core.errors import InputError


def read_messages(path: str | Path, salvage: bool = False, names: Names = OURS) -> Iterator[Message]:
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


def _complete(path: Path, names: Names) -> Iterator[Message]:
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
