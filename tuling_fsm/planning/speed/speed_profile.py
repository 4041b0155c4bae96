"""The speed along a given path, on its own: as fast as limits, bends, jerk and a stop allow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PROOM, PS, PSIN, PX, PY, FrenetPath, new_path
from tuling_fsm.planning.speed.car_following import LongitudinalLimits
from tuling_fsm.planning.speed.roll_out import (
    AT_LIMIT,
    StartMotion,
    StopTarget,
    fill_envelope,
    new_envelope,
    no_traffic,
    roll_out,
)
from tuling_fsm.planning.speed.trajectory import timed_path


def speed_profile(
    path: npt.ArrayLike,
    v: float = 0.0,
    a: float = 0.0,
    *,
    limit: float | FloatArray | None = None,
    stop_at: float | None = None,
    duration: float = 7.0,
    vehicle: Vehicle | None = None,
    parameters: PlanningParameters | None = None,
) -> Trajectory:
    """Drive a path forward from its first point, with bounded speed, lateral and longitudinal acceleration, jerk and
    steering rate.

    Args:
        path: points (N, 2) x, y of the rear axle, m; not much more than half a metre apart where the path bends.
        v: speed at the start, m/s, not negative.
        a: acceleration at the start, m/s^2.
        limit: speed limit, one or a row (N,), m/s; the vehicle's top speed if not given.
        stop_at: arc length at which the rear axle comes to stand, m; the end of the path if not given.
        duration: of the trajectory, s.
        vehicle: limits of the car; a default one if not given.
        parameters: how hard it is driven; the defaults if not given.

    Returns:
        A trajectory whose stamp is 0, in steps of `STEP_S`.

    Raises:
        ValueError: fewer than two distinct points, or a row of limits of another length.
    """
    vehicle, parameters = vehicle or Vehicle(), parameters or PlanningParameters()
    points = np.asarray(path, dtype=np.float64)
    line = Polyline.of(points)
    if len(line.s) != len(points):
        raise ValueError("a path has no point twice in a row")
    frenet_path = _as_path(line)
    top = np.full(len(points), vehicle.max_speed if limit is None else np.minimum(limit, vehicle.max_speed))
    drive, frenet = LongitudinalLimits.of(vehicle, parameters), FrenetPath(frenet_path, len(points), 1, frenet_path, 0)
    rows = np.zeros((round(duration / STEP_S) + 1, 3))
    envelope = new_envelope(len(points))
    fill_envelope(frenet, top, np.full(len(points), float(AT_LIMIT)), drive, envelope)
    end = StopTarget(line.length if stop_at is None else min(stop_at, line.length), 0.0)
    roll_out(frenet, envelope, end, no_traffic(), StartMotion(v, a), drive, rows)
    return timed_path(0.0, frenet_path, len(points), rows, 1.0)


def _as_path(line: Polyline) -> FloatArray:
    """Points with direction and curvature, and nothing beside them."""
    path = new_path(len(line.s))
    path[:, PX], path[:, PY] = line.xy.T
    path[:, PS], path[:, PHEADING] = line.s, line.heading
    path[:, PSIN], path[:, PCOS] = elementwise.sin_cos(line.heading)
    path[:, PKAPPA] = np.gradient(line.heading, line.s)
    path[:, PROOM] = np.inf
    return path
