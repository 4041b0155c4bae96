"""Unscripted pedestrians: they walk along pavements and now and then cross at a crosswalk.

They wait while a vehicle could be there soon or the light is red; once they have begun to cross they walk on, and it is
for vehicles to stop. Some may cross on red, or run out without a look. They avoid one another, vehicles and obstacles
by ORCA (ORCA-1), and walk around what blocks their way. A share of them may be ruder than the others in that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline, Pose, distance
from tuling_fsm.core.standing import LINGERS
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.orca.crowd import new_crowd
from tuling_fsm.sim.orca.step import Avoidance
from tuling_fsm.sim.parameters import PedestrianPopulationParameters
from tuling_fsm.sim.pedestrians.surroundings import (
    NEAR_CROSSWALK_M,
    CrosswalkAccess,
    PedestrianObstacles,
    crossing_of,
    passages,
    safe,
    way_around,
)
from tuling_fsm.sim.seeds import generator

PAVEMENT = ("sidewalk", "walking")
SIZE_M = 0.6
"""Length and width of a pedestrian."""
RADIUS_M = 0.35
LOOK_M = 2.0
"""They head for the point of their leg that is this far ahead."""
REACHED_M = 0.3
CLOSE_M, SLOW = 1.5, LINGERS
"""A pedestrian that others keep from the end of its leg this near it is there as well."""
MAX_SPEED_SHARE = 1.3
"""Share of the own speed up to which a pedestrian steps aside."""
GIVE_UP_S = 30.0
RED_PATIENCE = 4.0
"""A pedestrian waits so many times as long at a red light."""
BLOCKED_S, BLOCKED_SHARE = 0.6, 0.3
"""Getting on at less than this share of the own speed for this long is being blocked."""
TURN_BACK_S = 8.0
"""A pedestrian that is blocked for this long turns back."""
ASIDE = math.radians(80.0)
RUN_OUT_REACH_M, RUN_OUT_STEP_M = 25.0, 0.5
NO_LIGHTS: Mapping[int, int] = {}


class CrossingHabits(NamedTuple):
    """Shares of crossings that are begun on red and run over without a look, and how often a pedestrian runs across the
    road from anywhere, 1/s.
    """

    red_share: float
    run_out_share: float
    run_out_rate: float


class RudePedestrians(NamedTuple):
    """The share of rude pedestrians, their habits, and the stream that draws which they are."""

    share: float
    habits: CrossingHabits
    seed: np.random.SeedSequence


@dataclass
class Pedestrian:
    """One pedestrian on its present leg, a line in walking direction, beside which it keeps an `offset` (m, + left)."""

    leg: Polyline
    s: float
    speed: float
    offset: float
    random: np.random.Generator
    habits: CrossingHabits
    lane: LaneId | None
    forward: bool
    goal: CrosswalkAccess | None = None
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
    z: float = math.nan
    """Height of the pavement that it is on or comes from, m."""

    def at(self, s: float) -> Pose:
        """The pose at `s` of the leg."""
        x, y, heading = self.leg.at(s)
        sine, cosine = elementary.sin_cos(heading)
        return Pose(x - self.offset * sine, y + self.offset * cosine, heading)

    @property
    def at_end(self) -> bool:
        """Whether the leg is walked."""
        left = distance(self.pose, self.at(self.leg.length))
        past = self.s >= self.leg.length - 1e-6
        return past or left < REACHED_M or (left < CLOSE_M and self.blocked > 0.0 and self.v < SLOW)

    @property
    def waiting(self) -> bool:
        """Whether it stands at a kerb."""
        return self.goal is not None and not self.crossing and self.at_end


class Pedestrians:
    """The population of pedestrians."""

    def __init__(
        self, road_map: RoadMap, count: int, seed: np.random.SeedSequence, parameters: PedestrianPopulationParameters,
        rude: RudePedestrians | None = None,
    ) -> None:  # fmt: skip
        self._map = road_map
        self._parameters = parameters
        self._pavements = [lane for lane in road_map.lanes.values() if lane.type in PAVEMENT and lane.length > 2.0]
        self._by_id = {lane.id: lane for lane in self._pavements}
        self.crossings = [crossing for c in road_map.crosswalks if (crossing := crossing_of(road_map, c)) is not None]
        self._passages = {lane.id: passages(lane, self.crossings) for lane in self._pavements}
        self._obstacles = PedestrianObstacles(road_map)
        seeds = seed.spawn(count) if self._pavements else []
        self.pedestrians = [self._spawn(generator(each)) for each in seeds]
        if rude is not None:
            drawn = generator(rude.seed).random(len(self.pedestrians)) < rude.share
            for i in np.flatnonzero(drawn).tolist():
                self.pedestrians[i].habits = rude.habits
        crowd = new_crowd(
            [pedestrian.pose[:2] for pedestrian in self.pedestrians],
            radius=RADIUS_M,
            max_speed=1.0,
            neighbour_dist=5.0,
            max_neighbours=8,
            horizon=2.5,
            horizon_obst=1.0,
        )
        own_seed = int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._avoidance = Avoidance(crowd, weight=1.0, perturbation=parameters.perturbation, seed=own_seed)

    def _spawn(self, random: np.random.Generator) -> Pedestrian:
        lengths = np.cumsum([lane.length for lane in self._pavements])
        lane = self._pavements[int(np.searchsorted(lengths, random.uniform(0.0, lengths[-1])))]
        p = self._parameters
        speed = p.speed * (1.0 + p.speed_spread * random.uniform(-1.0, 1.0))
        forward = bool(random.random() < 0.5)
        leg = _leg(lane, forward)
        s = float(random.uniform(0.0, leg.length))
        room = max(float(np.min(np.minimum(lane.left, lane.right))) - 0.5 * SIZE_M, 0.0)
        pedestrian = Pedestrian(
            leg=leg,
            s=s,
            speed=float(speed),
            offset=float(random.uniform(-room, room)),
            random=random,
            habits=CrossingHabits(p.red_share, p.run_out_share, p.run_out_rate),
            lane=lane.id,
            forward=forward,
        )
        pedestrian.pose = pedestrian.at(s)
        pedestrian.z = _height(lane, pedestrian)
        return pedestrian

    def step(self, dt: float, vehicles: FloatArray, lights: Mapping[int, int] = NO_LIGHTS) -> None:
        """Walk on for `dt` s.

        Args:
            dt: length of the frame, s.
            vehicles: (N, 6): x, y of the centre, heading, length, width, speed.
            lights: the state of each signal by its number.
        """
        if not self.pedestrians:
            return
        for pedestrian in self.pedestrians:
            if pedestrian.waiting:
                self._wait(pedestrian, dt, vehicles, lights)
        places = np.array([pedestrian.pose[:2] for pedestrian in self.pedestrians])
        obstacles = self._obstacles.near(places, vehicles)
        crowd = self._avoidance.crowd
        for i, pedestrian in enumerate(self.pedestrians):
            if pedestrian.aside == 0.0 and pedestrian.blocked > BLOCKED_S:
                pedestrian.aside = way_around(
                    pedestrian.pose, pedestrian.leg.at(pedestrian.s).heading, obstacles, LOOK_M, RADIUS_M
                )
            crowd.preferred_vx[i], crowd.preferred_vy[i], pace = self._preferred_velocity(pedestrian)
            crowd.max_speed[i] = MAX_SPEED_SHARE * pace
        self._avoidance.wall_in(obstacles)
        self._avoidance.step(dt)
        for i, pedestrian in enumerate(self.pedestrians):
            self._moved(pedestrian, dt, Pose(float(crowd.x[i]), float(crowd.y[i]), pedestrian.pose.heading))

    def _preferred_velocity(self, pedestrian: Pedestrian) -> tuple[float, float, float]:
        """The preferred velocity (m/s), and the speed that it would like."""
        pace = self._parameters.run_speed if pedestrian.crossing and pedestrian.runs_out else pedestrian.speed
        if pedestrian.waiting:
            return 0.0, 0.0, pace
        if pedestrian.aside != 0.0:
            heading = pedestrian.leg.at(pedestrian.s).heading + math.copysign(ASIDE, pedestrian.aside)
        else:
            here, there = pedestrian.pose, pedestrian.at(min(pedestrian.s + LOOK_M, pedestrian.leg.length))
            apart = distance(here, there)
            heading = elementary.atan2(there.y - here.y, there.x - here.x) if apart > 1e-6 else here.heading
        sine, cosine = elementary.sin_cos(heading)
        return pace * cosine, pace * sine, pace

    def _moved(self, pedestrian: Pedestrian, dt: float, pose: Pose) -> None:
        """Note where the avoidance has moved a pedestrian, and what follows from it."""
        before, way = pedestrian.s, distance(pose, pedestrian.pose)
        pedestrian.v = way / dt
        if pedestrian.v > SLOW:
            turned = elementary.atan2(pose.y - pedestrian.pose.y, pose.x - pedestrian.pose.x)
            pose = Pose(pose.x, pose.y, turned)
        pedestrian.pose = pose
        reach = 2.0 * MAX_SPEED_SHARE * self._parameters.run_speed * dt
        found = pedestrian.leg.project(pose.x, pose.y, before - 0.5, before + reach + 0.5)
        pedestrian.s = min(max(before, found.s), before + reach)
        if pedestrian.waiting:
            return
        slow = pedestrian.s - before < BLOCKED_SHARE * pedestrian.speed * dt
        pedestrian.blocked = pedestrian.blocked + dt if slow else 0.0
        if pedestrian.aside != 0.0:
            pedestrian.aside = math.copysign(max(abs(pedestrian.aside) - way, 0.0), pedestrian.aside)
        if pedestrian.crossing and pedestrian.at_end:
            self._arrive(pedestrian)
        elif pedestrian.blocked > TURN_BACK_S:
            self._turn_back(pedestrian)
        elif not pedestrian.crossing and pedestrian.goal is None:
            self._walk_on_pavement(pedestrian, before, dt)

    def _turn_back(self, pedestrian: Pedestrian) -> None:
        """Something stands in the way and stays: go back."""
        pedestrian.blocked, pedestrian.aside = 0.0, 0.0
        if pedestrian.crossing and pedestrian.goal is not None:
            pedestrian.goal = pedestrian.goal._replace(end=1 - pedestrian.goal.end)
            self._walk_to(pedestrian, self.crossings[pedestrian.goal.crossing].kerb(pedestrian.goal.end))
        else:
            pedestrian.s, pedestrian.offset, pedestrian.forward = (
                pedestrian.leg.length - pedestrian.s,
                -pedestrian.offset,
                not pedestrian.forward,
            )
            pedestrian.leg = Polyline.of(pedestrian.leg.xy[::-1])

    def _walk_on_pavement(self, pedestrian: Pedestrian, before: float, dt: float) -> None:
        """On the pavement: perhaps turn to a crosswalk that was just passed, or go on where the lane ends."""
        assert pedestrian.lane is not None
        pedestrian.z = _height(self._by_id[pedestrian.lane], pedestrian)
        p, rate = self._parameters, pedestrian.habits.run_out_rate
        for passage in self._passages[pedestrian.lane]:
            at = passage.s if pedestrian.forward else pedestrian.leg.length - passage.s
            if before < at <= pedestrian.s and pedestrian.random.random() < p.crossing_share:
                pedestrian.goal = passage
                self._walk_to(pedestrian, self.crossings[passage.crossing].kerb(passage.end))
                return
        if rate > 0.0 and pedestrian.random.random() < rate * dt and self._run_out(pedestrian):
            return
        if pedestrian.s >= pedestrian.leg.length - REACHED_M:
            self._next_lane(pedestrian)

    def _run_out(self, pedestrian: Pedestrian) -> bool:
        """Straight across the road from where it is, without a look; False where there is no other side."""
        x, y, heading = pedestrian.pose
        for side in (0.5 * math.pi, -0.5 * math.pi):
            (s, c), on_road = elementary.sin_cos(heading + side), False
            for away in np.arange(RUN_OUT_STEP_M, RUN_OUT_REACH_M, RUN_OUT_STEP_M).tolist():
                point = (x + away * c, y + away * s)
                on_road = on_road or self._map.project(*point) is not None
                if on_road and self._map.project(*point, types=PAVEMENT) is not None:
                    pedestrian.crossing, pedestrian.runs_out = True, True
                    self._walk_to(pedestrian, point)
                    return True
        return False

    def _next_lane(self, pedestrian: Pedestrian) -> None:
        """Go on to a lane that joins, else turn round."""
        assert pedestrian.lane is not None
        lane = self._by_id[pedestrian.lane]
        joined = [n for n in (lane.successors if pedestrian.forward else lane.predecessors) if n in self._by_id]
        if joined:
            following = self._by_id[joined[int(pedestrian.random.integers(len(joined)))]]
            end = pedestrian.leg.xy[-1]
            pedestrian.forward = distance(end, following.center.xy[0]) <= distance(end, following.center.xy[-1])
            pedestrian.lane, pedestrian.leg = following.id, _leg(following, pedestrian.forward)
        else:
            pedestrian.forward = not pedestrian.forward
            pedestrian.leg, pedestrian.offset = _leg(lane, pedestrian.forward), -pedestrian.offset
        pedestrian.s = 0.0

    def _walk_to(self, pedestrian: Pedestrian, point: tuple[float, float]) -> None:
        x, y, heading = pedestrian.pose
        if distance((x, y), point) < 0.1:
            sine, cosine = elementary.sin_cos(heading)
            point = (x + 0.1 * cosine, y + 0.1 * sine)
        pedestrian.leg, pedestrian.s, pedestrian.offset, pedestrian.aside = Polyline.of([(x, y), point]), 0.0, 0.0, 0.0

    def _wait(self, pedestrian: Pedestrian, dt: float, vehicles: FloatArray, lights: Mapping[int, int]) -> None:
        """At the kerb: step on when it is safe and green, give up after a while."""
        assert pedestrian.goal is not None
        p, passage = self._parameters, pedestrian.goal
        if pedestrian.waited == 0.0:
            pedestrian.defies_red = bool(pedestrian.random.random() < pedestrian.habits.red_share)
            pedestrian.runs_out = bool(pedestrian.random.random() < pedestrian.habits.run_out_share)
        crossing = self.crossings[passage.crossing]
        held = crossing.red(lights) and not pedestrian.defies_red
        pedestrian.blocked, pedestrian.waited = 0.0, pedestrian.waited + (dt / RED_PATIENCE if held else dt)
        if pedestrian.runs_out or not (held or not safe(crossing, vehicles, p.safe_time)):
            pedestrian.crossing, pedestrian.waited = True, 0.0
            pedestrian.goal = passage._replace(end=1 - passage.end)
            self._walk_to(pedestrian, crossing.kerb(pedestrian.goal.end))
        elif pedestrian.waited > GIVE_UP_S:
            self._arrive(pedestrian)

    def _arrive(self, pedestrian: Pedestrian) -> None:
        """Back to the pavement nearby, if there is one; else wait to go back."""
        pedestrian.crossing, pedestrian.waited, pedestrian.blocked, pedestrian.runs_out = False, 0.0, 0.0, False
        x, y, _ = pedestrian.pose
        found = self._map.project(x, y, types=PAVEMENT, radius=NEAR_CROSSWALK_M)
        if found is None or found.lane not in self._by_id:
            return
        lane = self._by_id[found.lane]
        pedestrian.goal, pedestrian.lane, pedestrian.forward = None, lane.id, bool(pedestrian.random.random() < 0.5)
        pedestrian.leg = _leg(lane, pedestrian.forward)
        projection = pedestrian.leg.project(x, y)
        pedestrian.s, pedestrian.offset = projection.s, projection.offset


def _height(lane: Lane, pedestrian: Pedestrian) -> float:
    """Of a lane where a pedestrian walks along it, m."""
    return lane.height(pedestrian.s if pedestrian.forward else lane.length - pedestrian.s)


def _leg(lane: Lane, forward: bool) -> Polyline:
    return lane.center if forward else Polyline.of(lane.center.xy[::-1])
