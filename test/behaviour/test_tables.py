"""The tables: which row wins in every state, and that the diagram shows them all."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import pytest

from tuling_fsm.behaviour import states, table
from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.machine.elements import Leaf, Priority, Region, Row
from tuling_fsm.machine.engine import Engine
from tuling_fsm.machine.mermaid import mermaid
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.machine.table import Table

Flags = dict[str, bool]

WINS = {
    states.PLAN_ONCE: [("DEP-2", "route_found", states.REGRESSION)],
    states.REGRESSION: [
        ("REG-4", "attempts_exhausted", states.EXPLORE),
        ("REG-4", "not_localized", states.EXPLORE),
        ("USE-2", "overdue", states.EXPLORE),
        ("RRF-2", "route_switched", states.REGRESSION),
        ("INT-6", "junction_ahead", states.JUNCTION_REGRESSION),
        ("REG-3", "back_on_road", states.NORMAL),
    ],
    states.NORMAL: [
        ("NOR-2", "junction_ahead", states.SAFE_DRIVING),
        ("NOR-9", "astray", states.REGRESSION),
        ("NOR-7", "not_localized", states.SOLID_LINE_FREE),
        ("NOR-7", "no_path", states.SOLID_LINE_FREE),
        ("NOR-7", "no_progress", states.SOLID_LINE_FREE),
        ("NOR-1", "stop_ahead", states.APPROACH),
        ("NOR-8", "enters_parking_area", states.SLOT_SEARCH),
        ("NOR-10", "route_ended", states.PLAN_ONCE),
    ],
    states.SOLID_LINE_FREE: [
        ("NOR-9", "astray", states.REGRESSION),
        ("SLF-3", "not_localized", states.NO_LINE_FREE),
        ("SLF-3", "attempts_exhausted", states.NO_LINE_FREE),
        ("USE-2", "overdue", states.NO_LINE_FREE),
        ("INT-6", "junction_ahead", states.SAFE_DRIVING),
        ("SLF-2", "way_out", states.NORMAL),
    ],
    states.NO_LINE_FREE: [
        ("NLF-1", "off_road", states.REGRESSION),
        ("NLF-2", "not_localized", states.REPLAN),
        ("NLF-2", "attempts_exhausted", states.REPLAN),
        ("USE-2", "overdue", states.REPLAN),
        ("INT-6", "junction_ahead", states.JUNCTION_NO_LINE_FREE),
        ("NLF-3", "way_out", states.NORMAL),
    ],
    states.SAFE_DRIVING: [
        ("INT-5", "not_localized", states.EXPLORE),
        ("INT-5", "no_path", states.JUNCTION_NO_LINE_FREE),
        ("INT-4", "directed_by_hand", states.JUNCTION_NO_LINE_FREE),
        ("INT-6", "junction_over", states.NORMAL),
        ("NOR-10", "route_ended", states.PLAN_ONCE),
    ],
    states.JUNCTION_NO_LINE_FREE: [
        ("INT-5", "off_road", states.JUNCTION_REGRESSION),
        ("INT-5", "not_localized", states.REPLAN),
        ("INT-5", "attempts_exhausted", states.REPLAN),
        ("USE-2", "overdue", states.REPLAN),
        ("INT-6", "junction_over", states.NO_LINE_FREE),
        ("INT-5", "way_on_past_line", states.SAFE_DRIVING),
    ],
    states.JUNCTION_REGRESSION: [
        ("INT-5", "attempts_exhausted", states.EXPLORE),
        ("INT-5", "not_localized", states.EXPLORE),
        ("USE-2", "overdue", states.EXPLORE),
        ("INT-6", "junction_over", states.REGRESSION),
        ("INT-5", "back_on_road", states.SAFE_DRIVING),
    ],
    states.REPLAN: [
        ("RPL-1", "nothing_blocked", states.EXPLORE),
        ("NLF-4", "not_localized", states.EXPLORE),
        ("RPL-3", "no_way_round", states.EXPLORE),
        ("RPL-2", "route_found", states.REGRESSION),
    ],
    states.EXPLORE: [
        ("EXP-4", "explore_given_up", states.PARKED),
        ("EXP-4", "explore_timed_out", states.REPLAN),
        ("RRF-2", "route_switched", states.REGRESSION),
        ("EXP-2", "way_to_route", states.REGRESSION),
    ],
    states.APPROACH: [
        ("TMP-3", "not_localized", states.EXPLORE),
        ("TMP-3", "task_dropped", states.PICKUP_DECISION),
        ("TMP-3", "attempt_failed", states.NEXT_PLAN_ONCE),
        ("TMP-2", "stands_in_slot", states.STOPPED),
    ],
    states.STOPPED: [
        ("PUD-1", "task_dropped", states.PICKUP_DECISION),
        ("STP-1", "boarded", states.NEXT_PLAN_ONCE),
        ("STP-1", "alighted", states.PICKUP_DECISION),
    ],
    states.PICKUP_DECISION: [
        ("PUD-1", "errand_chosen", states.NEXT_PLAN_ONCE),
        ("NOR-10", "nothing_left", states.PLAN_ONCE),
    ],
    states.NEXT_PLAN_ONCE: [
        ("TPO-1", "route_found", states.REGRESSION),
        ("NOR-10", "nothing_left", states.PLAN_ONCE),
    ],
    states.SLOT_SEARCH: [
        ("USE-2", "lost_for_long", states.EXPLORE),
        ("PRK-2", "cannot_turn", states.REGRESSION),
        ("NOR-7", "lane_blocked", states.SOLID_LINE_FREE),
        ("USE-2", "search_stands_still", states.SOLID_LINE_FREE),
        ("PRK-1", "leads_elsewhere", states.NORMAL),
        ("PRK-1", "slot_found", states.SLOT_ENTRY),
    ],
    states.SLOT_ENTRY: [
        ("PRK-3", "slot_taken", states.SLOT_SEARCH),
        ("PRK-3", "no_way_in", states.SLOT_SEARCH),
        ("PRK-3", "entry_overdue", states.SLOT_SEARCH),
        ("PRK-4", "in_slot", states.PARKED),
    ],
    states.PARKED: [("PRK-5", "reset_called", states.PLAN_ONCE)],
}
"""The rows of every state, the first to win first; where the match time counts, its end comes last of all (MAT-1)."""
UNTIMED = (states.PLAN_ONCE, states.PARKED)
for path, wins in WINS.items():
    wins += [] if path in UNTIMED else [("MAT-1", "match_over", states.PLAN_ONCE)]


def _flagged(source: Table[View, Conduct]) -> Table[Flags, Conduct]:
    """The same table with guards that are told what to say."""
    guards: dict[str, Callable[[Flags], bool]] = {}

    def stub(name: str) -> Callable[[Flags], bool]:
        def guard(flags: Flags) -> bool:
            return flags[name]

        guard.__name__ = name
        return guards.setdefault(name, guard)

    rows = tuple(
        Row(
            row.source,
            row.dest,
            stub(row.guard_name),
            row.priority,
            row.order,
            row.clause,
            row.dwell_s,
            row.min_dwell_s,
            row.deadline,
        )
        for row in source.rows
    )
    return Table(source.name, source.initial, source.children, rows, source.rest)


TABLE = table()
FLAGGED = _flagged(TABLE)


def test_every_enabled_state_is_in_the_list() -> None:
    assert set(WINS) == {path for path, leaf in TABLE.leaves.items() if leaf.enabled}


@pytest.mark.clause("DWELL-4")
@pytest.mark.parametrize("state", WINS)
def test_the_row_that_wins_is_fixed_for_every_combination_of_guards(state: str) -> None:
    expected = WINS[state]
    names = [guard for _, guard, _ in expected]
    for values in itertools.product((False, True), repeat=len(names)):
        record = StateRecord(state, None, clock=100.0, stamp=100.0, true_since=())
        engine: Engine[Flags, Conduct, None] = Engine(FLAGGED, record)
        flags = dict(zip(names, values, strict=True))
        matured = tuple((row.key, 0.0) for row in FLAGGED.rows_from[state] if flags[row.guard_name])
        engine.record = dataclasses.replace(record, true_since=matured)
        engine.advance(100.05)
        step = engine.step(flags)
        winner = next((row for row, value in zip(expected, values, strict=True) if value), None)
        fired = step.fired and (step.fired.clause, step.fired.guard_name, step.dest)
        assert fired == winner


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
def test_every_driving_state_has_a_deadline_and_every_waiting_one_retries() -> None:
    for path, leaf in TABLE.leaves.items():
        rows = TABLE.rows_from[path]
        if leaf.enabled and not leaf.terminal:
            assert leaf.retry_s is not None or any(row.deadline for row in rows), path
            assert any(row.dest != path for row in rows), path
    terminal = {path for path, leaf in TABLE.leaves.items() if leaf.terminal}
    assert terminal == {states.PARKED}
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
