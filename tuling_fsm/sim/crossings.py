"""Crosswalks as pedestrians see them: where to wait, when it is safe, and what the light says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import FloatArray, distance, rotated
from tuling_fsm.map.lanes import Crosswalk, Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

NEAR_CROSSWALK_M = 6.0
KERB_M = 0.7
"""One waits this far outside the crosswalk's end."""
LINE_BEFORE_M = 15.0
"""A light whose stop line is this far before a crosswalk holds the vehicles off it."""
CLEARANCE_M = 3.0
COMFORT_DECEL = 2.0
RUNNING = (Light.GREEN, Light.YELLOW, Light.RED_YELLOW)
"""While a light for vehicles shows this, the one for pedestrians is red."""


class Crossing(NamedTuple):
    """Where a crosswalk begins and ends, seen across the road (m), and the lights of the vehicles that would cross
    it.
    """

    ends: tuple[tuple[float, float], tuple[float, float]]
    signals: tuple[int, ...] = ()

    def kerb(self, end: int) -> tuple[float, float]:
        """Where one waits at an end."""
        (x, y), (far_x, far_y) = self.ends[:: 1 if end == 0 else -1]
        length = distance((x, y), (far_x, far_y))
        return x + (x - far_x) / length * KERB_M, y + (y - far_y) / length * KERB_M

    def red(self, lights: Mapping[int, int]) -> bool:
        """Whether pedestrians have red, by the state of each signal."""
        return any(lights.get(number) in RUNNING for number in self.signals)


class Passage(NamedTuple):
    """A crosswalk's end beside a pavement: at `s` of that lane's centre."""

    s: float
    crossing: int
    end: int


def crossing_of(road_map: RoadMap, crosswalk: Crosswalk) -> Crossing | None:
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
    return Crossing(((float(right[0]), float(right[1])), (float(left[0]), float(left[1]))), tuple(sorted(signals)))


def _lights(road_map: RoadMap, lane_id: LaneId, s: float) -> list[int]:
    """Lights whose stop lines lie shortly before `s` of a lane, on it or on those that lead into it."""
    stretches = [(lane_id, s)]
    stretches += [(before, s + road_map.lanes[before].length) for before in road_map.lanes[lane_id].predecessors]
    return [
        line.signal
        for lane, at in stretches
        for line in road_map.stop_lines_of(lane)
        if line.kind == "light" and -1.0 < at - line.s < LINE_BEFORE_M
    ]


def passages(lane: Lane, crossings: Sequence[Crossing]) -> tuple[Passage, ...]:
    """The ends of crosswalks that lie beside a pavement."""
    found = []
    for i, crossing in enumerate(crossings):
        for end, (x, y) in enumerate(crossing.ends):
            projection = lane.center.project(x, y)
            if abs(projection.offset) < NEAR_CROSSWALK_M and 0.0 < projection.s < lane.length:
                found.append(Passage(projection.s, i, end))
    return tuple(found)


def safe(crossing: Crossing, vehicles: FloatArray, safe_time: float) -> bool:
    """Whether no vehicle (N, 6: x, y, heading, length, width, speed) is on the crosswalk or could be there within
    `safe_time` (s), or could not stop before it.
    """
    if len(vehicles) == 0:
        return True
    a, b = np.array(crossing.ends[0]), np.array(crossing.ends[1])
    half = 0.5 * distance(a, b)
    dx, dy = (0.5 * (a + b))[:, None] - vehicles[:, :2].T
    c, s = elementwise.cos(vehicles[:, 2]), elementwise.sin(vehicles[:, 2])
    along, across = c * dx + s * dy, np.abs(c * dy - s * dx)
    way = along - 0.5 * vehicles[:, 3] - CLEARANCE_M
    v = vehicles[:, 5]
    on_it = elementwise.hypot(dx, dy) < half + CLEARANCE_M
    soon = (
        (along > -CLEARANCE_M) & (across < half + CLEARANCE_M) & (way < v * safe_time + v * v / (2.0 * COMFORT_DECEL))
    )
    return not bool(np.any((v > 0.3) & (on_it | soon)))
