"""Safe distances of Responsibility-Sensitive Safety (Shalev-Shwartz, Shammah and Shashua, arXiv:1708.06374, 2017).

The distance at which nobody is to blame: during the response time both do the worst that is allowed, then whoever has
to brakes at least as hard as it must. Pure functions of speeds; distances are between outlines, m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tuling_fsm.core.kernels import kernel, part, sqrt
from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class RssParameters:
    """What may be assumed of everybody on the road."""

    response: float = param(0.5, "s", 0.05, 3.0, "nobody reacts before this time", live=True)
    accel: float = param(1.5, "m/s^2", 0.0, 6.0, "hardest acceleration during the response time", live=True)
    brake: float = param(4.0, "m/s^2", 0.5, 10.0, "whoever has to brake brakes at least this hard", live=True)
    brake_hardest: float = param(6.0, "m/s^2", 0.5, 12.0, "nobody ahead brakes harder than this", live=True)
    lateral_accel: float = param(0.5, "m/s^2", 0.0, 4.0, "hardest lateral acceleration while not reacting", live=True)
    lateral_brake: float = param(0.8, "m/s^2", 0.1, 6.0, "lateral speed is braked at least this hard", live=True)
    lateral_margin: float = param(0.1, "m", 0.0, 1.0, "lateral movement that means nothing", live=True)


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
            p.response, p.accel, p.brake, p.brake_hardest, p.lateral_accel, p.lateral_brake, p.lateral_margin,
        )  # fmt: skip


@kernel
def _gone(v: float, accel: float, brake: float, response: float) -> float:
    """Way (m) of one who accelerates from `v` (m/s) for the response time and then brakes to a standstill."""
    after = v + response * accel
    return 0.5 * (v + after) * response + 0.5 * after * after / brake


@kernel
def following_distance(rear_v: float, front_v: float, rss: Rss) -> float:
    """Safe distance behind one who goes the same way (definition 1); speeds (m/s) are not negative.

    One behind who brakes harder than the one ahead is taken to brake only as hard: both must be apart at all times,
    not only where they stand in the end.
    """
    brake = min(rss.brake, rss.brake_hardest)
    apart = _gone(rear_v, rss.accel, brake, rss.response) - 0.5 * front_v * front_v / rss.brake_hardest
    return float(max(0.0, apart))


@kernel
def oncoming_distance(own_v: float, other_v: float, own_brake: float, rss: Rss) -> float:
    """Safe distance of two who approach each other, the first in its own lane, the other the wrong way (definition
    2); speeds (m/s), both towards the other, are not negative. The first brakes with `own_brake` (m/s^2), which may be
    less.
    """
    own = _gone(own_v, rss.accel, own_brake, rss.response)
    return float(own + _gone(other_v, rss.accel, rss.brake, rss.response))


@kernel
def lateral_distance(left_v: float, right_v: float, rss: Rss) -> float:
    """Safe lateral distance of two side by side (definition 6); lateral speeds (m/s) of the left and the right one,
    positive to the left.
    """
    left = _gone(-left_v, rss.lateral_accel, rss.lateral_brake, rss.response)
    right = _gone(right_v, rss.lateral_accel, rss.lateral_brake, rss.response)
    return float(rss.lateral_margin + max(0.0, left + right))


@part
def safe_speed(gap: float, front_v: float, rss: Rss) -> tuple[float, float]:
    """The greatest speed (m/s) whose `following_distance` is no more than `gap` (m), and how much it grows with each
    metre more (1/s).
    """
    brake = min(rss.brake, rss.brake_hardest)
    apart = 0.5 * front_v * front_v / rss.brake_hardest + 0.5 * rss.accel * rss.response**2
    root = sqrt(2.0 * brake * max(0.0, gap) + (2.0 * brake * apart + brake * brake * rss.response**2))
    return max(0.0, root - (brake + rss.accel) * rss.response), brake / root
