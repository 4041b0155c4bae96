"""Why the plan is as it is (EXPL-1): what limits the speed, why candidates lost, and why the car makes no progress
(NOR-7).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.request import Candidate, FollowLanes, LaneEnd, Limit, Reason
from tuling_fsm.core.scene import Obstacles
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.planning.lanes import evaluation, path_end
from tuling_fsm.planning.lanes.lane_lines import LaneLines
from tuling_fsm.planning.obstacles.beside import HIDING, ONCOMING, PERSON, STANDING, ObstaclesBeside
from tuling_fsm.planning.obstacles.boxes import VULNERABLE
from tuling_fsm.planning.obstacles.surroundings import Surroundings
from tuling_fsm.planning.paths.frenet_path import LANE, OFFSET
from tuling_fsm.planning.speed import roll_out

_BY_LINE_END = {
    LaneEnd.HORIZON: Reason.SPEED_LIMIT,
    LaneEnd.ROUTE_END: Reason.ROUTE_END,
    LaneEnd.LANE_END: Reason.LANE_END,
}
_BY_STOP = {path_end.SOLID: Reason.OBSTACLE, path_end.BOUND: Reason.NO_PATH, path_end.CURVATURE: Reason.NO_PATH}
BY_BINDING = {
    roll_out.FREE: Limit(Reason.NONE),
    roll_out.AT_LIMIT: Limit(Reason.SPEED_LIMIT),
    roll_out.IN_BEND: Limit(Reason.CURVATURE),
    roll_out.TIGHT: Limit(Reason.OBSTACLE, detail="narrow"),
}
_DETAIL = {path_end.BOUND: "edge of the lanes", path_end.CURVATURE: "bend too tight", path_end.SOLID: ""}
_END = [LANE, OFFSET]
_ROLLING = 0.3
"""A faster car (m/s) is not said to wait, whatever its plan is."""
_ALIKE = 0.05


class LaneDecision(NamedTuple):
    """A tick of lane driving with its outcome: `best` is the row of the winner in `specs` and `verdicts`."""

    request: FollowLanes
    lines: LaneLines
    surroundings: Surroundings
    specs: FloatArray
    verdicts: FloatArray
    best: int


def _stop_reason(now: LaneDecision, row: int) -> Reason:
    """Why the candidate stands where it stands."""
    verdict, at = now.verdicts[row], int(now.specs[row, LANE])
    by = int(verdict[evaluation.STOP_BY])
    if by == path_end.WALL:
        return now.request.walls[int(verdict[evaluation.STOP_ROW])].reason
    if by == path_end.END_OF_LINE:
        at_goal = now.lines.stop[at] >= now.lines.goal[at]
        return Reason.ROUTE_END if at_goal else _BY_LINE_END[now.request.lanes[at].end]
    return _BY_STOP[by]


def moving_obstacle_limit(binds: int, blame: int, distance: float, surroundings: Surroundings) -> Limit:
    """The limit that a moving object sets; `blame` is its row among the moving obstacles."""
    row = int(surroundings.moving.id[blame])
    number = int(surroundings.obstacles.id[row])
    if int(surroundings.obstacles.kind[row]) in VULNERABLE:
        return Limit(Reason.PEDESTRIAN, distance, f"object {number}", number)
    reason = Reason.LEADER if binds == roll_out.FOLLOWING else Reason.CROSSING
    return Limit(reason, distance, f"object {number}", number)


_PASSED = {
    PERSON: "pedestrian {} at", STANDING: "standing vehicle {} at", HIDING: "hidden by vehicle {}, at",
    ONCOMING: "oncoming vehicle {} at",
}  # fmt: skip
_SLOW = "slow vehicle {} at"


def passing_limit(beside: ObstaclesBeside, m: int, gap: float, distance: float, obstacles: Obstacles) -> Limit:
    """The limit that thing `m` beside a path sets, at a gap (m, negative to the right) and a distance (m) ahead."""
    row, kind = int(beside.row[m]), int(beside.kind[m])
    number, side = int(obstacles.id[row]), "right" if gap < 0.0 else "left"
    what = _SLOW if kind == STANDING and obstacles.speed[row] >= AGENT_STANDS else _PASSED[kind]
    detail = f"{what.format(number)} {abs(gap):.1f} m to the {side}"
    return Limit(Reason.PASSING, distance, detail, number)


def explain_limit(now: LaneDecision) -> Limit:
    """What limits the speed of the winner now."""
    verdict, obstacles = now.verdicts[now.best], now.surroundings.obstacles
    binds = int(verdict[evaluation.BINDS])
    if binds in BY_BINDING:
        return BY_BINDING[binds]
    distance = float(verdict[evaluation.DISTANCE])
    if binds in (roll_out.FOLLOWING, roll_out.YIELDING):
        return moving_obstacle_limit(binds, int(verdict[evaluation.BLAME]), distance, now.surroundings)
    if binds == roll_out.PASSING:
        gap, beside = float(verdict[evaluation.GAP]), now.surroundings.beside
        return passing_limit(beside, int(verdict[evaluation.BLAME]), gap, distance, obstacles)
    reason, by = _stop_reason(now, now.best), int(verdict[evaluation.STOP_BY])
    distance += float(verdict[evaluation.THING_AT] - verdict[evaluation.STOP_AT])
    if by == path_end.WALL:
        wall = now.request.walls[int(verdict[evaluation.STOP_ROW])]
        return Limit(reason, distance, wall.detail, wall.blocker)
    if by == path_end.SOLID:
        row = int(now.surroundings.static.id[int(verdict[evaluation.STOP_ROW])])
        blocker = int(obstacles.id[row]) if row >= 0 else -1
        return Limit(reason, distance, f"object {blocker}" if row >= 0 else "static edge", blocker)
    return Limit(reason, distance, _DETAIL.get(by, ""))


def why_blocked(now: LaneDecision, v: float, way: float, blocked: float) -> Reason:
    """Why the winner's plan leads nowhere, `NONE` where it does, or where it waits for something that goes by (NOR-7).

    `v` is the present speed, `way` the length of the plan, `blocked` the length below which it makes no progress (m).
    """
    verdict = now.verdicts[now.best]
    if way >= blocked or v > _ROLLING or int(verdict[evaluation.BINDS]) in (roll_out.FOLLOWING, roll_out.YIELDING):
        return Reason.NONE
    by, reason = int(verdict[evaluation.STOP_BY]), _stop_reason(now, now.best)
    if by in _BY_STOP or reason is Reason.LANE_END:
        return reason
    return Reason.NONE


def explain_candidates(specs: FloatArray, verdicts: FloatArray, shifts: IntArray, best: int) -> tuple[Candidate, ...]:
    """The best candidate to each end offset of each line, in the order in which they were planned; `shifts` are those
    of the lines.
    """
    chosen: dict[tuple[float, float], int] = {}
    rows, shift = verdicts.tolist(), shifts.tolist()
    cost = [verdict[evaluation.COST_FULL] for verdict in rows]
    for row, key in enumerate(map(tuple, specs[:, _END].tolist())):
        if row == best or key not in chosen or (chosen[key] != best and cost[row] < cost[chosen[key]]):
            chosen[key] = row
    return tuple(
        Candidate(
            rows[row][evaluation.END_X], rows[row][evaluation.END_Y], shift[int(at)], offset, cost[row],
            Reason.NONE if row == best else _why_lost(rows[row], rows[best]),
        )
        for (at, offset), row in chosen.items()
    )  # fmt: skip


def _why_lost(verdict: list[float], winner: list[float]) -> Reason:
    """The hardest thing against a candidate; `TARGET` where it merely is the longer or less even way."""
    if verdict[evaluation.CONFLICT] > 0.0:
        return Reason.CROSSING
    if int(verdict[evaluation.STOP_BY]) in _BY_STOP and verdict[evaluation.STOP_AT] < winner[evaluation.STOP_AT]:
        return _BY_STOP[int(verdict[evaluation.STOP_BY])]
    if verdict[evaluation.PROGRESS] > winner[evaluation.PROGRESS] - _ALIKE:
        return Reason.TARGET
    if verdict[evaluation.YIELDS] > 0.0:
        return Reason.LEADER
    return Reason.CURVATURE if math.isfinite(verdict[evaluation.PROGRESS]) else Reason.NO_PATH
