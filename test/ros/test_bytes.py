"""What rclpy makes of our bytes, and we of its own: the same message, for every type that goes over the wire."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BOOL, BY_NAME, DIAGNOSTICS, GRID, INPUTS, MARKERS, ODOMETRY, PATH, STRING, TRAJECTORY
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire import cdr
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.grid import pack_occupancy
from tuling_fsm.wire.inputs import unpack_input
from tuling_fsm.wire.markers import MarkerDrawing, MarkerShape, pack_markers
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.paths import pack_path, unpack_path
from tuling_fsm.wire.plan import pack_plan_request, unpack_plan_request
from tuling_fsm.wire.tables import pack_table
from tuling_fsm.wire.text import pack_bool, pack_string
from tuling_fsm.wire.trajectory import pack_trajectory, unpack_trajectory
from tuling_fsm.world.inputs import TABLES, Occupancy, Odometry

NS = 1_234_567_890


def message_class(type_name: str) -> Any:
    package, kind, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


def trajectory() -> Trajectory:
    t = 0.1 * np.arange(30)
    return Trajectory(cdr.seconds(NS), t, 2.0 * t, t, 0.1 * t, 0.05 + 0 * t, 2.0 + t, 1.0 + 0 * t)


def rows(topic: str) -> np.ndarray:
    table = np.zeros(5, TABLES[topic])
    for k, name in enumerate(table.dtype.names):
        table[name] = np.arange(5) + k
    return table


GRID_VALUE = Occupancy(0.0, 0.5, Pose(1.0, 2.0, 0.0), np.arange(12, dtype=np.int8).reshape(3, 4))
POINTS = np.column_stack((np.arange(9.0), np.ones(9), np.linspace(0.0, 6.0, 9)))
STATUSES = (
    DiagnosticStatus("limit", "red light", (("code", "RED_LIGHT"),), DiagnosticLevel.WARN),
    DiagnosticStatus("state", "ok"),
)
SENT = {
    "odometry": pack_odometry(NS, Odometry(0.0, Pose(1.0, 2.0, 0.7), 3.0, 0.1, 0.2, 0.03)),
    "occupancy": pack_occupancy(NS, GRID_VALUE),
    **{topic.name: pack_bool(True) for topic in INPUTS if topic.type == BOOL},
    "mission": pack_string('{"name": "图灵"}'),
    "state": pack_string("on_road/normal"),
    "route": pack_path(NS, POINTS),
    "path": pack_path(NS, POINTS[:1]),
    "route_blocked": pack_path(NS, POINTS[:0]),
    "trajectory": pack_trajectory(NS, trajectory()),
    "why": pack_diagnostics(NS, STATUSES),
    "markers": pack_markers(
        NS,
        (
            MarkerDrawing("path", MarkerShape.LINE_STRIP, (0.0, 1.0, 0.5), 0.2, POINTS[:, :2]),
            MarkerDrawing("wall", MarkerShape.TEXT, (1.0, 0.0, 0.0), 0.5, pose=Pose(1.0, 2.0, 0.3), text="red light"),
        ),
    ),
    **{topic: pack_table(topic, NS, rows(topic)) for topic in TABLES},
}  # fmt: skip


@pytest.mark.parametrize("topic", sorted(SENT))
def test_rclpy_reads_our_bytes_as_the_same_message_and_back(topic):
    type_name = BY_NAME[topic].type
    message = deserialize_message(SENT[topic], message_class(type_name))
    assert fields_of(message) == fields_of(cdr.unpack(SENT[topic], type_name, "test"))
    again = serialize_message(message)
    assert fields_of(cdr.unpack(again, type_name, "test")) == fields_of(cdr.unpack(SENT[topic], type_name, "test"))


@pytest.mark.parametrize("topic", ["trajectory", "path", "route", "route_blocked"])
@pytest.mark.medium
def test_rclpy_writes_these_very_bytes_but_for_what_fills_gaps_between_fields(topic):
    """It leaves there whatever was in memory: a byte that differs, put into ours, changes nothing that is read."""
    kind = message_class(BY_NAME[topic].type)
    ours = SENT[topic]
    message = deserialize_message(ours, kind)
    theirs = bytes(serialize_message(message))
    assert len(theirs) == len(ours)
    for i in [i for i, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]]:
        assert ours[i] == 0
        assert deserialize_message(ours[:i] + theirs[i : i + 1] + ours[i + 1 :], kind) == message


def fields_of(message: Any) -> Any:
    """A message of either library as nested plain values."""
    if hasattr(message, "get_fields_and_field_types"):
        return {name: fields_of(getattr(message, name)) for name in message.get_fields_and_field_types()}
    if dataclasses.is_dataclass(message):
        names = (field.name for field in dataclasses.fields(message))
        return {name: fields_of(getattr(message, name)) for name in names if name[0].islower()}
    if isinstance(message, bytes):
        return int.from_bytes(message, "little")
    if isinstance(message, str | bool | int | float):
        return message
    return [fields_of(item) for item in (message.tolist() if hasattr(message, "tolist") else message)]


@pytest.mark.parametrize("topic", sorted(SENT))
def test_the_header_names_the_frame_of_the_topic(topic):
    message = cdr.unpack(SENT[topic], BY_NAME[topic].type, "test")
    if topic != "markers":  # Every marker has a header of its own.
        assert getattr(getattr(message, "header", None), "frame_id", "") == BY_NAME[topic].frame
    else:
        assert {marker.header.frame_id for marker in message.markers} == {BY_NAME[topic].frame}


def test_every_type_of_the_topics_is_covered():
    covered = {BY_NAME[topic].type for topic in SENT}
    assert covered == {topic.type for topic in BY_NAME.values()} | {
        DIAGNOSTICS,
        GRID,
        MARKERS,
        ODOMETRY,
        PATH,
        STRING,
        TRAJECTORY,
    }


@pytest.mark.parametrize("topic", [topic.name for topic in INPUTS])
def test_inputs_are_read_alike_from_messages_that_rclpy_wrote(topic):
    theirs = serialize_message(deserialize_message(SENT[topic], message_class(BY_NAME[topic].type)))
    ours, got = unpack_input(topic, SENT[topic], 1.0), unpack_input(topic, theirs, 1.0)
    assert type(ours) is type(got)
    for name in getattr(ours, "__dataclass_fields__", {}):
        np.testing.assert_array_equal(getattr(got, name), getattr(ours, name))


def test_trajectory_and_path_are_read_alike_from_messages_that_rclpy_wrote():
    theirs = serialize_message(deserialize_message(SENT["trajectory"], message_class(TRAJECTORY)))
    for name in Trajectory.__dataclass_fields__:
        np.testing.assert_array_equal(
            getattr(unpack_trajectory(theirs), name), getattr(unpack_trajectory(SENT["trajectory"]), name)
        )
    theirs = serialize_message(deserialize_message(SENT["route"], message_class(PATH)))
    np.testing.assert_array_equal(unpack_path(theirs, "route")[1], unpack_path(SENT["route"], "route")[1])


def test_a_plan_request_is_that_of_the_service():
    from nav_msgs.srv import GetPlan

    start, goal = Pose(1.0, -2.0, 0.3), Pose(100.0, 50.0, -3.0)
    request = deserialize_message(pack_plan_request(NS, start, goal), GetPlan.Request)
    assert (request.start.header.frame_id, request.goal.pose.position.y) == ("map", 50.0)
    assert unpack_plan_request(serialize_message(request)) == (start, goal)
    response = deserialize_message(SENT["route"], GetPlan.Response)
    assert len(response.plan.poses) == len(POINTS)
    np.testing.assert_array_equal(
        unpack_path(serialize_message(response), "route")[1], unpack_path(SENT["route"], "route")[1]
    )
