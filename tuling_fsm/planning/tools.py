"""What one set of parameters amounts to for the kernels."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.candidates import Shapes
from tuling_fsm.planning.laws import Drive
from tuling_fsm.planning.lines import LineShape
from tuling_fsm.planning.movers import MoverGaps
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.profile import STEP_S
from tuling_fsm.planning.speeds import Effort
from tuling_fsm.planning.stopping import Gaps
from tuling_fsm.planning.tick import Scratch, new_scratch


class Tools(NamedTuple):
    """The same for every tick. `whole` is scratch as long as a trajectory, of which a candidate takes
    `candidate_rows`: as long as progress is measured.
    """

    vehicle: Vehicle
    parameters: PlanningParameters
    body: Body
    drive: Drive
    shapes: Shapes
    line_shape: LineShape
    gaps: Gaps
    mover_gaps: MoverGaps
    effort: Effort
    candidate_rows: int
    whole: Scratch

    @classmethod
    def of(cls, vehicle: Vehicle, parameters: PlanningParameters) -> Tools:
        """Everything that follows from the parameters alone."""
        lateral, speed = parameters.lateral, parameters.speed
        drive = Drive.of(vehicle, parameters)
        shapes = Shapes(
            lateral.grid, lateral.transitions, lateral.shortest, lateral.offset, lateral.around, lateral.around_tight,
            lateral.return_length,
        )  # fmt: skip
        gaps = Gaps(parameters.clearance.wanted, lateral.bound_slack, speed.line_gap, speed.obstacle_gap, speed.end_gap)
        short, whole = (round(t / STEP_S) + 1 for t in (parameters.choice.horizon, speed.horizon))
        return cls(
            vehicle, parameters, Body.of(vehicle), drive, shapes, LineShape.of(vehicle, parameters), gaps,
            MoverGaps.of(parameters), Effort.of(vehicle, parameters.choice), short, new_scratch(whole),
        )  # fmt: skip
