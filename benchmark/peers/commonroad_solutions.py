"""CommonRoad's own judges on solution files. Runs in the peers' environment: JSON on standard input, JSON on standard
output.

In:  {"solutions": [{"file": scenario, "solution": file}, ...]}
Out: {"verdicts": [{"goal", "start", "free", "on_road", "feasible": booleans, "hit": null or {"step", "obstacle",
      "side": front, rear or side, "standing": whether the car stood}, "error": a check that failed itself}, ...],
      "versions": {package: version}}
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
from commonroad.common.file_reader import CommonRoadFileReader
from commonroad.common.solution import CommonRoadSolutionReader
from commonroad_dc.feasibility import solution_checker as checker
from commonroad_dc.feasibility.vehicle_dynamics import VehicleDynamics
from shapely.geometry import LineString

CHECKS = {
    "goal": lambda scenario, problems, solution: checker.goal_reached(scenario, problems, solution),
    "start": lambda _, problems, solution: checker.starts_at_correct_state(solution, problems),
    "free": lambda scenario, problems, solution: not checker.obstacle_collision(scenario, problems, solution),
    "on_road": lambda scenario, problems, solution: not checker.boundary_collision(scenario, problems, solution),
    "feasible": lambda scenario, problems, solution: all(
        each[0] for each in checker.solution_feasible(solution, scenario.dt, problems).values()
    ),
}
STANDS = 0.05
"""nuPlan's limit of standing, m/s."""


def judged(scenario_file: str, solution_file: str) -> dict[str, Any]:
    """The verdicts on a solution, each by the function of the solution checker that is named for it."""
    scenario, problems = CommonRoadFileReader(scenario_file).open()
    solution = CommonRoadSolutionReader.open(solution_file)
    found: dict[str, Any] = {"hit": None, "error": ""}
    for name, check in CHECKS.items():
        try:
            found[name] = bool(check(scenario, problems, solution))
        except checker.SolutionCheckerException:
            found[name] = False
        except Exception as error:
            found[name], found["error"] = False, f"{name}: {type(error).__name__}: {error}"
    if not found["free"]:
        found["hit"] = first_hit(scenario, solution)
    return found


def first_hit(scenario: Any, solution: Any) -> dict[str, Any] | None:
    """The first obstacle that the car's box meets, and with which side of the car."""
    part = solution.planning_problem_solutions[0]
    shape = VehicleDynamics.from_model(part.vehicle_model, part.vehicle_type).shape
    for state in part.trajectory.state_list:
        body = shape.rotate_translate_local(state.position, state.orientation)
        for obstacle in scenario.obstacles:
            occupancy = obstacle.occupancy_at_time(state.time_step)
            if occupancy is None or not occupancy.shape.shapely_object.intersects(body.shapely_object):
                continue
            side = side_of(state, shape, occupancy.shape.shapely_object)
            standing = abs(float(state.velocity)) <= STANDS
            return {"step": state.time_step, "obstacle": obstacle.obstacle_id, "side": side, "standing": standing}
    return None


def side_of(state: Any, shape: Any, other: Any) -> str:
    """Front where the front bumper is in the other one, rear where the rear bumper is, else side."""
    ahead = np.array((np.cos(state.orientation), np.sin(state.orientation)))
    left = np.array((-ahead[1], ahead[0]))
    for name, sign in (("front", 1.0), ("rear", -1.0)):
        middle = state.position + sign * 0.5 * shape.length * ahead
        bumper = LineString((middle - 0.5 * shape.width * left, middle + 0.5 * shape.width * left))
        if bumper.intersects(other):
            return name
    return "side"


if __name__ == "__main__":
    question = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with contextlib.redirect_stdout(sys.stderr):
        verdicts = [judged(each["file"], each["solution"]) for each in question["solutions"]]
    packages = ("commonroad-io", "commonroad-drivability-checker")
    json.dump({"verdicts": verdicts, "versions": {name: version(name) for name in packages}}, sys.stdout)
