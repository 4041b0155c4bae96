"""CommonRoad's reactive planner in given traffic. Runs in the peers' environment: JSON on standard input, JSON on
standard output.

In:  {"lanes": middles [[x, y]...] from the left, "width", "ego": [x, y, heading, v] of the rear axle, "cars": rows
     [[x, y, heading]...] of every car, "size": [length, width], "speeds", "step": s between rows, "horizon": s,
     "wanted": m/s, "levels": sampling densities, "repeats"}
Out: {"levels": [{"count": candidates, "ms": [CPU time of each plan...], "free": rejected for neither motion nor
     collision}...], "version"}
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from commonroad.geometry.shape import Rectangle
from commonroad.prediction.prediction import TrajectoryPrediction
from commonroad.scenario.lanelet import Lanelet, LaneletNetwork
from commonroad.scenario.obstacle import DynamicObstacle, ObstacleType
from commonroad.scenario.scenario import Scenario
from commonroad.scenario.state import CustomState, InitialState
from commonroad.scenario.trajectory import Trajectory
from commonroad_clcs.config import CLCSParams
from commonroad_rp.reactive_planner import ReactivePlanner
from commonroad_rp.state import ReactivePlannerState
from commonroad_rp.utility.config import ReactivePlannerConfiguration
from commonroad_rp.utility.utils_coordinate_system import CoordinateSystem

DT = 0.1


def lanelets(question: dict[str, Any]) -> list[Lanelet]:
    """The lanes side by side, numbered from the left."""
    found, middles = [], [np.array(lane) for lane in question["lanes"]]
    for i, middle in enumerate(middles):
        way = np.gradient(middle, axis=0)
        left = 0.5 * question["width"] * np.column_stack((-way[:, 1], way[:, 0])) / np.hypot(*way.T)[:, None]
        beside = {"adjacent_left": i or None, "adjacent_left_same_direction": True if i else None}
        if i + 1 < len(middles):
            beside |= {"adjacent_right": i + 2, "adjacent_right_same_direction": True}
        found.append(Lanelet(middle + left, middle, middle - left, i + 1, **beside))
    return found


def car(number: int, rows: np.ndarray, speed: float, question: dict[str, Any]) -> DynamicObstacle:
    """A car and where it is going to be."""
    given = question["step"] * np.arange(len(rows))
    x, y, heading = (np.interp(np.arange(0.0, given[-1] + 1e-9, DT), given, column) for column in rows.T)
    states = [
        CustomState(time_step=k, position=np.array((x[k], y[k])), orientation=heading[k], velocity=speed)
        for k in range(1, len(x))
    ]
    shape = Rectangle(*question["size"])
    first = InitialState(
        time_step=0, position=np.array((x[0], y[0])), orientation=heading[0], velocity=speed, acceleration=0.0,
        yaw_rate=0.0, slip_angle=0.0,
    )  # fmt: skip
    prediction = TrajectoryPrediction(Trajectory(1, states), shape)
    return DynamicObstacle(number, ObstacleType.CAR, shape, first, prediction)


def planner(question: dict[str, Any]) -> ReactivePlanner:
    """The planner before its first plan, in one process."""
    scenario = Scenario(DT)
    scenario.add_objects(LaneletNetwork.create_from_lanelet_list(lanelets(question)))
    for i, (rows, speed) in enumerate(zip(question["cars"], question["speeds"], strict=True)):
        scenario.add_objects(car(100 + i, np.array(rows), speed, question))
    config = ReactivePlannerConfiguration()
    config.planning.dt, config.planning.time_steps_computation = DT, round(question["horizon"] / DT)
    config.planning.planning_horizon = question["horizon"]
    config.debug.multiproc, config.debug.logging_level = False, "ERROR"
    config.sampling.d_min, config.sampling.d_max = -question["width"], question["width"]
    config.update(scenario=scenario)
    made = ReactivePlanner(config)
    x, y, heading, v = question["ego"]
    start = ReactivePlannerState(
        time_step=0, position=np.array((x, y)), orientation=heading, velocity=v, acceleration=0.0, yaw_rate=0.0,
        steering_angle=0.0,
    )  # fmt: skip
    middle = np.array(question["lanes"][len(question["lanes"]) // 2])
    along = CoordinateSystem(middle, clcs_params=CLCSParams())
    made.reset(initial_state_cart=start, collision_checker=made.collision_checker, coordinate_system=along)
    made.set_desired_velocity(desired_velocity=question["wanted"], current_speed=v)
    return made


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Plan at every density, again and again."""
    logging.disable(logging.CRITICAL)
    made, levels = planner(question), []
    for level in question["levels"]:
        times = []
        for _ in range(question["repeats"] + 1):
            began = time.process_time()
            made.plan(level)
            times.append(1e3 * (time.process_time() - began))
        count = made.total_count_samples
        rejected = made.infeasible_count_kinematics + made.infeasible_count_collision
        levels.append({"count": count, "ms": times[1:], "free": count - rejected})
    return {"levels": levels, "version": version("commonroad-reactive-planner")}


with contextlib.redirect_stdout(sys.stderr):
    ANSWER = main(json.load(sys.stdin))
json.dump(ANSWER, sys.stdout)
