"""Every row fires in a recorded closed-loop run, or it is said why it cannot: what nobody has seen fire is a guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from .flagged import REAL
from .oracle import enabled, landing
from .recording import FOLDER, OWN, SCENARIOS, SETTINGS, RowId, drive, fired, fired_in

NEVER: dict[RowId, str] = {}
"""Rows that no closed-loop run brings about: why not, and the test that proves them."""
OWN_SCENARIOS = sorted(path.stem for path in OWN.glob("*.osc"))


@pytest.fixture(scope="module")
def runs() -> dict[str, set[RowId]]:
    """The rows that fired in every recorded run."""
    return {name: fired_in(name) for name in SCENARIOS}


def enabled_rows() -> set[RowId]:
    """All rows that lead to a state which may be entered."""
    return {
        (name, row.key)
        for name, machine in REAL.items()
        for row in machine.rows
        if enabled(machine, landing(machine, row.dest))
    }


def objections(rows: Iterable[RowId], seen: Iterable[RowId], never: Mapping[RowId, str]) -> list[str]:
    """What is wrong with the rows that fired and the list of those that do not."""
    rows, seen = set(rows), set(seen)
    return sorted(
        [f"{name}: {key}: fires in no recorded run" for name, key in rows - seen - never.keys()]
        + [f"{name}: {key}: is listed as one that does not fire, and did" for name, key in seen & never.keys()]
        + [f"{name}: {key}: is no row" for name, key in (seen | never.keys()) - rows]
        + [f"{name}: {key}: is listed without a reason" for (name, key), why in never.items() if not why]
    )


@pytest.mark.clause("USE-2")
def test_every_row_fires_in_a_recorded_run_or_it_is_said_why_not(runs: dict[str, set[RowId]]) -> None:
    assert objections(enabled_rows(), set().union(*runs.values()), NEVER) == []


def test_there_is_a_recording_of_every_scenario_and_of_nothing_else() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == SCENARIOS
    assert set(SETTINGS) <= set(OWN_SCENARIOS)


def test_what_is_wrong_with_the_list_is_told() -> None:
    a, b, c = ("machine", "a"), ("machine", "b"), ("machine", "c")
    assert objections([a, b], [a], {b: "why"}) == []
    assert objections([a, b], [a], {}) == ["machine: b: fires in no recorded run"]
    assert objections([a, b], [a, b], {b: "why"}) == ["machine: b: is listed as one that does not fire, and did"]
    assert objections([a], [a, c], {}) == ["machine: c: is no row"]
    assert objections([a, b], [a], {b: ""}) == ["machine: b: is listed without a reason"]


@pytest.mark.clause("USE-2")
@pytest.mark.slow
@pytest.mark.parametrize("name", OWN_SCENARIOS)
def test_what_a_scenario_is_there_for_fires_when_it_is_driven_anew(name: str, runs: dict[str, set[RowId]]) -> None:
    before = [other for other in SCENARIOS if other not in OWN_SCENARIOS or other < name]
    own = runs[name].difference(*(runs[other] for other in before))
    assert own, "it shows nothing that the others do not: it can go"
    assert own - fired(drive(name, own)) == set()
