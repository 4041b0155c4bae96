"""What every baseline planner has: its answer to a tick, and the rules of the road as places to stop at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.baselines.junction_gaps import JunctionGaps
from tuling_fsm.sim.baselines.persons import PedestrianRules
from tuling_fsm.sim.baselines.route_agents import RouteAgents, RouteObstacle
from tuling_fsm.sim.baselines.route_profile import RouteProfile
from tuling_fsm.sim.baselines.stop_lines import StopLineRules
from tuling_fsm.world.inputs import Inputs, Odometry

HEADWAY_S, STANDING_GAP_M = 1.5, 2.0
SIDE_ROOM_M = 0.3
"""What is passed at this distance or less is in the way, m."""
NEAR_M = 5.0
"""What limits the speed is named from this far before the place where braking for it begins."""


@dataclass(frozen=True)
class BaselinePlan:
    """Answer to one tick: what is driven, and what limits it."""

    trajectory: Trajectory
    limit: Limit


class BaselinePlanner(Protocol):
    """Drives a route that is known from the beginning."""

    def step(self, inputs: Inputs) -> BaselinePlan:
        """The plan for one tick.

        Raises:
            InputError: there is no odometry.
        """


class BaselineRules:
    """Where the rules of the road let a baseline drive up to: lights, signs, junctions, persons, the route's end."""

    def __init__(self, road_map: RoadMap, profile: RouteProfile) -> None:
        self._profile = profile
        self._lines = StopLineRules(road_map, profile)
        self._junctions = JunctionGaps(road_map, profile, self._lines.lines)
        self._persons = PedestrianRules(road_map, profile)

    def obstacles(self, inputs: Inputs, agents: RouteAgents, v: float) -> list[RouteObstacle]:
        """All places to stop at that bind now, at a speed of `v` (m/s)."""
        return [
            *self._lines.obstacles(inputs, v),
            *self._junctions.obstacles(inputs, v),
            *self._persons.obstacles(agents, v),
            self._end(),
        ]

    def _end(self) -> RouteObstacle:
        """The middle of the car comes to the end of the route."""
        profile = self._profile
        room = profile.route.length - profile.s - 0.5 * profile.vehicle.front
        return RouteObstacle(room, 0.0, Limit(Reason.ROUTE_END, max(room, 0.0)))


def odometry_of(inputs: Inputs) -> Odometry:
    """Where the car is.

    Raises:
        InputError: there is no odometry.
    """
    if inputs.odometry is None:
        raise InputError("odometry", "none has come", "odometry on every tick")
    return inputs.odometry


def binding_limit(ahead: list[RouteObstacle], v: float, vehicle: Vehicle) -> Limit:
    """What limits the speed now: the nearest obstacle where it is braked for at a speed of `v` (m/s)."""
    nearest = min(ahead, key=lambda each: each.room)
    held = nearest.room < NEAR_M + HEADWAY_S * v + 0.5 * v * v / vehicle.comfort_decel
    return nearest.limit if held else Limit(Reason.SPEED_LIMIT)
