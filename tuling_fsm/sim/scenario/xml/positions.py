"""Positions of OpenSCENARIO XML (1.3, 6.3.8) as placements."""

from __future__ import annotations

from collections.abc import Callable

from tuling_fsm.sim.scenario.placements import AlongRoute, AtPose, Placement
from tuling_fsm.sim.scenario.road_places import (
    ALONG,
    Facing,
    LaneRelative,
    OffsetFrom,
    OnRoad,
    OnRoadLane,
    RoadRelative,
)
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.script import Script

_ABSOLUTE = {"absolute": True, "relative": False}


def position(element: XmlElement, script: Script) -> Placement:
    """The placement that a `Position` (or whatever holds its choice) states.

    Raises:
        InputError: one that is not understood, or lacks something.
    """
    kind = element.only()
    if kind.tag not in script.positions:
        raise kind.fault("this position is not understood", "one of " + ", ".join(script.positions))
    return script.positions[kind.tag](kind, script)


def has_orientation(element: XmlElement) -> bool:
    """Whether a `Position` states an orientation."""
    kind = element.only()
    return kind.has("h") or kind.find("Orientation") is not None


def facing_of(element: XmlElement, script: Script) -> Facing:
    """The Orientation of a position; along the lane, road or entity that it refers to where there is none."""
    orientation = element.find("Orientation")
    if orientation is None:
        return ALONG
    angle = script.mirrored(orientation.number("h", 0.0))
    return Facing(angle, orientation.choice("type", _ABSOLUTE, default=True))


def _world(element: XmlElement, script: Script) -> Placement:
    heading = script.mirrored(element.number("h", 0.0))
    return AtPose(element.number("x"), script.mirrored(element.number("y")), heading)


def _lane(element: XmlElement, script: Script) -> Placement:
    offset = script.mirrored(element.number("offset", 0.0))
    lane, facing = element.whole("laneId"), facing_of(element, script)
    return OnRoadLane(element.text("roadId"), lane, element.number("s"), offset, facing)


def _road(element: XmlElement, script: Script) -> Placement:
    left = script.mirrored(element.number("t"))
    return OnRoad(element.text("roadId"), element.number("s"), left, facing_of(element, script))


def _relative_lane(element: XmlElement, script: Script) -> Placement:
    along_lane = element.has("dsLane")
    return LaneRelative(
        actor=script.entity(element),
        lanes=element.whole("dLane"),
        ahead=element.number("dsLane" if along_lane else "ds", 0.0),
        offset=script.mirrored(element.number("offset", 0.0)),
        along_lane=along_lane,
        facing=facing_of(element, script),
    )


def _relative_road(element: XmlElement, script: Script) -> Placement:
    left = script.mirrored(element.number("dt"))
    return RoadRelative(script.entity(element), element.number("ds"), left, facing_of(element, script))


def _relative_world(element: XmlElement, script: Script) -> Placement:
    return _offset(element, script, in_map=True)


def _relative_object(element: XmlElement, script: Script) -> Placement:
    return _offset(element, script, in_map=False)


def _offset(element: XmlElement, script: Script, in_map: bool) -> Placement:
    left = script.mirrored(element.number("dy"))
    return OffsetFrom(script.entity(element), element.number("dx"), left, in_map, facing_of(element, script))


def route_places(element: XmlElement, script: Script) -> tuple[Placement, ...]:
    """The places of the Route in an element, or in the catalog that it refers to.

    Raises:
        InputError: it has none.
    """
    route = script.inline(element.find("RouteRef") or element, "Route")
    if route.truth("closed", default=False):
        script.note(route, "closed has no effect: it ends at its last waypoint")
    points = route.all("Waypoint")
    if not points:
        raise element.fault("a route without waypoints", "a <Waypoint> in it")
    return tuple(position(point.child("Position"), script) for point in points)


def _route(element: XmlElement, script: Script) -> Placement:
    places, facing = route_places(element, script), facing_of(element, script)
    where = element.child("InRoutePosition").only()
    match where.tag:
        case "FromLaneCoordinates":
            lane, offset = where.whole("laneId"), script.mirrored(where.number("laneOffset", 0.0))
            return AlongRoute(places, where.number("pathS"), lane, offset, facing)
        case "FromRoadCoordinates":
            return AlongRoute(places, where.number("pathS"), None, script.mirrored(where.number("t", 0.0)), facing)
        case _:
            raise where.fault("this place on a route is not understood", "FromLaneCoordinates, FromRoadCoordinates")


POSITIONS: dict[str, Callable[[XmlElement, Script], Placement]] = {
    "WorldPosition": _world,
    "LanePosition": _lane,
    "RoadPosition": _road,
    "RelativeLanePosition": _relative_lane,
    "RelativeRoadPosition": _relative_road,
    "RelativeWorldPosition": _relative_world,
    "RelativeObjectPosition": _relative_object,
    "RoutePosition": _route,
}
"""Every position that needs nothing but this module; `reader` adds that on a trajectory."""
