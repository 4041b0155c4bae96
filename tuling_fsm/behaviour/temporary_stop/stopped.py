"""`temporary_stop/stopped`: passengers get on or off (STP-1)."""

from __future__ import annotations

import math

from tuling_fsm.behaviour.free_driving import TOLERANCE_S
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.memory import GoalKind
from tuling_fsm.behaviour.mission.progress import served
from tuling_fsm.behaviour.permissions import ROADSIDE
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.core.standing import VEHICLE_STANDS


def _update(view: BehaviourView) -> Memory:
    stop = view.memory.stop
    if stop.done or stop.goal != view.memory.mission.goal:
        return view.memory
    stands = abs(view.world.ego.v) < VEHICLE_STANDS
    stop = replace(stop, stood_s=stop.stood_s + (view.step_s if stands else 0.0))
    if stop.stood_s < view.context.parameters.stop.duration - TOLERANCE_S:
        return replace(view.memory, stop=stop)
    return served(view.having(replace(view.memory, stop=replace(stop, done=True))))


def _request(view: BehaviourView) -> PlanningRequest:
    stop = view.memory.stop
    left = max(view.context.parameters.stop.duration - stop.stood_s, 0.0)
    way = "on" if stop.goal.kind is GoalKind.PICKUP else "off"
    return Hold(Reason.ARRIVED, detail=f"passengers get {way}, {math.ceil(left - TOLERANCE_S)} s left")


STOPPED = LeafBehaviour(
    _request, update=_update, may=ROADSIDE._replace(stand=True), defers_route=True, asks_itself=True
)
