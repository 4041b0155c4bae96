"""Never enter a junction that cannot be left (INT-7)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuling_fsm.behaviour.traffic.situation import TrafficSituation, WallReason
from tuling_fsm.core.request import Reason
from tuling_fsm.map.ahead import JunctionAhead


def blocked_exit(now: TrafficSituation, junction: JunctionAhead, walls: Sequence[float]) -> WallReason | None:
    """Why the car could not leave a junction: something slow on its way through or behind it, or another stop too near.

    Where the junction is directed by hand, what has not moved for long does not count: the way round it is the
    planner's business then (INT-5).
    """
    need = now.vehicle.length + now.parameters.junction.exit_margin
    end = junction.s_to + need
    for s in sorted(walls):
        if junction.s_from + 1.0 < s < end:
            return WallReason(Reason.JUNCTION_EXIT_BLOCKED, f"has to stop {s - junction.s_to:.1f} m after it", -1)
    traffic = now.world.traffic
    nearest, blocker = math.inf, -1
    counts = traffic.speed < now.parameters.junction.slow
    slow = (counts & traffic.moving if now.by_hand else counts).nonzero()[0]
    lanes = traffic.lane[slow]
    for part in now.route.lanes[now.route.index_at(junction.s_from) : now.route.index_at(end + need) + 1]:
        rows, columns = (lanes == now.index.number.get(part.lane, -2)).nonzero()
        for row, column in zip(slow[rows].tolist(), columns.tolist(), strict=True):
            at, half = part.route_s(float(traffic.lane_s[row, column])), 0.5 * float(traffic.length[row])
            ahead = at > junction.s_from and at > now.front + half
            if ahead and part.s_from <= at <= part.s_to and at - half < nearest:
                nearest, blocker = at - half, int(traffic.id[row])
    if nearest < end:
        return WallReason(Reason.JUNCTION_EXIT_BLOCKED, f"object {blocker}", blocker)
    return None
