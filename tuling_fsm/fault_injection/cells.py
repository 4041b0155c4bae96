"""The cells of the matrix: a fault, a state, a phase of the state; where and when each is brought about.

A scenario is driven once without a fault. Since a run repeats (SIM-2), what it visits then it visits again, so that a
phase of a state is a stamp of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from tuling_fsm.behaviour import table
from tuling_fsm.fault_injection.faults import InjectedFault

LATE_S = 0.2
"""The late phase begins so long before the state is left: its last row holds already, and its dwell time runs."""
SHORT_S = 1.0
"""The phases of a shorter visit are hardly apart: a longer visit is taken where there is one."""


class Phase(str, Enum):
    """When in a visit of a state a fault begins: with it, half-way, just before it is left."""

    ENTRY = "entry"
    MIDDLE = "middle"
    LATE = "late"


@dataclass(frozen=True)
class StateVisit:
    """A state, from when (s) to when (s) it was active."""

    state: str
    t_from: float
    t_to: float

    def stamp(self, phase: Phase, dt: float) -> float:
        """When a phase of it begins, s: on the frame (of `dt` s) after the first, or later."""
        first = self.t_from + dt
        match phase:
            case Phase.ENTRY:
                return first
            case Phase.MIDDLE:
                return max(first, 0.5 * (self.t_from + self.t_to))
            case Phase.LATE:
                return max(first, self.t_to - LATE_S)


@dataclass(frozen=True)
class ReferenceDrive:
    """A scenario driven without a fault: its visits, how far it had come when, and what it was at fault for."""

    scenario: str
    visits: tuple[StateVisit, ...]
    end: str
    motion: tuple[tuple[float, float], ...]
    """Stamps (s) and driven distances (m), a stamp every half second and the last one."""
    at_fault: tuple[tuple[float, str], ...]
    """Stamps (s) and kinds."""
    dt: float
    """Of a frame, s."""

    def distance(self, stamp: float) -> float:
        """How far it had come, m: at the last stamp that is not later."""
        return max((metres for t, metres in self.motion if t <= stamp + 1e-9), default=0.0)

    def plain(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> ReferenceDrive:
        """From a file.

        Raises:
            KeyError, TypeError, ValueError: not of this version.
        """
        return cls(
            scenario=str(plain["scenario"]),
            visits=tuple(StateVisit(**visit) for visit in plain["visits"]),
            end=str(plain["end"]),
            motion=tuple((float(t), float(metres)) for t, metres in plain["motion"]),
            at_fault=tuple((float(t), str(kind)) for t, kind in plain["at_fault"]),
            dt=float(plain["dt"]),
        )


@dataclass(frozen=True)
class FaultCell:
    """One run: a fault that begins in a scenario at a stamp (s); None where no scenario visits the state."""

    fault: str
    state: str
    phase: str
    scenario: str | None
    at_s: float | None

    @property
    def name(self) -> str:
        """Of its file and of its random stream."""
        return f"{self.state}/{self.phase}/{self.fault}"


STATES: tuple[str, ...] = tuple(path for path, leaf in table().leaves.items() if leaf.enabled)
"""The states that are entered, in the order of the machine."""


def cells(
    references: Sequence[ReferenceDrive],
    faults: Iterable[InjectedFault],
    wanted: Iterable[str],
    phases: Iterable[Phase],
) -> list[FaultCell]:
    """Every fault in every wanted state in every phase, by state."""
    chosen = [(state, _best_visit(references, state)) for state in wanted]
    faults, phases = list(faults), list(phases)
    return [
        FaultCell(fault.name, state, phase.value, *_place(found, phase))
        for state, found in chosen
        for phase in phases
        for fault in faults
    ]


def _best_visit(references: Sequence[ReferenceDrive], state: str) -> tuple[ReferenceDrive, StateVisit] | None:
    """The earliest visit that is no short one, to the second; of equally early ones that of the first scenario."""
    found = [(drive, visit) for drive in references for visit in drive.visits if visit.state == state]

    def cost(place: tuple[ReferenceDrive, StateVisit]) -> tuple[bool, int]:
        visit = place[1]
        return visit.t_to - visit.t_from < SHORT_S, round(visit.t_from)

    return min(found, key=cost, default=None)


def _place(found: tuple[ReferenceDrive, StateVisit] | None, phase: Phase) -> tuple[str | None, float | None]:
    if found is None:
        return None, None
    drive, visit = found
    return drive.scenario, round(visit.stamp(phase, drive.dt), 6)
