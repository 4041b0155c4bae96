"""How long every other agent has stood, whether it brakes hard, which lane it is on, and whether it waits in a queue.

A queue is who stands on a lane behind others who stand, or before a light, a yield line or a junction. Who stands at
the kerb is parked; who stands there although the way is free has broken down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, wrap_angle
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.map.lanes import LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.world.inputs import Kind, Light

VEHICLES = (Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE)
PERSONS = (Kind.PEDESTRIAN, Kind.BICYCLE)
"""Whom any contact with the moving car harms."""
HARD_BRAKING = 3.0
"""Braking (m/s^2) that nobody plans: above the 2 to 3 m/s^2 of comfort (Treiber and Kesting, Traffic Flow Dynamics,
2013), the figure of UN Regulation 157 for a cut-in that is still fair.
"""
BRAKING_S = 0.15
"""It counts after this long: one frame may be a jump."""
QUEUE_GAP_M = 10.0
"""A queue's vehicles stand no farther from one another, and its first no farther from its line."""
KERB_M = 0.9
"""Who stands so far off the middle of the lane, towards its outer edge, has been parked."""
WAITS_AT_FREE_LINE_S = 60.0
"""Who stands so long before a line that is open does not wait."""
QUEUE_S = 300.0
"""Nor does who has stood so long behind others."""
SAME_WAY = 0.7
"""Cosine between headings that agree (45 degrees)."""


class AgentTracks:
    """Watches all agents by id, frame by frame."""

    def __init__(self, road_map: RoadMap) -> None:
        self._map = road_map
        self._speed: dict[int, float] = {}
        self._stands: dict[int, float] = {}
        self._brakes: dict[int, float] = {}
        self._lanes: dict[int, tuple[tuple[float, float, float], LanePosition | None]] = {}
        self._agents = AgentBoxes(np.zeros((0, 7)), np.zeros(0, np.uint8), np.zeros(0, np.uint32))
        self._lights: Mapping[int, int] = {}
        self._ids: list[int] = []
        self._stamp = 0.0

    def watch(self, stamp: float, dt: float, agents: AgentBoxes, lights: Mapping[int, int]) -> None:
        """Take up the agents of a frame: its time and length, s; states of lights by signal number."""
        self._agents, self._lights, self._ids = agents, lights, agents.ids.tolist()
        speed: dict[int, float] = {}
        for number, v in zip(self._ids, np.abs(agents.boxes[:, 6]).tolist(), strict=True):
            speed[number] = v
            if v < AGENT_STANDS:
                self._stands.setdefault(number, stamp)
            else:
                self._stands.pop(number, None)
            if (self._speed.get(number, v) - v) / dt > HARD_BRAKING:
                self._brakes.setdefault(number, stamp - dt)
            else:
                self._brakes.pop(number, None)
        self._speed, self._stamp = speed, stamp

    def stood(self, row: int) -> float:
        """How long the agent in this row has stood, s."""
        return self._stamp - self._stands.get(self._ids[row], self._stamp)

    def brakes_hard(self, row: int) -> bool:
        """Whether it brakes harder than `HARD_BRAKING`."""
        return self._stamp - self._brakes.get(self._ids[row], self._stamp) >= BRAKING_S - 1e-9

    def lane(self, row: int) -> LanePosition | None:
        """The driving lane under its middle, the one that it follows."""
        x, y, _, heading = self._agents.boxes[row, :4].tolist()
        known = self._lanes.get(self._ids[row])
        if known is None or known[0] != (x, y, heading):
            known = (x, y, heading), self._map.project(x, y, heading)
            self._lanes[self._ids[row]] = known
        return known[1]

    def near(self, x: float, y: float, radius: float) -> list[int]:
        """Rows of agents with their middle within `radius` m of a point, in order."""
        boxes = self._agents.boxes
        return list(np.flatnonzero(elementwise.hypot(boxes[:, 0] - x, boxes[:, 1] - y) < radius).tolist())

    def is_vehicle(self, row: int) -> bool:
        """Whether it is a motor vehicle."""
        return int(self._agents.kinds[row]) in VEHICLES

    def queues(self, row: int) -> bool:
        """Whether a vehicle waits in a queue."""
        if not self.is_vehicle(row) or abs(self._agents.boxes[row, 6]) >= AGENT_STANDS:
            return False
        position = self.lane(row)
        if position is None or self._parked(row, position):
            return False
        if self._behind_another(row):
            return self.stood(row) < QUEUE_S
        return self._before_line(row, position)

    def _parked(self, row: int, position: LanePosition) -> bool:
        """At the kerb, or across the lane."""
        box = self._agents.boxes[row]
        outward = position.offset if self._map.left_hand else -position.offset
        return outward > KERB_M or elementary.cos(wrap_angle(box[3] - position.heading)) < SAME_WAY

    def _behind_another(self, row: int) -> bool:
        boxes: FloatArray = self._agents.boxes
        x, y, _, heading, length, width, _ = boxes[row].tolist()
        c, s = elementary.cos(heading), elementary.sin(heading)
        dx, dy = boxes[:, 0] - x, boxes[:, 1] - y
        along, across = c * dx + s * dy, c * dy - s * dx
        gap = along - 0.5 * (length + boxes[:, 4])
        vehicle: npt.NDArray[np.bool_] = np.isin(self._agents.kinds, VEHICLES)
        ahead = (along > 0.0) & (gap < QUEUE_GAP_M) & (np.abs(across) < 0.5 * (width + boxes[:, 5]))
        same_way = elementwise.cos(boxes[:, 3] - heading) > SAME_WAY
        return bool(np.any(vehicle & ahead & same_way & (np.abs(boxes[:, 6]) < AGENT_STANDS)))

    def _before_line(self, row: int, position: LanePosition) -> bool:
        """Before a stop line or a junction, and no longer than its light lets it wait."""
        lane = self._map.lanes[position.lane]
        front = position.s + 0.5 * float(self._agents.boxes[row, 4])
        for line in self._map.stop_lines_of(position.lane):
            if -1.0 < line.s - front < QUEUE_GAP_M:
                closed = line.kind == "light" and self._lights.get(line.signal) != Light.GREEN
                return closed or self.stood(row) < WAITS_AT_FREE_LINE_S
        leads_in = lane.junction is None and any(self._map.lanes[n].junction is not None for n in lane.successors)
        return leads_in and lane.length - front < QUEUE_GAP_M and self.stood(row) < WAITS_AT_FREE_LINE_S


def ahead_of(x: float, y: float, heading: float, box: FloatArray) -> tuple[float, float]:
    """How far the middle of a box (x, y, ...) is ahead and to the left of a pose, m."""
    c, s = elementary.cos(heading), elementary.sin(heading)
    dx, dy = float(box[0]) - x, float(box[1]) - y
    return c * dx + s * dy, c * dy - s * dx


def same_way(heading: float, other: float, within: float = math.pi / 2.0) -> bool:
    """Whether two headings (rad) differ by less than `within`."""
    return abs(wrap_angle(heading - other)) < within
