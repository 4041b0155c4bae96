"""Which vehicles the car lets by at a junction (INT-7): first come, first served, with a gap check; signs and turns go
before that.
"""

from __future__ import annotations

import math
from enum import Enum

from tuling_fsm.behaviour.traffic.conflicts import ConflictVehicle, OpposingTurn, is_light
from tuling_fsm.behaviour.traffic.memory import JunctionMemory
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.lane_index import STOP, YIELD

_CLOSED = (Light.RED, Light.RED_YELLOW, Light.YELLOW)
_INSISTING = 0.4
"""Share of the time margins that is kept once it is the car's turn."""
_STARTING_ACCEL = 1.2
_TOWN_SPEED = 8.0
_WAITS_BEFORE_M = 0.3
_LEAST_SPEED = 1.0
_STARTING_SPEED = 1.0
_TIE_S = 0.5
_AT_LINE_M = 1.0
_SECOND_S = 2.0


class ApproachControl(str, Enum):
    """What gives the car's own approach its right of way."""

    CLOSED = "closed"
    """A light that has to be waited for: until then no turn is counted."""
    GREEN = "green"
    SIGN = "sign"
    NONE = "none"


class Precedence(Enum):
    """Which vehicle goes first by sign or turn."""

    CAR = 1
    OTHER = 2
    EQUAL = 3


def holds(
    now: TrafficSituation, control: ApproachControl, own_gap: float, other: ConflictVehicle, past: JunctionMemory
) -> bool:
    """Whether the car has to wait for another vehicle; `own_gap` is the way of its front to its stop point (m)."""
    patient = waited_for(now, past) <= now.parameters.junction.patience
    if _closed_for(now, other) or not _meet(now, other, 1.0 if patient and not past.going else _INSISTING):
        return False
    tired = _tired(now, other, past)
    rank, turns = _rank(now, control, other, patient), other.conflict.across is OpposingTurn.OTHER
    waits_inside = other.inside and other.speed < AGENT_STANDS and other.to_conflict > _WAITS_BEFORE_M
    if other.inside and not waits_inside:
        return not tired and (other.likeliest or not turns)
    if rank is Precedence.OTHER:
        return not tired and not (past.going and other.speed < _STARTING_SPEED)
    if turns:
        return False
    can_stop = other.speed * other.speed <= 2.0 * now.parameters.junction.others_decel * max(_room(other), 0.05)
    if not can_stop:
        return True
    if rank is Precedence.CAR or waits_inside:
        return False
    if past.going:
        return other.speed > AGENT_STANDS and other.to_stop < _AT_LINE_M and _gets_there_first(now, other)
    return not tired and _came_first(now, own_gap, other, past)


def waited_for(now: TrafficSituation, past: JunctionMemory) -> float:
    """How long the car has stood at its line, s."""
    return max(min(now.world.standing_for, now.now - past.arrived), 0.0)


def _gets_there_first(now: TrafficSituation, other: ConflictVehicle) -> bool:
    """Whether a vehicle that has set off at the same time as the car is at the conflict before it, or about so."""
    theirs = max(other.to_conflict, 0.0) / max(other.speed, _LEAST_SPEED)
    return theirs < now.time_to(other.conflict.own_from - now.front) + _TIE_S


def _tired(now: TrafficSituation, other: ConflictVehicle, past: JunctionMemory) -> bool:
    """Whether both have stood long enough for the car to go first.

    Of two that wait for each other the one that has stood longer goes first, and of two that came at once the western
    (southern) one: both sides see it the same way.
    """
    waited, patience = waited_for(now, past), now.parameters.junction.passed_over
    x, y = float(now.world.traffic.x[other.row]), float(now.world.traffic.y[other.row])
    tie = abs(other.standing_for - waited) < _TIE_S
    later = (x, y) < now.world.ego.pose[:2] if tie else other.standing_for > waited
    return other.standing_for >= patience and waited >= patience + (_SECOND_S if later else 0.0)


def _room(other: ConflictVehicle) -> float:
    return other.to_conflict if other.inside else other.to_stop


def _closed_for(now: TrafficSituation, other: ConflictVehicle) -> bool:
    """Whether a light that is known to be closed stops the other."""
    if other.inside or not is_light(now, other.line):
        return False
    state = now.world.lights.get(int(now.index.arrays.line_signal[other.line]))
    can_stop = other.speed * other.speed <= 2.0 * now.parameters.junction.others_decel * max(other.to_stop, 0.05)
    return state in _CLOSED and can_stop


def _meet(now: TrafficSituation, other: ConflictVehicle, share: float) -> bool:
    """Whether the times in the conflict overlap if both go on, with a share of the usual margin."""
    conflict, own = other.conflict, now.vehicle.length
    enters = now.time_to(conflict.own_from - now.front)
    leaves = now.time_to(conflict.own_to + own - now.front)
    if _earliest(other.to_conflict, other.speed) >= leaves + share * now.parameters.junction.margin_after:
        return False
    if other.speed < AGENT_STANDS:
        return True
    last = other.past_conflict / max(0.7 * other.speed, min(_LEAST_SPEED, other.speed))
    return last > enters - share * now.parameters.junction.margin_before


def _earliest(distance: float, speed: float) -> float:
    """When a vehicle is there that speeds up from now on as far as is usual in a town, s."""
    top = max(speed, _TOWN_SPEED)
    gaining = (top * top - speed * speed) / (2.0 * _STARTING_ACCEL)
    if distance <= gaining:
        return (math.sqrt(speed * speed + 2.0 * _STARTING_ACCEL * max(distance, 0.0)) - speed) / _STARTING_ACCEL
    return (top - speed) / _STARTING_ACCEL + (distance - gaining) / top


def _rank(now: TrafficSituation, control: ApproachControl, other: ConflictVehicle, patient: bool) -> Precedence:
    """Which goes first. A vehicle that turns across waits for all that come; where no light will help it, not for
    ever.
    """
    signed = other.line >= 0 and int(now.index.arrays.line_kind[other.line]) in (STOP, YIELD)
    if control is not ApproachControl.GREEN and signed is not (control is ApproachControl.SIGN):
        return Precedence.CAR if signed else Precedence.OTHER
    if other.conflict.across is not OpposingTurn.NONE:
        if other.conflict.across is OpposingTurn.OTHER:
            return Precedence.CAR
        return Precedence.OTHER if patient or control is ApproachControl.GREEN else Precedence.EQUAL
    return Precedence.CAR if control is ApproachControl.GREEN else Precedence.EQUAL


def _came_first(now: TrafficSituation, own_gap: float, other: ConflictVehicle, past: JunctionMemory) -> bool:
    """First come, first served: by the stamps at the lines, else by the times to get there."""
    arrived = past.other_arrivals.get(other.id, math.inf)
    if math.isfinite(arrived):
        return arrived <= past.arrived
    if waited_for(now, past) > now.parameters.junction.patience:
        return False
    if other.speed < AGENT_STANDS:
        return False
    if math.isfinite(past.arrived) and now.stands:
        return True
    tie = now.parameters.junction.tie
    return max(other.to_stop, 0.0) / other.speed < now.time_to(own_gap, start_s=0.0) + tie
