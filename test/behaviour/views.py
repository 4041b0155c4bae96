"""What guards and states look at, made by hand: one tick, with any memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuling_fsm.behaviour.conduct import Site, View
from tuling_fsm.behaviour.memory import Memory, Routing
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.map.route import Route

from .worlds import VEHICLE, Place

CLOCK = 1000.0
"""On the machine's active clock, s."""
STAMP = 2000.0


def view_of(
    place: Place,
    route: Route | None = None,
    memory: Memory | None = None,
    parameters: BehaviourParameters | None = None,
    in_state_s: float = 0.0,
    **changes: Any,
) -> View:
    """The view of a place, with the route in use; `changes` are those of the World."""
    memory = memory or Memory(routing=Routing(route=route))
    site = Site(place.road_map, VEHICLE, parameters or BehaviourParameters())
    return View(site, place.world(STAMP, route, **changes), memory, CLOCK, in_state_s, 0.05, ())


def at(view: View, **memory: Any) -> View:
    """The same view with other parts of its memory."""
    return view.having(replace(view.memory, **memory))
