"""Agents as a structure of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.errors import InputError


class Crowd(NamedTuple):
    """N agents, all arrays (N,): position (m), velocity and preferred velocity (m/s); radius (m), greatest speed (m/s),
    distance (m) and number up to which neighbours are avoided, and for how long (s) the velocity is to be free of
    collision with neighbours and with obstacles.
    """

    x: FloatArray
    y: FloatArray
    vx: FloatArray
    vy: FloatArray
    preferred_vx: FloatArray
    preferred_vy: FloatArray
    radius: FloatArray
    max_speed: FloatArray
    neighbour_dist: FloatArray
    max_neighbours: Int32Array
    horizon: FloatArray
    horizon_obst: FloatArray


def new_crowd(
    places: npt.ArrayLike,
    radius: float = 2.0,
    max_speed: float = 2.0,
    neighbour_dist: float = 15.0,
    max_neighbours: int = 10,
    horizon: float = 5.0,
    horizon_obst: float = 5.0,
) -> Crowd:
    """Agents that stand and prefer to, all alike; the arrays may be changed afterwards.

    Args:
        places: positions (N, 2), m.
        radius: m.
        max_speed: m/s.
        neighbour_dist: m.
        max_neighbours: at most so many are avoided.
        horizon: for neighbours, s.
        horizon_obst: for obstacles, s.

    Raises:
        InputError: a value that makes no sense.
    """
    xy = np.asarray(places, dtype=np.float64).reshape(-1, 2)
    for name, value in (("radius", radius), ("max_speed", max_speed), ("neighbour_dist", neighbour_dist)):
        if not value >= 0.0:
            raise InputError(f"orca.{name}", f"{value} is negative or no number", "0 or more")
    for name, value in (("horizon", horizon), ("horizon_obst", horizon_obst)):
        if not value > 0.0:
            raise InputError(f"orca.{name}", f"{value} is not positive", "more than 0")
    if max_neighbours < 0:
        raise InputError("orca.max_neighbours", f"{max_neighbours} is negative", "0 or more")
    if not np.isfinite(xy).all():
        raise InputError("orca.places", "a position is not finite", "finite positions")
    n = len(xy)
    return Crowd(
        x=xy[:, 0].copy(),
        y=xy[:, 1].copy(),
        vx=np.zeros(n),
        vy=np.zeros(n),
        preferred_vx=np.zeros(n),
        preferred_vy=np.zeros(n),
        radius=np.full(n, radius),
        max_speed=np.full(n, max_speed),
        neighbour_dist=np.full(n, neighbour_dist),
        max_neighbours=np.full(n, max_neighbours, np.int32),
        horizon=np.full(n, horizon),
        horizon_obst=np.full(n, horizon_obst),
    )
