"""On the way to a point with slots: one tick, with a memory made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, TaskEntry
from tuling_fsm.behaviour.temporary_stop.approach import APPROACH
from tuling_fsm.behaviour.temporary_stop.memory import TemporaryStop
from tuling_fsm.core.request import Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import MissionPoint

from ..mission.tasks import mission, slot, task
from ..views import at, view_of
from ..worlds import FAR_LANE, FAR_Y, Place, route_along

AT_X = 150.0
FAILED, DRIVES = PlanOutcome(True, False, Reason.NO_PATH), PlanOutcome(True, travel=20.0)
POINT = MissionPoint("p", AT_X, FAR_Y, 0.0, (slot(AT_X), slot(AT_X + 7.0, FAR_Y)))
"""One slot beyond the road's edge, and one on the road."""


def look(
    road: RoadMap, stop: TemporaryStop | None = None, x: float = 130.0, point: MissionPoint = POINT, **more: Any
) -> BehaviourView:
    """On the way to the point."""
    place = {key: more.pop(key) for key in ("v", "localized", "things", "y", "heading") if key in more}
    goal = MissionGoal(GoalKind.PICKUP, point, 0)
    plan = more.pop("plan", DRIVES)
    view = view_of(Place(road, x, place.pop("y", FAR_Y), **place), route_along(road, FAR_LANE), **more)
    progress = replace(view.memory.mission, mission=mission(), entries=(TaskEntry(task("one")),), goal=goal)
    view = replace(at(view, mission=progress, plan=plan), step_s=0.05)
    if stop is None:
        return at(view, stop=APPROACH.enter(view).stop)
    return at(view, stop=replace(stop, goal=goal))


def stopped(view: BehaviourView, **more: Any) -> TemporaryStop:
    """Its stop with something else in memory."""
    return replace(view.memory.stop, **more)


def roadside_slot_of(view: BehaviourView, number: int = 0) -> Any:
    """One of the point's slots."""
    return view.memory.stop.roadside_slots[number]
