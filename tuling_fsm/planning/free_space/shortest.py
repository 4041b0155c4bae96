"""The shortest way between two poses where nothing is in the way."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, TINY, WORDS, cost_of, words


def shortest_reeds_shepp(start: Pose, goal: Pose, radius: float, gear_cost: float = 0.0) -> list[tuple[float, float]]:
    """The Reeds-Shepp curve (Pacific Journal of Mathematics 145(2), 1990) from one pose of the rear axle to another.

    Args:
        start: x, y (m), heading (rad).
        goal: the same.
        radius: least turning radius, m.
        gear_cost: what a change of gear costs, in metres of way.

    Returns:
        Its pieces in order: signed length (m, negative in reverse) and curvature (1/m, + left). Empty at the goal.
    """
    dx, dy = (goal.x - start.x) / radius, (goal.y - start.y) / radius
    cos, sin = elementary.cos(start.heading), elementary.sin(start.heading)
    lengths, steers = np.zeros((WORDS, PIECES)), np.zeros((WORDS, PIECES))
    n = words(cos * dx + sin * dy, cos * dy - sin * dx, goal.heading - start.heading, lengths, steers)
    best = min(range(n), key=lambda i: cost_of(lengths[i], radius, 0, 0, gear_cost))
    return [
        (radius * length, steer / radius)
        for length, steer in zip(lengths[best].tolist(), steers[best].tolist(), strict=True)
        if abs(length) > TINY
    ]
