"""CommonRoad's planning problems: where the car begins, and what its goal is ([althoff2017][])."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.bag.commonroad.lanelets import Lanelet
from tuling_fsm.bag.commonroad.values import Element, Interval, interval, number, outlines
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, shifted, wrap_angle
from tuling_fsm.map.polygon import inside


@dataclass(frozen=True, eq=False)
class GoalState:
    """All of it has to be fulfilled at once. `time` counts steps of the scenario; None asks for nothing."""

    time: Interval
    position: tuple[FloatArray, ...] | None = None
    """Outlines (K, 2), m: one of them has the vehicle's centre inside."""
    lanelets: tuple[str, ...] = ()
    """The lanelets that `position` is, where it is lanelets."""
    heading: Interval | None = None
    speed: Interval | None = None

    @property
    def shapes(self) -> tuple[FloatArray, ...]:
        """The outlines of `position` that are no lanelets."""
        position = self.position or ()
        return position[: len(position) - len(self.lanelets)]

    def reached(self, state: ProblemState) -> bool:
        """Whether a state fulfils it."""
        return (
            self.time.low <= state.step <= self.time.high
            and (self.position is None or _in_one(self.position, state))
            and self.faces(state.heading)
            and (self.speed is None or self.speed.low <= state.v <= self.speed.high)
        )

    def faces(self, heading: float) -> bool:
        """Whether a heading (rad), whole turns apart or not, is one that it asks for."""
        if self.heading is None:
            return True
        middle, half = 0.5 * (self.heading.low + self.heading.high), 0.5 * (self.heading.high - self.heading.low)
        return abs(float(wrap_angle(heading - middle))) <= min(half, math.pi)


class ProblemState(NamedTuple):
    """The vehicle at a step of the scenario: its centre, m, heading, rad, speed, m/s, and steering angle, rad."""

    step: int
    x: float
    y: float
    heading: float
    v: float
    steer: float = 0.0


@dataclass(frozen=True, eq=False)
class PlanningProblem:
    """Where the vehicle begins, and its goals: one of them is enough."""

    id: str
    start: ProblemState
    goals: tuple[GoalState, ...]

    @property
    def last_step(self) -> int:
        """The last step at which a goal can be reached."""
        return int(max(goal.time.high for goal in self.goals))

    def reached(self, state: ProblemState) -> bool:
        """Whether a state reaches a goal."""
        return any(goal.reached(state) for goal in self.goals)


def read_problems(root: Element, lanelets: Mapping[str, Lanelet]) -> tuple[PlanningProblem, ...]:
    """The planning problems of a scenario.

    Raises:
        ValueError: one without a place to begin, or without a goal or the place of one; names the line.
    """
    return tuple(_problem(node, lanelets) for node in root.findall("planningProblem"))


def _problem(node: Element, lanelets: Mapping[str, Lanelet]) -> PlanningProblem:
    first = node.find("initialState")
    goals = tuple(_goal(each, lanelets) for each in node.findall("goalState"))
    if first is None or not goals:
        raise ValueError(f"line {node.sourceline}: a planning problem without an initial state or a goal")
    start = ProblemState(
        round(number(first, "time")),
        number(first, "position/point/x"),
        number(first, "position/point/y"),
        number(first, "orientation"),
        number(first, "velocity"),
    )
    return PlanningProblem(node.get("id", ""), start, goals)


def _goal(node: Element, lanelets: Mapping[str, Lanelet]) -> GoalState:
    position = node.find("position")
    refs = () if position is None else tuple(each.get("ref", "") for each in position.findall("lanelet"))
    unknown = [ref for ref in refs if ref not in lanelets]
    if unknown:
        raise ValueError(f"line {node.sourceline}: a goal on lanelet {unknown[0]}, which there is not")
    shapes = [] if position is None else outlines(position)
    shapes += [lanelets[ref].outline for ref in refs]
    if position is not None and not shapes:
        raise ValueError(f"line {position.sourceline}: a goal in no rectangle, circle, polygon or lanelet")
    return GoalState(
        interval(node, "time"),
        tuple(shapes) if shapes else None,
        refs,
        None if node.find("orientation") is None else interval(node, "orientation"),
        None if node.find("velocity") is None else interval(node, "velocity"),
    )


def _in_one(shapes: tuple[FloatArray, ...], state: ProblemState) -> bool:
    point = np.array([(state.x, state.y)])
    return any(bool(inside(shape, point)[0]) for shape in shapes)


def start_pose(problem: PlanningProblem, centre_ahead: float) -> Pose:
    """The rear axle at the beginning, `centre_ahead` (m) behind the centre."""
    _, x, y, heading, _, _ = problem.start
    return shifted(Pose(x, y, heading), -centre_ahead)
