"""Where and when the cells begin: phases of a visit, and the visit that is taken."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.core.errors import InputError
from tuling_fsm.fault_injection.cells import STATES, Phase, ReferenceDrive, StateVisit, cells
from tuling_fsm.fault_injection.faults import BY_NAME, FAULTS, faults_named

from .staged import reference

VISIT = StateVisit(states.NORMAL, 10.0, 20.0)


@pytest.mark.parametrize(("phase", "at"), [(Phase.ENTRY, 10.05), (Phase.MIDDLE, 15.0), (Phase.LATE, 19.8)])
def test_a_phase_is_a_stamp_of_the_visit(phase: Phase, at: float) -> None:
    assert VISIT.stamp(phase, 0.05) == pytest.approx(at)


def test_the_phases_of_a_short_visit_are_within_it() -> None:
    short = replace(VISIT, t_to=10.1)
    assert [short.stamp(phase, 0.05) for phase in Phase] == [pytest.approx(10.05)] * 3


def test_the_earliest_visit_that_is_no_short_one_is_taken() -> None:
    first = reference(StateVisit(states.NORMAL, 1.0, 1.5), StateVisit(states.NORMAL, 30.0, 40.0))
    second = replace(reference(StateVisit(states.NORMAL, 12.0, 14.0)), scenario="second.osc")
    (found,) = cells([first, second], [FAULTS[0]], [states.NORMAL], [Phase.MIDDLE])
    assert (found.scenario, found.at_s) == ("second.osc", 13.0)
    (alone,) = cells([reference(StateVisit(states.NORMAL, 1.0, 1.5))], [FAULTS[0]], [states.NORMAL], [Phase.MIDDLE])
    assert alone.at_s == 1.25


def test_a_state_that_no_scenario_visits_has_cells_without_a_place() -> None:
    found = cells([reference(VISIT)], FAULTS, [states.EXPLORE], list(Phase))
    assert len(found) == 3 * len(FAULTS)
    assert {(each.scenario, each.at_s) for each in found} == {(None, None)}


def test_every_state_that_is_entered_is_in_the_matrix() -> None:
    assert set(STATES) == {value for name, value in vars(states).items() if name.isupper()}


def test_a_reference_is_the_same_from_its_file() -> None:
    drive = replace(reference(VISIT), at_fault=((3.0, "speeding"),))
    assert ReferenceDrive.of(json.loads(json.dumps(drive.plain()))) == drive


def test_a_fault_is_chosen_by_name() -> None:
    assert faults_named([]) == FAULTS
    assert [fault.name for fault in faults_named(["clock_back", "ghosts"])] == ["ghosts", "clock_back"]
    with pytest.raises(InputError, match="'gremlins' is no fault"):
        faults_named(["gremlins"])
    assert len(BY_NAME) == len(FAULTS)
