"""Values survive the way over the wire, whoever laid the message out."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire import cdr
from tuling_fsm.wire.diagnostics import Level, Status, pack_diagnostics, unpack_diagnostics
from tuling_fsm.wire.grid import pack_occupancy, unpack_occupancy
from tuling_fsm.wire.inputs import pack_inputs, unpack_input
from tuling_fsm.wire.odometry import pack_odometry, unpack_odometry
from tuling_fsm.wire.paths import pack_path, unpack_path
from tuling_fsm.wire.plan import pack_plan_request, unpack_plan_request
from tuling_fsm.wire.tables import COLUMNS, pack_table, unpack_table
from tuling_fsm.wire.text import pack_json, pack_string, unpack_json
from tuling_fsm.wire.topics import CLOUD, GRID, ODOMETRY, PATH, TRAJECTORY
from tuling_fsm.wire.trajectory import pack_trajectory, unpack_trajectory
from tuling_fsm.world.inputs import Flag, Inputs, Occupancy, Odometry, RouteAnswer, Table

NS = 1_234_567_890
finite = st.floats(-1e6, 1e6)
angles = st.floats(-math.pi, math.pi, exclude_min=True, allow_subnormal=False)


def arc(n: int = 60, reverse: bool = False) -> Trajectory:
    """From standing up to a cruise along a bend of radius 20 m."""
    t = 0.1 * np.arange(n)
    v = np.minimum(1.2 * t, 5.0) * (-1.0 if reverse else 1.0)
    s = np.concatenate(([0.0], np.cumsum(0.05 * (v[1:] + v[:-1]))))
    heading = 3.0 + s / 20.0
    x = 10.0 + 20.0 * (np.sin(heading) - math.sin(3.0))
    y = -4.0 - 20.0 * (np.cos(heading) - math.cos(3.0))
    return Trajectory(cdr.seconds(NS), t, x, y, heading, np.full(n, 0.05), v, np.where(v < 5.0, 1.2, 0.0))


def example_rows(topic: str, n: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = np.zeros(n, COLUMNS[topic])
    for name in rows.dtype.names:
        rows[name] = rng.uniform(0, 6, n)
    return rows


@given(x=finite, y=finite, heading=angles, v=finite, rate=finite, std=st.just(0.0) | st.floats(1e-6, 1e3))
@settings(max_examples=300, deadline=None)
def test_odometry_comes_back_bit_for_bit(x, y, heading, v, rate, std):
    sent = Odometry(cdr.seconds(NS), Pose(x, y, heading), v, rate, std, std / 3.0)
    got = unpack_odometry(pack_odometry(NS, sent))
    assert got == sent
    assert cdr.stamp_ns(pack_odometry(NS, sent)) == NS


def test_odometry_takes_the_worst_direction_of_the_covariance():
    message = cdr.unpack(pack_odometry(NS, Odometry(0.0, Pose(0, 0, 0), 0, 0)), ODOMETRY, "test")
    angle = 0.7
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    block = turn @ np.diag([4.0, 0.01]) @ turn.T
    message.pose.covariance = np.zeros(36)
    message.pose.covariance[[0, 1, 6, 7]] = block.ravel()
    assert unpack_odometry(cdr.pack(ODOMETRY, message)).position_std == pytest.approx(2.0)


def spoiled(change):
    message = cdr.unpack(pack_odometry(NS, Odometry(0.0, Pose(1, 2, 0.5), 1, 0)), ODOMETRY, "test")
    message.pose.covariance = message.pose.covariance.copy()
    change(message)
    return cdr.pack(ODOMETRY, message)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: setattr(m.header, "frame_id", "odom"), "frame_id 'odom' (expected 'map')"),
        (lambda m: setattr(m.pose.pose.position, "x", math.nan), "x is nan"),
        (lambda m: setattr(m.twist.twist.linear, "x", math.inf), "v is inf"),
        (lambda m: setattr(m.pose.pose.orientation, "w", 0.0), "orientation of norm"),
        (lambda m: setattr(m.pose.pose.orientation, "w", math.nan), "orientation of norm nan"),
        (lambda m: m.pose.covariance.__setitem__(7, -1.0), "variance -1"),
        (lambda m: m.pose.covariance.__setitem__(35, math.nan), "variance_yaw is nan"),
    ],
)
def test_bad_odometry_is_refused_with_one_line(change, said):
    with pytest.raises(InputError) as error:
        unpack_odometry(spoiled(change))
    assert said in str(error.value)
    assert str(error.value).startswith("odometry: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("topic", list(COLUMNS))
@pytest.mark.parametrize("n", [0, 1, 100])
def test_tables_come_back_bit_for_bit(topic, n):
    rows = example_rows(topic, n)
    got = unpack_table(topic, pack_table(topic, NS, rows))
    assert got.stamp == cdr.seconds(NS)
    assert got.rows.dtype == COLUMNS[topic]
    assert got.rows.tobytes() == rows.tobytes()


@pytest.mark.parametrize("topic", list(COLUMNS))
def test_the_packed_table_is_what_the_type_store_writes(topic):
    raw = pack_table(topic, NS, example_rows(topic, 7))
    message = cdr.unpack(raw, CLOUD, "test")
    assert (message.height, message.width, message.is_dense) == (1, 7, True)
    assert cdr.pack(CLOUD, message) == raw


def padded_objects():
    """As a C++ struct would be: other order, padding, one more column."""
    rows = example_rows("objects", 5)
    names = [*rows.dtype.names]
    order = np.random.default_rng(3).permutation(len(names))
    wide = np.zeros(5, np.dtype({
        "names": [names[i] for i in order] + ["class_score"],
        "formats": [rows.dtype[names[i]] for i in order] + ["<f8"],
        "offsets": [8 * k for k in range(len(names) + 1)],
        "itemsize": 8 * len(names) + 16,
    }))  # fmt: skip
    for name in names:
        wide[name] = rows[name]
    message = cdr.unpack(pack_table("objects", NS, rows), CLOUD, "test")
    field = cdr.TYPES["sensor_msgs/msg/PointField"]
    codes = {"u1": 2, "u4": 6, "f4": 7, "f8": 8}
    message.fields = [field(n, wide.dtype.fields[n][1], codes[wide.dtype[n].str[1:]], 1) for n in wide.dtype.names]
    message.point_step = wide.dtype.itemsize
    message.row_step = wide.nbytes
    message.data = np.frombuffer(wide.tobytes(), np.uint8)
    return rows, message


def test_columns_are_found_by_name_wherever_they_lie():
    rows, message = padded_objects()
    got = unpack_table("objects", cdr.pack(CLOUD, message))
    assert got.rows.tobytes() == rows.tobytes()


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: setattr(m.header, "frame_id", "base_link"), "frame_id 'base_link' (expected 'map')"),
        (lambda m: setattr(m.fields[0], "name", "identity"), "no column"),
        (lambda m: setattr(m.fields[0], "datatype", 1), "column"),
        (lambda m: setattr(m.fields[0], "datatype", 99), "column"),
        (lambda m: setattr(m.fields[0], "count", 3), "column"),
        (lambda m: setattr(m.fields[0], "offset", 10_000), "beyond the row"),
        (lambda m: setattr(m, "width", 6), "bytes for 6 rows"),
        (lambda m: setattr(m, "width", 2**32 - 1), "bytes for 4294967295 rows"),
        (lambda m: setattr(m, "is_bigendian", True), "big-endian"),
    ],
)
def test_bad_tables_are_refused_with_one_line(change, said):
    _, message = padded_objects()
    change(message)
    with pytest.raises(InputError) as error:
        unpack_table("objects", cdr.pack(CLOUD, message))
    assert said in str(error.value)


@pytest.mark.clause("SAF-3")
def test_a_nan_in_a_table_is_named_with_its_row_and_column():
    rows = example_rows("objects", 4)
    rows["vx"][2] = np.nan
    with pytest.raises(InputError, match="objects: vx of row 2 is nan"):
        unpack_table("objects", pack_table("objects", NS, rows))


def test_trajectory_comes_back():
    for sent in (arc(), arc(reverse=True), arc(1), Trajectory.standing(cdr.seconds(NS), Pose(1.0, 2.0, 3.0))):
        got = unpack_trajectory(pack_trajectory(NS, sent))
        assert got.stamp == sent.stamp
        for field in fields(Trajectory):
            if field.name not in ("stamp", "heading", "curvature"):
                np.testing.assert_allclose(getattr(got, field.name), getattr(sent, field.name), atol=1e-12)
        turn = (got.heading - sent.heading) / math.tau
        np.testing.assert_allclose(turn, np.round(turn), atol=1e-12)
        np.testing.assert_allclose(np.diff(got.heading), np.diff(sent.heading), atol=1e-12)
        moving = np.abs(sent.v) > 1e-3
        np.testing.assert_allclose(got.curvature[moving], sent.curvature[moving], atol=1e-12)
    assert unpack_trajectory(pack_trajectory(NS, arc())).curvature[0] == pytest.approx(0.05)


@pytest.mark.parametrize("n", [1, 2, 200])
def test_the_packed_trajectory_is_what_the_type_store_writes(n):
    raw = pack_trajectory(NS, arc(n))
    message = cdr.unpack(raw, TRAJECTORY, "test")
    assert message.joint_names == ["base_link"]
    assert len(message.points) == n
    assert cdr.pack(TRAJECTORY, message) == raw
    assert message.points[-1].velocities[0].angular.z == pytest.approx(arc(n).v[-1] * 0.05)


def test_a_trajectory_laid_out_otherwise_is_read_all_the_same():
    sent = arc()
    message = cdr.unpack(pack_trajectory(NS, sent), TRAJECTORY, "test")
    message.joint_names = ["rear_axle_of_the_car"]
    got = unpack_trajectory(cdr.pack(TRAJECTORY, message))
    straight = unpack_trajectory(pack_trajectory(NS, sent))
    for field in fields(Trajectory):
        np.testing.assert_array_equal(getattr(got, field.name), getattr(straight, field.name))


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: setattr(m, "points", []), "no points"),
        (lambda m: m.points.reverse(), "do not increase"),
        (lambda m: m.points[3].velocities.clear(), "point 3"),
        (lambda m: setattr(m.points[5].transforms[0].translation, "x", math.nan), "x of point 5 is not finite"),
        (lambda m: setattr(m.header, "frame_id", "odom"), "frame_id 'odom'"),
    ],
)
def test_bad_trajectories_are_refused(change, said):
    message = cdr.unpack(pack_trajectory(NS, arc()), TRAJECTORY, "test")
    change(message)
    with pytest.raises(InputError, match="trajectory") as error:
        unpack_trajectory(cdr.pack(TRAJECTORY, message))
    assert said in str(error.value)


def example_points(n: int) -> np.ndarray:
    trajectory = arc(n)
    return np.column_stack((trajectory.x, trajectory.y, trajectory.heading))


@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_paths_come_back(n):
    raw = pack_path(NS, example_points(n) if n else np.zeros((0, 3)))
    message = cdr.unpack(raw, PATH, "test")
    assert cdr.pack(PATH, message) == raw
    stamp, points = unpack_path(raw, "route")
    assert (stamp, points.shape) == (cdr.seconds(NS), (n, 3))
    if n:
        sent = example_points(n)
        np.testing.assert_array_equal(points[:, :2], sent[:, :2])
        np.testing.assert_allclose(np.cos(points[:, 2] - sent[:, 2]), 1.0)


@pytest.mark.parametrize("frame", ["", "map", "a_rather_long_name_of_a_frame"])
def test_paths_whose_poses_have_other_headers_are_read_all_the_same(frame):
    message = cdr.unpack(pack_path(NS, example_points(20)), PATH, "test")
    for item in message.poses:
        item.header.frame_id = frame
    _, points = unpack_path(cdr.pack(PATH, message), "route")
    np.testing.assert_allclose(points, unpack_path(pack_path(NS, example_points(20)), "route")[1], atol=1e-12)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("frame", ["map", "a_rather_long_name"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_bad_pose_of_a_path_is_named(frame, value):
    message = cdr.unpack(pack_path(NS, example_points(20)), PATH, "test")
    message.poses[7].pose.position.y = value
    for item in message.poses:
        item.header.frame_id = frame
    with pytest.raises(InputError, match="route: pose 7: "):
        unpack_path(cdr.pack(PATH, message), "route")


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
        ('{"a": NaN}', "NaN in JSON"),
        ('{"a": 1} x', "no JSON"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_bad_json_is_refused(text, said):
    with pytest.raises(InputError, match="mission: ") as error:
        unpack_json(pack_string(text), "mission")
    assert said in str(error.value)


@pytest.mark.clause("SAF-3")
@given(st.binary(max_size=200), st.sampled_from(["odometry", "objects", "occupancy", "mission", "route", "rain_fog"]))
@settings(max_examples=300, deadline=None)
def test_random_bytes_raise_nothing_but_an_input_error(raw, topic):
    try:
        unpack_input(topic, raw, 0.0)
    except InputError as error:
        assert "\n" not in str(error)


def some_inputs() -> Inputs:
    return Inputs(
        stamp=1.0,
        odometry=Odometry(1.0, Pose(1.0, 2.0, 0.3), 4.0, 0.1, 0.05, 0.01),
        objects=Table(1.0, example_rows("objects", 30)),
        occupancy=Occupancy(0.5, 0.5, Pose(0, 0, 0), np.zeros((40, 40), np.int8)),
        lane_lines=Table(1.0, example_rows("lane_lines", 60)),
        traffic_lights=Table(1.0, example_rows("traffic_lights", 4)),
        parking_slots=Table(1.0, example_rows("parking_slots", 12)),
        rain_fog=Flag(0.2, False),
        emergency_stop=Flag(0.9, False),
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
    assert [topic for topic, _ in sent][-1] == "odometry"
    got = {topic: unpack_input(topic, raw, 7.0) for topic, raw in sent}
    assert got["odometry"] == inputs.odometry
    assert got["rain_fog"] == Flag(7.0, False)
    assert got["mission"] == inputs.mission
    assert got["route_answer"].points.shape == (0, 3)
    assert [raw for topic, raw in sent if topic == "route_answer"] == [
        raw for topic, raw in pack_inputs(Inputs(1.0, route_answers=inputs.route_answers)) if topic == "route_answer"
    ]
    later = Inputs(1.05, odometry=Odometry(1.05, Pose(0, 0, 0), 0, 0), objects=inputs.objects, rain_fog=inputs.rain_fog)
    assert [topic for topic, _ in pack_inputs(later, inputs)] == ["odometry"]


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
        Status("limit", "red light, stop line in 12.3 m", (("code", "RED_LIGHT"), ("distance", "12.3")), Level.WARN),
        Status("b", "c"),
    )
    assert unpack_diagnostics(pack_diagnostics(NS, sent), "why") == sent


def test_json_keeps_every_letter():
    value = {"zh": "图灵", "n": 0.1 + 0.2}
    assert unpack_json(pack_json(value), "mission") == value
