"""The car-following model: the acceleration that a stop or a leader ahead asks for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.kernels import inlined_kernel, sqrt
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.obstacles.rss import Rss, safe_speed, stopping_distance_of
from tuling_fsm.planning.parameters import PlanningParameters

_CREEP = 0.5
"""No bend makes a car on a lane slower than this (m/s), whatever little kink its line has."""
_SETS_IN_S, _PROMPT = 1.5, 1.05
"""Acceleration and braking are no harder than the jerk lets set in within the one, and the speed follows what is
allowed no faster than the other times as fast as they then set in: a plan that the car could only be late on would be
too fast where its wheels have to turn.
"""
_HARD = 1.3
"""Braking harder than comfort by this factor sets in at once: the check takes it for hard as well (SAF-2)."""
_CREEPS = 0.3
"""Slower than this (m/s) too little energy is left to brake firmly for it, however short the room seems."""
_SOON_S = 2.0
"""What is there sooner than this (s) is waited for by a car that stands."""
_FALLING_BACK = 0.7
"""A gap that is safe but smaller than wanted is opened no faster than this (m/s): what follows need not brake."""


class LongitudinalLimits(NamedTuple):
    """Limits of the longitudinal motion: `Vehicle`, `SpeedParameters` and `RssParameters` in one."""

    wheelbase: float
    max_curvature: float
    max_speed: float
    accel: float
    decel: float
    hard: float
    emergency: float
    jerk: float
    lateral: float
    steer_rate: float
    gain: float
    stop_jerk: float
    hard_jerk: float
    headway: float
    standstill_gap: float
    gap_time: float
    start_room: float
    crossing_start_room: float
    crossing_slack: float
    creep: float
    slow_speed: float
    slow_slope: float
    rss: Rss

    @classmethod
    def of(cls, vehicle: Vehicle, parameters: PlanningParameters) -> LongitudinalLimits:
        """The limits of a vehicle."""
        speed, clearance = parameters.speed, parameters.clearance
        accel, decel = (min(most, _SETS_IN_S * vehicle.max_jerk) for most in (vehicle.max_accel, vehicle.comfort_decel))
        return cls(
            wheelbase=vehicle.wheelbase,
            max_curvature=vehicle.max_curvature,
            max_speed=vehicle.max_speed,
            accel=accel,
            decel=decel,
            hard=_HARD * vehicle.comfort_decel,
            emergency=vehicle.emergency_decel,
            jerk=vehicle.max_jerk,
            lateral=vehicle.max_lateral_accel,
            steer_rate=vehicle.max_steer_rate * speed.steer_share,
            gain=min(speed.gain, _PROMPT * vehicle.max_jerk / max(accel, decel)),
            stop_jerk=min(speed.stop_jerk, vehicle.max_jerk),
            hard_jerk=speed.hard_jerk,
            headway=speed.headway,
            standstill_gap=speed.standstill_gap,
            gap_time=speed.gap_time,
            start_room=speed.start_room,
            crossing_start_room=speed.crossing_start_room,
            crossing_slack=0.5 * speed.crossing_gap,
            creep=_CREEP,
            slow_speed=clearance.slow_speed,
            slow_slope=clearance.slow_slope,
            rss=Rss.of(parameters.rss),
        )


class StopRamp(NamedTuple):
    """The last part of a stop, in which braking eases off: speed (m/s) at which it begins, and its length (m)."""

    v: float
    s: float


@inlined_kernel
def ramp_of(d: LongitudinalLimits) -> StopRamp:
    """The end of a comfortable stop."""
    v = 0.5 * d.decel * d.decel / d.stop_jerk
    return StopRamp(v, 2.0 / 3.0 * v * sqrt(v) / sqrt(2.0 * d.stop_jerk))


@inlined_kernel
def _stop_speed(room: float, ramp: StopRamp, d: LongitudinalLimits) -> tuple[float, float]:
    """Speed from which a comfortable braking that ends in a ramp stops within `room`, and the deceleration at that
    speed.
    """
    if room <= 0.0:
        return 0.0, 0.0
    if room < ramp.s:
        root = elementary.cbrt(1.5 * sqrt(2.0 * d.stop_jerk) * room)
        v = root * root
        return v, sqrt(2.0 * d.stop_jerk * v)
    return sqrt(ramp.v * ramp.v + 2.0 * d.decel * (room - ramp.s)), d.decel


@inlined_kernel
def stopping_distance(v: float, ramp: StopRamp, d: LongitudinalLimits) -> float:
    """Room (m) within which a comfortable braking from `v` (m/s) ends."""
    if v < ramp.v:
        share = v / ramp.v
        return float(ramp.s * share * sqrt(share))
    return ramp.s + (v * v - ramp.v * ramp.v) / (2.0 * d.decel)


@inlined_kernel
def stop_accel(room: float, slack: float, v: float, a: float, ramp: StopRamp, d: LongitudinalLimits) -> float:
    """Acceleration that stops within `room` (m): comfortable where that suffices, as hard as it takes where not.

    `slack` (m) beyond that place may be used before it gets hard. A car that still accelerates loses the way that it
    takes to end that. So far from the place that full acceleration is allowed it is `inf`.
    """
    left = room - 0.5 * v * max(0.0, a) / d.jerk
    unbound = v + (d.accel + d.decel) / d.gain
    if left > ramp.s and ramp.v * ramp.v + 2.0 * d.decel * (left - ramp.s) > unbound * unbound:
        return np.inf
    allowed, decel = _stop_speed(left, ramp, d)
    energy, within = 0.5 * v * v, max(0.02, room + slack)
    if energy > d.decel * within and v > _CREEPS:
        return -min(d.emergency, 1.15 * energy / within)
    if room <= 0.0:
        # Beyond the place to stand: a car that eases off here creeps on into what comes.
        return -1.3 * d.decel
    eased = d.gain * (allowed - v) - decel * min(1.0, v / max(allowed, 0.05))
    return float(max(-1.3 * d.decel, eased))


@inlined_kernel
def _stopping_time(v: float, ramp: StopRamp, d: LongitudinalLimits) -> float:
    """Time (s) after which a comfortable braking from `v` (m/s) ends."""
    if v < ramp.v:
        return sqrt(2.0 * v / d.stop_jerk)
    return (v + ramp.v) / d.decel


@inlined_kernel
def meet_accel(gap: float, v: float, other_v: float, a: float, ramp: StopRamp, d: LongitudinalLimits) -> float:
    """Acceleration before something that comes towards the car with `other_v` (m/s) and is `gap` (m) ahead.

    Both stand before they meet: the car in comfort, the other as `rss` trusts it to. Until the car stands the other
    comes on, so that braking begins earlier than before a thing that stands, and need not grow afterwards. What the
    other would need may be used up before it gets hard. A car that stands goes on only where it would not be met soon.
    """
    other = stopping_distance_of(other_v, d.rss.accel, d.rss.brake, d.rss.response)
    room = gap - other
    if v < _CREEPS and room < d.crossing_start_room + _SOON_S * other_v:
        return -1.3 * d.decel if v > 0.0 else 0.0
    energy, within = (0.5 * v + other_v) * v, max(0.02, gap)
    if energy > d.decel * within and v > _CREEPS:
        return -min(d.emergency, 1.15 * energy / within)
    return stop_accel(room - other_v * _stopping_time(v, ramp, d), np.inf, v, a, ramp, d)


@inlined_kernel
def follow_accel(gap: float, v: float, leader_v: float, ramp: StopRamp, d: LongitudinalLimits) -> tuple[float, float]:
    """Acceleration behind a leader whose rear bumper is `gap` ahead, and the way left to the gap that is wanted.

    Never so fast that the gap falls below the safe distance of `rss`: where it is below, as after one has cut in, the
    car brakes up to as hard as is taken for granted there.
    """
    room = gap - (d.standstill_gap + d.headway * leader_v)
    decel = 0.7 * d.decel
    knee = decel * d.gap_time * d.gap_time
    if room < knee:
        closing, slope = max(room / d.gap_time, -_FALLING_BACK), 1.0 / d.gap_time
    else:
        closing = sqrt(2.0 * decel * room - decel * knee)
        slope = decel / closing
    faster, moving = max(0.0, v - leader_v), min(1.0, 0.5 * leader_v)
    wanted, ahead = leader_v + moving * closing, slope * (moving * faster)
    if moving < 1.0:
        stop, stop_decel = _stop_speed(room, ramp, d)
        wanted += (1.0 - moving) * stop
        ahead += (1.0 - moving) * stop_decel * min(1.0, v / max(stop, 0.05))
    accel = max(-d.decel, d.gain * (max(0.0, wanted) - v) - ahead)
    energy, left = 0.5 * faster * faster, max(0.05, gap - 0.6 * d.standstill_gap)
    if energy > 0.8 * d.decel * left and v > _CREEPS:
        accel = min(accel, -min(d.emergency, 1.1 * energy / left))
    safe, slope = safe_speed(gap, leader_v, d.rss)
    return min(accel, max(-d.rss.brake, d.gain * (safe - v) - slope * faster)), room
