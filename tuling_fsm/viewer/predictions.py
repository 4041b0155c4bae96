"""Where the planner expected the others to go: computed anew from the recorded inputs, by the planner's own code.

No topic has the predictions. But what is seen is a pure function of the inputs (`WorldBuilder.build`), so that the same
code on the same inputs expects the same; the route in use, which only tells whose light is green ahead, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tuling_fsm.agent import Parameters
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, Obstacles
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.origin import PageOrigin
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import Inputs
from tuling_fsm.world.world import World

POINT_S = 1.0
"""Between two points of a prediction that are kept, s."""
POSITION_M = 0.1
"""What columns are rounded to."""
LEAST_WAY_M = 0.5
"""What is expected to move by less is expected to stand."""


class Predictions:
    """Inputs tick by tick, a prediction a period.

    Args:
        road_map: what is driven on.
        parameters: of the planner.
        period_s: between two Worlds that are built, s.
        origin: of the film.
    """

    def __init__(self, road_map: RoadMap, parameters: Parameters, period_s: float, origin: PageOrigin) -> None:
        self._builder = WorldBuilder(road_map, parameters.vehicle, parameters.world)
        self._period_s = period_s
        self._origin = origin
        self._world: World | None = None
        self._stamps: list[float] = []
        self._counts: list[int] = []
        self._ids: list[int] = []
        self._points: list[FloatArray] = []

    def take(self, ticks: Iterable[Inputs]) -> None:
        """All inputs of a drive."""
        for inputs in ticks:
            last = self._world
            if inputs.odometry is None or (last is not None and inputs.stamp - last.stamp < self._period_s - 1e-3):
                continue
            self._world = self._builder.build(inputs, last, None)
            self._keep(inputs.stamp - self._origin.t, self._world.scene.obstacles)

    def _keep(self, t: float, obstacles: Obstacles) -> None:
        step = round(POINT_S / PREDICTION_STEP_S)
        points = np.stack((obstacles.x[:, ::step], obstacles.y[:, ::step]), axis=-1)
        way = np.abs(np.diff(points, axis=1)).sum(axis=(1, 2))
        rows = np.flatnonzero(way > LEAST_WAY_M)
        self._stamps.append(t)
        self._counts.append(len(rows))
        self._ids += obstacles.id[rows].tolist()
        self._points += list(points[rows])

    def add_to(self, columns: ColumnWriter) -> None:
        """As `predicted.t` and `.n` a moment, `.id` a way, `.x` and `.y` a point; `points` of a header are a way's."""
        columns.add("predicted.t", self._stamps, 1e-3, order=2)
        columns.add("predicted.n", self._counts, order=0)
        columns.add("predicted.id", self._ids)
        points = self._origin.local(np.vstack([np.zeros((0, 2)), *self._points]))
        columns.add("predicted.x", points[:, 0], POSITION_M)
        columns.add("predicted.y", points[:, 1], POSITION_M)

    def forget(self) -> None:
        """What was added already; the period, and what was seen, go on."""
        self._stamps, self._counts, self._ids, self._points = [], [], [], []

    @property
    def points(self) -> int:
        """Points of a way."""
        return len(self._points[0]) if self._points else 0
