"""Odometry as messages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import ODOMETRY
from tuling_fsm.wire import cdr
from tuling_fsm.wire.odometry import pack_odometry, unpack_odometry
from tuling_fsm.world.inputs import Odometry

from .samples import NS

finite = st.floats(-1e6, 1e6)


angles = st.floats(-math.pi, math.pi, exclude_min=True, allow_subnormal=False)


@given(x=finite, y=finite, heading=angles, v=finite, rate=finite, std=st.just(0.0) | st.floats(1e-6, 1e3))
@settings(max_examples=300, deadline=None)
@pytest.mark.medium
def test_odometry_comes_back_bit_for_bit(x, y, heading, v, rate, std):
    sent = Odometry(cdr.seconds(NS), Pose(x, y, heading), v, rate, std, std / 3.0)
    got = unpack_odometry(pack_odometry(NS, sent))
    assert got == (NS, sent)
    assert cdr.stamp_ns(pack_odometry(NS, sent)) == NS


def test_odometry_takes_the_worst_direction_of_the_covariance():
    message = cdr.unpack(pack_odometry(NS, Odometry(0.0, Pose(0, 0, 0), 0, 0)), ODOMETRY, "test")
    angle = 0.7
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    block = turn @ np.diag([4.0, 0.01]) @ turn.T
    message.pose.covariance = np.zeros(36)
    message.pose.covariance[[0, 1, 6, 7]] = block.ravel()
    assert unpack_odometry(cdr.pack(ODOMETRY, message))[1].position_std == pytest.approx(2.0)


def spoiled(change):
    message = cdr.unpack(pack_odometry(NS, Odometry(0.0, Pose(1, 2, 0.5), 1, 0)), ODOMETRY, "test")
    message.pose.covariance = message.pose.covariance.copy()
    change(message)
    return cdr.pack(ODOMETRY, message)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: setattr(m.header.stamp, "nanosec", 1_000_000_000), "stamp of 1 s and 1000000000 ns (expected "),
        (lambda m: setattr(m.header.stamp, "sec", 2**31 - 1), "stamp of 2147483647 s and "),
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


@given(child=st.text("abc_/", max_size=20), heading=angles, v=finite, cut=st.integers(0, 800))
@settings(max_examples=200, deadline=None)
@pytest.mark.medium
def test_the_quick_way_reads_what_the_type_library_reads(child, heading, v, cut):
    """With any child frame; big-endian bytes go the long way to the same value; a message cut short is refused."""
    message = cdr.unpack(pack_odometry(NS, Odometry(0.0, Pose(3.0, 4.0, heading), v, 0.1)), ODOMETRY, "test")
    message.child_frame_id = child
    got = unpack_odometry(cdr.pack(ODOMETRY, message))
    swapped = bytes(cdr.STORE.serialize_cdr(message, ODOMETRY, little_endian=False))
    assert got == unpack_odometry(swapped)
    whole = cdr.pack(ODOMETRY, message)
    with pytest.raises(InputError):
        unpack_odometry(whole[: min(cut, len(whole) - 8)])
