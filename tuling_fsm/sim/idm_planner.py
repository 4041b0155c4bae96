"""A planner to compare with: the Intelligent Driver Model along the centre of the route's lanes (Treiber et al. 2000).

It follows the leading vehicle on its path, stops for red lights and at the route's end, and does nothing else: no lane
changes, no detours, no stop signs, no yielding. nuPlan has such a baseline too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.traffic.collision import IdmParameters, idm
from tuling_fsm.world.inputs import Inputs, Light, Odometry

STATE = "idm"
"""In place of a state of the machine: all rules of the road hold in it."""
HORIZON_S, STEP_S = 5.0, 0.1
SEEN_M = 80.0
STATION_M, SMOOTHING_M = 1.0, 2.0
HEADWAY_S, STANDING_GAP_M, LINE_GAP_M = 1.5, 2.0, 0.5
SIDE_ROOM_M = 0.3
PASSED_M = 2.0
"""A light is not stopped for any more when its line is this far behind the bumper."""
RED = (Light.RED, Light.RED_YELLOW)


@dataclass(frozen=True)
class _Obstacle:
    """Something to keep behind: how far the front bumper may go (m from where it is), its speed, and what it is."""

    room: float
    v: float
    limit: Limit


@dataclass(frozen=True)
class IdmPlan:
    """Answer to one tick: what is driven, and what limits it."""

    trajectory: Trajectory
    limit: Limit
    pose: Pose
    v: float


class IdmPlanner:
    """Plans anew on every tick; it remembers only how far it has come.

    Args:
        road_map: with the stop lines and limits of the route's lanes.
        route: what is driven.
        vehicle: the car.
    """

    def __init__(self, road_map: RoadMap, route: Route, vehicle: Vehicle) -> None:
        self._route, self._vehicle = route, vehicle
        self._s = 0.0
        self._stations: FloatArray = np.arange(0.0, route.length + STATION_M, STATION_M, dtype=np.float64)
        self._bends = _bends(route, self._stations)
        self._speed = _allowed(road_map, route, vehicle, self._stations, self._bends)
        self._lines = [
            (stretch.s_from + line.s - stretch.lane_from, line.signal)
            for stretch in route.lanes
            for line in road_map.stop_lines_of(stretch.lane)
            if line.kind == "light" and stretch.lane_from <= line.s <= stretch.lane_to
        ]
        self._idm = IdmParameters(
            max_accel=vehicle.max_accel,
            comfort_decel=vehicle.comfort_decel,
            max_decel=vehicle.emergency_decel,
            headway=HEADWAY_S,
            standing_gap=STANDING_GAP_M,
            lateral_accel=vehicle.max_lateral_accel,
            side_clearance=SIDE_ROOM_M,
            lane_change_time=1.0,
            patience=0.0,
        )

    def step(self, inputs: Inputs) -> IdmPlan:
        """The plan for one tick.

        Raises:
            InputError: there is no odometry.
        """
        odometry = inputs.odometry
        if odometry is None:
            raise InputError("odometry", "none has come", "odometry on every tick")
        reach = SEEN_M if self._s > 0.0 else self._route.length
        found = self._route.reference.project(odometry.pose.x, odometry.pose.y, self._s - 10.0, self._s + reach)
        self._s = max(self._s, found.s)
        ahead = [*self._leaders(inputs, odometry.pose), *self._red_lights(inputs, odometry), self._end()]
        nearest = min(ahead, key=lambda each: each.room)
        s, v, a = self._roll_out(max(odometry.v, 0.0), ahead)
        held = nearest.room < 5.0 + HEADWAY_S * odometry.v + 0.5 * odometry.v * odometry.v / self._vehicle.comfort_decel
        limit = nearest.limit if held else Limit(Reason.SPEED_LIMIT)
        return IdmPlan(self._trajectory(inputs.stamp, s, v, a), limit, odometry.pose, odometry.v)

    def _leaders(self, inputs: Inputs, pose: Pose) -> list[_Obstacle]:
        """Bodies that reach into the path."""
        if inputs.objects is None:
            return []
        rows, reference, found = inputs.objects.rows, self._route.reference, list[_Obstacle]()
        near = elementwise.hypot(rows["x"] - pose.x, rows["y"] - pose.y) < SEEN_M
        for row in rows[near]:
            x, y, heading, length, width = (float(row[name]) for name in ("x", "y", "heading", "length", "width"))
            place = reference.project(x, y, self._s, self._s + SEEN_M)
            turned = heading - place.heading
            along, across = abs(elementary.cos(turned)), abs(elementary.sin(turned))
            room = place.s - 0.5 * (along * length + across * width) - self._s - self._vehicle.front
            half = 0.5 * (across * length + along * width + self._vehicle.width) + SIDE_ROOM_M
            if place.s > self._s + 0.5 and abs(place.offset) < half:
                v = float(row["vx"]) * elementary.cos(place.heading) + float(row["vy"]) * elementary.sin(place.heading)
                limit = Limit(Reason.LEADER, max(room, 0.0), blocker=int(row["id"]))
                found.append(_Obstacle(room - STANDING_GAP_M, max(v, 0.0), limit))
        return found

    def _red_lights(self, inputs: Inputs, odometry: Odometry) -> list[_Obstacle]:
        """Stop lines of lights that are red, or yellow where there is still room to stop."""
        if inputs.traffic_lights is None:
            return []
        states = {int(row["signal"]): int(row["state"]) for row in inputs.traffic_lights.rows}
        found, braking = list[_Obstacle](), 0.5 * odometry.v * odometry.v / self._vehicle.comfort_decel
        for line, signal in self._lines:
            room = line - self._s - self._vehicle.front
            late = states.get(signal) == Light.YELLOW and room > braking
            if -PASSED_M < room < SEEN_M and (states.get(signal) in RED or late):
                limit = Limit(Reason.RED_LIGHT, max(room, 0.0), f"signal {signal}", signal)
                found.append(_Obstacle(room - LINE_GAP_M, 0.0, limit))
        return found

    def _end(self) -> _Obstacle:
        """The middle of the car comes to the end of the route."""
        room = self._route.length - self._s - 0.5 * self._vehicle.front
        return _Obstacle(room, 0.0, Limit(Reason.ROUTE_END, max(room, 0.0)))

    def _roll_out(self, v0: float, ahead: list[_Obstacle]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Distance (from now), speed and acceleration at every step of the horizon."""
        count = round(HORIZON_S / STEP_S) + 1
        s, v, a = np.zeros(count), np.zeros(count), np.zeros(count)
        v[0] = v0
        for k in range(count):
            wanted = float(np.interp(self._s + s[k], self._stations, self._speed))
            a[k] = min([_free(v[k], wanted, self._vehicle), *(self._behind(v[k], s[k], k, each) for each in ahead)])
            if k + 1 < count:
                v[k + 1] = max(v[k] + a[k] * STEP_S, 0.0)
                s[k + 1] = s[k] + 0.5 * (v[k] + v[k + 1]) * STEP_S
        return s, v, a

    def _behind(self, v: float, s: float, k: int, each: _Obstacle) -> float:
        """Acceleration that a leading vehicle, or a line, ahead leaves."""
        room = each.room + each.v * k * STEP_S - s
        return idm(v, room + STANDING_GAP_M, each.v, STANDING_GAP_M, self._idm)

    def _trajectory(self, stamp: float, s: FloatArray, v: FloatArray, a: FloatArray) -> Trajectory:
        reference, at = self._route.reference, self._s + s
        x, y, heading = (
            np.interp(at, reference.s, row) for row in (reference.xy[:, 0], reference.xy[:, 1], reference.heading)
        )
        curvature = np.interp(at, self._stations, self._bends)
        t = STEP_S * np.arange(len(s), dtype=np.float64)
        return Trajectory(stamp=stamp, t=t, x=x, y=y, heading=heading, curvature=curvature, v=v, a=a)


def _free(v: float, wanted: float, vehicle: Vehicle) -> float:
    """Acceleration on an empty road."""
    if v > wanted:
        return max((wanted - v) / STEP_S, -vehicle.comfort_decel)
    share = v / max(wanted, 0.1)
    return float(vehicle.max_accel * (1.0 - share * share * share * share))


def _bends(route: Route, stations: FloatArray) -> FloatArray:
    """Curvature (1/m, + left) at every station, over a length that kinks of the map hardly count in."""
    reference = route.reference
    ahead, behind = (np.clip(stations + half, 0.0, route.length) for half in (SMOOTHING_M, -SMOOTHING_M))
    turned = np.interp(ahead, reference.s, reference.heading) - np.interp(behind, reference.s, reference.heading)
    return np.asarray(turned / np.maximum(ahead - behind, SMOOTHING_M))


def _allowed(road_map: RoadMap, route: Route, vehicle: Vehicle, stations: FloatArray, bends: FloatArray) -> FloatArray:
    """Speed at every station that limits and bends allow, there and with comfortable braking before (m/s)."""
    limits = np.array([road_map.lanes[route.lanes[route.index_at(float(s))].lane].limit for s in stations])
    by_bend = vehicle.max_lateral_accel / np.maximum(np.abs(bends), 1e-6)
    squared = np.minimum(np.square(np.minimum(limits, vehicle.max_speed)), by_bend)
    for k in range(len(stations) - 2, -1, -1):
        squared[k] = min(squared[k], squared[k + 1] + 2.0 * vehicle.comfort_decel * STATION_M)
    return np.asarray(np.sqrt(squared))
