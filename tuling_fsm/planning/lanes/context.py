"""What all candidates of a tick have in common, and what follows from the parameters alone."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.cost import CostWeights
from tuling_fsm.planning.lanes.lane_lines import LaneLines, ReferenceLineParameters
from tuling_fsm.planning.lanes.path_end import StopLimits
from tuling_fsm.planning.lanes.sampling import SamplingShapes
from tuling_fsm.planning.obstacles.beside import ObstaclesBeside, PassingLimits
from tuling_fsm.planning.obstacles.moving import MovingObstacleGaps, MovingObstacles
from tuling_fsm.planning.obstacles.static import StaticObstacles
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.speed.candidates import SpeedSampling
from tuling_fsm.planning.speed.car_following import LongitudinalLimits


class CandidateStart(NamedTuple):
    """When (s) and at which pose (x, y, heading, curvature), speed and acceleration all candidates start."""

    stamp: float
    pose: tuple[float, float, float, float]
    v: float
    a: float


class EvaluationContext(NamedTuple):
    """Everything that all candidates of a tick have in common. `walls` (W, 4); `lead` (s) is
    `SpeedParameters.pass_ahead`.
    """

    lines: LaneLines
    static: StaticObstacles
    moving: MovingObstacles
    beside: ObstaclesBeside
    walls: FloatArray
    start: CandidateStart
    speed_limit: float
    lead: float
    body: Footprint
    drive: LongitudinalLimits
    stops: StopLimits
    weights: CostWeights
    effort: SpeedSampling


class DerivedParameters(NamedTuple):
    """The same for every tick. A trajectory has `rows` rows, of which a candidate takes `candidate_rows`: as long as
    progress is measured.
    """

    vehicle: Vehicle
    parameters: PlanningParameters
    body: Footprint
    drive: LongitudinalLimits
    shapes: SamplingShapes
    reference_line: ReferenceLineParameters
    stops: StopLimits
    moving_gaps: MovingObstacleGaps
    passing: PassingLimits
    effort: SpeedSampling
    candidate_rows: int
    rows: int

    @classmethod
    def of(cls, vehicle: Vehicle, parameters: PlanningParameters) -> DerivedParameters:
        """Everything that follows from the parameters alone."""
        lateral, speed = parameters.lateral, parameters.speed
        return cls(
            vehicle=vehicle,
            parameters=parameters,
            body=Footprint.of(vehicle),
            drive=LongitudinalLimits.of(vehicle, parameters),
            shapes=SamplingShapes(
                grid=lateral.grid,
                transitions=lateral.transitions,
                shortest=lateral.shortest,
                offset=lateral.offset,
                around=lateral.around,
                around_tight=lateral.around_tight,
                return_length=lateral.return_length,
            ),
            reference_line=ReferenceLineParameters.of(vehicle, parameters),
            stops=StopLimits(
                wanted=parameters.clearance.wanted,
                slack=lateral.bound_slack,
                line=speed.line_gap,
                obstacle=speed.obstacle_gap,
                end=speed.end_gap,
                curvature=vehicle.max_curvature,
            ),
            moving_gaps=MovingObstacleGaps.of(parameters),
            passing=PassingLimits.of(vehicle, parameters.passing),
            effort=SpeedSampling.of(vehicle, parameters.choice),
            candidate_rows=round(parameters.choice.horizon / STEP_S) + 1,
            rows=round(speed.horizon / STEP_S) + 1,
        )
