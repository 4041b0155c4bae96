"""A free-space case with its answer, as pictures show it: polygons, poses, the timed rows, and its moves by gear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.tpcap import CAR, read_case

T, X, Y, HEADING, V, STEER = range(6)
"""Columns of the rows."""
FORWARD, REVERSE = 1, -1
STANDS = 1e-6
"""A slower row has no gear of its own, m/s."""


class CaseMotion(NamedTuple):
    """What is driven in one gear: rows `first` to `last`, and its length (m)."""

    gear: int
    first: int
    last: int
    length: float


@dataclass(frozen=True, eq=False)
class CaseResult:
    """A case and what became of it, in the coordinates of its file (m, rad).

    `rows` (N, 6) are t, x, y, heading, v, steer of the rear axle; none where there is no plan, for `reason`.
    """

    name: str
    vehicle: Vehicle
    start: Pose
    goal: Pose
    polygons: tuple[FloatArray, ...]
    rows: FloatArray
    reason: str
    solved: bool

    @property
    def moves(self) -> tuple[CaseMotion, ...]:
        """One after the other; none where nothing is driven."""
        gears = _gears(self.rows)
        if not gears.any():
            return ()
        begins = np.concatenate(([0], np.flatnonzero(np.diff(gears)) + 1))
        ends = np.append(begins[1:], len(gears) - 1)
        driven = self.driven
        return tuple(
            CaseMotion(int(gears[first]), int(first), int(last), float(driven[last] - driven[first]))
            for first, last in zip(begins, ends, strict=True)
        )

    @property
    def driven(self) -> FloatArray:
        """How far the car has gone at each row, m."""
        steps = elementwise.hypot(np.diff(self.rows[:, X]), np.diff(self.rows[:, Y]))
        return np.concatenate(([0.0], np.cumsum(steps)))[: len(self.rows)]

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 of all that is driven and of what stands near it, m."""
        poses = [self.start, self.goal, *(Pose(*row) for row in self.rows[:, X : HEADING + 1].tolist())]
        corners = np.vstack([self.vehicle.footprint(pose) for pose in poses])
        low, high = corners.min(axis=0) - MARGIN_M, corners.max(axis=0) + MARGIN_M
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])


MARGIN_M = 2.5


def _gears(rows: FloatArray) -> FloatArray:
    """1 or -1 of each row; standing it has that of the move that begins, or the last one."""
    gears = np.where(np.abs(rows[:, V]) > STANDS, np.sign(rows[:, V]), 0.0)
    known = np.flatnonzero(gears)
    if not len(known):
        return gears
    following = np.minimum(np.searchsorted(known, np.arange(len(gears))), len(known) - 1)
    return np.asarray(gears[known[following]], dtype=np.float64)


def case_result(file: Path, answer: Mapping[str, Any]) -> CaseResult:
    """A case from its file and the answer of `solve_case`.

    Raises:
        InputError: the file cannot be read.
    """
    case = read_case(file)
    corners = case.edges[:, :2] + case.offset
    cuts = np.flatnonzero(np.diff(case.polygon)) + 1
    dx, dy = case.offset
    return CaseResult(
        file.stem,
        CAR,
        Pose(case.start.x + dx, case.start.y + dy, case.start.heading),
        Pose(case.goal.x + dx, case.goal.y + dy, case.goal.heading),
        tuple(np.split(corners, cuts)) if len(corners) else (),
        np.array(answer["trajectory"], dtype=np.float64).reshape(-1, STEER + 1),
        str(answer["reason"]),
        answer["status"] == "ok",
    )
