"""An ego that is put along a line frame by frame, among vehicles of SUMO's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.sim.actors.foreign import ForeignStart
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.scenario.model import ActorState, Population
from tuling_fsm.sim.sumo.engine import SumoEngine, SumoVehicle
from tuling_fsm.sim.sumo.traffic import SumoTraffic

FRAME_S = 0.05
CAR = "calm1"
LENGTH_M, WIDTH_M, AHEAD_M = 4.7, 1.9, 1.35


def state(pose: Pose, v: float) -> ActorState:
    """An ego with its rear axle at a pose."""
    return ActorState(pose, v, 0.0, LENGTH_M, WIDTH_M, AHEAD_M)


def route_between(road_map: RoadMap, start: tuple[float, float, float], goal: tuple[float, float, float]) -> Route:
    found = plan_route(road_map, Pose(*start), Pose(*goal)).route
    assert found is not None
    return found


class SumoDrive:
    """An ego on a route at a speed (m/s), from the arc length `s` (m) of it on; all lights show one state."""

    def __init__(self, traffic: SumoTraffic, road_map: RoadMap, route: Route, s: float = 0.0, **start: object) -> None:
        self.traffic, self.route, self.s, self.v = traffic, route, s, 0.0
        self.stamp = 0.0
        self.lights = {signal.number: 3 for signal in road_map.signals.values() if signal.dynamic}
        population = start.get("population", Population())
        assert isinstance(population, Population)
        traffic.begin(
            ForeignStart(
                0.0, FRAME_S, self.ego, route, population, start.get("parameters", TrafficManagerParameters()),
                np.random.SeedSequence(int(str(start.get("seed", 1)))),
            ),
            self.lights,
        )  # fmt: skip

    @property
    def ego(self) -> ActorState:
        return state(self.route.reference.at(self.s), self.v)

    @property
    def engine(self) -> SumoEngine:
        return self.traffic.run.engine

    def step(self, v: float = 0.0) -> list[SumoVehicle]:
        """One frame in which the ego goes on at a speed, m/s."""
        self.v, self.stamp = v, self.stamp + FRAME_S
        self.s += v * FRAME_S
        self.traffic.step(self.stamp, self.ego, self.route, self.lights)
        return self.traffic.run.vehicles

    def run(self, seconds: float, v: float = 0.0) -> list[list[SumoVehicle]]:
        """Some seconds of it."""
        return [self.step(v) for _ in range(round(seconds / FRAME_S))]


@contextmanager
def sumo_on(folder: Path, road_map: RoadMap) -> Iterator[SumoTraffic]:
    """SUMO on a map that lies in a folder."""
    with SumoTraffic(folder / f"{road_map.name}.xodr", road_map) as traffic:
        yield traffic
