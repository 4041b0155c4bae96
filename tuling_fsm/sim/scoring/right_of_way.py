"""Failing to yield: to traffic that has priority in a junction, and to persons on a crosswalk or on the lane ahead.

The leaderboard of CARLA 2.1 has one such infraction (to emergency vehicles, 0.40). Which traffic has priority is that
of the Vienna Convention on Road Traffic, article 18: by signs and lights, and the oncoming one over who turns across.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from shapely import STRtree
from shapely.geometry import Point, Polygon

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import HARD_BRAKING, PERSONS, AgentTracks, ahead_of
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.world.inputs import Kind, Light

POST_ENCROACHMENT_S = 1.0
"""Who has priority reaches the place that the car has left no sooner than this: a shorter post-encroachment time is a
serious conflict ([allen1978][]).
"""
NEAR_M = 40.0
"""Agents this near to the car may be in conflict with it."""
APPROACH_M = 30.0
"""An agent this near before the junction is held up by a car in it."""
CELL_M = 1.0
"""Size of the cells in which the car leaves its trace."""
ACROSS = 0.9
"""Who meets the car's way with headings whose cosine is larger drives along it, and follows."""
TURN = math.radians(30.0)
"""A way through a junction that bends more is a turn."""
OPPOSITE = -0.7
"""Cosine between the headings of those who come from opposite sides."""
OPEN, BY_RULE, SHUT = 2, 1, 0
"""How much right a way through a junction has: green or without a sign; behind a yield or stop line; red."""
RIGHT_BY_LIGHT = {Light.RED: SHUT, Light.RED_YELLOW: SHUT, Light.YELLOW: BY_RULE, Light.FLASHING_YELLOW: BY_RULE}


@dataclass
class _Passage:
    """One way through a junction: when the car came in, who was in a conflicting lane then, and where it has been when
    (cells of `CELL_M`, s). Its right is that with which the car came in: who clears a junction late keeps it.
    """

    junction: str
    entered: float
    lane: LaneId
    ways: frozenset[LaneId]
    """Connecting lanes to which its approach leads: where they meet others, it is still on one of these."""
    right: int
    lights: Mapping[int, int] = field(default_factory=dict)
    """By number of the signal, as the car came in."""
    before: frozenset[int] = frozenset()
    trail: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    """Of every cell when the car was there last, and its heading there."""


class JunctionYielding:
    """Watches who is held up by the car in a junction."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, tracks: AgentTracks) -> None:
        self._map, self._vehicle, self._tracks = road_map, vehicle, tracks
        self._passage: _Passage | None = None
        self._approach: LaneId | None = None
        """The lane outside of junctions that the car was on last."""

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        passage = self._follow(frame)
        if passage is None:
            return
        others = self._others(frame, passage)
        if passage.entered == frame.stamp:
            inside = [row for row, _ in others if self._is_inside(row, passage.junction)]
            passage.before = frozenset(int(frame.agents.ids[row]) for row in inside)
        for row, lane in others:
            number = int(frame.agents.ids[row])
            if number not in passage.before and not self._has_priority(frame, lane, passage):
                continue
            how = self._held_up(frame, passage, row, lane)
            if how is not None:
                what = Kind(int(frame.agents.kinds[row])).name.lower()
                log.note(frame.stamp, f"yield {number}", "yield", f"{what} {number} {how}")

    def _follow(self, frame: RefereeFrame) -> _Passage | None:
        """The passage that goes on, or was over a moment ago."""
        position, passage = frame.ego.position, self._passage
        lane = None if position is None else self._map.lanes[position.lane]
        if lane is not None and lane.junction is not None:
            if passage is None or passage.junction != lane.junction:
                ways, right = self._ways(lane), self._right(frame.lights, lane.id)
                passage = _Passage(lane.junction, frame.stamp, lane.id, ways, right, dict(frame.lights))
            if lane.id in passage.ways:
                passage.lane = lane.id
            self._leave_trail(frame, passage)
            self._passage = passage
            return passage
        self._approach = None if lane is None else lane.id
        if passage is not None:
            newest = max((when for when, _ in passage.trail.values()), default=-math.inf)
            passage = passage if frame.stamp - newest <= POST_ENCROACHMENT_S else None
        self._passage = passage
        return passage

    def _ways(self, lane: Lane) -> frozenset[LaneId]:
        """Lanes of a junction to which the car's approach leads, or, where it came in elsewhere, the lane it is on."""
        first = () if self._approach is None else self._map.lanes[self._approach].successors
        for level in (list(first), [lane.id]):
            found = set[LaneId]()
            while level:
                each = level.pop()
                if each not in found and self._map.lanes[each].junction == lane.junction:
                    found.add(each)
                    level += self._map.lanes[each].successors
            if lane.id in found:
                break
        return frozenset(found)

    def _is_inside(self, row: int, junction: str) -> bool:
        position = self._tracks.lane(row)
        return position is not None and self._map.lanes[position.lane].junction == junction

    def _leave_trail(self, frame: RefereeFrame, passage: _Passage) -> None:
        pose, half = frame.ego.pose, 0.5 * self._vehicle.width
        for cell in _cells(pose, -self._vehicle.rear_overhang, self._vehicle.front, half):
            passage.trail[cell] = frame.stamp, pose.heading

    def _others(self, frame: RefereeFrame, passage: _Passage) -> list[tuple[int, LaneId]]:
        """Vehicles in conflict with the car's way: their rows, and the connecting lane that each is on or comes to."""
        conflicts = self._map.junctions[passage.junction].conflicts.get(passage.lane, ())
        found: list[tuple[int, LaneId]] = []
        for row in self._tracks.near(frame.ego.pose.x, frame.ego.pose.y, NEAR_M):
            if not self._tracks.is_vehicle(row) and int(frame.agents.kinds[row]) != Kind.BICYCLE:
                continue
            position = self._tracks.lane(row)
            if position is None:
                continue
            lane = self._map.lanes[position.lane]
            ahead = [n for n in lane.successors if n in conflicts and lane.length - position.s < APPROACH_M]
            ways = [lane.id] if lane.id in conflicts else ahead
            found.extend((row, way) for way in ways)
        return found

    def _held_up(self, frame: RefereeFrame, passage: _Passage, row: int, lane: LaneId) -> str | None:
        """How the agent has been held up, in words."""
        x, y, _, heading, length, width, v = frame.agents.boxes[row].tolist()
        on_its_way = any(
            lane in {each.lane for each in self._map.positions(*corner)} for corner in frame.corners.tolist()
        )
        along, _ = ahead_of(x, y, heading, np.array((frame.ego.pose.x, frame.ego.pose.y)))
        if on_its_way and along > 0.0 and self._tracks.brakes_hard(row):
            return f"had to brake harder than {HARD_BRAKING:.0f} m/s^2"
        if abs(v) < AGENT_MOVES:
            return None
        for cell in _cells(Pose(x, y, heading), -0.5 * length, 0.5 * length, 0.5 * width):
            when, way = passage.trail.get(cell, (-math.inf, heading))
            gap = frame.stamp - when
            if 0.0 < gap < POST_ENCROACHMENT_S and elementary.cos(wrap_angle(heading - way)) < ACROSS:
                return f"came {gap:.1f} s behind"
        return None

    def _has_priority(self, frame: RefereeFrame, other: LaneId, passage: _Passage) -> bool:
        theirs = self._right(frame.lights, other)
        if passage.right > SHUT:
            # Who gets green lets those clear the junction who came in lawfully ([ncutlo2000][]).
            theirs = min(theirs, self._right(passage.lights, other))
        if theirs != passage.right:
            return theirs > passage.right
        return theirs > SHUT and self._turns_across(self._map.lanes[passage.lane], self._map.lanes[other])

    def _right(self, lights: Mapping[int, int], way: LaneId) -> int:
        """The least that a sign or light before or on a connecting lane leaves it."""
        lanes = (way, *self._map.lanes[way].predecessors)
        rights = [OPEN]
        for line in (line for lane in lanes for line in self._map.stop_lines_of(lane)):
            light = Light(lights.get(line.signal, Light.UNKNOWN))
            rights.append(RIGHT_BY_LIGHT.get(light, OPEN) if line.kind == "light" else BY_RULE)
        return min(rights)

    def _turns_across(self, own: Lane, other: Lane) -> bool:
        """Whether the car turns across the way of who comes from the opposite side and does not."""
        side = -1.0 if self._map.left_hand else 1.0
        opposed = elementary.cos(_begin(own) - _begin(other)) < OPPOSITE
        return opposed and side * _turn(own) > TURN and side * _turn(other) <= TURN


def _begin(lane: Lane) -> float:
    return float(lane.center.heading[0])


def _turn(lane: Lane) -> float:
    """How far a lane turns to the left, rad."""
    return wrap_angle(float(lane.center.heading[-1]) - _begin(lane))


def _cells(pose: Pose, back: float, front: float, half: float) -> set[tuple[int, int]]:
    """Cells that a body at a pose covers, from `back` to `front` of it and `half` to both sides (m)."""
    c, s = elementary.cos(pose.heading), elementary.sin(pose.heading)
    steps = max(math.ceil((front - back) / CELL_M), 1)
    found = set[tuple[int, int]]()
    for along in (back + (front - back) * k / steps for k in range(steps + 1)):
        for aside in (-half, 0.0, half):
            x, y = pose.x + along * c - aside * s, pose.y + along * s + aside * c
            found.add((math.floor(x / CELL_M), math.floor(y / CELL_M)))
    return found


PERSON_S = 1.5
"""Nobody drives at a person who would be reached within this time."""
REACTION_S = 1.0
"""Who has been on the carriageway for this long can be reacted to (response time of RSS, [shalev2017][])."""
BESIDE_M = 0.3
"""A person this near to the sides of the car is in its way."""
PERSON_NEAR_M = 25.0
_STRAIGHT = 1e-3
"""Curvature (1/m) below which a way is straight."""


class PedestrianYielding:
    """Watches persons on the carriageway and on crosswalks."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, tracks: AgentTracks) -> None:
        self._map, self._vehicle, self._tracks = road_map, vehicle, tracks
        self._outlines = [Polygon(each.outline) for each in road_map.crosswalks]
        self._tree = STRtree(self._outlines)
        self._since: dict[int, float] = {}

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        since: dict[int, float] = {}
        for row in self._tracks.near(frame.ego.pose.x, frame.ego.pose.y, PERSON_NEAR_M):
            if int(frame.agents.kinds[row]) not in PERSONS:
                continue
            x, y = (float(value) for value in frame.agents.boxes[row, :2])
            if not self._map.positions(x, y):
                continue
            number = int(frame.agents.ids[row])
            since[number] = self._since.get(number, frame.stamp)
            if frame.stamp - since[number] < REACTION_S - 1e-6 or abs(frame.ego.v) <= AGENT_MOVES:
                continue
            how = self._driven_at(frame, row) or self._crowded(frame, row)
            if how is not None:
                log.note(frame.stamp, f"yield {number}", "yield", f"person {number} {how}")
        self._since = since

    def _driven_at(self, frame: RefereeFrame, row: int) -> str | None:
        """A person ahead who would be reached soon, and could be spared by hard braking alone."""
        gap, closing, aside, sideways = self._relative(frame, row)
        if gap < 0.0 or closing <= AGENT_MOVES or gap / closing > PERSON_S:
            return None
        reach = 0.5 * self._vehicle.width + BESIDE_M + 0.5 * float(frame.agents.boxes[row, 5])
        when = gap / closing
        in_way = abs(aside) < reach and abs(aside + sideways * when) < reach
        if in_way and closing * closing > 2.0 * HARD_BRAKING * gap:
            return f"on the lane {when:.1f} s ahead"
        return None

    def _crowded(self, frame: RefereeFrame, row: int) -> str | None:
        """A person ahead on the crosswalk under the car, in its way or about to be."""
        x, y = (float(value) for value in frame.agents.boxes[row, :2])
        if not any(self._outlines[i].covers(Point(x, y)) for i in self._crosswalks_under(frame.corners)):
            return None
        gap, _, aside, sideways = self._relative(frame, row)
        if gap < -self._vehicle.length:
            return None
        edge = max(abs(aside) - 0.5 * self._vehicle.width - 0.5 * float(frame.agents.boxes[row, 5]), 0.0)
        nearing = -math.copysign(1.0, aside) * sideways
        in_way = edge <= BESIDE_M and gap > 0.0
        if in_way or (nearing > 0.0 and edge / nearing < PERSON_S):
            return "on the crosswalk"
        return None

    def _relative(self, frame: RefereeFrame, row: int) -> tuple[float, float, float, float]:
        """Of a person, along the arc that the car is driving: how far before the leading bumper (m), how fast the car
        comes nearer (m/s), how far to the left (m), and how fast to the left (m/s).
        """
        box, ego = frame.agents.boxes[row], frame.ego
        way = ego.pose.heading if ego.v >= 0.0 else wrap_angle(ego.pose.heading + math.pi)
        bumper = self._vehicle.front if ego.v >= 0.0 else self._vehicle.rear_overhang
        bend = ego.yaw_rate / max(abs(ego.v), AGENT_MOVES)
        along, aside = _on_arc(*ahead_of(ego.pose.x, ego.pose.y, way, box), bend)
        turned = float(box[3]) - way - bend * along
        walks, sideways = float(box[6]) * elementary.cos(turned), float(box[6]) * elementary.sin(turned)
        return along - bumper - 0.5 * float(box[4]), abs(ego.v) - walks, aside, sideways

    def _crosswalks_under(self, corners: FloatArray) -> set[int]:
        if not self._outlines:
            return set()
        return {int(i) for i in self._tree.query(Polygon(corners), "intersects")}


def _on_arc(ahead: float, left: float, bend: float) -> tuple[float, float]:
    """A place ahead and to the left (m), as far along and to the left of an arc of a curvature (1/m)."""
    if abs(bend) < _STRAIGHT:
        return ahead, left
    radius, side = 1.0 / abs(bend), math.copysign(1.0, bend)
    inwards = radius - side * left
    return radius * elementary.atan2(ahead, inwards), side * (radius - elementary.hypot(ahead, inwards))
