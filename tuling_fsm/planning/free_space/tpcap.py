"""Cases of the Trajectory Planning Competition of Automated Parking ([li2022][]), read and solved.

A case is one row of numbers: start and goal (x, y, heading of the rear axle; m, rad), the number of polygons, the
number of vertices of each, then the vertices. Polygons may be concave and run either way.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.request import Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.collision import InflatedFootprint, occupied
from tuling_fsm.planning.free_space.planner import HAIR, RollingStart, timed_motion, timed_rows
from tuling_fsm.planning.free_space.problem import FreeSpaceProblem, body_of, build_problem
from tuling_fsm.planning.free_space.search_tree import SearchTree
from tuling_fsm.planning.free_space.smoothing import GEAR, LENGTH
from tuling_fsm.planning.free_space.solver import FoundPath, first_path, improve, new_tree, passing_tree
from tuling_fsm.planning.free_space.speed_profile import STEER, H, T, X, limits_of
from tuling_fsm.planning.parameters import FreeSpaceParameters

CAR = Vehicle(max_speed=2.5, max_reverse_speed=2.5, max_accel=1.0, comfort_decel=1.0)
"""The car and the limits of the competition."""
PARAMETERS = FreeSpaceParameters(clearance=0.003, least_clearance=0.003, gear_hold=0.0)
EXPANSIONS = 20_000
PATIENCE = (3, 9)
"""So many times as much is spent, one after the other, where that has not been enough: no tick waits for it."""
TOUCH = 1e-7
"""What start and goal may reach into a polygon (m): what only touches is free, and numbers are rounded."""
REPEATS = 5
NOTHING = np.zeros((0, 8))
FAR_M, BEYOND_M = 1e3, 1e12
"""Nothing of a case lies farther from its start, or that from the origin: larger numbers are slips of the file that
would only exhaust memory and time.
"""


@dataclass(frozen=True, eq=False)
class ParkingCase:
    """Start, goal, edges (M, 4) of all polygons and the polygon of each, all shifted by `-offset` (m).

    The offset keeps the digits of far coordinates.
    """

    offset: tuple[float, float]
    start: Pose
    goal: Pose
    edges: FloatArray
    polygon: IntArray

    def solid(self, x: float, y: float) -> bool:
        """Whether a point is in a polygon (crossing number, so either orientation will do)."""
        return bool(_covered(self.edges, self.polygon, x, y))


@kernel
def _covered(edges: FloatArray, polygon: IntArray, x: float, y: float) -> bool:
    """Whether a ray to the right of the point crosses an odd number of edges of a polygon."""
    odd = False
    for i in range(len(edges)):
        if i > 0 and polygon[i] != polygon[i - 1]:
            if odd:
                return True
            odd = False
        x0, y0, x1, y1 = edges[i, 0], edges[i, 1], edges[i, 2], edges[i, 3]
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            odd = not odd
    return odd


@dataclass(frozen=True, eq=False)
class ParkingSolution:
    """Reason, time to the first path and to the whole trajectory (s), motion (N, 8), timed rows (M, 7) shifted as the
    case is.
    """

    reason: Reason
    first: float
    whole: float
    motion: FloatArray
    rows: FloatArray

    @property
    def cusps(self) -> int:
        """Changes of gear."""
        return int(np.count_nonzero(np.diff(self.motion[:, GEAR])))

    @property
    def length(self) -> float:
        """What is driven, m."""
        return float(self.motion[:, LENGTH].sum())


def _numbers(path: FilePath) -> list[float]:
    """All numbers of the file; line ends separate like commas."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text"
        raise InputError(str(path), f"cannot be read: {reason}", "a TPCAP case") from error
    numbers = []
    for place, word in enumerate((w for w in text.replace("\n", ",").split(",") if w.strip()), start=1):
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{path}: value {place}", f"{word.strip()[:40]!r} is no number", "a finite number")
        numbers.append(value)
    return numbers


def _count(numbers: list[float], place: int, least: int, path: FilePath, what: str) -> int:
    """A whole number of the row."""
    value, most = numbers[place], len(numbers)
    if value != int(value) or not least <= value <= most:
        expected = f"a whole number from {least} to {most}, as the file has no more values"
        raise InputError(f"{path}: value {place + 1}", f"{value:g} {what}", expected)
    return int(value)


def _check_reach(numbers: list[float], vertices: int, path: FilePath) -> None:
    """Raise `InputError` where start, goal or a vertex (from that place of the row on) is too far away."""
    for turn, place in enumerate((0, 1, 3, 4, *range(vertices, len(numbers)))):
        start, value = numbers[turn % 2], numbers[place]
        if abs(start) > BEYOND_M or abs(value - start) > FAR_M:
            expected = f"within {FAR_M:g} m of the start, which is within {BEYOND_M:g} m of the origin"
            raise InputError(f"{path}: value {place + 1}", f"{value:g} m lies beyond all bounds", expected)


def read_case(path: str | FilePath) -> ParkingCase:
    """Reads a case.

    Raises:
        InputError: the file is missing, holds something that is no number, too few or too many of them, or places that
            are too far away.
    """
    path = FilePath(path)
    numbers = _numbers(path)
    if len(numbers) < 7:
        raise InputError(str(path), f"{len(numbers)} values", "start, goal and the number of polygons: at least 7")
    polygons = _count(numbers, 6, 0, path, "polygons")
    if len(numbers) < 7 + polygons:
        raise InputError(str(path), f"ends within the vertex counts of {polygons} polygons", f"{7 + polygons} values")
    counts = np.array([_count(numbers, 7 + i, 3, path, "vertices") for i in range(polygons)], dtype=np.int64)
    want = 7 + polygons + 2 * int(counts.sum())
    if len(numbers) != want:
        raise InputError(
            str(path), f"{len(numbers)} values", f"{want} for {polygons} polygons of {counts.sum()} vertices"
        )
    _check_reach(numbers, 7 + polygons, path)
    offset = (math.floor(numbers[0]), math.floor(numbers[1]))
    vertices = np.array(numbers[7 + polygons :]).reshape(-1, 2) - offset
    owner = np.repeat(np.arange(polygons), counts)
    following = np.arange(1, len(vertices) + 1)
    following[np.cumsum(counts) - 1] -= counts
    start = Pose(numbers[0] - offset[0], numbers[1] - offset[1], numbers[2])
    goal = Pose(numbers[3] - offset[0], numbers[4] - offset[1], numbers[5])
    return ParkingCase(offset, start, goal, np.hstack((vertices, vertices[following])), owner)


def _blocked(case: ParkingCase, problem: FreeSpaceProblem) -> Reason:
    """Whether the start or the goal is occupied."""
    body = body_of(CAR, -TOUCH)
    for pose, local, reason in (
        (case.start, problem.start, Reason.START_OCCUPIED),
        (case.goal, problem.goals[0], Reason.GOAL_OCCUPIED),
    ):
        if occupied(problem.walls, body, *local) or case.solid(pose.x, pose.y):
            return reason
    return Reason.NONE


def _bodies(problem: FreeSpaceProblem) -> tuple[InflatedFootprint, ...]:
    """The footprint with the clearances that are tried; the least of all only where the start or the goal touches."""
    margins = [PARAMETERS.least_clearance, HAIR]
    if any(occupied(problem.walls, body_of(CAR, HAIR), *pose) for pose in (problem.start, *problem.goals)):
        margins.append(-TOUCH)
    return tuple(body_of(CAR, margin) for margin in margins)


def _found(
    problem: FreeSpaceProblem, tree: SearchTree, patience: Sequence[int]
) -> tuple[FoundPath | Reason, SearchTree]:
    """The first path, or why there is none, and the tree that it was last searched for in."""
    bodies = _bodies(problem)
    found = first_path(problem, bodies, EXPANSIONS, tree)
    for times in patience:
        if found is not Reason.TIMEOUT:
            break
        tree = passing_tree(times)
        found = first_path(problem, bodies, times * EXPANSIONS, tree)
    return found, tree


def solve_once(
    case: ParkingCase, clock: Callable[[], float], tree: SearchTree, patience: Sequence[int] = ()
) -> ParkingSolution:
    """Plans a case once, searching in `tree`; `clock` gives seconds.

    What runs out of `EXPANSIONS` is searched for again with as many times as much as `patience` says, in larger trees.
    """
    began = clock()
    problem = build_problem(case.start, [case.goal], case.edges, CAR, PARAMETERS)
    reason = _blocked(case, problem)
    if reason is not Reason.NONE:
        return ParkingSolution(reason, 0.0, clock() - began, NOTHING, NOTHING)
    found, tree = _found(problem, tree, patience)
    first = clock() - began
    if isinstance(found, Reason):
        return ParkingSolution(found, first, first, NOTHING, NOTHING)
    path = improve(problem, *found, PARAMETERS.improve_expansions, tree)
    roll = RollingStart(0.0, 0.0, 0.0)
    motion = timed_motion(problem, path, CAR, PARAMETERS, roll)
    if len(motion) == 0:
        return ParkingSolution(Reason.NONE, first, clock() - began, motion, _standing(case.start))
    rows = timed_rows(problem, motion, limits_of(CAR, PARAMETERS, CAR.max_speed), PARAMETERS, roll)
    return ParkingSolution(Reason.NONE, first, clock() - began, motion, rows)


def _standing(pose: Pose) -> FloatArray:
    """Timed rows of a car that is where it should be."""
    rows = np.zeros((2, 7))
    rows[:, X : H + 1] = pose
    rows[1, T] = PARAMETERS.row
    return rows


def solve_case(path: str | FilePath, clock: Callable[[], float]) -> dict[str, Any]:
    """Plans a case: `status`, `reason`, `first_path_ms`, `elapsed_ms`, `cusps`, `length_m`, `trajectory`.

    `clock` gives seconds; times are medians of runs after a first one that is not counted, or those of one patient run
    where the first has run out of expansions. `trajectory` has rows [t, x, y, heading, v, steer] of the rear axle in
    the coordinates of the file.

    Raises:
        InputError: as `read_case`.
    """
    case, tree = read_case(path), new_tree()
    hard = solve_once(case, clock, tree).reason is Reason.TIMEOUT
    runs = [solve_once(case, clock, tree, PATIENCE if hard else ()) for _ in range(1 if hard else REPEATS)]
    last = runs[-1]
    rows = last.rows.copy()
    rows[:, 1:3] += case.offset
    return {
        "status": "ok" if last.reason is Reason.NONE else "failed",
        "reason": last.reason.value,
        "first_path_ms": 1e3 * statistics.median(run.first for run in runs),
        "elapsed_ms": 1e3 * statistics.median(run.whole for run in runs),
        "cusps": last.cusps,
        "length_m": last.length,
        "trajectory": rows[:, T : STEER + 1].tolist(),
    }
