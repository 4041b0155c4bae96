"""Perception as it is on a vehicle, in three levels: noise, latency, drop-outs, occlusion and errors of tracking.

Positions of tracked vehicles are off by 0.1 to 0.5 m (nuScenes detection and tracking benchmarks: mean translation
errors of 0.25 to 0.5 m), and come 0.1 s (one turn of a lidar) to 0.4 s late. All of it is drawn by the seed (SIM-2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.parameters import FaultParameters, SensorParameters, TrackingErrorParameters

CLEAN = "clean"


def _level(
    noise: float, latency: float, drop_out: float, light_range: float, tracking: TrackingErrorParameters
) -> SensorParameters:
    """Sensors of one quality: standard deviation (m, and m/s of velocities), latency (s), share of rows that is
    missing, reach of the camera for lights (m).
    """
    objects = FaultParameters(noise=noise, latency=latency, drop_out=drop_out, occlusion=True)
    rows = FaultParameters(noise=noise, latency=latency, drop_out=drop_out)
    messages = FaultParameters(latency=latency, drop_out=drop_out)
    return SensorParameters(
        light_range=light_range,
        light_view=math.radians(60.0),
        objects_faults=objects,
        lane_lines_faults=rows,
        traffic_lights_faults=messages,
        parking_slots_faults=rows,
        occupancy_faults=messages,
        tracking_errors=tracking,
    )


LEVELS: Mapping[str, SensorParameters] = {
    CLEAN: SensorParameters(),
    "mild": _level(0.15, 0.1, 0.05, 100.0, TrackingErrorParameters()),
    "middle": _level(0.3, 0.25, 0.1, 80.0, TrackingErrorParameters()),
    "hard": _level(0.5, 0.4, 0.2, 60.0, TrackingErrorParameters(ghosts=0.1, splits=0.02, id_changes=0.05)),
}
"""Sensors by the name of their level."""


def perception_level(name: str) -> SensorParameters:
    """The sensors of a level.

    Raises:
        InputError: there is no such level.
    """
    if name not in LEVELS:
        raise InputError("perception", f"{name!r} is no level", f"one of {', '.join(LEVELS)}")
    return LEVELS[name]
