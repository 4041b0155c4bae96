"""Which row should fire, written down a second time: as the contract's list, not as the engine finds it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tuling_fsm.behaviour import states
from tuling_fsm.machine.elements import Region, Row
from tuling_fsm.machine.table import Table

Listed = tuple[str, str, str]
"""Clause, guard, and where the row leads."""

_HIERARCHY: dict[str, list[Listed]] = {
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
        ("NOR-9", "off_route", states.REGRESSION),
        ("NOR-7", "not_localized", states.SOLID_LINE_FREE),
        ("NOR-7", "no_path", states.SOLID_LINE_FREE),
        ("NOR-7", "no_progress", states.SOLID_LINE_FREE),
        ("NOR-1", "stop_ahead", states.APPROACH),
        ("NOR-8", "enters_parking_area", states.SLOT_SEARCH),
        ("NOR-10", "route_ended", states.PLAN_ONCE),
    ],
    states.SOLID_LINE_FREE: [
        ("NOR-9", "off_route", states.REGRESSION),
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
        ("PUD-1", "mission_goal_chosen", states.NEXT_PLAN_ONCE),
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
        ("PRK-1", "sent_elsewhere", states.SLOT_SEARCH),
        ("PRK-4", "in_slot", states.PARKED),
    ],
    states.PARKED: [("PRK-5", "reset_called", states.PLAN_ONCE)],
}
"""The rows of every state of the hierarchy, the first to win first; the end of the match time is added below."""
_UNTIMED = (states.PLAN_ONCE, states.PARKED)
_SUPERVISORS: dict[str, dict[str, list[Listed]]] = {
    "emergency_stop": {
        "unarmed": [
            ("EST-1", "stop_commanded", "stopped"),
            ("EST-3", "link_missing", "link_lost"),
            ("EST-3", "link_up", "armed"),
        ],
        "armed": [("EST-1", "stop_commanded", "stopped"), ("EST-3", "link_silent", "link_lost")],
        "stopped": [("EST-3", "link_silent", "link_lost"), ("EST-2", "stop_released", "armed")],
        "link_lost": [("EST-3", "stop_cleared", "armed")],
    },
    "rain_fog": {
        "clear": [("RFG-1", "rain_or_fog", "radar_and_history")],
        "radar_and_history": [("RFG-1", "clear_sky", "clear")],
    },
    "route_refresh": {
        "idle": [("RRF-1", "refresh_due", "asking")],
        "asking": [("RRF-3", "refresh_late", "idle"), ("RRF-1", "refresh_closed", "idle")],
    },
}
ORDER: dict[tuple[str, str], list[Listed]] = {
    **{
        ("tuling", path): rows + ([] if path in _UNTIMED else [("MAT-1", "match_over", states.PLAN_ONCE)])
        for path, rows in _HIERARCHY.items()
    },
    **{(machine, path): rows for machine, paths in _SUPERVISORS.items() for path, rows in paths.items()},
}
"""DWELL-4: the rows of every state of every machine, the first to win first. Where the match time counts, its end comes
last of all (MAT-1).
"""


def rows_out_of(machine: Table[Any, Any], path: str) -> tuple[Row[Any], ...]:
    """Rows of the leaf and of the composites around it that lead to a state which may be entered, as declared."""
    parts = path.split("/")
    around = {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    return tuple(row for row in machine.rows if row.source in around and enabled(machine, landing(machine, row.dest)))


def landing(machine: Table[Any, Any], dest: str) -> str:
    """The leaf in which a transition to `dest` ends."""
    state = machine.states[dest]
    return landing(machine, f"{dest}/{state.initial}") if isinstance(state, Region) else dest


def enabled(machine: Table[Any, Any], path: str) -> bool:
    return machine.leaves[path].enabled


def winner(machine: Table[Any, Any], path: str, ready: Iterable[Row[Any]]) -> Row[Any] | None:
    """The first on the list of those that could fire."""
    rows = {(row.clause, row.guard_name, row.dest): row for row in ready}
    return next((rows[listed] for listed in ORDER[machine.name, path] if listed in rows), None)


def ready(machine: Table[Any, Any], path: str, row: Row[Any], held_s: float, in_state_s: float) -> bool:
    """DWELL-1 and DWELL-2: held long enough, and the state kept long enough unless it is about safety."""
    minimum = machine.leaves[path].min_dwell_s if row.min_dwell_s is None else row.min_dwell_s
    if row.priority.name == "SAFETY":
        minimum = 0.0
    return held_s >= row.dwell_s - 1e-6 and in_state_s >= minimum - 1e-6
