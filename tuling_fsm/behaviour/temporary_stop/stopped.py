"""`temporary_stop/stopped`: passengers get on or off (STP-1)."""

from __future__ import annotations

import math

from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.free_driving import TOLERANCE_S
from tuling_fsm.behaviour.guards import STANDING_SPEED
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.bookkeeping import served
from tuling_fsm.behaviour.mission.memory import Aim
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def _update(view: View) -> Memory:
    stop = view.memory.stop
    if stop.done or stop.errand != view.memory.book.errand:
        return view.memory
    stands = abs(view.world.ego.v) < STANDING_SPEED
    stop = replace(stop, stood_s=stop.stood_s + (view.step_s if stands else 0.0))
    if stop.stood_s < view.site.parameters.stop.duration - TOLERANCE_S:
        return replace(view.memory, stop=stop)
    return served(view.having(replace(view.memory, stop=replace(stop, done=True))))


def _request(view: View) -> PlanningRequest:
    stop = view.memory.stop
    left = max(view.site.parameters.stop.duration - stop.stood_s, 0.0)
    way = "on" if stop.errand.aim is Aim.PICKUP else "off"
    return Hold(Reason.ARRIVED, detail=f"passengers get {way}, {math.ceil(left - TOLERANCE_S)} s left")


STOPPED = Conduct(_request, update=_update, defers_route=True, asks_itself=True)
