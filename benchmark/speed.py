"""The speed profile of one path, against TOPP-RA on the same points."""

from __future__ import annotations

import math
import time

import numpy as np

from benchmark.common.peers import ask
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.workspace import new_buffers
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PROOM, PS, PSIN, PX, PY, FrenetPath, new_path
from tuling_fsm.planning.speed.roll_out import StartMotion, StopTarget, fill_envelope, no_traffic, roll_out

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
    ours, top = _ours(path, vehicle)
    theirs = ask(
        "speed.py",
        {
            "x": path[:, PX].tolist(), "y": path[:, PY].tolist(), "speed": vehicle.max_speed,
            "accel": vehicle.comfort_decel, "start": START_V, "repeats": PEER_REPEATS,
        },
    )  # fmt: skip
    envelopes, both = ours[:, 0], ours.sum(axis=1)
    rows: list[tuple[Cell, ...]] = [
        ("envelope over arc length", percentile(envelopes.tolist(), 0.5), None, None, None),
        _row("profile, median", both.tolist(), theirs["ms"], 0.5),
        _row("profile, p99", both.tolist(), theirs["ms"], 0.99),
        _row("the peer with its spline and constraints, median", both.tolist(), theirs["whole_ms"], 0.5),
        ("greatest speed, m/s", top, theirs["top"], None, None),
    ]
    return Table(
        "Speed profile",
        (f"{POINTS} points", "ours, ms", "peer, ms", "ratio", "goal, ms"),
        tuple(rows),
        f"{REPEATS}, {PEER_REPEATS} of the peer; CPU time",
        (
            f"Peer: toppra {theirs['version']}, limits of speed and acceleration for x and y; it limits no jerk.",
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


def _row(name: str, ours: list[float], theirs: list[float], share: float) -> tuple[Cell, ...]:
    mine, other = percentile(ours, share), percentile(theirs, share)
    return name, mine, other, other / mine, "<= 0.1" if share == 0.5 and name.startswith("profile") else None


def _ours(path: FloatArray, vehicle: Vehicle) -> tuple[FloatArray, float]:
    """CPU times (REPEATS, 2) of envelope and roll-out in ms, and the greatest speed of the roll-out."""
    derived = DerivedParameters.of(vehicle, PlanningParameters())
    buffers, limit = new_buffers(round(SPAN_S / STEP_S) + 1, 0), np.full(POINTS, vehicle.max_speed)
    frenet, stop = FrenetPath(path, POINTS, 1, path, 0), StopTarget(float(path[-1, PS]), 0.0)
    times = np.empty((REPEATS + 1, 2))
    for k in range(REPEATS + 1):
        began = time.process_time()
        fill_envelope(frenet, limit, derived.drive, buffers.envelope)
        middle = time.process_time()
        motion = StartMotion(START_V, 0.0)
        roll_out(frenet, buffers.envelope, stop, no_traffic(), motion, derived.drive, buffers.rows)
        times[k] = middle - began, time.process_time() - middle
    return 1e3 * times[1:], float(buffers.rows[:, 1].max())
