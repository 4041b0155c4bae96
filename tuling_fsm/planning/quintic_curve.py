"""Curves between two poses whose coordinates are quintic polynomials: position, direction and curvature are met at both
ends (Takahashi et al., "Local path planning and motion control for AGV in positioning", IROS 1989).
"""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.planning.paths import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path

_BASIS = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [-10.0, -6.0, -1.5, 10.0, -4.0, 0.5],
        [15.0, 8.0, 1.5, -15.0, 7.0, -1.0],
        [-6.0, -3.0, -0.5, 6.0, -3.0, 0.5],
    ]
)
"""From value, first and second derivative at 0 and at 1 to coefficients, lowest power first."""

_DERIVED = np.arange(6.0)
"""What each power is multiplied by when it is derived."""


def quintic_curve(start: Pose, curvature: float, goal: Pose, stretch: float, spacing: float) -> FloatArray:
    """The curve from a pose with a path curvature (1/m) to a goal that is reached straight, as a path (n, PATH).

    `stretch` is the length of both end tangents in distances between the poses: the greater, the later the curve
    bends. Points are at most about `spacing` (m) apart.
    """
    reach = stretch * elementary.hypot(goal.x - start.x, goal.y - start.y)
    ends = np.zeros((6, 2))
    for row, pose, bend in ((0, start, curvature), (3, goal, 0.0)):
        cos, sin = elementary.cos(pose.heading), elementary.sin(pose.heading)
        ends[row] = pose.x, pose.y
        ends[row + 1] = reach * cos, reach * sin
        ends[row + 2] = -bend * reach * reach * sin, bend * reach * reach * cos
    c = (_BASIS[:, :, None] * ends).sum(axis=1)
    u = np.linspace(0.0, 1.0, max(3, math.ceil(reach / spacing / min(stretch, 1.0)) + 1), dtype=np.float64)
    at = _polynomial(c, u)
    along = _polynomial(_DERIVED[1:, None] * c[1:], u)
    change = _polynomial(_DERIVED[2:, None] * _DERIVED[1:-1, None] * c[2:], u)
    pace = np.maximum(elementwise.hypot(along[:, 0], along[:, 1]), 1e-9)
    path = new_path(len(u))
    path[:, PX], path[:, PY] = at[:, 0], at[:, 1]
    path[:, PCOS], path[:, PSIN] = along[:, 0] / pace, along[:, 1] / pace
    path[:, PHEADING] = np.unwrap([start.heading, *elementwise.arctan2(path[:, PSIN], path[:, PCOS])])[1:]
    path[:, PKAPPA] = (along[:, 0] * change[:, 1] - along[:, 1] * change[:, 0]) / (pace * pace * pace)
    path[1:, PS] = np.cumsum(elementwise.hypot(np.diff(at[:, 0]), np.diff(at[:, 1])))
    return path


def _polynomial(coefficients: FloatArray, u: FloatArray) -> FloatArray:
    """Values (n, 2) of two polynomials at `u` (n,); coefficients (k, 2), lowest power first (Horner)."""
    value = np.zeros((len(u), 2))
    for row in coefficients[::-1]:
        value = value * u[:, None] + row
    return value


def straight(start: Pose, length: float, spacing: float) -> FloatArray:
    """The straight path (n, PATH) ahead of a pose, without its end at `length` (m)."""
    s = np.arange(math.ceil(length / spacing)) * (length / math.ceil(length / spacing))
    path = new_path(len(s))
    path[:, PS], path[:, PHEADING] = s, start.heading
    path[:, PCOS], path[:, PSIN] = elementary.cos(start.heading), elementary.sin(start.heading)
    path[:, PX], path[:, PY] = start.x + s * path[:, PCOS], start.y + s * path[:, PSIN]
    return path
