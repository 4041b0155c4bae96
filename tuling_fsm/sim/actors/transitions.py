"""How a quantity goes from one value to another (ASAM OpenSCENARIO XML 1.3, 7.4.1.3: transition dynamics)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tuling_fsm.core import elementary
from tuling_fsm.sim.scenario.maneuvers import DynamicsDimension, DynamicsShape, Transition

SHARES: dict[DynamicsShape, Callable[[float], float]] = {
    DynamicsShape.LINEAR: lambda p: p,
    DynamicsShape.CUBIC: lambda p: p * p * (3.0 - 2.0 * p),
    DynamicsShape.SINUSOIDAL: lambda p: 0.5 - 0.5 * elementary.cos(math.pi * p),
    DynamicsShape.STEP: lambda p: 1.0,
}
"""Share of the change that is done after a share of the way, 0 to 1."""
PEAK_SLOPES: dict[DynamicsShape, float] = {
    DynamicsShape.LINEAR: 1.0,
    DynamicsShape.CUBIC: 1.5,
    DynamicsShape.SINUSOIDAL: 0.5 * math.pi,
    DynamicsShape.STEP: 0.0,
}
"""Greatest slope of a share: a rate is the peak of the change (1.3, `DynamicsDimension.rate`)."""


@dataclass
class Ramp:
    """From a value to another over a length, counted in s or, `over_distance`, in m of way."""

    start: float
    goal: float
    shape: DynamicsShape
    length: float
    over_distance: bool = False
    done: float = 0.0

    @property
    def over(self) -> bool:
        """Whether the goal is reached."""
        return self.done >= self.length - 1e-9

    def advance(self, dt: float, way: float) -> float:
        """The value `dt` s and `way` m later."""
        self.done += way if self.over_distance else dt
        return self.value

    @property
    def value(self) -> float:
        """The present value."""
        if self.over:
            return self.goal
        return self.start + (self.goal - self.start) * SHARES[self.shape](self.done / self.length)


def ramp_of(start: float, goal: float, dynamics: Transition) -> Ramp:
    """The ramp that a transition asks for."""
    change = abs(goal - start)
    if dynamics.shape is DynamicsShape.STEP or change == 0.0:
        return Ramp(start, goal, dynamics.shape, 0.0)
    if dynamics.dimension is DynamicsDimension.RATE:
        rate = abs(dynamics.value)
        length = PEAK_SLOPES[dynamics.shape] * change / rate if rate > 0.0 else 0.0
        return Ramp(start, goal, dynamics.shape, length)
    return Ramp(start, goal, dynamics.shape, dynamics.value, dynamics.dimension is DynamicsDimension.DISTANCE)


def speed_ramp(start: float, goal: float, dynamics: Transition) -> Ramp:
    """The ramp of a speed: one over a distance takes the time in which that is driven at the mean of both speeds, as
    every shape is symmetric.
    """
    if dynamics.dimension is DynamicsDimension.DISTANCE and dynamics.shape is not DynamicsShape.STEP:
        mean = 0.5 * abs(start + goal)
        length = dynamics.value / mean if mean > 0.0 else 0.0
        return Ramp(start, goal, dynamics.shape, length)
    return ramp_of(start, goal, dynamics)


def swerve_ramp(start: float, goal: float, shape: DynamicsShape, acceleration: float) -> Ramp:
    """The ramp of an offset whose lateral acceleration has a peak, m/s^2: that of a sinusoid of the same length."""
    length = math.pi * math.sqrt(abs(goal - start) / (2.0 * acceleration)) if acceleration > 0.0 else 0.0
    return Ramp(start, goal, shape, 0.0 if shape is DynamicsShape.STEP else length)
