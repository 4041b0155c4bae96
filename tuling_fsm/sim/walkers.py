"""Pedestrians that nobody scripts: they walk along pavements and now and then cross at a crosswalk.

Nobody steps on while a vehicle could be there soon or the light is red; who has begun to cross walks on, and it is for
the others to stop. Some may cross on red, or run out without a look. They avoid one another, vehicles and what stands
around by ORCA (ORCA-1), and walk around what blocks their way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, Polyline, Pose, distance
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.crossings import NEAR_CROSSWALK_M, Passage, crossing_of, passages, safe
from tuling_fsm.sim.obstacles import Scenery, way_around
from tuling_fsm.sim.orca.crowd import new_crowd
from tuling_fsm.sim.orca.step import Avoidance
from tuling_fsm.sim.parameters import WalkerParameters
from tuling_fsm.sim.seeds import generator

PAVEMENT = ("sidewalk", "walking")
SIZE_M = 0.6
"""Length and width of a pedestrian."""
RADIUS_M = 0.35
LOOK_M = 2.0
"""They head for the point of their way that is this far ahead."""
REACHED_M = 0.3
CLOSE_M, SLOW = 1.5, 0.2
"""Whoever is kept from the end of its way by others this near it is there as well."""
HURRY = 1.3
"""Share of the own speed up to which one steps aside."""
GIVE_UP_S = 30.0
RED_PATIENCE = 4.0
"""One waits so many times as long where it is for a red light."""
BLOCKED_S, BLOCKED_SHARE = 0.6, 0.3
"""Getting on at less than this share of the own speed for this long is being blocked."""
TURN_BACK_S = 8.0
"""Somebody whose way is blocked for this long turns back."""
ASIDE = math.radians(80.0)
BOLT_REACH_M, BOLT_STEP_M = 25.0, 0.5
NO_LIGHTS: Mapping[int, int] = {}


@dataclass
class Walker:
    """One pedestrian on its present leg, a line in walking direction, beside which it keeps an `offset` (m, + left)."""

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
    defies_red: bool = False
    runs_out: bool = False
    v: float = 0.0
    blocked: float = 0.0
    aside: float = 0.0
    """Way left to go sideways around something, m, + left."""
    pose: Pose = field(default=Pose(0.0, 0.0, 0.0))
    """Where it is and faces."""

    def at(self, s: float) -> Pose:
        """The pose at `s` of the leg."""
        x, y, heading = self.leg.at(s)
        return Pose(x - self.offset * elementary.sin(heading), y + self.offset * elementary.cos(heading), heading)

    @property
    def at_end(self) -> bool:
        """Whether the leg is walked."""
        left = distance(self.pose[:2], self.at(self.leg.length)[:2])
        past = self.s >= self.leg.length - 1e-6
        return past or left < REACHED_M or (left < CLOSE_M and self.blocked > 0.0 and self.v < SLOW)

    @property
    def waiting(self) -> bool:
        """Whether it stands at a kerb."""
        return self.goal is not None and not self.crossing and self.at_end


class Walkers:
    """The population of pedestrians."""

    def __init__(
        self, road_map: RoadMap, count: int, seed: np.random.SeedSequence, parameters: WalkerParameters
    ) -> None:
        self._map = road_map
        self._parameters = parameters
        self._pavements = [lane for lane in road_map.lanes.values() if lane.type in PAVEMENT and lane.length > 2.0]
        self._by_id = {lane.id: lane for lane in self._pavements}
        self.crossings = [crossing for c in road_map.crosswalks if (crossing := crossing_of(road_map, c)) is not None]
        self._passages = {lane.id: passages(lane, self.crossings) for lane in self._pavements}
        self._scenery = Scenery(road_map)
        seeds = seed.spawn(count) if self._pavements else []
        self.walkers = [self._appear(generator(each)) for each in seeds]
        crowd = new_crowd([walker.pose[:2] for walker in self.walkers], RADIUS_M, 1.0, 5.0, 8, 2.5, 1.0)
        own = int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._avoidance = Avoidance(crowd, (), 1.0, parameters.perturbation, own)

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

    def step(self, dt: float, vehicles: FloatArray, lights: Mapping[int, int] = NO_LIGHTS) -> None:
        """Walk on for `dt` s.

        Args:
            dt: length of the frame, s.
            vehicles: (N, 6): x, y of the centre, heading, length, width, speed.
            lights: the state of each signal by its number.
        """
        if not self.walkers:
            return
        for walker in self.walkers:
            if walker.waiting:
                self._wait(walker, dt, vehicles, lights)
        places = np.array([walker.pose[:2] for walker in self.walkers])
        obstacles = self._scenery.near(places, vehicles)
        crowd = self._avoidance.crowd
        for i, walker in enumerate(self.walkers):
            if walker.aside == 0.0 and walker.blocked > BLOCKED_S:
                walker.aside = way_around(walker.pose, walker.leg.at(walker.s).heading, obstacles, LOOK_M, RADIUS_M)
            crowd.wish_x[i], crowd.wish_y[i], pace = self._wish(walker)
            crowd.max_speed[i] = HURRY * pace
        self._avoidance.wall_in(obstacles)
        self._avoidance.step(dt)
        for i, walker in enumerate(self.walkers):
            self._moved(walker, dt, Pose(float(crowd.x[i]), float(crowd.y[i]), walker.pose.heading))

    def _wish(self, walker: Walker) -> tuple[float, float, float]:
        """The preferred velocity (m/s), and the speed that it would like."""
        pace = self._parameters.run_speed if walker.crossing and walker.runs_out else walker.speed
        if walker.waiting:
            return 0.0, 0.0, pace
        x, y, heading = walker.pose
        there = walker.at(min(walker.s + LOOK_M, walker.leg.length))
        if walker.aside != 0.0:
            heading = walker.leg.at(walker.s).heading + math.copysign(ASIDE, walker.aside)
        elif distance((x, y), there[:2]) > 1e-6:
            heading = elementary.atan2(there.y - y, there.x - x)
        return pace * elementary.cos(heading), pace * elementary.sin(heading), pace

    def _moved(self, walker: Walker, dt: float, pose: Pose) -> None:
        """Note where the avoidance has moved a pedestrian, and what follows from it."""
        before, way = walker.s, distance(pose[:2], walker.pose[:2])
        walker.v = way / dt
        if walker.v > SLOW:
            pose = pose._replace(heading=elementary.atan2(pose.y - walker.pose.y, pose.x - walker.pose.x))
        walker.pose = pose
        reach = 2.0 * HURRY * self._parameters.run_speed * dt
        found = walker.leg.project(pose.x, pose.y, before - 0.5, before + reach + 0.5)
        walker.s = min(max(before, found.s), before + reach)
        if walker.waiting:
            return
        slow = walker.s - before < BLOCKED_SHARE * walker.speed * dt
        walker.blocked = walker.blocked + dt if slow else 0.0
        if walker.aside != 0.0:
            walker.aside = math.copysign(max(abs(walker.aside) - way, 0.0), walker.aside)
        if walker.crossing and walker.at_end:
            self._arrive(walker)
        elif walker.blocked > TURN_BACK_S:
            self._turn_back(walker)
        elif not walker.crossing and walker.goal is None:
            self._stroll(walker, before, dt)

    def _turn_back(self, walker: Walker) -> None:
        """Something stands in the way and stays: go back."""
        walker.blocked, walker.aside = 0.0, 0.0
        if walker.crossing and walker.goal is not None:
            walker.goal = walker.goal._replace(end=1 - walker.goal.end)
            self._walk_to(walker, self.crossings[walker.goal.crossing].kerb(walker.goal.end))
        else:
            walker.s, walker.offset, walker.forward = walker.leg.length - walker.s, -walker.offset, not walker.forward
            walker.leg = Polyline.of(walker.leg.xy[::-1])

    def _stroll(self, walker: Walker, before: float, dt: float) -> None:
        """On the pavement: perhaps turn to a crosswalk that was just passed, or go on where the lane ends."""
        assert walker.lane is not None
        p = self._parameters
        for passage in self._passages[walker.lane]:
            at = passage.s if walker.forward else walker.leg.length - passage.s
            if before < at <= walker.s and walker.random.random() < p.crossing_share:
                walker.goal = passage
                self._walk_to(walker, self.crossings[passage.crossing].kerb(passage.end))
                return
        if p.run_out_rate > 0.0 and walker.random.random() < p.run_out_rate * dt and self._run_out(walker):
            return
        if walker.s >= walker.leg.length - REACHED_M:
            self._next_lane(walker)

    def _run_out(self, walker: Walker) -> bool:
        """Straight across the road from where it is, without a look; False where there is no other side."""
        x, y, heading = walker.pose
        for side in (0.5 * math.pi, -0.5 * math.pi):
            c, s, on_road = elementary.cos(heading + side), elementary.sin(heading + side), False
            for away in np.arange(BOLT_STEP_M, BOLT_REACH_M, BOLT_STEP_M).tolist():
                point = (x + away * c, y + away * s)
                on_road = on_road or self._map.project(*point) is not None
                if on_road and self._map.project(*point, types=PAVEMENT) is not None:
                    walker.crossing, walker.runs_out = True, True
                    self._walk_to(walker, point)
                    return True
        return False

    def _next_lane(self, walker: Walker) -> None:
        """Go on to a lane that joins, else turn round."""
        assert walker.lane is not None
        lane = self._by_id[walker.lane]
        joined = [n for n in (lane.successors if walker.forward else lane.predecessors) if n in self._by_id]
        if joined:
            following = self._by_id[joined[int(walker.random.integers(len(joined)))]]
            end = walker.leg.xy[-1]
            walker.forward = distance(end, following.center.xy[0]) <= distance(end, following.center.xy[-1])
            walker.lane, walker.leg = following.id, _leg(following, walker.forward)
        else:
            walker.forward = not walker.forward
            walker.leg, walker.offset = _leg(lane, walker.forward), -walker.offset
        walker.s = 0.0

    def _walk_to(self, walker: Walker, point: tuple[float, float]) -> None:
        x, y, heading = walker.pose
        if distance((x, y), point) < 0.1:
            point = (x + 0.1 * elementary.cos(heading), y + 0.1 * elementary.sin(heading))
        walker.leg, walker.s, walker.offset, walker.aside = Polyline.of([(x, y), point]), 0.0, 0.0, 0.0

    def _wait(self, walker: Walker, dt: float, vehicles: FloatArray, lights: Mapping[int, int]) -> None:
        """At the kerb: step on when it is safe and green, give up after a while."""
        assert walker.goal is not None
        p, passage = self._parameters, walker.goal
        if walker.waited == 0.0:
            walker.defies_red = bool(walker.random.random() < p.red_share)
            walker.runs_out = bool(walker.random.random() < p.run_out_share)
        crossing = self.crossings[passage.crossing]
        held = crossing.red(lights) and not walker.defies_red
        walker.blocked, walker.waited = 0.0, walker.waited + (dt / RED_PATIENCE if held else dt)
        if walker.runs_out or not (held or not safe(crossing, vehicles, p.safe_time)):
            walker.crossing, walker.waited = True, 0.0
            walker.goal = passage._replace(end=1 - passage.end)
            self._walk_to(walker, crossing.kerb(walker.goal.end))
        elif walker.waited > GIVE_UP_S:
            self._arrive(walker)

    def _arrive(self, walker: Walker) -> None:
        """Back to the pavement nearby, if there is one; else wait to go back."""
        walker.crossing, walker.waited, walker.blocked, walker.runs_out = False, 0.0, 0.0, False
        x, y, _ = walker.pose
        found = self._map.project(x, y, types=PAVEMENT, radius=NEAR_CROSSWALK_M)
        if found is None or found.lane not in self._by_id:
            return
        lane = self._by_id[found.lane]
        walker.goal, walker.lane, walker.forward = None, lane.id, bool(walker.random.random() < 0.5)
        walker.leg = _leg(lane, walker.forward)
        projection = walker.leg.project(x, y)
        walker.s, walker.offset = projection.s, projection.offset


def _leg(lane: Lane, forward: bool) -> Polyline:
    return lane.center if forward else Polyline.of(lane.center.xy[::-1])
