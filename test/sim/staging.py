"""Staged scenes for the referee: a car that is led by hand, others that go straight on, lights as they are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes, EgoState
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.referee import Referee
from tuling_fsm.world.inputs import Kind, Light

DT = 0.05
NO_AGENTS = AgentBoxes(np.zeros((0, 7)), np.zeros(0, np.uint8), np.zeros(0, np.uint32))
LANE_Y = -1.75
"""Centre of the left lane of the two-lane road that runs along +x."""


class Watch:
    """A referee and a car that is put somewhere on every frame."""

    def __init__(self, road_map: RoadMap, **parameters: float) -> None:
        self.map = road_map
        self.referee = Referee(road_map, Vehicle(), RefereeParameters(**parameters))
        self.frame = 0

    def see(
        self, pose: Pose, v: float = 5.0, a: float = 0.0, agents: AgentBoxes = NO_AGENTS,
        lights: Mapping[int, Light] | None = None, held: bool = False, yaw_rate: float = 0.0,
        route_lanes: frozenset[LaneId] = frozenset(),
    ) -> None:  # fmt: skip
        self.frame += 1
        car = EgoState(pose, 0.0, v, a, yaw_rate, self.referee.rules.lane(pose), "on_road/regression")
        self.referee.watch(self.frame * DT, DT, car, agents, lights or {}, route_lanes, held)

    def drive(self, start: Pose, v: float, seconds: float, **given: Any) -> None:
        for _ in range(round(seconds / DT)):
            start = shifted(start, v * DT)
            self.see(start, v, **given)

    @property
    def kinds(self) -> list[tuple[str, bool]]:
        return [(record.kind, record.at_fault) for record in self.referee.infractions]

    @property
    def faults(self) -> list[str]:
        return [record.kind for record in self.referee.infractions if record.at_fault]


class On(NamedTuple):
    """A place on a lane of the course: along it and to the left of its middle (m); against it or not."""

    road: str
    section: int
    lane: int
    s: float
    left: float = 0.0


class Leg(NamedTuple):
    """So long (s) at a speed (m/s, negative in reverse) and a yaw rate (rad/s); under lights of its own, if any."""

    seconds: float
    v: float
    yaw_rate: float = 0.0
    lights: Mapping[int, Light] | None = None


class Other(NamedTuple):
    """Another agent: its middle, its speed (m/s); from `brakes_at` (s) on it brakes by `brake` (m/s^2), and below
    `halts_at` (m/s) it stands within a step; height (m); after so far (m) its way bends by `bend` (1/m, + left).
    """

    place: Pose | On
    v: float = 0.0
    kind: Kind = Kind.CAR
    length: float = 4.5
    width: float = 1.8
    brakes_at: float = 0.0
    brake: float = 0.0
    z: float = 0.0
    halts_at: float = 0.0
    straight_for: float = 0.0
    bend: float = 0.0

    def moved(self, road_map: RoadMap, t: float) -> tuple[float, ...]:
        """Its box at a time, s."""
        braked = max(t - self.brakes_at, 0.0) if self.brake else 0.0
        braked = min(braked, self.v / self.brake) if self.brake else 0.0
        after = max(t - self.brakes_at, 0.0) if self.brake else 0.0
        way = self.v * (t - after) + self.v * braked - 0.5 * self.brake * braked * braked
        v = self.v - self.brake * braked
        pose = self._after(resolved(road_map, self.place), way)
        return pose.x, pose.y, self.z, pose.heading, self.length, self.width, 0.0 if v < self.halts_at else v

    def _after(self, start: Pose, way: float) -> Pose:
        """Where it is after some way, m."""
        on_bend = max(way - self.straight_for, 0.0) if self.bend else 0.0
        turned, pose = self.bend * on_bend, shifted(start, way - on_bend)
        chord = on_bend * float(np.sinc(0.5 * turned / np.pi))
        pose = shifted(pose._replace(heading=pose.heading + 0.5 * turned), chord)
        return pose._replace(heading=pose.heading + 0.5 * turned)


def person(x: float, y: float, heading: float = 0.0, v: float = 0.0, kind: Kind = Kind.PEDESTRIAN) -> Other:
    return Other(Pose(x, y, heading), v, kind, 0.5, 0.5)


def resolved(road_map: RoadMap, place: Pose | On) -> Pose:
    if isinstance(place, Pose):
        return place
    at = road_map.lanes[LaneId(place.road, place.section, place.lane)].center.at(place.s)
    aside = shifted(Pose(at.x, at.y, at.heading + np.pi / 2.0), place.left)
    return Pose(aside.x, aside.y, at.heading)


class Scene(NamedTuple):
    """A name, the map's fixture, where the car's rear axle starts, how it goes on, and what is around."""

    name: str
    map: str
    start: Pose | On
    legs: Sequence[Leg]
    others: Sequence[Other] = ()
    lights: Mapping[int, Light] = {}
    parameters: Mapping[str, float] = {}


def seen_in_a_mirror(scene: Scene) -> Scene:
    """The scene as it is seen in a mirror along the x axis: for left-hand traffic."""
    return scene._replace(
        start=_turned_round(scene.start),
        legs=[leg._replace(yaw_rate=-leg.yaw_rate) for leg in scene.legs],
        others=[other._replace(place=_turned_round(other.place), bend=-other.bend) for other in scene.others],
    )


def _turned_round(place: Pose | On) -> Pose:
    assert isinstance(place, Pose), "a place on a lane of the course has no other side"
    return Pose(place.x, -place.y, -place.heading)


def play(road_map: RoadMap, scene: Scene) -> Watch:
    """The whole scene, seen by a referee."""
    watch, pose = Watch(road_map, **scene.parameters), resolved(road_map, scene.start)
    kinds = np.array([other.kind for other in scene.others], np.uint8)
    ids = np.arange(1, len(scene.others) + 1, dtype=np.uint32)
    for leg in scene.legs:
        for _ in range(round(leg.seconds / DT)):
            pose = shifted(Pose(pose.x, pose.y, pose.heading + leg.yaw_rate * DT), leg.v * DT)
            t = (watch.frame + 1) * DT
            boxes = np.array([other.moved(road_map, t) for other in scene.others]).reshape(-1, 7)
            around = AgentBoxes(boxes, kinds, ids)
            shown = scene.lights if leg.lights is None else leg.lights
            watch.see(pose, leg.v, agents=around, lights=shown, yaw_rate=leg.yaw_rate)
    return watch
