"""On the way to a point with slots: one tick, with a memory made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.memory import Outcome
from tuling_fsm.behaviour.mission.memory import Aim, Entry, Errand
from tuling_fsm.behaviour.temporary_stop.approach import APPROACH
from tuling_fsm.behaviour.temporary_stop.memory import Stop
from tuling_fsm.core.request import Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Point

from ..mission.tasks import mission, slot, task
from ..views import at, view_of
from ..worlds import FAR_LANE, FAR_Y, Place, route_along

AT_X = 150.0
FAILED, DRIVES = Outcome(True, False, Reason.NO_PATH), Outcome(True, travel=20.0)
POINT = Point("p", AT_X, FAR_Y, 0.0, (slot(AT_X), slot(AT_X + 7.0, FAR_Y)))
"""One slot beyond the road's edge, and one on the road."""


def look(road: RoadMap, stop: Stop | None = None, x: float = 130.0, point: Point = POINT, **more: Any) -> View:
    """On the way to the point."""
    place = {key: more.pop(key) for key in ("v", "localized", "things", "y", "heading") if key in more}
    errand = Errand(Aim.PICKUP, point, 0)
    plan = more.pop("plan", DRIVES)
    view = view_of(Place(road, x, place.pop("y", FAR_Y), **place), route_along(road, FAR_LANE), **more)
    book = replace(view.memory.book, mission=mission(), entries=(Entry(task("one")),), errand=errand)
    view = replace(at(view, book=book, plan=plan), step_s=0.05)
    if stop is None:
        return at(view, stop=APPROACH.enter(view).stop)
    return at(view, stop=replace(stop, errand=errand))


def stopped(view: View, **more: Any) -> Stop:
    """Its stop with something else in memory."""
    return replace(view.memory.stop, **more)


def berth_of(view: View, number: int = 0) -> Any:
    """One of the point's slots."""
    return view.memory.stop.berths[number]
