"""The half-planes of neighbours: each does half of the avoiding."""

from __future__ import annotations

import math

from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.orca.crowd import Crowd, IntArray
from tuling_fsm.sim.orca.neighbours import Tree
from tuling_fsm.sim.orca.program import Lines, unit


@kernel
def agent_lines(
    crowd: Crowd, i: int, tree: Tree, near: IntArray, number: int, dt: float, lines: Lines, count: int
) -> int:
    """Half-planes of `number` neighbours, places in the tree, for agent `i`, which does half of the avoiding in
    a step of `dt` s. Returns how many lines there are then.
    """
    x, y, vx, vy = crowd.x[i], crowd.y[i], crowd.vx[i], crowd.vy[i]
    inverse, inverse_dt = 1.0 / crowd.horizon[i], 1.0 / dt
    for k in range(number):
        j = near[k]
        px, py, rx, ry = tree.x[j] - x, tree.y[j] - y, vx - tree.vx[j], vy - tree.vy[j]
        distance_sq, radius = px * px + py * py, crowd.radius[i] + tree.radius[j]
        apart = distance_sq > radius * radius
        rate = inverse if apart else inverse_dt
        wx, wy = rx - rate * px, ry - rate * py
        w_sq = wx * wx + wy * wy
        dot = wx * px + wy * py
        if not apart or (dot < 0.0 and dot * dot > radius * radius * w_sq):
            # Nearest is the circle that cuts the cone off; in touch already it is all that counts.
            # Two in one place with one velocity go apart along x, the lower number to the right.
            wx, wy, length = unit(wx, wy, 1.0 if i < tree.order[j] else -1.0, 0.0)
            dx, dy, change = wy, -wx, radius * rate - length
            ux, uy = change * wx, change * wy
        else:
            leg = math.sqrt(distance_sq - radius * radius)
            if px * wy - py * wx > 0.0:
                dx, dy = (px * leg - py * radius) / distance_sq, (px * radius + py * leg) / distance_sq
            else:
                dx, dy = -(px * leg + py * radius) / distance_sq, (px * radius - py * leg) / distance_sq
            speed = rx * dx + ry * dy
            ux, uy = speed * dx - rx, speed * dy - ry
        lines.px[count], lines.py[count], lines.dx[count], lines.dy[count] = vx + 0.5 * ux, vy + 0.5 * uy, dx, dy
        count += 1
    return count
