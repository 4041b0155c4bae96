"""Trajectories and paths as messages."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import PATH, TRAJECTORY
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire import cdr
from tuling_fsm.wire.paths import pack_path, unpack_path
from tuling_fsm.wire.trajectory import pack_trajectory, unpack_trajectory

from .samples import NS, arc, example_points


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
        (lambda m: setattr(m.points[4].transforms[0].rotation, "w", 9.0), "point 4: orientation of norm 9."),
        (lambda m: setattr(m.points[4].transforms[0].rotation, "z", math.nan), "point 4: orientation of norm nan"),
        (lambda m: setattr(m.header, "frame_id", "odom"), "frame_id 'odom'"),
    ],
)
def test_bad_trajectories_are_refused(change, said):
    message = cdr.unpack(pack_trajectory(NS, arc()), TRAJECTORY, "test")
    change(message)
    with pytest.raises(InputError, match="trajectory") as error:
        unpack_trajectory(cdr.pack(TRAJECTORY, message))
    assert said in str(error.value)


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
