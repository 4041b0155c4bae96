"""What is remembered of the mission: frozen values that are replaced, never changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.world.mission import Mission, MissionPoint, Task


class TaskStatus(str, Enum):
    """How far a task has come."""

    OPEN = "open"
    ABOARD = "aboard"
    SERVED = "served"
    DROPPED = "dropped"
    UNDELIVERED = "undelivered"
    """The drop-off has been given up, and the passenger is aboard still (TMP-3)."""


class GoalKind(str, Enum):
    """What the car is on its way to."""

    NOTHING = "nothing"
    UNDECIDED = "undecided"
    """The next aim is being chosen (PUD-1)."""
    PICKUP = "pick-up"
    DROPOFF = "drop-off"
    CAR_PARK = "car park"
    GOAL = "goal"


@dataclass(frozen=True)
class TaskEntry:
    """A task, and how far it has come."""

    task: Task
    status: TaskStatus = TaskStatus.OPEN


@dataclass(frozen=True)
class MissionGoal:
    """What the car is on its way to: the place, and the number of the task's entry for a pick-up or drop-off."""

    kind: GoalKind = GoalKind.NOTHING
    point: MissionPoint | None = None
    entry: int = -1

    @property
    def is_stop(self) -> bool:
        """Whether it ends with a stop at the roadside."""
        return self.kind in (GoalKind.PICKUP, GoalKind.DROPOFF)


class TaskPlace(NamedTuple):
    """A place between which lengths are reckoned: that of a task's pick-up or drop-off, `CAR` or `PARK`."""

    kind: GoalKind
    entry: int = -1


CAR, PARK = TaskPlace(GoalKind.NOTHING), TaskPlace(GoalKind.CAR_PARK)
Leg = tuple[TaskPlace, TaskPlace]


@dataclass(frozen=True)
class MissionProgress:
    """Everything that is remembered of the mission."""

    mission: Mission | None = None
    entries: tuple[TaskEntry, ...] = ()
    goal: MissionGoal = field(default_factory=MissionGoal)
    attempts: int = 0
    """Failed attempts at the present mission goal (TMP-3)."""
    around: Pose | None = None
    """A place just past the present point, from where a route back to it is asked for (TMP-3)."""
    near: bool = False
    """The present point has been ahead of the car within the distance of NOR-1."""
    legs: Mapping[Leg, float] = field(default_factory=dict)
    """Lengths of routes that are known so far (m), inf where there is no route."""
    measured: bool = field(default=False, compare=False)
    """All lengths that matter on the present mission goal have been found among `legs`: they need not be looked for
    again.
    """
    ticket: int = 0
    """Counts up whenever another route is needed."""
    skip: bool = False
    """An operator has called for the present task to be dropped."""
    stamp: float | None = None
    """Of the latest tick, s."""
    elapsed_s: float = 0.0
    """Of the match time: it runs on through an emergency stop (EST-2)."""
    waited_s: float = 0.0
    """The same of a new mission that has come during one, and is taken when it is released."""
    summed_at: float = -math.inf
    """When the sum of PUD-1 was last made again (MAT-1), on the active clock, s."""
    short_since: float | None = None
    """Since when it has been short of time."""

    @property
    def left_s(self) -> float:
        """Match time that is left, s; inf without a limit."""
        return math.inf if self.mission is None else self.mission.match_time_s - self.elapsed_s

    @property
    def over(self) -> bool:
        """Whether the match time is over (MAT-1)."""
        return self.left_s <= 0.0

    def bound_for(self, goal: MissionGoal) -> MissionProgress:
        """On another mission goal, for which a route is needed; attempts are counted anew."""
        return replace(
            self,
            goal=goal,
            attempts=0,
            around=None,
            near=False,
            legs={leg: length for leg, length in self.legs.items() if CAR not in leg},
            measured=False,
            ticket=self.ticket + 1,
            summed_at=-math.inf,
            short_since=None,
        )

    def name(self, entry: int) -> str:
        """Of a task: the one that it was given, else its number."""
        return self.entries[entry].task.name or str(entry + 1)

    def marked(self, entry: int, status: TaskStatus) -> MissionProgress:
        """With a task that has come farther."""
        entries = list(self.entries)
        entries[entry] = replace(entries[entry], status=status)
        return replace(self, entries=tuple(entries), measured=False)

    def numbers(self, status: TaskStatus) -> tuple[int, ...]:
        """Of the entries that have come this far."""
        return tuple(i for i, entry in enumerate(self.entries) if entry.status is status)
