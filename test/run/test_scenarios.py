"""Every scenario of the project, driven to its end: what its head says that is to be seen, is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from run.traces import kept
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import Timeline, read_timeline
from tuling_fsm.core.standstills import NO_REASON
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file

pytestmark = pytest.mark.slow

Changes = Sequence[tuple[str, str]]
NORMAL, ENDED = ("on_road/normal", "REG-3"), ("departure/plan_once", "NOR-10")


@dataclass(frozen=True)
class Seen:
    """Changes of state (to, clause) that come in this order, others between them; stops for these reasons."""

    states: Changes
    supervisors: Changes = ()
    stops: Sequence[str] = ()
    end: str = "goal"
    overrides: tuple[tuple[str, str], ...] = ()


DOWN = (
    ("on_road/solid_line_free", "NOR-7"),
    ("on_road/no_line_free", "SLF-3"),
    ("on_road/replan", "NLF-2"),
)
THROUGH = (("intersection/safe_driving", "NOR-2"), ("on_road/normal", "INT-6"))
EXPECTED = {
    "regression": Seen((("on_road/regression", "DEP-2"), NORMAL, ENDED)),
    "regression, solid line": Seen((("on_road/regression", "DEP-2"), NORMAL, ENDED), overrides=(("rung", "2"),)),
    "regression, pavement": Seen((("on_road/regression", "DEP-2"), NORMAL, ENDED), overrides=(("rung", "3"),)),
    "solid_line_free": Seen((DOWN[0], ("on_road/normal", "SLF-2"), ENDED)),
    "no_line_free": Seen((*DOWN[:2], ("on_road/regression", "NLF-1"), NORMAL, ENDED)),
    "replan": Seen((*DOWN, ("on_road/regression", "RPL-2"), NORMAL, *THROUGH, ENDED)),
    "explore": Seen(
        (
            *DOWN, ("on_road/explore", "RPL-3"), ("on_road/replan", "EXP-4"), ("on_road/explore", "RPL-3"),
            ("on_road/regression", "EXP-2"), NORMAL, ENDED,
        )
    ),
    "tunnel": Seen((*DOWN, ("on_road/explore", "RPL-1"), ("on_road/regression", "EXP-2"), NORMAL, ENDED)),
    "junction_lights": Seen((*THROUGH, ENDED), stops=("RED_LIGHT",)),
    "junction_by_hand": Seen(
        (
            ("intersection/safe_driving", "NOR-2"), ("intersection/no_line_free", "INT-4"),
            ("intersection/safe_driving", "INT-5"), ("on_road/normal", "INT-6"), ENDED,
        )
    ),
    "rain": Seen((*THROUGH, ENDED), (("rain_fog/radar_and_history", "RFG-1"), ("rain_fog/clear", "RFG-1"))),
    "silent_link": Seen(
        (ENDED,), 2 * (("emergency_stop/link_lost", "EST-3"), ("emergency_stop/armed", "EST-3")), ("EMERGENCY_STOP",)
    ),
    "emergency_stop": Seen(
        (*THROUGH, ENDED), 3 * (("emergency_stop/stopped", "EST-1"), ("emergency_stop/armed", "EST-2")),
        ("EMERGENCY_STOP", "RED_LIGHT"),
    ),
    "server_away": Seen(
        (("on_road/regression", "DEP-2"), NORMAL, ENDED), (("route_refresh/idle", "RRF-3"),), ("NO_ROUTE",)
    ),
    "demo": Seen(
        (
            ("on_road/regression", "DEP-2"), NORMAL, *THROUGH, ("temporary_stop/approach", "NOR-1"),
            ("temporary_stop/stopped", "TMP-2"), ("temporary_stop/plan_once", "STP-1"), *THROUGH,
            ("temporary_stop/approach", "NOR-1"), ("temporary_stop/stopped", "TMP-2"),
            ("temporary_stop/pickup_decision", "STP-1"), *THROUGH, ("parking/slot_search", "NOR-8"),
            ("parking/slot_entry", "PRK-1"), ("parking/parked", "PRK-4"),
        ),
        (("emergency_stop/stopped", "EST-1"), ("emergency_stop/armed", "EST-2")),
        ("EMERGENCY_STOP", "ARRIVED"),
        end="parked",
    ),
    "parking": Seen(
        (
            ("parking/slot_search", "NOR-8"), ("parking/slot_entry", "PRK-1"), ("parking/slot_search", "PRK-3"),
            ("parking/slot_entry", "PRK-1"), ("parking/parked", "PRK-4"),
        ),
        end="parked",
    ),
}  # fmt: skip


@pytest.mark.clause(
    "REG-2", "REG-3", "SLF-2", "NLF-1", "RPL-1", "RPL-2", "RPL-3", "EXP-2", "EXP-4", "NLF-4", "INT-2", "INT-4", "INT-5",
    "INT-6", "RFG-1", "EST-1", "EST-2", "EST-3", "RRF-3", "PRK-2", "PRK-3", "PRK-4", "EXPL-1", "USE-1", "SIM-2",
)  # fmt: skip
@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_to_be_seen_is_seen_without_a_fault_and_every_stop_has_its_reason(name: str, tmp_path: Path) -> None:
    expected, file = EXPECTED[name], share_file("config", "scenarios", f"{name.split(',')[0]}.osc")
    result = run_scenario(RunSettings(file, seed=1, overrides=expected.overrides), out=tmp_path, film=False)
    assert (result["end"], result["finished"]) == (expected.end, True)
    faults = [infraction["kind"] for infraction in result["infractions"] if infraction["at_fault"]]
    assert not faults, result["infractions"]
    if not expected.overrides:
        assert result["trace_sha256"] == next(trace.sha256 for trace in kept() if trace.name == f"{name}:1")
    assert result["longest_unexplained_stop_s"] < 1.0
    assert result["flaps"] <= 1
    timeline = read_timeline(BagSource(tmp_path))
    assert _in_order(expected.states, [(row["to"], row["clause"]) for row in result["transitions"]])
    assert _in_order(
        expected.supervisors, [(change.dest, change.clause) for change in timeline.changes if change.supervisor]
    )
    assert {stop.primary.code for stop in timeline.stops} >= set(expected.stops)
    _explains_itself(timeline)
    assert [change.dest for change in timeline.changes if not change.supervisor] == [
        transition["to"] for transition in result["transitions"]
    ]


def _in_order(expected: Changes, seen: Iterable[tuple[str, str]]) -> bool:
    left = iter(seen)
    return all(change in left for change in expected)


def _explains_itself(timeline: Timeline) -> None:
    """EXPL-1: always exactly one primary reason, and for a stop one that says something."""
    for why in timeline.whys:
        assert [status.name for status in why.statuses].count("limit") == 1
    for stop in timeline.stops:
        assert stop.primary.code not in NO_REASON
        assert stop.unexplained_s < 1.0
