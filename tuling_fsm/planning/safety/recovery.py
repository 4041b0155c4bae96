"""How a car that is off its path comes back to it: the tracker's feedback, as far as a plan has to allow for it.

The feedback lets the lateral error decay over a length, critically damped (Snider, CMU-RI-TR-09-08, 2009), within what
the wheels can still turn.
"""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import RecoveryParameters
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY


class Recovery(NamedTuple):
    """`RecoveryParameters`, and the sharpest curvature (1/m) that the car can steer."""

    length: float
    time: float
    curvature: float

    @classmethod
    def of(cls, vehicle: Vehicle, parameters: RecoveryParameters) -> Recovery:
        """The numbers for one car."""
        return cls(parameters.length, parameters.time, vehicle.max_curvature)


class PathError(NamedTuple):
    """How far ahead and to the left (m) of its place on the path the car is, and turned to the left by what angle
    (rad).
    """

    along: float
    aside: float
    turn: float


@inlined_kernel
def path_error(path: Pose, car: Pose) -> PathError:
    """The error of a car at a pose that should be at another."""
    dx, dy, (sin, cos) = car.x - path.x, car.y - path.y, elementary.sin_cos(path.heading)
    return PathError(dx * cos + dy * sin, dy * cos - dx * sin, wrap_angle(car.heading - path.heading))


@inlined_kernel
def decay_error(off: PathError, kappa: float, v: float, step: float, back: Recovery) -> PathError:
    """What an error becomes after `step` (m) at speed `v` (m/s) on a path of curvature `kappa` (1/m), all of them seen
    in the direction of travel.
    """
    length = back.length + back.time * abs(v)
    wanted = kappa - 2.0 / length * elementary.sin(off.turn + elementary.atan(0.5 * off.aside / length))
    steered = min(max(wanted, -back.curvature), back.curvature)
    turn = off.turn + (steered - kappa) * step
    return PathError(off.along * max(0.0, 1.0 - step / length), off.aside + elementary.sin(turn) * step, turn)


@kernel
def move_path(path: FloatArray, speed: FloatArray, car: Pose, back: Recovery) -> None:
    """Move a path (n, PATH), driven at `speed` (n,), to where a car comes by that is at a pose instead of at its first
    point. The heading is that of travel; curvature and arc length stay those of the path.
    """
    off = path_error(Pose(path[0, PX], path[0, PY], path[0, PHEADING]), car)
    for i in range(len(path)):
        if i > 0:
            step = path[i, PS] - path[i - 1, PS]
            off = decay_error(off, path[i - 1, PKAPPA], speed[i], step, back)
        cos, sin = path[i, PCOS], path[i, PSIN]
        path[i, PX] += off.along * cos - off.aside * sin
        path[i, PY] += off.along * sin + off.aside * cos
        path[i, PHEADING] += off.turn
        path[i, PSIN], path[i, PCOS] = elementary.sin_cos(path[i, PHEADING])
