"""How a car that is off its path comes back to it: the law of the tracker, as far as a plan has to reckon with it.

The feedback lets the lateral error decay over a length, critically damped (Snider, CMU-RI-TR-09-08, 2009), within what
the wheels can still turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, wrap_angle
from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.core.parameters import param
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.paths import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY


@dataclass(frozen=True)
class RecoveryParameters:
    """How the tracker brings the car back to its path."""

    length: float = param(
        1.8, "m", 0.3, 20.0, "a lateral error decays over this distance, standing still", clause="SAF-2"
    )
    time: float = param(0.45, "s", 0.0, 5.0, "what that distance grows by per m/s of speed", clause="SAF-2")


class Recovery(NamedTuple):
    """`RecoveryParameters`, and the sharpest curvature (1/m) that the car can steer."""

    length: float
    time: float
    curvature: float

    @classmethod
    def of(cls, vehicle: Vehicle, parameters: RecoveryParameters) -> Recovery:
        """The numbers for one car."""
        return cls(parameters.length, parameters.time, vehicle.max_curvature)


@part
def off_by(
    x: float, y: float, heading: float, to_x: float, to_y: float, to_heading: float
) -> tuple[float, float, float]:
    """How far ahead and to the left (m) of a pose another one is, and turned to the left by what angle (rad)."""
    dx, dy, cos, sin = to_x - x, to_y - y, elementary.cos(heading), elementary.sin(heading)
    return dx * cos + dy * sin, dy * cos - dx * sin, wrap_angle(to_heading - heading)


@part
def come_back(
    along: float, aside: float, turn: float, kappa: float, v: float, step: float, back: Recovery
) -> tuple[float, float, float]:
    """What `off_by` becomes after `step` (m) at speed `v` (m/s) on a path of curvature `kappa` (1/m), all of them seen
    in the direction of travel.
    """
    length = back.length + back.time * abs(v)
    wanted = kappa - 2.0 / length * elementary.sin(turn + elementary.atan(0.5 * aside / length))
    steered = min(max(wanted, -back.curvature), back.curvature)
    turn += (steered - kappa) * step
    return along * max(0.0, 1.0 - step / length), aside + elementary.sin(turn) * step, turn


@kernel
def move_path(path: FloatArray, speed: FloatArray, x: float, y: float, heading: float, back: Recovery) -> None:
    """Move a path (n, PATH), driven at `speed` (n,), to where a car comes by that is at a pose instead of at its first
    point. The heading is that of travel; curvature and arc length stay those of the path.
    """
    along, aside, turn = off_by(path[0, PX], path[0, PY], path[0, PHEADING], x, y, heading)
    for i in range(len(path)):
        if i > 0:
            step = path[i, PS] - path[i - 1, PS]
            along, aside, turn = come_back(along, aside, turn, path[i - 1, PKAPPA], speed[i], step, back)
        cos, sin = path[i, PCOS], path[i, PSIN]
        path[i, PX] += along * cos - aside * sin
        path[i, PY] += along * sin + aside * cos
        path[i, PHEADING] += turn
        path[i, PCOS], path[i, PSIN] = elementary.cos(path[i, PHEADING]), elementary.sin(path[i, PHEADING])
