"""Waiting before a junction until the way through it, and the way out of it, are free (INT-7, USE-13)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tuling_fsm.behaviour.traffic.conflicts import (
    ConflictVehicle,
    JunctionPassage,
    conflict_vehicles,
    is_light,
    passage_through,
)
from tuling_fsm.behaviour.traffic.exit import blocked_exit
from tuling_fsm.behaviour.traffic.lines import lines_ahead
from tuling_fsm.behaviour.traffic.memory import JunctionKey, JunctionMemory
from tuling_fsm.behaviour.traffic.priority import ApproachControl, holds, waited_for
from tuling_fsm.behaviour.traffic.situation import TrafficSituation, WallReason
from tuling_fsm.behaviour.traffic.zones import SlowZone
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Reason, StopWall
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.map.ahead import JunctionAhead, StopLineAhead
from tuling_fsm.world.inputs import Light

_SEES_M = 2.0
_ARRIVING_SPEED = 4.0
_LATE_SPEED = 2.0
_AT_ENTRY_M = 3.0


class _Approach(NamedTuple):
    """One junction ahead: where the car stops for it, where it would be in it, and what controls it there."""

    junction: JunctionAhead
    passage: JunctionPassage
    stop: float
    """Its line, or once that is behind the car the last place before the junction."""
    entry: float
    control: ApproachControl
    sign: float
    """Where the car has a sign on its way from one of joined junctions to the next, `inf` for nowhere."""


def junction_rules(
    now: TrafficSituation,
    memory: Mapping[JunctionKey, JunctionMemory],
    walls: Sequence[tuple[float, StopWall]],
    closed: Sequence[float],
) -> tuple[tuple[tuple[float, StopWall], ...], dict[JunctionKey, JunctionMemory], tuple[SlowZone, ...]]:
    """Walls with their arc lengths, the memory of the junctions ahead, and where it is driven slowly.

    `walls` are those that are already there for other reasons, `closed` the arc lengths of closed lights.
    """
    approaches = [_approach(now, j, closed) for j in now.world.junctions if j.s_to > now.world.route_s]
    approaches = [
        a for a in approaches if a.passage.conflicts and a.entry - now.front < now.parameters.junction.horizon
    ]
    found: list[tuple[float, StopWall]] = []
    kept: dict[JunctionKey, JunctionMemory] = {}
    zones: list[SlowZone] = []
    for approach in approaches:
        if _is_slow(now, approach):
            begin, end = approach.stop - _SEES_M - now.vehicle.front, approach.entry + _SEES_M - now.vehicle.front
            zones.append(SlowZone(begin, end, now.parameters.junction.entry_speed))
        if approach.control is ApproachControl.CLOSED or now.front > approach.entry + now.parameters.line.tolerance:
            continue
        key = JunctionKey(approach.junction.junction.id, round(10.0 * approach.junction.s_from))
        hindrance, kept[key] = _judge(now, approach, memory.get(key, JunctionMemory()), walls)
        if hindrance is None:
            continue
        found.append((approach.stop, now.wall(approach.stop, *hindrance)))
        before = _no_room_before(now, approach, approaches)
        if before is not None:
            found.append((before, now.wall(before, Reason.JUNCTION_EXIT_BLOCKED, "no room before the next junction")))
    return tuple(found), kept, tuple(zones)


def _approach(now: TrafficSituation, junction: JunctionAhead, closed: Sequence[float]) -> _Approach:
    entry = junction.s_from - now.parameters.junction.setback
    first = max((j.s_to for j in now.world.junctions if j.s_to <= junction.s_from), default=-math.inf)
    first = max(first, junction.s_from - now.parameters.junction.line_reach)
    stop, control, sign = -math.inf, ApproachControl.NONE, math.inf
    for ahead, s in lines_ahead(now):
        line = ahead.line
        if not first <= s <= junction.s_from + _AT_ENTRY_M:
            continue
        stop = max(stop, s)
        if line.kind in ("stop", "yield"):
            control = ApproachControl.SIGN if control is ApproachControl.NONE else control
            sign = min(sign, ahead.s if ahead.s > junction.s_from + _AT_ENTRY_M else math.inf)
        elif s in closed:
            control = ApproachControl.CLOSED
        elif control is not ApproachControl.CLOSED and _opens(now, junction, ahead):
            control = ApproachControl.GREEN
    entry = max(entry, stop)
    if now.front > stop + now.parameters.line.tolerance:
        stop = entry
    return _Approach(junction, passage_through(now, junction), stop, entry, control, sign)


def _opens(now: TrafficSituation, junction: JunctionAhead, ahead: StopLineAhead) -> bool:
    """Whether a light gives the car its way into a junction: one on the way from a joined one to the next does not."""
    lane = now.road_map.lanes[now.route.lanes[now.route.index_at(ahead.s)].lane]
    before = ahead.s <= junction.s_from + _AT_ENTRY_M or lane.junction == junction.junction.id
    return before and now.world.lights.get(ahead.line.signal) in (Light.GREEN, Light.YELLOW)


def _control_over(now: TrafficSituation, approach: _Approach, other: ConflictVehicle) -> ApproachControl:
    """What gives the car its right of way over a vehicle. A light before joined junctions does not where the car has a
    sign before a later one, nor over who comes into a later one without a light.
    """
    lane = now.road_map.lanes[now.index.ids[other.conflict.lane]]
    later = lane.junction != approach.junction.junction.id
    if approach.control is not ApproachControl.GREEN or other.inside or not later:
        return approach.control
    if other.conflict.own_to > approach.sign:
        return ApproachControl.SIGN
    return ApproachControl.GREEN if is_light(now, other.line) else ApproachControl.NONE


def _judge(
    now: TrafficSituation, approach: _Approach, past: JunctionMemory, walls: Sequence[tuple[float, StopWall]]
) -> tuple[WallReason | None, JunctionMemory]:
    """Whether the car has to wait before a junction, and the new memory of it."""
    gap = approach.stop - now.front
    present = conflict_vehicles(now, approach.passage)
    past = _arrivals(now, gap, present, past)
    blocking = [p for p in present if holds(now, _control_over(now, approach, p), gap, p, past)]
    if waited_for(now, past) >= now.parameters.junction.deadlock and all(p.speed < AGENT_STANDS for p in blocking):
        blocking = []
    hindrance = blocked_exit(now, approach.junction, walls)
    if blocking:
        first = min(blocking, key=lambda p: (p.to_conflict, p.id))
        hindrance = WallReason(Reason.JUNCTION_OCCUPIED, f"object {first.id}", first.id)
    if hindrance is not None:
        entered = not past.held and now.v > _LATE_SPEED and now.decel_for(gap) > now.parameters.junction.late_decel
        if entered:
            return None, past
        return hindrance, replace(past, held=True, going=False, clear_since=math.inf)
    if not past.held:
        return None, replace(past, going=past.going or math.isfinite(past.arrived))
    since = min(past.clear_since, now.now)
    if now.now - since < now.parameters.junction.clear_hold - 1e-9:
        return WallReason(Reason.JUNCTION_OCCUPIED, "clear for a moment only", -1), replace(past, clear_since=since)
    return None, replace(past, held=False, going=True, clear_since=math.inf)


def _arrivals(
    now: TrafficSituation, gap: float, present: Sequence[ConflictVehicle], past: JunctionMemory
) -> JunctionMemory:
    """Note which vehicles have come to their lines, the car included; forget those that have gone.

    A stamp that lies ahead is of before the clock was set back, and becomes the present one (DWELL-5).
    """
    zone = now.parameters.junction.arrival_zone
    arrived = min(past.arrived, now.now) if math.isfinite(past.arrived) else math.inf
    if not math.isfinite(arrived) and gap < zone and now.v < _ARRIVING_SPEED:
        arrived = now.now
    other_arrivals = {}
    for other in present:
        if other.id in past.other_arrivals:
            other_arrivals[other.id] = min(past.other_arrivals[other.id], now.now)
        elif other.to_stop < zone and other.speed < _ARRIVING_SPEED:
            other_arrivals[other.id] = now.now - other.standing_for
    return replace(past, arrived=arrived, other_arrivals=other_arrivals)


def _is_slow(now: TrafficSituation, approach: _Approach) -> bool:
    """Whether vehicles may come that the car has to let by."""
    if approach.control in (ApproachControl.GREEN, ApproachControl.CLOSED) or now.front > approach.entry + _SEES_M:
        return False
    return approach.control is ApproachControl.SIGN or not approach.passage.has_priority


def _no_room_before(now: TrafficSituation, held: _Approach, approaches: Sequence[_Approach]) -> float | None:
    """Stop point of the first of the junctions before `held` that have no room for the car between each other."""
    need, stop = now.vehicle.length + now.parameters.junction.exit_margin, None
    later = held
    for earlier in reversed([a for a in approaches if a.junction.s_from < held.junction.s_from]):
        if later.stop - earlier.junction.s_to >= need or now.front > earlier.entry + now.parameters.line.tolerance:
            break
        stop, later = earlier.stop, earlier
    return stop
