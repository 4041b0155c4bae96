"""When lines, the direction of lanes and the edge of the road do not hold: decided by what is there to be seen.

Rules of the road let a driver cross a line or use the other lane round an obstacle ([stvo][] section 6), out of a bay
or a drive (section 10), while parking, and for turning round where the road ends; overtaking beyond a broken line is
section 5. All of that is slow and short. What the planner calls its state is not asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np
from shapely import Polygon

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import Pose, distance, shifted, wrap_angle
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import DRIVING, LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import VEHICLES, AgentTracks, ahead_of, same_way
from tuling_fsm.sim.scoring.infraction_log import RefereeFrame
from tuling_fsm.sim.scoring.lane_walk import lanes_before, lanes_onward
from tuling_fsm.sim.scoring.road_rules import RoadRules
from tuling_fsm.world.inputs import Kind

AHEAD_M, BEHIND_M, ASIDE_M = 30.0, 20.0, 8.0
"""An obstacle between so far ahead of the middle of the car and so far behind it, so far aside, is gone round."""
ABEAM_M = 12.0
"""No car changes lanes between obstacles that are no farther apart than this."""
STOOD_S = 3.0
"""An agent that has stood so long is an obstacle, if it does not queue."""
THINGS = (Kind.UNKNOWN, Kind.CONE, Kind.BARRIER, Kind.DEBRIS)
POINT_M = 0.5
"""Points of the outline of a solid object are no farther apart."""
BOX_POINT_M, INSET = 1.5, 0.9
"""Nor those of an agent's than this, which is less than the width of the car; they are so much nearer to its middle."""
SLOT_M = 12.0
"""From the middle of the car to that of a slot that it may be entering or leaving."""
DEAD_END_M = 20.0
"""So near to the end of a road without an exit the car may turn."""
ALIGNED = math.radians(30.0)
"""Back on a lane the car's heading is within this of the lane's."""
STRAY_M = 1.5
"""On its way to the road no corner of the car may go so much farther from it than all have been."""
LANE_SEARCH_M = 40.0
LINE_M = 0.1
"""A car that is no farther over a line than this is inside of it again."""
GRACE_S = 8.0
"""For so long after a situation has passed the car may come back from it."""
SLOW, ROUND = 3.0, 8.4
"""Speed bounds: of a maneuver (m/s), and of going round something (30 km/h)."""


class Situation(Enum):
    """What sanctions something."""

    OBSTACLE = "obstacle"
    """Something stands in the own lane."""
    NO_WAY_BY = "no way by"
    """Something stands in the own lane, and no other lane of its direction leads past."""
    NO_ROAD_BY = "no road by"
    """Something stands in the own lane, and no other lane of the road leads past, of whatever direction."""
    PARKING = "parking"
    """A parking slot is near."""
    RETURN = "return"
    """The car was set down off its lanes, or was sanctioned to leave them, and is not back along one yet."""
    DEAD_END = "dead end"
    """The lane ends, and the car has to turn round."""
    OVERTAKING = "overtaking"
    """A vehicle is passed beyond a line that may be crossed."""


SANCTIONED = {
    "solid_line": {
        Situation.OBSTACLE: ROUND, Situation.PARKING: SLOW, Situation.DEAD_END: SLOW, Situation.RETURN: SLOW,
    },
    "wrong_way": {
        Situation.NO_WAY_BY: ROUND, Situation.PARKING: SLOW, Situation.DEAD_END: SLOW, Situation.RETURN: SLOW,
        Situation.OVERTAKING: ROUND,
    },
    "off_road": {Situation.NO_ROAD_BY: SLOW, Situation.RETURN: SLOW},
}  # fmt: skip
"""By infraction, in which situations it is none, and up to which speed (m/s)."""
LONGEST_S = {
    Situation.OBSTACLE: 90.0, Situation.NO_WAY_BY: 90.0, Situation.NO_ROAD_BY: 90.0, Situation.PARKING: 120.0,
    Situation.RETURN: 90.0, Situation.DEAD_END: 120.0, Situation.OVERTAKING: 30.0,
}  # fmt: skip
"""For so long may the car move by one situation."""


class _Use(NamedTuple):
    """How long a situation has been made use of (s of motion), and when last."""

    moved: float
    last: float


class _Obstacle:
    """What may stand in a lane: its middle (m), how far it reaches from there (m), and points of it."""

    def __init__(self, road_map: RoadMap, x: float, y: float, points: Sequence[tuple[float, float]]) -> None:
        self._map = road_map
        self.x, self.y, self.points = x, y, points
        self.reach = max(distance((x, y), point) for point in points)

    @cached_property
    def places(self) -> list[LanePosition]:
        """Of its points, on the lane of each."""
        return [found for point in self.points if (found := self._map.project(*point)) is not None]

    @cached_property
    def on_lanes(self) -> list[LanePosition]:
        """Of its points, on all lanes under them."""
        return [found for point in self.points for found in self._map.positions(*point)]


class Sanctions:
    """Judges situations when asked, and remembers how long each has been made use of."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, rules: RoadRules, tracks: AgentTracks) -> None:
        self._map, self._vehicle, self._rules, self._tracks = road_map, vehicle, rules, tracks
        self._followed: LanePosition | None = None
        """Where the car was last along a lane of its direction before a situation made it leave its lanes."""
        self._centres = np.array([slot.pose[:2] for slot in rules.slots]).reshape(-1, 2)
        self._last: Pose | None = None
        self._returning = False
        self._edge_holds = False
        """What made the car leave its lanes does not sanction that it leaves the road on the way back."""
        self._nearest = math.inf
        self._turn_m = 0.0
        """How far a car that a situation made leave its lanes may drive the other way while it turns round, m."""
        self._used: dict[Situation, _Use] = {}
        self._seen: dict[Situation, float] = {}
        self._boxes: dict[int, tuple[list[float], _Obstacle]] = {}
        """What has been found out of agents, by number, and where they were then."""

    @cached_property
    def _map_obstacles(self) -> list[_Obstacle]:
        """The solid objects that a car along the middle of a driving lane would touch, by their points there;
        what stands at the edge of a lane blocks none.
        """
        found = []
        for outline in (each.outline for each in self._map.objects if each.solid):
            points = Polygon(outline).exterior.segmentize(POINT_M).coords
            places = ((x, y, self._map.project(x, y)) for x, y in points)
            inside = [(x, y) for x, y, at in places if at is not None and abs(at.offset) < 0.5 * self._vehicle.width]
            if inside:
                x, y = outline.mean(axis=0).tolist()
                found.append(_Obstacle(self._map, x, y, inside))
        return found

    def watch(self, frame: RefereeFrame) -> None:
        """Note which lane the car follows, whether it has been set down off its lanes, and whether it has come back."""
        pose, last, position = frame.ego.pose, self._last, frame.ego.position
        self._last = pose
        self._boxes = {number: self._boxes[number] for number in frame.agents.ids.tolist() if number in self._boxes}
        if not frame.drove_from(last):
            self._returning, self._nearest, self._turn_m = not self._on_lane(frame), math.inf, 0.0
            self._edge_holds = False
        elif self._returning and self._on_lane(frame):
            self._returning = False
        if self._returning:
            away = max(self._distance_to_lanes(x, y) for x, y in frame.corners.tolist())
            self._nearest = min(self._nearest, away)
            self._returning = away <= self._nearest + STRAY_M
            if self._against(frame):
                self._turn_m -= abs(frame.ego.v) * frame.dt
        elif position is not None and same_way(position.heading, pose.heading):
            self._followed = position

    def allow(self, frame: RefereeFrame, infraction: str) -> bool:
        """Whether the situation sanctions what would be this kind of infraction."""
        for situation, bound in SANCTIONED[infraction].items():
            if situation is Situation.RETURN and infraction == "off_road" and self._edge_holds:
                continue
            if abs(frame.ego.v) <= bound and self._holds(frame, situation) and self._in_time(frame, situation):
                if not self._returning and situation is not Situation.OVERTAKING:
                    self._returning, self._nearest, self._turn_m = True, math.inf, self._vehicle.length
                    self._edge_holds = situation in (Situation.OBSTACLE, Situation.NO_WAY_BY)
                elif situation is Situation.NO_ROAD_BY:
                    self._edge_holds = False
                return True
        return False

    def _holds(self, frame: RefereeFrame, situation: Situation) -> bool:
        """Whether it is there, or was a moment ago."""
        if LOOKS[situation](self, frame):
            self._seen[situation] = frame.stamp
        grace = 0.0 if situation is Situation.RETURN else GRACE_S
        return frame.stamp - self._seen.get(situation, -math.inf) <= grace

    def _in_time(self, frame: RefereeFrame, situation: Situation) -> bool:
        use = self._used.get(situation)
        if use is None or frame.stamp - use.last > GRACE_S:
            use = _Use(0.0, frame.stamp - frame.dt)
        moves = abs(frame.ego.v) > VEHICLE_STANDS and frame.stamp > use.last
        self._used[situation] = _Use(use.moved + (frame.dt if moves else 0.0), frame.stamp)
        return self._used[situation].moved <= LONGEST_S[situation]

    def _on_lane(self, frame: RefereeFrame) -> bool:
        """Whether the whole car is on driving lanes, along one of them, and over no line."""
        position = frame.ego.position
        if position is None or not self._along_lanes(frame, 0.0, ALIGNED):
            return False
        over = self._rules.overrun(frame.corners, position, frame.ego.pose.heading)
        return over is None or over.depth <= LINE_M

    def _along_lanes(self, frame: RefereeFrame, least: float, most: float) -> bool:
        """Whether the whole car is on driving lanes, turned from them by an angle between these (rad)."""
        position = frame.ego.position
        turned = math.nan if position is None else abs(wrap_angle(frame.ego.pose.heading - position.heading))
        if not least <= turned <= most:
            return False
        return all(self._map.positions(x, y) for x, y in frame.corners.tolist())

    def _distance_to_lanes(self, x: float, y: float) -> float:
        found = self._map.positions(x, y, LANE_SEARCH_M)
        return min((max(abs(each.offset) - 0.5 * each.width, 0.0) for each in found), default=LANE_SEARCH_M)

    def obstacle(self, frame: RefereeFrame) -> bool:
        """Whether something stands in the own lane within reach."""
        return any(True for _ in self._in_the_way(frame))

    def no_way_by(self, frame: RefereeFrame) -> bool:
        """Whether something stands in the own lane, and in the others of its direction beside it too."""
        return any(not self._leads_past(frame, each) for each in self._in_the_way(frame))

    def no_road_by(self, frame: RefereeFrame) -> bool:
        """Whether something stands in the own lane, and in all others of the road beside it; who drives along them or
        waits there is waited for.
        """
        return any(not self._leads_past(frame, each, oncoming=True) for each in self._in_the_way(frame))

    def _in_the_way(self, frame: RefereeFrame) -> Iterator[_Obstacle]:
        for each, row in self._obstacles(frame):
            if self._touches_own_lane(frame, each) and self._blocks(frame, row):
                yield each

    def _obstacles(self, frame: RefereeFrame) -> Iterator[tuple[_Obstacle, int | None]]:
        """Objects of the map, and agents that may be obstacles, with their rows."""
        yield from ((each, None) for each in self._map_obstacles)
        yield from ((self._as_obstacle(frame, row), row) for row in self._near(frame))

    def _leads_past(self, frame: RefereeFrame, obstacle: _Obstacle, oncoming: bool = False) -> bool:
        """Whether another lane of the direction, or an oncoming one if those count, is free beside an obstacle, and far
        enough beyond it to come back from it before a junction.
        """
        heading, middle = self._middle(frame).heading, (obstacle.x, obstacle.y)
        points = sorted(obstacle.points, key=lambda point: distance(point, middle))
        found = (self._map.project(x, y, heading) for x, y in points)
        own = next((at for at in found if at is not None and self._of_own_way(at, heading)), None)
        beside = [] if own is None else [lane for lane in self._map.same_direction(own.lane) if lane != own.lane]
        against = self._oncoming(own.lane) if own is not None and oncoming else ()
        if own is None or not (beside or against):
            return False
        taken = {
            at.lane
            for each, row in self._obstacles(frame)
            if distance((each.x, each.y), middle) < ABEAM_M + each.reach + obstacle.reach and self._blocks(frame, row)
            for at in each.on_lanes
            if abs(at.offset) < 0.5 * self._vehicle.width
        }
        places = [(lane, own.s) for lane in beside]
        places += [(lane, self._map.lanes[lane].center.project(*middle).s) for lane in against]
        return any(self._is_free(lane, s, taken, lane in against) for lane, s in places)

    def _oncoming(self, lane: LaneId) -> tuple[LaneId, ...]:
        """The driving lanes right beyond the middle of the road."""
        inner = min(self._map.same_direction(lane), key=lambda each: abs(each.lane))
        beyond = inner._replace(lane=-inner.lane)
        known = abs(inner.lane) == 1 and beyond in self._map.lanes and self._map.lanes[beyond].type == DRIVING
        return self._map.same_direction(beyond) if known else ()

    def _is_free(self, lane: LaneId, s: float, taken: set[LaneId], against: bool) -> bool:
        onward, back = lanes_onward(self._map, lane, s, AHEAD_M), lanes_before(self._map, lane, ABEAM_M - s)
        abeam = (*(each for each, way in onward.items() if way < ABEAM_M), *back)
        ahead = lanes_before(self._map, lane, AHEAD_M - s) if against else onward
        leads_in = any(self._map.lanes[each].junction is not None for each in (lane, *ahead))
        return not leads_in and taken.isdisjoint((lane, *abeam))

    def _blocks(self, frame: RefereeFrame, row: int | None) -> bool:
        if row is None or int(frame.agents.kinds[row]) in THINGS:
            return True
        return self._tracks.stood(row) >= STOOD_S and not self._tracks.queues(row)

    def overtaking(self, frame: RefereeFrame) -> bool:
        """Whether the lane is the oncoming one, its line may be crossed, and a slower vehicle is beside or ahead."""
        position = frame.ego.position
        if position is None or not self._rules.may_overtake(position):
            return False
        return any(
            int(frame.agents.kinds[row]) in (*VEHICLES, Kind.BICYCLE)
            and abs(frame.agents.boxes[row, 6]) < max(abs(frame.ego.v), 1.0)
            and self._is_passed(frame, row)
            and self._touches_own_lane(frame, self._as_obstacle(frame, row))
            and not self._tracks.queues(row)
            for row in self._near(frame)
        )

    def _is_passed(self, frame: RefereeFrame, row: int) -> bool:
        """Whether some of an agent is ahead of the car's rear bumper."""
        box, middle = frame.agents.boxes[row], self._middle(frame)
        along, _ = ahead_of(middle.x, middle.y, middle.heading, box)
        return along + 0.5 * float(box[4]) > -0.5 * self._vehicle.length

    def parking(self, frame: RefereeFrame) -> bool:
        """Whether a slot is near."""
        x, y, _ = self._middle(frame)
        return bool(np.any(elementwise.hypot(self._centres[:, 0] - x, self._centres[:, 1] - y) < SLOT_M))

    def dead_end(self, frame: RefereeFrame) -> bool:
        """Whether the lane under the car ends, or begins, nearby without another."""
        if frame.ego.position is None:
            return False
        own, s = frame.ego.position.lane, frame.ego.position.s
        onward = {own: -s, **lanes_onward(self._map, own, s, DEAD_END_M)}
        before = {own: -self._map.lanes[own].length, **lanes_before(self._map, own, DEAD_END_M - s)}
        ends = [(lane, way) for lane, way in onward.items() if not self._map.lanes[lane].successors]
        ends += [(lane, s + way) for lane, way in before.items() if not self._map.lanes[lane].predecessors]
        return any(way + self._map.lanes[lane].length < DEAD_END_M for lane, way in ends)

    def returning(self, frame: RefereeFrame) -> bool:
        """Whether the car is on its way to lanes that it is off; one that drives along the other side is not, but for
        the moves of a turn.
        """
        return self._returning and (self._turn_m > 0.0 or not self._against(frame))

    def _against(self, frame: RefereeFrame) -> bool:
        return self._along_lanes(frame, math.pi - ALIGNED, math.pi)

    def _near(self, frame: RefereeFrame) -> list[int]:
        x, y, _ = self._middle(frame)
        return self._tracks.near(x, y, frame.ego.z, AHEAD_M + BEHIND_M)

    def _middle(self, frame: RefereeFrame) -> Pose:
        return shifted(frame.ego.pose, center_ahead(self._vehicle))

    def _as_obstacle(self, frame: RefereeFrame, row: int) -> _Obstacle:
        box, number = frame.agents.boxes[row, :6].tolist(), int(frame.agents.ids[row])
        known = self._boxes.get(number)
        if known is None or known[0] != box:
            x, y, _, heading, length, width = box
            known = box, _Obstacle(self._map, x, y, _outline(Pose(x, y, heading), INSET * length, INSET * width))
            self._boxes[number] = known
        return known[1]

    def _touches_own_lane(self, frame: RefereeFrame, obstacle: _Obstacle) -> bool:
        """Whether something within reach touches the lane that the car follows or has left; in a junction, any lane of
        the direction that the car goes in.
        """
        x, y, heading = self._middle(frame)
        along, aside = ahead_of(x, y, heading, np.array((obstacle.x, obstacle.y)))
        if not -BEHIND_M - obstacle.reach < along < AHEAD_M + obstacle.reach or abs(aside) > ASIDE_M + obstacle.reach:
            return False
        under = [position for position in obstacle.places if self._of_own_way(position, heading)]
        if not under or self._followed is None or any(self._map.lanes[each.lane].junction for each in under):
            return bool(under)
        return not self._lanes_followed(x, y).isdisjoint(each.lane for each in under)

    def _lanes_followed(self, x: float, y: float) -> set[LaneId]:
        """The lane that the car follows or has left, with those that lead to it and on from it as far as obstacles
        count from the middle of the car.
        """
        begun = self._followed
        assert begun is not None
        there = self._map.lanes[begun.lane].center.at(begun.s)
        reach = distance((x, y), there[:2]) + AHEAD_M + BEHIND_M
        found, ends = {begun.lane}, [(begun.lane, reach, True), (begun.lane, reach, False)]
        while ends:
            name, left, onward = ends.pop()
            lane = self._map.lanes[name]
            for other in (lane.successors if onward else lane.predecessors) if left > 0.0 else ():
                if other not in found:
                    found.add(other)
                    ends.append((other, left - self._map.lanes[other].length, onward))
        return found

    def _of_own_way(self, position: LanePosition, heading: float) -> bool:
        """A car that stands across the road has no direction yet."""
        across = not same_way(position.heading, heading, math.radians(60.0)) and same_way(
            position.heading, heading, math.radians(120.0)
        )
        return self._map.lanes[position.lane].type == DRIVING and (across or same_way(position.heading, heading))


def _outline(middle: Pose, length: float, width: float) -> list[tuple[float, float]]:
    """Points of a rectangle around a pose, m."""
    along, across = (_spread(size) for size in (length, width))
    s, c = elementary.sin_cos(middle.heading)
    points = [(a, b) for a in along for b in across if a in (along[0], along[-1]) or b in (across[0], across[-1])]
    return [(middle.x + a * c - b * s, middle.y + a * s + b * c) for a, b in points]


def _spread(size: float) -> list[float]:
    half, steps = 0.5 * size, max(math.ceil(size / BOX_POINT_M), 1)
    return [-half + size * k / steps for k in range(steps)] + [half]


LOOKS = {
    Situation.OBSTACLE: Sanctions.obstacle,
    Situation.NO_WAY_BY: Sanctions.no_way_by,
    Situation.NO_ROAD_BY: Sanctions.no_road_by,
    Situation.PARKING: Sanctions.parking,
    Situation.DEAD_END: Sanctions.dead_end,
    Situation.RETURN: Sanctions.returning,
    Situation.OVERTAKING: Sanctions.overtaking,
}
"""How each is looked for."""
