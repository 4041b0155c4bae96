"""What a run leaves for its report: samples of all agents, one row a tick, and the stops that can be read off them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit
from tuling_fsm.core.standstills import SHORTEST_STOP_S, LimitChange, Standstill, longest_unexplained_s, stops
from tuling_fsm.core.time_loss import TimeLosses, TimeLossSample, time_losses
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.speed_limits import SpeedLimits

LINE_FREE = "line_free"
"""Part of the names of such states."""


class LogRow(NamedTuple):
    """One tick: stamp (s), state, rear-axle pose and speed (m/s) as they are, and not as localization tells them, what
    limits the car, how long the tick took (ms).
    """

    t: float
    state: str
    pose: Pose
    v: float
    limit: Limit
    tick_ms: float


class TransitionRow(NamedTuple):
    """One transition, with the clause that its row implements."""

    t: float
    source: str
    dest: str
    clause: str


class Span(NamedTuple):
    """A stretch of time (s) with one label."""

    t_from: float
    t_to: float
    label: str


@dataclass
class RunLog:
    """Grows by one row a tick."""

    rows: list[LogRow] = field(default_factory=list)
    transitions: list[TransitionRow] = field(default_factory=list)
    supervisors: list[TransitionRow] = field(default_factory=list)
    """Transitions of the supervisors, such as into rain and fog."""
    flaps: int = 0
    """More than one return to a state within a few seconds, as the planner counts them (USE-1)."""
    top_speed: float = field(default_factory=lambda: Vehicle().max_speed)
    """Highest speed that the car may plan, m/s."""

    def spans(self, labels: Iterable[str]) -> list[Span]:
        """Stretches of equal label, given one label a row."""
        spans: list[Span] = []
        for row, label in zip(self.rows, labels, strict=True):
            if spans and spans[-1].label == label:
                spans[-1] = spans[-1]._replace(t_to=row.t)
            else:
                if spans:
                    spans[-1] = spans[-1]._replace(t_to=row.t)
                spans.append(Span(row.t, row.t, label))
        return spans

    def state_spans(self) -> list[Span]:
        """When the machine was in which state."""
        return self.spans(row.state for row in self.rows)

    def state_seconds(self) -> dict[str, float]:
        """Seconds in each state."""
        seconds: dict[str, float] = {}
        for span in self.state_spans():
            seconds[span.label] = seconds.get(span.label, 0.0) + span.t_to - span.t_from
        return {state: round(value, 3) for state, value in sorted(seconds.items())}

    def stops(self) -> list[Standstill]:
        """Every stand longer than a second."""
        said = [LimitChange(row.t, row.limit.reason.value, row.limit.detail) for row in self.rows]
        return list(stops(((row.t, row.v) for row in self.rows), said))

    def time_losses(self, road_map: RoadMap) -> TimeLosses:
        """Where the time went, by state and what limited the car."""
        limits = SpeedLimits(road_map, self.top_speed)
        return time_losses(
            TimeLossSample(row.t, row.state, row.limit.reason.value, row.v, limits.at(row.pose)) for row in self.rows
        )

    def line_free_seconds(self) -> float:
        """Seconds in the states in which lines do not hold because there is no other way on."""
        return round(math.fsum(s for state, s in self.state_seconds().items() if LINE_FREE in state), 3)

    def unexplained_stops(self) -> int:
        """How often the car stood for a second and longer without giving a reason."""
        return sum(stop.unexplained_s >= SHORTEST_STOP_S for stop in self.stops())

    def longest_unexplained_stop_s(self) -> float:
        """The longest time the car stood without giving a reason, s."""
        return longest_unexplained_s(self.stops())
