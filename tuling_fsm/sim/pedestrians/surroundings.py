"""What pedestrians heed: crosswalks with their vehicles and lights, and the obstacles that they walk around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance, rotated, to_local
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.map.lanes import Crosswalk, Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

NEAR_CROSSWALK_M = 6.0
KERB_M = 0.7
"""Pedestrians wait this far outside the crosswalk's end."""
LINE_BEFORE_M = 15.0
"""A light whose stop line is this far before a crosswalk holds the vehicles off it."""
CLEARANCE_M = 3.0
COMFORT_DECEL = 2.0
RUNNING = (Light.GREEN, Light.YELLOW, Light.RED_YELLOW)
"""While a light for vehicles shows this, the one for pedestrians is red."""


class CrosswalkSpan(NamedTuple):
    """Where a crosswalk begins and ends, seen across the road (m), and the lights of the vehicles that would cross
    it.
    """

    ends: tuple[tuple[float, float], tuple[float, float]]
    signals: tuple[int, ...] = ()

    def kerb(self, end: int) -> tuple[float, float]:
        """Where pedestrians wait at an end."""
        (x, y), (far_x, far_y) = self.ends[:: 1 if end == 0 else -1]
        length = distance((x, y), (far_x, far_y))
        return x + (x - far_x) / length * KERB_M, y + (y - far_y) / length * KERB_M

    def red(self, lights: Mapping[int, int]) -> bool:
        """Whether pedestrians have red, by the state of each signal."""
        return any(lights.get(number) in RUNNING for number in self.signals)


class CrosswalkAccess(NamedTuple):
    """A crosswalk's end beside a pavement: at `s` of that lane's centre."""

    s: float
    crossing: int
    end: int


def crossing_of(road_map: RoadMap, crosswalk: Crosswalk) -> CrosswalkSpan | None:
    """The line across the road through a crosswalk's middle; None for one that lies on no lane."""
    if not crosswalk.lanes:
        return None
    lane_id, s_from, s_to = crosswalk.lanes[0]
    heading = road_map.lanes[lane_id].center.at(0.5 * (s_from + s_to)).heading
    along, across = rotated(crosswalk.outline, -heading).T
    middle = 0.5 * (along.min() + along.max())
    if across.max() - across.min() < 1.0:
        return None
    right, left = rotated(np.array(((middle, across.min()), (middle, across.max()))), heading)
    signals = {number for lane, start, _ in crosswalk.lanes for number in _lights(road_map, lane, start)}
    return CrosswalkSpan(((float(right[0]), float(right[1])), (float(left[0]), float(left[1]))), tuple(sorted(signals)))


def _lights(road_map: RoadMap, lane_id: LaneId, s: float) -> list[int]:
    """Lights with a stop line shortly before `s` of a lane, across it or a predecessor."""
    stretches = [(lane_id, s)]
    stretches += [(before, s + road_map.lanes[before].length) for before in road_map.lanes[lane_id].predecessors]
    return [
        line.signal
        for lane, at in stretches
        for line in road_map.stop_lines_across(lane)
        if line.kind == "light" and -1.0 < at - road_map.place_of(line)[1] < LINE_BEFORE_M
    ]


def passages(lane: Lane, crossings: Sequence[CrosswalkSpan]) -> tuple[CrosswalkAccess, ...]:
    """The ends of crosswalks that lie beside a pavement."""
    found = []
    for i, crossing in enumerate(crossings):
        for end, (x, y) in enumerate(crossing.ends):
            projection = lane.center.project(x, y)
            if abs(projection.offset) < NEAR_CROSSWALK_M and 0.0 < projection.s < lane.length:
                found.append(CrosswalkAccess(projection.s, i, end))
    return tuple(found)


def safe(crossing: CrosswalkSpan, vehicles: FloatArray, safe_time: float) -> bool:
    """Whether no vehicle (N, 6: x, y, heading, length, width, speed) is on the crosswalk or could be there within
    `safe_time` (s), or could not stop before it.
    """
    if len(vehicles) == 0:
        return True
    a, b = np.array(crossing.ends[0]), np.array(crossing.ends[1])
    half = 0.5 * distance(a, b)
    dx, dy = (0.5 * (a + b))[:, None] - vehicles[:, :2].T
    s, c = elementwise.sin_cos(vehicles[:, 2])
    along, across = c * dx + s * dy, np.abs(c * dy - s * dx)
    way = along - 0.5 * vehicles[:, 3] - CLEARANCE_M
    v = vehicles[:, 5]
    on_it = elementwise.hypot(dx, dy) < half + CLEARANCE_M
    soon = (
        (along > -CLEARANCE_M) & (across < half + CLEARANCE_M) & (way < v * safe_time + v * v / (2.0 * COMFORT_DECEL))
    )
    return not bool(np.any((v > AGENT_STANDS) & (on_it | soon)))


WATCH_M = 12.0
"""What is farther away than this is in the way of no pedestrian."""


class PedestrianObstacles:
    """The solid objects of a map, and with them the vehicles of a frame."""

    def __init__(self, road_map: RoadMap) -> None:
        self._solid = [_counterclockwise(each.outline[:, :2]) for each in road_map.objects if each.solid]
        self._at = np.array([np.mean(outline, axis=0) for outline in self._solid]).reshape(-1, 2)
        self._reach = np.array(
            [elementwise.hypot(*(outline - at).T).max() for outline, at in zip(self._solid, self._at, strict=True)]
        )

    def near(self, places: FloatArray, vehicles: FloatArray) -> list[FloatArray]:
        """Outlines (K, 2), counterclockwise, of what is near any of the places (N, 2), of vehicles (M, >= 5: x, y,
        heading, length, width) first.
        """
        reach = 0.5 * elementwise.hypot(vehicles[:, 3], vehicles[:, 4])
        boxes = vehicles[_apart(places, vehicles) < WATCH_M + reach]
        solid = np.flatnonzero(_apart(places, self._at) < WATCH_M + self._reach)
        return [outline_of(row) for row in boxes] + [self._solid[k] for k in solid]


@array_kernel
def _apart(places: FloatArray, others: FloatArray) -> FloatArray:
    """Distance of each of the others (M, >= 2) from the nearest place, m."""
    apart = np.full(len(others), np.inf)
    for k in range(len(others)):
        for i in range(len(places)):
            apart[k] = min(apart[k], elementary.hypot(places[i, 0] - others[k, 0], places[i, 1] - others[k, 1]))
    return apart


def outline_of(vehicle: FloatArray) -> FloatArray:
    """Corners (4, 2) of a box, counterclockwise."""
    x, y, heading, length, width = vehicle[:5].tolist()
    s, c = elementary.sin_cos(heading)
    ax, ay, lx, ly = 0.5 * length * c, 0.5 * length * s, -0.5 * width * s, 0.5 * width * c
    return np.array(
        [(x - ax - lx, y - ay - ly), (x + ax - lx, y + ay - ly), (x + ax + lx, y + ay + ly), (x - ax + lx, y - ay + ly)]
    )


def _counterclockwise(outline: FloatArray) -> FloatArray:
    """A ring of distinct points in that sense."""
    ring = outline[elementwise.hypot(*(outline - np.roll(outline, 1, axis=0)).T) > 1e-6]
    x, y = ring.T
    area = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return np.ascontiguousarray(ring if area >= 0.0 else ring[::-1])


def way_around(pose: Pose, heading: float, obstacles: Sequence[FloatArray], reach: float, radius: float) -> float:
    """How far a pedestrian of a radius (m) on a heading has to go aside (m, + left) to get clear of the first thing
    within `reach` (m); 0 where nothing is in the way.
    """
    eye, way = pose._replace(heading=heading), 0.0
    for outline in obstacles:
        ahead, beside = to_local(outline, eye).T
        apart = float(max(ahead.min(), 0.0))
        if ahead.max() > 0.0 and apart < reach and beside.min() < radius and beside.max() > -radius:
            over_left, over_right = float(beside.max()) + 2.0 * radius, float(beside.min()) - 2.0 * radius
            reach, way = apart, over_left if over_left <= -over_right else over_right
    return way
