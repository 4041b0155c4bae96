"""The tracker as a process of its own, on real Fast DDS."""

from __future__ import annotations

import numpy as np
import pytest

from ros.rig import Rig, frame, stop_process
from tuling_fsm.core.topics import BY_NAME
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.wire.cdr import nanoseconds, unpack
from tuling_fsm.wire.commands import CMD_VEL, TWIST
from tuling_fsm.wire.trajectory import pack_trajectory

pytestmark = pytest.mark.ros


def ahead(stamp: float, x: float) -> Trajectory:
    """Straight on at 3 m/s."""
    t = 0.1 * np.arange(40)
    zero = np.zeros(40)
    return Trajectory(stamp, t, x + 3.0 * t, zero, zero, zero, zero + 3.0, zero)


@pytest.mark.clause("SAF-1")
def test_it_follows_brakes_when_the_trajectory_is_stale_and_ends_standing(rig: Rig) -> None:
    told: list[float] = []
    rig.node.create_subscription(
        message_class(CMD_VEL.type), CMD_VEL.name, lambda raw: told.append(unpack(raw, TWIST, "cmd_vel").linear.x),
        profile(CMD_VEL.qos), raw=True,
    )  # fmt: skip
    topic = BY_NAME["trajectory"]
    plans = rig.node.create_publisher(message_class(topic.type), "trajectory", profile(topic.qos))
    # Longer than a slow machine takes from one odometry to the next.
    process = rig.start("-m", "tuling_fsm.ros.executable", "tracker", "--ros-args", "-p", "odometry_timeout:=2.0")
    rig.until(lambda: all(each.get_subscription_count() for each in (rig.publishers["odometry"], plans)))
    rig.until(lambda: told[-1:] == [0.0])

    stamp, x, v = 10.0, 0.0, 3.0
    plans.publish(pack_trajectory(nanoseconds(stamp), ahead(stamp, x)))
    rig.send(frame(stamp, x, v))
    rig.until(lambda: any(told))  # No more stands are on their way now.
    for k in range(130):
        stamp, x = stamp + 0.05, x + 0.05 * v
        if k < 50:
            plans.publish(pack_trajectory(nanoseconds(stamp), ahead(stamp, x)))
        told.clear()
        rig.send(frame(stamp, x, v))
        rig.until(lambda: bool(told))
        v = told[-1]
        if 20 < k < 50:
            assert v == pytest.approx(3.0, abs=0.2)
    assert v == 0.0
    said = stop_process(process)
    assert process.returncode == 0, said
    assert "ackermann_msgs is not installed" in said
