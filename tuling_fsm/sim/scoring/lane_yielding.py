"""Failing to yield outside junctions: to one that comes behind on a lane that the car changes to, and to one that
comes towards the car in a lane of the other direction (Vienna Convention on Road Traffic, articles 14 and 11).
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, shifted, wrap_angle
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import HARD_BRAKING, AgentTracks, ahead_of
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.world.inputs import Kind

IN_BETWEEN_M, BESIDE_WAY_M = 25.0, 1.0
"""One that brakes for another has them no farther ahead, and no farther beside its way."""
AS_FAST = 0.5
"""None brakes for one that goes on the same way faster by this, m/s."""
CHANGE_NEAR_M = 60.0
"""So far off others are looked at that are on a lane that the car comes to."""
CHANGE_S = 3.0
"""One that brakes within this time of a change of lanes does so for it."""
RESPONSE_S, HEADWAY_S = 0.4, 1.0
"""At a change of lanes one that comes behind may have to brake by `HARD_BRAKING` after this response, to a headway of
this: the critical distance of UN Regulation 79, 5.6.4.7.
"""
AGAINST = -0.7
"""Cosine between headings that are opposite."""
MEET_S = 5.0
"""One that comes towards the car in its own lane brakes for it within this time of meeting it."""


class LaneYielding:
    """Watches what the car cuts in before, and what it comes towards in its lane, outside junctions."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, tracks: AgentTracks) -> None:
        self._map, self._vehicle, self._tracks = road_map, vehicle, tracks
        self._under: set[LaneId] = set()
        self._cut_in: dict[int, float] = {}
        """When the car came too near before agents, by their number."""

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        before, middle = self._under, shifted(frame.ego.pose, center_ahead(self._vehicle))
        self._under = {each.lane for x, y in frame.corners.tolist() for each in self._map.positions(x, y)}
        beside = {lane[:2] for lane in before if self._map.lanes[lane].junction is None}
        entered = {lane for lane in self._under - before if lane[:2] in beside}
        against = self._against(frame)
        self._cut_in = {number: when for number, when in self._cut_in.items() if frame.stamp - when <= CHANGE_S}
        if not entered and not against and not self._cut_in:
            return
        for row in self._tracks.near(middle.x, middle.y, frame.ego.z, CHANGE_NEAR_M):
            position = self._tracks.lane(row)
            if position is None or not self._tracks.is_vehicle(row):
                continue
            way = {position.lane, *self._map.lanes[position.lane].successors}
            number, gap = int(frame.agents.ids[row]), self._gap(frame, row, middle)
            if way & entered and not way & before and self._too_near(frame, row, gap):
                self._cut_in[number] = frame.stamp
            if gap is None or not self._tracks.brakes_hard(row):
                continue
            if way & against and self._meets(frame, row, gap):
                _note(frame, row, "that came towards it", log)
            elif number in self._cut_in and way & self._under:
                _note(frame, row, "after its change of lanes", log)

    def _against(self, frame: RefereeFrame) -> set[LaneId]:
        """The lane outside junctions that the car is on with its middle, if it heads against it."""
        position = frame.ego.position
        if position is None or self._map.lanes[position.lane].junction is not None:
            return set()
        turned = wrap_angle(frame.ego.pose.heading - position.heading)
        return {position.lane} if elementary.cos(turned) < AGAINST else set()

    def _gap(self, frame: RefereeFrame, row: int, middle: Pose) -> float | None:
        """From an agent to the car that is ahead of it and in its way, m; None where it is not."""
        x, y, _, heading, length, width, _ = frame.agents.boxes[row].tolist()
        along, aside = ahead_of(x, y, heading, np.array((middle.x, middle.y)))
        turned = abs(elementary.sin(middle.heading - heading))
        half = 0.5 * (self._vehicle.width + turned * self._vehicle.length)
        if along <= 0.0 or abs(aside) > half + 0.5 * width + BESIDE_WAY_M:
            return None
        return float(along - 0.5 * (length + self._vehicle.length))

    def _too_near(self, frame: RefereeFrame, row: int, gap: float | None) -> bool:
        """Whether one that comes behind, and does not brake yet, has less than the critical distance."""
        heading, v = float(frame.agents.boxes[row, 3]), float(frame.agents.boxes[row, 6])
        turned = wrap_angle(frame.ego.pose.heading - heading)
        if gap is None or elementary.cos(turned) < -AGAINST or frame.ego.v < 0.0:
            return False
        closing = max(v - frame.ego.v, 0.0)
        critical = closing * RESPONSE_S + 0.5 * closing * closing / HARD_BRAKING + frame.ego.v * HEADWAY_S
        return v > AGENT_MOVES and gap < critical and not self._tracks.brakes_hard(row)

    def _meets(self, frame: RefereeFrame, row: int, gap: float) -> bool:
        """Whether an agent comes towards the car, and towards nobody else before."""
        heading, v = float(frame.agents.boxes[row, 3]), float(frame.agents.boxes[row, 6])
        opposed = elementary.cos(frame.ego.pose.heading - heading) < AGAINST
        soon = gap < MEET_S * (abs(v) + max(frame.ego.v, 0.0))
        return opposed and soon and not brakes_for_another(frame, row, self._tracks)


def _note(frame: RefereeFrame, row: int, how: str, log: InfractionLog) -> None:
    agent = f"{Kind(int(frame.agents.kinds[row])).name.lower()} {frame.agents.ids[row]}"
    detail = f"{agent} {how} had to brake harder than {HARD_BRAKING:.0f} m/s^2"
    log.note(frame.stamp, f"yield {frame.agents.ids[row]}", "yield", detail)


def brakes_for_another(frame: RefereeFrame, row: int, tracks: AgentTracks) -> bool:
    """Whether somebody else is before an agent, and no faster."""
    x, y, z, heading, length, width, v = frame.agents.boxes[row].tolist()
    for other in tracks.near(x, y, z, length + 2.0 * IN_BETWEEN_M):
        box = frame.agents.boxes[other]
        along, aside = ahead_of(x, y, heading, box)
        gap, beside = along - 0.5 * (length + float(box[4])), abs(aside) - 0.5 * (width + float(box[5]))
        goes_on = float(box[6]) * elementary.cos(float(box[3]) - heading) > v + AS_FAST
        if other != row and along > 0.0 and gap < IN_BETWEEN_M and beside < BESIDE_WAY_M and not goes_on:
            return True
    return False
