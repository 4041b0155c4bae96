"""The page of the messages is what the code has: columns, codes, keys, and qualities of service."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from package import topic_tables
from tuling_fsm.agent import Parameters
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe
from tuling_fsm.core.topics import INPUTS, OUTPUTS
from tuling_fsm.map.lanes import MarkKind
from tuling_fsm.wire.inputs import OPERATOR
from tuling_fsm.wire.text import pack_json
from tuling_fsm.wire.transition import unpack_transition
from tuling_fsm.world.inputs import TABLES, Inputs, Kind, Light, Source
from tuling_fsm.world.mission import GoalWindow, Mission, MissionPoint, MissionSlot, Task, parse_mission

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table with this heading."""
    table = re.search(rf"^\| {re.escape(heading)} \|.*\n\|[-|]+\|\n((?:\|.*\|\n)+)", PAGE, re.MULTILINE)
    assert table is not None, heading
    return [[cell.strip(" `") for cell in line.strip("|").split(" |")] for line in table[1].splitlines()]


@pytest.mark.parametrize("page", topic_tables.TABLES)
def test_the_tables_of_the_topics_are_those_of_the_code(page: str) -> None:
    assert (topic_tables.DOCS / page).read_text(encoding="utf-8") == topic_tables.written(page), "run make messages"


def test_every_topic_is_told_with_its_quality_of_service() -> None:
    told = {name: (direction, qos, frame) for name, direction, qos, frame, _ in rows("topic")}
    assert set(told) == {topic.name for topic in (*INPUTS, *OUTPUTS)}
    assert told["rain_fog"] == ("in", "reliable, transient local", "")
    assert told["lane_lines"] == ("in", "best effort", "base_link")
    assert told["transition"] == ("out", "reliable, transient local, depth 200", "")


def test_the_columns_of_every_table_are_told_in_their_order() -> None:
    for topic, dtype in TABLES.items():
        told = [(name, kind) for name, kind, _ in rows(f"column of `{topic}`")]
        assert told == [(name, field[0].str[1:]) for name, field in (dtype.fields or {}).items()]


def test_an_input_that_grows_old_names_the_parameter_and_every_field_has_its_topic() -> None:
    known = {spec.name for spec in describe(Parameters)}
    assert {topic.max_age for topic in INPUTS if topic.max_age} <= known
    assert all(topic.max_age and topic.frame for topic in INPUTS if topic.stamped)
    fields = {field.name for field in dataclasses.fields(Inputs)}
    assert {topic.field for topic in INPUTS} == fields - {"stamp", *OPERATOR}


def test_the_codes_are_those_of_the_code() -> None:
    told = rows("`kind` of `objects`")
    for column, codes in ((0, Kind), (2, Source), (4, Light)):
        pairs = {row[column + 1]: int(row[column]) for row in told if row[column]}
        assert pairs == {code.name: int(code) for code in codes}
    line = next(words for name, _, words in rows("column of `lane_lines`") if name == "kind")
    assert [int(number) for number in re.findall(r"\d", line)] == [int(kind) for kind in MarkKind]


KINDS = (Mission, Task, MissionPoint, GoalWindow)


def test_the_mission_of_the_page_is_one_and_its_keys_are_all() -> None:
    block = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    mission = parse_mission(json.loads(block[1]), 1.0)
    assert (len(mission.tasks), mission.match_time_s) == (1, 580.0)
    assert mission.car_park is not None and len(mission.car_park.routes[0]) == 2
    fields = {
        field.name for kind in (Mission, Task, MissionPoint, GoalWindow) for field in dataclasses.fields(kind)
    } - {"stamp"}
    boxes = {field.name for field in dataclasses.fields(MissionSlot)} - {"pose"}
    assert {name for name, _ in rows("key")} == fields | boxes
    with pytest.raises(InputError, match="no such key"):
        parse_mission({"goals": []}, 1.0)


def test_the_keys_of_a_transition_are_all() -> None:
    assert [name for name, _ in rows("key of `transition`")] == list(
        unpack_transition(pack_json({"stamp": 1.0}), "test")
    )


def test_the_parameters_that_it_names_are_there() -> None:
    known = {spec.name for spec in describe(Parameters)}
    named = set(re.findall(r"`(world\.\w+)`", PAGE))
    assert len(named) > 5
    assert named <= known


def test_its_program_runs() -> None:
    block = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    exec(compile(block[1], "messages.md", "exec"), {})
