"""Where a scenario lies: coordinates of a survey, such as UTM, are millions of metres from their zero.

There numbers have fewer digits behind the point, maps fewer centimetres, and no car is localized. So a scenario is read
with an origin in its middle, and what is written for CommonRoad's tools has its own coordinates again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tuling_fsm.bag.commonroad.lanelets import Lanelet
from tuling_fsm.bag.commonroad.obstacles import Obstacle
from tuling_fsm.bag.commonroad.problem import GoalState, PlanningProblem
from tuling_fsm.core.arrays import FloatArray

Origin = tuple[float, float]
"""x, y in the coordinates of the file, m."""
NEAR_M = 1.0e4
"""A scenario that lies within this of its zero stays where it is."""


def origin_of(lanelets: Mapping[str, Lanelet]) -> Origin:
    """The middle of the lanelets on a whole metre where they lie far from zero, else zero."""
    if not lanelets:
        return 0.0, 0.0
    corners = np.vstack([each.outline for each in lanelets.values()])
    if float(np.abs(corners).max()) <= NEAR_M:
        return 0.0, 0.0
    x, y = np.round(0.5 * (corners.min(axis=0) + corners.max(axis=0))).tolist()
    return x, y


def lanelets_from(origin: Origin, lanelets: Mapping[str, Lanelet]) -> dict[str, Lanelet]:
    """The lanelets, seen from an origin."""
    return {
        key: replace(each, left=_from(origin, each.left), right=_from(origin, each.right))
        for key, each in lanelets.items()
    }


def obstacles_from(origin: Origin, obstacles: Sequence[Obstacle]) -> tuple[Obstacle, ...]:
    """The obstacles, seen from an origin."""
    shift = np.array((0.0, *origin, 0.0, 0.0))
    return tuple(replace(each, states=each.states - shift) for each in obstacles)


def problems_from(origin: Origin, problems: Sequence[PlanningProblem]) -> tuple[PlanningProblem, ...]:
    """The planning problems, seen from an origin."""
    x, y = origin
    return tuple(
        replace(
            each,
            start=each.start._replace(x=each.start.x - x, y=each.start.y - y),
            goals=tuple(_goal_from(origin, goal) for goal in each.goals),
        )
        for each in problems
    )


def _goal_from(origin: Origin, goal: GoalState) -> GoalState:
    if goal.position is None:
        return goal
    return replace(goal, position=tuple(_from(origin, shape) for shape in goal.position))


def _from(origin: Origin, points: FloatArray) -> FloatArray:
    return np.asarray(points - np.array(origin), dtype=np.float64)
