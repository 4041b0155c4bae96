"""FISS+ in its own closed loop on CommonRoad scenarios, as its package runs it: perfect tracking, and a policy of its
own for the speed that meets the goal's window. Runs in the peers' environment: JSON on standard input, JSON on standard
output.

In:  {"files": [scenario...], "out": folder for solution files, "vehicle": CommonRoad's name, "prediction":
     "ground_truth" (the recorded future) or "lane_following"}
Out: {"drives": [{"solution": file or null, "status": the package's own word, "seconds": of the whole drive}, ...],
      "version"}
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from commonroad.common.file_reader import CommonRoadFileReader
from commonroad.common.solution import (
    CommonRoadSolutionWriter,
    CostFunction,
    PlanningProblemSolution,
    Solution,
    VehicleModel,
    VehicleType,
)
from commonroad.scenario.state import KSState
from commonroad.scenario.trajectory import Trajectory
from commonroad_dc.feasibility.vehicle_dynamics import VehicleParameterMapping
from fiss_planner.commonroad.benchmark import Options, run_scenario


def drive(file: str, question: dict[str, Any]) -> dict[str, Any]:
    """One scenario, and its solution file."""
    began, driven = time.perf_counter(), []

    def note(_time: float, ego: Any, _obstacles: Any, out: Any, _road: Any) -> None:
        driven[-1:] = [ego]
        if len(out.trajectory) > 1:
            driven.append(out.trajectory.sample(scenario.dt))

    scenario, problems = CommonRoadFileReader(file).open()
    problem = next(iter(problems.planning_problem_dict.values()))
    try:
        row, _ = run_scenario(
            file, Options(prediction=question["prediction"], vehicle=question["vehicle"]), on_step=note
        )
        status = row["status"]
    except Exception as error:
        status = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - began
    if not driven:
        return {"solution": None, "status": status, "seconds": seconds}
    solution = write(driven, scenario, problem, question)
    return {"solution": solution, "status": status, "seconds": seconds}


def write(driven: list[Any], scenario: Any, problem: Any, question: dict[str, Any]) -> str:
    """Its states as those of the kinematic single-track model; they are the middle of the body already."""
    car = VehicleParameterMapping[question["vehicle"]].value
    first = problem.initial_state.time_step
    states = [
        KSState(
            time_step=first + k,
            position=np.array((ego.x, ego.y)),
            orientation=float(ego.yaw),
            velocity=float(ego.v),
            steering_angle=float(np.arctan((car.a + car.b) * ego.kappa)) if k else 0.0,
        )
        for k, ego in enumerate(driven)
    ]
    part = PlanningProblemSolution(
        problem.planning_problem_id, VehicleModel.KS, VehicleType[question["vehicle"]], CostFunction.WX1,
        Trajectory(first, states),
    )  # fmt: skip
    name = f"{scenario.scenario_id}.xml"
    CommonRoadSolutionWriter(Solution(scenario.scenario_id, [part])).write_to_file(question["out"], name, True)
    return str(Path(question["out"]) / name)


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    Path(asked["out"]).mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(sys.stderr):
        drives = [drive(file, asked) for file in asked["files"]]
    json.dump({"drives": drives, "version": version("fiss-planner")}, sys.stdout)
