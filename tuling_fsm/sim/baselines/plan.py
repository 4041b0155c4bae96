"""What a baseline answers a tick with, and what it keeps behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.world.inputs import Inputs


@dataclass(frozen=True)
class RouteObstacle:
    """Something to keep behind: how far the front bumper may go (m from where it is), its speed (m/s), what it is."""

    room: float
    v: float
    limit: Limit


@dataclass(frozen=True)
class BaselinePlan:
    """Answer to one tick: what is driven, and what limits it."""

    trajectory: Trajectory
    limit: Limit
    pose: Pose
    v: float


class BaselinePlanner(Protocol):
    """Drives a route that is known from the beginning."""

    def step(self, inputs: Inputs) -> BaselinePlan:
        """The plan for one tick.

        Raises:
            InputError: there is no odometry.
        """
