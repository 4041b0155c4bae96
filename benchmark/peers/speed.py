"""TOPP-RA on a path of points. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"x", "y": [...], "limit": [greatest speed along the path at each point, ...], "speed", "accel", "decel", "start",
      "repeats"}
Out: {"box", "along": {"ms": [CPU time of one parameterization, ...], "whole_ms": [the same with spline and constraints,
      ...], "travel_s", "top": greatest speed along the path}, "version"}

`box` limits the speeds and accelerations of x and y to `speed` and `decel` each; `along` limits the speed along the
path to `limit` and its change to `accel` and `decel`.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import toppra
import toppra.algorithm
import toppra.constraint

logging.disable(logging.WARNING)


Constraints = Callable[[], list[Any]]


def timed(s: np.ndarray, points: np.ndarray, constraints: Constraints, question: dict[str, Any]) -> dict[str, Any]:
    """Time the same path again and again."""
    profiles, wholes, speed = [], [], s
    for _ in range(question["repeats"] + 1):
        began = time.process_time()
        path = toppra.SplineInterpolator(s, points)
        problem = toppra.algorithm.TOPPRA(constraints(), path, gridpoints=s)
        set_up = time.process_time()
        _, speed, _ = problem.compute_parameterization(question["start"], 0.0)
        ended = time.process_time()
        profiles.append(1e3 * (ended - set_up))
        wholes.append(1e3 * (ended - began))
    travel = float(np.sum(2.0 * np.diff(s) / (speed[1:] + speed[:-1])))
    return {"ms": profiles[1:], "whole_ms": wholes[1:], "travel_s": travel, "top": float(np.max(speed))}


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Both kinds of limits."""
    points = np.column_stack((question["x"], question["y"]))
    s = np.concatenate((np.zeros(1), np.cumsum(np.hypot(*np.diff(points, axis=0).T))))
    both = [np.full((2, 2), question[key]) * ((-1.0, 1.0),) for key in ("speed", "decel")]
    limit, change = np.array(question["limit"]), np.array([(-question["decel"], question["accel"])])

    def allowed(at: float) -> np.ndarray:
        return np.interp(at, s, limit) * np.array([(-1.0, 1.0)])

    def box() -> list[Any]:
        acceleration = toppra.constraint.JointAccelerationConstraint(both[1])
        return [toppra.constraint.JointVelocityConstraint(both[0]), acceleration]

    def along() -> list[Any]:
        acceleration = toppra.constraint.JointAccelerationConstraint(change)
        return [toppra.constraint.JointVelocityConstraintVarying(allowed), acceleration]

    answers = {"box": timed(s, points, box, question), "along": timed(s, s[:, None], along, question)}
    return {**answers, "version": version("toppra")}


json.dump(main(json.load(sys.stdin)), sys.stdout)
