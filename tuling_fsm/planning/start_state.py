"""Where a plan starts: on the previous plan while the car is close to it, else where the car was measured."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.kernels import kernel
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


@kernel
def _on_arc(
    at: float,
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    heading: FloatArray,
    curvature: FloatArray,
    v: FloatArray,
    a: FloatArray,
) -> tuple[float, float, float, float, float, float]:
    """x, y, heading, curvature, speed and acceleration of a trajectory `at` seconds after its stamp."""
    i, last = 0, len(t) - 1
    while i < last and t[i + 1] <= at:
        i += 1
    k = min(i + 1, last)
    span = t[k] - t[i]
    share = min(max((at - t[i]) / span, 0.0), 1.0) if span > 0.0 else 0.0
    way = 0.5 * (v[i] + v[k]) * span
    gone = (v[i] + 0.5 * share * (v[k] - v[i])) * share * span
    u = gone / way if abs(way) > 1e-6 else share
    # The cubic that has both rows' directions.
    p, q = (1.0 + 2.0 * u) * (1.0 - u) ** 2, u * u * (3.0 - 2.0 * u)
    dp, dq = u * (1.0 - u) ** 2 * way, u * u * (u - 1.0) * way
    sine, cosine = elementary.sin_cos(heading[k])
    s, c = elementary.sin_cos(heading[i])
    return (
        p * x[i] + q * x[k] + dp * c + dq * cosine,
        p * y[i] + q * y[k] + dp * s + dq * sine,
        heading[i] + u * (heading[k] - heading[i]),
        curvature[i] + u * (curvature[k] - curvature[i]),
        v[i] + share * (v[k] - v[i]),
        a[i] + share * (a[k] - a[i]),
    )


def state_at(trajectory: Trajectory, stamp: float) -> StartState:
    """The state on a trajectory at a stamp: on the arc between two rows, not on its chord, which would creep into
    bends.
    """
    p = trajectory
    x, y, heading, curvature, v, a = _on_arc(stamp - p.stamp, p.t, p.x, p.y, p.heading, p.curvature, p.v, p.a)
    if abs(v) < _STILL and v * a <= 0.0:
        v, a = 0.0, 0.0
    return StartState(Pose(x, y, heading), curvature, v, a, True)


def planned_ego(trajectory: Trajectory, stamp: float) -> Ego:
    """The car as it should be at a stamp if it has followed a plan."""
    state = state_at(trajectory, stamp)
    return Ego(state.pose, state.v, state.a, state.curvature)


def is_near(state: StartState, ego: Ego, limits: ContinuityParameters) -> bool:
    """Whether the car is close enough to a planned state to go on from it."""
    dx, dy = ego.pose.x - state.pose.x, ego.pose.y - state.pose.y
    sin, cos = elementary.sin_cos(state.pose.heading)
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


def as_measured(start: StartState, scene: Scene) -> StartState:
    """The same where the car was measured: what is planned anew must not begin beside the car. The wheels and the
    acceleration stay those of the plan, which knows them better.
    """
    return start._replace(pose=scene.ego.pose)
