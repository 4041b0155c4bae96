"""The tables: which row wins in every state, and that the diagram shows them all."""

from __future__ import annotations

import pytest

from tuling_fsm.behaviour import states, table
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.machine.elements import Leaf, Priority, Region
from tuling_fsm.machine.mermaid import mermaid

from .proof.flagged import LEAVES, REAL
from .proof.oracle import ORDER

TABLE = table()


def test_every_enabled_state_is_in_the_list() -> None:
    assert set(ORDER) == set(LEAVES)


@pytest.mark.clause("DWELL-4")
@pytest.mark.parametrize(("machine", "path"), LEAVES)
def test_the_rows_of_every_state_are_the_contracts_in_its_order(machine: str, path: str) -> None:
    rows = REAL[machine].rows_from[path]
    assert [(row.clause, row.guard_name, row.dest) for row in rows] == ORDER[machine, path]
    classes = [row.priority for row in rows]
    assert classes == sorted(classes)


@pytest.mark.clause("DWELL-1")
def test_safety_rows_and_those_that_say_at_once_have_no_dwell() -> None:
    rows = [row for machine in (TABLE, *TABLE.beside) for row in machine.rows]
    assert all(row.dwell_s == 0.0 for row in rows if row.priority is Priority.SAFETY)
    parameters = BehaviourParameters()
    told = {parameters.radar.leave_dwell, parameters.intersection.no_path}
    assert {row.dwell_s for row in rows} == {0.0, 0.3, *told}


@pytest.mark.clause("NLF-4")
def test_without_localization_the_ladder_is_run_down_at_once() -> None:
    ladder = (states.NORMAL, states.SOLID_LINE_FREE, states.NO_LINE_FREE, states.REPLAN)
    rows = [row for row in TABLE.rows if row.guard_name == "not_localized" and row.source in ladder]
    assert {row.source for row in rows} == set(ladder)
    assert all((row.dwell_s, row.min_dwell_s) == (0.0, 0.0) for row in rows)


@pytest.mark.clause("USE-2")
def test_only_the_parked_car_rests_for_ever_and_nothing_drives_at_high_speed() -> None:
    assert {path for path, leaf in TABLE.leaves.items() if leaf.terminal} == {states.PARKED}
    assert not TABLE.leaves["high_speed/normal"].enabled


def test_the_diagram_shows_every_state_and_every_row() -> None:
    text = mermaid(TABLE)
    for row in TABLE.rows:
        label = f"{row.guard_name} {row.dwell_s:g} s, {row.priority.name.lower()} {row.order} [{row.clause}]"
        assert f"{row.source.replace('/', '__')} --> {row.dest.replace('/', '__')} : {label}\n" in text
    for path, state in TABLE.states.items():
        name = state.name if isinstance(state, Region) or state.enabled else f"{state.name} (disabled)"
        assert f'state "{name}" as {path.replace("/", "__")}' in text
    for supervisor in TABLE.beside:
        for path, leaf in supervisor.leaves.items():
            assert isinstance(leaf, Leaf)
            assert f"{supervisor.name}__{path}" in text
    assert text.count("{") == text.count("}")
