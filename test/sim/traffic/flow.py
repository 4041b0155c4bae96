"""Traffic on a map without a simulation around it, and an oracle for bodies that overlap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import shapely

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.parameters import LightParameters, TrafficManagerParameters
from tuling_fsm.sim.traffic.fleet import Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import build_lane_graph
from tuling_fsm.sim.traffic.manager import NO_HERO, NO_REQUEST, TrafficManager
from tuling_fsm.sim.traffic.right_of_way import JunctionRequest

FRAME_S = 0.05
NO_BOXES = np.zeros((0, 10))


@dataclass
class Flow:
    """Vehicles on a map, frame by frame; `other_boxes`, `ego` and `heroes` may be changed between frames."""

    road_map: RoadMap
    count: int
    seed: int = 1
    scripted: int = 0
    circles: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    parameters: TrafficManagerParameters = field(default_factory=TrafficManagerParameters)

    def __post_init__(self) -> None:
        lights, traffic = np.random.SeedSequence(self.seed).spawn(2)
        self.lights = TrafficLights(self.road_map, lights, LightParameters())
        self.graph, self.index = build_lane_graph(self.road_map, self.lights.numbers)
        seeds = np.asarray(traffic.generate_state(self.scripted + self.count, np.uint64), dtype=np.uint64)
        self.manager = TrafficManager(self.graph, seeds, self.scripted, self.parameters, 1001)
        self.placed = self.manager.populate(self.circles)
        self.other_boxes: FloatArray = NO_BOXES
        self.ego: JunctionRequest = NO_REQUEST
        self.heroes: FloatArray = NO_HERO
        self.ego_goes = False
        self.frame = 0

    @property
    def fleet(self) -> Fleet:
        return self.manager.fleet

    @property
    def stamp(self) -> float:
        return self.frame * FRAME_S

    @property
    def rows(self) -> list[int]:
        """Rows of the fleet that are on the road."""
        return np.flatnonzero(self.manager.on_road).tolist()

    def step(self) -> None:
        states = self.lights.states(self.stamp)
        self.ego_goes = self.manager.step(
            self.stamp, FRAME_S, self.other_boxes, states, self.ego, self.heroes
        )  # fmt: skip
        self.frame += 1

    def run(self, seconds: float) -> Iterator[float]:
        """Step on; the stamp after each step."""
        for _ in range(round(seconds / FRAME_S)):
            self.step()
            yield self.stamp

    def lane(self, row: int) -> int:
        """Index of the lane under the centre of a vehicle."""
        return int(self.fleet.path_lane[row, path_index(self.fleet, row, self.fleet.car.arc[row])])

    def overlaps(self) -> list[tuple[int, int]]:
        """Pairs of vehicles on one level whose bodies share area."""
        rows, car = np.flatnonzero(self.manager.on_road), self.fleet.car
        x, y, heading, length, width, level = (car[n][rows] for n in ("x", "y", "heading", "length", "width", "z"))
        along, across = 0.5 * length * np.exp(1j * heading), 0.5 * width * 1j * np.exp(1j * heading)
        corners = (x + 1j * y)[:, None] + np.stack((along + across, across - along, -along - across, along - across), 1)
        bodies = shapely.polygons(np.stack((corners.real, corners.imag), axis=2))
        pairs = shapely.STRtree(bodies).query(bodies, "intersects").T
        return [(int(rows[i]), int(rows[j])) for i, j in pairs if i < j and abs(level[i] - level[j]) < 3.0]


def one(
    x: float, y: float, heading: float, length: float, width: float, v: float = 0.0, when: float = 0.0, number: int = 0,
    person: bool = False,
) -> FloatArray:  # fmt: skip
    """The table of other boxes with one box."""
    return np.array([[x, y, np.nan, heading, length, width, v, when, number, person]])
