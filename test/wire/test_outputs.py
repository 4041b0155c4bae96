"""What a tick says on the topics, when, and in which words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.deadlines import Timeout
from tuling_fsm.behaviour.decision import TransitionEvent
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.notice import Notice
from tuling_fsm.core.request import (
    Candidate,
    FollowLanes,
    FreeSpace,
    Hold,
    Limit,
    PlanResult,
    PullOver,
    Reason,
    StopWall,
)
from tuling_fsm.core.scene import Ego
from tuling_fsm.core.topics import MARKERS
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.machine.engine import Pending
from tuling_fsm.wire import cdr, chinese
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus, unpack_diagnostics
from tuling_fsm.wire.indicators import indicator
from tuling_fsm.wire.outputs import Outputs
from tuling_fsm.wire.paths import unpack_path
from tuling_fsm.wire.text import unpack_json, unpack_string
from tuling_fsm.wire.why import WORDS, explain, limit_in_words

RED = Limit(Reason.RED_LIGHT, 12.34, "signal 41", 41)
LANES = FollowLanes((), (StopWall(10.0, 1.0, 10.0, 4.0, Reason.RED_LIGHT, "signal 41", 41),), 8.0)
EVENT = TransitionEvent(7, 1.5, "on_road/normal", "intersection/safe_driving", "NOR-2", "at_junction", 0.3, ("NOR-9",))


def straight(stamp: float, sideways: float = 0.0, v: float = 5.0) -> Trajectory:
    t = 0.1 * np.arange(61)
    zero = np.zeros(61)
    return Trajectory(stamp, t, v * t, sideways * np.minimum(t / 3.0, 1.0), zero, zero, zero + v, zero)


def tick(stamp: float = 1.0, limit: Limit = RED, **change: Any) -> Any:
    decision: dict[str, Any] = {
        "request": LANES, "time_in_state_s": 3.2, "transition": None, "supervisor_transitions": (),
        "supervisors": (("emergency_stop", "armed"), ("rain_fog", "clear")), "route_blocked": None,
        "route_requests": (),
        "pending": (Pending("on_road/replan", "no_path", "NLF-2", 0.1, 0.3, 0.2),), "reports": ("route 3: refused",),
        "flaps": 0, "timeout": None,
    }  # fmt: skip
    world: dict[str, Any] = {
        "route": None, "route_s": 0.0, "route_offset": 0.0, "junctions": (), "reports": ("objects stale",),
        "ego": Ego(Pose(0.0, 0.0, 0.0), 5.0, 0.0, 0.0),
    }  # fmt: skip
    candidates = (Candidate(30.0, 0.0, 0, 0.0, 1.0, Reason.NONE), Candidate(30.0, 3.0, 1, 0.0, 2.0, Reason.OBSTACLE))
    result = PlanResult(True, None, limit, alternatives=lambda: candidates)
    made = {"stamp": stamp, "state": "on_road/normal", "trajectory": straight(stamp), "result": result, "limit": limit}
    decision.update({key: value for key, value in change.items() if key in decision})
    world.update({key: value for key, value in change.items() if key in world})
    made.update({key: value for key, value in change.items() if key in made})
    return SimpleNamespace(decision=SimpleNamespace(**decision), world=SimpleNamespace(**world), **made)


def said(messages: list[tuple[str, bytes]], topic: str) -> list[bytes]:
    return [raw for name, raw in messages if name == topic]


def test_words_are_sent_when_they_change():
    outputs = Outputs()
    first = outputs.messages(tick(1.0), 10**9)
    assert {name: unpack_string(raw, name) for name, raw in first if name in ("state", "sensors", "indicators")} == {
        "state": "on_road/normal", "sensors": "all", "indicators": "off",
    }  # fmt: skip
    rain = outputs.messages(tick(1.02, supervisors=(("rain_fog", "radar_and_history"),)), 1_020_000_000)
    assert [unpack_string(raw, "sensors") for raw in said(rain, "sensors")] == ["radar_and_history"]
    outputs.messages(tick(1.03), 1_030_000_000)
    second = outputs.messages(tick(1.05, state="on_road/explore"), 1_050_000_000)
    assert sorted(name for name, _ in second if name in ("state", "sensors", "indicators")) == ["indicators", "state"]


@pytest.mark.clause("EXPL-1")
def test_why_is_sent_at_its_rate_and_at_once_when_the_reason_changes():
    outputs, sent = Outputs(), []
    for k in range(40):
        limit = RED if k < 21 else Limit(Reason.LEADER, 5.0)
        messages = outputs.messages(tick(k / 20, limit), k * 50_000_000, wanted="why".__eq__)
        assert not said(messages, "markers")
        if said(messages, "why"):
            sent.append(k)
    assert sent == [0, 4, 8, 12, 16, 20, 21, 25, 29, 33, 37]


@pytest.mark.clause("SAF-3", "TMP-3", "DWELL-5", "NOR-11")
@pytest.mark.parametrize("phase", range(1, 8))
@pytest.mark.parametrize("source", ["decision", "world"])
def test_what_a_tick_reports_is_sent_at_once_whenever_it_comes(phase: int, source: str):
    outputs, line = Outputs(), "pick-up of task 1 is dropped"
    ticks = [tick(k / 20) for k in range(9)]
    for k, each in enumerate(ticks):
        each.world.reports = each.decision.reports = ()
        if k == phase:
            getattr(each, source).reports = (line,)
    sent = [said(outputs.messages(each, k * 50_000_000), "why") for k, each in enumerate(ticks)]
    told = [k for k, whys in enumerate(sent) for why in whys if line in map(_message, unpack_diagnostics(why, "why"))]
    assert told == [phase]


@pytest.mark.clause("SAF-3")
def test_what_is_measured_may_be_whole_or_large():
    outputs, told = Outputs(), []
    for k, v in enumerate((101.0, 102.5, 1e7, 1.5e8, 103.0)):
        outputs.messages(tick(k / 20, reports=(f"odometry: speed {v:g} m/s out of range",)), k * 50_000_000)
        told += [line for line in outputs.new_reports if "odometry" in line]
    assert told == ["odometry: speed 101 m/s out of range"]


def _message(status: DiagnosticStatus) -> str:
    return status.message


@pytest.mark.clause("SAF-3")
def test_a_fault_that_comes_and_goes_is_told_again_only_after_a_while():
    outputs, told, sent = Outputs(), [], 0
    for k in range(240):
        each = tick(k / 20, reports=(f"objects: stamp {k / 20 + 1:.3f} s lies ahead",) if k % 2 else ())
        each.decision.reports = (f"task {k // 100} is served",)
        sent += len(said(outputs.messages(each, k * 50_000_000), "why"))
        told += outputs.new_reports
    assert [line for line in told if "task" in line] == [f"task {number} is served" for number in (0, 1, 2)]
    assert [line for line in told if "stamp" in line] == [
        f"objects: stamp {t:.3f} s lies ahead" for t in (1.05, 6.05, 11.05)
    ]
    assert sent <= 12 * 5 + len(told)


@pytest.mark.clause("EXPL-1")
def test_the_first_status_of_why_is_what_limits_the_car():
    outputs = Outputs()
    outputs.messages(tick(1.0), 10**9)
    told = tick(2.0)
    told.decision.reports = ("route 3: refused", Notice("switched to another route"))
    raw = said(outputs.messages(told, 2 * 10**9), "why")[0]
    limit, state, supervisors, candidates, *reports = unpack_diagnostics(raw, "why")
    assert candidates.message == "2 looked at: 1 lost by OBSTACLE"
    assert (limit.message, limit.level) == ("a red light, signal 41 in 12.3 m", DiagnosticLevel.WARN)
    assert dict(limit.values) == {
        "code": "RED_LIGHT", "distance": "12.34", "blocker": "41", "waiting_for": "signal 41", "since": "1.000",
        "timeout_left": "0.20", "next_state": "on_road/replan",
    }  # fmt: skip
    assert state.message == "on_road/normal"
    assert dict(state.values) == {"time_in_state": "3.20", "on_road/replan": "no_path (NLF-2) for 0.10 of 0.30 s"}
    assert supervisors.message == "emergency_stop armed, rain_fog clear"
    assert dict(candidates.values) == {
        "lane +0, +0.00 m": "won, cost 1.00", "lane +1, +0.00 m": "OBSTACLE, cost 2.00",
    }  # fmt: skip
    assert [(status.message, status.level) for status in reports] == [
        ("objects stale", DiagnosticLevel.WARN),
        ("route 3: refused", DiagnosticLevel.WARN),
        ("switched to another route", DiagnosticLevel.OK),
    ]


@pytest.mark.clause("EXPL-1")
def test_rows_that_lost_to_a_transition_are_named():
    raw = said(Outputs().messages(tick(transition=EVENT), 10**9), "why")[0]
    rejected = next(status for status in unpack_diagnostics(raw, "why") if status.name == "rejected")
    assert rejected.message == "1 rows lost to at_junction (NOR-2)"
    assert rejected.values == (("1", "NOR-9"),)


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize(("left", "told"), [(7.5, ("0.20", "on_road/replan")), (0.1, ("0.10", "on_road/explore"))])
def test_the_time_left_is_that_of_the_row_that_is_due_first(left: float, told: tuple[str, str]):
    timeout = Timeout("on_road/explore", "overdue", "USE-2", left)
    raw = said(Outputs().messages(tick(timeout=timeout), 10**9), "why")[0]
    values = dict(unpack_diagnostics(raw, "why")[0].values)
    assert (values["timeout_left"], values["next_state"]) == told


@pytest.mark.clause("EXPL-1")
def test_since_is_that_of_the_present_blocker():
    outputs, since = Outputs(), []
    for k, blocker in enumerate((4, 4, 5, 5, 4)):
        raw = said(outputs.messages(tick(k, Limit(Reason.LEADER, 9.0 - k, blocker=blocker)), k * 10**9), "why")[0]
        since.append(dict(unpack_diagnostics(raw, "why")[0].values)["since"])
    assert since == ["0.000", "0.000", "2.000", "2.000", "4.000"]
    again = said(outputs.messages(tick(1, Limit(Reason.LEADER, 5.0, blocker=4)), 10**9), "why")[0]
    assert dict(unpack_diagnostics(again, "why")[0].values)["since"] == "1.000", "time jumped back"


def test_every_reason_has_words_in_every_language():
    assert set(WORDS) == set(chinese.WORDS) == set(Reason)
    assert limit_in_words(Limit(Reason.SPEED_LIMIT, 3.0)) == "the speed limit"


@pytest.mark.clause("EXPL-1")
def test_the_explanation_is_one_sentence():
    assert explain(tick()) == (
        "In on_road/normal for 3.2 s, driving at 5.0 m/s; limited by: a red light, signal 41 in 12.3 m; "
        "on_road/replan in 0.2 s if no_path holds (NLF-2)."
    )
    assert "standing" in explain(tick(ego=Ego(Pose(0, 0, 0), 0.0, 0.0, 0.0)))
    assert explain(tick(), "zh") == (
        "状态 on_road/normal 已持续 3.2 s,以 5.0 m/s 行驶;限速原因:红灯(signal 41),距离 12.3 m;"
        "若 no_path 保持成立,0.2 s 后转入 on_road/replan(NLF-2)。"
    )


def test_transitions_go_out_in_their_order_with_those_of_supervisors_marked():
    stop = replace(EVENT, seq=6, source="armed", dest="stopped", clause="EST-1")
    messages = Outputs().messages(tick(transition=EVENT, supervisor_transitions=(stop,)), 1_500_000_000)
    first, second = (unpack_json(raw, "transition") for raw in said(messages, "transition"))
    assert (first["to"], first["supervisor"]) == ("stopped", True)
    assert second == {
        "seq": 7, "stamp": 1.5, "from": "on_road/normal", "to": "intersection/safe_driving", "supervisor": False,
        "clause": "NOR-2", "guard": "at_junction", "dwell_s": 0.3, "rejected": ["NOR-9"],
    }  # fmt: skip


def test_a_blocked_part_of_the_route_is_told_once():
    points = np.array([[1.0, 2.0, 0.0], [3.0, 2.0, 0.0]])
    outputs = Outputs()
    raw = said(outputs.messages(tick(route_blocked=points), 10**9), "route_blocked")[0]
    np.testing.assert_allclose(unpack_path(raw, "route_blocked")[1], points)
    assert not said(outputs.messages(tick(), 2 * 10**9), "route_blocked")


def test_markers_show_path_candidates_target_and_walls():
    raw = said(Outputs().messages(tick(), 10**9), "markers")[0]
    markers = cdr.unpack(raw, MARKERS, "test").markers
    assert Counter(m.ns for m in markers) == {"path": 1, "candidates": 1, "winner": 1, "walls": 2}
    assert len({m.id for m in markers}) == len(markers)
    assert [m.text for m in markers if m.text] == ["a red light, signal 41"]
    assert all(m.header.frame_id == "map" for m in markers)
    free = tick(request=FreeSpace(Pose(4.0, 5.0, 0.5)))
    target = [
        m
        for m in cdr.unpack(said(Outputs().messages(free, 1), "markers")[0], MARKERS, "test").markers
        if m.ns == "target"
    ]
    assert (target[0].pose.position.x, target[0].pose.position.y) == (4.0, 5.0)
    pull_over = tick(request=PullOver((Pose(4.0, 5.0, 0.5), Pose(9.0, 5.0, 0.5))))
    shown = cdr.unpack(said(Outputs().messages(pull_over, 1), "markers")[0], MARKERS, "test").markers
    assert [m.pose.position.x for m in shown if m.ns == "target"] == [4.0, 9.0]


def bend(turn: float) -> Any:
    """A route that goes straight on for 40 m and then turns."""
    s = np.arange(0.0, 80.0, 1.0)
    heading = np.where(s < 40.0, 0.0, turn * np.minimum((s - 40.0) / 10.0, 1.0))
    xy = np.column_stack((np.cumsum(np.cos(heading)), np.cumsum(np.sin(heading))))
    return SimpleNamespace(reference=Polyline.of(xy, heading))


JUNCTION = SimpleNamespace(s_from=38.0, s_to=52.0)


@pytest.mark.clause("USE-14")
@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({}, "off"),
        ({"trajectory": straight(1.0, 3.0), "route": bend(0.0)}, "left"),
        ({"trajectory": straight(1.0, -3.0), "route": bend(0.0)}, "right"),
        ({"trajectory": straight(1.0, 0.5), "route": bend(0.0)}, "off"),
        ({"route": bend(1.5), "junctions": (JUNCTION,), "route_s": 20.0}, "left"),
        ({"route": bend(-1.5), "junctions": (JUNCTION,), "route_s": 20.0}, "right"),
        ({"route": bend(-1.5), "junctions": (JUNCTION,), "route_s": 1.0}, "off"),
        ({"route": bend(0.1), "junctions": (JUNCTION,), "route_s": 20.0}, "off"),
        ({"request": Hold(Reason.EMERGENCY_STOP, emergency=True)}, "hazard"),
        ({"request": Hold(Reason.ARRIVED)}, "off"),
        ({"request": Hold(Reason.RED_LIGHT)}, "off"),
        ({"request": Hold(Reason.STOP_SIGN, emergency=True)}, "off"),
        ({"state": "on_road/explore"}, "hazard"),
        ({"state": "temporary_stop/stopped"}, "hazard"),
        ({"state": "temporary_stop/approach"}, "right"),
        ({"state": "parking/slot_search"}, "off"),
        ({"state": "parking/slot_entry"}, "hazard"),
        ({"state": "parking/parked", "request": Hold(Reason.ARRIVED)}, "off"),
        ({"state": "parking/parked", "request": Hold(Reason.TIMEOUT)}, "hazard"),
    ],
)
def test_the_light_follows_the_plan(change, shown):
    assert indicator(tick(**change)) == shown


@pytest.mark.clause("USE-14")
@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"state": "temporary_stop/approach"}, "left"),
        ({"state": "temporary_stop/approach", "trajectory": straight(1.0, -3.0), "route": bend(0.0)}, "right"),
        ({"state": "temporary_stop/stopped"}, "hazard"),
        ({"route": bend(-1.5), "junctions": (JUNCTION,), "route_s": 20.0}, "right"),
    ],
)
def test_in_left_hand_traffic_the_kerb_is_on_the_left(change, shown):
    assert indicator(tick(**change), left_hand=True) == shown
