"""Where recorded agents were predicted to be, against where they then were.

The recordings are the scenarios of `benchmark.commonroad` that are not made up. Beside our prediction: constant
velocity, and constant turn rate and velocity (Schubert et al., "Comparison and Evaluation of Advanced Motion Models for
Vehicle Tracking", 2008).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from shapely.geometry import LineString, Point

from benchmark.common.table import Cell, Table
from benchmark.commonroad import scenarios
from tuling_fsm.bag.commonroad.convert import convert
from tuling_fsm.bag.replay import agent_of
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.scene import PREDICTION_STEP_S, Obstacles

HORIZONS_S = (1.0, 2.0, 3.0)
MADE_UP = ("ZAM", "OSC", "DEU_Test")
"""How the names of scenarios begin that nobody has recorded."""
EVERY_S = 0.5
SLOWEST_MPS = 1.0
NEAR_CAR_M = 2.0
"""Agents whose way leads as near to the car's as this are left out: they are predicted to be ready for its stopping."""
MISS_M = 2.0
"""Argoverse's: a prediction that ends farther away is a miss (Chang et al., CVPR 2019)."""
MANOEUVRES = (("straight on", 0.0, 0.1), ("bend", 0.1, 0.5), ("turn", 0.5, 4.0))
"""By how much (rad) an agent turns within the last horizon."""

_TICKS_PER_S = 20
_STEP_TICKS = round(PREDICTION_STEP_S * _TICKS_PER_S)
_TURNING_TICKS = 2
"""How fast an agent turns is told by this many ticks."""

State = tuple[float, float, float]
"""x, y (m), heading (rad)."""


class Moment(NamedTuple):
    """What was predicted of all agents at a tick, and how fast each was (m/s)."""

    tick: int
    obstacles: Obstacles


class Error(NamedTuple):
    """Distances of one agent from its predictions at one horizon."""

    turned: float
    """Within the last horizon, rad."""
    horizon: float
    """s."""
    ours: float
    """From the nearest of our predicted points, m."""
    ours_way: float
    """From the nearest of our predicted ways, m."""
    velocity: float
    turn_rate: float


def run() -> Table:
    """Every agent that moves, twice a second."""
    recordings = [file for file in scenarios() if not file.stem.startswith(MADE_UP)]
    told = [errors for file in recordings if (errors := list(_errors(file)))]
    rows: list[tuple[Cell, ...]] = []
    for name, least, most in MANOEUVRES:
        for horizon in HORIZONS_S:
            of = [e for errors in told for e in errors if e.horizon == horizon and least <= abs(e.turned) < most]
            if of:
                rows.append((name, f"{horizon:g}", len(of), *_means(of)))
    return Table(
        "Prediction of recorded agents",
        ("manoeuvre", "after s", "moments", "ours, m", "missed", "way, m", "constant velocity, m", "missed",
         "constant turn rate, m", "missed"),
        tuple(rows),
        "each recording once",
        (
            f"{len(told)} recordings. Agents faster than {SLOWEST_MPS:g} m/s, every {EVERY_S:g} s, whose own future is "
            f"recorded; those whose way comes within {NEAR_CAR_M:g} m of the car's are left out.",
            "Ours is the best of up to three ways along lanes, for who gathers speed at two speeds each (minFDE), the "
            "others give one each; the mean distance from where the agent then was. "
            f"`missed`: farther than {MISS_M:g} m. `way`: root mean square distance from the nearest predicted way, "
            "early or late.",
            "A bend turns by 0.1 to 0.5 rad within 3 s, a turn by more.",
        ),
    )  # fmt: skip


def _means(errors: list[Error]) -> list[Cell]:
    ours, velocity, turn_rate = (
        np.array([getattr(e, name) for e in errors]) for name in ("ours", "velocity", "turn_rate")
    )
    way = float(np.sqrt(np.mean([e.ours_way**2 for e in errors])))
    missed = [f"{100.0 * np.mean(each > MISS_M):.0f} %" for each in (ours, velocity, turn_rate)]
    return [
        float(ours.mean()), missed[0], way, float(velocity.mean()), missed[1], float(turn_rate.mean()), missed[2],
    ]  # fmt: skip


def _errors(file: Path) -> Iterator[Error]:
    """Of all agents of one recording; none where no car is recorded that could stand for ours."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            convert(file, Path(folder))
        except InputError:
            return
        recorded, car, moments = _replayed(Path(folder))
    last = round(HORIZONS_S[-1] * _TICKS_PER_S)
    for tick, obstacles in moments:
        steps = range(tick, tick + last + 1, _STEP_TICKS)
        cars = np.array([car[k] for k in steps if k in car]).reshape(-1, 3)
        for agent in np.unique(obstacles.id).tolist():
            states = [recorded[agent].get(k) for k in steps]
            rows = np.flatnonzero(obstacles.id == agent)
            future = np.array([state for state in states if state is not None])
            if len(future) < len(states) or obstacles.speed[rows[0]] < SLOWEST_MPS:
                continue
            apart = np.hypot(*(future[:, None, :2] - cars[None, :, :2]).transpose(2, 0, 1))
            before = recorded[agent].get(tick - _TURNING_TICKS)
            if before is not None and np.min(apart, initial=np.inf) > NEAR_CAR_M:
                yield from _of_one(obstacles, rows, future, np.array(before))


def _replayed(folder: Path) -> tuple[dict[int, dict[int, State]], dict[int, State], list[Moment]]:
    """States by agent and tick, those of the car, and what was predicted."""
    agent, moments = agent_of(read_run_record(BagSource(folder)), folder), []
    recorded: dict[int, dict[int, State]] = {}
    car: dict[int, State] = {}
    for k, inputs in enumerate(read_inputs(BagSource(folder))):
        tick = agent.step(inputs)
        number = round(tick.stamp * _TICKS_PER_S)
        if inputs.odometry is not None:
            car[number] = (inputs.odometry.pose.x, inputs.odometry.pose.y, inputs.odometry.pose.heading)
        for row in inputs.objects.rows if inputs.objects is not None else ():
            recorded.setdefault(int(row["id"]), {})[number] = (float(row["x"]), float(row["y"]), float(row["heading"]))
        if k % round(EVERY_S * _TICKS_PER_S) == 0:
            moments.append(Moment(number, tick.world.scene.obstacles))
    return recorded, car, moments


def _of_one(obstacles: Obstacles, rows: IntArray, future: FloatArray, before: FloatArray) -> Iterator[Error]:
    """The errors of one agent at one moment; `future` (F, 3) is where it really was at the prediction's steps."""
    turned = wrap_angle(float(future[-1, 2] - future[0, 2]))
    rate = wrap_angle(float(future[0, 2] - before[2])) * _TICKS_PER_S / _TURNING_TICKS
    speed, heading = float(obstacles.speed[rows[0]]), float(future[0, 2])
    for horizon in HORIZONS_S:
        k = round(horizon / PREDICTION_STEP_S)
        x, y = future[k, :2]
        at = np.hypot(obstacles.x[rows, k] - x, obstacles.y[rows, k] - y)
        ways = (LineString(np.column_stack((obstacles.x[row], obstacles.y[row]))) for row in rows)
        way = min(each.distance(Point(x, y)) for each in ways)
        half = 0.5 * rate * horizon
        chord = speed * horizon * np.sinc(half / np.pi)
        straight, turning = (
            float(np.hypot(future[0, 0] + far * np.cos(to) - x, future[0, 1] + far * np.sin(to) - y))
            for far, to in ((speed * horizon, heading), (chord, heading + half))
        )
        yield Error(turned, horizon, float(at.min()), way, straight, turning)
