"""Why the plan is as it is (EXPL-1): what limits the speed, why candidates lost, and whether there is a way on
(NOR-7)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.request import Candidate, FollowLanes, LaneEnd, Limit, Reason
from tuling_fsm.planning import evaluate as ev
from tuling_fsm.planning import profile, stopping
from tuling_fsm.planning.around import WALKERS
from tuling_fsm.planning.lines import Lines
from tuling_fsm.planning.paths import LANE, OFFSET
from tuling_fsm.planning.scenery import Scenery
from tuling_fsm.planning.solids import IntArray

_BY_LINE_END = {
    LaneEnd.HORIZON: Reason.SPEED_LIMIT,
    LaneEnd.ROUTE_END: Reason.ROUTE_END,
    LaneEnd.LANE_END: Reason.LANE_END,
}
_BY_STOP = {stopping.SOLID: Reason.OBSTACLE, stopping.BOUND: Reason.NO_PATH, stopping.CURVATURE: Reason.NO_PATH}
BY_BINDING = {
    profile.FREE: Limit(Reason.NONE),
    profile.AT_LIMIT: Limit(Reason.SPEED_LIMIT),
    profile.IN_BEND: Limit(Reason.CURVATURE),
    profile.TIGHT: Limit(Reason.OBSTACLE, detail="narrow"),
}
_DETAIL = {stopping.BOUND: "edge of the lanes", stopping.CURVATURE: "bend too tight", stopping.SOLID: ""}
_END = [LANE, OFFSET]
_ROLLING = 0.3
_ALIKE = 0.05


class Situation(NamedTuple):
    """A tick of lane driving with its outcome: `best` is the row of the winner in `specs` and `verdicts`."""

    request: FollowLanes
    lines: Lines
    scenery: Scenery
    specs: FloatArray
    verdicts: FloatArray
    best: int


def _stop_reason(now: Situation, row: int) -> Reason:
    """Why the candidate stands where it stands."""
    verdict, at = now.verdicts[row], int(now.specs[row, LANE])
    by = int(verdict[ev.STOP_BY])
    if by == stopping.WALL:
        return now.request.walls[int(verdict[ev.STOP_ROW])].reason
    if by == stopping.END_OF_LINE:
        at_goal = now.lines.stop[at] < now.lines.end[at] and now.request.goal_s is not None
        return Reason.ROUTE_END if at_goal else _BY_LINE_END[now.request.lanes[at].end]
    return _BY_STOP[by]


def mover_limit(binds: int, blame: int, distance: float, scenery: Scenery) -> Limit:
    """The limit that a moving object sets; `blame` is its row among the movers."""
    row = int(scenery.movers.id[blame])
    number = int(scenery.obstacles.id[row])
    if int(scenery.obstacles.kind[row]) in WALKERS:
        return Limit(Reason.PEDESTRIAN, distance, f"object {number}", number)
    reason = Reason.LEADER if binds == profile.FOLLOWING else Reason.CROSSING
    return Limit(reason, distance, f"object {number}", number)


def explain_limit(now: Situation) -> Limit:
    """What limits the speed of the winner now."""
    verdict, obstacles = now.verdicts[now.best], now.scenery.obstacles
    binds = int(verdict[ev.BINDS])
    if binds in BY_BINDING:
        return BY_BINDING[binds]
    distance = float(verdict[ev.DISTANCE])
    if binds in (profile.FOLLOWING, profile.YIELDING):
        return mover_limit(binds, int(verdict[ev.BLAME]), distance, now.scenery)
    reason, by = _stop_reason(now, now.best), int(verdict[ev.STOP_BY])
    distance += float(verdict[ev.THING_AT] - verdict[ev.STOP_AT])
    if by == stopping.WALL:
        wall = now.request.walls[int(verdict[ev.STOP_ROW])]
        return Limit(reason, distance, wall.detail, wall.blocker)
    if by == stopping.SOLID:
        row = int(now.scenery.solids.id[int(verdict[ev.STOP_ROW])])
        blocker = int(obstacles.id[row]) if row >= 0 else -1
        return Limit(reason, distance, f"object {blocker}" if row >= 0 else "static edge", blocker)
    return Limit(reason, distance, _DETAIL.get(by, ""))


def no_way_on(now: Situation, v: float, way: float, blocked: float) -> Reason:
    """Why the winner's plan leads nowhere, `NONE` where it does, or where it waits for something that goes by (NOR-7).

    `v` is the present speed, `way` the length of the plan, `blocked` the length below which it makes no progress (m).
    """
    verdict = now.verdicts[now.best]
    if way >= blocked or v > _ROLLING or int(verdict[ev.BINDS]) in (profile.FOLLOWING, profile.YIELDING):
        return Reason.NONE
    by, reason = int(verdict[ev.STOP_BY]), _stop_reason(now, now.best)
    if by in _BY_STOP or reason is Reason.LANE_END:
        return reason
    return Reason.NONE


def explain_candidates(specs: FloatArray, verdicts: FloatArray, shifts: IntArray, best: int) -> tuple[Candidate, ...]:
    """The best candidate to each end offset of each line, in the order in which they were planned; `shifts` are those
    of the lines.
    """
    chosen: dict[tuple[float, float], int] = {}
    rows, shift = verdicts.tolist(), shifts.tolist()
    cost = [verdict[ev.COST_FULL] for verdict in rows]
    for row, key in enumerate(map(tuple, specs[:, _END].tolist())):
        if row == best or key not in chosen or (chosen[key] != best and cost[row] < cost[chosen[key]]):
            chosen[key] = row
    return tuple(
        Candidate(
            rows[row][ev.END_X], rows[row][ev.END_Y], shift[int(at)], offset, cost[row],
            Reason.NONE if row == best else _why_lost(rows[row], rows[best]),
        )
        for (at, offset), row in chosen.items()
    )  # fmt: skip


def _why_lost(verdict: list[float], winner: list[float]) -> Reason:
    """The hardest thing against a candidate; `TARGET` where it merely is the longer or less even way."""
    if verdict[ev.CONFLICT] > 0.0:
        return Reason.CROSSING
    if int(verdict[ev.STOP_BY]) in _BY_STOP and verdict[ev.STOP_AT] < winner[ev.STOP_AT]:
        return _BY_STOP[int(verdict[ev.STOP_BY])]
    if verdict[ev.PROGRESS] > winner[ev.PROGRESS] - _ALIKE:
        return Reason.TARGET
    if verdict[ev.YIELDS] > 0.0:
        return Reason.LEADER
    return Reason.CURVATURE if math.isfinite(verdict[ev.PROGRESS]) else Reason.NO_PATH
