"""Where on a map a car can begin under the path constraints of a scenario."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.path_constraints import BendAhead, JunctionOnPath, PathConstraints

STEP_M = 10.0
"""Between the places that are looked at along a lane."""
MARGIN_M = 10.0
"""Of a place to the ends of its lane, where the lane is long enough."""
ROOM_BEHIND_M, ROOM_AHEAD_M = 60.0, 200.0
"""Places with this much road are taken before others: there is room for the other cars of the scenario."""


def draw_place(
    road_map: RoadMap,
    path: PathConstraints,
    number: int,
    room_for: Sequence[tuple[float, int]],
    rng: np.random.Generator,
) -> Pose | None:
    """A place drawn among all that fulfil the constraints; None where there is none.

    Args:
        road_map: the map.
        path: the constraints.
        number: of the lane from the left among those of its direction, from 1; 0 for any.
        room_for: places beside it that have to be on the map too: m ahead, lanes to the left.
        rng: drawn from once.
    """
    found = [
        (lane, s)
        for lane, s in places(road_map, path, number)
        if all(beside(road_map, lane.id, s, ahead, lanes) is not None for ahead, lanes in room_for)
    ]
    roomy = [(lane, s) for lane, s in found if _has_room(road_map, lane, s)] or found
    if not roomy:
        return None
    lane, s = roomy[int(rng.integers(len(roomy)))]
    return lane.center.at(s)


def places(road_map: RoadMap, path: PathConstraints, number: int) -> Iterator[tuple[Lane, float]]:
    """Lanes and arc lengths (m) of all places that fulfil the constraints."""
    for lane_id in road_map.driving_lanes():
        lane = road_map.lanes[lane_id]
        abreast = road_map.same_direction(lane_id)
        placed = number == 0 or (number <= len(abreast) and abreast[number - 1] == lane_id)
        if lane.junction is not None or not placed or not path.lanes.holds(float(len(abreast))):
            continue
        margin = min(MARGIN_M, 0.5 * lane.length)
        for s in np.arange(margin, max(lane.length - margin, margin + 1e-6), STEP_M).tolist():
            if _fulfils(road_map, path, lane, s):
                yield lane, s


def along(road_map: RoadMap, lane_id: LaneId, s: float, ahead: float) -> tuple[LaneId, float] | None:
    """The place `ahead` m on (negative: back) from arc length `s` of a lane, over its first links."""
    s += ahead
    seen: set[LaneId] = set()
    while not 0.0 <= s <= road_map.lanes[lane_id].length:
        lane = road_map.lanes[lane_id]
        links = lane.predecessors if s < 0.0 else lane.successors
        if not links or lane_id in seen:
            return None
        seen.add(lane_id)
        s, lane_id = (s + road_map.lanes[links[0]].length, links[0]) if s < 0.0 else (s - lane.length, links[0])
    return lane_id, s


def beside(road_map: RoadMap, lane_id: LaneId, s: float, ahead: float, lanes: int) -> tuple[LaneId, float] | None:
    """The place `lanes` lanes to the left of arc length `s` of a lane (m) and `ahead` m on; None where none is."""
    abreast = road_map.same_direction(lane_id)
    place = abreast.index(lane_id) - lanes
    if not 0 <= place < len(abreast):
        return None
    share = s / road_map.lanes[lane_id].length
    return along(road_map, abreast[place], share * road_map.lanes[abreast[place]].length, ahead)


def _fulfils(road_map: RoadMap, path: PathConstraints, lane: Lane, s: float) -> bool:
    if path.length > 0.0 and _way(road_map, lane.id, s, path.length) < path.length:
        return False
    if path.curve is not None and not _bends(lane, s, path.curve):
        return False
    return path.junction is None or _over_junction(road_map, path.junction, lane, s)


def _has_room(road_map: RoadMap, lane: Lane, s: float) -> bool:
    ahead = _way(road_map, lane.id, s, ROOM_AHEAD_M) >= ROOM_AHEAD_M
    return ahead and _way(road_map, lane.id, s, ROOM_BEHIND_M, back=True) >= ROOM_BEHIND_M


def _way(road_map: RoadMap, lane_id: LaneId, s: float, enough: float, back: bool = False) -> float:
    """How far lanes go on from a place, m, up to `enough`."""
    way = s if back else road_map.lanes[lane_id].length - s
    seen = {lane_id}
    while way < enough:
        lane = road_map.lanes[lane_id]
        links = lane.predecessors if back else lane.successors
        onward = [link for link in links if link not in seen]
        if not onward:
            return way
        lane_id = onward[0]
        seen.add(lane_id)
        way += road_map.lanes[lane_id].length
    return way


def _bends(lane: Lane, s: float, curve: BendAhead) -> bool:
    """Whether the lane bends so within the next step."""
    here, there = lane.center.at(s), lane.center.at(min(s + STEP_M, lane.length))
    turn, way = wrap_angle(there.heading - here.heading), min(STEP_M, lane.length - s)
    if abs(turn) < 1e-6 or way <= 0.0:
        return False
    return curve.radius.holds(way / abs(turn)) and curve.left in (None, turn > 0.0)


def _over_junction(road_map: RoadMap, asked: JunctionOnPath, lane: Lane, s: float) -> bool:
    """Whether some way on leads over the next junction as it is asked for."""
    before, following = lane.length - s, lane
    seen = {lane.id}
    while following.junction is None:
        onward = [road_map.lanes[link] for link in following.successors if link not in seen]
        inside = [each for each in onward if each.junction is not None]
        if inside:
            return asked.before.holds(before) and any(_crosses(road_map, asked, each) for each in inside)
        if not onward:
            return False
        following = onward[0]
        seen.add(following.id)
        before += following.length
    return False


def _crosses(road_map: RoadMap, asked: JunctionOnPath, lane: Lane) -> bool:
    turn = wrap_angle(lane.center.at(lane.length).heading - lane.center.at(0.0).heading) % (2.0 * math.pi)
    if not asked.inside.holds(lane.length):
        return False
    fits = asked.direction.holds(turn) or asked.direction.holds(turn - 2.0 * math.pi)
    after = [road_map.lanes[link] for link in lane.successors]
    return fits and any(_way(road_map, each.id, 0.0, asked.after.low) >= asked.after.low for each in after)
