"""The supervisor `rain_fog` (RFG-1, RFG-2): in rain and fog the lidar is off; the car drives by radar and history map.

It is quick to believe in rain and slow to believe in its end. On entry it keeps the occupancy grid, which the lidar
made; meanwhile the car is slower, stands when the radar gives no sign of life, whatever else is seen, and reverses only
where the radar looks back.
"""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.behaviour.free_driving import NO_REVERSING
from tuling_fsm.behaviour.leaf import BehaviourContext, BehaviourRow, BehaviourView
from tuling_fsm.behaviour.parameters import RadarParameters
from tuling_fsm.behaviour.supervisors import guards
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, PlanningRequest, PullOver, Reason
from tuling_fsm.core.standing import HELD
from tuling_fsm.machine.elements import Leaf, Priority
from tuling_fsm.machine.engine import StepResult
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.machine.table import Table
from tuling_fsm.world.inputs import Occupancy
from tuling_fsm.world.rain_fog import radar_and_history
from tuling_fsm.world.world import World

CLEAR, RADAR_AND_HISTORY = "clear", "radar_and_history"


@dataclass(frozen=True, eq=False)
class RainFogMemory:
    """What is kept from the entry into rain or fog."""

    occupancy: Occupancy | None = None


def table(parameters: RadarParameters) -> Table[BehaviourView, None]:
    """`clear` until rain or fog is reported, `radar_and_history` until it has not been for long enough."""
    on, off = parameters.enter_dwell, parameters.leave_dwell
    rows = (
        BehaviourRow(CLEAR, RADAR_AND_HISTORY, guards.rain_or_fog, Priority.FAILURE, 0,
                     clause="RFG-1", dwell_s=on, min_dwell_s=0.0),
        BehaviourRow(RADAR_AND_HISTORY, CLEAR, guards.clear_sky, Priority.PROGRESS, 0,
                     clause="RFG-1", dwell_s=off, min_dwell_s=0.0),
    )  # fmt: skip
    return Table("rain_fog", CLEAR, (Leaf(CLEAR, None), Leaf(RADAR_AND_HISTORY, None)), rows, supervises=True)


def carry_out(entry: RainFogMemory, step: StepResult[BehaviourView], world: World) -> RainFogMemory:
    """What a transition of this supervisor does: keep the grid, or forget it."""
    if step.fired is None:
        return entry
    return RainFogMemory(world.occupancy) if step.dest == RADAR_AND_HISTORY else RainFogMemory()


def seen(world: World, record: StateRecord[RainFogMemory], context: BehaviourContext) -> World:
    """The World by the sensors that count now."""
    if record.path == CLEAR:
        return world
    kept = radar_and_history(world, record.memory.occupancy, context.road_map, context.seeing)
    return replace(kept, looks_back=context.parameters.radar.covers_rear)


def restricted(
    request: PlanningRequest, world: World, record: StateRecord[RainFogMemory], parameters: RadarParameters
) -> PlanningRequest:
    """The request as it may be driven by the sensors that count now."""
    if record.path == CLEAR or isinstance(request, Hold):
        return request
    if not (world.objects_fresh and world.radar_fresh):
        return Hold(Reason.RADAR_STALE, detail="nothing from it in rain or fog")
    limit = min(request.speed_limit, parameters.speed)
    match request:
        case FollowLanes():
            return replace(request, speed_limit=limit)
        case FreeSpace() | PullOver():
            if world.ego.v < -HELD and not parameters.covers_rear:
                return NO_REVERSING
            return replace(request, speed_limit=limit, allow_reverse=request.allow_reverse and parameters.covers_rear)
        case _:
            assert_never(request)
