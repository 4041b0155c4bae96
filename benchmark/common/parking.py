"""Parking cases made from real ones: mirrored, turned, moved, narrower slots, clutter put in; each from its seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.planning.free_space.collision import bin_segments, occupied
from tuling_fsm.planning.free_space.problem import body_of
from tuling_fsm.planning.free_space.tpcap import CAR, ParkingCase, read_case

MARGIN = 12.0
"""The rear axle may go this far (m) beyond the box of start and goal."""
SQUEEZE = 0.25
"""Obstacles are moved towards the goal by up to this, m."""
START_MOVE, START_TURN = 1.5, 0.3
CLUTTER = 3
"""Most boxes put in."""
APART = 0.3
"""What is put in keeps this far (m) from start and goal."""


@dataclass(frozen=True)
class Variation:
    """A case and where it comes from."""

    name: str
    case: ParkingCase


def cases(folder: Path) -> list[Variation]:
    """The real cases and each mirrored."""
    files = sorted(folder.glob("Case*.csv"), key=lambda file: int(file.stem[4:]))
    found = [Variation(file.stem, read_case(file)) for file in files]
    return [*found, *(Variation(f"{each.name} mirrored", moved(each.case, 1, 0.0, (0.0, 0.0))) for each in found)]


def moved(case: ParkingCase, mirror: int, turn: float, shift: tuple[float, float]) -> ParkingCase:
    """The case mirrored (1) or not (0), then turned about the origin (rad) and shifted (m)."""
    c, s, sign = math.cos(turn), math.sin(turn), -1.0 if mirror else 1.0

    def points(xy: FloatArray) -> FloatArray:
        x, y = xy[..., 0], sign * xy[..., 1]
        return np.stack((c * x - s * y + shift[0], s * x + c * y + shift[1]), axis=-1)

    def pose(p: Pose) -> Pose:
        x, y = points(np.array(p[:2]))
        return Pose(float(x), float(y), sign * p.heading + turn)

    edges = points(case.edges.reshape(-1, 2, 2)).reshape(-1, 4)
    return ParkingCase((0.0, 0.0), pose(case.start), pose(case.goal), edges, case.polygon)


def variation(real: list[Variation], seed: int) -> Variation:
    """One variation of one of the real cases."""
    rng = np.random.default_rng(seed)
    base = real[seed % len(real)]
    turn, shift = rng.uniform(-math.pi, math.pi), rng.uniform(-50.0, 50.0, 2)
    case = moved(base.case, int(rng.integers(2)), float(turn), (float(shift[0]), float(shift[1])))
    case = _start_moved(_squeezed(case, rng), rng)
    return Variation(f"{base.name} seed {seed}", _cluttered(case, rng))


def _free(edges: FloatArray, pose: Pose, margin: float) -> bool:
    low, high = np.array(pose[:2]) - 8.0, np.array(pose[:2]) + 8.0
    return not occupied(bin_segments(edges, *low, *high), body_of(CAR, margin), *pose)


def _squeezed(case: ParkingCase, rng: np.random.Generator) -> ParkingCase:
    """Each polygon is moved towards the middle of the car at the goal, as far as start and goal stay free."""
    ahead = 0.5 * (CAR.front - CAR.rear_overhang)
    middle = np.array(case.goal[:2]) + ahead * np.array((math.cos(case.goal.heading), math.sin(case.goal.heading)))
    most, edges = rng.uniform(0.0, SQUEEZE), case.edges.copy()
    for polygon in range(int(case.polygon.max()) + 1):
        own = case.polygon == polygon
        way = middle - edges[own, :2].mean(axis=0)
        step = float(rng.uniform(0.0, most)) * way / max(1e-9, float(np.hypot(*way)))
        for share in (1.0, 0.5, 0.25):
            there = edges[own] + np.tile(share * step, 2)
            if all(_free(there, pose, 0.005) for pose in (case.start, case.goal)):
                edges[own] = there
                break
    return ParkingCase(case.offset, case.start, case.goal, edges, case.polygon)


def _start_moved(case: ParkingCase, rng: np.random.Generator) -> ParkingCase:
    """The start is put elsewhere near by, where that is free."""
    dx, dy = rng.uniform(-START_MOVE, START_MOVE, 2)
    turn = rng.uniform(-START_TURN, START_TURN)
    start = Pose(case.start.x + float(dx), case.start.y + float(dy), case.start.heading + float(turn))
    inside = case.solid(start.x, start.y)
    return case if inside or not _free(case.edges, start, 0.05) else ParkingCase((0.0, 0.0), start, *_rest(case))


def _rest(case: ParkingCase) -> tuple[Pose, FloatArray, np.ndarray]:
    return case.goal, case.edges, case.polygon


def _cluttered(case: ParkingCase, rng: np.random.Generator) -> ParkingCase:
    """A few boxes are put in between, clear of start and goal."""
    edges, polygon = case.edges, case.polygon
    low = np.minimum(case.start[:2], case.goal[:2]) - 4.0
    high = np.maximum(case.start[:2], case.goal[:2]) + 4.0
    for _ in range(int(rng.integers(CLUTTER + 1))):
        (x, y), (length, width) = rng.uniform(low, high), rng.uniform(0.2, 2.0, 2)
        turn = rng.uniform(-math.pi, math.pi)
        u, v = 0.5 * length * np.array((1, -1, -1, 1)), 0.5 * width * np.array((1, 1, -1, -1))
        corners = np.column_stack(
            (x + u * math.cos(turn) - v * math.sin(turn), y + u * math.sin(turn) + v * math.cos(turn))
        )
        box = np.hstack((corners, np.roll(corners, -1, axis=0)))
        apart = all(_free(box, pose, APART) for pose in (case.start, case.goal))
        covers = any(
            ParkingCase((0.0, 0.0), p, p, box, np.zeros(4, np.int64)).solid(p.x, p.y) for p in (case.start, case.goal)
        )
        if apart and not covers:
            edges, polygon = np.vstack((edges, box)), np.append(polygon, np.full(4, polygon.max() + 1))
    return ParkingCase(case.offset, case.start, case.goal, edges, polygon)


def question(each: Variation) -> dict[str, object]:
    """The case as the peers read it."""
    start, goal = each.case.start, each.case.goal
    area = [
        min(start.x, goal.x) - MARGIN, min(start.y, goal.y) - MARGIN,
        max(start.x, goal.x) + MARGIN, max(start.y, goal.y) + MARGIN,
    ]  # fmt: skip
    return {"start": [*start], "goal": [*goal], "area": area, "segments": each.case.edges.tolist()}
