"""Mutations of bags: messages dropped, doubled, mixed up and mutated inside a file that is whole as such.

Bytes of an MCAP file that are changed are found out by its checksums; what is inside is not.
"""

from __future__ import annotations

from io import BytesIO
from random import Random
from typing import NamedTuple

from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

from tuling_fsm.fuzz.mutation import mutate_bytes, mutate_text

_AS_FILE_SHARE = 0.2
_MOST_CHANGES = 6
_LAST_NS = 2**64 - 1
"""The latest time that the format can hold."""


class BagMessage(NamedTuple):
    """A message with what its file says of its channel; `ns` is its log time."""

    topic: str
    type: str
    definition: bytes
    ns: int
    data: bytes


def mutate_bag(content: bytes, random: Random) -> bytes:
    """An MCAP file with other messages; now and then bytes of the file itself."""
    messages = bag_messages(content)
    if not messages or random.random() < _AS_FILE_SHARE:
        return mutate_bytes(content, random)
    for _ in range(random.randint(1, _MOST_CHANGES)):
        messages = random.choice(_CHANGES)(messages, random) or messages
    return bag_file(messages)


def bag_messages(content: bytes) -> list[BagMessage]:
    """Every message of an MCAP file; none of one that cannot be read."""
    try:
        return [
            BagMessage(
                channel.topic,
                "" if schema is None else schema.name,
                b"" if schema is None else schema.data,
                message.log_time,
                message.data,
            )
            for schema, channel, message in make_reader(BytesIO(content)).iter_messages()
        ]
    except Exception:  # What the library and those that unpack for it raise of broken files has no common type.
        return []


def bag_file(messages: list[BagMessage]) -> bytes:
    """An MCAP file of these messages."""
    stream = BytesIO()
    writer = Writer(stream, compression=CompressionType.NONE)
    writer.start("ros2")
    channels: dict[tuple[str, str], int] = {}
    for i, message in enumerate(messages):
        key = message.topic, message.type
        if key not in channels:
            schema = writer.register_schema(message.type, "ros2msg", message.definition)
            channels[key] = writer.register_channel(message.topic, "cdr", schema)
        writer.add_message(channels[key], message.ns, message.data, message.ns, i)
    writer.finish()
    return stream.getvalue()


def _data_changed(messages: list[BagMessage], random: Random) -> list[BagMessage]:
    i = random.randrange(len(messages))
    mutate = mutate_text if b"{" in messages[i].data else mutate_bytes
    return [*messages[:i], messages[i]._replace(data=_resized(mutate(messages[i].data, random))), *messages[i + 1 :]]


def _resized(data: bytes) -> bytes:
    """A String that says its own length again, so that what is in it is looked at."""
    body = data[8:].rstrip(b"\0")
    return data[:4] + (len(body) + 1).to_bytes(4, "little") + body + b"\0" if b"{" in data else data


def _dropped(messages: list[BagMessage], random: Random) -> list[BagMessage]:
    i = random.randrange(len(messages))
    return messages[:i] + messages[i + random.choice((1, 1, 5, 50)) :]


def _repeated(messages: list[BagMessage], random: Random) -> list[BagMessage]:
    i = random.randrange(len(messages))
    return messages[:i] + [messages[i]] * random.choice((2, 5, 50)) + messages[i:]


def _stamp_changed(messages: list[BagMessage], random: Random) -> list[BagMessage]:
    i = random.randrange(len(messages))
    before = messages[i].ns
    ns = random.choice((0, 1, before + 10**9, before + 10**12, before - 10**9, 2**63 - 1, _LAST_NS))
    return [*messages[:i], messages[i]._replace(ns=min(max(ns, 0), _LAST_NS)), *messages[i + 1 :]]


def _topic_changed(messages: list[BagMessage], random: Random) -> list[BagMessage]:
    """All of a topic under another name, or in the type of another one."""
    one, other = random.choice(messages), random.choice(messages)
    if random.random() < 0.5:
        return [m._replace(topic=other.topic) if m.topic == one.topic else m for m in messages]
    same = [m._replace(type=other.type, definition=other.definition) if m.topic == one.topic else m for m in messages]
    return [m for m in same if m.topic in (one.topic, other.topic)] if random.random() < 0.2 else same


def _topic_dropped(messages: list[BagMessage], random: Random) -> list[BagMessage]:
    gone = random.choice(messages).topic
    return [m for m in messages if m.topic != gone]


_CHANGES = (
    _data_changed,
    _data_changed,
    _data_changed,
    _dropped,
    _repeated,
    _stamp_changed,
    _topic_changed,
    _topic_dropped,
)
