"""What is said of a cell, from truth: the referee's records, the motion of the car, and the reasons that were told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from tuling_fsm.fault_injection.cells import ReferenceDrive

RECOVERY_S = 30.0
"""So long after the fault, and after what the run without it stands for, the car has gone on."""
GONE_ON_M = 5.0
"""The way of a car that has gone on."""
STANDS_M = 0.5
"""A run that has less before it at its end stands for good."""
UNREPORTED_S = 10.0
"""No longer stand without a reason."""


class CellVerdict(str, Enum):
    """Of a cell, the worst last."""

    PASSED = "passed"
    NOT_REACHED = "not reached"
    NOT_RECOVERED = "not recovered"
    UNREPORTED_STAND = "unreported stand"
    INFRACTION = "infraction"
    COLLISION = "collision"
    ERROR = "error"

    @property
    def passes(self) -> bool:
        """Whether nothing is wrong; a state that was not reached has shown nothing, good or bad."""
        return self is CellVerdict.PASSED


SEVERITY = tuple(CellVerdict)


def worst(verdicts: Iterable[CellVerdict]) -> CellVerdict:
    """The worst of some; of none it is that nothing was reached."""
    return max(verdicts, key=SEVERITY.index, default=CellVerdict.NOT_REACHED)


@dataclass(frozen=True)
class RecoveryTarget:
    """What counts as going on: so many metres after the fault's end, until a stamp (s) at the latest."""

    metres: float
    until_s: float

    @classmethod
    def after(cls, reference: ReferenceDrive, begin_s: float, end_s: float) -> RecoveryTarget:
        """For a fault from one stamp to another (s).

        What the run without the fault stands for, a light or a passenger, the car may stand for as well, and all of it
        once more, for a wait may begin anew; where that run goes no farther, nothing has to be driven.
        """
        here = reference.distance(begin_s)
        metres = min(GONE_ON_M, reference.motion[-1][1] - here)
        if metres < STANDS_M:
            return cls(0.0, end_s + RECOVERY_S)
        # What the car comes to during the fault, and stands for, lies beyond where it was when that began.
        waits = (_time_for(reference, reference.distance(stamp), metres) for stamp in (begin_s, end_s))
        return cls(metres, end_s + max(waits) + RECOVERY_S)


def _time_for(reference: ReferenceDrive, here: float, metres: float) -> float:
    """How long the run without the fault took from a distance (m) on for so many metres, stands included, s."""
    there = min(here + metres, reference.motion[-1][1])
    gone_on = next(t for t, distance in reference.motion if distance >= there - 1e-9)
    came = next(t for t, distance in reference.motion if distance >= here - STANDS_M)
    return gone_on - came


@dataclass(frozen=True)
class CellEvidence:
    """What was seen from the begin of the fault on."""

    errors: tuple[str, ...] = ()
    """Lines of what failed in the planner's process or in the loop."""
    at_fault: tuple[tuple[float, str, str], ...] = ()
    """The referee's records of what the car was to blame for: stamp (s), kind, detail."""
    known: tuple[str, ...] = ()
    """Kinds that the run without the fault is to blame for as well, in the same time: each is no more than one here."""
    unreported_s: float = 0.0
    """The longest stand without a reason."""
    recovered_s: float | None = None
    """When the car had gone on, after the fault's end."""
    state: str = ""
    """The last."""
    reason: str = ""
    """The last that was told."""


def judge(evidence: CellEvidence) -> tuple[CellVerdict, str]:
    """The worst that is to be said, and why in words."""
    for verdict, objection in _OBJECTIONS:
        words = objection(evidence)
        if words:
            return verdict, words
    return CellVerdict.PASSED, ""


def _error(evidence: CellEvidence) -> str:
    return evidence.errors[0] if evidence.errors else ""


def _blamed(evidence: CellEvidence, collision: bool) -> str:
    known, new = Counter(evidence.known), list[str]()
    for t, kind, detail in evidence.at_fault:
        known[kind] -= 1
        if (kind == "collision") is collision and known[kind] < 0:
            new.append(f"{t:.2f} s: {kind}, {detail}")
    return "; ".join(new)


def _unreported(evidence: CellEvidence) -> str:
    silent = evidence.unreported_s > UNREPORTED_S
    return f"stood for {evidence.unreported_s:.1f} s without a reason, in {evidence.state}" if silent else ""


def _stuck(evidence: CellEvidence) -> str:
    return "" if evidence.recovered_s is not None else f"does not go on, in {evidence.state}: {evidence.reason}"


_OBJECTIONS: tuple[tuple[CellVerdict, Callable[[CellEvidence], str]], ...] = (
    (CellVerdict.ERROR, _error),
    (CellVerdict.COLLISION, lambda evidence: _blamed(evidence, collision=True)),
    (CellVerdict.INFRACTION, lambda evidence: _blamed(evidence, collision=False)),
    (CellVerdict.UNREPORTED_STAND, _unreported),
    (CellVerdict.NOT_RECOVERED, _stuck),
)
"""From the worst on."""
