"""Failing to yield to traffic that has priority in a junction.

The leaderboard of CARLA 2.1 has one such infraction (to emergency vehicles, 0.40). Which traffic has priority is that
of the Vienna Convention on Road Traffic, article 18: by signs and lights, and the oncoming one over one that turns
across. Where none of them tells, the first to come goes first, and of two at once the one from the right, in left-hand
traffic from the left (paragraph 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, shifted, wrap_angle
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import Lane, LaneId, LanePosition, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import HARD_BRAKING, AgentTracks, Braking, ahead_of
from tuling_fsm.sim.scoring.collisions import boxes_touched
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.sim.scoring.lane_walk import lanes_before, lanes_onward
from tuling_fsm.sim.scoring.lane_yielding import brakes_for_another
from tuling_fsm.world.inputs import Kind, Light

POST_ENCROACHMENT_S = 1.0
"""An agent with priority reaches the place that the car has left no sooner than this: a shorter post-encroachment time
is a serious conflict ([allen1978][]).
"""
NEAR_M = 40.0
"""Agents this near to the car may be in conflict with it."""
APPROACH_M = 30.0
"""An agent this near before the junction is held up by a car in it."""
COMING_M = 80.0
"""A junction that is farther off than this is not come to yet."""
CELL_M = 1.0
"""Size of the cells in which the car leaves its trace."""
ACROSS = 0.9
"""One that meets the car's way with headings whose cosine is larger drives along it, and follows."""
TURN = math.radians(30.0)
"""A way through a junction that bends more is a turn."""
TURNS = 0.2
"""One that turns by more than this does not go straight on, rad/s."""
OPPOSITE = -0.7
"""Cosine between the headings of agents that come from opposite sides."""
CROSSWISE = 0.7
"""Sine of the angle between the headings of one that comes from the side and the car, at least."""
AT_ONCE_S = 0.5
"""Two that come to a junction within this time of one another come at once."""
HELD_UP_S = 3.0
"""One that has braked hard for the car has done so no longer than this before the car was on its way."""
MEETS_S = 2.0
"""One that would be where the car is on its way within this time, had it gone on, is held up."""
OPEN, BY_RULE, SHUT = 2, 1, 0
"""How much right a way through a junction has: green or without a sign; behind a yield or stop line; red."""
RIGHT_BY_LIGHT = {Light.RED: SHUT, Light.RED_YELLOW: SHUT, Light.YELLOW: BY_RULE, Light.FLASHING_YELLOW: BY_RULE}

RULING = (Light.RED, Light.RED_YELLOW, Light.YELLOW, Light.GREEN)
"""Lights that decide; where one is dark or flashes yellow, signs and the order of coming do."""


class _Coming(NamedTuple):
    """How long after the car an agent would come to the junction, negative: before it; how long before it must it
    begin to brake, not harder than `HARD_BRAKING`, to stop there (s).
    """

    after: float
    stopping: float


@dataclass
class _Passage:
    """One way through a junction: when the car came in, what was in a conflicting lane before it, and where it has been
    when (cells of `CELL_M`, s). Its right is that with which the car came in: one that clears a junction late keeps it.
    """

    junction: str
    entered: float
    lane: LaneId
    ways: frozenset[LaneId]
    """Connecting lanes to which its approach leads: where they meet others, it is still on one of these."""
    right: int
    lights: Mapping[int, int] = field(default_factory=dict)
    """By number of the signal, as the car came in; those of its approach, as its bumper passed their line."""
    before: frozenset[int] = frozenset()
    trail: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    """Of every cell when the car was there last, and its heading there."""
    coming: Mapping[int, _Coming] = field(default_factory=dict)
    """Agents that moved when the car came to the junction, by number."""
    beside: Mapping[int, float] = field(default_factory=dict)
    """Agents that came there beside the car and have not turned aside since, by number, and how far to the left (m)."""
    braked: dict[int, Braking | None] = field(default_factory=dict)
    """By number of the agent, where it first braked hard; None: for somebody else, or it has been noted."""


class JunctionYielding:
    """Watches which agents are held up by the car in a junction, and on the lanes that lead there."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, tracks: AgentTracks) -> None:
        self._map, self._vehicle, self._tracks = road_map, vehicle, tracks
        self._passage: _Passage | None = None
        self._approach: LaneId | None = None
        """The lane outside of junctions that the car was on last."""
        self._coming: Mapping[int, _Coming] | None = None
        """As in a passage, from when the moving car's bumper is in the junction on; None before."""
        self._passed: dict[int, int] = {}
        """Lights, by number of the signal, as the bumper passed their line on the way to the junction."""

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        passage = self._follow(frame)
        if passage is None:
            return
        if passage.entered == frame.stamp:
            passage.beside = self._beside(frame, passage)
        passage.beside = self._not_turning(frame, passage.beside)
        others = self._others(frame, passage)
        if passage.entered == frame.stamp:
            inside = {
                int(frame.agents.ids[row])
                for row, lane in others
                if self._is_inside(row, passage.junction) and not self._gives_way(frame, row, lane, passage)
            }
            passage.before = frozenset(inside - _at_once(passage.coming))
        under = self._lanes_under(frame) if others else set()
        for row, lane in others:
            number = int(frame.agents.ids[row])
            if number not in passage.before and not self._has_priority(frame, number, lane, passage):
                continue
            how = self._held_up(frame, passage, row, lane in under)
            if how is not None:
                what = Kind(int(frame.agents.kinds[row])).name.lower()
                log.note(frame.stamp, f"yield {number}", "yield", f"{what} {number} {how}")

    def _follow(self, frame: RefereeFrame) -> _Passage | None:
        """The passage that goes on, or was over a moment ago."""
        position, passage = frame.ego.position, self._passage
        lane = None if position is None else self._map.lanes[position.lane]
        if lane is not None and lane.junction is not None:
            if passage is None or passage.junction != lane.junction:
                lights, coming = {**frame.lights, **self._passed}, dict(self._coming or {})
                ways, right = self._ways(lane), self._right(lights, lane.id)
                passage = _Passage(lane.junction, frame.stamp, lane.id, ways, right, lights, coming=coming)
            if lane.id in passage.ways:
                passage.lane = lane.id
            self._leave_trail(frame, passage)
            self._passage = passage
            return passage
        self._approach = None if lane is None else lane.id
        self._note_coming(frame, position)
        self._note_passed(frame, position)
        if passage is not None:
            newest = max((when for when, _ in passage.trail.values()), default=-math.inf)
            passage = passage if frame.stamp - newest <= POST_ENCROACHMENT_S else None
        self._passage = passage
        return passage

    def _note_passed(self, frame: RefereeFrame, position: LanePosition | None) -> None:
        """Which light there was as the bumper passed a line: one that changes behind it is no matter any more. A car
        that has stood there goes on by the light that it then has.
        """
        kept = self._passed if abs(frame.ego.v) >= AGENT_MOVES else {}
        self._passed = {}
        if position is None:
            return
        half, of, lanes = 0.5 * self._vehicle.length, self._map.stop_lines_across, self._map.lanes
        before = lanes_before(self._map, position.lane, APPROACH_M)
        # In pairs: on a short ring the own lane comes again.
        under = [(position.lane, -position.s), *lanes_onward(self._map, position.lane, position.s, half).items()]
        passed = [line for lane in before for line in of(lane) if line.signal in kept]
        for lane, way in under:
            if lanes[lane].junction is None:
                lights = (line for line in of(lane) if line.kind == "light")
                passed += [line for line in lights if way + self._map.place_of(line)[1] <= half]
        for line in passed:
            light = kept.get(line.signal, int(frame.lights.get(line.signal, Light.UNKNOWN)))
            self._passed[line.signal] = light

    def _note_coming(self, frame: RefereeFrame, position: LanePosition | None) -> None:
        """When others come to the junction, at the moment when the car does, which moves on into it."""
        way = math.inf if position is None else self._to_junction(position)
        if way > 0.5 * self._vehicle.length or abs(frame.ego.v) < AGENT_MOVES:
            self._coming = None
        elif self._coming is None:
            rows = self._tracks.near(frame.ego.pose.x, frame.ego.pose.y, frame.ego.z, NEAR_M)
            found = {int(frame.agents.ids[row]): self._comes(frame, row) for row in rows}
            self._coming = {number: coming for number, coming in found.items() if coming is not None}

    def _comes(self, frame: RefereeFrame, row: int) -> _Coming | None:
        """When an agent that goes on as it does has its front in the junction; None for one that stands."""
        position, box = self._tracks.lane(row), frame.agents.boxes[row]
        v, half = abs(float(box[6])), 0.5 * float(box[4])
        if position is None or v < AGENT_MOVES:
            return None
        lane = self._map.lanes[position.lane]
        way = self._to_junction(position) if lane.junction is None else -position.s
        return _Coming((way - half) / v, 0.5 * v / HARD_BRAKING)

    def _to_junction(self, position: LanePosition) -> float:
        """How far ahead the next junction begins, m; infinite where none does soon."""
        onward = lanes_onward(self._map, position.lane, position.s, COMING_M)
        return min(
            (way for lane, way in onward.items() if self._map.lanes[lane].junction is not None), default=math.inf
        )

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
        for row in self._tracks.near(frame.ego.pose.x, frame.ego.pose.y, frame.ego.z, NEAR_M):
            position = self._tracks.lane(row)
            if position is None or not self._tracks.is_driven(row):
                continue
            onward = lanes_onward(self._map, position.lane, position.s, APPROACH_M)
            ways = [position.lane] if position.lane in conflicts else [lane for lane in onward if lane in conflicts]
            found.extend((row, way) for way in ways)
            if self._is_turned_before(passage, int(frame.agents.ids[row])):
                straight = (each for each in passage.ways if abs(_turn(self._map.lanes[each])) <= TURN)
                found.extend((row, way) for way in straight if way in (position.lane, *onward))
        return found

    def _beside(self, frame: RefereeFrame, passage: _Passage) -> dict[int, float]:
        """Agents that come along beside the car, or will within `MEETS_S`, and how far to the left (m): as they were on
        the way to the junction, where the car has perhaps begun to turn.
        """
        lane, pose, found = self._approach or passage.lane, frame.ego.pose, dict[int, float]()
        approach = (lane, *lanes_before(self._map, lane, NEAR_M))
        _, own = self._place_along(approach, pose.x, pose.y)
        for row in self._tracks.near(pose.x, pose.y, frame.ego.z, NEAR_M):
            x, y, _, heading, length, _, v = frame.agents.boxes[row].tolist()
            direction, offset = self._place_along(approach, x, y)
            along, _ = ahead_of(pose.x, pose.y, pose.heading, frame.agents.boxes[row])
            behind, aside = -self._vehicle.rear_overhang - along - 0.5 * length, offset - own
            same = elementary.cos(heading - direction) > ACROSS
            if same and abs(aside) > 0.5 * self._vehicle.width and behind < MEETS_S * v:
                found[int(frame.agents.ids[row])] = aside
        return found

    def _place_along(self, lanes: Sequence[LaneId], x: float, y: float) -> tuple[float, float]:
        """The heading (rad) of the nearest of some lanes at a place, or at its end, and how far to the left of its
        middle the place is (m).
        """
        centers = (self._map.lanes[lane].center for lane in lanes)
        center, place = min(((each, each.project(x, y)) for each in centers), key=lambda found: abs(found[1].offset))
        at = center.at(place.s)
        return at.heading, ahead_of(at.x, at.y, at.heading, np.array((x, y)))[1]

    def _not_turning(self, frame: RefereeFrame, beside: Mapping[int, float]) -> dict[int, float]:
        """Those of the agents beside the car that do not turn to the side on which they are."""
        rows = {number: row for row, number in enumerate(frame.agents.ids.tolist()) if number in beside}
        turning = {
            number
            for number, row in rows.items()
            if math.copysign(1.0, beside[number]) * self._tracks.yaw_rate(row) > TURNS
        }
        return {number: aside for number, aside in beside.items() if number not in turning}

    def _is_turned_before(self, passage: _Passage, number: int) -> bool:
        """Whether the car turns to the side on which an agent came along beside it."""
        turn, aside = _turn(self._map.lanes[passage.lane]), passage.beside.get(number, 0.0)
        return abs(turn) > TURN and turn * aside > 0.0

    def _held_up(self, frame: RefereeFrame, passage: _Passage, row: int, on_its_way: bool) -> str | None:
        """How the agent has been held up, in words."""
        x, y, _, heading, length, width, v = frame.agents.boxes[row].tolist()
        across = frame.ego.pose.heading
        if self._has_braked(frame, passage, row, on_its_way):
            return f"had to brake harder than {HARD_BRAKING:.0f} m/s^2"
        if abs(v) < AGENT_MOVES:
            return None
        if on_its_way and elementary.cos(wrap_angle(heading - across)) < ACROSS and self._touches(frame, row):
            return "was in a collision with it"
        for cell in _cells(Pose(x, y, heading), -0.5 * length, 0.5 * length, 0.5 * width):
            when, way = passage.trail.get(cell, (-math.inf, heading))
            gap = frame.stamp - when
            if 0.0 < gap < POST_ENCROACHMENT_S and elementary.cos(wrap_angle(heading - way)) < ACROSS:
                return f"came {gap:.1f} s behind"
        return None

    def _lanes_under(self, frame: RefereeFrame) -> set[LaneId]:
        """Lanes that a corner or the middle of a side of the car is on."""
        corners = frame.corners
        points = (*corners.tolist(), *(0.5 * (corners[[0, 3]] + corners[[1, 2]])).tolist())
        return {each.lane for x, y in points for each in self._map.positions(x, y)}

    def _touches(self, frame: RefereeFrame, row: int) -> bool:
        middle, (length, width) = self._middle(frame), (self._vehicle.length, self._vehicle.width)
        box = frame.agents.boxes[[row]]
        return len(boxes_touched(middle.x, middle.y, frame.ego.z, middle.heading, length, width, box)) > 0

    def _middle(self, frame: RefereeFrame) -> Pose:
        return shifted(frame.ego.pose, center_ahead(self._vehicle))

    def _has_braked(self, frame: RefereeFrame, passage: _Passage, row: int, on_its_way: bool) -> bool:
        """Whether the agent brakes hard before the car that is on its way, or has done so before it was, and would have
        met it there.
        """
        x, y, _, heading, length, _, _ = frame.agents.boxes[row].tolist()
        number, brakes = int(frame.agents.ids[row]), self._tracks.brakes_hard(row)
        began = self._tracks.braking(row) or self._tracks.halted(row)
        if began is not None and number not in passage.braked:
            passage.braked[number] = None if brakes_for_another(frame, row, self._tracks) else began
        along, _ = ahead_of(x, y, heading, np.array((frame.ego.pose.x, frame.ego.pose.y)))
        if not on_its_way or along <= 0.0:
            return False
        braked = passage.braked.get(number)
        if brakes:
            passage.braked[number] = None
        if brakes or braked is None:
            return brakes
        since, middle = frame.stamp - braked.stamp, self._middle(frame)
        way = ahead_of(x, y, heading, np.array((middle.x, middle.y)))[0] - braked.lost(frame.stamp, x, y)
        near = 0.5 * (length + self._vehicle.length)
        held = since < HELD_UP_S and -near - braked.v * POST_ENCROACHMENT_S < way < near + braked.v * MEETS_S
        passage.braked[number] = None if held else braked
        return held

    def _has_priority(self, frame: RefereeFrame, number: int, other: LaneId, passage: _Passage) -> bool:
        theirs = self._right(frame.lights, other)
        if passage.right > SHUT:
            # At green those clear the junction first that came in lawfully ([ncutlo2000][]).
            theirs = min(theirs, self._right(passage.lights, other))
        if theirs != passage.right or theirs == SHUT:
            return theirs > passage.right
        if other in passage.ways:
            # Only those are looked at there that the car turns before.
            return True
        own, lane = self._map.lanes[passage.lane], self._map.lanes[other]
        return self._turns_across(own, lane) or self._comes_first(number, own, lane, passage)

    def _gives_way(self, frame: RefereeFrame, row: int, other: LaneId, passage: _Passage) -> bool:
        """Whether an agent's way turns across the car's, both by lights that leave them the same: where it has not come
        into the car's way yet it waits for the car, though inside (Vienna Convention on Road Traffic, article 16).
        """
        center = self._map.lanes[passage.lane].center
        x, y, _, heading, length, width, _ = frame.agents.boxes[row].tolist()
        place = center.project(x, y)
        turned = heading - center.at(place.s).heading
        sine, cosine = elementary.sin_cos(turned)
        reach = 0.5 * (length * abs(sine) + width * abs(cosine))
        if abs(place.offset) < reach + 0.5 * self._vehicle.width:
            return False
        kinds = [{line.kind for line in self._lines(lane)} for lane in (passage.lane, other)]
        green = all("light" in each for each in kinds) and self._right(frame.lights, other) == passage.right == OPEN
        return green and self._turns_across(self._map.lanes[other], self._map.lanes[passage.lane])

    def _comes_first(self, number: int, own: Lane, other: Lane, passage: _Passage) -> bool:
        """Whether an agent is before the car at the junction, or at once with it or too near to stop before it and from
        the right (in left-hand traffic the left). Lights that are lit leave nothing to that, and a stop sign lets
        nobody come.
        """
        coming, theirs = passage.coming.get(number), self._lines(other.id)
        lit = any(passage.lights.get(line.signal) in RULING for line in (*self._lines(own.id), *theirs))
        if coming is None or lit or (coming.after > 0.0 and any(line.kind == "stop" for line in theirs)):
            return False
        side = -1.0 if self._map.left_hand else 1.0
        from_priority_side = side * elementary.sin(_begin(other) - _begin(own)) > CROSSWISE
        near = coming.after <= max(AT_ONCE_S, coming.stopping)
        return coming.after < -AT_ONCE_S or (near and from_priority_side)

    def _right(self, lights: Mapping[int, int], way: LaneId) -> int:
        """The least that a sign or light before or on a connecting lane leaves it."""
        rights = [OPEN]
        for line in self._lines(way):
            light = Light(lights.get(line.signal, Light.UNKNOWN))
            rights.append(RIGHT_BY_LIGHT.get(light, OPEN) if line.kind == "light" else BY_RULE)
        return min(rights)

    def _lines(self, way: LaneId) -> list[StopLine]:
        """Stop lines before or on a connecting lane; those of the junction before say nothing of this one."""
        of, lanes = self._map.stop_lines_of, self._map.lanes
        before = (
            (gap + lanes[lane].length, of(lane))
            for lane, gap in lanes_before(self._map, way, APPROACH_M).items()
            if lanes[lane].junction in (None, lanes[way].junction)
        )
        return [*of(way), *(line for end, lines in before for line in lines if end - line.s < APPROACH_M)]

    def _turns_across(self, own: Lane, other: Lane) -> bool:
        """Whether one way turns across another, which comes from the opposite side and does not."""
        side = -1.0 if self._map.left_hand else 1.0
        opposed = elementary.cos(_begin(own) - _begin(other)) < OPPOSITE
        return opposed and side * _turn(own) > TURN and side * _turn(other) <= TURN


def _at_once(coming: Mapping[int, _Coming]) -> set[int]:
    """Numbers of the agents that come to the junction at once with the car."""
    return {number for number, each in coming.items() if abs(each.after) <= AT_ONCE_S}


def _begin(lane: Lane) -> float:
    return float(lane.center.heading[0])


def _turn(lane: Lane) -> float:
    """How far a lane turns to the left, rad."""
    return wrap_angle(float(lane.center.heading[-1]) - _begin(lane))


def _cells(pose: Pose, back: float, front: float, half: float) -> set[tuple[int, int]]:
    """Cells that a body at a pose covers, from `back` to `front` of it and `half` to both sides (m)."""
    s, c = elementary.sin_cos(pose.heading)
    steps = max(math.ceil((front - back) / CELL_M), 1)
    found = set[tuple[int, int]]()
    for along in (back + (front - back) * k / steps for k in range(steps + 1)):
        for aside in (-half, 0.0, half):
            x, y = pose.x + along * c - aside * s, pose.y + along * s + aside * c
            found.add((math.floor(x / CELL_M), math.floor(y / CELL_M)))
    return found
