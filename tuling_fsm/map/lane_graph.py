"""Where a car can go from a lane: on into the next ones, or sideways where the mark between may be crossed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import runs
from tuling_fsm.map.free_width import crossable_at
from tuling_fsm.map.lanes import DRIVING, Lane, LaneId

MIN_WIDTH_M = 2.2
"""A lane narrower than this is not driven."""

TURN_WINDOW_M = 3.0
"""Bends are judged by how far a lane turns within this length, m."""

TIGHT_TURN = 1.2
"""A lane that turns by more than this (rad) within the window cannot be followed without reversing: its radius is
2.5 m.
"""


class LaneChange(NamedTuple):
    """A lane that may be entered sideways, from `start` to `end` along the lane that is left (m)."""

    lane: LaneId
    start: float
    end: float
    aside: float
    """How far apart the centres of both lanes are on that stretch, at most, m."""


@dataclass(frozen=True)
class LaneGraph:
    """Every lane that a route may run on, with what can be reached from it and how far it turns within the window
    at most. The changes to one neighbour come longest stretch first.
    """

    successors: Mapping[LaneId, tuple[LaneId, ...]]
    changes: Mapping[LaneId, tuple[LaneChange, ...]]
    turn: Mapping[LaneId, float]

    def __contains__(self, lane_id: LaneId) -> bool:
        return lane_id in self.successors

    def tight(self, lane_id: LaneId) -> bool:
        """Whether the lane can only be followed with reversing."""
        return self.turn[lane_id] > TIGHT_TURN

    def windows(self, lane_id: LaneId, beside: LaneId) -> tuple[LaneChange, ...]:
        """Where a lane may be left for its neighbour, longest stretch first."""
        return tuple(change for change in self.changes.get(lane_id, ()) if change.lane == beside)


def build_graph(lanes: Mapping[LaneId, Lane]) -> LaneGraph:
    """The graph of all driving lanes that are wide enough somewhere (lanes may open and close)."""
    nodes = [lane for lane in lanes.values() if _drivable(lane)]
    known = {lane.id for lane in nodes}
    return LaneGraph(
        successors={lane.id: tuple(n for n in lane.successors if n in known) for lane in nodes},
        changes={lane.id: _changes(lane, lanes, known) for lane in nodes},
        turn={lane.id: _turn_in_window(lane) for lane in nodes},
    )


def _drivable(lane: Lane) -> bool:
    return lane.type == DRIVING and float(np.max(lane.left + lane.right)) >= MIN_WIDTH_M


def _changes(lane: Lane, lanes: Mapping[LaneId, Lane], known: set[LaneId]) -> tuple[LaneChange, ...]:
    return tuple(change for n in beside(lane) if n in known for change in _changes_to(lane, lanes[n]))


def _changes_to(lane: Lane, other: Lane) -> list[LaneChange]:
    """The stretches of a lane on which the mark may be crossed and both lanes are wide enough, longest first."""
    to_left = other.id == lane.left_neighbour
    s = lane.center.s
    may = crossable_at(lane.left_marks if to_left else lane.right_marks, s)
    may &= (lane.left + lane.right >= MIN_WIDTH_M) & (other.left + other.right >= MIN_WIDTH_M)
    aside = lane.left + other.right if to_left else lane.right + other.left
    stretches = [LaneChange(other.id, float(s[a]), float(s[b - 1]), float(aside[a:b].max())) for a, b in runs(may)]
    return sorted(stretches, key=lambda stretch: stretch.start - stretch.end)


def _turn_in_window(lane: Lane) -> float:
    s, heading = lane.center.s, lane.center.heading
    later = np.interp(np.minimum(s + TURN_WINDOW_M, s[-1]), s, heading)
    return float(np.max(np.abs(later - heading)))


def beside(lane: Lane) -> tuple[LaneId, ...]:
    """The neighbours of a lane in its direction of travel, left one first."""
    return tuple(n for n in (lane.left_neighbour, lane.right_neighbour) if n is not None)
