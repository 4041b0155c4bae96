"""The route server: answers where to drive, from a preset route or by planning on the map; spoilt by a scenario.

Blocks that were reported are driven round until they are lifted, some time after the report (RPL-2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose, distance, wrap_angle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import RouteResult, match_route, plan_route
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import ServerBehaviour
from tuling_fsm.world.inputs import RouteAnswer, RouteRequest

ON_PRESET_M = 12.0
"""A car this near the preset route, and not turned round, is sent along the rest of it."""
SAME_GOAL_M = 5.0
BLOCK_S = 60.0
"""A block is lifted this long after it was last reported."""
BESIDE_M, MOST_STARTS = 40.0, 12
"""A route begins on a lane up to this far beside the car; so many are tried."""
BEHIND_M, AHEAD_M = 30.0, 150.0
"""The car is first looked for on this stretch of the preset route around where it was last."""


class RouteServer:
    """Answers requests; remembers how far along the preset route the car has come, and what is blocked."""

    def __init__(self, road_map: RoadMap, preset: Route | None = None) -> None:
        self._map = road_map
        self._preset = preset
        self._progress = 0.0
        self._blocked: dict[LaneId, float] = {}
        self.current = preset
        """The whole route that the last answer is a part of."""

    def report_block(self, points: FloatArray, stamp: float) -> None:
        """Note at a stamp (s) that the stretch through points (N, >= 2), m, cannot be driven."""
        for x, y in np.asarray(points, dtype=np.float64)[:, :2]:
            for position in self._map.positions(float(x), float(y)):
                if self._map.lanes[position.lane].junction is None:
                    self._blocked[position.lane] = stamp

    def blocked(self, stamp: float) -> tuple[LaneId, ...]:
        """Lanes that are blocked at a stamp, s; a report that lies ahead of it is from before time was set back."""
        return tuple(lane for lane, reported in self._blocked.items() if 0.0 <= stamp - reported < BLOCK_S)

    def answer(self, request: RouteRequest, stamp: float) -> RouteAnswer:
        """The route for a request at a stamp (s), empty when there is none."""
        blocked = self.blocked(stamp)
        points = self._rest_of_preset(request, blocked)
        if points is not None:
            self.current = self._preset
            return RouteAnswer(stamp, request.number, points)
        route = route_from(self._map, request.start, request.goal, blocked).route
        self.current = route if route is not None else self.current
        return RouteAnswer(stamp, request.number, np.zeros((0, 3)) if route is None else route.poses())

    def _rest_of_preset(self, request: RouteRequest, blocked: Sequence[LaneId]) -> FloatArray | None:
        """The preset route from the car on; None where it does not fit the request."""
        route = self._preset
        if route is None or distance(route.poses()[-1, :2], request.goal[:2]) > SAME_GOAL_M:
            return None
        reference, (x, y, heading) = route.reference, request.start
        found = reference.project(x, y, self._progress - BEHIND_M, self._progress + AHEAD_M)
        if abs(found.offset) > ON_PRESET_M:
            found = reference.project(x, y)
        turned = abs(wrap_angle(found.heading - heading))
        if abs(found.offset) > ON_PRESET_M or turned > 0.5 * math.pi or _meets(route, found.s, blocked):
            return None
        self._progress = found.s
        rest = route.poses()[reference.s > found.s + 0.1]
        first = reference.at(found.s)
        return np.vstack((np.array([first]), rest)) if len(rest) else None


def route_from(
    road_map: RoadMap, start: Pose, goal: Pose, blocked: Sequence[LaneId] = (), via: Sequence[Pose] = ()
) -> RouteResult:
    """A route from a pose on its lane, or the one beside it that runs its way; else from the nearest lane beside it
    that leads to the goal: for a car that stands off the road, or faces a dead end or a block.

    A route whose poses cannot be matched to the lanes again, which a planner would refuse, is none.
    """
    first = _matched(road_map, plan_route(road_map, start, goal, blocked, via))
    if first.status not in ("no_path", "start_off_road", "start_blocked"):
        return first
    found = road_map.positions(start.x, start.y, radius=BESIDE_M)
    beside = [road_map.lanes[position.lane].center.at(position.s) for position in found]
    for pose in sorted(beside, key=lambda pose: distance(pose[:2], start[:2]))[:MOST_STARTS]:
        result = _matched(road_map, plan_route(road_map, pose, goal, blocked, via))
        if result.route is not None:
            return result
    return first


def _matched(road_map: RoadMap, result: RouteResult) -> RouteResult:
    if result.route is not None and match_route(road_map, result.route.poses()) is None:
        return RouteResult("no_path")
    return result


def _meets(route: Route, s: float, blocked: Iterable[LaneId]) -> bool:
    """Whether the rest of a route runs over a blocked lane."""
    ahead = {stretch.lane for stretch in route.lanes if stretch.s_to > s}
    return any(lane in ahead for lane in blocked)


OPPOSITE_REACH_M = 15.0
"""A lane of the other direction is looked for up to this far beside the car."""
TURNED_RAD = 2.0
"""From so much difference in heading on a lane leads the other way."""


class DelayedAnswer(NamedTuple):
    """An answer, by how much later than usual it comes (s), and the whole route that it is a part of, None where it is
    no right one.
    """

    answer: RouteAnswer
    delay: float
    route: Route | None


class ServerLink:
    """Asks the server and spoils its answers as the scenario sets it to."""

    def __init__(self, road_map: RoadMap, server: RouteServer) -> None:
        self.server = server
        self._map = road_map
        self.settings = commands.SetRouteServer(ServerBehaviour.WELL)
        """What the scenario has set."""

    def apply(self, command: commands.SetRouteServer) -> None:
        """Carry out a command."""
        self.settings = command

    def ask(self, request: RouteRequest, stamp: float) -> DelayedAnswer | None:
        """The answer to a request at a stamp (s); None where none will ever come."""
        route: Route | None = None
        match self.settings.behaviour:
            case ServerBehaviour.AWAY:
                return None
            case ServerBehaviour.WELL:
                answer = self.server.answer(request, stamp)
                route = self.server.current if len(answer.points) else None
            case ServerBehaviour.REFUSES:
                answer = RouteAnswer(stamp, request.number, np.zeros((0, 3)))
            case ServerBehaviour.OPPOSITE:
                answer = RouteAnswer(stamp, request.number, self._opposite(request, stamp))
            case behaviour:
                assert_never(behaviour)
        return DelayedAnswer(answer, self.settings.delay, route)

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
