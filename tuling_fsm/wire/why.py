"""The topic `why`: what limits the car now, in words for people and pairs for programs (EXPL-1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.wire.diagnostics import Level, Status

if TYPE_CHECKING:
    from tuling_fsm.agent import Tick
    from tuling_fsm.machine.engine import Pending

WORDS = {
    Reason.NONE: "nothing limits the speed",
    Reason.SPEED_LIMIT: "the speed limit",
    Reason.CURVATURE: "a bend",
    Reason.LEADER: "a vehicle ahead",
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
    Reason.TARGET: "the target",
    Reason.NO_ROUTE: "there is no route",
    Reason.NOT_LOCALIZED: "the car is not localized",
    Reason.NO_ODOMETRY: "there is no odometry",
    Reason.EMERGENCY_STOP: "the emergency stop",
    Reason.ARRIVED: "the car has arrived",
    Reason.PLAN_REJECTED: "the plan did not pass its check",
    Reason.NO_PATH: "there is no path",
    Reason.START_OCCUPIED: "something stands where the car is",
    Reason.GOAL_OCCUPIED: "the goal is occupied",
    Reason.TIMEOUT: "the search used up its budget",
    Reason.OUTSIDE_MAP: "the car is outside the map",
}
"""Every reason in words."""
_FREE = (Reason.NONE, Reason.SPEED_LIMIT, Reason.CURVATURE)
"""Reasons that are no wait."""
_NOWHERE = 1e6


@dataclass(frozen=True)
class Binding:
    """What binds, and since when (s)."""

    code: str
    since: float

    @classmethod
    def of(cls, limit: Limit, before: Binding | None, stamp: float) -> Binding:
        """The present one; the same code as before keeps its time."""
        code = limit.reason.value
        return before if before is not None and before.code == code else cls(code, stamp)


def statuses(tick: Tick, binding: Binding) -> tuple[Status, ...]:
    """First what limits the car, then state, supervisors, candidates, and what else there is to say."""
    limit, decision = tick.limit, tick.decision
    soonest = _soonest(decision.pending)
    values = {
        "code": limit.reason.value,
        "distance": _metres(limit.distance),
        "blocker": "" if limit.blocker < 0 else str(limit.blocker),
        "waiting_for": limit.detail,
        "since": f"{binding.since:.3f}",
        "timeout_left": "" if soonest is None else f"{soonest.remaining_s:.2f}",
        "next_state": "" if soonest is None else soonest.dest,
    }
    level = Level.OK if limit.reason in _FREE else Level.WARN
    state = (("time_in_state", f"{decision.time_in_state_s:.2f}"), *((p.dest, _dwell(p)) for p in decision.pending))
    lost = Counter(candidate.rejected.value for candidate in tick.result.candidates)
    return (
        Status("limit", limit_in_words(limit), tuple(values.items()), level),
        Status("state", tick.state, state),
        Status("supervisors", ", ".join(" ".join(pair) for pair in decision.supervisors), decision.supervisors),
        Status("candidates", f"{sum(lost.values())} looked at", tuple((k, str(n)) for k, n in sorted(lost.items()))),
        *(Status("report", line, level=Level.WARN) for line in (*tick.world.reports, *decision.reports)),
    )


def limit_in_words(limit: Limit) -> str:
    """`a red light, signal 41 in 12.3 m`."""
    words = WORDS[limit.reason]
    if limit.detail:
        words += f", {limit.detail}"
    if limit.reason not in _FREE and 0.0 < limit.distance < _NOWHERE:
        words += f" in {limit.distance:.1f} m"
    return words


def explain(tick: Tick) -> str:
    """One sentence on what the car does and why."""
    decision = tick.decision
    speed = abs(tick.world.ego.v)
    motion = "standing" if speed < 0.1 else f"driving at {speed:.1f} m/s"
    sentence = (
        f"In {tick.state} for {decision.time_in_state_s:.1f} s, {motion}; limited by: {limit_in_words(tick.limit)}"
    )
    soonest = _soonest(decision.pending)
    if soonest is not None:
        sentence += f"; {soonest.dest} in {soonest.remaining_s:.1f} s if {soonest.guard} holds ({soonest.clause})"
    return sentence + "."


def _soonest(pending: tuple[Pending, ...]) -> Pending | None:
    return min(pending, key=lambda item: item.remaining_s, default=None)


def _dwell(pending: Pending) -> str:
    return f"{pending.guard} ({pending.clause}) for {pending.held_s:.2f} of {pending.dwell_s:.2f} s"


def _metres(distance: float) -> str:
    return f"{distance:.2f}" if distance < _NOWHERE else ""
