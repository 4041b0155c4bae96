"""Pedestrians that nobody scripts: they walk along pavements and now and then cross at a crosswalk.

Nobody steps on while a vehicle could be there soon; who has begun to cross walks on, and it is for the others to stop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray, Polyline, Pose
from tuling_fsm.map.lanes import Crosswalk, Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import WalkerParameters

PAVEMENT = ("sidewalk", "walking")
SIZE_M = 0.6
"""Length and width of a pedestrian."""
NEAR_CROSSWALK_M = 6.0
KERB_M = 0.7
"""One waits this far outside the crosswalk's end."""
GIVE_UP_S = 30.0
TURN_BACK_S = 4.0
"""Somebody whose way is blocked for this long turns back."""
WATCH_M = 12.0
"""Vehicles farther away than this are in nobody's way."""
BUMP_M = 0.5
"""Nobody steps nearer than this to a vehicle, measured from the middle of the body."""
CLEARANCE_M = 3.0
COMFORT_DECEL = 2.0


class Crossing(NamedTuple):
    """Where a crosswalk begins and ends, seen across the road (m)."""

    ends: tuple[tuple[float, float], tuple[float, float]]


class Passage(NamedTuple):
    """A crosswalk's end beside a pavement: at `s` of that lane's centre."""

    s: float
    crossing: int
    end: int


@dataclass
class Walker:
    """One pedestrian on its present leg, a line in walking direction."""

    leg: Polyline
    s: float
    speed: float
    offset: float
    random: np.random.Generator
    lane: LaneId | None
    forward: bool
    goal: Passage | None = None
    crossing: bool = False
    waited: float = 0.0
    v: float = 0.0
    blocked: float = 0.0
    pose: Pose = field(default=Pose(0.0, 0.0, 0.0))
    """Where it is and faces, on its leg."""

    def at(self, s: float) -> Pose:
        """The pose at `s` of the leg."""
        x, y, heading = self.leg.at(s)
        return Pose(x - self.offset * math.sin(heading), y + self.offset * math.cos(heading), heading)


class Walkers:
    """The population of pedestrians."""

    def __init__(
        self, road_map: RoadMap, count: int, seed: np.random.SeedSequence, parameters: WalkerParameters
    ) -> None:
        self._map = road_map
        self._parameters = parameters
        self._pavements = [lane for lane in road_map.lanes.values() if lane.type in PAVEMENT and lane.length > 2.0]
        self._by_id = {lane.id: lane for lane in self._pavements}
        self._crossings = [crossing for c in road_map.crosswalks if (crossing := _crossing(road_map, c)) is not None]
        self._passages = {lane.id: _passages(lane, self._crossings) for lane in self._pavements}
        seeds = seed.spawn(count) if self._pavements else []
        self.walkers = [self._appear(np.random.Generator(np.random.PCG64(each))) for each in seeds]

    def _appear(self, random: np.random.Generator) -> Walker:
        lengths = np.cumsum([lane.length for lane in self._pavements])
        lane = self._pavements[int(np.searchsorted(lengths, random.uniform(0.0, lengths[-1])))]
        p = self._parameters
        speed = p.speed * (1.0 + p.speed_spread * random.uniform(-1.0, 1.0))
        forward = bool(random.random() < 0.5)
        leg = _leg(lane, forward)
        s = float(random.uniform(0.0, leg.length))
        room = max(float(np.min(np.minimum(lane.left, lane.right))) - 0.5 * SIZE_M, 0.0)
        walker = Walker(leg, s, float(speed), float(random.uniform(-room, room)), random, lane.id, forward)
        walker.pose = walker.at(s)
        return walker

    def step(self, dt: float, vehicles: FloatArray) -> None:
        """Walk on for `dt` s. `vehicles` (N, 6): x, y of the centre, heading, length, width, speed."""
        places = np.array([walker.pose[:2] for walker in self.walkers]).reshape(-1, 2)
        apart = np.hypot(places[:, :1] - vehicles[:, 0], places[:, 1:] - vehicles[:, 1])
        for walker, near in zip(self.walkers, apart < WATCH_M, strict=True):
            if walker.goal is not None and not walker.crossing and walker.s >= walker.leg.length:
                self._wait(walker, dt, vehicles)
            else:
                self._walk(walker, dt, vehicles[near])

    def _walk(self, walker: Walker, dt: float, vehicles: FloatArray) -> None:
        before = walker.s
        after = min(before + walker.speed * dt, walker.leg.length)
        pose = walker.at(after)
        if _bumps(pose, walker.pose, vehicles):
            walker.v, walker.blocked = 0.0, walker.blocked + dt
            if walker.blocked > TURN_BACK_S:
                self._turn_back(walker)
            return
        walker.s, walker.pose, walker.v, walker.blocked = after, pose, (after - before) / dt, 0.0
        if walker.crossing:
            if after >= walker.leg.length:
                self._arrive(walker)
        elif walker.goal is None:
            self._stroll(walker, before)

    def _turn_back(self, walker: Walker) -> None:
        """Something stands in the way and stays: go back."""
        walker.blocked = 0.0
        if walker.crossing and walker.goal is not None:
            walker.goal = walker.goal._replace(end=1 - walker.goal.end)
            self._walk_to(walker, self._kerb(walker.goal))
        elif walker.goal is None:
            walker.s, walker.offset, walker.forward = walker.leg.length - walker.s, -walker.offset, not walker.forward
            walker.leg = Polyline.of(walker.leg.xy[::-1])

    def _stroll(self, walker: Walker, before: float) -> None:
        """On the pavement: perhaps turn to a crosswalk that was just passed, or go on where the lane ends."""
        assert walker.lane is not None
        for passage in self._passages[walker.lane]:
            at = passage.s if walker.forward else walker.leg.length - passage.s
            if before < at <= walker.s and walker.random.random() < self._parameters.crossing_share:
                walker.goal = passage
                self._walk_to(walker, self._kerb(passage))
                return
        if walker.s >= walker.leg.length:
            self._next_lane(walker)

    def _next_lane(self, walker: Walker) -> None:
        """Go on to a lane that joins, else turn round."""
        assert walker.lane is not None
        lane = self._by_id[walker.lane]
        joined = [n for n in (lane.successors if walker.forward else lane.predecessors) if n in self._by_id]
        if joined:
            following = self._by_id[joined[int(walker.random.integers(len(joined)))]]
            end = walker.leg.xy[-1]
            walker.forward = math.dist(end, following.center.xy[0]) <= math.dist(end, following.center.xy[-1])
            walker.lane, walker.leg = following.id, _leg(following, walker.forward)
        else:
            walker.forward = not walker.forward
            walker.leg, walker.offset = _leg(lane, walker.forward), -walker.offset
        walker.s = 0.0

    def _walk_to(self, walker: Walker, point: tuple[float, float]) -> None:
        x, y, heading = walker.pose
        if math.dist((x, y), point) < 0.1:
            point = (x + 0.1 * math.cos(heading), y + 0.1 * math.sin(heading))
        walker.leg, walker.s, walker.offset = Polyline.of([(x, y), point]), 0.0, 0.0

    def _kerb(self, passage: Passage) -> tuple[float, float]:
        """Where one waits at a crosswalk's end."""
        (x, y), (far_x, far_y) = self._crossings[passage.crossing].ends[:: 1 if passage.end == 0 else -1]
        length = math.dist((x, y), (far_x, far_y))
        return x + (x - far_x) / length * KERB_M, y + (y - far_y) / length * KERB_M

    def _wait(self, walker: Walker, dt: float, vehicles: FloatArray) -> None:
        """At the kerb: step on when it is safe, give up after a while."""
        assert walker.goal is not None
        walker.v, walker.waited = 0.0, walker.waited + dt
        passage = walker.goal
        if _safe(self._crossings[passage.crossing], vehicles, self._parameters.safe_time):
            walker.crossing, walker.waited = True, 0.0
            walker.goal = passage._replace(end=1 - passage.end)
            self._walk_to(walker, self._kerb(walker.goal))
        elif walker.waited > GIVE_UP_S:
            self._arrive(walker)

    def _arrive(self, walker: Walker) -> None:
        """Back to the pavement nearby, if there is one; else wait to go back."""
        walker.crossing, walker.waited = False, 0.0
        x, y, _ = walker.pose
        found = self._map.project(x, y, types=PAVEMENT, radius=NEAR_CROSSWALK_M)
        if found is None or found.lane not in self._by_id:
            return
        lane = self._by_id[found.lane]
        walker.goal, walker.lane, walker.forward = None, lane.id, bool(walker.random.random() < 0.5)
        walker.leg = _leg(lane, walker.forward)
        projection = walker.leg.project(x, y)
        walker.s, walker.offset = projection.s, projection.offset


def _bumps(pose: Pose, before: Pose, vehicles: FloatArray) -> bool:
    """Whether a step leads nearer to a vehicle that is within reach."""
    if len(vehicles) == 0:
        return False
    c, s = np.cos(vehicles[:, 2]), np.sin(vehicles[:, 2])
    distances = []
    for x, y, _ in (before, pose):
        dx, dy = x - vehicles[:, 0], y - vehicles[:, 1]
        along = np.maximum(np.abs(c * dx + s * dy) - 0.5 * vehicles[:, 3], 0.0)
        distances.append(np.hypot(along, np.maximum(np.abs(c * dy - s * dx) - 0.5 * vehicles[:, 4], 0.0)))
    return bool(np.any((distances[1] < BUMP_M) & (distances[1] < distances[0])))


def _leg(lane: Lane, forward: bool) -> Polyline:
    return lane.center if forward else Polyline.of(lane.center.xy[::-1])


def _crossing(road_map: RoadMap, crosswalk: Crosswalk) -> Crossing | None:
    """The line across the road through a crosswalk's middle; None for one that lies on no lane."""
    if not crosswalk.lanes:
        return None
    lane_id, s_from, s_to = crosswalk.lanes[0]
    heading = road_map.lanes[lane_id].center.at(0.5 * (s_from + s_to)).heading
    along, across = np.array((math.cos(heading), math.sin(heading))), np.array((-math.sin(heading), math.cos(heading)))
    outline: npt.NDArray[np.float64] = crosswalk.outline
    middle = 0.5 * (np.min(outline @ along) + np.max(outline @ along))
    sides = (np.min(outline @ across), np.max(outline @ across))
    if sides[1] - sides[0] < 1.0:
        return None
    right, left = (middle * along + side * across for side in sides)
    return Crossing(((float(right[0]), float(right[1])), (float(left[0]), float(left[1]))))


def _passages(lane: Lane, crossings: Sequence[Crossing]) -> tuple[Passage, ...]:
    """The ends of crosswalks that lie beside a pavement."""
    found = []
    for i, crossing in enumerate(crossings):
        for end, (x, y) in enumerate(crossing.ends):
            projection = lane.center.project(x, y)
            if abs(projection.offset) < NEAR_CROSSWALK_M and 0.0 < projection.s < lane.length:
                found.append(Passage(projection.s, i, end))
    return tuple(found)


def _safe(crossing: Crossing, vehicles: FloatArray, safe_time: float) -> bool:
    """Whether no vehicle is on the crosswalk or could be there within the time, or could not stop before it."""
    if len(vehicles) == 0:
        return True
    a, b = np.array(crossing.ends[0]), np.array(crossing.ends[1])
    half = 0.5 * math.dist(a, b)
    dx, dy = (0.5 * (a + b))[:, None] - vehicles[:, :2].T
    c, s = np.cos(vehicles[:, 2]), np.sin(vehicles[:, 2])
    along, across = c * dx + s * dy, np.abs(c * dy - s * dx)
    way = along - 0.5 * vehicles[:, 3] - CLEARANCE_M
    v = vehicles[:, 5]
    on_it = np.hypot(dx, dy) < half + CLEARANCE_M
    soon = (
        (along > -CLEARANCE_M) & (across < half + CLEARANCE_M) & (way < v * safe_time + v * v / (2.0 * COMFORT_DECEL))
    )
    return not bool(np.any((v > 0.3) & (on_it | soon)))
