"""Parameters of free-space planning."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class FreeSpaceParameters:
    """How far, how carefully and how smoothly the car manoeuvres without lanes."""

    clearance: float = param(
        0.15, "m", 0.0, 1.0, "wished distance to everything; given up in steps where there is no path", clause="SLF-1"
    )
    least_clearance: float = param(
        0.01, "m", 0.001, 0.3, "distance to everything that is never given up", clause="USE-7"
    )
    gear_cost: float = param(2.0, "m", 0.0, 50.0, "length that a change of gear is worth", clause="SLF-1")
    curve_cost: float = param(
        1.0, "m", 0.0, 20.0, "length that a metre at full steering is worth, less by the square at less", clause="SLF-1"
    )
    greed: float = param(3.0, "", 1.0, 10.0, "weight of the estimated rest of the way while searching")
    improve_expansions: int = param(1200, "", 0, 100_000, "expansions spent on a better path after the first")
    search_margin: float = param(12.0, "m", 1.0, 100.0, "how far around start and goal the rear axle may go")
    max_distance: float = param(150.0, "m", 5.0, 500.0, "a goal farther than this is off the map", clause="USE-7")
    steering_speed: float = param(1.0, "m/s", 0.1, 3.0, "speed at which the car would like to turn the wheel")
    accel: float = param(1.0, "m/s^2", 0.1, 3.0, "acceleration and braking while manoeuvring")
    gear_hold: float = param(0.2, "s", 0.0, 5.0, "standing time at a change of gear")
    start_overlap: float = param(
        0.1, "m", 0.0, 0.5, "what reaches no deeper into the car at the start is a false measurement", clause="USE-6"
    )
    line_release: float = param(
        6.0, "m", 0.0, 50.0, "how far a line that the car stands on is dropped around it", clause="REG-2"
    )
    wall_gap: float = param(0.3, "m", 0.0, 5.0, "distance at which the car stops before a stop wall")
    row: float = param(0.04, "s", 0.01, 0.05, "time between the rows of a trajectory")
