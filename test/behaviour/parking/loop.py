"""A closed loop in the car park: the whole agent, the simulated car and the route server; slots and cars by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from garage import HALF_M, LANE_M, SLOT_LENGTH, SLOT_WIDTH, SLOTS_PER_ROW, WAY_IN_M, slot_pose
from scenes import row, table

from tuling_fsm.agent import Agent, Tick
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.environment.route_server import RouteServer
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.world.inputs import PARKING_SLOTS, Inputs, Odometry, RouteAnswer, StampedRows

DT, SUBSTEPS = 0.05, 5
SEEN_M = 25.0
START = Pose(0.5 * LANE_M, -HALF_M - WAY_IN_M + 5.0, 0.5 * math.pi)
Place = tuple[int, int]
"""Row and place of a slot, see `garage.slot_pose`."""
EVERY_SLOT: tuple[Place, ...] = tuple((r, place) for r in range(4) for place in range(SLOTS_PER_ROW))


@dataclass
class Loop:
    """Steps the agent; `taken` are the slots with a car in them, and can be changed at any time."""

    road_map: RoadMap
    goal: Pose
    taken: set[Place]
    start: Pose = START
    more: dict[str, Any] = field(default_factory=dict)
    """Further members of the mission's car park."""
    ticks: list[Tick] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.agent = Agent(self.road_map)
        self.vehicle = Vehicle()
        sim = SimParameters()
        self.car = EgoCar(self.start, 0.0, self.vehicle, sim.dynamics, sim.tracker)
        self.server = RouteServer(self.road_map)
        self.mission = {"car_park": {"x": self.goal.x, "y": self.goal.y, "heading": self.goal.heading, **self.more}}
        self.answers: list[RouteAnswer] = []

    def tick(self) -> Tick:
        """One tick of everything."""
        stamp = round(DT * len(self.ticks), 6)
        pose, v = self.car.pose, self.car.v
        inputs = Inputs(
            stamp,
            Odometry(stamp, pose, v, self.car.yaw_rate),
            objects=StampedRows(stamp, table(*self._cars())),
            parking_slots=StampedRows(stamp, self._slots()),
            route_answers=tuple(self.answers),
            mission=self.mission,
        )
        tick = self.agent.step(inputs)
        self.answers = [self.server.answer(request, stamp + DT) for request in tick.decision.route_requests]
        self.car.drive(tick.trajectory, stamp, DT / SUBSTEPS, SUBSTEPS)
        self.ticks.append(tick)
        return tick

    def until(self, state: str, seconds: float) -> Tick:
        """Tick until a state is reached."""
        for _ in range(round(seconds / DT)):
            if self.tick().state == state:
                return self.ticks[-1]
        raise AssertionError(f"{state} not reached in {seconds:g} s: {self.states()}")

    def states(self) -> list[str]:
        """The states that were run through."""
        return [path for path, _ in groupby(tick.state for tick in self.ticks)]

    def reports(self) -> list[str]:
        """All that was said."""
        return [line for tick in self.ticks for line in tick.decision.reports]

    def poses(self) -> FloatArray:
        """Where the car was (N, 3)."""
        return np.array([tick.world.ego.pose for tick in self.ticks])

    def _cars(self) -> list[tuple[float, ...]]:
        found = []
        for number, place in enumerate(EVERY_SLOT):
            if place in self.taken:
                pose = slot_pose(*place)
                found.append(row(100 + number, pose.x, pose.y, pose.heading))
        return found

    def _slots(self) -> Any:
        rows = np.zeros(len(EVERY_SLOT), PARKING_SLOTS)
        for number, place in enumerate(EVERY_SLOT):
            pose = slot_pose(*place)
            rows[number] = (number, place in self.taken, *pose, SLOT_LENGTH, SLOT_WIDTH)
        near = np.hypot(rows["x"] - self.car.pose.x, rows["y"] - self.car.pose.y) <= SEEN_M
        return rows[near]
