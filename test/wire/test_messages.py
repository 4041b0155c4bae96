"""The other messages, and whatever arrives spoiled."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BOOL, GRID, INPUTS
from tuling_fsm.wire import cdr
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus, pack_diagnostics, unpack_diagnostics
from tuling_fsm.wire.grid import pack_occupancy, unpack_occupancy
from tuling_fsm.wire.inputs import pack_inputs, unpack_input, with_input
from tuling_fsm.wire.plan import pack_plan_request, unpack_plan_request
from tuling_fsm.wire.text import pack_bool, pack_json, pack_string, unpack_json
from tuling_fsm.world.inputs import BoolMessage, Inputs, Occupancy, Odometry, RouteAnswer, StampedRows

from .samples import NS, example_points, example_rows


def test_occupancy_comes_back():
    cells = np.random.default_rng(2).integers(-1, 101, (7, 11)).astype(np.int8)
    got = unpack_occupancy(pack_occupancy(NS, Occupancy(cdr.seconds(NS), 0.25, Pose(-3.0, 4.0, 0.5), cells)))
    assert (got.stamp, got.resolution, got.origin) == (cdr.seconds(NS), 0.25, Pose(-3.0, 4.0, 0.5))
    np.testing.assert_array_equal(got.cells, cells)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: setattr(m.info, "resolution", 0.0), "resolution 0"),
        (lambda m: setattr(m.info, "resolution", math.nan), "resolution nan"),
        (lambda m: setattr(m.info, "width", 3), "cells for 3 x 2"),
        (lambda m: m.data.__setitem__(0, 101), "cells from 0 to 101"),
    ],
)
def test_bad_occupancy_is_refused(change, said):
    raw = pack_occupancy(NS, Occupancy(0.0, 0.25, Pose(0, 0, 0), np.zeros((2, 4), np.int8)))
    message = cdr.unpack(raw, GRID, "test")
    message.data = message.data.copy()
    change(message)
    with pytest.raises(InputError) as error:
        unpack_occupancy(cdr.pack(GRID, message))
    assert said in str(error.value)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[1]", "JSON of type list"),
        ('{"a": NaN}', "NaN is no finite number"),
        ('{"a": -Infinity}', "-Infinity is no finite number"),
        ('{"a": 1e999}', "1e999 is no finite number"),
        (f'{{"a": {"1" * 400}}}', "is no finite number"),
        (f'{{"a": {"1" * 5000}}}', "is no finite number"),
        ('{"a": 1} x', "no JSON"),
        ("[" * 100_000, "no JSON"),
        (r'{"a": "\ud83d"}', r"no JSON: \ud83d is half a surrogate pair"),
        (r'{"a\udc00": 1}', r"no JSON: \udc00 is half a surrogate pair"),
        (r'{"a": ["\ud83d", "\ude00"]}', r"no JSON: \ud83d is half a surrogate pair"),
    ],
)
def test_bad_json_is_refused(text, said):
    with pytest.raises(InputError, match="mission: ") as error:
        unpack_json(pack_string(text), "mission")
    assert said in str(error.value)


@pytest.mark.clause("SAF-3")
@given(st.binary(max_size=200), st.sampled_from([topic.name for topic in INPUTS]))
@settings(max_examples=300, deadline=None)
@pytest.mark.medium
def test_random_bytes_raise_nothing_but_an_input_error(raw, topic):
    try:
        unpack_input(topic, raw, 0.0)
    except InputError as error:
        assert "\n" not in str(error)


def some_inputs() -> Inputs:
    return Inputs(
        stamp=1.0,
        odometry=Odometry(1.0, Pose(1.0, 2.0, 0.3), 4.0, 0.1, 0.05, 0.01),
        objects=StampedRows(1.0, example_rows("objects", 30)),
        occupancy=Occupancy(0.5, 0.5, Pose(0, 0, 0), np.zeros((40, 40), np.int8)),
        lane_lines=StampedRows(1.0, example_rows("lane_lines", 60)),
        traffic_lights=StampedRows(1.0, example_rows("traffic_lights", 4)),
        parking_slots=StampedRows(1.0, example_rows("parking_slots", 12)),
        **{topic.field: BoolMessage(0.2, False) for topic in INPUTS if topic.type == BOOL},
        route_answers=(
            RouteAnswer(1.0, -1, example_points(30)),
            RouteAnswer(0.95, 4, example_points(50)),
            RouteAnswer(0.95, 5, np.zeros((0, 3))),
        ),
        mission={"tasks": [1, 2], "match_time_s": 600},
    )  # fmt: skip


@pytest.mark.clause("SAF-3")
@given(st.sampled_from(sorted(dict(pack_inputs(some_inputs())))), st.data())
@settings(max_examples=300, deadline=None)
@pytest.mark.medium
def test_spoiled_messages_raise_nothing_but_an_input_error(topic, data):
    raw = bytearray(dict(pack_inputs(some_inputs()))[topic])
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, min(len(raw), 300) - 1))] = data.draw(st.integers(0, 255))
    try:
        unpack_input(topic, bytes(raw[: data.draw(st.integers(0, len(raw)))]), 0.0)
    except InputError as error:
        assert "\n" not in str(error)


def test_all_inputs_come_back_and_only_what_is_new_is_sent_again():
    inputs = some_inputs()
    sent = list(pack_inputs(inputs))
    assert {topic for topic, _ in sent} == {topic.name for topic in INPUTS} | {"route_answer"}
    assert [topic for topic, _ in sent][-1] == "odometry"
    got = {topic: unpack_input(topic, raw, 7.0) for topic, raw in sent}
    assert got["odometry"] == inputs.odometry
    assert got["rain_fog"] == BoolMessage(7.0, False)
    assert got["mission"] == inputs.mission
    assert got["route_answer"].points.shape == (0, 3)
    assert [raw for topic, raw in sent if topic == "route_answer"] == [
        raw for topic, raw in pack_inputs(Inputs(1.0, route_answers=inputs.route_answers)) if topic == "route_answer"
    ]
    later = Inputs(1.05, odometry=Odometry(1.05, Pose(0, 0, 0), 0, 0), objects=inputs.objects, rain_fog=inputs.rain_fog)
    assert [topic for topic, _ in pack_inputs(later, inputs)] == ["odometry"]


@pytest.mark.clause("EST-1", "DWELL-3")
def test_a_command_to_stop_stays_for_the_tick_that_sees_it_first():
    inputs = Inputs(0.0)
    seen = []
    for stamp, word in ((1.0, False), (1.0, True), (1.0, False), (1.05, True), (1.1, False)):
        inputs = with_input(inputs, "emergency_stop", unpack_input("emergency_stop", pack_bool(word), stamp))
        seen.append(inputs.emergency_stop)
    stop = BoolMessage(1.0, True)
    assert seen == [BoolMessage(1.0, False), stop, stop, BoolMessage(1.05, True), BoolMessage(1.1, False)]


def test_route_answers_come_back_bit_for_bit():
    answer = RouteAnswer(1.0 / 3.0, 12, example_points(40))
    ((topic, raw),) = pack_inputs(Inputs(1.0, route_answers=(answer,)))
    got = unpack_input(topic, raw, 9.0)
    assert (got.stamp, got.request) == (answer.stamp, answer.request)
    np.testing.assert_array_equal(got.points, answer.points)


def test_plan_requests_come_back():
    start, goal = Pose(1.0, -2.0, 0.3), Pose(100.0, 50.0, -3.0)
    assert unpack_plan_request(pack_plan_request(NS, start, goal)) == (start, goal)


def test_diagnostics_come_back():
    sent = (
        DiagnosticStatus(
            "limit",
            "red light, stop line in 12.3 m",
            (("code", "RED_LIGHT"), ("distance", "12.3")),
            DiagnosticLevel.WARN,
        ),
        DiagnosticStatus("b", "c"),
    )
    assert unpack_diagnostics(pack_diagnostics(NS, sent), "why") == sent


def test_json_keeps_every_letter():
    value = {"zh": "图灵", "n": 0.1 + 0.2, "face": "\U0001f600"}
    assert unpack_json(pack_json(value), "mission") == value
    assert unpack_json(pack_string(json.dumps(value)), "mission") == value
