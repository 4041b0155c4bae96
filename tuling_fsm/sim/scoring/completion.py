"""How much of its task a run has done, route or services, and when it is over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from shapely import STRtree
from shapely.geometry import Polygon

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance, shifted
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId, ParkingSlot
from tuling_fsm.map.parking import GivenSlot, given_slots
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.actors.agent_states import EgoState
from tuling_fsm.sim.initial_state import distance_to_goal
from tuling_fsm.sim.parameters import EndParameters
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.scoring.agent_tracks import same_way

PARKED_M = 0.3
"""A car is inside a slot when no corner is farther outside than this (TMP-2)."""
PARKED_S = 1.0
"""A car that has parked stands for so much longer than one at its goal: between two gears it may stand for a moment."""
MISSION_S = 3600.0
BESIDE_M = 2.0
LOOK_BACK_M, LOOK_AHEAD_M = 10.0, 30.0
LEFT_M = 25.0
"""A car this far from the route goes another way from then on (RPL-2), and has arrived when it stands at the goal."""
CLOSED_AHEAD_M, CLOSED_ASIDE_M = 120.0, 1.0
"""The route is closed where something that stands reaches so near to its middle, no farther ahead than this."""


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


class GoalEnd(NamedTuple):
    """Where a run ends that is not over in a parking slot: a pose in a lane, and how much longer than at the end of a
    route the car stands there, s.
    """

    pose: Pose
    wait: float = 0.0


class EndConditions:
    """Watches for the goal, the parked car, the time limit and the collision; all by where the car stands."""

    def __init__(
        self,
        route: Route | None,
        limit: float,
        vehicle: Vehicle,
        parameters: EndParameters,
        standing: float,
        slots: Sequence[ParkingSlot] = (),
        goal: GoalEnd | None = None,
    ) -> None:
        """`slots` are those in which a run may end, `goal` where a mission ends instead: see `final_slots` and
        `mission_goal`. With a route that is its end.
        """
        self.end: str | None = None
        self._route = route
        self.goal = goal if route is None else GoalEnd(route.reference.at(route.length))
        self._vehicle = vehicle
        self._p = parameters
        self._standing = standing
        self._there = 0.0
        self._reached = 0.0
        self._astray = 0.0
        """How far the car has driven beside the route since it was last on it, m."""
        self._left = False
        self._goes_round = False
        """Whether the route was closed ahead when the car left it."""
        self._limit = limit
        outlines = [Polygon(slot.outline) for slot in slots]
        self._slots = [outline.buffer(PARKED_M) for outline in outlines if outline.is_valid]
        self._tree = STRtree(self._slots)
        self._parked = 0.0
        self._began_in: frozenset[int] | None = None

    @property
    def completion(self) -> float:
        """Share of the route that is behind the ego, 0 to 1; another way to the goal counts as the route only
        where that was closed. Of a mission: whether its end was reached.
        """
        if self._route is None:
            return 1.0 if self.end in ("goal", "parked") else 0.0
        arrived = self.end == "goal" and (self._goes_round or not self._left)
        return 1.0 if arrived else min(self._reached / self._route.length, 1.0)

    def is_closed(self, standing: FloatArray) -> bool:
        """Whether the route cannot be driven on: what stands, boxes as of `AgentBoxes` (N, 7), is in its way ahead."""
        if self._route is None:
            return False
        for x, y, *_, width, _ in standing.tolist():
            place = self._route.reference.project(x, y, self._reached, self._reached + CLOSED_AHEAD_M)
            near = distance(self._route.reference.at(place.s)[:2], (x, y))
            if near < CLOSED_ASIDE_M + 0.5 * width and place.s < self._reached + CLOSED_AHEAD_M:
                return True
        return False

    def watch(self, stamp: float, dt: float, ego: EgoState, collided: bool, standing: FloatArray) -> None:
        """Judge one frame: its time and length, s, and what stands, boxes as of `AgentBoxes` (N, 7)."""
        if self._route is not None:
            self._follow(self._route, dt, ego, standing)
        stands = abs(ego.v) < self._standing
        self._there = self._there + dt if stands and self._at_goal(ego) else 0.0
        in_slot = (stands or self._began_in != frozenset()) and bool(self._slots_around(ego))
        self._parked = self._parked + dt if stands and in_slot else 0.0
        if collided:
            self.end = "collision"
        elif self.goal is not None and self._there >= self._p.goal_time + self.goal.wait - 1e-9:
            self.end = "goal"
        elif self._parked >= self._p.goal_time + PARKED_S - 1e-9:
            self.end = "parked"
        elif stamp >= self._limit:
            self.end = "time"

    def _follow(self, route: Route, dt: float, ego: EgoState, standing: FloatArray) -> None:
        """How far along the route the car is, and whether it has left it. It may have come as far on along it as it has
        driven beside it.
        """
        ahead = self._reached + LOOK_AHEAD_M
        seen = route.reference.project(ego.pose.x, ego.pose.y, self._reached - LOOK_BACK_M, ahead + self._astray)
        lane = route.lanes[route.index_at(seen.s)].lane
        beside = ego.position is not None and _same_side(ego.position.lane, lane)
        follows = same_way(ego.pose.heading, seen.heading) and (beside or ego.position is None)
        if beside or (abs(seen.offset) < LOOK_BACK_M and (seen.s <= ahead or follows)):
            self._reached, self._astray = max(self._reached, seen.s), 0.0
            return
        if abs(seen.offset) > LEFT_M and not self._left:
            self._left, self._goes_round = True, self.is_closed(standing)
        self._astray = 0.0 if self._left else self._astray + abs(ego.v) * dt

    def _slots_around(self, ego: EgoState) -> frozenset[int]:
        """Slots that the whole car is inside of, but for the one in which the run began until it has left that."""
        body = Polygon(self._vehicle.footprint(ego.pose))
        inside = frozenset(int(i) for i in self._tree.query(body, "within"))
        began_in = inside if self._began_in is None else self._began_in & inside
        self._began_in = began_in
        return inside - began_in

    def _at_goal(self, ego: EgoState) -> bool:
        """Whether the car stands at its goal: some part between its rear axle and front bumper near it, or just past
        it; on a route only at the end of that.
        """
        if self.goal is None:
            return False
        last_stretch = self._vehicle.front + 2.0 * self._p.goal_distance
        if self._route is not None and not self._left and self._reached < self._route.length - last_stretch:
            return False
        past, beside = distance_to_goal(self.goal.pose, ego.pose)
        return -self._vehicle.front - self._p.goal_distance <= past <= self._p.overshoot and abs(beside) <= BESIDE_M


def _same_side(lane: LaneId, other: LaneId) -> bool:
    """Whether two lanes are side by side in one direction: of one section of a road, on one side of its middle."""
    return lane[:2] == other[:2] and lane.lane * other.lane > 0


def car_park_slots(road_map: RoadMap, mission: Mapping[str, Any]) -> tuple[ParkingSlot, ...]:
    """The slots of a mission's car park that the map does not have."""
    boxes = (mission.get("car_park") or {}).get("slots", ())
    given = [GivenSlot(Pose(box["x"], box["y"], box["heading"]), box["length"], box["width"]) for box in boxes]
    return given_slots(road_map, given)


def final_slots(road_map: RoadMap, mission: Mapping[str, Any]) -> tuple[ParkingSlot, ...]:
    """The parking slots of the map and of a mission's car park that are not those of its points: in these a car only
    stops.
    """
    known = (*road_map.slots, *car_park_slots(road_map, mission))
    boxes = [_slots(task[name], road_map) for task in mission.get("tasks", ()) for name in POINTS]
    return tuple(slot for slot in known if not any(_inside(box, *slot.pose[:2]) for box in boxes))


def mission_goal(road_map: RoadMap, mission: Mapping[str, Any]) -> GoalEnd | None:
    """The goal of a mission, in the lane nearest to it; None where it has none, or tasks and a car park to end in.

    With tasks the car waits longer there than for a passenger, who may get on or off at the same place.
    """
    point, tasks = mission.get("goal"), mission.get("tasks")
    if not point or (tasks and mission.get("car_park")):
        return None
    x, y, heading = float(point["x"]), float(point["y"]), point.get("heading")
    lane = road_map.project(x, y, heading, radius=NEAR_M)
    nearest = Pose(x, y, float(heading or 0.0)) if lane is None else road_map.lanes[lane.lane].center.at(lane.s)
    return GoalEnd(nearest, STOP_S if tasks else 0.0)


STOP_S = 10.0
"""A passenger needs this long to get on or off, s."""
NEAR_M = 30.0
"""Spaces of the map this near to a point are its slots."""
AT_POINT_M = 5.0
"""Where there are none, the car stops this near to it."""
POINTS = ("pickup", "dropoff")


class Services:
    """Watches one car that serves a mission's tasks, one passenger at a time.

    Args:
        mission: as on the topic `mission`.
        road_map: its parking spaces are slots of the points near them.
        vehicle: the car.
    """

    def __init__(self, mission: Mapping[str, Any], road_map: RoadMap, vehicle: Vehicle) -> None:
        self._boxes = [[_slots(task[name], road_map) for name in POINTS] for task in mission.get("tasks", ())]
        self._vehicle = vehicle
        self._served = [0] * len(self._boxes)
        """Of every task: points served, in their order."""
        self._aboard: int | None = None
        self._stood = 0.0

    @property
    def count(self) -> int:
        """Pick-up and drop-off pairs that have been served."""
        return sum(served == len(POINTS) for served in self._served)

    @property
    def stops(self) -> int:
        """Pick-ups and drop-offs that have been served."""
        return sum(self._served)

    @property
    def served(self) -> tuple[int, ...]:
        """Of every task: how many of its points have been served, in their order."""
        return tuple(self._served)

    @property
    def wanted_stops(self) -> int:
        """All that the mission has."""
        return len(POINTS) * len(self._boxes)

    def watch(self, dt: float, pose: Pose, v: float) -> None:
        """Look at one frame of `dt` (s): the car's rear axle and its speed (m/s)."""
        if abs(v) >= VEHICLE_STANDS:
            self._stood = 0.0
            return
        before, self._stood = self._stood, self._stood + dt
        if before < STOP_S - 1e-6 <= self._stood:
            self._stop(pose)

    def _stop(self, pose: Pose) -> None:
        x, y, _ = shifted(pose, center_ahead(self._vehicle))
        waiting = [i for i, served in enumerate(self._served) if served == 0]
        for task in waiting if self._aboard is None else [self._aboard]:
            if _inside(self._boxes[task][self._served[task]], x, y):
                self._served[task] += 1
                self._aboard = task if self._served[task] < len(POINTS) else None
                return


def _slots(point: Mapping[str, Any], road_map: RoadMap) -> FloatArray:
    """The slots of a point as rows x, y, heading, length, width (N, 5)."""
    x, y = float(point["x"]), float(point["y"])
    if point.get("slots"):
        rows: Sequence[Sequence[float]] = [
            [slot[key] for key in ("x", "y", "heading", "length", "width")] for slot in point["slots"]
        ]
        return np.array(rows, dtype=np.float64)
    near = [slot for slot in road_map.slots if distance(slot.pose[:2], (x, y)) <= NEAR_M]
    if near:
        return np.array([(*slot.pose, slot.length, slot.width) for slot in near])
    return np.array(((x, y, 0.0, 2.0 * AT_POINT_M, 2.0 * AT_POINT_M),))


def _inside(slots: FloatArray, x: float, y: float) -> bool:
    dx, dy, (s, c) = x - slots[:, 0], y - slots[:, 1], elementwise.sin_cos(slots[:, 2])
    along, across = np.abs(c * dx + s * dy), np.abs(c * dy - s * dx)
    return bool(np.any((along <= 0.5 * slots[:, 3]) & (across <= 0.5 * slots[:, 4])))
