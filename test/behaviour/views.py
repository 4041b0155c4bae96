"""What guards and states look at, made by hand: one tick, with any memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuling_fsm.behaviour.leaf import BehaviourContext, BehaviourView
from tuling_fsm.behaviour.memory import Memory, PlanOutcome, RouteQuestion, RoutingMemory
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.world import RouteMatch

from .worlds import NEAR_Y, VEHICLE, Place, route_along

CLOCK = 1000.0
"""On the machine's active clock, s."""
STAMP = 2000.0
FAILED = PlanOutcome(True, False, Reason.NO_PATH)
DRIVES = PlanOutcome(True, travel=20.0)


def view_of(
    place: Place,
    route: Route | None = None,
    memory: Memory | None = None,
    parameters: BehaviourParameters | None = None,
    in_state_s: float = 0.0,
    **changes: Any,
) -> BehaviourView:
    """The view of a place, with the route in use; `changes` are those of the World."""
    memory = memory or Memory(routing=RoutingMemory(route=route))
    context = BehaviourContext(place.road_map, VEHICLE, parameters or BehaviourParameters())
    return BehaviourView(context, place.world(STAMP, route, **changes), memory, CLOCK, in_state_s, 0.05, ())


def at(view: BehaviourView, **memory: Any) -> BehaviourView:
    """The same view with other parts of its memory."""
    return view.having(replace(view.memory, **memory))


def limited(reason: Reason, blocker: int = -1, **more: Any) -> PlanOutcome:
    """A plan that something limits."""
    return PlanOutcome(True, limit=Limit(reason, blocker=blocker), **more)


def look(road: RoadMap, x: float = 50.0, y: float = NEAR_Y, **more: Any) -> BehaviourView:
    """On the near lane, with a plan that drives; what is none of the place's, nor memory, is the World's."""
    place = {key: more.pop(key) for key in ("heading", "v", "localized", "things") if key in more}
    memory = {"plan": DRIVES, **more.pop("memory", {})}
    in_state_s = more.pop("in_state_s", 0.0)
    route = more.pop("route", route_along(road))
    view = view_of(Place(road, x, y, **place), route, in_state_s=in_state_s, **more)
    return at(view, **memory)


def remembering(road: RoadMap, x: float = 50.0, **memory: Any) -> BehaviourView:
    """On the near lane, with this in memory and nothing planned yet."""
    place = {key: memory.pop(key) for key in ("v", "localized", "things") if key in memory}
    route = memory.pop("route", route_along(road))
    step_s = memory.pop("step_s", 0.05)
    view = view_of(Place(road, x, **place), route)
    return replace(at(view, **memory), step_s=step_s)


def asking(road: RoadMap, question: RouteQuestion, *answers: RouteMatch, **more: Any) -> BehaviourView:
    """A view with a question open, on a route to x = 300."""
    route = route_along(road, end=300.0)
    view = view_of(Place(road, localized=more.pop("localized", True)), route)
    view = at(view, routing=RoutingMemory(route=route, number=5, question=question, **more))
    return replace(view, answers=answers)
