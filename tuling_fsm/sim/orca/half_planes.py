"""The half-planes of a step: neighbours do half of the avoiding each, obstacles none."""

from __future__ import annotations

import math

from tuling_fsm.core.arrays import Int32Array
from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt
from tuling_fsm.sim.orca.crowd import Crowd
from tuling_fsm.sim.orca.linear_program import EPSILON, HalfPlanes, unit
from tuling_fsm.sim.orca.neighbours import AgentGrid
from tuling_fsm.sim.orca.walls import ObstacleEdges


@inlined_kernel
def agent_lines(
    crowd: Crowd, i: int, grid: AgentGrid, near: Int32Array, number: int, dt: float, lines: HalfPlanes, count: int
) -> int:
    """Half-planes of `number` neighbours, places in the grid, for agent `i`, which does half of the avoiding in
    a step of `dt` s. Returns how many lines there are then.
    """
    x, y, vx, vy = crowd.x[i], crowd.y[i], crowd.vx[i], crowd.vy[i]
    inverse, inverse_dt = 1.0 / crowd.horizon[i], 1.0 / dt
    for k in range(number):
        j = near[k]
        px, py, rx, ry = grid.x[j] - x, grid.y[j] - y, vx - grid.vx[j], vy - grid.vy[j]
        distance_sq, radius = px * px + py * py, crowd.radius[i] + grid.radius[j]
        apart = distance_sq > radius * radius
        rate = inverse if apart else inverse_dt
        wx, wy = rx - rate * px, ry - rate * py
        w_sq = wx * wx + wy * wy
        dot = wx * px + wy * py
        if not apart or (dot < 0.0 and dot * dot > radius * radius * w_sq):
            # Nearest is the circle that cuts the cone off; in touch already it is all that counts.
            # Two in one place with one velocity go apart along x, the lower number to the right.
            wx, wy, length = unit(wx, wy, 1.0 if i < grid.order[j] else -1.0, 0.0)
            dx, dy, change = wy, -wx, radius * rate - length
            ux, uy = change * wx, change * wy
        else:
            leg = sqrt(distance_sq - radius * radius)
            # The left leg or the right one, by a sign: which it is cannot be foreseen.
            side = 1.0 if px * wy - py * wx > 0.0 else -1.0
            dx = (side * px * leg - py * radius) / distance_sq
            dy = (px * radius + side * py * leg) / distance_sq
            speed = rx * dx + ry * dy
            ux, uy = speed * dx - rx, speed * dy - ry
        lines.px[count], lines.py[count], lines.dx[count], lines.dy[count] = vx + 0.5 * ux, vy + 0.5 * uy, dx, dy
        count += 1
    return count


@inlined_kernel
def _det(ax: float, ay: float, bx: float, by: float) -> float:
    return ax * by - ay * bx


@inlined_kernel
def _put(lines: HalfPlanes, count: int, px: float, py: float, dx: float, dy: float) -> int:
    lines.px[count], lines.py[count], lines.dx[count], lines.dy[count] = px, py, dx, dy
    return count + 1


@inlined_kernel
def _covered(
    lines: HalfPlanes, count: int, ax: float, ay: float, bx: float, by: float, radius: float, inverse: float
) -> bool:
    """Whether a line that is there already keeps the agent off both ends of an edge."""
    for j in range(count):
        dx, dy = lines.dx[j], lines.dy[j]
        first = _det(inverse * ax - lines.px[j], inverse * ay - lines.py[j], dx, dy) - inverse * radius
        second = _det(inverse * bx - lines.px[j], inverse * by - lines.py[j], dx, dy) - inverse * radius
        if first >= -EPSILON and second >= -EPSILON:
            return True
    return False


@inlined_kernel
def wall_lines(
    crowd: Crowd, i: int, walls: ObstacleEdges, edges: Int32Array, number: int, lines: HalfPlanes
) -> int:  # fmt: skip
    """Half-planes of `number` edges, nearest first, for agent `i`, which does all of the avoiding. Returns how many."""
    count = 0
    radius, inverse = crowd.radius[i], 1.0 / crowd.horizon_obst[i]
    for k in range(number):
        one = edges[k]
        other = walls.next[one]
        ax, ay = walls.x[one] - crowd.x[i], walls.y[one] - crowd.y[i]
        bx, by = walls.x[other] - crowd.x[i], walls.y[other] - crowd.y[i]
        if not _covered(lines, count=count, ax=ax, ay=ay, bx=bx, by=by, radius=radius, inverse=inverse):
            count = _wall_line(crowd, i, walls, one, other, lines, count)
    return count


@kernel
def _wall_line(crowd: Crowd, i: int, walls: ObstacleEdges, one: int, other: int, lines: HalfPlanes, count: int) -> int:
    """The half-plane of the edge between vertices `one` and `other`, if it has one of its own."""
    ax, ay = walls.x[one] - crowd.x[i], walls.y[one] - crowd.y[i]
    ex, ey = walls.x[other] - walls.x[one], walls.y[other] - walls.y[one]
    s = -(ax * ex + ay * ey) / (ex * ex + ey * ey)
    radius_sq = crowd.radius[i] ** 2
    if (ax + s * ex) ** 2 + (ay + s * ey) ** 2 > radius_sq:
        return _cone(crowd, i, walls, one, other, lines, count)
    along_x, along_y = walls.along_x[one], walls.along_y[one]
    if 0.0 <= s <= 1.0:
        return _put(lines, count, 0.0, 0.0, -along_x, -along_y)
    # Seen along the edge: it hides behind its nearer corner. In touch with that, away from it, whatever the speed.
    corner = one if s < 0.0 else other
    if not walls.convex[corner]:
        return count
    cx, cy = walls.x[corner] - crowd.x[i], walls.y[corner] - crowd.y[i]
    if cx * cx + cy * cy > radius_sq:
        return _cone(crowd, i, walls, corner, corner, lines, count)
    if s > 1.0 and _det(cx, cy, walls.along_x[corner], walls.along_y[corner]) < 0.0:
        return count
    to_x, to_y, _ = unit(cx, cy, -along_y, along_x)
    return _put(lines, count, 0.0, 0.0, -to_y, to_x)


@kernel
def _cone(crowd: Crowd, i: int, walls: ObstacleEdges, one: int, other: int, lines: HalfPlanes, count: int) -> int:
    """The line where the velocity is nearest to the border of the velocity obstacle of an edge, or of one corner."""
    radius, inverse = crowd.radius[i], 1.0 / crowd.horizon_obst[i]
    ax, ay = walls.x[one] - crowd.x[i], walls.y[one] - crowd.y[i]
    bx, by = walls.x[other] - crowd.x[i], walls.y[other] - crowd.y[i]
    left_x, left_y, left_foreign = _left_leg(walls, one, ax, ay, radius)
    right_x, right_y, right_foreign = _right_leg(walls, other, one, bx, by, radius)
    # The velocity as seen from the two ends of the cut-off, which is the edge drawn nearer by the horizon.
    ax, ay, bx, by, reach = inverse * ax, inverse * ay, inverse * bx, inverse * by, inverse * radius
    fx, fy = crowd.vx[i] - ax, crowd.vy[i] - ay
    gx, gy = crowd.vx[i] - bx, crowd.vy[i] - by
    cut_x, cut_y, point = bx - ax, by - ay, one == other
    t = 0.5 if point else (fx * cut_x + fy * cut_y) / (cut_x * cut_x + cut_y * cut_y)
    t_left, t_right = fx * left_x + fy * left_y, gx * right_x + gy * right_y
    if t_left < 0.0 and (t < 0.0 or (point and t_right < 0.0)):
        return _round(lines, count, ax, ay, fx, fy, reach)
    if t > 1.0 and t_right < 0.0:
        return _round(lines, count, bx, by, gx, gy, reach)
    to_cut = math.inf if not 0.0 <= t <= 1.0 or point else (fx - t * cut_x) ** 2 + (fy - t * cut_y) ** 2
    to_left = math.inf if t_left < 0.0 else (fx - t_left * left_x) ** 2 + (fy - t_left * left_y) ** 2
    to_right = math.inf if t_right < 0.0 else (gx - t_right * right_x) ** 2 + (gy - t_right * right_y) ** 2
    if to_cut <= to_left and to_cut <= to_right:
        return _beside(lines, count, ax, ay, -walls.along_x[one], -walls.along_y[one], reach)
    if to_left <= to_right:
        return count if left_foreign else _beside(lines, count, ax, ay, left_x, left_y, reach)
    return count if right_foreign else _beside(lines, count, bx, by, -right_x, -right_y, reach)


@kernel
def _round(lines: HalfPlanes, count: int, cx: float, cy: float, wx: float, wy: float, reach: float) -> int:
    """The tangent where a velocity, `w` away from a cut-off end `c`, meets the circle around it."""
    wx, wy, _ = unit(wx, wy, 1.0, 0.0)
    return _put(lines, count, cx + reach * wx, cy + reach * wy, wy, -wx)


@kernel
def _beside(lines: HalfPlanes, count: int, cx: float, cy: float, dx: float, dy: float, reach: float) -> int:
    """The line along `d`, `reach` to the left of a cut-off end."""
    return _put(lines, count, cx - reach * dy, cy + reach * dx, dx, dy)


@kernel
def _left_leg(walls: ObstacleEdges, vertex: int, x: float, y: float, radius: float) -> tuple[float, float, bool]:
    """Left side of the velocity obstacle: the tangent at the left corner, `x`, `y` away, or along the edge where that
    is concave; True where the edge before it is in the way and bounds the velocity itself.
    """
    if not walls.convex[vertex]:
        return -walls.along_x[vertex], -walls.along_y[vertex], False
    away_sq = x * x + y * y
    leg = sqrt(max(away_sq - radius * radius, 0.0))
    left_x, left_y = (x * leg - y * radius) / away_sq, (x * radius + y * leg) / away_sq
    before = walls.previous[vertex]
    back_x, back_y = -walls.along_x[before], -walls.along_y[before]
    if _det(left_x, left_y, back_x, back_y) >= 0.0:
        return back_x, back_y, True
    return left_x, left_y, False


@kernel
def _right_leg(
    walls: ObstacleEdges, vertex: int, edge: int, x: float, y: float, radius: float
) -> tuple[float, float, bool]:
    """Right side of the velocity obstacle of an edge, as `_left_leg`, with the edge after the right corner."""
    if not walls.convex[vertex]:
        return walls.along_x[edge], walls.along_y[edge], False
    away_sq = x * x + y * y
    leg = sqrt(max(away_sq - radius * radius, 0.0))
    right_x, right_y = (x * leg + y * radius) / away_sq, (y * leg - x * radius) / away_sq
    on_x, on_y = walls.along_x[vertex], walls.along_y[vertex]
    if _det(right_x, right_y, on_x, on_y) <= 0.0:
        return on_x, on_y, True
    return right_x, right_y, False
