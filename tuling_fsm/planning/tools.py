"""What one set of parameters amounts to for the kernels."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.candidates import Shapes
from tuling_fsm.planning.evaluate import Scratch, new_scratch
from tuling_fsm.planning.laws import Drive
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.profile import STEP_S


class Tools(NamedTuple):
    """The same for every tick. `candidate` is scratch as long as progress is measured, `whole` as long as a
    trajectory.
    """

    vehicle: Vehicle
    parameters: PlanningParameters
    body: Body
    drive: Drive
    shapes: Shapes
    candidate: Scratch
    whole: Scratch

    @classmethod
    def of(cls, vehicle: Vehicle, parameters: PlanningParameters) -> Tools:
        """Everything that follows from the parameters alone."""
        lateral = parameters.lateral
        drive = Drive.of(vehicle, parameters)
        shapes = Shapes(
            lateral.grid, lateral.transitions, lateral.shortest, lateral.offset, lateral.around, lateral.around_tight,
            lateral.return_length,
        )  # fmt: skip
        short, whole = (round(t / STEP_S) + 1 for t in (parameters.choice.horizon, parameters.speed.horizon))
        return cls(vehicle, parameters, Body.of(vehicle), drive, shapes, new_scratch(short), new_scratch(whole))
