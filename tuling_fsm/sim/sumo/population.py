"""The vehicles on SUMO's roads: they appear, drive at random, and come back elsewhere when their way has ended."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import shifted
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.scenario.model import Population
from tuling_fsm.sim.sumo.drivers import type_name
from tuling_fsm.sim.sumo.edge_graph import EdgeGraph
from tuling_fsm.sim.sumo.engine import SumoEngine, SumoVehicle
from tuling_fsm.sim.sumo.network import SumoLane
from tuling_fsm.sim.sumo.parameters import SumoParameters
from tuling_fsm.sim.traffic.population import LANE_ROOM_M, VEHICLE_CLASSES

Circle = tuple[float, float, float]
"""x, y, radius, m: nobody appears there."""
FIRST_ID = 1001
ATTEMPTS = 400
"""Places that are tried for a vehicle when the run begins."""
_MEAN_LENGTH_M = math.fsum(each.length * each.share for each in VEHICLE_CLASSES)


class SumoPopulation:
    """Keeps so many vehicles on the road.

    Args:
        graph: where they drive.
        engine: SUMO.
        random: draws their types, where they appear and where they go.
        wanted: how many, and how many of them rude; fewer where the roads have no room.
        parameters: of SUMO's traffic.
        manager: of the simulator's own: when one that stands is taken off, and how far from the ego one appears.
    """

    def __init__(
        self,
        graph: EdgeGraph,
        engine: SumoEngine,
        random: np.random.Generator,
        wanted: Population,
        parameters: SumoParameters,
        manager: TrafficManagerParameters,
    ) -> None:
        self._graph, self._engine, self._random = graph, engine, random
        self._p, self._manager = parameters, manager
        self._starts = graph.starts()
        self._shares = np.cumsum([max(lane.center.length - LANE_ROOM_M, 0.0) for lane in self._starts])
        self.count = min(wanted.vehicles, self._capacity())
        self.rude = round(wanted.rude * self.count)
        rude = random.permutation(self.count) < self.rude
        shares = np.array([each.share for each in VEHICLE_CLASSES])
        classes = random.choice(len(VEHICLE_CLASSES), self.count, p=shares / shares.sum())
        self._absent = [type_name(int(index), bool(each)) for index, each in zip(classes, rude, strict=True)]
        """Types of vehicles that are not on the road."""
        self._present: dict[int, str] = {}
        self._counted_from: dict[int, float] = {}
        """How long each that stands had stood when it was last held by a red light, s."""
        self._next = FIRST_ID
        self.removed = 0
        """How many were taken off because they had stood for too long."""

    def _capacity(self) -> int:
        room = math.fsum(lane.center.length for lanes in self._graph.lanes.values() for lane in lanes)
        return int(room / (_MEAN_LENGTH_M + self._p.gap))

    def fill(self, circles: Sequence[Circle]) -> None:
        """Have all of them appear with the next step, outside circles, as far as there is room."""
        taken: list[Circle] = list(circles)
        for kind in list(self._absent):
            self._appear(kind, taken, ATTEMPTS)

    def settle(self) -> None:
        """After a step: a vehicle that has found no room or come to the end of its way is absent again."""
        self._engine.give_up_waiting()
        there = set(self._engine.numbers())
        for number in [each for each in self._present if each not in there]:
            self._absent.append(self._present.pop(number))
            self._counted_from.pop(number, None)

    def keep_up(self, vehicles: Sequence[SumoVehicle], x: float, y: float) -> None:
        """Lengthen ways, take off what stands for ever out of the ego's sight (x, y), and have the absent appear."""
        far = self._manager.respawn_distance
        for each in vehicles:
            away = elementary.hypot(each.pose.x - x, each.pose.y - y)
            if self._stood_s(each.number) > self._manager.removal_time and away > far:
                self._engine.remove(each.number)
                self.removed += 1
            else:
                self._lengthen(each.number)
        taken = [(x, y, far), *((each.pose.x, each.pose.y, self._p.spawn_gap) for each in vehicles)]
        for kind in list(self._absent):
            self._appear(kind, taken, 1)

    def _stood_s(self, number: int) -> float:
        """For how long a vehicle has stood since it drove or a red light held it, s."""
        stands, counted_from = self._engine.standing_s(number), self._counted_from.get(number, 0.0)
        if stands < counted_from or (stands > 0.0 and self._engine.held_by_light(number)):
            counted_from = self._counted_from[number] = stands
        return stands - counted_from

    def _lengthen(self, number: int) -> None:
        left = self._engine.way_left(number)
        if 0 < len(left) < self._p.routes_ahead and self._graph.successors.get(left[-1]):
            self._engine.lengthen(number, left[:-1] + self._graph.walk(left[-1], self._p.routes_drawn, self._random))

    def _appear(self, kind: str, taken: list[Circle], attempts: int) -> None:
        """Try places for a vehicle; a circle is added for it."""
        length = self._engine.type_length(kind)
        for _ in range(attempts):
            lane, front = self._place(length)
            if lane is None:
                return
            middle = shifted(lane.center.at(front), -0.5 * length)
            if any(elementary.hypot(middle.x - x, middle.y - y) < radius for x, y, radius in taken):
                continue
            way = self._graph.walk(lane.edge, self._p.routes_drawn, self._random)
            if self._engine.add(self._next, kind, way, lane.index, front):
                self._present[self._next] = kind
                self._absent.remove(kind)
                taken.append((middle.x, middle.y, self._p.spawn_gap))
                self._next += 1
                return

    def _place(self, length: float) -> tuple[SumoLane | None, float]:
        """A lane, drawn by its length, and where on it (m) the front is."""
        if len(self._shares) == 0 or self._shares[-1] <= 0.0:
            return None, 0.0
        pick, share = self._random.uniform(0.0, self._shares[-1]), self._random.uniform()
        lane = self._starts[min(int(np.searchsorted(self._shares, pick, side="right")), len(self._starts) - 1)]
        room = max(lane.center.length - LANE_ROOM_M - length, 0.0)
        return lane, length + 0.5 * (lane.center.length - length - room) + share * room
