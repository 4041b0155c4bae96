"""Wheels of a car that stands: turned on the spot before it goes, and left alone while it only waits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.profile import STEP_S
from tuling_fsm.planning.timed import times

_STEERED = 0.02
"""Wheels that stand this near (rad) to where they are needed need no time to get there."""


def from_standstill(
    trajectory: Trajectory, limit: Limit, curvature: float, vehicle: Vehicle
) -> tuple[Trajectory, Limit]:
    """A plan of a car that stands with its wheels turned for `curvature` (1/m), after the time that they need to turn
    to where its path begins, and what limits the speed then; where it goes nowhere, nobody turns them.
    """
    if trajectory.stands:
        return replace(trajectory, curvature=np.full(len(trajectory), curvature)), limit
    now = elementary.atan(vehicle.wheelbase * curvature)
    needed = elementary.atan(vehicle.wheelbase * float(trajectory.curvature[0]))
    rows = math.ceil(abs(needed - now) / vehicle.max_steer_rate / STEP_S)
    if abs(needed - now) < _STEERED:
        return trajectory, limit
    lead = now + (needed - now) * np.arange(rows) / rows
    columns = {name: getattr(trajectory, name) for name in ("x", "y", "heading", "v", "a")}
    held = {name: np.concatenate((np.full(rows, column[0]), column)) for name, column in columns.items()}
    held["v"][:rows], held["a"][:rows] = 0.0, 0.0
    bend = np.concatenate((elementwise.tan(lead) / vehicle.wheelbase, trajectory.curvature))
    return Trajectory(trajectory.stamp, times(len(bend)), curvature=bend, **held), Limit(Reason.STEERING)
