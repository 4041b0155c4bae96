"""How long other agents have stood, whether they brake hard or turn, which lane they are on, and which wait in a queue.

A queue is what stands on a lane behind others that stand, or before a light, a yield line or a full junction, while its
line moves at all. What stands at the kerb is parked; what stands there although the way is free has broken down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.map.lanes import LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.sim.scoring.collisions import SAME_LEVEL_M
from tuling_fsm.sim.scoring.lane_walk import lanes_onward
from tuling_fsm.world.inputs import Kind, Light

VEHICLES = (Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE)
PERSONS = (Kind.PEDESTRIAN, Kind.BICYCLE)
"""Whom a contact with the moving car harms on any side that it leads with or that is beside them."""
HARD_BRAKING = 3.0
"""Braking (m/s^2) that nobody plans: above the 2 to 3 m/s^2 of comfort (Treiber and Kesting, Traffic Flow Dynamics,
2013), the figure of UN Regulation 157 for a cut-in that is still fair.
"""
BRAKING_S = 0.15
"""It counts after this long: one frame may be a jump."""
QUEUE_GAP_M = 10.0
"""A queue's vehicles stand no farther from one another, and its first no farther from its line."""
KERB_M = 0.9
"""What stands so far off the middle of the lane, towards its outer edge, has been parked."""
WAITS_AT_FREE_LINE_S = 60.0
"""What stands so long before a line that is open does not wait."""
QUEUE_S = 300.0
"""Nor does a line of which nobody has moved for so long."""
JUNCTION_M = 60.0
"""A junction is full with vehicles in it that are no farther off than this."""
GRADE = 0.15
"""A road climbs by no more than this on the way from one agent to another on it."""
SAME_WAY = 0.7
"""Cosine between headings that agree (45 degrees)."""


class Braking(NamedTuple):
    """When (s), where (m) and from which speed (m/s) an agent began to brake hard."""

    stamp: float
    x: float
    y: float
    v: float

    def lost(self, stamp: float, x: float, y: float) -> float:
        """How much farther than a place (m) it would have come by a time (s) at the speed that it had."""
        return self.v * (stamp - self.stamp) - elementary.hypot(x - self.x, y - self.y)


class AgentTracks:
    """Watches all agents by id, frame by frame."""

    def __init__(self, road_map: RoadMap) -> None:
        self._map = road_map
        self._speed: dict[int, float] = {}
        self._stands: dict[int, float] = {}
        self._brakes: dict[int, Braking] = {}
        self._halted: dict[int, Braking] = {}
        """How those that stand braked hard before."""
        self._heading: dict[int, float] = {}
        self._heading_before: dict[int, float] = {}
        self._lanes: dict[int, tuple[tuple[float, float, float], LanePosition | None]] = {}
        self._agents = AgentBoxes(np.zeros((0, 7)), np.zeros(0, np.uint8), np.zeros(0, np.uint32))
        self._lights: Mapping[int, int] = {}
        self._ids: list[int] = []
        self._stamp, self._dt = 0.0, 1.0
        self._queues: dict[int, bool] = {}
        self._ahead: dict[int, int | None] = {}
        """What has been found out in this frame: by row, whether it queues, and the standing vehicle before it."""

    def watch(self, stamp: float, dt: float, agents: AgentBoxes, lights: Mapping[int, int]) -> None:
        """Take up the agents of a frame: its time and length, s; states of lights by signal number. One that is gone is
        forgotten.
        """
        self._agents, self._lights, self._ids = agents, lights, agents.ids.tolist()
        speed, stands, brakes, lanes = self._speed, self._stands, self._brakes, self._lanes
        lasted = {number: each for number, each in brakes.items() if self._stamp - each.stamp >= BRAKING_S - 1e-9}
        halted = {**self._halted, **lasted}
        self._speed, self._stands, self._brakes, self._halted = {}, {}, {}, {}
        for row, (number, v) in enumerate(zip(self._ids, np.abs(agents.boxes[:, 6]).tolist(), strict=True)):
            self._speed[number] = v
            if v < AGENT_STANDS:
                self._stands[number] = stands.get(number, stamp)
                if number in halted:
                    self._halted[number] = halted[number]
            before = speed.get(number, v)
            if (before - v) / dt > HARD_BRAKING:
                x, y = agents.boxes[row, :2].tolist()
                self._brakes[number] = brakes.get(number) or Braking(stamp - dt, x, y, before)
        self._lanes = {number: lanes[number] for number in self._ids if number in lanes}
        self._stamp, self._dt = stamp, dt
        self._queues, self._ahead = {}, {}
        self._heading_before = self._heading
        self._heading = dict(zip(self._ids, agents.boxes[:, 3].tolist(), strict=True))

    def yaw_rate(self, row: int) -> float:
        """How the agent in this row turns, rad/s."""
        number = self._ids[row]
        now = self._heading[number]
        return float(wrap_angle(now - self._heading_before.get(number, now))) / self._dt

    def stood(self, row: int) -> float:
        """How long the agent in this row has stood, s."""
        return self._stamp - self._stands.get(self._ids[row], self._stamp)

    def brakes_hard(self, row: int) -> bool:
        """Whether it brakes harder than `HARD_BRAKING`."""
        braking = self._brakes.get(self._ids[row])
        return braking is not None and self._stamp - braking.stamp >= BRAKING_S - 1e-9

    def braking(self, row: int) -> Braking | None:
        """How its hard braking began, while it lasts."""
        return self._brakes.get(self._ids[row]) if self.brakes_hard(row) else None

    def halted(self, row: int) -> Braking | None:
        """How the hard braking began by which it came to stand, while it stands."""
        return self._halted.get(self._ids[row])

    def lane(self, row: int) -> LanePosition | None:
        """The driving lane under its middle, the one that it follows."""
        x, y, z, heading = self._agents.boxes[row, :4].tolist()
        known = self._lanes.get(self._ids[row])
        if known is None or known[0] != (x, y, heading):
            known = (x, y, heading), self._map.project(x, y, heading, None if math.isnan(z) else z)
            self._lanes[self._ids[row]] = known
        return known[1]

    def near(self, x: float, y: float, z: float, radius: float) -> list[int]:
        """Rows of agents with their middle within `radius` m of a point, in order, but those above and below its road;
        an unknown height (NaN) is that of the road.
        """
        boxes = self._agents.boxes
        away = elementwise.hypot(boxes[:, 0] - x, boxes[:, 1] - y)
        elsewhere = np.abs(boxes[:, 2] - z) > SAME_LEVEL_M + GRADE * away
        return list(np.flatnonzero((away < radius) & ~elsewhere).tolist())

    def is_vehicle(self, row: int) -> bool:
        """Whether it is a motor vehicle."""
        return int(self._agents.kinds[row]) in VEHICLES

    def is_driven(self, row: int) -> bool:
        """Whether it is a vehicle, with a motor or without: who rides a bicycle drives one."""
        return self.is_vehicle(row) or int(self._agents.kinds[row]) == Kind.BICYCLE

    def queues(self, row: int) -> bool:
        """Whether a vehicle waits in a queue, of which something has moved of late."""
        if row not in self._queues:
            self._queues[row] = self._waits(row)
        return self._queues[row]

    def _waits(self, row: int) -> bool:
        line = self._line(row)
        if not line or min(self.stood(member) for member in line) >= QUEUE_S:
            return False
        position = self.lane(row)
        return len(line) > 1 or (position is not None and self._before_line(row, position))

    def _line(self, row: int) -> list[int]:
        """The vehicle and those that stand before it, up to the first or, in a ring, once round; none if it does not
        stand in a lane.
        """
        line: list[int] = []
        each: int | None = row
        while each is not None and each not in line:
            position = self.lane(each)
            if not self._is_standing(each) or position is None:
                break
            line.append(each)
            each = None if self._parked(each, position) else self._one_ahead(each, position)
        position = self.lane(row)
        return [] if position is None or self._parked(row, position) else line

    def _is_standing(self, row: int) -> bool:
        return self.is_vehicle(row) and abs(float(self._agents.boxes[row, 6])) < AGENT_STANDS

    def _parked(self, row: int, position: LanePosition) -> bool:
        """At the kerb, or across the lane."""
        outward = position.offset if self._map.left_hand else -position.offset
        turned = wrap_angle(float(self._agents.boxes[row, 3]) - position.heading)
        return outward > KERB_M or elementary.cos(turned) < SAME_WAY

    def _one_ahead(self, row: int, position: LanePosition) -> int | None:
        """The standing vehicle that another one stands close behind: straight ahead, or along its lane."""
        if row not in self._ahead:
            self._ahead[row] = self._find_ahead(row, position)
        return self._ahead[row]

    def _find_ahead(self, row: int, position: LanePosition) -> int | None:
        x, y, z, heading, length, width, _ = self._agents.boxes[row].tolist()
        found = []
        for other in self.near(x, y, z, length + 2.0 * QUEUE_GAP_M):
            if other == row or not self._is_standing(other):
                continue
            along, across = ahead_of(x, y, heading, self._agents.boxes[other])
            turned = wrap_angle(float(self._agents.boxes[other, 3]) - heading)
            beside = 0.5 * (width + float(self._agents.boxes[other, 5]))
            straight = along > 0.0 and abs(across) < beside and elementary.cos(turned) > SAME_WAY
            way = along if straight else self.along_lane(position, other, beside)
            gap = way - 0.5 * (length + float(self._agents.boxes[other, 4]))
            if way > 0.0 and gap < QUEUE_GAP_M:
                found.append((gap, other))
        return min(found)[1] if found else None

    def along_lane(self, position: LanePosition, other: int, beside: float) -> float:
        """How far ahead another one is on the same lane or on one that follows, from middle to middle (m); 0 where it
        is not, or no nearer than `beside` (m) to the way of the one behind.
        """
        place = self.lane(other)
        if place is None or abs(place.offset - position.offset) >= beside:
            return 0.0
        if place.lane == position.lane:
            return place.s - position.s
        onward = lanes_onward(self._map, position.lane, position.s, 3.0 * QUEUE_GAP_M)
        return onward[place.lane] + place.s if place.lane in onward else 0.0

    def _before_line(self, row: int, position: LanePosition) -> bool:
        """Before a stop line or a junction, and no longer than light or traffic let it wait."""
        lanes, half = self._map.lanes, 0.5 * float(self._agents.boxes[row, 4])
        onward = lanes_onward(self._map, position.lane, position.s, JUNCTION_M)
        entries = {lane: way for lane, way in onward.items() if lanes[lane].junction is not None}
        entered = {lanes[lane].junction for lane in entries}
        patient = self.stood(row) < WAITS_AT_FREE_LINE_S or self._busy(row, entered)
        # In pairs: on a short ring the own lane comes again.
        near = [
            line
            for lane, way in [(position.lane, -position.s), *onward.items()]
            for line in (self._map.stop_lines_across(lane) if lane not in entries else ())
            if -1.0 < way + self._map.place_of(line)[1] - half < QUEUE_GAP_M
        ]
        if near:
            # Of ways with lights of their own it may be for any.
            return patient or any(
                line.kind == "light" and self._lights.get(line.signal) != Light.GREEN for line in near
            )
        leads_in = lanes[position.lane].junction is None and any(way - half < QUEUE_GAP_M for way in entries.values())
        return leads_in and patient

    def _busy(self, row: int, junctions: set[str | None]) -> bool:
        """Whether another vehicle is in one of the junctions."""
        x, y, z = self._agents.boxes[row, :3].tolist()
        near = self.near(x, y, z, JUNCTION_M)
        places = (self.lane(other) for other in near if other != row and self.is_vehicle(other))
        return any(place is not None and self._map.lanes[place.lane].junction in junctions for place in places)


def ahead_of(x: float, y: float, heading: float, box: FloatArray) -> tuple[float, float]:
    """How far the middle of a box (x, y, ...) is ahead and to the left of a pose, m."""
    s, c = elementary.sin_cos(heading)
    dx, dy = float(box[0]) - x, float(box[1]) - y
    return c * dx + s * dy, c * dy - s * dx


def same_way(heading: float, other: float, within: float = math.pi / 2.0) -> bool:
    """Whether two headings (rad) differ by less than `within`."""
    return abs(wrap_angle(heading - other)) < within
