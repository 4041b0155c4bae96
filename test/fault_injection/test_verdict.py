"""Each verdict can be given: on evidence that is made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tuling_fsm.fault_injection.verdict import (
    RECOVERY_S,
    UNREPORTED_S,
    CellEvidence,
    CellVerdict,
    RecoveryTarget,
    judge,
    worst,
)

from .staged import reference

GOOD = CellEvidence(recovered_s=2.0, state="on_road/normal", reason="NO_PATH wall")
STRUCK, SHOULDER, GRAVEL = (7.0, "collision", "car 3"), (8.0, "off_road", "0.4 m"), (9.0, "off_road", "1.2 m")
CASES = [
    (GOOD, CellVerdict.PASSED, ""),
    (replace(GOOD, errors=("ValueError: no", "more")), CellVerdict.ERROR, "ValueError: no"),
    (replace(GOOD, at_fault=(STRUCK,)), CellVerdict.COLLISION, "7.00 s: collision, car 3"),
    (replace(GOOD, at_fault=(SHOULDER,)), CellVerdict.INFRACTION, "8.00 s: off_road, 0.4 m"),
    (replace(GOOD, at_fault=(SHOULDER,), known=("off_road",)), CellVerdict.PASSED, ""),
    (
        replace(GOOD, at_fault=(SHOULDER, GRAVEL), known=("off_road",)),
        CellVerdict.INFRACTION,
        "9.00 s: off_road, 1.2 m",
    ),
    (replace(GOOD, unreported_s=UNREPORTED_S), CellVerdict.PASSED, ""),
    (
        replace(GOOD, unreported_s=12.5),
        CellVerdict.UNREPORTED_STAND,
        "stood for 12.5 s without a reason, in on_road/normal",
    ),
    (replace(GOOD, recovered_s=None), CellVerdict.NOT_RECOVERED, "does not go on, in on_road/normal: NO_PATH wall"),
    (replace(GOOD, at_fault=(SHOULDER, STRUCK), recovered_s=None), CellVerdict.COLLISION, "7.00 s: collision, car 3"),
]


@pytest.mark.clause("SAF-4")
@pytest.mark.parametrize(("evidence", "verdict", "words"), CASES)
def test_the_worst_is_said(evidence: CellEvidence, verdict: CellVerdict, words: str) -> None:
    assert judge(evidence) == (verdict, words)


def test_every_verdict_on_evidence_can_be_seen() -> None:
    assert {verdict for _, verdict, _ in CASES} == set(CellVerdict) - {CellVerdict.NOT_REACHED}
    assert worst([CellVerdict.PASSED, CellVerdict.INFRACTION, CellVerdict.NOT_RECOVERED]) is CellVerdict.INFRACTION
    assert worst([]) is CellVerdict.NOT_REACHED


def test_a_car_has_gone_on_after_five_metres_in_time() -> None:
    assert RecoveryTarget.after(reference(), 10.0, 15.0) == RecoveryTarget(5.0, 16.0 + RECOVERY_S)


def test_what_the_run_stands_for_without_the_fault_may_be_waited_for_once_more() -> None:
    motion = ((0.0, 0.0), (10.0, 50.0), (40.0, 50.0), (41.0, 54.0), (42.0, 60.0))
    assert RecoveryTarget.after(reference(motion=motion), 12.0, 17.0) == RecoveryTarget(5.0, 17.0 + 32.0 + RECOVERY_S)


def test_what_the_car_comes_to_during_the_fault_may_be_waited_for_too() -> None:
    motion = ((0.0, 0.0), (10.0, 50.0), (40.0, 50.0), (41.0, 54.0), (42.0, 60.0))
    rolling = tuple((0.5 * k, 2.5 * k) for k in range(20))
    target = RecoveryTarget.after(reference(motion=(*rolling, *motion[1:])), 6.0, 11.0)
    assert target == RecoveryTarget(5.0, 11.0 + 32.0 + RECOVERY_S)


def test_where_the_run_ends_standing_nothing_has_to_be_driven() -> None:
    motion = ((0.0, 0.0), (10.0, 50.0), (40.0, 50.2))
    assert RecoveryTarget.after(reference(motion=motion), 12.0, 17.0) == RecoveryTarget(0.0, 17.0 + RECOVERY_S)
