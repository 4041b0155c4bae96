"""The topic `why`: what limits the car now, in words for people and pairs for programs (EXPL-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tuling_fsm.core.notice import Notice
from tuling_fsm.core.request import Candidate, Limit, Reason
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.wire import chinese
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus

if TYPE_CHECKING:
    from tuling_fsm.agent import Tick
    from tuling_fsm.behaviour.deadlines import Timeout
    from tuling_fsm.behaviour.decision import Decision, TransitionEvent
    from tuling_fsm.machine.engine import Pending

WORDS = {
    Reason.NONE: "nothing limits the speed",
    Reason.SPEED_LIMIT: "the speed limit",
    Reason.CURVATURE: "a bend",
    Reason.PASSING: "what it passes closely",
    Reason.LEADER: "a vehicle ahead",
    Reason.QUEUE: "a queue",
    Reason.CROSSING: "crossing traffic",
    Reason.OBSTACLE: "an obstacle",
    Reason.RED_LIGHT: "a red light",
    Reason.STOP_SIGN: "a stop sign",
    Reason.PEDESTRIAN: "a pedestrian",
    Reason.JUNCTION_OCCUPIED: "traffic in the junction",
    Reason.JUNCTION_EXIT_BLOCKED: "the junction's exit is blocked",
    Reason.LANE_END: "the end of the lane",
    Reason.ROUTE_END: "the end of the route",
    Reason.GEAR_CHANGE: "a change of gear",
    Reason.STEERING: "the wheels are being turned",
    Reason.TARGET: "the target",
    Reason.PLANNING: "a way is still searched for",
    Reason.NO_ROUTE: "there is no route",
    Reason.NOT_LOCALIZED: "the car is not localized",
    Reason.NO_ODOMETRY: "there is no odometry",
    Reason.OBJECTS_STALE: "perception is silent",
    Reason.RADAR_STALE: "the radar is silent",
    Reason.EMERGENCY_STOP: "the emergency stop",
    Reason.ARRIVED: "the car has arrived",
    Reason.MATCH_OVER: "the match time is over",
    Reason.PLAN_REJECTED: "the plan did not pass its check",
    Reason.NO_PATH: "there is no path",
    Reason.START_OCCUPIED: "something stands where the car is",
    Reason.GOAL_OCCUPIED: "the goal is occupied",
    Reason.TIMEOUT: "the search used up its budget",
    Reason.OUTSIDE_MAP: "the car or its goal is outside the map",
}
"""Every reason in words."""
_FREE = (Reason.NONE, Reason.SPEED_LIMIT, Reason.CURVATURE, Reason.PASSING)
"""Reasons that are no wait."""
_NOWHERE = 1e6


@dataclass(frozen=True)
class Binding:
    """What binds, which object does, and since when (s)."""

    code: str
    blocker: int
    since: float

    @classmethod
    def of(cls, limit: Limit, before: Binding | None, stamp: float) -> Binding:
        """The present one; the same one as before keeps its time."""
        new = cls(limit.reason.value, limit.blocker, stamp)
        if before is None or before.since > stamp or (before.code, before.blocker) != (new.code, new.blocker):
            return new
        return before


class NextTransition(NamedTuple):
    """What happens next if nothing changes: the state that follows, the guard and clause that lead there, and when
    (s from now).
    """

    dest: str
    guard: str
    clause: str
    remaining_s: float


class Failure(NamedTuple):
    """Why what is sent does not come from the planner: as a code, and in words by language."""

    code: Reason
    words: Mapping[str, str]


def statuses(tick: Tick, binding: Binding) -> tuple[DiagnosticStatus, ...]:
    """First what limits the car, then state, rejected rows, supervisors, candidates, and what else there is to say."""
    limit, decision = tick.limit, tick.decision
    soonest = _soonest(decision)
    values = {
        "code": limit.reason.value,
        "distance": _metres(limit.distance),
        "blocker": "" if limit.blocker < 0 else str(limit.blocker),
        "waiting_for": limit.detail,
        "since": f"{binding.since:.3f}",
        "timeout_left": "" if soonest is None else f"{soonest.remaining_s:.2f}",
        "next_state": "" if soonest is None else soonest.dest,
    }
    level = DiagnosticLevel.OK if limit.reason in _FREE else DiagnosticLevel.WARN
    state = (("time_in_state", f"{decision.time_in_state_s:.2f}"), *((p.dest, _dwell(p)) for p in decision.pending))
    return (
        DiagnosticStatus("limit", limit_in_words(limit), tuple(values.items()), level),
        DiagnosticStatus("state", tick.state, state),
        *_rejected(decision.transition),
        DiagnosticStatus(
            "supervisors", ", ".join(" ".join(pair) for pair in decision.supervisors), decision.supervisors
        ),
        _candidates(tick.result.candidates),
        *(DiagnosticStatus("report", line, level=_level(line)) for line in reports(tick)),
    )


def reports(tick: Tick) -> tuple[str, ...]:
    """What a tick reports: what is wrong with its inputs, and what has come to pass."""
    return (*tick.world.reports, *tick.decision.reports)


def _level(line: str) -> DiagnosticLevel:
    return DiagnosticLevel.OK if isinstance(line, Notice) else DiagnosticLevel.WARN


def _rejected(event: TransitionEvent | None) -> tuple[DiagnosticStatus, ...]:
    """The rows that had matured too on the tick of a transition, but lost."""
    if event is None or not event.rejected:
        return ()
    values = tuple((str(number), row) for number, row in enumerate(event.rejected, start=1))
    return (DiagnosticStatus("rejected", f"{len(values)} rows lost to {event.guard} ({event.clause})", values),)


def _candidates(candidates: tuple[Candidate, ...]) -> DiagnosticStatus:
    """What became of every alternative that the planner looked at."""
    lost = Counter(candidate.rejected.value for candidate in candidates if candidate.rejected is not Reason.NONE)
    words = ", ".join(f"{count} lost by {code}" for code, count in sorted(lost.items()))
    values = tuple(
        (
            f"lane {candidate.shift:+d}, {candidate.offset:+.2f} m",
            f"{'won' if candidate.rejected is Reason.NONE else candidate.rejected.value}, cost {candidate.cost:.2f}",
        )
        for candidate in candidates
    )
    return DiagnosticStatus("candidates", f"{len(candidates)} looked at" + (f": {words}" if words else ""), values)


def limit_in_words(limit: Limit) -> str:
    """`a red light, signal 41 in 12.3 m`."""
    words = WORDS[limit.reason]
    if limit.detail:
        words += f", {limit.detail}"
    if _is_ahead(limit):
        words += f" in {limit.distance:.1f} m"
    return words


def explain(tick: Tick, language: str = "en") -> str:
    """One sentence on what the car does and why, in one of `LANGUAGES`."""
    return _IN[language](tick, _soonest(tick.decision))


def _in_english(tick: Tick, soonest: NextTransition | None) -> str:
    speed, decision = abs(tick.world.ego.v), tick.decision
    motion = "standing" if speed < VEHICLE_STANDS else f"driving at {speed:.1f} m/s"
    sentence = (
        f"In {tick.state} for {decision.time_in_state_s:.1f} s, {motion}; limited by: {limit_in_words(tick.limit)}"
    )
    if soonest is not None:
        sentence += f"; {soonest.dest} in {soonest.remaining_s:.1f} s if {soonest.guard} holds ({soonest.clause})"
    return sentence + "."


def _in_chinese(tick: Tick, soonest: NextTransition | None) -> str:
    speed, limit = abs(tick.world.ego.v), tick.limit
    motion = "静止" if speed < VEHICLE_STANDS else f"以 {speed:.1f} m/s 行驶"
    reason = chinese.WORDS[limit.reason]
    if limit.detail:
        reason += f"({limit.detail})"
    if _is_ahead(limit):
        reason += f",距离 {limit.distance:.1f} m"
    sentence = f"状态 {tick.state} 已持续 {tick.decision.time_in_state_s:.1f} s,{motion};限速原因:{reason}"
    if soonest is not None:
        sentence += f";若 {soonest.guard} 保持成立,{soonest.remaining_s:.1f} s 后转入 {soonest.dest}({soonest.clause})"
    return sentence + "。"


PLANNER_FAILED = Failure(
    Reason.PLAN_REJECTED, {"en": "the planner failed, the car is braking", "zh": chinese.PLANNER_FAILED}
)
CLOCK_STANDS = Failure(
    Reason.NO_ODOMETRY, {"en": "the ROS clock stands, the car is braking", "zh": chinese.CLOCK_STANDS}
)
_IN: Mapping[str, Callable[[Tick, NextTransition | None], str]] = {"en": _in_english, "zh": _in_chinese}
LANGUAGES = tuple(_IN)
"""What `explain` speaks."""


def _is_ahead(limit: Limit) -> bool:
    """Whether the limit has a place on the way."""
    return limit.reason not in _FREE and 0.0 < limit.distance < _NOWHERE


def _soonest(decision: Decision) -> NextTransition | None:
    """A row whose dwell runs, or the state's deadline: whichever is due first."""
    rows: list[Pending | Timeout] = list(decision.pending)
    if decision.timeout is not None:
        rows.append(decision.timeout)
    due = (NextTransition(row.dest, row.guard, row.clause, row.remaining_s) for row in rows)
    return min(due, key=lambda row: row.remaining_s, default=None)


def _dwell(pending: Pending) -> str:
    return f"{pending.guard} ({pending.clause}) for {pending.held_s:.2f} of {pending.dwell_s:.2f} s"


def _metres(distance: float) -> str:
    return f"{distance:.2f}" if distance < _NOWHERE else ""
