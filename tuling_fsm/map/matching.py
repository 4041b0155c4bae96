"""A route from bare poses: which lanes do they follow? A hidden Markov model over candidate lanes, solved by
dynamic programming.

After Newson and Krumm, "Hidden Markov map matching through noise and sparseness" (ACM GIS 2009), with lanes for
roads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import distance, wrap_angle
from tuling_fsm.core.kernels import kernel
from tuling_fsm.map.lane_graph import beside
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.reference import LaneStretch, abeam, build_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route

STEP_M = 2.0
"""Points nearer together than this are thinned out before matching, m."""

MOST_POSES, LONGEST_STEP_M = 2000, 10.0
"""A route is thinned out to about so many poses, but to no longer steps than these, m."""

CLOSE_M = 1e-6
"""Distances are compared exactly where they are as near as this, m."""

AROUND_M = 0.6
"""A pose this far outside a lane's surface may still follow it (a blended lane change of a narrow lane, say), m."""

MAX_TURNED = 0.7
"""Largest difference between a pose and the lane that it follows, rad; in a bend that needs reversing, between the pose
and any heading of the lane within `CUT_M`: a route cuts such a bend.
"""

CUT_M = 5.0
"""How far before and after a bend that needs reversing a route may lie beside its lane, m."""

MAX_GAP_M = 25.0
"""Points farther apart than this are no route, m."""

TURNED_COST = 3.0
"""What one radian of difference weighs against one metre of offset (squared both)."""

DETOUR_COST = 4.0
"""What a metre weighs by which the way along the lanes differs from the distance of two poses."""

CHANGE_COST = 6.0
"""What a lane change weighs."""

Way = tuple[LaneId, ...]


def match_route(road_map: RoadMap, points: npt.ArrayLike) -> Route | None:
    """The route whose reference runs through the poses `points` (N, 3): x, y (m), heading (rad); N >= 2.

    None where the poses do not follow drivable lanes in their direction without a break.
    """
    found = find_route(road_map, points)
    return None if isinstance(found, str) else found


def find_route(road_map: RoadMap, points: npt.ArrayLike) -> Route | str:
    """As `match_route`, or in a few words what is wrong with the poses."""
    poses: FloatArray = np.array(points, dtype=np.float64).reshape(-1, 3)
    if len(poses) < 2:
        return "fewer than two poses"
    if not np.all(np.isfinite(poses)):
        return f"pose {int(np.argmin(np.isfinite(poses).all(axis=1)))} is not finite"
    poses = _thinned(poses)
    chain = _best_chain(road_map, poses)
    if isinstance(chain, int):
        return _break_at(road_map, poses, chain)
    return build_route(road_map, _stretches(road_map, chain, _steps(poses)))


def _break_at(road_map: RoadMap, poses: FloatArray, i: int) -> str:
    """What is wrong at the pose at which a chain breaks."""
    at = f"({poses[i, 0]:.1f}, {poses[i, 1]:.1f})"
    if not _candidates(road_map, poses[i]):
        return f"no lane is driven at {at} in the direction {poses[i, 2]:.2f} rad"
    step = distance(poses[i, :2], poses[i - 1, :2])
    if step > MAX_GAP_M:
        return f"the pose before {at} is {step:.0f} m away"
    return f"no lane leads to {at} from the pose before"


def _thinned(poses: FloatArray) -> FloatArray:
    """First and last pose and those between that are at least `STEP_M` apart, farther on a route of many kilometres."""
    kept = _apart(poses, STEP_M)
    if len(kept) > MOST_POSES:
        kept = _apart(poses, min(STEP_M * len(kept) / MOST_POSES, LONGEST_STEP_M))
    return poses[kept]


def _apart(poses: FloatArray, step: float) -> list[int]:
    """Rows of the first and last pose and of those between that are at least `step` (m) apart."""
    kept, last = [0], len(poses) - 1
    i = 1
    while (i := _first_beyond(poses, kept[-1], i, step)) < last:
        if distance(poses[i, :2], poses[kept[-1], :2]) >= step:
            kept.append(i)
        i += 1
    return [*kept, last]


@kernel
def _first_beyond(poses: FloatArray, origin: int, i: int, step: float) -> int:
    """The first pose from `i` on that is about as far as `step` (m) from another one, or farther."""
    least = (step - CLOSE_M) ** 2
    while i < len(poses):
        dx, dy = poses[i, 0] - poses[origin, 0], poses[i, 1] - poses[origin, 1]
        if dx * dx + dy * dy > least:
            break
        i += 1
    return i


def _candidates(road_map: RoadMap, pose: FloatArray) -> list[LanePosition]:
    x, y, heading = pose.tolist()
    return [
        position
        for position in road_map.positions(x, y, radius=AROUND_M)
        if position.lane in road_map.graph and _turned(road_map, position, heading) <= MAX_TURNED
    ]


def _turned(road_map: RoadMap, position: LanePosition, heading: float) -> float:
    """By how much (rad) a heading differs from those that the lane has there."""
    turn = float(wrap_angle(heading - position.heading))
    if not road_map.graph.tight(position.lane):
        return abs(turn)
    center = road_map.lanes[position.lane].center
    near = center.heading[np.abs(center.s - position.s) <= CUT_M] - np.interp(position.s, center.s, center.heading)
    return max(0.0, turn - float(np.max(near, initial=0.0)), float(np.min(near, initial=0.0)) - turn)


def _best_chain(road_map: RoadMap, poses: FloatArray) -> list[LanePosition] | int:
    """The candidates of the poses on the cheapest chain (Viterbi), or the number of the pose at which it breaks."""
    candidates = [_candidates(road_map, poses[0])]
    cost = [_misfit(position, poses[0, 2]) for position in candidates[0]]
    if not cost:
        return 0
    back: list[list[int]] = []
    for i, step in enumerate(_steps(poses), 1):
        if step > MAX_GAP_M:
            return i
        candidates.append(_candidates(road_map, poses[i]))
        reached, origin = [], []
        for position in candidates[i]:
            best, best_k = math.inf, -1
            for k, before in enumerate(candidates[i - 1]):
                if cost[k] < best:
                    total = cost[k] + _transition(road_map, before, position, step)
                    if total < best:
                        best, best_k = total, k
            reached.append(best + _misfit(position, poses[i, 2]))
            origin.append(best_k)
        cost = reached
        back.append(origin)
        if not any(map(math.isfinite, cost)):
            return i
    chosen = [cost.index(min(cost))]
    for origin in reversed(back):
        chosen.append(origin[chosen[-1]])
    return [candidates[i][k] for i, k in enumerate(reversed(chosen))]


def _steps(poses: FloatArray) -> list[float]:
    """From pose to pose, m."""
    apart = np.diff(poses[:, :2], axis=0)
    steps: list[float] = elementwise.hypot(apart[:, 0], apart[:, 1]).tolist()
    return steps


def _misfit(position: LanePosition, heading: float) -> float:
    turned = float(wrap_angle(position.heading - heading))
    return position.offset * position.offset + TURNED_COST * turned * turned


def _transition(road_map: RoadMap, before: LanePosition, after: LanePosition, step: float) -> float:
    way = _way(road_map, before, after, step)
    if way is None:
        return math.inf
    length, changes = _driven(road_map, way, before.s, after.s)
    if length < -0.2 * step - 0.3:
        return math.inf
    return DETOUR_COST * abs(length - step) + CHANGE_COST * changes


def _driven(road_map: RoadMap, way: Way, s_from: float, s_to: float) -> tuple[float, int]:
    """Metres driven along a way and the number of its lane changes."""
    length, changes, s = 0.0, 0, s_from
    for a, b in itertools.pairwise(way):
        lane = road_map.lanes[a]
        if b in lane.successors:
            length, s = length + lane.length - s, 0.0
        else:
            changes, s = changes + 1, abeam(lane, s, road_map.lanes[b])
    return length + s_to - s, changes


def _way(road_map: RoadMap, before: LanePosition, after: LanePosition, step: float) -> Way | None:
    """The lanes from one position to the next: the same, a neighbour, or on through (short) successors."""
    if before.lane == after.lane and after.s >= before.s - 0.3:
        return (before.lane,)
    if after.lane in beside(road_map.lanes[before.lane]):
        return (before.lane, after.lane)
    reach = step + 3.0
    ways: list[tuple[float, Way]] = [(road_map.lanes[before.lane].length - before.s, (before.lane,))]
    while ways:
        driven, way = ways.pop(0)
        if driven > reach:
            continue
        for following in road_map.lanes[way[-1]].successors:
            longer = (*way, following)
            if following == after.lane:
                return longer
            if after.lane in beside(road_map.lanes[following]):
                return (*longer, after.lane)
            if following in road_map.graph and following not in way:
                ways.append((driven + road_map.lanes[following].length, longer))
    return None


def _stretches(road_map: RoadMap, positions: Sequence[LanePosition], steps: Sequence[float]) -> list[LaneStretch]:
    """Stretches through the matched positions; a change lies half-way between the poses on either side."""
    stretches = [LaneStretch(positions[0].lane, positions[0].s, positions[0].s)]
    for (before, after), step in zip(itertools.pairwise(positions), steps, strict=True):
        way = _way(road_map, before, after, step)
        assert way is not None  # the chain was found over the same ways
        s = before.s
        for a, b in itertools.pairwise(way):
            lane, other = road_map.lanes[a], road_map.lanes[b]
            if b in lane.successors:
                stretches[-1] = stretches[-1]._replace(end=lane.length)
                stretches.append(LaneStretch(b, 0.0, 0.0))
                s = 0.0
                continue
            ahead = abeam(other, after.s, lane) if b == after.lane else s
            leave = 0.5 * (s + max(ahead, s))
            change = int(b == lane.left_neighbour) - int(b == lane.right_neighbour)
            stretches[-1] = stretches[-1]._replace(end=leave, change=change)
            s = abeam(lane, leave, other)
            stretches.append(LaneStretch(b, s, s))
        stretches[-1] = stretches[-1]._replace(end=max(after.s, stretches[-1].start))
    return stretches
