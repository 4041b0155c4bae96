"""What the states of `parking` remember."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.request import Hold
from tuling_fsm.map.parking import SAME_BAY_M
from tuling_fsm.world.mission import Mission

BESIDE_M = 8.0
"""A lane of the other direction lies no farther from the car than this."""


class TargetSlot(NamedTuple):
    """A slot to park in: the pose of its middle, heading out towards the aisle, length and width (m)."""

    name: str
    pose: Pose
    length: float
    width: float

    def is_at(self, x: float, y: float) -> bool:
        """Whether a place (m) is the middle of this slot."""
        return distance(self.pose, (x, y)) < SAME_BAY_M


@dataclass(frozen=True)
class SlotSearch:
    """What the search has come to, kept while the mission and the parking area stay the same.

    `driven` are roads and lane sections of aisles that have been looked at. While another route is asked for
    (`asking`), the question is for one from `start` to `goal`; later questions are for the same goal.
    """

    area: int = -1
    mission_stamp: float | None = None
    passes: int = 0
    preset: int = 0
    """Preset routes used so far."""
    barred: tuple[TargetSlot, ...] = ()
    taken: tuple[tuple[TargetSlot, float], ...] = ()
    """Those of them that were taken, and since when they have been seen free (s, active clock; infinite: not yet)."""
    freed: tuple[TargetSlot, ...] = ()
    """Those that are not barred any more as they have become free. One that then turns out taken again stays barred."""
    driven: tuple[tuple[str, int], ...] = ()
    asking: bool = False
    stuck: bool = False
    """There is no other route, from nowhere."""
    start: Pose | None = None
    goal: Pose | None = None


@dataclass(frozen=True)
class ParkingMemory:
    """Memory of the composite. Times are on the active clock (s)."""

    round: SlotSearch = field(default_factory=SlotSearch)
    trying: TargetSlot | None = None
    """A path into it is being probed."""
    tried_at: float = -math.inf
    failed: tuple[tuple[TargetSlot, float], ...] = ()
    """Slots into which there was no path, and when that was found."""
    found: TargetSlot | None = None
    """A free one with a path into it."""
    off_route_since: float | None = None
    turning_since: float | None = None
    """The car is maneuverd back onto its route."""
    lost_since: float | None = None
    """Since when the search has gone without localization."""
    entry: TargetSlot | None = None
    """The slot that is being entered (PRK-3)."""
    entry_edges: FloatArray = field(default_factory=lambda: np.zeros((0, 4)), compare=False)
    """The edges of the aisles about it (M, 4), as they were when that began."""
    entry_fault: str = ""
    """Why it cannot be, as far as that shows."""
    person_since: float | None = None
    """Since when somebody is in it, or before its mouth."""
    person_at: float = -math.inf
    """When somebody was last seen there."""
    rest: Hold | None = None
    """Why the car is parked."""

    def search_start(self, pose: Pose) -> Pose:
        """From where a route is asked for: beside the car, where it is to turn round."""
        start = self.round.start
        near = start is not None and elementary.hypot(start.x - pose.x, start.y - pose.y) <= BESIDE_M
        return start if start is not None and near else pose

    def search_goal(self, mission: Mission | None) -> Pose | None:
        """Where the search leads next, instead of to the mission's end; None where it is not this mission's.

        That is the mission in memory: when it is sent again, the World's has another stamp. Without a mission the goal
        counts only while a route to it is asked for: the route in use is all there is, and may be pushed elsewhere.
        """
        if mission is None and not self.round.asking:
            return None
        stamp = None if mission is None else mission.stamp
        return self.round.goal if self.round.mission_stamp == stamp else None
