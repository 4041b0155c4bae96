"""Persons for a baseline: those on the lane ahead or on a crosswalk, or about to step there, are waited for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.standing import PEDESTRIAN_STANDS
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.baselines.route_agents import RouteAgents, RouteObstacle
from tuling_fsm.sim.baselines.route_profile import RouteProfile
from tuling_fsm.world.inputs import Kind

PERSONS = (Kind.PEDESTRIAN, Kind.BICYCLE, Kind.ANIMAL)
REACH_M = 45.0
SIDE_ROOM_M = 0.5
"""Persons are passed at this distance at least."""
LEAST_S, MARGIN_S, MOST_S = 1.5, 1.5, 5.0
"""A person is waited for that at constant velocity is on the car's way until the car is past, and this much longer."""
WALKING_PACE = 1.0
"""A car that is slower counts as this fast where it is asked when it comes, m/s."""
BEFORE_CROSSWALK_M, BEFORE_PERSON_M = 1.0, 2.0
"""The bumper stops this far before."""
AT_CROSSWALK_M = 1.0
"""A person this near beside a crosswalk uses it."""


class CrosswalkStretch(NamedTuple):
    """The stretch of the route that a crosswalk covers, m."""

    s_from: float
    s_to: float


class PedestrianRules:
    """Keeps nothing from tick to tick."""

    def __init__(self, road_map: RoadMap, profile: RouteProfile) -> None:
        self._profile = profile
        self.crosswalks = tuple(
            CrosswalkStretch(stretch.s_from + start - stretch.lane_from, stretch.s_from + end - stretch.lane_from)
            for stretch in profile.route.lanes
            for _, start, end in road_map.crosswalks_of(stretch.lane)
            if start < stretch.lane_to and end > stretch.lane_from
        )

    def obstacles(self, agents: RouteAgents, v: float) -> list[RouteObstacle]:
        """Where to wait for which person, at a speed of `v` (m/s)."""
        front = self._profile.s + self._profile.vehicle.front
        gap = agents.s - agents.half_along - front
        person = np.isin(agents.rows["kind"], PERSONS) & (gap > -agents.half_along) & (gap < REACH_M)
        found = list[RouteObstacle]()
        for i in np.flatnonzero(person & self._in_way(agents, gap, v)).tolist():
            room = self._stop_before(float(agents.s[i]), float(agents.half_along[i]), front)
            if room is not None:
                limit = Limit(Reason.PEDESTRIAN, max(float(gap[i]), 0.0), blocker=int(agents.rows["id"][i]))
                found.append(RouteObstacle(room, 0.0, limit))
        return found

    def _in_way(self, agents: RouteAgents, gap: FloatArray, v: float) -> BoolArray:
        """Persons on the car's way at some time from now until it is past; one that walks along it is followed."""
        until = np.clip(np.maximum(gap, 0.0) / max(v, WALKING_PACE) + MARGIN_S, LEAST_S, MOST_S)
        later = agents.offset + agents.v_aside * until
        reach = 0.5 * self._profile.vehicle.width + agents.half_aside + SIDE_ROOM_M
        meets = (np.minimum(agents.offset, later) < reach) & (np.maximum(agents.offset, later) > -reach)
        walks_along = (np.abs(agents.v_aside) < PEDESTRIAN_STANDS) & (agents.v_along > PEDESTRIAN_STANDS)
        return np.asarray(meets & ~walks_along)

    def _stop_before(self, s: float, half: float, front: float) -> float | None:
        """Room up to where to wait for a person at `s` (m): the crosswalk, or the person; None where it is past."""
        for crosswalk in self.crosswalks:
            room = crosswalk.s_from - BEFORE_CROSSWALK_M - front
            if crosswalk.s_from - AT_CROSSWALK_M < s < crosswalk.s_to + AT_CROSSWALK_M and room > -BEFORE_CROSSWALK_M:
                return room
        room = s - half - BEFORE_PERSON_M - front
        return room if room > -BEFORE_PERSON_M - half else None
