"""Lights and stop signs for a baseline: where the front bumper has to stop, and which signs have been heeded."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.baselines.route_agents import RouteObstacle
from tuling_fsm.sim.baselines.route_profile import SEEN_M, RouteProfile
from tuling_fsm.world.inputs import Inputs, Light

LINE_GAP_M = 0.5
"""The bumper stops this far before a line."""
PASSED_M = 2.0
"""A line is not stopped for any more when it is this far behind the bumper."""
SIGN_ZONE_M = 3.0
"""A stop sign is heeded by standing this near before its line."""
RED = (Light.RED, Light.RED_YELLOW)


class RouteLine(NamedTuple):
    """A stop line across the route at an arc length (m); `kind` is `light`, `stop` or `yield`."""

    s: float
    kind: str
    signal: int


def lines_along(road_map: RoadMap, profile: RouteProfile) -> tuple[RouteLine, ...]:
    """All stop lines of the route's lanes, in the order in which they are met."""
    found = [
        RouteLine(stretch.s_from + line.s - stretch.lane_from, line.kind, line.signal)
        for i, stretch in enumerate(profile.route.lanes)
        for line in road_map.stop_lines_of(stretch.lane, profile.route.lane_before(i))
        if stretch.lane_from <= max(line.s, 0.0) <= stretch.lane_to
    ]
    return tuple(sorted(found))


def light_states(inputs: Inputs) -> dict[int, int]:
    """States by signal number, as far as they are known."""
    if inputs.traffic_lights is None:
        return {}
    return {int(row["signal"]): int(row["state"]) for row in inputs.traffic_lights.rows}


class StopLineRules:
    """Stops for lights that are red, or yellow where there is room to stop, and once at every stop sign.

    It remembers at which signs the car has stood.
    """

    def __init__(self, road_map: RoadMap, profile: RouteProfile) -> None:
        self._profile = profile
        self.lines = lines_along(road_map, profile)
        self._heeded: set[RouteLine] = set()

    def obstacles(self, inputs: Inputs, v: float) -> list[RouteObstacle]:
        """Lines ahead that have to be stopped at, at a speed of `v` (m/s)."""
        states = light_states(inputs)
        found = list[RouteObstacle]()
        for line in self.lines:
            room = line.s - self._profile.s - self._profile.vehicle.front
            if -PASSED_M < room < SEEN_M:
                limit = self._limit(line, room, v, states)
                found += [] if limit is None else [RouteObstacle(room - LINE_GAP_M, 0.0, limit)]
        return found

    def _limit(self, line: RouteLine, room: float, v: float, states: dict[int, int]) -> Limit | None:
        """Why the line may not be passed now; None where it may."""
        if line.kind == "light" and self._closed(states.get(line.signal), room, v):
            return Limit(Reason.RED_LIGHT, max(room, 0.0), f"signal {line.signal}", line.signal)
        if line.kind == "stop" and line not in self._heeded and room > -LINE_GAP_M:
            if v < VEHICLE_STANDS and room < SIGN_ZONE_M:
                self._heeded.add(line)
                return None
            return Limit(Reason.STOP_SIGN, max(room, 0.0), f"sign {line.signal}", line.signal)
        return None

    def _closed(self, state: int | None, room: float, v: float) -> bool:
        braking = 0.5 * v * v / self._profile.vehicle.comfort_decel
        return state in RED or (state == Light.YELLOW and room > braking)
