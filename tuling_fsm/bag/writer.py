"""Recording a run as a rosbag2: one `run.mcap`, and `metadata.yaml` beside it that makes the folder a bag too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import Any, BinaryIO

import yaml
from mcap.writer import CompressionType, Writer

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BY_NAME, Qos
from tuling_fsm.output_file import lock, remove_file, write_file
from tuling_fsm.wire.cdr import STORE, nanoseconds
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.text import pack_json
from tuling_fsm.world.inputs import Inputs

FILE_NAME, DESCRIPTION = "run.mcap", "metadata.yaml"
RESULT, FILM, PICTURES = DERIVED = "result.json", "report.html", "pictures.html"
"""What is made of a run and its bag, and lies beside it."""
SETTINGS = "settings"
"""Key of a result for what the run was driven with; a bag's `run` has the same among its own."""
CHUNK_BYTES = 1 << 18
"""A chunk is closed when it has grown beyond this size: what a crash can cost."""
_OUR_FILE = re.compile(rf"""^[\s-]*(path:)?\s*["']?{re.escape(FILE_NAME)}["']?\s*$""", re.MULTILINE)
"""The line that names the file in metadata."""
_VERSION = 9
"""Of rosbag2's metadata."""
_LONGEST_STEP_NS = 1_000_000_000
"""Once log times run ahead of the stamps, they go on from tick to tick as the stamps do, but by no more than this."""


class BagWriter:
    """Records ticks. Everything that belongs to a tick carries the tick's stamp as log time, inputs before outputs.

    Readers sort by log time: where stamps are set back (DWELL-5) it goes on from that of the tick before.

    Args:
        folder: gets `run.mcap`, and `metadata.yaml` at the end. It is made where it is not there; a run that was
            recorded in it before is written over, and what was made of that one (`DERIVED`) is removed.
        run: what a replay has to know, as JSON on the topic `run`: `map` (the file), `parameters` (dotted names) ...

    Raises:
        InputError: the folder cannot be written to, or is a bag of another recorder. Writing does so too, as on a full
            disk.
    """

    def __init__(self, folder: str | Path, run: Mapping[str, Any] | None = None) -> None:
        self.path = Path(folder) / FILE_NAME
        _free_for(self.path)
        with self._writing():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _claimed(self.path)
            self._mcap = Writer(self._file, CHUNK_BYTES, CompressionType.LZ4, enable_data_crcs=True)
            self._mcap.start("ros2", "tuling_fsm")
            for name in (DESCRIPTION, *DERIVED):
                self.path.with_name(name).unlink(missing_ok=True)
        self._run = dict(run or {})
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._first, self._last = 2**63 - 1, -1
        """Log times, ns."""
        self._stamp, self._whole = -1, True
        """Of the last tick, ns, and whether all of it has been written."""
        self._previous: Inputs | None = None

    def write(self, ns: int, topic: str, message: bytes) -> None:
        """Append one serialized message of a topic of `core.topics`, which belongs to the tick of a stamp (ns)."""
        if self._run:
            run, self._run = self._run, {}
            self.write(ns, "run", pack_json(run))
        log_ns = self._log_time(ns)
        try:
            channel = self._channels.get(topic)
            if channel is None:
                channel = self._channels[topic] = self._add_channel(topic)
            self._mcap.add_message(channel, log_ns, message, log_ns, self._counts[topic])
        except OSError as error:
            raise self._refused(error) from None
        self._counts[topic] += 1
        self._first = min(self._first, log_ns)

    def write_tick(self, inputs: Inputs, outputs: Iterable[tuple[str, bytes]]) -> None:
        """Append what is new in a tick's inputs, and the messages that answered them."""
        ns = nanoseconds(inputs.stamp)
        previous, self._previous = self._previous, inputs  # What cannot be written once is not tried for ever.
        for topic, message in pack_inputs(inputs, previous):
            self.write(ns, topic, message)
        for topic, message in outputs:
            self.write(ns, topic, message)
        self._whole = True

    def close(self) -> None:
        """Write the index; the file is no complete bag before."""
        text = yaml.safe_dump(self._metadata(), sort_keys=False)
        described = "rosbag2_bagfile_information:\n" + indent(text, "  ")
        with self._writing():
            with self._file:
                self._mcap.add_metadata("rosbag2", {"serialized_metadata": text})
                self._mcap.finish()
            write_file(self._described, described)

    def _log_time(self, ns: int) -> int:
        """That of a message of the tick of a stamp: one for all messages of the tick, and later than any before."""
        if self._whole or ns != self._stamp:
            step = min(max(ns - self._stamp, 1), _LONGEST_STEP_NS)
            self._last = max(ns, self._last + step)
            self._stamp, self._whole = ns, False
        return self._last

    @property
    def _described(self) -> Path:
        return self.path.with_name(DESCRIPTION)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> InputError:
        if isinstance(error, BlockingIOError):
            return _being_written(self.path)
        return InputError(str(self.path), f"cannot be written: {error.strerror}", "a writable place")

    def _add_channel(self, topic: str) -> int:
        declared = BY_NAME[topic]
        if declared.type not in self._schemas:
            schema = self._mcap.register_schema(declared.type, "ros2msg", _definition(declared.type))
            self._schemas[declared.type] = schema
        return self._mcap.register_channel(
            _absolute(topic),
            "cdr",
            self._schemas[declared.type],
            {"offered_qos_profiles": _profiles(declared.qos), "topic_type_hash": _type_hash(declared.type)},
        )

    def _metadata(self) -> dict[str, Any]:
        total = sum(self._counts.values())
        first, last = (self._first, self._last) if total else (0, 0)
        topics = [
            {
                "topic_metadata": {
                    "name": _absolute(topic),
                    "type": BY_NAME[topic].type,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": [_profile(BY_NAME[topic].qos)],
                    "type_description_hash": _type_hash(BY_NAME[topic].type),
                },
                "message_count": self._counts[topic],
            }
            for topic in self._channels
        ]
        return {
            "version": _VERSION,
            "storage_identifier": "mcap",
            **_span(first, last, total),
            "topics_with_message_count": topics,
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [self.path.name],
            "files": [{"path": self.path.name, **_span(first, last, total)}],
            "custom_data": None,
            "ros_distro": "jazzy",
        }

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def set_aside(folder: str | Path) -> Path | None:
    """Move what was recorded in a folder, and made of it, into one below it, out of the way of the next run.

    Returns:
        That folder; None where nothing was recorded.

    Raises:
        InputError: it cannot be moved, or is still being written.
    """
    recorded = Path(folder) / FILE_NAME
    if not recorded.is_file():
        return None
    aside = next(place for n in count(1) if not (place := Path(folder) / f"before_{n}").exists())
    try:
        with recorded.open("rb") as present:
            lock(present)
            aside.mkdir()
            for name in (FILE_NAME, DESCRIPTION, *DERIVED):
                if (file := recorded.with_name(name)).exists():
                    file.rename(aside / name)
    except BlockingIOError:
        raise _being_written(recorded) from None
    except OSError as error:
        raise InputError(str(aside), f"cannot be written: {error.strerror}", "a writable place") from None
    return aside


def remove_run(folder: Path) -> None:
    """Remove what was recorded in a folder, and made of it; the bag of another recorder stays.

    Raises:
        InputError: it cannot be removed, or is still being written.
    """
    recorded = folder / FILE_NAME
    if recorded.is_file() and _is_free(recorded):
        try:
            with recorded.open("rb") as present:
                lock(present)
                remove_file(recorded)
        except BlockingIOError:
            raise _being_written(recorded) from None
        remove_file(recorded.with_name(DESCRIPTION))
    for name in DERIVED:
        remove_file(folder / name)


def _is_free(file: Path) -> bool:
    """Whether the folder of a new bag describes no files of another one."""
    described = file.with_name(DESCRIPTION)
    return not described.is_file() or bool(_OUR_FILE.search(described.read_text(encoding="utf-8", errors="replace")))


def _free_for(file: Path) -> None:
    """Raise `InputError` where the folder of a new bag describes files of another one."""
    if not _is_free(file):
        raise InputError(str(file.parent), "holds the bag of another recorder", "another folder")


def _claimed(path: Path) -> BinaryIO:
    """An empty file to write to.

    Raises:
        BlockingIOError: another program writes it, as far as the file system can tell.
    """
    file = path.open("ab", buffering=16)  # What is written is whole chunks: a crash is not to find them in a buffer.
    lock(file)
    file.seek(file.truncate(0))
    return file


def _being_written(path: Path) -> InputError:
    return InputError(str(path), "is being written by another program", "another folder")


def _absolute(topic: str) -> str:
    return topic if topic.startswith("/") else f"/{topic}"


def _span(first: int, last: int, messages: int) -> dict[str, Any]:
    return {
        "starting_time": {"nanoseconds_since_epoch": first},
        "duration": {"nanoseconds": last - first},
        "message_count": messages,
    }


@cache
def _definition(kind: str) -> bytes:
    """The text of a message type, with those of the types that it has in it."""
    text: str = STORE.generate_msgdef(kind, ros_version=2)[0]
    return text.encode()


@cache
def _type_hash(kind: str) -> str:
    """What tells types of one name from one another; 3 ms for a large one, which a bag asks for twice a topic."""
    found: str = STORE.hash_rihs01(kind)
    return found


@cache
def _profiles(qos: Qos) -> str:
    """What a channel says of its QoS."""
    text: str = yaml.safe_dump([_profile(qos)], sort_keys=False)
    return text


def _profile(qos: Qos) -> dict[str, Any]:
    """A QoS profile as rosbag2 writes it; the large times are its words for "for ever"."""
    forever = {"sec": 9223372036, "nsec": 854775807}
    return {
        "history": "keep_last",
        "depth": qos.depth,
        "reliability": "reliable" if qos.reliable else "best_effort",
        "durability": "transient_local" if qos.latched else "volatile",
        "deadline": dict(forever),
        "lifespan": dict(forever),
        "liveliness": "automatic",
        "liveliness_lease_duration": dict(forever),
        "avoid_ros_namespace_conventions": False,
    }
