"""OMPL and rsplan on free-space cases. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"cases": [{"start", "goal", "area": [x0, y0, x1, y1], "segments": [[x0, y0, x1, y1], ...]}, ...], "poses": [...],
      "radius", "body": [rear, front, half], "seconds", "tries", "better": 0 or 1}
Out: {"cases": [{"first_ms": [...], "first": [[length, changes], ...], "best": [[length, changes], ...],
                "counted": [ms, calls of the checker] of one more try, if better}, ...],
      "call_us": float, "lengths": [...], "rsplan_us": float, "versions": {...}}

OMPL's package takes no compiled checker: it calls back into Python for every state. `call_us` is what such a call takes
where there is nothing to check, arguments and all.

A path counts where the car, placed every centimetre and half a centimetre smaller on all sides, touches nothing.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
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
NOTHING = np.zeros((0, 4))
CALLS = 20000
"""States that are checked to time one call."""


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
        self.setup.setStateValidityChecker(self.checker(self.segments))
        information = self.setup.getSpaceInformation()
        information.setStateValidityCheckingResolution(STEP / self.space.getMaximumExtent())
        self.setup.setStartAndGoalStates(self._state(case["start"]), self._state(case["goal"]))

    def checker(self, segments: np.ndarray) -> Callable[[Any], bool]:
        """What OMPL calls for every state."""
        rear, front, half = self.body
        return lambda state: free(segments, state.getX(), state.getY(), state.getYaw(), rear, front, half)

    def counted(self, seconds: float) -> list[float]:
        """CPU time (ms) of one try, and how often the checker was called in it."""
        check, calls = self.checker(self.segments), itertools.count()
        self.setup.setStateValidityChecker(lambda state: next(calls) < 0 or check(state))
        took, _ = self.solve(geometric.RRTConnect, seconds)
        self.setup.setStateValidityChecker(check)
        return [1e3 * took, next(calls)]

    def call_us(self) -> float:
        """What the call of a checker takes beyond one that is compiled into OMPL, both with nothing to check."""
        information, calls = self.setup.getSpaceInformation(), itertools.count()
        ends = [information.allocState() for _ in range(2)]
        bounds = self.space.getBounds()
        for state, corner in zip(ends, (bounds.low, bounds.high), strict=True):
            state.setXY(*corner)
            state.setYaw(0.0)
        self.setup.setStateValidityChecker(lambda _: next(calls) >= 0)
        information.checkMotion(*ends)
        each, times = next(calls), []
        for checker in (self.checker(NOTHING), base.AllValidStateValidityChecker(information)):
            self.setup.setStateValidityChecker(checker)
            began = time.process_time()
            for _ in range(max(1, CALLS // each)):
                information.checkMotion(*ends)
            times.append(time.process_time() - began)
        self.setup.setStateValidityChecker(self.checker(self.segments))
        return 1e6 * (times[0] - times[1]) / (each * max(1, CALLS // each))

    def _state(self, pose: list[float]) -> Any:
        state = self.space.allocState()
        state.setXY(pose[0], pose[1])
        state.setYaw(math.remainder(pose[2], 2.0 * math.pi))
        return state

    def solve(self, planner: type, seconds: float) -> tuple[float, Any | None]:
        """CPU time (s) and the path, if it is one."""
        self.setup.clear()
        self.setup.setPlanner(planner(self.setup.getSpaceInformation()))
        began = time.process_time()
        self.setup.solve(seconds)
        took = time.process_time() - began
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
    cases, call_us = [], []
    for given in question["cases"]:
        case = Case(given, question["radius"], question["body"])
        if question["better"]:
            call_us.append(case.call_us())
        times, first = [], []
        for _ in range(question["tries"]):
            took, path = case.solve(geometric.RRTConnect, question["seconds"])
            measured = None if path is None else case.measure(path)
            if measured is not None:
                times.append(1e3 * took)
                first.append(measured)
        best = case.better(question["seconds"]) if question["better"] else []
        counted = case.counted(question["seconds"]) if question["better"] else []
        cases.append({"first_ms": times, "first": first, "best": best, "counted": counted})
    began = time.process_time()
    lengths = [
        rsplan.path((0.0, 0.0, 0.0), tuple(pose), 1.0, 0.0, 10.0, length_tolerance=0.0).total_length
        for pose in question["poses"]
    ]
    took = time.process_time() - began
    versions = {name: version(name) for name in ("ompl", "rsplan", "numba")}
    return {
        "cases": cases, "call_us": statistics.median(call_us or [0.0]), "lengths": lengths,
        "rsplan_us": 1e6 * took / max(1, len(lengths)), "versions": versions,
    }  # fmt: skip


if __name__ == "__main__":
    util.setLogLevel(util.LogLevel.LOG_NONE)
    util.RNG.setSeed(1)
    free(np.zeros((1, 4)), 0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
