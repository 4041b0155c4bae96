"""Whether bodies would be hit within a second if all went on as they go: along their lanes, into which one that comes
out of a turn goes on turning, in junctions and off the lanes as they turn (constant turn rate), persons straight on.

nuPlan's metric lets all go straight on ([caesar2021][]), which is a near miss for any two that pass
each other in a bend.
"""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import IntArray
from tuling_fsm.core.geometry import Pose, shifted, wrap_angle
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import PERSONS, AgentTracks
from tuling_fsm.sim.scoring.collisions import boxes_touched, is_behind
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.sim.scoring.road_rules import inside_one_lane
from tuling_fsm.world.inputs import Kind

LEAST_TTC_S = 0.95
"""nuPlan's threshold."""
TTC_STEPS_S = (0.3, 0.6, LEAST_TTC_S)
"""Bodies are compared after these times; they are long enough not to jump over one another between two."""
FOLLOWS_LANE_RAD = 0.5 * math.pi / 2.0
"""A body whose heading differs more from that of the lane does not follow it."""


class NearMisses:
    """Notes each agent that a collision was nearer with than `LEAST_TTC_S`; nobody is blamed for it."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, tracks: AgentTracks) -> None:
        self._map, self._vehicle, self._tracks = road_map, vehicle, tracks
        self._touched: set[int] = set()
        """Numbers of the agents that the car has been in contact with: they are no near misses any more."""

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look for agents that would be hit soon; the tracks have been told of the frame, and the log of collisions.

        Bodies ahead of the bumper that leads count, in junctions and where the car is in several lanes those beside it
        too: an agent behind has to keep clear of the car. A collision at fault is nearer than all.
        """
        ego, boxes = frame.ego, frame.agents.boxes
        for record in log.infractions[::-1]:
            if record.t < round(frame.stamp, 3):
                break
            if record.kind == "collision" and record.at_fault:
                self._note(frame, record.detail.partition(",")[0], 0.0, log)
        if len(boxes) == 0:
            return
        centre = shifted(ego.pose, center_ahead(self._vehicle))
        length, width = self._vehicle.length, self._vehicle.width
        touched = boxes_touched(centre.x, centre.y, ego.z, centre.heading, length, width, boxes)
        self._touched.update(frame.agents.ids[touched].tolist())
        rows = self._near(frame) if abs(ego.v) >= VEHICLE_STANDS else np.zeros(0, np.int64)
        for seconds in TTC_STEPS_S if len(rows) else ():
            x, y, heading = self._later(centre, ego.v, ego.yaw_rate, ego.position, seconds)
            later = boxes[rows].copy()
            for place, row in enumerate(rows.tolist()):
                later[place, [0, 1, 3]] = self._agent_later(frame, row, seconds)
            for row in rows[boxes_touched(x, y, ego.z, heading, length, width, later)].tolist():
                agent = f"{Kind(int(frame.agents.kinds[row])).name.lower()} {frame.agents.ids[row]}"
                self._note(frame, agent, seconds, log)

    def _note(self, frame: RefereeFrame, agent: str, seconds: float, log: InfractionLog) -> None:
        log.note(frame.stamp, f"near_miss {agent}", "near_miss", f"{agent}, in {seconds} s", False)

    def _near(self, frame: RefereeFrame) -> IntArray:
        """Rows of the agents that can be met in time and count."""
        ego, boxes = frame.ego, frame.agents.boxes
        s, c = elementary.sin_cos(ego.pose.heading)
        dx, dy = boxes[:, 0] - ego.pose.x, boxes[:, 1] - ego.pose.y
        bumper = self._vehicle.front if ego.v > 0.0 else self._vehicle.rear_overhang
        ahead = math.copysign(1.0, ego.v) * (c * dx + s * dy) > bumper
        reach = bumper + LEAST_TTC_S * (abs(ego.v) + np.abs(boxes[:, 6])) + boxes[:, 4]
        near = (elementwise.hypot(dx, dy) < reach) & ~np.isin(frame.agents.ids, list(self._touched))
        rows = np.flatnonzero(near)
        counts = ahead[rows]
        if not np.all(counts) and self._beside_counts(frame):
            counts |= ~np.array([is_behind(ego.pose, ego.v, self._vehicle, boxes[row]) for row in rows])
        return np.asarray(rows[counts])

    def _beside_counts(self, frame: RefereeFrame) -> bool:
        """Whether the car is in a junction, or in several lanes or off them."""
        position = frame.ego.position
        in_junction = position is not None and self._map.lanes[position.lane].junction is not None
        return in_junction or not inside_one_lane(self._map, frame.corners)

    def _agent_later(self, frame: RefereeFrame, row: int, seconds: float) -> Pose:
        x, y, _, heading, _, _, v = frame.agents.boxes[row].tolist()
        pose = Pose(x, y, heading)
        if abs(v) < VEHICLE_STANDS or int(frame.agents.kinds[row]) in PERSONS:
            return shifted(pose, v * seconds)
        return self._later(pose, v, self._tracks.yaw_rate(row), self._tracks.lane(row), seconds)

    def _later(self, pose: Pose, v: float, yaw_rate: float, position: LanePosition | None, seconds: float) -> Pose:
        """A body's middle after a time; it is at `position` on a lane, if on any."""
        if position is None or v < 0.0 or self._map.lanes[position.lane].junction is not None:
            return _turning(pose, v, yaw_rate, seconds)
        turned = float(wrap_angle(pose.heading - position.heading))
        if abs(turned) > FOLLOWS_LANE_RAD:
            return _turning(pose, v, yaw_rate, seconds)
        return self._along(position, turned, v, yaw_rate, seconds)

    def _along(self, position: LanePosition, turned: float, v: float, yaw_rate: float, seconds: float) -> Pose:
        """After a time at a heading against the lane (rad): its parts along and across the lane. One that turns the way
        of the lane does so until it drives along it.
        """
        ahead = self._centre_at(position, v * seconds).heading
        aligns = yaw_rate - float(wrap_angle(ahead - position.heading)) / seconds
        aligns = aligns if turned * aligns < 0.0 else 0.0
        lasts = min(seconds, -turned / aligns) if aligns != 0.0 else 0.0
        middle, then = turned + 0.5 * aligns * lasts, turned + aligns * lasts
        (sine, cosine), (sine_then, cosine_then) = elementary.sin_cos(middle), elementary.sin_cos(then)
        along = v * (lasts * cosine + (seconds - lasts) * cosine_then)
        across = v * (lasts * sine + (seconds - lasts) * sine_then)
        x, y, heading = self._centre_at(position, along)
        offset = position.offset + across
        sine, cosine = elementary.sin_cos(heading)
        side = offset * sine, offset * cosine
        return Pose(x - side[0], y + side[1], float(wrap_angle(heading + then)))

    def _centre_at(self, position: LanePosition, way: float) -> Pose:
        """The centre of the lane, or of the only one that follows it, so far on (m)."""
        lane, s = self._map.lanes[position.lane], position.s + way
        while s > lane.length and len(lane.successors) == 1:
            s, lane = s - lane.length, self._map.lanes[lane.successors[0]]
        return shifted(lane.center.at(min(s, lane.length)), max(s - lane.length, 0.0))


def _turning(pose: Pose, v: float, yaw_rate: float, seconds: float) -> Pose:
    """A body's middle after a time at constant speed and turn rate: by the chord of its arc."""
    half = 0.5 * yaw_rate * seconds
    chord = shifted(Pose(pose.x, pose.y, pose.heading + half), v * seconds)
    return Pose(chord.x, chord.y, float(wrap_angle(pose.heading + 2.0 * half)))
