"""Mutants: the same from the same seed, and mostly whole enough to come as far as what reads the values."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from random import Random

import pytest
import yaml
from lxml import etree
from mcap.writer import CompressionType, Writer

from tuling_fsm.fuzz import mutation
from tuling_fsm.fuzz.bags import BagMessage, bag_file, bag_messages, mutate_bag
from tuling_fsm.fuzz.messages import message_seeds, mutate_message
from tuling_fsm.fuzz.mutation import (
    MOST_BYTES,
    Mutation,
    mutate_bytes,
    mutate_json,
    mutate_text,
    mutate_xml,
    mutate_yaml,
)
from tuling_fsm.fuzz.targets import CORPUS

XML = (CORPUS / "fork.xodr").read_bytes()
JSON = json.dumps({"goal": {"x": 1.0, "y": 2.0}, "tasks": [{"name": "a"}, {"name": "b"}]}).encode()
YAML = yaml.safe_dump(json.loads(JSON)).encode()
BAG = bag_file([BagMessage(f"/t{i % 2}", "std_msgs/msg/Bool", b"bool data", 10 * i, b"\0\1\0\0\1") for i in range(6)])
KINDS: list[tuple[Mutation, bytes]] = [
    (mutate_xml, XML),
    (mutate_json, JSON),
    (mutate_yaml, YAML),
    (mutate_text, XML),
    (mutate_bytes, XML),
    (mutate_bag, BAG),
    (mutate_message, message_seeds()[0]),
]


@pytest.mark.parametrize(("mutate", "content"), KINDS)
def test_the_same_seed_makes_the_same_mutants_and_others_make_others(mutate: Mutation, content: bytes) -> None:
    made = [mutate(content, Random(seed)) for seed in range(30)]
    assert made == [mutate(content, Random(seed)) for seed in range(30)]
    assert len(set(made)) > 15


def parses(read: Callable[[bytes], object], content: bytes) -> bool:
    try:
        read(content)
    except (ValueError, RecursionError, etree.XMLSyntaxError, yaml.YAMLError):
        return False
    return True


@pytest.mark.parametrize(
    ("mutate", "content", "read"),
    [(mutate_xml, XML, etree.fromstring), (mutate_json, JSON, json.loads), (mutate_yaml, YAML, yaml.safe_load)],
)
@pytest.mark.medium
def test_most_mutants_of_a_structure_still_have_one(
    mutate: Mutation, content: bytes, read: Callable[[bytes], object]
) -> None:
    whole = sum(parses(read, mutate(content, Random(seed))) for seed in range(100))
    assert 75 <= whole < 100


@pytest.mark.medium
def test_numbers_of_every_attribute_come_to_extremes() -> None:
    texts = [mutate_xml(XML, Random(seed)).decode("utf-8", "replace") for seed in range(600)]
    for attribute in ("s", "hdg", "length", "id"):
        said = [f'{attribute}="{value}"' for value in ("1e308", "-1e308", "inf", "nan", "1e300")]
        assert any(each in text for each in said for text in texts), attribute


def test_lines_said_again_and_again_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "_OF_TEXT", (mutation._lines_changed,))
    tracemalloc.start()
    try:
        for seed in range(60):
            mutate_text(b"word " * 30_000, Random(seed))
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("mutate", "content", "kinds", "repeat"),
    [
        (mutate_json, b"[" * 300 + b'{"x": 1},' * 3_000 + b"1" + b"]" * 300, "_OF_VALUES", "_repeated"),
        (mutate_xml, b"<a>" * 100 + b"<b><c x='value'/></b>" * 400 + b"</a>" * 100, "_OF_XML", "_element_repeated"),
    ],
)
@pytest.mark.medium
def test_a_structure_said_again_and_again_stays_short_enough_to_be_left_whole(
    mutate: Mutation, content: bytes, kinds: str, repeat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutation, kinds, (getattr(mutation, repeat),))
    assert max(len(mutate(content, Random(seed))) for seed in range(40)) < 0.25 * MOST_BYTES


def test_a_bag_that_cannot_be_unpacked_has_mutants_too() -> None:
    stream = BytesIO()
    writer = Writer(stream, compression=CompressionType.LZ4)
    writer.start("ros2")
    channel = writer.register_channel("/t", "cdr", writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data"))
    for i in range(50):
        writer.add_message(channel, i, b"\0\1\0\0\1", i)
    writer.finish()
    whole = stream.getvalue()
    for place in range(whole.index(b"lz4"), whole.index(b"lz4") + 40):
        broken = whole[:place] + b"\xff" + whole[place + 1 :]
        assert len({mutate_bag(broken, Random(seed)) for seed in range(5)}) > 1


def test_a_bag_of_the_latest_time_that_there_is_has_mutants_too() -> None:
    bag = bag_file([BagMessage("/t", "std_msgs/msg/Bool", b"bool data", 2**64 - 1, b"\0\1\0\0\1")])
    assert len({mutate_bag(bag, Random(seed)) for seed in range(60)}) > 10


def test_a_mutated_bag_is_a_whole_file_with_other_messages() -> None:
    found = [bag_messages(mutate_bag(BAG, Random(seed))) for seed in range(60)]
    assert sum(bool(messages) for messages in found) > 35
    assert len({tuple(messages) for messages in found}) > 30
