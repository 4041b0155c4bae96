"""Curves between two poses whose coordinates are quintic polynomials: position, direction and curvature are met at both
ends (Takahashi et al., "Local path planning and motion control for AGV in positioning", IROS 1989).
"""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.planning.paths import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path

_BASIS = np.linalg.inv(
    np.array(
        [
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 2.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            [0.0, 0.0, 2.0, 6.0, 12.0, 20.0],
        ]
    )
)
"""From value, first and second derivative at 0 and at 1 to coefficients, lowest power first."""


def quintic_curve(start: Pose, curvature: float, goal: Pose, stretch: float, spacing: float) -> FloatArray:
    """The curve from a pose with a path curvature (1/m) to a goal that is reached straight, as a path (n, PATH).

    `stretch` is the length of both end tangents in distances between the poses: the greater, the later the curve
    bends. Points are at most about `spacing` (m) apart.
    """
    reach = stretch * math.hypot(goal.x - start.x, goal.y - start.y)
    ends = np.zeros((6, 2))
    for row, pose, bend in ((0, start, curvature), (3, goal, 0.0)):
        cos, sin = math.cos(pose.heading), math.sin(pose.heading)
        ends[row] = pose.x, pose.y
        ends[row + 1] = reach * cos, reach * sin
        ends[row + 2] = -bend * reach * reach * sin, bend * reach * reach * cos
    powers = np.arange(6)
    u = np.linspace(0.0, 1.0, max(3, math.ceil(reach / spacing / min(stretch, 1.0)) + 1))
    rows = u[:, None] ** powers @ _BASIS
    slope = (powers[1:] * u[:, None] ** powers[:-1]) @ _BASIS[1:]
    bow = (powers[2:] * powers[1:-1] * u[:, None] ** powers[:-2]) @ _BASIS[2:]
    at, along, change = rows @ ends, slope @ ends, bow @ ends
    pace = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)
    path = new_path(len(u))
    path[:, PX], path[:, PY] = at[:, 0], at[:, 1]
    path[:, PCOS], path[:, PSIN] = along[:, 0] / pace, along[:, 1] / pace
    path[:, PHEADING] = np.unwrap([start.heading, *np.arctan2(path[:, PSIN], path[:, PCOS])])[1:]
    path[:, PKAPPA] = (along[:, 0] * change[:, 1] - along[:, 1] * change[:, 0]) / pace**3
    path[1:, PS] = np.cumsum(np.hypot(np.diff(at[:, 0]), np.diff(at[:, 1])))
    return path


def straight(start: Pose, length: float, spacing: float) -> FloatArray:
    """The straight path (n, PATH) ahead of a pose, without its end at `length` (m)."""
    s = np.arange(math.ceil(length / spacing)) * (length / math.ceil(length / spacing))
    path = new_path(len(s))
    path[:, PS], path[:, PHEADING] = s, start.heading
    path[:, PCOS], path[:, PSIN] = math.cos(start.heading), math.sin(start.heading)
    path[:, PX], path[:, PY] = start.x + s * path[:, PCOS], start.y + s * path[:, PSIN]
    return path
