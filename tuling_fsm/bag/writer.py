"""Recording a run as a rosbag2: one `run.mcap`, and `metadata.yaml` beside it that makes the folder a bag too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from tuling_fsm.bag.mcap import McapWriter
from tuling_fsm.core.errors import InputError
from tuling_fsm.wire.cdr import STORE, nanoseconds
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.text import pack_json
from tuling_fsm.wire.topics import BY_NAME, Qos
from tuling_fsm.world.inputs import Inputs

FILE_NAME, DESCRIPTION = "run.mcap", "metadata.yaml"
_VERSION = 9
"""Of rosbag2's metadata."""


class BagWriter:
    """Records ticks. Everything that belongs to a tick carries the tick's stamp as log time, inputs before outputs.

    Args:
        folder: gets `run.mcap`, and `metadata.yaml` at the end. It is made where it is not there; a run that was
            recorded in it before is written over.
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
            self._file = McapWriter(self.path, "tuling_fsm")
            self._described.unlink(missing_ok=True)
        self._run = dict(run or {})
        self._channels: dict[str, int] = {}
        self._previous: Inputs | None = None

    def write(self, ns: int, topic: str, message: bytes) -> None:
        """Append one serialized message of a topic of `wire.topics`."""
        if self._run:
            run, self._run = self._run, {}
            self.write(ns, "run", pack_json(run))
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._channels[topic] = self._add_channel(topic)
        try:
            self._file.write(channel, ns, message)
        except OSError as error:
            raise self._refused(error) from None

    def write_tick(self, inputs: Inputs, outputs: Iterable[tuple[str, bytes]]) -> None:
        """Append what is new in a tick's inputs, and the messages that answered them."""
        ns = nanoseconds(inputs.stamp)
        for topic, message in pack_inputs(inputs, self._previous):
            self.write(ns, topic, message)
        self._previous = inputs
        for topic, message in outputs:
            self.write(ns, topic, message)

    def close(self) -> None:
        """Write the index; the file is no complete bag before."""
        metadata = self._metadata()
        text = yaml.safe_dump(metadata, sort_keys=False)
        described = yaml.safe_dump({"rosbag2_bagfile_information": metadata}, sort_keys=False)
        with self._writing():
            self._file.close({"rosbag2": {"serialized_metadata": text}})
            self._described.write_text(described, encoding="utf-8")

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
            return InputError(str(self.path), "is being written by another program", "another folder")
        return InputError(str(self.path), f"cannot be written: {error.strerror}", "a writable place")

    def _add_channel(self, topic: str) -> int:
        declared = BY_NAME[topic]
        definition, _ = STORE.generate_msgdef(declared.type, ros_version=2)
        profiles = yaml.safe_dump([_profile(declared.qos)], sort_keys=False)
        return self._file.add_channel(
            _absolute(topic),
            declared.type,
            definition,
            {"offered_qos_profiles": profiles, "topic_type_hash": STORE.hash_rihs01(declared.type)},
        )

    def _metadata(self) -> dict[str, Any]:
        counts = self._file.counts
        total = sum(counts.values())
        first, last = self._file.span() if total else (0, 0)
        topics = [
            {
                "topic_metadata": {
                    "name": _absolute(topic),
                    "type": BY_NAME[topic].type,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": [_profile(BY_NAME[topic].qos)],
                    "type_description_hash": STORE.hash_rihs01(BY_NAME[topic].type),
                },
                "message_count": counts[channel],
            }
            for topic, channel in self._channels.items()
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
    """Move what was recorded in a folder into one below it, out of the way of the next run.

    Returns:
        That folder; None where nothing was recorded.

    Raises:
        InputError: it cannot be moved.
    """
    recorded = Path(folder) / FILE_NAME
    if not recorded.is_file():
        return None
    aside = next(place for n in count(1) if not (place := Path(folder) / f"before_{n}").exists())
    try:
        aside.mkdir()
        for file in (recorded, recorded.with_name(DESCRIPTION)):
            if file.exists():
                file.rename(aside / file.name)
    except OSError as error:
        raise InputError(str(aside), f"cannot be written: {error.strerror}", "a writable place") from None
    return aside


def _free_for(file: Path) -> None:
    """Raise `InputError` where the folder of a new bag describes files of another one."""
    described = file.with_name(DESCRIPTION)
    if described.is_file() and FILE_NAME not in described.read_text(encoding="utf-8", errors="replace"):
        raise InputError(str(file.parent), "holds the bag of another recorder", "another folder")


def _absolute(topic: str) -> str:
    return topic if topic.startswith("/") else f"/{topic}"


def _span(first: int, last: int, messages: int) -> dict[str, Any]:
    return {
        "starting_time": {"nanoseconds_since_epoch": first},
        "duration": {"nanoseconds": last - first},
        "message_count": messages,
    }


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
