"""Junctions for a baseline: it enters where the gaps in the traffic that it has to let by are long enough.

For every vehicle in a lane that meets the car's way through the junction, or about to come into one, the time in which
it may be where both ways meet is compared with the time in which the car will be there. Priority is that of the
Vienna Convention on Road Traffic, article 18: one in the junction, one on a road with priority, the
oncoming ones where the car turns across their way, and where nothing rules the junction those from the right.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.baselines.route_agents import RouteObstacle
from tuling_fsm.sim.baselines.route_profile import RouteProfile
from tuling_fsm.sim.baselines.stop_lines import LINE_GAP_M, RouteLine, light_states
from tuling_fsm.world.inputs import Inputs, Kind, Light

VEHICLES = (Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE, Kind.BICYCLE, Kind.UNKNOWN)
LOOK_M = 40.0
"""A junction is looked at from so far before the place to wait for it."""
APPROACH_M = 60.0
"""Vehicles this far before the junction are looked at, and those that come there while the car drives through it."""
LINE_BEFORE_M, LINE_WITHIN_M = 25.0, 6.0
"""A stop line so far before the beginning of a junction, or so far behind it, is where the car waits for it."""
COMMITTED_M = 1.0
"""With its bumper this far past that place the car goes on."""
MEET_M, STEP_M = 2.6, 1.0
"""Ways meet where their middles are this near, looked at every so many metres."""
GAP_S = 1.5
"""Between the car and a vehicle that has priority there shall be this much time."""
SPEEDS_UP, OWN_SHARE = 1.0, 0.7
"""A vehicle may speed up by so much (m/s^2); the car does with this share of what it could, as the model has it."""
AWRY = math.radians(60.0)
TURN, OPPOSITE = math.radians(30.0), math.radians(135.0)
FROM_RIGHT = math.radians(45.0), math.radians(135.0)
"""Heading of a vehicle from the right, as seen from the car."""
OPEN, SIGNED, SHUT = 2, 1, 0
RIGHT_BY_LIGHT = {Light.RED: SHUT, Light.RED_YELLOW: SHUT, Light.YELLOW: SIGNED}


class JunctionCrossing(NamedTuple):
    """The route's way through a junction, `s_in` to `s_out` (m): its lanes, the lines that rule it, where to wait (m),
    and whether lights do.
    """

    s_in: float
    s_out: float
    lanes: tuple[LaneId, ...]
    lines: tuple[RouteLine, ...]
    hold: float
    lit: bool


class CrossingStretch(NamedTuple):
    """Where two ways meet: along the route, and along the other lane (m)."""

    own_from: float
    own_to: float
    other_from: float
    other_to: float


def crossings_along(road_map: RoadMap, profile: RouteProfile, lines: tuple[RouteLine, ...]) -> list[JunctionCrossing]:
    """All junctions of a route, in order."""
    found = list[JunctionCrossing]()
    for junction, group in itertools.groupby(profile.route.lanes, lambda each: road_map.lanes[each.lane].junction):
        if junction is None:
            continue
        stretches = list(group)
        s_in = stretches[0].s_from
        own = tuple(line for line in lines if s_in - LINE_BEFORE_M <= line.s <= s_in + LINE_WITHIN_M)
        hold = own[-1].s if own else s_in
        lanes = tuple(stretch.lane for stretch in stretches)
        lit = any(line.kind == "light" for line in own) or road_map.junctions[junction].has_lights
        found.append(JunctionCrossing(s_in, stretches[-1].s_to, lanes, own, hold, lit))
    return found


class JunctionGaps:
    """Keeps nothing from tick to tick but where ways meet, which does not change."""

    def __init__(self, road_map: RoadMap, profile: RouteProfile, lines: tuple[RouteLine, ...]) -> None:
        self._map, self._profile = road_map, profile
        self.crossings = crossings_along(road_map, profile, lines)
        self._zones: dict[tuple[float, LaneId], CrossingStretch | None] = {}

    def obstacles(self, inputs: Inputs, v: float) -> list[RouteObstacle]:
        """The place to wait for the next junction, if it cannot be entered at a speed of `v` (m/s)."""
        front = self._profile.s + self._profile.vehicle.front
        braking = 0.5 * v * v / self._profile.vehicle.emergency_decel
        for crossing in self.crossings:
            room = crossing.hold - front
            if room < -COMMITTED_M:
                continue
            if room > LOOK_M or room < braking - COMMITTED_M:
                return []
            blocker = self._blocker(crossing, inputs, v)
            if blocker is None:
                return []
            limit = Limit(Reason.JUNCTION_OCCUPIED, max(room, 0.0), blocker=blocker)
            return [RouteObstacle(room - LINE_GAP_M, 0.0, limit)]
        return []

    def _blocker(self, crossing: JunctionCrossing, inputs: Inputs, v: float) -> int | None:
        """Number of a vehicle that has to be let by."""
        if inputs.objects is None:
            return None
        rows, lights = inputs.objects.rows, light_states(inputs)
        until = self._clear_s(crossing.s_out, v) + GAP_S
        own_right = min((_right(line.kind, lights.get(line.signal)) for line in crossing.lines), default=OPEN)
        for row in rows[np.isin(rows["kind"], VEHICLES)]:
            speed = elementary.hypot(float(row["vx"]), float(row["vy"]))
            reach = max(speed * until, APPROACH_M)
            for other, at, inside in self._ways(crossing, row, reach):
                if not inside and (speed < AGENT_MOVES or not self._yields(crossing, own_right, other, lights)):
                    continue
                zone = self._zone(crossing, other)
                if zone is not None and not self._gap(zone, at, float(row["length"]), speed, v):
                    return int(row["id"])
        return None

    def _ways(self, crossing: JunctionCrossing, row: np.void, reach: float) -> list[tuple[LaneId, float, bool]]:
        """Lanes in conflict with the car's way that a vehicle is on or comes to within `reach` (m): how far along it is
        (m, negative before the lane), and whether it is on it.
        """
        heading = float(row["heading"])
        position = self._map.project(float(row["x"]), float(row["y"]), heading)
        if position is None or abs(wrap_angle(heading - position.heading)) > AWRY:
            return []
        conflicts = self._conflicts(crossing)
        if position.lane in conflicts:
            return [(position.lane, position.s, True)]
        found, ahead = list[tuple[LaneId, float, bool]](), [(position.lane, -position.s)]
        while ahead:
            lane, begin = ahead.pop()
            end = begin + self._map.lanes[lane].length
            if end < reach and lane not in crossing.lanes:
                following = self._map.lanes[lane].successors
                found += [(each, -end, False) for each in following if each in conflicts]
                ahead += [(each, end) for each in following if self._map.lanes[each].junction is None]
        return found

    def _conflicts(self, crossing: JunctionCrossing) -> frozenset[LaneId]:
        junction = self._map.lanes[crossing.lanes[0]].junction
        assert junction is not None
        conflicts = self._map.junctions[junction].conflicts
        return frozenset(other for lane in crossing.lanes for other in conflicts.get(lane, ())) - set(crossing.lanes)

    def _yields(self, crossing: JunctionCrossing, own_right: int, other: LaneId, lights: dict[int, int]) -> bool:
        """Whether the car has to let those by that come into a lane."""
        lane = self._map.lanes[other]
        before = [each for lane_id in (other, *lane.predecessors) for each in self._map.stop_lines_of(lane_id)]
        theirs = min((_right(line.kind, lights.get(line.signal)) for line in before), default=OPEN)
        if theirs != own_right:
            return theirs > own_right
        own = self._map.lanes[crossing.lanes[0]]
        side = -1.0 if self._map.left_hand else 1.0
        turned = side * wrap_angle(_begin(lane) - _begin(own))
        across = abs(turned) > OPPOSITE and side * _turn(own) > TURN and side * _turn(lane) < TURN
        from_right = FROM_RIGHT[0] < turned < FROM_RIGHT[1]
        return theirs > SHUT and (across or (from_right and not crossing.lines and not before and not crossing.lit))

    def _zone(self, crossing: JunctionCrossing, other: LaneId) -> CrossingStretch | None:
        """Where the car's way meets a lane; None where it does not."""
        key = crossing.s_in, other
        if key not in self._zones:
            self._zones[key] = self._meeting(crossing, self._map.lanes[other])
        return self._zones[key]

    def _meeting(self, crossing: JunctionCrossing, lane: Lane) -> CrossingStretch | None:
        own = np.append(np.arange(crossing.s_in, crossing.s_out, STEP_M), crossing.s_out)
        theirs = np.append(np.arange(0.0, lane.length, STEP_M), lane.length)
        x, y, _ = self._profile.poses_at(own)
        other_x, other_y = (np.interp(theirs, lane.center.s, lane.center.xy[:, axis]) for axis in (0, 1))
        near = np.square(x[:, None] - other_x) + np.square(y[:, None] - other_y) < MEET_M * MEET_M
        if not near.any():
            return None
        mine, others = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
        return CrossingStretch(
            float(own[mine[0]]), float(own[mine[-1]]), float(theirs[others[0]]), float(theirs[others[-1]])
        )

    def _gap(self, zone: CrossingStretch, at: float, length: float, speed: float, v: float) -> bool:
        """Whether car and vehicle keep `GAP_S` apart where their ways meet.

        Args:
            zone: where that is.
            at: where the middle of the vehicle is along its lane, m.
            length: of the vehicle, m.
            speed: of the vehicle, m/s.
            v: of the car, m/s.
        """
        if at - 0.5 * length > zone.other_to:
            return True
        profile, vehicle = self._profile, self._profile.vehicle
        to_zone, through = zone.other_from - at - 0.5 * length, zone.other_to - at + 0.5 * length
        if speed < AGENT_MOVES:
            return to_zone > 0.0
        soonest, latest = _travel_time(max(to_zone, 0.0), speed, SPEEDS_UP, math.inf), through / speed
        own_in = max(zone.own_from - profile.s - vehicle.front, 0.0)
        first = _travel_time(own_in, v, vehicle.max_accel, vehicle.max_speed)
        return soonest > self._clear_s(zone.own_to, v) + GAP_S or latest + GAP_S < first

    def _clear_s(self, s: float, v: float) -> float:
        """How long the car takes from a speed of `v` (m/s) until its tail has left a place of the route (m), s."""
        profile, vehicle = self._profile, self._profile.vehicle
        ahead = (profile.stations >= profile.s) & (profile.stations <= s + 1.0)
        top = float(profile.speed[ahead].min(initial=vehicle.max_speed))
        return _travel_time(s - profile.s + vehicle.rear_overhang, v, OWN_SHARE * vehicle.max_accel, top)


def _travel_time(way: float, v: float, accel: float, top: float) -> float:
    """Time (s) over a way (m) from a speed on, with an acceleration (m/s^2) up to a top speed (m/s)."""
    if way <= 0.0:
        return 0.0
    top = max(top, v, AGENT_MOVES)
    up = (top * top - v * v) / (2.0 * accel)
    if way <= up:
        return (math.sqrt(v * v + 2.0 * accel * way) - v) / accel
    return (top - v) / accel + (way - up) / top


def _right(kind: str, state: int | None) -> int:
    """How much right a way through a junction has behind a line."""
    if kind != "light":
        return SIGNED
    return OPEN if state is None else RIGHT_BY_LIGHT.get(Light(state), OPEN)


def _begin(lane: Lane) -> float:
    return float(lane.center.heading[0])


def _turn(lane: Lane) -> float:
    """How far a lane turns to the left, rad."""
    return wrap_angle(float(lane.center.heading[-1]) - _begin(lane))
