"""Whom the car lets by at a junction (INT-7): first come, first served, with a gap check; signs and turns go before
that.
"""

from __future__ import annotations

import math
from enum import Enum

from tuling_fsm.behaviour.traffic.conflicts import Across, Party, is_light
from tuling_fsm.behaviour.traffic.memory import JunctionMemory
from tuling_fsm.behaviour.traffic.situation import STANDING_SPEED, Situation
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


class Control(str, Enum):
    """What gives the car's own approach its right of way."""

    CLOSED = "closed"
    """A light that has to be waited for: until then nobody's turn is counted."""
    GREEN = "green"
    SIGN = "sign"
    NONE = "none"


class Rank(Enum):
    """Who goes first by sign or turn."""

    CAR = 1
    OTHER = 2
    EQUAL = 3


def holds(now: Situation, control: Control, own_gap: float, party: Party, past: JunctionMemory) -> bool:
    """Whether the car has to wait for one of the parties; `own_gap` is the way of its front to its stop point (m)."""
    patient = waited_for(now, past) <= now.parameters.junction.patience
    if _closed_for(now, party) or not _meet(now, party, 1.0 if patient and not past.going else _INSISTING):
        return False
    tired = _tired(now, party, past)
    rank, turns = _rank(now, control, party, patient), party.conflict.across is Across.OTHER
    waits_inside = party.inside and party.speed < STANDING_SPEED and party.to_conflict > _WAITS_BEFORE_M
    if party.inside and not waits_inside:
        return not tired and (party.likeliest or not turns)
    if rank is Rank.OTHER:
        return not tired and not (past.going and party.speed < _STARTING_SPEED)
    if turns:
        return False
    can_stop = party.speed * party.speed <= 2.0 * now.parameters.junction.others_decel * max(_room(party), 0.05)
    if not can_stop:
        return True
    if rank is Rank.CAR or waits_inside:
        return False
    if past.going:
        return party.speed > STANDING_SPEED and party.to_stop < _AT_LINE_M and _gets_there_first(now, party)
    return not tired and _came_first(now, own_gap, party, past)


def waited_for(now: Situation, past: JunctionMemory) -> float:
    """How long the car has stood at its line, s."""
    return max(min(now.world.standing_for, now.now - past.arrived), 0.0)


def _gets_there_first(now: Situation, party: Party) -> bool:
    """Whether one who has set off at the same time as the car is at the conflict before it, or about so."""
    theirs = max(party.to_conflict, 0.0) / max(party.speed, _LEAST_SPEED)
    return theirs < now.time_to(party.conflict.own_from - now.front) + _TIE_S


def _tired(now: Situation, party: Party, past: JunctionMemory) -> bool:
    """Whether both have stood long enough for the car to go first.

    Of two that wait for each other the one that has stood longer goes first, and of two that came at once the western
    (southern) one: both sides see it the same way.
    """
    waited, patience = waited_for(now, past), now.parameters.junction.passed_over
    x, y = float(now.world.traffic.x[party.row]), float(now.world.traffic.y[party.row])
    tie = abs(party.standing_for - waited) < _TIE_S
    later = (x, y) < now.world.ego.pose[:2] if tie else party.standing_for > waited
    return party.standing_for >= patience and waited >= patience + (_SECOND_S if later else 0.0)


def _room(party: Party) -> float:
    return party.to_conflict if party.inside else party.to_stop


def _closed_for(now: Situation, party: Party) -> bool:
    """Whether a light that is known to be closed stops the other."""
    if party.inside or not is_light(now, party.line):
        return False
    state = now.world.lights.get(int(now.index.arrays.line_signal[party.line]))
    can_stop = party.speed * party.speed <= 2.0 * now.parameters.junction.others_decel * max(party.to_stop, 0.05)
    return state in _CLOSED and can_stop


def _meet(now: Situation, party: Party, share: float) -> bool:
    """Whether the times in the conflict overlap if both go on, with a share of the usual margin."""
    conflict, own = party.conflict, now.vehicle.length
    enters = now.time_to(conflict.own_from - now.front)
    leaves = now.time_to(conflict.own_to + own - now.front)
    if _earliest(party.to_conflict, party.speed) >= leaves + share * now.parameters.junction.margin_after:
        return False
    if party.speed < STANDING_SPEED:
        return True
    last = party.past_conflict / max(0.7 * party.speed, min(_LEAST_SPEED, party.speed))
    return last > enters - share * now.parameters.junction.margin_before


def _earliest(distance: float, speed: float) -> float:
    """When one is there who speeds up from now on as far as people do in a town, s."""
    top = max(speed, _TOWN_SPEED)
    gaining = (top * top - speed * speed) / (2.0 * _STARTING_ACCEL)
    if distance <= gaining:
        return (math.sqrt(speed * speed + 2.0 * _STARTING_ACCEL * max(distance, 0.0)) - speed) / _STARTING_ACCEL
    return (top - speed) / _STARTING_ACCEL + (distance - gaining) / top


def _rank(now: Situation, control: Control, party: Party, patient: bool) -> Rank:
    """Who goes first. One who turns across waits for all who come; where no light will help him, not for ever."""
    signed = party.line >= 0 and int(now.index.arrays.line_kind[party.line]) in (STOP, YIELD)
    if control is not Control.GREEN and signed is not (control is Control.SIGN):
        return Rank.CAR if signed else Rank.OTHER
    if party.conflict.across is not Across.NOBODY:
        if party.conflict.across is Across.OTHER:
            return Rank.CAR
        return Rank.OTHER if patient or control is Control.GREEN else Rank.EQUAL
    return Rank.CAR if control is Control.GREEN else Rank.EQUAL


def _came_first(now: Situation, own_gap: float, party: Party, past: JunctionMemory) -> bool:
    """First come, first served: by the stamps at the lines, else by the times to get there."""
    theirs = past.others.get(party.id, math.inf)
    if math.isfinite(theirs):
        return theirs <= past.arrived
    if waited_for(now, past) > now.parameters.junction.patience:
        return False
    if party.speed < STANDING_SPEED:
        return False
    if math.isfinite(past.arrived) and now.stands:
        return True
    tie = now.parameters.junction.tie
    return max(party.to_stop, 0.0) / party.speed < now.time_to(own_gap, start_s=0.0) + tie
