"""What stands behind something else and is not seen."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.sim.scoring.collisions import SAME_LEVEL_M
from tuling_fsm.world.inputs import Kind

LOW = (Kind.CONE, Kind.DEBRIS)
"""Kinds that can be seen over: they hide one another only."""
_SIGNS = ((1, 1), (-1, 1), (-1, -1), (1, -1))


def hidden(x: float, y: float, agents: AgentBoxes) -> BoolArray:
    """Which of N objects cannot be seen from a point (m) behind other objects on their level that are no lower: no line
    of sight to the middle or to any corner (N,).
    """
    found = np.zeros(len(agents.boxes), dtype=np.bool_)
    points = np.concatenate((_corners(agents.boxes), agents.boxes[:, None, :2]), axis=1)
    _mark_hidden((x, y), points, agents.boxes[:, 2], np.isin(agents.kinds, LOW), found)
    return found


def _corners(boxes: FloatArray) -> FloatArray:
    """Corners (N, 4, 2) in order."""
    s, c = elementwise.sin_cos(boxes[:, 3])
    u, v = 0.5 * boxes[:, 4], 0.5 * boxes[:, 5]
    sides = [
        np.column_stack((boxes[:, 0] + i * u * c - j * v * s, boxes[:, 1] + i * u * s + j * v * c)) for i, j in _SIGNS
    ]
    return np.stack(sides, axis=1)


@inlined_kernel
def _side(a: tuple[float, float], b: tuple[float, float], p: tuple[float, float]) -> float:
    """On which side of the line from `a` to `b` a point lies."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


@kernel
def _crosses(eye: tuple[float, float], target: tuple[float, float], corners: FloatArray) -> bool:
    """Whether the sight from `eye` to `target` crosses a side between corners (>= 4, 2)."""
    for k in range(4):
        start, end = (corners[k, 0], corners[k, 1]), (corners[(k + 1) % 4, 0], corners[(k + 1) % 4, 1])
        across = _side(eye, target, start) * _side(eye, target, end) < 0.0
        if across and _side(start, end, eye) * _side(start, end, target) < 0.0:
            return True
    return False


@kernel
def _covered(
    eye: tuple[float, float], points: FloatArray, z: FloatArray, low: BoolArray, i: int, target: tuple[float, float]
) -> bool:
    """Whether another object than `i` stands between the eye and a point of `i`."""
    for j in range(len(points)):
        if j == i or abs(z[i] - z[j]) > SAME_LEVEL_M or (low[j] and not low[i]):
            continue
        if _crosses(eye, target, points[j]):
            return True
    return False


@kernel
def _mark_hidden(eye: tuple[float, float], points: FloatArray, z: FloatArray, low: BoolArray, found: BoolArray) -> None:
    """Mark objects of which all points (N, 5, 2), the four corners first, are covered by others."""
    for i in range(len(points)):
        found[i] = True
        for k in range(5):
            if not _covered(eye, points, z, low, i, (points[i, k, 0], points[i, k, 1])):
                found[i] = False
                break
