"""TOPP-RA on a path of points. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"x", "y": [...], "speed", "accel", "start", "repeats"}
Out: {"ms": [CPU time of one parameterization...], "whole_ms": [the same with spline and constraints...], "top": its
greatest speed, "version"}
"""

from __future__ import annotations

import json
import logging
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
import toppra
import toppra.algorithm
import toppra.constraint

logging.disable(logging.WARNING)


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Time the same path again and again."""
    points = np.column_stack((question["x"], question["y"]))
    s = np.concatenate((np.zeros(1), np.cumsum(np.hypot(*np.diff(points, axis=0).T))))
    limits = [np.full((2, 2), question[key]) * ((-1.0, 1.0),) for key in ("speed", "accel")]
    profiles, wholes, top = [], [], 0.0
    for _ in range(question["repeats"] + 1):
        began = time.process_time()
        path = toppra.SplineInterpolator(s, points)
        bounds = [toppra.constraint.JointVelocityConstraint(limits[0])]
        bounds.append(toppra.constraint.JointAccelerationConstraint(limits[1]))
        problem = toppra.algorithm.TOPPRA(bounds, path, gridpoints=s)
        set_up = time.process_time()
        _, speed, _ = problem.compute_parameterization(question["start"], 0.0)
        ended = time.process_time()
        profiles.append(1e3 * (ended - set_up))
        wholes.append(1e3 * (ended - began))
        top = float(np.max(speed))
    return {"ms": profiles[1:], "whole_ms": wholes[1:], "top": top, "version": version("toppra")}


json.dump(main(json.load(sys.stdin)), sys.stdout)
