"""A message of a bag, and which of its topics and frames is which of ours: other recorders have names of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BY_NAME, CLOUD, GRID, MAP_FRAME, ODOMETRY, PATH
from tuling_fsm.wire.cdr import pack, unpack


class Message(NamedTuple):
    """One message: log time (ns), our name of its topic (the full one of what is not ours), type, serialized data."""

    ns: int
    topic: str
    type: str
    data: bytes


_FRAMED = (ODOMETRY, CLOUD, GRID, PATH)
_SIGN = ":="


@dataclass(frozen=True)
class TopicNames:
    """How a bag calls things.

    Args:
        remaps: our name of a topic, by the full name that the bag has for it.
        frame: what is taken for `map`.
        optional: whether a remapped topic may be absent, and its remap is passed over then.
    """

    remaps: Mapping[str, str] = field(default_factory=dict)
    frame: str = MAP_FRAME
    optional: bool = False

    @property
    def of_second(self) -> TopicNames:
        """For the bag that another one is compared with: it may be of the same recorder, or have our names."""
        return replace(self, optional=True)

    def table(self, topics: Iterable[str], where: str, complete: bool = True) -> dict[str, str]:
        """Our name of each topic of a bag; a topic that is none of ours keeps its full name.

        Without a remap it is the last part of the name that counts, so that any namespace will do; where two topics
        have the same one, that without a namespace counts.

        Args:
            topics: full names.
            where: the bag, for errors.
            complete: whether there are no more topics than these.

        Raises:
            InputError: a remapped topic is not there, or two topics could be one of ours.
        """
        topics = list(topics)
        named = {topic: self.remaps[topic] for topic in topics if topic in self.remaps}
        absent = {} if self.optional else {topic: ours for topic, ours in self.remaps.items() if topic not in named}
        if complete and absent:
            raise InputError(where, f"no topic {next(iter(absent))} in it", "one of " + ", ".join(topics))
        taken = {*named.values(), *absent.values()}
        meant: dict[str, list[str]] = {}
        for topic in topics:
            short = topic.rsplit("/", 1)[-1]
            if topic not in named and short in BY_NAME and short not in taken:
                meant.setdefault(short, []).append(topic)
        for short, candidates in meant.items():
            exact = [topic for topic in candidates if topic == f"/{short}"] or candidates
            if len(exact) > 1:
                said = f"{' and '.join(exact)} could both be {short}"
                raise InputError(where, said, f"--remap {exact[0]}{_SIGN}{short}, or another one")
            named[exact[0]] = short
        return {topic: named.get(topic, topic) for topic in topics}

    def in_map(self, type_name: str, raw: bytes) -> bytes:
        """A message of the frame that is taken for `map`, as one in `map`; any other as it is."""
        if self.frame == MAP_FRAME or type_name not in _FRAMED:
            return raw
        try:
            message = unpack(raw, type_name, "frame")
        except InputError:
            return raw
        if message.header.frame_id != self.frame:
            return raw
        message.header.frame_id = MAP_FRAME
        return pack(type_name, message)


OURS = TopicNames()


def parse_remaps(words: Iterable[str]) -> dict[str, str]:
    """Remaps in the notation of ROS 2, `/name/in/the/bag:=ours`.

    Raises:
        InputError: another notation, no topic of ours, or a name for the second time.
    """
    remaps: dict[str, str] = {}
    for word in words:
        topic, sign, ours = word.partition(_SIGN)
        ours = ours.removeprefix("/")
        if not sign or not topic or ours not in BY_NAME:
            known = ", ".join(sorted(BY_NAME))
            raise InputError(f"--remap {word}", "cannot be used", f"/name/in/the/bag{_SIGN}NAME, with NAME of {known}")
        topic = topic if topic.startswith("/") else f"/{topic}"
        if topic in remaps or ours in remaps.values():
            raise InputError(f"--remap {word}", "says twice what is what", "each name once")
        remaps[topic] = ours
    return remaps
