"""What a default controller does with the speed of its actor, one program for each longitudinal action.

A program gives the speed at the end of a step; `over` says whether the action is (ASAM OpenSCENARIO XML 1.3, 7.4.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tuling_fsm.core import elementary
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.sim.actors.transitions import Ramp, speed_ramp
from tuling_fsm.sim.scenario.maneuvers import (
    ApproachSpeed,
    DynamicsDimension,
    DynamicsShape,
    FollowSpeedProfile,
    KeepDistance,
    Longitudinal,
    MeetGap,
    Synchronize,
    Transition,
)
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.scenario.placements import Placement

TRACKING_RATE = 5.0
"""A relative speed that is held is followed at this rate at most, m/s^2."""
GAP_RATE = 0.5
"""Share of a gap's error that is made good in a second, 1/s."""
GAP_TOLERANCE_M = 0.2
SPEED_TOLERANCE = 0.1
ARRIVED_M = 0.5
LAST_CORRECTION_S = 0.2
"""What is missing of a gap shortly before its time is made good at the rate of this long."""


class ActorSurroundings(Protocol):
    """What a default controller knows of others."""

    @property
    def stamp(self) -> float:
        """Simulated time, s."""

    def actor(self, name: str) -> ActorState | None:
        """The state of an actor; None while it is not in the world."""

    def pose_of(self, placement: Placement) -> Pose | None:
        """Where a placement is; None when it is not on the map."""

    def road_distance(self, name: str, reference: str) -> float | None:
        """Along the road from one actor to another, m, + ahead; None where no road joins them."""


class Moment(NamedTuple):
    """A step of an actor: its name and state, the length of the step (s), and what is around it."""

    name: str
    state: ActorState
    dt: float
    around: ActorSurroundings


class SpeedProgram(Protocol):
    """One longitudinal action while it is carried out."""

    over: bool

    def speed(self, now: Moment) -> float:
        """The speed at the end of the step, m/s."""


def speed_program(command: Longitudinal, state: ActorState, around: ActorSurroundings) -> SpeedProgram:
    """The program of a command that begins now."""
    match command:
        case ApproachSpeed():
            return _Approach(command, state, around)
        case FollowSpeedProfile():
            return _Profile(command, state, around)
        case KeepDistance():
            return _Gap(command, state, around)
        case Synchronize():
            return _Arrival(command)
        case MeetGap():
            return _Meeting(command)
        case _:
            assert_never(command)


class _Approach:
    def __init__(self, command: ApproachSpeed, state: ActorState, around: ActorSurroundings) -> None:
        self._command = command
        self._ramp = speed_ramp(state.speed, self._goal(around, state.speed), command.dynamics)
        self.over = False

    def _goal(self, around: ActorSurroundings, present: float) -> float:
        command = self._command
        if command.reference is None:
            return command.value
        other = around.actor(command.reference)
        if other is None:
            return present
        goal = other.speed * command.value if command.factor else other.speed + command.value
        return max(goal, 0.0) if command.forward else goal

    def speed(self, now: Moment) -> float:
        if self._command.continuous and self._ramp.over:
            most = TRACKING_RATE * now.dt
            return now.state.speed + _within(self._goal(now.around, now.state.speed) - now.state.speed, most)
        value = self._ramp.advance(now.dt, 0.0)
        self.over = not self._command.continuous and self._ramp.over
        return value


class _Profile:
    def __init__(self, command: FollowSpeedProfile, state: ActorState, around: ActorSurroundings) -> None:
        other = around.actor(command.reference) if command.reference is not None else None
        base = 0.0 if other is None else other.speed
        self._ramps = self._pieces(command, state.speed, base)
        self._ramp: Ramp | None = next(self._ramps, None)
        self.over = self._ramp is None

    @staticmethod
    def _pieces(command: FollowSpeedProfile, speed: float, base: float) -> Iterator[Ramp]:
        for value, seconds in command.speeds:
            goal = base + value
            piece = Transition(DynamicsShape.LINEAR, DynamicsDimension.TIME, seconds)
            if math.isinf(seconds):
                rate = command.accelerate if goal > speed else command.brake
                piece = Transition(DynamicsShape.LINEAR, DynamicsDimension.RATE, rate)
            yield speed_ramp(speed, goal, piece)
            speed = goal

    def speed(self, now: Moment) -> float:
        if self._ramp is None:
            self.over = True
            return now.state.speed
        value = self._ramp.advance(now.dt, 0.0)
        if self._ramp.over:
            self._ramp = next(self._ramps, None)
            self.over = self._ramp is None
        return value


class _Gap:
    """The speed of the reference, and some more or less until the gap is right."""

    def __init__(self, command: KeepDistance, state: ActorState, around: ActorSurroundings) -> None:
        self._command = command
        self._ahead = _is_ahead(command, state, around) if command.ahead is None else command.ahead
        self.over = False

    def speed(self, now: Moment) -> float:
        command, own = self._command, now.state
        other = now.around.actor(command.reference)
        if other is None:
            self.over = not command.continuous
            return own.speed
        error = self._between(now, other) - self._wanted(own.speed)
        close = abs(error) <= GAP_TOLERANCE_M and abs(own.speed - other.speed) <= SPEED_TOLERANCE
        self.over = close and not command.continuous
        towards = -1.0 if self._ahead else 1.0
        wanted = min(max(other.speed + towards * GAP_RATE * error, 0.0), command.fastest)
        return own.speed + min(max(wanted - own.speed, -command.brake * now.dt), command.accelerate * now.dt)

    def _wanted(self, speed: float) -> float:
        return self._command.gap * speed if self._command.in_time else self._command.gap

    def _between(self, now: Moment, other: ActorState) -> float:
        command, own = self._command, now.state
        along = now.around.road_distance(now.name, command.reference)
        ahead = distance(own.pose[:2], other.pose[:2]) if along is None else along
        ahead = -ahead if self._ahead else ahead
        if command.freespace:
            ahead += (other.center_ahead - own.center_ahead) * (-1.0 if self._ahead else 1.0)
            ahead -= 0.5 * (own.length + other.length)
        return ahead


def _is_ahead(command: KeepDistance, state: ActorState, around: ActorSurroundings) -> bool:
    """Whether the actor is ahead of its reference: along the road, along its heading where no road joins them."""
    along, other = around.road_distance(command.actor, command.reference), around.actor(command.reference)
    if along is None and other is not None:
        s, c = elementary.sin_cos(state.pose.heading)
        along = c * (other.pose.x - state.pose.x) + s * (other.pose.y - state.pose.y)
    return along is not None and along < 0.0


class _Arrival:
    """The speed at which both come to their places at the same time."""

    def __init__(self, command: Synchronize) -> None:
        self._command = command
        self.over = False

    def speed(self, now: Moment) -> float:
        command, own = self._command, now.state
        master = now.around.actor(command.master)
        goal, theirs = now.around.pose_of(command.place), now.around.pose_of(command.masters_place)
        if master is None or goal is None or theirs is None:
            self.over = True
            return own.speed
        left = distance(own.pose[:2], goal[:2])
        remaining = distance(master.pose[:2], theirs[:2])
        if min(left, remaining) <= ARRIVED_M or left <= own.speed * now.dt:
            self.over = True
            return own.speed if command.final_speed is None else command.final_speed
        wanted = self._wanted(left, remaining, master.speed)
        return own.speed if wanted is None else own.speed + _within(wanted - own.speed, TRACKING_RATE * now.dt)

    def _wanted(self, left: float, remaining: float, masters_speed: float) -> float | None:
        """The speed to approach (m/s), `left` m before the place and with `remaining` m before the master; None: the
        present one, as the master stands.
        """
        final = self._command.final_speed
        steady = 0.0 if not final else max(self._command.steady_m, self._command.steady_s * final)
        if final and left <= steady:
            return final
        if masters_speed <= SPEED_TOLERANCE:
            return None
        if final and steady > 0.0:
            seconds = max(remaining / masters_speed - steady / final, LAST_CORRECTION_S)
            return max(2.0 * (left - steady) / seconds - final, 0.0)
        mean = left * masters_speed / remaining
        return mean if final is None else max(2.0 * mean - final, 0.0)


class _Meeting:
    """The speed at which the gap is right when the time is over, if the reference goes on as it does now."""

    def __init__(self, command: MeetGap) -> None:
        self._command, self._left = command, command.seconds
        self.over = False

    def speed(self, now: Moment) -> float:
        command, own = self._command, now.state
        other = now.around.actor(command.reference)
        along = now.around.road_distance(now.name, command.reference)
        left, self._left = max(self._left, LAST_CORRECTION_S), self._left - now.dt
        self.over = self._left <= 1e-9
        if other is None or along is None:
            return own.speed
        wanted = max(other.speed + (command.gap + along) / left, 0.0)
        return own.speed + _within(wanted - own.speed, TRACKING_RATE * now.dt)


def _within(change: float, most: float) -> float:
    return min(max(change, -most), most)
