"""Overtaking a queue: passing what waits in line on a side of the road that is not for it (StVO section 5; our own)."""

from __future__ import annotations

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import AgentTracks, ahead_of, same_way
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.sim.scoring.lane_walk import lanes_before, lanes_onward

NEAR_M = 15.0
ASIDE_M = 6.0
"""One that is passed nearer than this, from middle to middle, has been overtaken."""


class QueueOvertaking:
    """Watches the bodies that the car comes past."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, tracks: AgentTracks, line: float) -> None:
        self._map, self._vehicle, self._tracks = road_map, vehicle, tracks
        self._line = line
        """A corner that is no more than this over the edge of a lane is still on it, m."""
        self._behind: set[int] = set()
        """Ids of agents whose middle the car's front has not reached yet."""

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        behind = set[int]()
        pose = frame.ego.pose
        for row in self._tracks.near(pose.x, pose.y, frame.ego.z, NEAR_M):
            if not self._tracks.is_vehicle(row):
                continue
            number = int(frame.agents.ids[row])
            along, aside = ahead_of(pose.x, pose.y, pose.heading, frame.agents.boxes[row])
            if along > self._vehicle.front:
                behind.add(number)
            elif number in self._behind and abs(aside) < ASIDE_M and self._not_its_side(frame, row):
                log.note(frame.stamp, f"queue {number}", "queue_overtaken", f"past vehicle {number} that waits in line")
        self._behind = behind

    def _not_its_side(self, frame: RefereeFrame, row: int) -> bool:
        """Whether the agent queues in the car's direction, and the car is on another side than a lane beside it."""
        position = self._tracks.lane(row)
        if position is None or not same_way(frame.ego.pose.heading, position.heading):
            return False
        return self._tracks.queues(row) and not self._beside(frame, position.lane)

    def _beside(self, frame: RefereeFrame, queue: LaneId) -> bool:
        """Whether the whole car is on lanes of the queue's direction, and its front on others than the queue's own.

        The rear of a car that changes lanes comes after.
        """
        lanes = [{each.lane for each in self._map.positions(x, y, self._line)} for x, y in frame.corners.tolist()]
        its_way = set(self._map.same_direction(queue))
        front_left, _, _, front_right = lanes
        others = self._with_joined(its_way - {queue})
        return all(under & (others | self._with_joined({queue})) for under in lanes) and all(
            front & others for front in (front_left, front_right)
        )

    def _with_joined(self, lanes: set[LaneId]) -> set[LaneId]:
        """Lanes with those that lead to them and on from them: a car may be on several sections of a road."""
        joined = set(lanes)
        for lane in lanes:
            joined |= lanes_before(self._map, lane, NEAR_M).keys()
            joined |= lanes_onward(self._map, lane, self._map.lanes[lane].length, NEAR_M).keys()
        return joined
