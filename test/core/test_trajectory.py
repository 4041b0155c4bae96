import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory


def accelerating() -> Trajectory:
    t = np.linspace(0.0, 4.0, 41)
    zero = np.zeros(41)
    return Trajectory(10.0, t, 0.5 * t**2, zero, zero, zero, t, zero + 1.0)


def test_sample_interpolates_and_clamps() -> None:
    plan = accelerating()
    pose, _, v, a = plan.sample(12.0)
    assert (pose.x, v, a) == pytest.approx((2.0, 2.0, 1.0))
    assert plan.sample(99.0)[0].x == pytest.approx(8.0)
    assert plan.sample(0.0)[2] == 0.0


def test_the_rest_of_a_plan_is_the_same_motion() -> None:
    plan = accelerating()
    rest = plan.after(11.23)
    assert rest.stamp == 11.23
    assert rest.t[0] == 0.0
    assert np.all(np.diff(rest.t) > 0.0)
    for stamp in (11.23, 12.0, 13.99):
        assert rest.sample(stamp)[0].x == pytest.approx(plan.sample(stamp)[0].x, abs=2e-3)
    assert rest.end_stamp == plan.end_stamp


def test_standing_stands() -> None:
    still = Trajectory.standing(3.0, Pose(1.0, 2.0, 0.5))
    assert still.stands
    assert len(still) == 1
    assert still.after(5.0).pose(0) == Pose(1.0, 2.0, 0.5)
    assert not accelerating().stands
