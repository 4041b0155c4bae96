"""What a default controller does with the offset of its actor on the lane, one program for each lateral action.

Offsets of a program are + left of the lane's travel, m (ASAM OpenSCENARIO XML 1.3, 7.4.2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Projection
from tuling_fsm.sim.actors.lane_state import LaneState
from tuling_fsm.sim.actors.longitudinal import ActorSurroundings
from tuling_fsm.sim.actors.transitions import Ramp, ramp_of, swerve_ramp
from tuling_fsm.sim.scenario.maneuvers import KeepLateralDistance, Lateral, ShiftLane, ShiftOffset
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.scenario.road_places import along_road, locate, stepped

HELD_SPEED = 1.0
"""An offset that is held relative to another actor is followed at this speed at most, m/s."""


class OffsetProgram(Protocol):
    """One lateral action while it is carried out."""

    over: bool

    def offset(self, lane: LaneState, state: ActorState, dt: float, way: float, around: ActorSurroundings) -> float:
        """The offset after a step of `dt` s and `way` m."""


def offset_program(
    command: Lateral, lane: LaneState, state: ActorState, around: ActorSurroundings
) -> OffsetProgram | None:
    """The program of a command that begins now; None where the road has no such lane. A change of lane counts from the
    new lane at once.
    """
    match command:
        case ShiftLane():
            if not lane.change_to(_lane_number(command, lane, around)):
                return None
            return _Shift(ramp_of(lane.offset, command.offset * lane.side, command.dynamics))
        case ShiftOffset(reference=None):
            goal = command.offset * lane.side
            return _Shift(swerve_ramp(lane.offset, goal, command.shape, command.acceleration))
        case ShiftOffset(reference=str() as reference):
            return _Held(reference, partial(_as_on_own_lane, command.offset), command.continuous, HELD_SPEED)
        case KeepLateralDistance():
            return _apart(command, lane, state, around)
        case _:
            raise AssertionError(f"no lateral program for {command!r}")


def _lane_number(command: ShiftLane, lane: LaneState, around: ActorSurroundings) -> int:
    if command.reference is None:
        return command.lane
    other = around.actor(command.reference)
    number, side = lane.lane.id.lane, lane.side * (-1.0 if lane.against else 1.0)
    found = None if other is None else locate(lane.road_map, other.pose)
    if other is not None and found is not None:
        theirs = lane.road_map.lanes[found.lane]
        against = elementary.cos(other.pose.heading - found.heading) < 0.0
        number, side = found.lane.lane, along_road(theirs) * (-1.0 if against else 1.0)
    return stepped(number, command.lane if side > 0.0 else -command.lane)


class _Shift:
    def __init__(self, ramp: Ramp) -> None:
        self._ramp = ramp
        self.over = False

    def offset(self, lane: LaneState, state: ActorState, dt: float, way: float, around: ActorSurroundings) -> float:
        value = self._ramp.advance(dt, abs(way))
        self.over = self._ramp.over
        return value


class _Held:
    """An offset that is one of a reference, wherever that goes; `goal` says it, None where it has none."""

    def __init__(
        self,
        reference: str,
        goal: Callable[[LaneState, ActorState], float | None],
        continuous: bool,
        fastest: float,
    ) -> None:
        self._reference, self._goal, self._continuous, self._fastest = reference, goal, continuous, fastest
        self.over = False

    def offset(self, lane: LaneState, state: ActorState, dt: float, way: float, around: ActorSurroundings) -> float:
        other = around.actor(self._reference)
        goal = None if other is None else self._goal(lane, other)
        if goal is None:
            self.over = not self._continuous
            return lane.offset
        change = goal - lane.offset
        self.over = abs(change) < 0.05 and not self._continuous
        return lane.offset + min(max(change, -self._fastest * dt), self._fastest * dt)


def _as_on_own_lane(left: float, lane: LaneState, other: ActorState) -> float | None:
    """So far left (m, in the road's frame) of the offset that another actor has on the lane that it is on."""
    found = locate(lane.road_map, other.pose)
    if found is None:
        return None
    return (found.offset * along_road(lane.road_map.lanes[found.lane]) + left) * lane.side


def _beside(left: float, lane: LaneState, other: ActorState) -> float | None:
    """So far left (m, of the lane's travel) of where another actor is; None where it is not beside the way."""
    there = lane.abreast_of(other.pose)
    return None if there is None else there.offset + left


def _apart(
    command: KeepLateralDistance, lane: LaneState, state: ActorState, around: ActorSurroundings
) -> OffsetProgram | None:
    other = around.actor(command.reference)
    there = None if other is None else lane.abreast_of(other.pose)
    if other is None or there is None:
        return None
    gap = command.gap + (0.5 * (state.width + other.width) if command.freespace else 0.0)
    left = gap if _goes_left(command, lane, other.pose.heading, there) else -gap
    return _Held(command.reference, partial(_beside, left), command.continuous, command.fastest)


def _goes_left(command: KeepLateralDistance, lane: LaneState, heading: float, there: Projection) -> bool:
    """Whether the place beside the reference is left of it as seen along the travel of the actor's lane; `there` is
    where the reference is on the way, and `heading` its own.
    """
    if command.left is None:
        return lane.offset >= there.offset
    with_lane = elementary.cos(heading - there.heading) >= 0.0
    return command.left is (lane.side > 0.0 if command.in_road else with_lane)
