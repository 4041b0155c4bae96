"""Frenetix and FISS+, whose loops are C++, in given traffic. Runs in the peers' environment: JSON on standard input,
JSON on standard output.

In:  as `lanes.py`, with "counts": how many candidates Frenetix is to judge, and "lattices": [widths, speeds, times]
     of each lane that FISS+ and its exhaustive sister sample
Out: {"frenetix": [{"count", "ms": [CPU time of each step...]}...], "frenetix_blind": the same without the cars,
     "fiss_plus": the same, "fop": the same, "versions"}

A step begins with the state of the car and the predicted cars as the planner's own objects, and ends with its choice.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import fiss_planner as fiss
import frenetix
import frenetix.trajectory_functions.cost_functions as costs
import frenetix.trajectory_functions.feasability_functions as checks
import numpy as np

DT = 0.1
WHEELBASE, STEER, STEER_RATE, ACCEL, FAST = 2.8, 0.6, 0.4, 8.0, 7.0
"""Of the car: m, rad, rad/s, m/s^2, and from where on power limits that (m/s)."""
SPREAD_M2 = 0.1
"""Variance of a predicted place, which Frenetix wants."""
Step = Callable[[], int]


def timed(step: Step, repeats: int) -> dict[str, Any]:
    """A step again and again, after one that does not count."""
    times, count = [], 0
    for _ in range(repeats + 1):
        began = time.process_time()
        count = step()
        times.append(1e3 * (time.process_time() - began))
    return {"count": count, "ms": times[1:]}


def futures(question: dict[str, Any]) -> list[np.ndarray]:
    """Rows of x, y, heading of every car, every 0.1 s."""
    found = []
    for rows in question["cars"]:
        rows = np.array(rows)
        given = question["step"] * np.arange(len(rows))
        at = np.arange(0.0, question["horizon"] + 1e-9, DT)
        found.append(np.column_stack([np.interp(at, given, column) for column in rows.T]))
    return found


def frenetix_step(question: dict[str, Any], cars: list[np.ndarray], count: int) -> Step:
    """Quintic and quartic polynomials, judged by kinematics, jerk, speed and the probability of hitting a car, if there
    are any.
    """
    x, y, heading, v = question["ego"]
    middle = np.array(question["lanes"][len(question["lanes"]) // 2])
    along, horizon, width = frenetix.CoordinateSystemWrapper(middle), question["horizon"], question["width"]
    spread, length, wide = np.zeros((6, 6)), *question["size"]
    spread[0, 0] = spread[1, 1] = SPREAD_M2
    predicted = {
        number: frenetix.PredictedObject(
            number,
            [
                frenetix.PoseWithCovariance(
                    np.array((px, py, 0.0)), np.array((0.0, 0.0, np.sin(0.5 * turn), np.cos(0.5 * turn))), spread
                )
                for px, py, turn in rows
            ],
            length,
            wide,
        )
        for number, rows in enumerate(cars)
    }
    handler = frenetix.TrajectoryHandler(dt=DT)
    handler.add_feasability_function(checks.CheckYawRateConstraint(STEER, WHEELBASE, False))
    handler.add_feasability_function(checks.CheckAccelerationConstraint(FAST, ACCEL, False))
    handler.add_feasability_function(checks.CheckCurvatureConstraint(STEER, WHEELBASE, False))
    handler.add_feasability_function(checks.CheckCurvatureRateConstraint(WHEELBASE, STEER_RATE, False))
    handler.add_cost_function(costs.CalculateLateralJerkCost("lateral_jerk", 0.2))
    handler.add_cost_function(costs.CalculateLongitudinalJerkCost("longitudinal_jerk", 0.2))
    handler.add_cost_function(costs.CalculateDistanceToReferencePathCost("distance_to_reference_path", 5.0))
    side = max(1, round(count ** (1.0 / 3.0)))
    ends = [axis.ravel() for axis in np.meshgrid(
        np.linspace(0.4 * horizon, horizon, side), np.linspace(-width, width, side),
        np.linspace(0.5, 1.2, -(-count // side**2)) * question["wanted"], indexing="ij",
    )]  # fmt: skip

    def step() -> int:
        start = frenetix.TrajectorySample(x, y, heading, 0.0, v)
        frenetix.trajectory_functions.ComputeInitialState(along, WHEELBASE, 0.0, False).evaluate_trajectory(start)
        here, samples = start.curvilinear, np.zeros((len(ends[0]), 13))
        samples[:, 1], samples[:, 10], samples[:, 5] = ends
        samples[:, 2:5] = np.ravel((here.s, here.s_dot, here.s_ddot))
        samples[:, 7:10] = np.ravel((here.d, here.d_dot, here.d_ddot))
        samples = samples[:count]
        handler.add_function(frenetix.trajectory_functions.FillCoordinates(False, heading, along, horizon))
        if predicted:
            handler.add_cost_function(
                costs.CalculateCollisionProbabilityFast("prediction", 0.2, predicted, length, wide, 0.5 * WHEELBASE)
            )
        handler.add_cost_function(
            costs.CalculateVelocityOffsetCost("velocity_offset", 1.0, question["wanted"], DT, 1.1, False, 2)
        )
        handler.reset_Trajectories()
        handler.generate_trajectories(samples, False)
        handler.evaluate_all_current_functions(True)
        next((each for each in handler.get_sorted_trajectories() if each.feasible), None)
        return len(samples)

    return step


def fiss_step(question: dict[str, Any], cars: list[np.ndarray], lattice: list[int], kind: str) -> Step:
    """`kind`: "fiss_plus" looks at the most promising candidates of its lattice first, "fop" judges all of them."""
    config = fiss.make_config(kind)
    config.num_threads = 1
    sampling = config.sampling
    sampling.num_width, sampling.num_speed, sampling.num_t = lattice
    sampling.dt, sampling.min_t, sampling.max_t = DT, 0.4 * question["horizon"], question["horizon"]
    vehicle = fiss.VehicleParams()
    vehicle.length, vehicle.width = question["size"]
    ahead, lanes = vehicle.rear_axle_to_center, question["lanes"]
    planner, at = fiss.make_planner(config, vehicle), np.arange(len(cars[0])) * DT
    around = [fiss.Obstacle.from_arrays(number, *question["size"], at, *rows.T) for number, rows in enumerate(cars)]
    x, y, heading, v = question["ego"]
    middle = np.array(lanes[len(lanes) // 2])
    along = fiss.ReferenceLine(*middle.T)
    road = fiss.Corridor.parallel_lanes(0.0, along.length, question["width"], 1, 1)

    def step() -> int:
        start = along.to_frenet(fiss.EgoState(x + ahead * math.cos(heading), y + ahead * math.sin(heading), heading, v))
        planner.plan(start, along, road, around, question["wanted"])
        return math.prod((len(lanes), *lattice))

    return step


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Every planner at every number of candidates."""
    cars, repeats = futures(question), question["repeats"]
    answer: dict[str, Any] = {
        name: [timed(frenetix_step(question, around, count), repeats) for count in question["counts"]]
        for name, around in (("frenetix", cars), ("frenetix_blind", []))
    }
    for kind in ("fiss_plus", "fop"):
        answer[kind] = [timed(fiss_step(question, cars, each, kind), repeats) for each in question["lattices"]]
    answer["versions"] = {name: version(name) for name in ("frenetix", "fiss-planner")}
    return answer


json.dump(main(json.load(sys.stdin)), sys.stdout)
