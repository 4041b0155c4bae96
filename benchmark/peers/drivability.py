"""CommonRoad's drivability checker on planned trajectories. Runs in the peers' environment: JSON on standard input,
JSON on standard output.

In:  {"vehicle": {"wheelbase", "length", "width", "rear": overhang, "max_steer", "steer_rate", "accel", "speed"},
      "scenarios": [{"file", "ego": id of the recorded car that is left out, "plans": [{"step": of the scenario at the
      first row, "rows": [[x, y, heading, v, steer] of the rear axle at every step]}, ...]}, ...]}
Out: {"scenarios": [[{"feasible": steps that the kinematic single-track model can drive, "steps", "hit": first step that
      collides or null}, ...], ...], "version"}
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from commonroad.common.file_reader import CommonRoadFileReader
from commonroad.common.solution import VehicleType
from commonroad.scenario.state import KSState
from commonroad_dc import pycrcc
from commonroad_dc.collision.collision_detection.pycrcc_collision_dispatch import create_collision_checker
from commonroad_dc.feasibility.feasibility_checker import (
    position_orientation_feasibility_criteria,
    state_transition_feasibility,
)
from commonroad_dc.feasibility.vehicle_dynamics import KinematicSingleTrackDynamics


def model(vehicle: dict[str, float]) -> KinematicSingleTrackDynamics:
    """The kinematic single-track model with the measures and limits of our car; its states lie `b` before the rear
    axle.
    """
    dynamics = KinematicSingleTrackDynamics(VehicleType.BMW_320i)
    own = dynamics.parameters
    own.a = own.b = 0.5 * vehicle["wheelbase"]
    own.steering.min, own.steering.max = -vehicle["max_steer"], vehicle["max_steer"]
    own.steering.v_min, own.steering.v_max = -vehicle["steer_rate"], vehicle["steer_rate"]
    own.longitudinal.v_min, own.longitudinal.v_max = -vehicle["speed"], vehicle["speed"]
    own.longitudinal.a_max = vehicle["accel"]
    return dynamics


def states(plan: dict[str, Any], ahead: float) -> list[KSState]:
    """The rows as states `ahead` (m) of the rear axle."""
    return [
        KSState(
            time_step=plan["step"] + k,
            position=np.array((x + ahead * np.cos(heading), y + ahead * np.sin(heading))),
            orientation=heading,
            velocity=v,
            steering_angle=steer,
        )
        for k, (x, y, heading, v, steer) in enumerate(plan["rows"])
    ]


def leads_there(one: KSState, other: KSState, dynamics: KinematicSingleTrackDynamics, dt: float) -> bool:
    """Whether the model comes from one state to the other by the steering rate and acceleration that they tell: an
    input that need not be looked for.
    """
    (before, _), (after, _) = dynamics.state_to_array(one), dynamics.state_to_array(other)
    reached = dynamics.forward_simulation(before, (after[2:4] - before[2:4]) / dt, dt, throw=False)
    return reached is not None and bool(position_orientation_feasibility_criteria(after, reached, dynamics))


def feasible_steps(plan: dict[str, Any], dynamics: KinematicSingleTrackDynamics, dt: float) -> int:
    """How many steps the model can drive within 2 cm and 0.03 rad, by some input that the checker finds if need be."""
    rows = states(plan, dynamics.parameters.b)
    return sum(
        leads_there(one, other, dynamics, dt) or state_transition_feasibility(one, other, dynamics, dt)[0]
        for one, other in pairwise(rows)
    )


def first_hit(plan: dict[str, Any], checker: Any, vehicle: dict[str, float]) -> int | None:
    """The first row at which the box of the car is in something."""
    middle = 0.5 * vehicle["length"] - vehicle["rear"]
    for k, (x, y, heading, _, _) in enumerate(plan["rows"]):
        box = pycrcc.TimeVariantCollisionObject(plan["step"] + k)
        cx, cy = x + middle * np.cos(heading), y + middle * np.sin(heading)
        box.append_obstacle(pycrcc.RectOBB(0.5 * vehicle["length"], 0.5 * vehicle["width"], heading, cx, cy))
        if checker.collide(box):
            return k
    return None


def judged(given: dict[str, Any], vehicle: dict[str, float]) -> list[dict[str, Any]]:
    """The verdicts on the plans of a scenario."""
    scenario, _ = CommonRoadFileReader(given["file"]).open()
    ego = scenario.obstacle_by_id(int(given["ego"]))
    if ego is not None:
        scenario.remove_obstacle(ego)
    checker, dynamics = create_collision_checker(scenario), model(vehicle)
    return [
        {
            "feasible": feasible_steps(plan, dynamics, scenario.dt),
            "steps": len(plan["rows"]) - 1,
            "hit": first_hit(plan, checker, vehicle),
        }
        for plan in given["plans"]
    ]


if __name__ == "__main__":
    question = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        found = [judged(each, question["vehicle"]) for each in question["scenarios"]]
    json.dump({"scenarios": found, "version": version("commonroad-drivability-checker")}, sys.stdout)
