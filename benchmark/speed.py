"""The speed profile of one path, against TOPP-RA on the same points."""

from __future__ import annotations

import math
import time

import numpy as np

from benchmark.common.peers import ask
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.workspace import new_buffers
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PROOM, PS, PSIN, PX, PY, FrenetPath, new_path
from tuling_fsm.planning.speed.roll_out import AT_LIMIT, StartMotion, StopTarget, fill_envelope, no_traffic, roll_out

POINTS, STEP_M = 200, 0.5
SHARPEST, WAVE_M = 0.06, 50.0
"""The path winds from side to side: its greatest curvature (1/m), and the length of a wave."""
START_V = 5.0
SPAN_S = 25.0
"""Long enough to come to a standstill at the end of the path, as the peer does."""
REPEATS, PEER_REPEATS = 2000, 50


def run() -> Table:
    """Envelope and roll-out, each and together."""
    path, vehicle = winding(), Vehicle()
    times, motion = _ours(path, vehicle)
    lateral = np.sqrt(vehicle.max_lateral_accel / np.maximum(1e-4, np.abs(path[:, PKAPPA])))
    theirs = ask(
        "speed.py",
        {
            "x": path[:, PX].tolist(), "y": path[:, PY].tolist(), "speed": vehicle.max_speed,
            "limit": np.minimum(vehicle.max_speed, lateral).tolist(), "accel": vehicle.max_accel,
            "decel": vehicle.comfort_decel, "start": START_V, "repeats": PEER_REPEATS,
        },
    )  # fmt: skip
    peers = theirs["box"], theirs["along"]
    envelopes, both = times[:, 0].tolist(), times.sum(axis=1).tolist()
    rows: list[tuple[Cell, ...]] = [
        ("envelope over arc length, ms, median", percentile(envelopes, 0.5), None, None, None, None, ""),
        _row("profile, ms, median", percentile(both, 0.5), [percentile(each["ms"], 0.5) for each in peers], "<= 0.1"),
        _row("profile, ms, p99", percentile(both, 0.99), [percentile(each["ms"], 0.99) for each in peers]),
        _row(
            "the peer with its spline and constraints, ms, median",
            percentile(both, 0.5),
            [percentile(each["whole_ms"], 0.5) for each in peers],
        ),
        _row("travel time, s", travel_time(motion), [each["travel_s"] for each in peers], "no longer"),
        _row("greatest speed, m/s", float(motion[:, 1].max()), [each["top"] for each in peers]),
        ("greatest jerk on the way, m/s^3", _greatest_jerk(motion), None, None, None, None, ""),
    ]
    return Table(
        "Speed profile",
        (f"{POINTS} points", "ours", "toppra, limits of x and y", "ratio", "toppra, our limits", "ratio", "goal"),
        tuple(rows),
        f"{REPEATS}, {PEER_REPEATS} of the peer; CPU time",
        (
            f"Peer: toppra {theirs['version']}, once with the same limits of speed and acceleration for x and for y, "
            "once with ours of speed, lateral and longitudinal acceleration along the path. It limits no jerk, so that "
            "no profile with our limits is faster than its second one.",
            "Travel time: to a standstill at the end of the path.",
            f"Ours limits speed, lateral and longitudinal acceleration, jerk and steering rate, and is rolled out for "
            f"{SPAN_S:g} s, to a standstill at the end of the path as the peer's; a trajectory of the planner has "
            f"{PlanningParameters().speed.horizon:g} s.",
        ),
    )


def winding() -> FloatArray:
    """A path (POINTS, PATH) that winds, with room on both sides."""
    path = new_path(POINTS)
    s = STEP_M * np.arange(POINTS)
    wave = 2.0 * math.pi / WAVE_M
    path[:, PS], path[:, PKAPPA] = s, SHARPEST * np.cos(wave * s)
    path[:, PHEADING] = SHARPEST / wave * np.sin(wave * s)
    path[:, PCOS], path[:, PSIN] = np.cos(path[:, PHEADING]), np.sin(path[:, PHEADING])
    for column, along in ((PX, PCOS), (PY, PSIN)):
        path[1:, column] = np.cumsum(0.5 * STEP_M * (path[1:, along] + path[:-1, along]))
    path[:, PROOM] = np.inf
    return path


def travel_time(motion: FloatArray) -> float:
    """When a roll-out (T, 3) comes to its standstill, s; infinite where it does not."""
    standing = np.flatnonzero(motion[:, 1] <= 0.0)
    return STEP_S * int(standing[0]) if len(standing) else math.inf


def _greatest_jerk(motion: FloatArray) -> float:
    """Until it stands, m/s^3."""
    moving = motion[motion[:, 1] > 0.0, 2]
    return float(np.abs(np.diff(moving)).max() / STEP_S)


def _row(name: str, ours: float, theirs: list[float], goal: str = "") -> tuple[Cell, ...]:
    box, along = theirs
    return name, ours, box, box / ours, along, along / ours, goal


def _ours(path: FloatArray, vehicle: Vehicle) -> tuple[FloatArray, FloatArray]:
    """CPU times (REPEATS, 2) of envelope and roll-out, ms, and the roll-out (T, 3): arc length, speed, acceleration."""
    derived = DerivedParameters.of(vehicle, PlanningParameters())
    buffers, limit = new_buffers(round(SPAN_S / STEP_S) + 1, 0), np.full(POINTS, vehicle.max_speed)
    cause = np.full(POINTS, float(AT_LIMIT))
    frenet, stop = FrenetPath(path, POINTS, 1, path, 0), StopTarget(float(path[-1, PS]), 0.0)
    times = np.empty((REPEATS + 1, 2))
    for k in range(REPEATS + 1):
        began = time.process_time()
        fill_envelope(frenet, limit, cause, derived.drive, buffers.envelope)
        middle = time.process_time()
        motion = StartMotion(START_V, 0.0)
        roll_out(frenet, buffers.envelope, stop, no_traffic(), motion, derived.drive, buffers.rows)
        times[k] = middle - began, time.process_time() - middle
    return 1e3 * times[1:], buffers.rows
