"""Trajectories and a small lane-following driver for tests: what a planner would send."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import Inputs, Kind, Light

STEP_S = 0.02
ORIGIN = Pose(0.0, 0.0, 0.0)


def along(
    curvature: Callable[[float], float],
    speed: Callable[[float], float],
    length: float,
    start: Pose = ORIGIN,
) -> Trajectory:
    """A plan that follows curvature and speed as functions of the distance driven; negative speeds are reverse."""
    x, y, heading = start
    t = s = 0.0
    rows = []
    while s < length and t < 120.0:
        v = speed(s)
        rows.append((t, x, y, heading, curvature(s), v))
        for _ in range(10):
            ds = v * STEP_S / 10.0
            x, y, heading = x + ds * math.cos(heading), y + ds * math.sin(heading), heading + ds * curvature(s)
            s += abs(ds)
        t += STEP_S
    rows.append((t, x, y, heading, curvature(s), 0.0 if abs(speed(length)) < 0.1 else speed(length)))
    table = np.array(rows).T
    return Trajectory(0.0, *table[:5], table[5], np.gradient(table[5], table[0]))


def trapeze(top: float, length: float, accel: float = 1.0) -> Callable[[float], float]:
    """Speed over distance: up to `top` and down to nothing at `length`."""

    def speed(s: float) -> float:
        reach = max(min(s, length - s), 0.0)
        return math.copysign(min(abs(top), math.sqrt(2.0 * accel * reach) + 0.02), top)

    return speed


def quintic(width: float, length: float, v: float) -> Trajectory:
    """A lane change: `width` to the left over `length` at a constant speed."""
    t = np.arange(0.0, length / v + 6.0, 0.05)
    u = np.clip(v * t / length, 0.0, 1.0)
    y = width * u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    slope = width / length * u**2 * (30.0 - 60.0 * u + 30.0 * u**2)
    bend = width / length**2 * u * (60.0 - 180.0 * u + 120.0 * u**2)
    return Trajectory(
        0.0, t, v * t, y, np.arctan(slope), bend / (1.0 + slope**2) ** 1.5, v * np.sqrt(1.0 + slope**2), 0.0 * t
    )


class LaneDriver:
    """Drives a route at a constant speed; stops for red lights of its stop lines and behind what is on its way."""

    def __init__(self, route: Route, stop_s: dict[int, float] | None = None, top: float = 6.0) -> None:
        self._route = route
        self._stop_s = stop_s or {}
        self._top = top
        self._s: float | None = None

    def __call__(self, inputs: Inputs) -> Trajectory:
        """The plan for one frame."""
        reference, odometry = self._route.reference, inputs.odometry
        assert odometry is not None
        near = (-math.inf, math.inf) if self._s is None else (self._s - 10.0, self._s + 20.0)
        found = reference.project(odometry.pose.x, odometry.pose.y, *near)
        self._s = found.s
        stop = self._stop(inputs, found.s)
        t = 0.1 * np.arange(60)
        s, v = np.empty(60), np.empty(60)
        s[0], v[0] = found.s, odometry.v
        for k in range(1, 60):
            bend = abs(float(np.interp(s[k - 1] + 2.0, reference.s, reference.curvature())))
            top = min(self._top, math.sqrt(1.5 / max(bend, 1e-3)), math.sqrt(2.6 * max(stop - s[k - 1], 0.0)))
            v[k] = max(v[k - 1] + 0.1 * min(max((top - v[k - 1]) / 0.3, -4.0), 1.5), 0.0)
            s[k] = s[k - 1] + 0.05 * (v[k] + v[k - 1])
        x, y, heading, curvature = (
            np.interp(s, reference.s, row)
            for row in (reference.xy[:, 0], reference.xy[:, 1], reference.heading, reference.curvature())
        )
        aside = found.offset * np.exp(-(s - found.s) / 5.0)
        return Trajectory(
            inputs.stamp,
            t,
            x - aside * np.sin(heading),
            y + aside * np.cos(heading),
            heading - np.arctan(aside / 5.0),
            curvature,
            v,
            np.gradient(v, t),
        )

    def _stop(self, inputs: Inputs, s: float) -> float:
        """Arc length at which the rear axle has to stop."""
        front = 3.76
        stop = self._route.length - front
        lights = {} if inputs.traffic_lights is None else {
            int(row["signal"]): int(row["state"]) for row in inputs.traffic_lights.rows
        }  # fmt: skip
        for signal, line in self._stop_s.items():
            if lights.get(signal) != Light.GREEN and line > s + front:
                stop = min(stop, line - front - 1.0)
        ahead = s + front + np.arange(0.0, 50.0, 1.0)
        reference = self._route.reference
        x, y = np.interp(ahead, reference.s, reference.xy[:, 0]), np.interp(ahead, reference.s, reference.xy[:, 1])
        assert inputs.objects is not None
        for row in inputs.objects.rows:
            for later in (0.0, 1.0, 2.0) if row["kind"] == Kind.PEDESTRIAN else (0.0,):
                dx, dy = x - row["x"] - later * row["vx"], y - row["y"] - later * row["vy"]
                c, sn = math.cos(row["heading"]), math.sin(row["heading"])
                along_gap = np.maximum(np.abs(c * dx + sn * dy) - 0.5 * row["length"], 0.0)
                across_gap = np.maximum(np.abs(c * dy - sn * dx) - 0.5 * row["width"], 0.0)
                hit = np.flatnonzero(np.hypot(along_gap, across_gap) < 1.25)
                if len(hit):
                    stop = min(stop, float(ahead[hit[0]]) - front - 3.0 + float(row["vx"] ** 2 + row["vy"] ** 2) / 4.0)
        return stop
