"""Where an actor with a default controller is on its lane, and how it goes on from lane to lane."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, Projection, wrap_angle
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.road_places import along_road, locate, straightest

REACH_M = 3.0
"""An actor this near to a lane follows it ..."""
ALIGNED = 0.5
"""... if the cosine of the angle between them is above this, one way or the other."""
END_M = 1e-6
ABREAST_REACH_M = 500.0
"""Others are looked for on lanes that begin within this of an actor, ahead of it and behind."""


@dataclass
class LaneState:
    """A place on a lane: arc length and offset of the reference point (m, + left of the lane's travel), and whether the
    actor goes against the travel. `route` are lanes that are taken where the road forks.
    """

    road_map: RoadMap
    lane: Lane
    s: float
    offset: float
    against: bool
    tilt: float = 0.0
    """Of the actor's heading to its way along the lane, rad: it ends with the first step."""
    route: Collection[LaneId] = field(default_factory=frozenset)
    at_end: bool = False

    @classmethod
    def of(
        cls, road_map: RoadMap, pose: Pose, route: Collection[LaneId] = (), z: float | None = None
    ) -> LaneState | None:
        """The state of an actor at a pose, on the level `z` (m); None where it does not stand along a lane."""
        found = locate(road_map, pose, REACH_M, z)
        if found is None:
            return None
        along = elementary.cos(pose.heading - found.heading)
        if abs(along) < ALIGNED:
            return None
        return cls(road_map, road_map.lanes[found.lane], found.s, found.offset, along < 0.0, route=route)

    @property
    def side(self) -> float:
        """1 where + offsets of the road's frame are + offsets of this lane's, -1 otherwise."""
        return along_road(self.lane)

    @property
    def heading(self) -> float:
        """Of the way of the actor, rad."""
        heading = self.lane.center.at(self.s).heading
        return heading + math.pi if self.against else heading

    def advance(self, way: float) -> None:
        """Go on by so many metres (negative: backwards), to the end of the last lane at most."""
        s = self.s + (-way if self.against else way)
        for _ in range(len(self.road_map.lanes)):
            if 0.0 <= s <= self.lane.length:
                break
            following = self._following(self.lane, s < 0.0)
            if following is None:
                break
            s = s + following.length if s < 0.0 else s - self.lane.length
            self.lane = following
        self.at_end = not -END_M <= s <= self.lane.length + END_M
        self.s = min(max(s, 0.0), self.lane.length)

    def ends_here(self) -> bool:
        """Whether no lane goes on from here."""
        left = self.s if self.against else self.lane.length - self.s
        return self.at_end or (left < 1.0 and self._following(self.lane, self.against) is None)

    def _following(self, lane: Lane, back: bool) -> Lane | None:
        links = lane.predecessors if back else lane.successors
        routed = next((link for link in links if link in self.route), None)
        return straightest(self.road_map, lane, back) if routed is None else self.road_map.lanes[routed]

    def abreast_of(self, pose: Pose) -> Projection | None:
        """Where a pose is beside the middle of this lane, or of one that leads to it or on from it; None where it is
        beside none of these.
        """
        found = locate(self.road_map, pose)
        if found is None:
            return None
        section = found.lane.road, found.lane.section
        way = (lane for back in (False, True) for lane in self._way(back))
        there = next((lane for lane in way if (lane.id.road, lane.id.section) == section), None)
        if there is None:
            return None
        s_there = there.center.project(pose.x, pose.y).s
        middle = there.center.at(s_there)
        s, c = elementary.sin_cos(middle.heading)
        # Across the lane: beyond an end of the road the distance to the lane is more than that.
        return Projection(s_there, c * (pose.y - middle.y) - s * (pose.x - middle.x), middle.heading)

    def _way(self, back: bool) -> Iterator[Lane]:
        """This lane and those after it (`back`: before it), as far as others are looked for."""
        lane: Lane | None = self.lane
        left = ABREAST_REACH_M + (self.lane.length - self.s if back else self.s)
        while lane is not None and left > 0.0:
            yield lane
            left -= lane.length
            lane = self._following(lane, back)

    def change_to(self, number: int) -> bool:
        """Count from another lane of the road, by its number, in place; False where there is none beside this one."""
        lane_id = LaneId(self.lane.id.road, self.lane.id.section, number)
        target = self.road_map.lanes.get(lane_id)
        if target is None:
            return False
        here = self.pose(0.0)
        found = target.center.project(here.x, here.y)
        opposite = along_road(target) != along_road(self.lane)
        self.lane, self.s, self.offset = target, found.s, found.offset
        self.against = self.against != opposite
        return True

    def pose(self, slope: float) -> Pose:
        """The reference point; its heading leans by the slope of the offset over the way (m/m, + left of the lane)."""
        middle = self.lane.center.at(self.s)
        s, c = elementary.sin_cos(middle.heading)
        lean = elementary.atan(slope)
        heading = wrap_angle(middle.heading + lean + (math.pi if self.against else 0.0))
        return Pose(middle.x - self.offset * s, middle.y + self.offset * c, heading)
