"""`drive`: on along the lanes, a route or a path, from where it stands or from beside another actor."""

from __future__ import annotations

from collections.abc import Mapping

from tuling_fsm.sim.scenario import bound, commands
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Arrived
from tuling_fsm.sim.scenario.deeds import Deed, Order
from tuling_fsm.sim.scenario.model import RouteTo, RouteVia
from tuling_fsm.sim.scenario.placements import RelativeTo
from tuling_fsm.sim.scenario.values import FaultError, Way

PATH_SPEED = 5.0
"""Of a vehicle on a path whose speed is not given, m/s."""
_AHEAD = {"ahead_of": 1, "behind": -1}
_LANES = {"same_as": 0, "left_of": 1, "right_of": -1}


def drive(order: Order) -> Deed:
    """Where it begins, if that is given, and how it goes on."""
    along, speed = "along" in order.modifiers, speed_of(order)
    begin: list[Command] = []
    if "position" in order.modifiers or "lane" in order.modifiers:
        begin.append(commands.Place(order.actor, _beside(order), speed or 0.0))
    if not along:
        return Deed((*begin, commands.Drive(order.actor, speed)))
    way = way_of(order)
    if way.type == "route":
        begin.append(commands.FollowRoute(order.actor, way.placements, speed))
    else:
        begin.append(commands.FollowPath(order.actor, way.placements, PATH_SPEED if speed is None else speed))
    return Deed(tuple(begin), Arrived(order.actor))


def route_of_ego(order: Order) -> Deed:
    """The planner drives the ego: it is told where to, or just to drive."""
    surplus = sorted(set(order.modifiers) - {"along"})
    if surplus:
        raise FaultError(order.at, f"the planner drives the ego: no {surplus[0]!r}", "along(<route>) alone")
    if "along" not in order.modifiers:
        return Deed((commands.ActivateController(order.actor, True, True),))
    way = way_of(order)
    if way.type != "route":
        raise FaultError(order.at, "the ego follows no path", "along(map.create_route([...]))")
    return Deed(setup=RouteTo(way.placements[0]) if len(way.placements) == 1 else RouteVia(way.placements))


def not_below_0(order: Order, name: str) -> float:
    """An argument in its SI unit.

    Raises:
        FaultError: it is below 0.
    """
    value = bound.si(order.given, name)
    if value < 0.0:
        raise FaultError(order.at, f"{name!r} is below 0", "0 or more")
    return value


def speed_of(order: Order) -> float | None:
    """The speed of the modifier, m/s; None without one.

    Raises:
        FaultError: it leads nowhere.
    """
    if "speed" not in order.modifiers:
        return None
    speed = bound.si(order.modifiers["speed"], "speed")
    if speed < 0.0 or (speed == 0.0 and "along" in order.modifiers):
        raise FaultError(order.at, f"at {speed:g} m/s nobody gets there", "a speed above 0")
    return speed


def way_of(order: Order) -> Way:
    """The route or path of the modifier.

    Raises:
        FaultError: it has no places.
    """
    way = bound.way(order.modifiers["along"], "route")
    if not way.placements:
        raise FaultError(order.at, f"a {way.type} without places", "one place or more")
    return way


def _beside(order: Order) -> RelativeTo:
    """The place that `position` and `lane` state, both relative to one other actor."""
    ahead, lanes, actors = 0.0, 0, set[str]()
    if "position" in order.modifiers:
        actor, sign = _reference(order, "position", _AHEAD)
        actors.add(actor)
        ahead = sign * bound.si(order.modifiers["position"], "distance")
    if "lane" in order.modifiers:
        actor, lanes = _reference(order, "lane", _LANES)
        actors.add(actor)
    if len(actors) > 1:
        raise FaultError(order.at, "position and lane refer to different actors", "one actor in both")
    return RelativeTo(actors.pop(), ahead, lanes)


def _reference(order: Order, modifier: str, signs: Mapping[str, int]) -> tuple[str, int]:
    """The actor that a modifier refers to, and the sign of the relation."""
    given = order.modifiers[modifier]
    named = [name for name in signs if given[name] is not None]
    if len(named) != 1:
        raise FaultError(order.at, f"{modifier!r} needs one actor to refer to", " or ".join(signs))
    actor = bound.actor(given, named[0])
    if actor == order.actor:
        raise FaultError(order.at, f"{modifier!r} of {actor!r} to itself", "another actor")
    return actor, signs[named[0]]
