"""Never enter a junction that cannot be left (INT-7)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tuling_fsm.behaviour.traffic.situation import TrafficSituation, WallReason
from tuling_fsm.core.request import Reason, StopWall
from tuling_fsm.map.ahead import JunctionAhead


def blocked_exit(
    now: TrafficSituation, junction: JunctionAhead, walls: Sequence[tuple[float, StopWall]]
) -> WallReason | None:
    """Why the car could not leave a junction: something slow on its way through or behind it, or another stop too near.
    To wait for a light behind it is to wait for that light (NOR-7).

    Where the junction is directed by hand, what has not moved for long does not count: the way round it is the
    planner's business then (INT-5).
    """
    need = now.vehicle.length + now.parameters.junction.exit_margin
    end = junction.s_to + need
    for s, wall in sorted(walls, key=lambda item: item[0]):
        if junction.s_from + 1.0 < s < end:
            after = f"has to stop {s - junction.s_to:.1f} m after it"
            if wall.reason is Reason.RED_LIGHT:
                return WallReason(Reason.RED_LIGHT, f"{wall.detail}, {after}", wall.blocker)
            return WallReason(Reason.JUNCTION_EXIT_BLOCKED, after, -1)
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
