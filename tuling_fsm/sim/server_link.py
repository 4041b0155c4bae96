"""The way to the route server: what a scenario does to its answers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import FloatArray, Pose, wrap_angle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.sim.route_server import RouteServer
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import ServerMood
from tuling_fsm.world.inputs import RouteAnswer, RouteRequest

OPPOSITE_REACH_M = 15.0
"""A lane of the other direction is looked for up to this far beside the car."""
TURNED_RAD = 2.0
"""From so much difference in heading on a lane leads the other way."""


class Delayed(NamedTuple):
    """An answer, and by how much later than usual it comes, s."""

    answer: RouteAnswer
    delay: float


class ServerLink:
    """Asks the server and spoils its answers as the scenario wishes."""

    def __init__(self, road_map: RoadMap, server: RouteServer) -> None:
        self.server = server
        self._map = road_map
        self.wish = commands.SetRouteServer(ServerMood.WELL)
        """What the scenario wishes now."""

    def apply(self, command: commands.SetRouteServer) -> None:
        """Carry out a command."""
        self.wish = command

    def ask(self, request: RouteRequest, stamp: float) -> Delayed | None:
        """The answer to a request at a stamp (s); None where none will ever come."""
        match self.wish.mood:
            case ServerMood.AWAY:
                return None
            case ServerMood.WELL:
                answer = self.server.answer(request, stamp)
            case ServerMood.REFUSES:
                answer = RouteAnswer(stamp, request.number, np.zeros((0, 3)))
            case ServerMood.OPPOSITE:
                answer = RouteAnswer(stamp, request.number, self._opposite(request, stamp))
            case mood:
                assert_never(mood)
        return Delayed(answer, self.wish.delay)

    def _opposite(self, request: RouteRequest, stamp: float) -> FloatArray:
        """A route to the goal from the nearest lane of the other direction, empty where there is none."""
        start = request.start
        beside = [
            position
            for position in self._map.positions(start.x, start.y, radius=OPPOSITE_REACH_M)
            if abs(wrap_angle(position.heading - start.heading)) > TURNED_RAD
        ]
        if not beside:
            return np.zeros((0, 3))
        lane = self._map.lanes[beside[0].lane].center.at(beside[0].s)
        route = plan_route(self._map, Pose(*lane), request.goal, self.server.blocked(stamp)).route
        return np.zeros((0, 3)) if route is None else route.poses()


def frames_of(delay: float, dt: float) -> int:
    """Whole frames of `dt` s that cover a delay, s."""
    return math.ceil(delay / dt - 1e-9)
