"""Lanes in which somebody waits in line are closed behind it where the car could come past (NOR-11): in a lane that is
wide enough for both, or half out of it, on the way to the next lane. To pull up beside one like that is to overtake the
queue. Elsewhere the lane planner follows the one ahead anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.request import LaneLine, Reason, StopWall
from tuling_fsm.world import objects as ob

_TURNED_RAD = 0.785
"""One that is turned by more does not wait in this lane, but comes across it."""


def queue_walls(now: TrafficSituation) -> Iterator[tuple[float, StopWall]]:
    """Walls across the lanes of vehicles that wait and that the car could pass, with their arc lengths on the route."""
    traffic, reach = now.world.traffic, now.parameters.queue.horizon
    pose = now.world.ego.pose
    for row in np.flatnonzero(traffic.waiting).tolist():
        if abs(traffic.x[row] - pose.x) + abs(traffic.y[row] - pose.y) > 2.0 * reach:
            continue
        for line in now.world.lanes:
            wall = _behind(now, row, line)
            if wall is not None:
                yield wall


def _behind(now: TrafficSituation, row: int, line: LaneLine) -> tuple[float, StopWall] | None:
    """The wall across a lane behind one that waits in it; None where it does not, is not ahead, cannot be passed, or
    was seen to wait too late.
    """
    traffic, p = now.world.traffic, now.parameters.queue
    x, y, heading, length, width = traffic.body[row, [ob.X, ob.Y, ob.HEADING, ob.LENGTH, ob.WIDTH]].tolist()
    front = now.front - line.route_s0
    place = line.center.project(x, y, front, front + p.horizon)
    left, right = (float(np.interp(place.s, line.center.s, edge)) for edge in (line.left, line.right))
    if place.s >= front + p.horizon or not -right < place.offset < left:
        return None
    room = max(left - place.offset, right + place.offset) - 0.5 * width
    gap = place.s - 0.5 * length - p.gap - front
    passable = room >= now.vehicle.width or len(now.world.lanes) > 1
    turned = abs(wrap_angle(heading - place.heading)) > _TURNED_RAD
    if not passable or turned or gap < -p.gap or now.decel_for(gap) > p.late_decel:
        return None
    at = line.center.at(front + max(gap, 0.0))
    sine, cosine = elementary.sin_cos(at.heading)
    normal = -sine, cosine
    wall = StopWall(
        at.x + left * normal[0], at.y + left * normal[1], at.x - right * normal[0], at.y - right * normal[1],
        Reason.QUEUE, traffic.line_words(row), int(traffic.id[row]),
    )  # fmt: skip
    return now.front + max(gap, 0.0), wall
