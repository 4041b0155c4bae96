"""What a film shows of the topics of a drive beside its motion and reasons, thinned to the periods of the film."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tuling_fsm.agent import Parameters
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.origin import PageOrigin
from tuling_fsm.viewer.plans import MarkerHistory, Plans
from tuling_fsm.viewer.predictions import Predictions
from tuling_fsm.viewer.routes import RouteHistory
from tuling_fsm.viewer.tracks import LightChanges, ObjectTracks, SlotChanges
from tuling_fsm.wire.inputs import unpack_input
from tuling_fsm.wire.paths import unpack_path

LONG_S = 1200.0
"""A drive longer than this is kept at the coarser periods, s."""


@dataclass(frozen=True)
class FilmPeriods:
    """Between two of what is kept, s: a long drive has to fit into one file too."""

    objects: float
    plans: float
    whys: float
    weighed: float
    predictions: float

    @classmethod
    def of(cls, duration_s: float) -> FilmPeriods:
        """Those of a drive as long as this (s)."""
        return cls(0.1, 0.1, 0.0, 0.0, 0.2) if duration_s <= LONG_S else cls(0.1, 0.2, 0.2, 0.5, 0.5)


class FilmTopics:
    """Messages in, columns and lists of the header out.

    Args:
        periods: between two messages that are kept.
        origin: of the film.
        parameters: of the planner.
        road_map: what is driven on; without it there are no predictions.
    """

    def __init__(
        self, periods: FilmPeriods, origin: PageOrigin, parameters: Parameters, road_map: RoadMap | None
    ) -> None:
        objects, lights, slots = ObjectTracks(periods.objects, origin), LightChanges(origin), SlotChanges(origin)
        plans = Plans(periods.plans, origin, parameters.vehicle.wheelbase)
        self._routes, self._blocked = RouteHistory("route", origin), RouteHistory("blocked", origin)
        self.routes: list[dict[str, Any]] = []
        """Routes and blocked parts of them, for the header, as they came."""
        self.markers = MarkerHistory(periods.weighed, origin)
        self.predictions = None if road_map is None else Predictions(road_map, parameters, periods.predictions, origin)
        """They take inputs, and not messages."""
        parts = (objects, lights, slots, plans)
        self._parts = parts if self.predictions is None else (*parts, self.predictions)
        self.take: dict[str, Callable[[float, bytes], None]] = {
            "objects": objects.take,
            "traffic_lights": lights.take,
            "parking_slots": slots.take,
            "trajectory": plans.take,
            "markers": self.markers.take,
            "route": lambda t, raw: self._route(self._routes, t, unpack_path(raw, "route")[1]),
            "route_answer": self._answer,
            "route_blocked": lambda t, raw: self._route(self._blocked, t, unpack_path(raw, "route_blocked")[1]),
        }
        """By topic: takes a message at a time (s) of the film.

        Raises:
            InputError: the planner could not use it either.
        """

    def _answer(self, t: float, raw: bytes) -> None:
        answer = unpack_input("route_answer", raw, t)
        if len(answer.points) > 1:
            self._route(self._routes, t, answer.points)

    def _route(self, history: RouteHistory, t: float, points: FloatArray) -> None:
        known = len(history.found)
        history.take(t, points)
        self.routes += history.found[known:]

    @property
    def predicted_points(self) -> int:
        """Of each prediction; 0 where there are none."""
        return 0 if self.predictions is None else self.predictions.points

    def add_to(self, columns: ColumnWriter) -> None:
        """What has columns."""
        for part in self._parts:
            part.add_to(columns)

    def forget(self) -> None:
        """What was added already."""
        for part in self._parts:
            part.forget()
