"""What a referee looks at in a frame, and where it writes down what it finds: one record for each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.sim.actors.agent_states import AgentBoxes, EgoState
from tuling_fsm.sim.scoring.score import Infraction

PUT_M = 2.0
"""A car that is farther from where it was than it can have driven, by this, was put there."""


class RefereeFrame(NamedTuple):
    """The truth of one frame: its time and length (s), the car, the corners (4, 2) of its footprint (m), all other
    agents, states of lights by signal number, and lanes of the car's route (empty: it has none).
    """

    stamp: float
    dt: float
    ego: EgoState
    corners: FloatArray
    agents: AgentBoxes
    lights: Mapping[int, int]
    route_lanes: frozenset[LaneId]

    def drove_from(self, last: Pose | None) -> bool:
        """Whether the car has come by itself from where it was a frame before, if it was anywhere."""
        return last is not None and distance(last[:2], self.ego.pose[:2]) <= abs(self.ego.v) * self.dt + PUT_M


class InfractionLog:
    """Records in the order in which they were found.

    Args:
        release: an event must be over for so long before it counts again, s.
    """

    def __init__(self, release: float) -> None:
        self.infractions: list[Infraction] = []
        self._release = release
        self._last_seen: dict[str, float] = {}
        self._since: dict[str, float] = {}

    def note(self, stamp: float, key: str, kind: str, detail: str, at_fault: bool = True) -> None:
        """Write an event down unless it is the one that goes on already."""
        last = self._last_seen.get(key)
        self._last_seen[key] = stamp
        if last is None or stamp - last > self._release:
            self.infractions.append(Infraction(round(stamp, 3), kind, detail, at_fault))

    def lasting(self, stamp: float, key: str, holds: bool, enough: float) -> bool:
        """Whether something has held for long enough (s) to count."""
        if not holds:
            self._since.pop(key, None)
            return False
        return stamp - self._since.setdefault(key, stamp) >= enough
