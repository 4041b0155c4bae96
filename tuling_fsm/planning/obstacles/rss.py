"""Safe distances of Responsibility-Sensitive Safety ([shalev2017][]).

The distance at which no road user is to blame: during the response time both do the worst that is allowed, then each
that has to brakes at least as hard as it must. Pure functions of speeds; distances are between outlines, m.
"""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt
from tuling_fsm.planning.parameters import RssParameters


class Rss(NamedTuple):
    """`RssParameters` for kernels."""

    response: float
    accel: float
    brake: float
    brake_hardest: float
    lateral_accel: float
    lateral_brake: float
    lateral_margin: float

    @classmethod
    def of(cls, parameters: RssParameters) -> Rss:
        """The same numbers."""
        p = parameters
        return cls(
            response=p.response,
            accel=p.accel,
            brake=p.brake,
            brake_hardest=p.brake_hardest,
            lateral_accel=p.lateral_accel,
            lateral_brake=p.lateral_brake,
            lateral_margin=p.lateral_margin,
        )


@kernel
def stopping_distance_of(v: float, accel: float, brake: float, response: float) -> float:
    """Distance (m) of a vehicle that accelerates from `v` (m/s) for the response time and then brakes to a
    standstill.
    """
    after = v + response * accel
    return 0.5 * (v + after) * response + 0.5 * after * after / brake


@kernel
def following_distance(rear_v: float, front_v: float, rss: Rss) -> float:
    """Safe distance behind a vehicle that goes the same way (definition 1); speeds (m/s) are not negative.

    A rear vehicle that brakes harder than the front one is taken to brake only as hard: both must be apart at all
    times, not only where they stand in the end.
    """
    brake = min(rss.brake, rss.brake_hardest)
    apart = stopping_distance_of(rear_v, rss.accel, brake, rss.response) - 0.5 * front_v * front_v / rss.brake_hardest
    return float(max(0.0, apart))


@kernel
def oncoming_distance(own_v: float, other_v: float, own_brake: float, rss: Rss) -> float:
    """Safe distance of two vehicles that approach each other, the first in its own lane, the other the wrong way
    (definition 2); speeds (m/s), both towards the other, are not negative. The first brakes with `own_brake` (m/s^2),
    which may be less.
    """
    own = stopping_distance_of(own_v, rss.accel, own_brake, rss.response)
    return float(own + stopping_distance_of(other_v, rss.accel, rss.brake, rss.response))


@kernel
def lateral_distance(left_v: float, right_v: float, rss: Rss) -> float:
    """Safe lateral distance of two vehicles side by side (definition 6); lateral speeds (m/s) of the left and the right
    one, positive to the left.
    """
    left = stopping_distance_of(-left_v, rss.lateral_accel, rss.lateral_brake, rss.response)
    right = stopping_distance_of(right_v, rss.lateral_accel, rss.lateral_brake, rss.response)
    return float(rss.lateral_margin + max(0.0, left + right))


@inlined_kernel
def safe_speed(gap: float, front_v: float, rss: Rss) -> tuple[float, float]:
    """The greatest speed (m/s) whose `following_distance` is no more than `gap` (m), and how much it grows with each
    metre more (1/s).
    """
    brake = min(rss.brake, rss.brake_hardest)
    apart = 0.5 * front_v * front_v / rss.brake_hardest + 0.5 * rss.accel * rss.response**2
    root = sqrt(2.0 * brake * max(0.0, gap) + (2.0 * brake * apart + brake * brake * rss.response**2))
    return max(0.0, root - (brake + rss.accel) * rss.response), brake / root
