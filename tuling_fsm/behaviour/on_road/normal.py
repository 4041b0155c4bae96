"""`on_road/normal`: along the lanes of the reference road (NOR-3 to NOR-7)."""

from __future__ import annotations

from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.free_driving import follow_lanes
from tuling_fsm.behaviour.guards import waits_rightly
from tuling_fsm.behaviour.memory import Memory, Progress
from tuling_fsm.behaviour.on_road.memory import Exploring
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def _here(view: View) -> Memory:
    """Progress is counted from this place and time on."""
    return replace(view.memory, progress=Progress(view.world.route_s, view.clock))


def _enter(view: View) -> Memory:
    memory = _here(view)
    return replace(memory, on_road=replace(memory.on_road, exploring=Exploring(), block=None))


def _update(view: View) -> Memory:
    came_on = abs(view.world.route_s - view.memory.progress.s) >= view.site.parameters.normal.progress
    if came_on or waits_rightly(view.world, view.memory.plan):
        return _here(view)
    return view.memory


def along_lanes(view: View) -> PlanningRequest:
    """Along the lanes of the reference road, or why not."""
    world = view.world
    if not world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if world.route is None:
        return Hold(Reason.NO_ROUTE)
    if not world.lanes:
        return Hold(Reason.NO_PATH, detail="no lane of the route in sight")
    return follow_lanes(view)


NORMAL = Conduct(along_lanes, _enter, _update)
