"""The ego as an agent of the traffic: its passages through the junctions of its route, and where it will be."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.traffic.right_of_way import LINE_BEFORE_M, LINE_WITHIN_M, YIELD_PENALTY_S, JunctionRequest
from tuling_fsm.world.inputs import Light

DECEL = 1.8
"""The ego asks for its junction from where it could still stop with this braking, m/s^2."""
REACTION_M = 8.0
ON_ROUTE_M, ON_ROUTE_RAD = 2.0, 0.6
STANDING = VEHICLE_STANDS
HESITATION_S = 2.0
"""A clearance is lost by standing before the junction for this long."""
INSIST_S, RELENT_S = 10.0, 5.0
"""While the ego stands at its line the traffic waits for it for the first time, then goes for the second, and so on."""
PREDICTION_STEP_S = 0.5
"""The traffic is told where other agents will be after every so many seconds."""


@dataclass(frozen=True)
class _JunctionPassage:
    """The route's passage through one junction: arc lengths, lanes of the lane graph, lights that rule it, and whether
    its line is one to yield at.
    """

    s_in: float
    s_out: float
    lanes: Int32Array
    signals: tuple[int, ...]
    yields: bool


class EgoAgent:
    """Follows the ego along its route and asks for its junctions."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, index: Mapping[LaneId, int], horizon: float) -> None:
        self._map = road_map
        self._vehicle = vehicle
        self._index = index
        self._times = np.arange(PREDICTION_STEP_S, horizon + 1e-9, PREDICTION_STEP_S)
        self._passages: list[_JunctionPassage] = []
        self._arrived = math.inf
        self._holds = False
        self._stands_since = 0.0
        self.route: Route | None = None
        self.lanes: frozenset[LaneId] = frozenset()
        """Lanes of the route."""
        self.s = 0.0
        """Where the ego's rear axle is along its route (m), how far beside it (m, + left), and turned from it (rad)."""
        self.offset = math.inf
        self.turned = 0.0

    def take_route(self, route: Route | None) -> None:
        """Follow another route from now on."""
        if route is self.route:
            return
        self.route, self._passages, self._arrived, self._holds = route, [], math.inf, False
        self.lanes = frozenset() if route is None else frozenset(stretch.lane for stretch in route.lanes)
        self.s = -math.inf
        if route is not None:
            self._passages = self._find_passages(route)

    def _find_passages(self, route: Route) -> list[_JunctionPassage]:
        """The route's ways through junctions, in order."""
        passages: list[_JunctionPassage] = []
        junction: str | None = None
        for stretch in route.lanes:
            lane = self._map.lanes[stretch.lane]
            if lane.junction is not None and stretch.lane in self._index:
                lanes = [self._index[stretch.lane]]
                if lane.junction == junction and passages:
                    lanes = [*passages[-1].lanes.tolist(), *lanes]
                    first = passages.pop().s_in
                else:
                    first = stretch.s_from
                lines = self._lines(route, first)
                signals = tuple(dict.fromkeys(line.signal for line in lines if line.kind == "light"))
                yields = any(line.kind == "yield" for line in lines)
                passages.append(_JunctionPassage(first, stretch.s_to, np.array(lanes, dtype=np.int32), signals, yields))
            junction = lane.junction
        return passages

    def _lines(self, route: Route, s_in: float) -> list[StopLine]:
        """Stop lines where vehicles wait for a junction that begins at `s_in`."""
        found: list[StopLine] = []
        for i, stretch in enumerate(route.lanes):
            for line in self._map.stop_lines_of(stretch.lane, route.lane_before(i)):
                s = stretch.s_from + line.s - stretch.lane_from
                if s_in - LINE_BEFORE_M <= s <= s_in + LINE_WITHIN_M:
                    found.append(line)
        return found

    def localize(self, pose: Pose) -> None:
        """Find the ego on its route."""
        if self.route is None:
            self.offset = math.inf
            return
        reference = self.route.reference
        found = reference.project(pose.x, pose.y, self.s - 30.0, self.s + 60.0)
        if not math.isfinite(self.s) or abs(found.offset) > 20.0:
            found = reference.project(pose.x, pose.y)
        self.s, self.offset = found.s, found.offset
        self.turned = float(wrap_angle(pose.heading - found.heading))

    @property
    def on_route(self) -> bool:
        """Whether the ego follows its route."""
        return abs(self.offset) < ON_ROUTE_M and abs(self.turned) < ON_ROUTE_RAD

    def request(
        self, stamp: float, v: float, lights: Mapping[int, int], touched: Collection[LaneId]
    ) -> JunctionRequest:
        """What the ego asks of the junction ahead, or holds of the one that it is in.

        Args:
            stamp: s.
            v: its speed, m/s.
            lights: states by signal number.
            touched: junction lanes that its footprint touches.
        """
        on = np.array([self._index[lane] for lane in sorted(touched) if lane in self._index], dtype=np.int32)
        if abs(v) > STANDING:
            self._stands_since = stamp
        passage = self._next_passage() if self.on_route else None
        if passage is None:
            self._arrived, self._holds = math.inf, False
            return JunctionRequest(on, math.inf, len(on) > 0, False)
        front = self.s + self._vehicle.front
        if front > passage.s_in + LINE_WITHIN_M:
            self._arrived, self._holds = math.inf, True
            return JunctionRequest(np.concatenate((on, passage.lanes)), math.inf, True, True)
        stands = stamp - self._stands_since
        red = any(lights.get(number) in (Light.RED, Light.RED_YELLOW) for number in passage.signals)
        near = passage.s_in - front < v * v / (2.0 * DECEL) + v + REACTION_M
        if red or not near or (self._holds and stands > HESITATION_S):
            self._arrived, self._holds = self._arrived if near and not red else math.inf, False
        elif self._arrived == math.inf:
            self._arrived = stamp
        relents = math.fmod(stands, INSIST_S + RELENT_S) > INSIST_S
        arrived = self._arrived + (YIELD_PENALTY_S if passage.yields else 0.0)
        # One that stands where it has to yield is not waited for.
        if red or not near or relents or (passage.yields and stands > 0.0):
            arrived = math.inf
        lanes = np.concatenate((on, passage.lanes)) if len(on) else passage.lanes
        return JunctionRequest(lanes, arrived, self._holds or len(on) > 0, abs(v) > STANDING)

    def granted(self, goes: bool) -> None:
        """Note that the ego was cleared for its passage; it stays so until the ego is through or hesitates."""
        self._holds = self._holds or goes

    def _next_passage(self) -> _JunctionPassage | None:
        """The junction that the ego is in or comes to next."""
        tail = self.s - self._vehicle.rear_overhang
        return next((passage for passage in self._passages if passage.s_out > tail), None)

    def boxes(self, pose: Pose, z: float, v: float, yaw_rate: float, along_route: bool = True) -> FloatArray:
        """The ego's body now and predicted (K, 8): x, y, z, heading, length, width, speed, seconds from now.

        Without `along_route` as those expect it that do not know its route: at constant speed and turn rate.
        """
        vehicle = self._vehicle
        ahead = center_ahead(vehicle)
        times: FloatArray = np.zeros(1)
        if abs(v) >= STANDING:
            times = np.concatenate((times, self._times))
        x, y, heading = (
            self._along_route(pose, v, times) if along_route and self.on_route else _turning(pose, v, yaw_rate, times)
        )
        table = np.empty((len(times), 8))
        sine, cosine = elementwise.sin_cos(heading)
        table[:, 0], table[:, 1] = x + ahead * cosine, y + ahead * sine
        table[:, 2], table[:, 3], table[:, 4:7] = z, heading, (vehicle.length, vehicle.width, v)
        table[:, 7] = times
        return table

    def _along_route(self, pose: Pose, v: float, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        assert self.route is not None
        reference = self.route.reference
        s = np.minimum(self.s + v * times, reference.length)
        x, y = np.interp(s, reference.s, reference.xy[:, 0]), np.interp(s, reference.s, reference.xy[:, 1])
        heading = np.interp(s, reference.s, reference.heading)
        x[0], y[0], heading[0] = pose
        return x, y, heading


def _turning(pose: Pose, v: float, yaw_rate: float, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Constant speed and turn rate."""
    heading = pose.heading + yaw_rate * times
    half = 0.5 * yaw_rate * times
    middle, chord = pose.heading + half, v * times * elementwise.sinc(half)
    sine, cosine = elementwise.sin_cos(middle)
    return pose.x + chord * cosine, pose.y + chord * sine, heading
