"""What a default controller does with the offset of its actor on the lane, one program for each lateral action.

Offsets of a program are + left of the lane's travel, m (ASAM OpenSCENARIO XML 1.3, 7.4.2).
"""

from __future__ import annotations

from typing import Protocol

from tuling_fsm.core import elementary
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
            return _Beside(reference, command.offset, command.continuous, HELD_SPEED)
        case KeepLateralDistance():
            return _apart(command, state, around)
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


class _Beside:
    """So far left (m, in the road's frame) of where the reference is."""

    def __init__(self, reference: str, left: float, continuous: bool, fastest: float) -> None:
        self._reference, self._left, self._continuous, self._fastest = reference, left, continuous, fastest
        self.over = False

    def offset(self, lane: LaneState, state: ActorState, dt: float, way: float, around: ActorSurroundings) -> float:
        other = around.actor(self._reference)
        if other is None:
            self.over = not self._continuous
            return lane.offset
        theirs = lane.lane.center.project(other.pose.x, other.pose.y).offset
        change = theirs + self._left * lane.side - lane.offset
        self.over = abs(change) < 0.05 and not self._continuous
        return lane.offset + min(max(change, -self._fastest * dt), self._fastest * dt)


def _apart(command: KeepLateralDistance, state: ActorState, around: ActorSurroundings) -> OffsetProgram | None:
    other = around.actor(command.reference)
    if other is None:
        return None
    gap = command.gap + (0.5 * (state.width + other.width) if command.freespace else 0.0)
    s, c = elementary.sin_cos(other.pose.heading)
    left = c * (state.pose.y - other.pose.y) - s * (state.pose.x - other.pose.x)
    return _Beside(command.reference, gap if left >= 0.0 else -gap, command.continuous, command.fastest)
