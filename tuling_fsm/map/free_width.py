"""How far a car in a lane may use the road to either side: up to the next line that may not be crossed (NOR-6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.map.lanes import SURFACE, Lane, LaneId, LaneMark


def free_widths(lanes: Mapping[LaneId, Lane], lane_id: LaneId) -> tuple[FloatArray, FloatArray]:
    """Distances (m) from the lane's centre to the next line on the left and right that holds, at each of its samples.

    Lanes of the other direction and whatever is no surface for wheels are never free.
    """
    lane = lanes[lane_id]
    return _free(lanes, lane, left=True), _free(lanes, lane, left=False)


def is_within(lanes: Mapping[LaneId, Lane], lane_id: LaneId, x: float, y: float) -> bool:
    """Whether a point (m) lies beside the lane's centre, and no farther off than a car in the lane may use the road."""
    center = lanes[lane_id].center
    place = center.project(x, y)
    left, right = (float(np.interp(place.s, center.s, free)) for free in free_widths(lanes, lane_id))
    return 0.0 < place.s < center.length and -right <= place.offset <= left


def _free(lanes: Mapping[LaneId, Lane], lane: Lane, left: bool) -> FloatArray:
    free = (lane.left if left else lane.right).copy()
    open_at = np.ones(len(free), dtype=np.bool_)
    current = lane
    while True:
        marks, beyond_id = (
            (current.left_marks, current.left_neighbour) if left else (current.right_marks, current.right_neighbour)
        )
        beyond = None if beyond_id is None else lanes[beyond_id]
        if beyond is None or beyond.type not in SURFACE:
            return free
        open_at &= crossable_at(marks, current.center.s)
        if not open_at.any():
            return free
        free += np.where(open_at, beyond.left + beyond.right, 0.0)
        current = beyond


def crossable_at(marks: tuple[LaneMark, ...], s: FloatArray) -> BoolArray:
    """Whether the line may be crossed at each arc length of its lane."""
    may = np.zeros(len(s), dtype=np.bool_)
    for mark in marks:
        if mark.crossable:
            may |= mark.is_at(s)
    return may
