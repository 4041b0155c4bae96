"""Where a plan starts: on the previous plan while the car is close to it, else where the car was measured."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.parameters import ContinuityParameters

_STILL = 2e-3
"""A plan slower than this (m/s) stands: halfway between two rows there would always be a little speed left."""


class StartState(NamedTuple):
    """Rear-axle pose, curvature (1/m), signed speed (m/s) and acceleration (m/s^2); `planned` where they come from
    the plan.
    """

    pose: Pose
    curvature: float
    v: float
    a: float
    planned: bool


def state_at(trajectory: Trajectory, stamp: float) -> StartState:
    """The state on a trajectory at a stamp: on the arc between two rows, not on its chord, which would creep into
    bends.
    """
    t = stamp - trajectory.stamp
    i = min(max(int(np.searchsorted(trajectory.t, t, side="right")) - 1, 0), len(trajectory) - 1)
    span = float(trajectory.t[i + 1] - trajectory.t[i]) if i + 1 < len(trajectory) else 0.0
    share = min(max((t - float(trajectory.t[i])) / span, 0.0), 1.0) if span > 0.0 else 0.0
    columns = (trajectory.x, trajectory.y, trajectory.heading, trajectory.curvature, trajectory.v, trajectory.a)
    k = min(i + 1, len(trajectory) - 1)
    (x0, x1), (y0, y1), (h0, h1), (c0, c1), (v0, v1), (a0, a1) = (
        (float(column[i]), float(column[k])) for column in columns
    )
    way = 0.5 * (v0 + v1) * span
    gone = (v0 + 0.5 * share * (v1 - v0)) * share * span
    u = gone / way if abs(way) > 1e-6 else share
    a, b = (1.0 + 2.0 * u) * (1.0 - u) ** 2, u * u * (3.0 - 2.0 * u)
    p, q = u * (1.0 - u) ** 2 * way, u * u * (u - 1.0) * way
    x = a * x0 + b * x1 + p * math.cos(h0) + q * math.cos(h1)
    y = a * y0 + b * y1 + p * math.sin(h0) + q * math.sin(h1)
    pose = Pose(x, y, h0 + u * (h1 - h0))
    v, a = v0 + share * (v1 - v0), a0 + share * (a1 - a0)
    if abs(v) < _STILL and v * a <= 0.0:
        v, a = 0.0, 0.0
    return StartState(pose, c0 + u * (c1 - c0), v, a, True)


def planned_ego(trajectory: Trajectory, stamp: float) -> Ego:
    """The car as it should be at a stamp if it has followed a plan."""
    state = state_at(trajectory, stamp)
    return Ego(state.pose, state.v, state.a, state.curvature)


def is_near(state: StartState, ego: Ego, limits: ContinuityParameters) -> bool:
    """Whether the car is close enough to a planned state to go on from it."""
    dx, dy = ego.pose.x - state.pose.x, ego.pose.y - state.pose.y
    cos, sin = math.cos(state.pose.heading), math.sin(state.pose.heading)
    return (
        abs(dx * cos + dy * sin) <= limits.longitudinal
        and abs(dy * cos - dx * sin) <= limits.lateral
        and abs(wrap_angle(ego.pose.heading - state.pose.heading)) <= limits.heading
        and abs(ego.v - state.v) <= limits.speed
    )


def start_state(scene: Scene, previous: Trajectory | None, limits: ContinuityParameters) -> StartState:
    """The state that this tick's plan starts from."""
    ego = scene.ego
    if previous is not None and 0.0 <= scene.stamp - previous.stamp <= limits.max_age:
        state = state_at(previous, scene.stamp)
        if is_near(state, ego, limits):
            return state
    return StartState(ego.pose, ego.curvature, ego.v, ego.a, False)
