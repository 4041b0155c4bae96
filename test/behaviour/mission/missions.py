"""Books made by hand, and the view of a car that keeps them."""

from __future__ import annotations

from typing import Any

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import RoutingMemory
from tuling_fsm.behaviour.mission.memory import CAR, PARK, GoalKind, MissionGoal, MissionProgress, TaskEntry, TaskPlace
from tuling_fsm.behaviour.mission.progress import update_mission
from tuling_fsm.map.road_map import RoadMap

from ..views import at, view_of
from ..worlds import FAR_LANE, FAR_Y, Place, route_along
from .tasks import mission, task

ONE = TaskEntry(task("one"))
PICKUP = MissionGoal(GoalKind.PICKUP, ONE.task.pickup, 0)
DROPOFF = MissionGoal(GoalKind.DROPOFF, ONE.task.dropoff, 0)
LEGS = {
    (CAR, TaskPlace(GoalKind.PICKUP, 0)): 100.0,
    (TaskPlace(GoalKind.PICKUP, 0), TaskPlace(GoalKind.DROPOFF, 0)): 110.0,
    (TaskPlace(GoalKind.DROPOFF, 0), PARK): 130.0,
}


def booked(goal: MissionGoal = PICKUP, *entries: TaskEntry, **more: Any) -> MissionProgress:
    """Progress in the middle of the mission."""
    known = {"mission": mission(), "ticket": 3, **more}
    return MissionProgress(entries=entries or (ONE,), goal=goal, **known)


def looking(road: RoadMap, progress: MissionProgress, x: float = 50.0, **changes: Any) -> BehaviourView:
    """The view of a car on the far lane, whose route serves the present mission goal and ends at its point."""
    where = changes.pop("end", None if progress.goal.point is None else progress.goal.point.x)
    place = Place(road, x=x, y=FAR_Y, v=changes.pop("v", 0.0), localized=changes.pop("localized", True))
    route = route_along(road, FAR_LANE, end=where or 390.0)
    changes.setdefault("mission", progress.mission)
    view = view_of(place, route, **changes)
    return at(
        view,
        mission=progress,
        routing=RoutingMemory(route=route, serves=changes.get("serves", progress.ticket)),
    )


def kept(view: BehaviourView, state: str = states.NORMAL) -> tuple[MissionProgress, tuple[str, ...]]:
    """The progress after a tick, and what is reported."""
    memory = update_mission(view, state)
    return memory.mission, memory.reports
