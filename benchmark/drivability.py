"""Plans in recorded and made CommonRoad traffic, judged by CommonRoad's drivability checker."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.common.peers import ask, data
from benchmark.common.table import Cell, Table
from tuling_fsm.agent import Parameters
from tuling_fsm.bag.commonroad.convert import convert
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.replay import agent_of
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle

STEP = 0.1
"""Time between the steps of the scenarios, s; there are two ticks to each."""
PLANS = 3
"""Plans that are judged in each scenario, evenly spread over the drive."""
FASTEST = 40.0
"""Recorded cars may be faster (m/s) than this one would go."""
SOON = 2.0
"""For so long (s) a plan keeps clear of what the others really did; later they may do what nobody could foresee."""


def run() -> Table:
    """Every scenario in which a car drives."""
    vehicle = Parameters().vehicle
    given = [each for file in sorted(data("commonroad").glob("*.xml")) if (each := planned(file, vehicle)) is not None]
    answer = judge(given, vehicle)
    rows = [
        _row(Path(each["file"]).stem, verdicts)
        for each, verdicts in zip(given, answer["scenarios"], strict=True)
    ]  # fmt: skip
    return Table(
        "Drivability",
        ("scenario", "plans", "steps", "feasible", "begin free", f"free for {SOON:g} s", "free to the end"),
        tuple(rows),
        f"{PLANS} plans a scenario",
        (
            f"Judge: commonroad-drivability-checker {answer['version']}: the kinematic single-track model with this "
            "car's measures and limits, within 2 cm and 0.03 rad a step; boxes against the recorded obstacles.",
            "The car is where the human drove it, which may be too near to something for its size; what the others do "
            "later does not answer to its plan.",
        ),
    )


def _row(name: str, verdicts: list[dict[str, Any]]) -> tuple[Cell, ...]:
    steps, feasible = (sum(each[key] for each in verdicts) for key in ("steps", "feasible"))
    hits = [each["hit"] for each in verdicts if each["hit"] != 0]
    soon = sum(hit is None or hit > SOON / STEP for hit in hits)
    return (name, len(verdicts), steps, feasible, len(hits), soon, hits.count(None))


def judge(given: list[dict[str, Any]], vehicle: Vehicle) -> dict[str, Any]:
    """The checker's answer on plans that `planned` gave."""
    limits = {
        "wheelbase": vehicle.wheelbase, "length": vehicle.length, "width": vehicle.width,
        "rear": vehicle.rear_overhang, "max_steer": vehicle.max_steer, "steer_rate": vehicle.max_steer_rate,
        "accel": vehicle.emergency_decel, "speed": FASTEST,
    }  # fmt: skip
    return ask("drivability.py", {"vehicle": limits, "scenarios": given})


def planned(file: Path, vehicle: Vehicle, plans: int = PLANS) -> dict[str, Any] | None:
    """Plans of a drive along the recorded one; none where no car is recorded in motion."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = convert(file, Path(folder))
        except InputError:
            return None
        bag = BagSource(Path(folder))
        agent = agent_of(read_run_record(bag), folder)
        ticks = [agent.step(inputs).trajectory for inputs in read_inputs(bag)]
    recording = read_recording(file)
    car = next(each for each in recording.obstacles if each.id == done.ego)
    chosen = np.unique(np.linspace(2, len(ticks) - 2, plans).astype(int) // 2 * 2)
    first = round(float(car.states[0, 0]) / STEP)
    found = [
        {"step": first + int(k) // 2, "rows": _rows(ticks[k], vehicle, recording.origin)}
        for k in chosen
        if ticks[k] is not None
    ]
    return {"file": str(file), "ego": done.ego, "plans": found}


def _rows(plan: Trajectory, vehicle: Vehicle, origin: tuple[float, float]) -> list[list[float]]:
    """x, y, heading, v, steer at every step, in the coordinates of the scenario's file."""
    times = np.arange(plan.t[0], plan.t[-1] + 1e-9, STEP)
    x, y, v, bend = (np.interp(times, plan.t, column) for column in (plan.x, plan.y, plan.v, plan.curvature))
    heading = np.interp(times, plan.t, np.unwrap(plan.heading))
    steer = [math.atan(vehicle.wheelbase * k) for k in bend]
    return np.column_stack((x + origin[0], y + origin[1], heading, v, steer)).tolist()
