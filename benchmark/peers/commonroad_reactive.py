"""CommonRoad's reactive planner in its own closed loop on CommonRoad scenarios, as its manual runs it: perfect
tracking, planned anew every third step, the others' recorded future known. Runs in the peers' environment: JSON on
standard input, JSON on standard output.

In:  {"files": [scenario...], "out": folder for solution files}
Out: {"drives": [{"solution": file or null, "status", "seconds": of the whole drive}, ...], "version"}
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

from commonroad.common.file_reader import CommonRoadFileReader
from commonroad.common.solution import CommonRoadSolutionWriter
from commonroad_clcs.config import CLCSParams
from commonroad_route_planner.reference_path_planner import ReferencePathPlanner
from commonroad_route_planner.route_planner import RoutePlanner
from commonroad_rp.reactive_planner import ReactivePlanner
from commonroad_rp.utility.config import ReactivePlannerConfiguration
from commonroad_rp.utility.evaluation import create_full_solution_trajectory, create_planning_problem_solution
from commonroad_rp.utility.utils_coordinate_system import CoordinateSystem

EVERY = 3
MOST_STEPS = 250


def planner(scenario: Any, problem: Any) -> tuple[ReactivePlanner, ReactivePlannerConfiguration]:
    """The planner on the shortest reference path to the goal."""
    config = ReactivePlannerConfiguration()
    config.planning.dt = scenario.dt
    config.planning.replanning_frequency = EVERY
    config.debug.multiproc, config.debug.logging_level = False, "ERROR"
    config.update(scenario=scenario, planning_problem=problem)
    routes = RoutePlanner(scenario.lanelet_network, problem, scenario).plan_routes()
    path = ReferencePathPlanner(scenario.lanelet_network, problem, routes).plan_shortest_reference_path()
    made = ReactivePlanner(config)
    made.set_reference_path(coordinate_system=CoordinateSystem(path.reference_path, clcs_params=CLCSParams()))
    return made, config


def run(made: ReactivePlanner, last: int) -> str:
    """Plan and go on until the goal is reached, or there is no plan."""
    made.record_state_and_input(made.x_0)
    optimal = None
    while not made.goal_reached():
        count = len(made.record_state_list) - 1
        if made.record_state_list[-1].time_step >= last:
            return "timeout"
        if count % EVERY == 0 or optimal is None:
            made.set_desired_velocity(current_speed=made.x_0.velocity)
            optimal = made.plan()
            if not optimal:
                return "no_plan"
        index = 1 + count % EVERY
        made.record_state_and_input(optimal[0].state_list[index])
        made.reset(
            initial_state_cart=made.record_state_list[-1],
            initial_state_curv=(optimal[1][index], optimal[2][index]),
            collision_checker=made.collision_checker,
            coordinate_system=made.coordinate_system,
        )
    return "success"


def drive(file: str, out: str) -> dict[str, Any]:
    """One scenario, and its solution file."""
    began = time.perf_counter()
    scenario, problems = CommonRoadFileReader(file).open()
    problem = next(iter(problems.planning_problem_dict.values()))
    solution = None
    try:
        made, config = planner(scenario, problem)
    except Exception as error:
        return {"solution": None, "status": named(error), "seconds": time.perf_counter() - began}
    try:
        status = run(made, int(getattr(problem.goal.state_list[0].time_step, "end", MOST_STEPS)))
    except Exception as error:
        status = named(error)
    if len(made.record_state_list) > 1:
        trajectory = create_full_solution_trajectory(config, made.record_state_list)
        name = f"{scenario.scenario_id}.xml"
        whole = create_planning_problem_solution(config, trajectory, scenario, problem)
        CommonRoadSolutionWriter(whole).write_to_file(out, name, True)
        solution = str(Path(out) / name)
    return {"solution": solution, "status": status, "seconds": time.perf_counter() - began}


def named(error: Exception) -> str:
    """An error of the planner in a line."""
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    Path(asked["out"]).mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(sys.stderr):
        drives = [drive(file, asked["out"]) for file in asked["files"]]
    json.dump({"drives": drives, "version": version("commonroad-reactive-planner")}, sys.stdout)
