"""`on_road/normal`: along the lanes of the reference road (NOR-3 to NOR-7)."""

from __future__ import annotations

from tuling_fsm.behaviour.free_driving import follow_lanes
from tuling_fsm.behaviour.guards import waits_rightly
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory, RouteProgress
from tuling_fsm.behaviour.on_road.memory import ExploreMemory
from tuling_fsm.behaviour.permissions import ON_LANES
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def from_here(view: BehaviourView) -> Memory:
    """Progress is counted from this place and time on."""
    return replace(view.memory, progress=RouteProgress(view.world.route_s, view.clock))


def _enter(view: BehaviourView) -> Memory:
    memory = from_here(view)
    return replace(memory, on_road=replace(memory.on_road, exploring=ExploreMemory(), block=None))


def count_progress(view: BehaviourView) -> Memory:
    """Progress is counted anew where the car has come on, or waits rightly (NOR-7)."""
    came_on = abs(view.world.route_s - view.memory.progress.s) >= view.context.parameters.normal.progress
    if came_on or waits_rightly(view.world, view.memory.plan):
        return from_here(view)
    return view.memory


def along_lanes(view: BehaviourView) -> PlanningRequest:
    """Along the lanes of the reference road, or why not."""
    world = view.world
    if not world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if world.route is None:
        return Hold(Reason.NO_ROUTE)
    if not world.lanes:
        return Hold(Reason.NO_PATH, detail="no lane of the route in sight")
    return follow_lanes(view)


NORMAL = LeafBehaviour(along_lanes, _enter, count_progress, may=ON_LANES)
