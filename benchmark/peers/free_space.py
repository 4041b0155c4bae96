"""OMPL and rsplan on free-space cases. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"cases": [{"start", "goal", "area": [x0, y0, x1, y1], "segments": [[x0, y0, x1, y1], ...]}, ...], "poses": [...],
      "radius", "body": [rear, front, half], "seconds", "tries", "better": 0 or 1}
Out: {"cases": [{"first_ms": [...], "first": [[length, changes], ...], "best": [[length, changes], ...]}, ...],
      "lengths": [...], "rsplan_us": float, "versions": {...}}

A path counts where the car, placed every centimetre and half a centimetre smaller on all sides, touches nothing.
"""

from __future__ import annotations

import json
import math
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
import rsplan
from numba import njit
from ompl import base, geometric, util

STEP = 0.05
"""Distance (m) between the poses that the planner checks."""
FINE = 0.01
SLACK = 0.005


@njit(cache=True)
def free(segments: np.ndarray, x: float, y: float, heading: float, rear: float, front: float, half: float) -> bool:
    """Whether the rectangle touches no segment (separating axes)."""
    c, s = math.cos(heading), math.sin(heading)
    middle, long = 0.5 * (front - rear), 0.5 * (front + rear)
    cx, cy = x + middle * c, y + middle * s
    for i in range(len(segments)):
        x0, y0, x1, y1 = segments[i, 0] - cx, segments[i, 1] - cy, segments[i, 2] - cx, segments[i, 3] - cy
        ax, ay, bx, by = c * x0 + s * y0, c * y0 - s * x0, c * x1 + s * y1, c * y1 - s * x1
        if max(ax, bx) < -long or min(ax, bx) > long or max(ay, by) < -half or min(ay, by) > half:
            continue
        dx, dy = bx - ax, by - ay
        if abs(dx * ay - dy * ax) <= abs(dy) * long + abs(dx) * half:
            return False
    return True


class Case:
    """One case and what OMPL needs of it."""

    def __init__(self, case: dict[str, Any], radius: float, body: list[float]) -> None:
        self.segments = np.array(case["segments"], dtype=np.float64).reshape(-1, 4)
        self.body = tuple(body)
        self.space = base.ReedsSheppStateSpace(radius)
        bounds = base.RealVectorBounds(2)
        for axis in range(2):
            bounds.setLow(axis, case["area"][axis])
            bounds.setHigh(axis, case["area"][axis + 2])
        self.space.setBounds(bounds)
        self.setup = geometric.SimpleSetup(self.space)
        segments, (rear, front, half) = self.segments, self.body
        self.setup.setStateValidityChecker(
            lambda state: free(segments, state.getX(), state.getY(), state.getYaw(), rear, front, half)
        )
        information = self.setup.getSpaceInformation()
        information.setStateValidityCheckingResolution(STEP / self.space.getMaximumExtent())
        self.setup.setStartAndGoalStates(self._state(case["start"]), self._state(case["goal"]))

    def _state(self, pose: list[float]) -> Any:
        state = self.space.allocState()
        state.setXY(pose[0], pose[1])
        state.setYaw(math.remainder(pose[2], 2.0 * math.pi))
        return state

    def solve(self, planner: type, seconds: float) -> tuple[float, Any | None]:
        """Time taken (s) and the path, if it is one."""
        self.setup.clear()
        self.setup.setPlanner(planner(self.setup.getSpaceInformation()))
        began = time.perf_counter()
        self.setup.solve(seconds)
        took = time.perf_counter() - began
        return took, self.setup.getSolutionPath() if self.setup.haveExactSolutionPath() else None

    def measure(self, path: Any) -> list[float] | None:
        """Length (m) and gear changes of a path; none where it touches something."""
        length = path.length()
        path.interpolate(max(2, math.ceil(length / FINE)))
        rows = np.array([(state.getX(), state.getY(), state.getYaw()) for state in path.getStates()])
        rear, front, half = self.body
        smaller = (rear - SLACK, front - SLACK, half - SLACK)
        if not all(free(self.segments, *row, *smaller) for row in rows):
            return None
        way = np.diff(rows[:, :2], axis=0)
        heading = rows[:-1, 2] + 0.5 * (np.mod(np.diff(rows[:, 2]) + math.pi, 2.0 * math.pi) - math.pi)
        gear = np.sign(way[:, 0] * np.cos(heading) + way[:, 1] * np.sin(heading))
        gear = gear[np.hypot(way[:, 0], way[:, 1]) > 1e-4]
        return [length, int(np.count_nonzero(np.diff(gear)))]

    def better(self, seconds: float) -> list[list[float]]:
        """Paths found in a time: RRT-Connect again and again, each made shorter, then BIT* on length for as long."""
        found, end = [], time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0.0:
            _, path = self.solve(geometric.RRTConnect, left)
            if path is not None:
                self.setup.simplifySolution(max(0.001, min(0.2, end - time.perf_counter())))
                found.append(self.measure(self.setup.getSolutionPath()))
        _, path = self.solve(geometric.BITstar, seconds)
        found.append(self.measure(path) if path is not None else None)
        return [each for each in found if each is not None]


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """All cases, then the lengths of rsplan."""
    cases = []
    for given in question["cases"]:
        case = Case(given, question["radius"], question["body"])
        times, first = [], []
        for _ in range(question["tries"]):
            took, path = case.solve(geometric.RRTConnect, question["seconds"])
            measured = None if path is None else case.measure(path)
            if measured is not None:
                times.append(1e3 * took)
                first.append(measured)
        best = case.better(question["seconds"]) if question["better"] else []
        cases.append({"first_ms": times, "first": first, "best": best})
    began = time.perf_counter()
    lengths = [
        rsplan.path((0.0, 0.0, 0.0), tuple(pose), 1.0, 0.0, 10.0, length_tolerance=0.0).total_length
        for pose in question["poses"]
    ]
    took = time.perf_counter() - began
    versions = {name: version(name) for name in ("ompl", "rsplan", "numba")}
    return {"cases": cases, "lengths": lengths, "rsplan_us": 1e6 * took / max(1, len(lengths)), "versions": versions}


if __name__ == "__main__":
    util.setLogLevel(util.LogLevel.LOG_NONE)
    util.RNG.setSeed(1)
    free(np.zeros((1, 4)), 0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
