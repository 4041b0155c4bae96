"""Failing to yield to persons on a crosswalk or on the lane ahead."""

from __future__ import annotations

import math

import numpy as np
from shapely import STRtree
from shapely.geometry import Point, Polygon

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import DRIVING
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import HARD_BRAKING, PERSONS, AgentTracks, ahead_of
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.sim.scoring.road_rules import ON_SURFACE
from tuling_fsm.world.inputs import Kind

ACROSS = 0.9
"""A cyclist whose heading has a larger cosine to the car's rides along its way."""
PERSON_S = 1.5
"""Nobody drives at a person that would be reached within this time."""
REACTION_S = 1.0
"""One that has been on the carriageway for this long can be reacted to (response time of RSS, [shalev2017][])."""
BESIDE_M = 0.3
"""A person this near to the sides of the car is in its way."""
PERSON_NEAR_M = 25.0
_AHEAD_S = np.linspace(0.0, PERSON_S, 31)
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
        near = self._tracks.near(frame.ego.pose.x, frame.ego.pose.y, frame.ego.z, PERSON_NEAR_M)
        persons = [row for row in near if int(frame.agents.kinds[row]) in PERSONS]
        under = self._crosswalks_under(frame.corners) if persons else set()
        # On a lane for others, or a parking strip, it is the carriageway that the car makes of it.
        types = (DRIVING,) if frame.ego.position is not None else ON_SURFACE
        for row in persons:
            x, y = (float(value) for value in frame.agents.boxes[row, :2])
            if not self._map.positions(x, y, 0.0, types):
                continue
            number = int(frame.agents.ids[row])
            since[number] = self._since.get(number, frame.stamp)
            if frame.stamp - since[number] < REACTION_S - 1e-6 or abs(frame.ego.v) <= AGENT_MOVES:
                continue
            on_crosswalk = any(self._outlines[i].covers(Point(x, y)) for i in under)
            how = self._driven_at(frame, row) or (self._crowded(frame, row) if on_crosswalk else None)
            if how is not None:
                log.note(frame.stamp, f"yield {number}", "yield", f"person {number} {how}")
        self._since = since

    def _driven_at(self, frame: RefereeFrame, row: int) -> str | None:
        """A person ahead that would be reached soon, and could be spared by hard braking alone."""
        when = self._reached_after(frame, row)
        if when is None:
            return None
        _, closing, _, _ = self._relative(frame, row)
        spared = closing <= max(AGENT_MOVES, 2.0 * HARD_BRAKING * when)
        return None if spared else f"on the lane {when:.1f} s ahead"

    def _reached_after(self, frame: RefereeFrame, row: int) -> float | None:
        """Seconds until the leading end of the car, driven on along its arc, comes to a person before or close beside
        it; None where it passes the person, or has it beside it.
        """
        box, ego = frame.agents.boxes[row], frame.ego
        if self._is_far(frame, row):
            return None
        turned = ego.yaw_rate * _AHEAD_S
        x, y = ahead_of(ego.pose.x, ego.pose.y, ego.pose.heading, box)
        sine_walks, cosine_walks = elementary.sin_cos(float(box[3]) - ego.pose.heading)
        # From the car's place after each time to the person's; half the turn is the heading of the chord.
        chord = ego.v * _AHEAD_S * elementwise.sinc(0.5 * turned)
        sine, cosine = elementwise.sin_cos(0.5 * turned)
        dx = x + float(box[6]) * cosine_walks * _AHEAD_S - chord * cosine
        dy = y + float(box[6]) * sine_walks * _AHEAD_S - chord * sine
        s, c = elementwise.sin_cos(turned)
        along, aside = c * dx + s * dy, c * dy - s * dx
        length, reach = 0.5 * float(box[4]), 0.5 * self._vehicle.width + BESIDE_M + 0.5 * float(box[5])
        front, rear = self._vehicle.front + length, -self._vehicle.rear_overhang - length
        reached = (along < front) & (along > rear) & (np.abs(aside) < reach)
        k = int(reached.argmax())
        # One that comes to the flanks does so on its own way.
        ahead = along[k - 1] >= front if ego.v > 0.0 else along[k - 1] <= rear
        return float(_AHEAD_S[k]) if k > 0 and ahead else None

    def _is_far(self, frame: RefereeFrame, row: int) -> bool:
        """Whether a person is farther off than both come to within `PERSON_S`."""
        box, pose, vehicle = frame.agents.boxes[row], frame.ego.pose, self._vehicle
        away = elementary.hypot(float(box[0]) - pose.x, float(box[1]) - pose.y)
        reach = vehicle.length + vehicle.width + BESIDE_M + float(box[4]) + float(box[5])
        return away > (abs(frame.ego.v) + abs(float(box[6]))) * PERSON_S + reach

    def _crowded(self, frame: RefereeFrame, row: int) -> str | None:
        """A person ahead on the crosswalk under the car, in its way or about to be, other than a cyclist that the car
        follows.
        """
        if self._rides_along(frame, row):
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

    def _rides_along(self, frame: RefereeFrame, row: int) -> bool:
        turned = float(frame.agents.boxes[row, 3]) - frame.ego.pose.heading
        along = elementary.cos(turned) * math.copysign(1.0, frame.ego.v) > ACROSS
        return int(frame.agents.kinds[row]) == Kind.BICYCLE and along

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
        sine, cosine = elementary.sin_cos(turned)
        walks, sideways = float(box[6]) * cosine, float(box[6]) * sine
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
