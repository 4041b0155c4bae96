"""Failing to yield outside junctions: to one that comes on a lane that the car changes to, pulls out to, turns round
into or crosses, and to one that comes towards the car in a lane of the other direction (Vienna Convention on Road
Traffic, articles 14 and 11).
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, distance, shifted, wrap_angle
from tuling_fsm.core.standing import AGENT_MOVES, VEHICLE_STANDS
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import HARD_BRAKING, AgentTracks, ahead_of
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.sim.scoring.lane_walk import lanes_before, lanes_onward
from tuling_fsm.world.inputs import Kind, Light

IN_BETWEEN_M, BESIDE_WAY_M = 25.0, 1.0
"""One that brakes for another has them no farther ahead, and no farther beside its way."""
IN_WAY_M = 0.3
"""One that brakes for the car has it no farther beside its way."""
AS_FAST = 0.5
"""None brakes for one that goes on the same way faster by this, m/s."""
CHANGE_NEAR_M = 60.0
"""So far off others are looked at that are on a lane that the car comes to."""
CHANGE_S = 3.0
"""One that brakes within this time of a change of lanes does so for it."""
ANTICIPATED_S = 1.0
"""One that sees it coming has begun to brake no longer than this before."""
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

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, tracks: AgentTracks, line: float) -> None:
        """`line` (m): a corner that is no farther over a line is not beyond it."""
        self._map, self._vehicle, self._tracks, self._line = road_map, vehicle, tracks, line
        self._before: set[LaneId] = set()
        """Lanes that the car was on a frame ago; none where the car stood beside the lanes, and has to come out."""
        self._last: Pose | None = None
        self._cut_in: dict[int, float] = {}
        """When the car came too near before agents, by their number."""

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        before, middle = self._before, shifted(frame.ego.pose, center_ahead(self._vehicle))
        under = self._under(frame)
        entered, against = self._entered(frame, under), self._against(frame)
        starts = frame.ego.position is None and abs(frame.ego.v) < VEHICLE_STANDS
        self._before, self._last = set() if starts else under, frame.ego.pose
        self._cut_in = {number: when for number, when in self._cut_in.items() if frame.stamp - when <= CHANGE_S}
        if not entered and not against and not self._cut_in:
            return
        for row in self._tracks.near(middle.x, middle.y, frame.ego.z, CHANGE_NEAR_M):
            position, brakes = self._tracks.lane(row), self._tracks.brakes_hard(row)
            if position is None or not (entered or brakes) or not self._tracks.is_driven(row):
                continue
            way, gap, number = self._way(position), self._gap(frame, row, middle), int(frame.agents.ids[row])
            if way & entered and not way & before and self._too_near(frame, row, gap):
                self._cut_in[number] = frame.stamp
            if gap is None or not brakes or not self._is_in_way(frame, row, middle):
                continue
            if way & against and self._meets(frame, row, gap):
                _note(frame, row, "that came towards it", log)
            elif number in self._cut_in and way & under and not self._brakes_otherwise(frame, row, gap):
                _note(frame, row, "whose lane it came to", log)

    def _under(self, frame: RefereeFrame) -> set[LaneId]:
        """Lanes that the car has its middle on or came to with a corner and has not left since."""
        places = [each for x, y in frame.corners.tolist() for each in self._map.positions(x, y)]
        over = {each.lane for each in places if 0.5 * each.width - abs(each.offset) > self._line}
        kept = {each.lane for each in places if each.lane in self._before}
        return over | kept if frame.ego.position is None else {frame.ego.position.lane} | over | kept

    def _entered(self, frame: RefereeFrame, under: set[LaneId]) -> set[LaneId]:
        """Lanes outside junctions that the car has come to sideways, and not along one that it was on before."""
        before, lanes, reach = self._before, self._map.lanes, self._vehicle.length
        new = {lane for lane in under - before if lanes[lane].junction is None}
        if not new or abs(frame.ego.v) < VEHICLE_STANDS or not frame.drove_from(self._last):
            return set()
        beside = {lane[:2] for lane in before}
        joined = {
            lane: {*lanes_before(self._map, lane, reach), *lanes_onward(self._map, lane, lanes[lane].length, reach)}
            for lane in new
        }
        return {lane for lane in new if lane[:2] in beside or before.isdisjoint(joined[lane])}

    def _against(self, frame: RefereeFrame) -> set[LaneId]:
        """The lane outside junctions that the car is on with its middle, if it heads against it."""
        position = frame.ego.position
        if position is None or self._map.lanes[position.lane].junction is not None:
            return set()
        turned = wrap_angle(frame.ego.pose.heading - position.heading)
        return {position.lane} if elementary.cos(turned) < AGAINST else set()

    def _way(self, position: LanePosition) -> set[LaneId]:
        """The lane of an agent, and those that it leads on to as far as others are looked at."""
        onward = lanes_onward(self._map, position.lane, position.s, CHANGE_NEAR_M)
        found = {position.lane, *onward}
        if self._map.lanes[position.lane].junction is not None:
            for lane, way in onward.items():
                found |= lanes_onward(self._map, lane, 0.0, CHANGE_NEAR_M - way).keys()
        return found

    def _gap(self, frame: RefereeFrame, row: int, middle: Pose) -> float | None:
        """From an agent to the car, along its heading, m; None where the middle of the car is not ahead of its own."""
        x, y, _, heading, length, _, _ = frame.agents.boxes[row].tolist()
        along, _ = ahead_of(x, y, heading, np.array((middle.x, middle.y)))
        reach = self._extent(middle.heading - heading, self._vehicle.length, self._vehicle.width)
        return None if along <= 0.0 else float(along - 0.5 * length - reach)

    def _is_in_way(self, frame: RefereeFrame, row: int, middle: Pose) -> bool:
        """Whether the car is no farther beside the way that an agent heads."""
        x, y, _, heading, _, width, _ = frame.agents.boxes[row].tolist()
        _, aside = ahead_of(x, y, heading, np.array((middle.x, middle.y)))
        reach = self._extent(middle.heading - heading, self._vehicle.width, self._vehicle.length)
        return bool(abs(aside) <= reach + 0.5 * width + IN_WAY_M)

    def _extent(self, turned: float, along: float, across: float) -> float:
        """Half of what a box turned by an angle (rad) takes up in a direction, m."""
        sine, cosine = elementary.sin_cos(turned)
        return 0.5 * (abs(cosine) * along + abs(sine) * across)

    def _too_near(self, frame: RefereeFrame, row: int, gap: float | None) -> bool:
        """Whether an agent has less than the critical distance to the car that comes to its lane, at the speed that it
        had before it braked for that.
        """
        x, y, _, heading, _, _, v = frame.agents.boxes[row].tolist()
        braking = self._tracks.braking(row)
        if gap is None or v < 0.0:
            return False
        if braking is not None:
            if frame.stamp - braking.stamp > ANTICIPATED_S or brakes_for_line(frame, row, self._tracks, self._map):
                return False
            gap, v = gap - braking.lost(frame.stamp, x, y), braking.v
        along = frame.ego.v * elementary.cos(frame.ego.pose.heading - heading)
        closing = max(v - along, 0.0)
        critical = closing * RESPONSE_S + 0.5 * closing * closing / HARD_BRAKING + max(along, 0.0) * HEADWAY_S
        return bool(v > AGENT_MOVES and gap < critical)

    def _brakes_otherwise(self, frame: RefereeFrame, row: int, within: float = IN_BETWEEN_M) -> bool:
        """Whether an agent brakes for another one, nearer than `within` (m), or for a line."""
        another = brakes_for_another(frame, row, self._tracks, within)
        return another or brakes_for_line(frame, row, self._tracks, self._map)

    def _meets(self, frame: RefereeFrame, row: int, gap: float) -> bool:
        """Whether an agent comes towards the car, and towards nobody else before."""
        heading, v = float(frame.agents.boxes[row, 3]), float(frame.agents.boxes[row, 6])
        opposed = elementary.cos(frame.ego.pose.heading - heading) < AGAINST
        soon = gap < MEET_S * (abs(v) + max(frame.ego.v, 0.0))
        return opposed and soon and not self._brakes_otherwise(frame, row)


def _note(frame: RefereeFrame, row: int, how: str, log: InfractionLog) -> None:
    agent = f"{Kind(int(frame.agents.kinds[row])).name.lower()} {frame.agents.ids[row]}"
    detail = f"{agent} {how} had to brake harder than {HARD_BRAKING:.0f} m/s^2"
    log.note(frame.stamp, f"yield {frame.agents.ids[row]}", "yield", detail)


def brakes_for_another(frame: RefereeFrame, row: int, tracks: AgentTracks, within: float = IN_BETWEEN_M) -> bool:
    """Whether somebody else is before an agent, straight ahead or along its lane, nearer than `within` (m), and no
    faster.
    """
    x, y, z, heading, length, width, v = frame.agents.boxes[row].tolist()
    position = tracks.lane(row)
    for other in tracks.near(x, y, z, length + 2.0 * IN_BETWEEN_M):
        box = frame.agents.boxes[other]
        along, aside = ahead_of(x, y, heading, box)
        beside = 0.5 * (width + float(box[5])) + BESIDE_WAY_M
        if abs(aside) >= beside:
            along = 0.0 if position is None else tracks.along_lane(position, other, beside)
        gap = along - 0.5 * (length + float(box[4]))
        goes_on = float(box[6]) * elementary.cos(float(box[3]) - heading) > v + AS_FAST
        if other != row and along > 0.0 and gap < within and not goes_on:
            return True
    return False


def brakes_for_line(frame: RefereeFrame, row: int, tracks: AgentTracks, road_map: RoadMap) -> bool:
    """Whether an agent that brakes hard comes to a line that is not open, and had to begin then to brake for it, be
    it half as hard.
    """
    position, braking = tracks.lane(row), tracks.braking(row)
    if position is None or braking is None:
        return False
    x, y = frame.agents.boxes[row, :2].tolist()
    reach = braking.v * braking.v / HARD_BRAKING - distance((x, y), (braking.x, braking.y))
    onward = lanes_onward(road_map, position.lane, position.s, reach)
    return any(
        0.0 < way + road_map.place_of(line)[1] < reach
        and (line.kind != "light" or frame.lights.get(line.signal) != Light.GREEN)
        for lane, way in [(position.lane, -position.s), *onward.items()]
        for line in road_map.stop_lines_across(lane)
    )
