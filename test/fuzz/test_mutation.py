"""Mutants: the same from the same seed, and mostly whole enough to come as far as what reads the values."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
import yaml
from lxml import etree

from tuling_fsm.fuzz.bags import BagMessage, bag_file, bag_messages, mutate_bag
from tuling_fsm.fuzz.messages import message_seeds, mutate_message
from tuling_fsm.fuzz.mutation import Mutation, mutate_bytes, mutate_json, mutate_text, mutate_xml, mutate_yaml
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


def test_a_mutated_bag_is_a_whole_file_with_other_messages() -> None:
    found = [bag_messages(mutate_bag(BAG, Random(seed))) for seed in range(60)]
    assert sum(bool(messages) for messages in found) > 35
    assert len({tuple(messages) for messages in found}) > 30
