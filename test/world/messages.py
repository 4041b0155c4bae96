"""Inputs of a car that drives north."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from tuling_fsm.core.geometry import Pose
from tuling_fsm.world.inputs import Inputs, Odometry

NORTH = 0.5 * math.pi


def at(stamp: float, y: float = -80.0, x: float = 1.75, v: float = 5.0, yaw_rate: float = 0.0, **more: Any) -> Inputs:
    odometry = Odometry(stamp, Pose(x, y, NORTH), v, yaw_rate)
    return dataclasses.replace(Inputs(stamp, odometry), **more)
