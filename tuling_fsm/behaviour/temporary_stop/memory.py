"""What is remembered of a stop at the roadside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tuling_fsm.behaviour.mission.memory import MissionGoal
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.world.mission import MissionSlot


class RoadsideSlot(NamedTuple):
    """A slot, and where the rear axle is when the car stands in its middle, in the direction of the lane."""

    slot: MissionSlot
    goal: Pose


@dataclass(frozen=True)
class TemporaryStop:
    """The stop that is made or was made last."""

    goal: MissionGoal = field(default_factory=MissionGoal)
    roadside_slots: tuple[RoadsideSlot, ...] = ()
    """All slots of the point, the nearest to it first."""
    taken_since: tuple[float | None, ...] = ()
    """For every one since when it has not been free (s), None while it is."""
    failing_since: float | None = None
    """Since when there has been no plan, s."""
    edges: bool = True
    """The edges of the road hold; they are given up where a slot lies beyond them and there is no plan within them."""
    waiting: bool = False
    """All slots are taken, or there is no plan: the car waits (TMP-3)."""
    places: tuple[Pose, ...] = ()
    """Where the rear axle is when the car disturbs least, the nearest first."""
    settled: bool = False
    """It is at one of them, or there is no way to any."""
    waited_s: float = 0.0
    """How long it has stood there."""
    usable: tuple[int, ...] = ()
    """Numbers of the slots that were free when the waiting began."""
    reason: Reason = Reason.GOAL_OCCUPIED
    """Why it waits: every slot is taken, or else why there is no plan into one that is free (USE-7)."""
    failed: bool = False
    """The attempt is over without a stop."""
    stood_s: float = 0.0
    """How long the car has stood in the slot."""
    done: bool = False
    """The passenger has got on or off."""
