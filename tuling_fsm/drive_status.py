"""What a person who watches a run wants to know of it now; as a value that can be sent from process to process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import distance
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.why import limit_in_words

STATUS_PERIOD_S = 0.2
"""Simulated time between two of them, s."""
SET_OFF_M = 10.0
"""A car this far from where it began has left its garage."""
GARAGE_LEFT, PARKED, AT_GOAL = "garage left", "parked", "at the goal"


class DwellTimer(NamedTuple):
    """A transition whose guard holds, and for how long of what it has to (s)."""

    dest: str
    guard: str
    held_s: float
    dwell_s: float


class MissionStep(NamedTuple):
    """A step of the mission, and whether it is done."""

    name: str
    done: bool


@dataclass(frozen=True)
class DriveStatus:
    """One moment of a run.

    Args:
        t: simulated time, s.
        v: speed, m/s, negative in reverse.
        state: its full path.
        code: of what limits the car.
        words: the same for a reader, with its place.
        tick_ms: how long the tick took, ms.
        share: of the way or of the mission that is done, 0 to 1.
        timers: dwell timers that run.
        steps: of the mission, in their order; none of a run that follows a route.
        left: for how long the run still takes, in words; empty while nothing can be said.
    """

    t: float
    v: float
    state: str
    code: str
    words: str
    tick_ms: float
    share: float
    timers: tuple[DwellTimer, ...] = ()
    steps: tuple[MissionStep, ...] = ()
    left: str = ""

    def to_json(self) -> str:
        """In one line."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> DriveStatus:
        """The inverse of `to_json`.

        Raises:
            InputError: it is none.
        """
        try:
            raw = json.loads(text)
            timers = tuple(DwellTimer(*each) for each in raw.pop("timers"))
            steps = tuple(MissionStep(*each) for each in raw.pop("steps"))
            return cls(**raw, timers=timers, steps=steps)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError("status", f"{error}", "a status as it is sent") from None


StatusReport = Callable[[DriveStatus], None]
"""Takes how a run stands."""


def drive_status(simulation: Simulation, log: RunLog, timers: Iterable[DwellTimer], left: str) -> DriveStatus:
    """How a run stands after the last row of its log."""
    row: LogRow = log.rows[-1]
    return DriveStatus(
        row.t, row.v, row.state, row.limit.reason.value, limit_in_words(row.limit), row.tick_ms,
        simulation.route_completion, tuple(timers), mission_steps(simulation, log), left,
    )  # fmt: skip


def mission_steps(simulation: Simulation, log: RunLog) -> tuple[MissionStep, ...]:
    """Out of the garage, each pick-up and drop-off in the order of the tasks, into the car park or to the goal."""
    if simulation.preset is not None:
        return ()
    served = simulation.services.served
    start = log.rows[0].pose
    left = any(served) or any(distance(start, row.pose) > SET_OFF_M for row in log.rows)
    passengers = (
        MissionStep(f"{name} {task}", points > number)
        for task, points in enumerate(served, start=1)
        for number, name in enumerate(("pick-up", "drop-off"))
    )
    last = MissionStep(PARKED if simulation.goal is None else AT_GOAL, simulation.end in ("goal", "parked"))
    return (MissionStep(GARAGE_LEFT, left), *passengers, last)
