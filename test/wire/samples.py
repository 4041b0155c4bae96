"""Values that are sent in the tests of this room."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire import cdr
from tuling_fsm.world.inputs import TABLES

NS = 1_234_567_890


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
    rows = np.zeros(n, TABLES[topic])
    for name in rows.dtype.names:
        rows[name] = rng.uniform(0, 6, n)
    return rows


def example_points(n: int) -> np.ndarray:
    trajectory = arc(n)
    return np.column_stack((trajectory.x, trajectory.y, trajectory.heading))
