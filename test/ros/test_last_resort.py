"""What is sent when the planner gave nothing: a stop on the way that it still had."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.ros.last_resort import braking


@pytest.mark.clause("SAF-1")
@given(
    v=st.floats(-3.0, 15.0), final=st.floats(0.0, 1.0), bend=st.floats(-0.1, 0.1), after=st.floats(0.0, 7.0),
    decel=st.floats(0.3, 6.0),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
@pytest.mark.medium
def test_braking_always_ends_standing_on_the_old_way(v, final, bend, after, decel):
    t = np.linspace(0.0, 5.0, 51)
    speed = v * (1.0 - (1.0 - final) * t / 5.0)
    s = np.concatenate(([0.0], np.cumsum(0.05 * (speed[1:] + speed[:-1]))))
    heading = bend * s
    x = np.concatenate(([0.0], np.cumsum(np.diff(s) * np.cos(heading[:-1]))))
    y = np.concatenate(([0.0], np.cumsum(np.diff(s) * np.sin(heading[:-1]))))
    zero = np.zeros(51)
    last = Trajectory(10.0, t, x, y, heading, zero + bend, speed, np.gradient(speed, t))
    stop = braking(last, 10.0 + after, decel)
    assert stop.stamp == 10.0 + after
    assert stop.v[-1] == 0.0
    assert (np.diff(stop.t) > 0.0).all()
    assert abs(stop.v[0]) <= abs(last.sample(10.0 + after)[2]) + 1e-9
    assert (np.diff(np.abs(stop.v)) <= 1e-9).all()
    assert all(np.isfinite(getattr(stop, name)).all() for name in ("t", "x", "y", "heading", "curvature", "v", "a"))
    way = np.hypot(np.diff(stop.x), np.diff(stop.y)).sum()
    assert way <= abs(s[-1]) + 1e-6
