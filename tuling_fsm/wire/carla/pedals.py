"""Throttle, brake and steering of CARLA's ego for a wanted acceleration and steering angle.

Feed-forward by what full throttle and full brake do, the drag and the slope; beside it a PI on the acceleration, for a
car is never quite what its numbers say. The integral is kept as a speed: that which the wanted accelerations would have
led to. It follows the real one within a band, so that it cannot wind up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.core.parameters import param
from tuling_fsm.wire.carla.messages import CONTROL, packed
from tuling_fsm.wire.cdr import header

GRAVITY = 9.81


@dataclass(frozen=True)
class PedalParameters:
    """How CARLA's car answers its pedals; the defaults are for `vehicle.tesla.model3`."""

    full_throttle_accel: float = param(
        4.5, "m/s^2", 0.5, 20.0, "acceleration of full throttle at town speed", live=True
    )
    full_brake_decel: float = param(8.5, "m/s^2", 1.0, 20.0, "braking of full brake", live=True)
    rolling: float = param(0.15, "m/s^2", 0.0, 2.0, "deceleration of a rolling car without pedals", live=True)
    drag: float = param(0.03, "1/s", 0.0, 1.0, "what that grows by per m/s of speed", live=True)
    accel_gain: float = param(0.3, "", 0.0, 5.0, "share of the error of acceleration that is added", live=True)
    speed_gain: float = param(3.0, "1/s", 0.0, 10.0, "acceleration per error of its integral, a speed", live=True)
    speed_band: float = param(0.6, "m/s", 0.0, 5.0, "largest error of that speed", live=True)
    coast: float = param(
        0.25, "m/s^2", 0.0, 2.0, "less braking than this is left to the drag: no pedal chatter", live=True
    )
    hold_brake: float = param(0.6, "", 0.05, 1.0, "brake while standing", live=True)
    turn_speed: float = param(0.15, "m/s", 0.01, 1.0, "above it the direction is not changed", live=True)
    filter_time: float = param(0.15, "s", 0.0, 2.0, "time constant of the measured acceleration", live=True)


class TrackerOutput(NamedTuple):
    """What the tracker wants: steering angle (rad, + left), acceleration in the direction of `gear` (m/s^2), direction
    (+1, -1), standing.
    """

    steer: float
    accel: float
    gear: float
    hold: bool


class Pedals(NamedTuple):
    """A command: throttle and brake 0 to 1, steer -1 to 1 (+ right, as CARLA has it), reverse gear."""

    throttle: float
    brake: float
    steer: float
    reverse: bool


class PedalController:
    """Works the pedals, tick by tick.

    Args:
        parameters: of the car and the controller; replaced for the next tick by setting `parameters`.
    """

    def __init__(self, parameters: PedalParameters) -> None:
        self.parameters = parameters
        self._speed_to_be: float | None = None
        self._before: tuple[float, float] | None = None
        """Gear and speed in its direction, of the last tick."""
        self._measured = 0.0
        self._reverse = False

    def press(self, output: TrackerOutput, v: float, uphill: float, max_steer: float, dt: float) -> Pedals:
        """The command of one tick.

        Args:
            wish: what is wanted.
            v: speed along the heading, m/s.
            uphill: slope of the road along the heading, rad.
            max_steer: the angle (rad) at full steering.
            dt: length of a tick, s.
        """
        p = self.parameters
        steer = min(max(-output.steer / max_steer, -1.0), 1.0)
        if output.gear * v < -p.turn_speed:
            self.forget()
            brake = min(max(abs(output.accel), 1.0) / p.full_brake_decel, 1.0)
            return Pedals(0.0, brake, steer, self._reverse)
        self._reverse = output.gear < 0.0
        if output.hold:
            self.forget()
            return Pedals(0.0, p.hold_brake, steer, self._reverse)
        along = output.gear * v
        wanted = output.accel + self._correction(output, along, dt)
        force = wanted + GRAVITY * elementary.sin(output.gear * uphill) + (p.rolling + p.drag * abs(along))
        if force > 0.0:
            return Pedals(min(force / p.full_throttle_accel, 1.0), 0.0, steer, self._reverse)
        brake = -force / p.full_brake_decel if force < -p.coast else 0.0
        return Pedals(0.0, min(brake, 1.0), steer, self._reverse)

    def _correction(self, output: TrackerOutput, along: float, dt: float) -> float:
        """The feedback part of the acceleration."""
        p = self.parameters
        if self._before is None or self._before[0] != output.gear or self._speed_to_be is None:
            self._before, self._speed_to_be, self._measured = (output.gear, along), along, output.accel
        now = (along - self._before[1]) / dt
        share = 1.0 if p.filter_time <= 0.0 else 1.0 - elementary.exp(-dt / p.filter_time)
        self._measured += share * (now - self._measured)
        error = min(max(self._speed_to_be - along, -p.speed_band), p.speed_band)
        self._before, self._speed_to_be = (output.gear, along), along + error + output.accel * dt
        return p.accel_gain * (output.accel - self._measured) + p.speed_gain * error

    def forget(self) -> None:
        """Take the next tick for the first: nothing is known of how the car answered before."""
        self._before = self._speed_to_be = None
        self._measured = 0.0


def pack_pedals(ns: int, pedals: Pedals) -> bytes:
    """A `CarlaEgoVehicleControl` with the stamp of the odometry that it answers."""
    return packed(
        CONTROL,
        header=header(ns, ""),
        throttle=pedals.throttle,
        steer=pedals.steer,
        brake=pedals.brake,
        hand_brake=False,
        reverse=pedals.reverse,
        gear=-1 if pedals.reverse else 1,
        manual_gear_shift=False,
    )
