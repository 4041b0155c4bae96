"""When a run is over, and how much of its route was driven."""

from __future__ import annotations

import math

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.route import Route
from tuling_fsm.sim.parameters import EndParameters
from tuling_fsm.sim.referee import CarState
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.setting import distance_to_goal

PARKED = "parking/parked"
MISSION_S = 3600.0
BESIDE_M = 2.0
LOOK_BACK_M, LOOK_AHEAD_M = 10.0, 30.0
LEFT_M = 25.0
"""A car this far from the route goes another way from then on (RPL-2), and has arrived when it stands at the goal."""


def time_limit(
    scenario: Scenario, route: Route | None, parameters: EndParameters, match_time_s: float = math.inf
) -> float:
    """How long a run may last, s: what the scenario says, else what the route takes at a slow pace, else an hour; a
    match is over soon after its own time (MAT-1).
    """
    match = match_time_s + parameters.after_match
    if scenario.max_duration_s is not None:
        return min(scenario.max_duration_s, match)
    return min(MISSION_S if route is None else route.length / parameters.slowest + parameters.reserve, match)


class Ending:
    """Watches for the goal, the parked car, the time limit and the collision."""

    def __init__(
        self,
        route: Route | None,
        limit: float,
        vehicle: Vehicle,
        parameters: EndParameters,
        standing: float,
    ) -> None:
        self.end: str | None = None
        self._route = route
        self._vehicle = vehicle
        self._p = parameters
        self._standing = standing
        self._there = 0.0
        self._reached = 0.0
        self._left = False
        self._limit = limit

    @property
    def completion(self) -> float:
        """Share of the route that is behind the ego, 0 to 1."""
        if self._route is None:
            return 1.0 if self.end == "parked" else 0.0
        return 1.0 if self.end == "goal" else min(self._reached / self._route.length, 1.0)

    def watch(self, stamp: float, dt: float, car: CarState, collided: bool) -> None:
        """Judge one frame: its time and length, s."""
        if self._route is not None:
            reference = self._route.reference
            seen = reference.project(car.pose.x, car.pose.y, self._reached - LOOK_BACK_M, self._reached + LOOK_AHEAD_M)
            if abs(seen.offset) < LOOK_BACK_M:
                self._reached = max(self._reached, seen.s)
            self._left = self._left or abs(seen.offset) > LEFT_M
        arrived = abs(car.v) < self._standing and (car.state == PARKED or self._at_goal(car))
        self._there = self._there + dt if arrived else 0.0
        if collided:
            self.end = "collision"
        elif self._there >= self._p.goal_time - 1e-9:
            self.end = "parked" if car.state == PARKED else "goal"
        elif stamp >= self._limit:
            self.end = "time"

    def _at_goal(self, car: CarState) -> bool:
        """Whether the car stands at the route's end: some part between its rear axle and front bumper near it, or just
        past it.
        """
        if self._route is None:
            return False
        last_stretch = self._vehicle.front + 2.0 * self._p.goal_distance
        if not self._left and self._reached < self._route.length - last_stretch:
            return False
        past, beside = distance_to_goal(self._route.reference.at(self._route.length), car.pose)
        return -self._vehicle.front - self._p.goal_distance <= past <= self._p.overshoot and abs(beside) <= BESIDE_M
