"""Triggers and conditions of OpenSCENARIO XML (1.3, 7.6)."""

from __future__ import annotations

from collections.abc import Callable

from tuling_fsm.sim.scenario.conditions import (
    Acceleration,
    AllOf,
    AnyOf,
    AtEndOfRoad,
    Colliding,
    Compare,
    Condition,
    Direction,
    DistanceMode,
    Edge,
    ElementState,
    Headway,
    InState,
    Lasting,
    ObjectDistance,
    OffRoad,
    OnEdge,
    PointDistance,
    Quantity,
    Relation,
    RelativeSpeed,
    RoadGap,
    SignalIs,
    SimulationTime,
    Speed,
    TimeToCollision,
    TimeToMeet,
    TimeToPoint,
    TraveledDistance,
    VariableIs,
)
from tuling_fsm.sim.scenario.xml.comparisons import RULES, comparison
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.entities import OBJECT_TYPES
from tuling_fsm.sim.scenario.xml.positions import position
from tuling_fsm.sim.scenario.xml.script import Script
from tuling_fsm.sim.scenario.xml.signals import known_phase, light_of, phase_of, signal_number

EDGES = {edge.value: edge for edge in Edge}
STATES = {state.value: state for state in ElementState}
STANDING = 0.05
"""Below this speed an actor stands still, m/s."""
LEVELS = {"story": 0, "act": 1, "maneuverGroup": 2, "maneuver": 3, "event": 4, "action": 5}
"""`StoryboardElementType`, by how deep it lies."""
NEVER = AnyOf(())
ALL_OF = {"any": False, "all": True}
_DISTANCES = {
    "longitudinal": Direction.LONGITUDINAL,
    "lateral": Direction.LATERAL,
    "cartesiandistance": Direction.EUCLIDEAN,
    "euclidiandistance": Direction.EUCLIDEAN,
    "euclideandistance": Direction.EUCLIDEAN,
}
_SYSTEMS = {each: each for each in ("entity", "lane", "road", "trajectory", "world")}
_ALONG_ROAD = ("lane", "road")
"""Coordinate systems in which a longitudinal distance is along the road."""


def trigger(element: XmlElement | None, script: Script) -> Condition | None:
    """Any of the groups of a trigger; None without one, or where it has no groups.

    Raises:
        InputError: a condition that is not understood.
    """
    groups = element.all("ConditionGroup") if element is not None else []
    members = [_group(group, script) for group in groups]
    return None if not members else members[0] if len(members) == 1 else AnyOf(tuple(members))


def _group(group: XmlElement, script: Script) -> Condition:
    group.child("Condition")
    members = tuple(_condition(each, script) for each in group.all("Condition"))
    return members[0] if len(members) == 1 else AllOf(members)


def _condition(element: XmlElement, script: Script) -> Condition:
    kind = element.only()
    entity = kind.tag == "ByEntityCondition"
    found = _by_entity(kind, script) if entity else _looked_up(_BY_VALUE, kind.only(), script)
    edge, delay = element.choice("conditionEdge", EDGES), element.number("delay", 0.0)
    return found if edge is Edge.NONE and delay == 0.0 else OnEdge(found, edge, delay)


def _by_entity(element: XmlElement, script: Script) -> Condition:
    triggering = element.child("TriggeringEntities")
    asked = element.child("EntityCondition").only()
    if asked.tag not in _BY_ENTITY:
        raise asked.fault("this condition is not understood", "one of " + ", ".join(_BY_ENTITY))
    actors = [actor for each in triggering.all("EntityRef") for actor in script.entities(each)]
    every = triggering.choice("triggeringEntitiesRule", ALL_OF, default=None if len(actors) > 1 else True)
    if not actors:
        script.note(triggering, "there is no entity to look at: this never holds")
        return NEVER
    members = tuple(_BY_ENTITY[asked.tag](asked, actor, script) for actor in actors)
    return members[0] if len(members) == 1 else AllOf(members) if every else AnyOf(members)


def _looked_up(
    table: dict[str, Callable[[XmlElement, Script], Condition]], element: XmlElement, script: Script
) -> Condition:
    if element.tag not in table:
        raise element.fault("this condition is not understood", "one of " + ", ".join((*table, *_BY_ENTITY)))
    return table[element.tag](element, script)


def _compared(element: XmlElement, quantity: Quantity) -> Condition:
    return Compare(quantity, element.choice("rule", RULES), element.number("value"), element.at)


def _mode(element: XmlElement) -> DistanceMode:
    free = element.truth("freespace")
    return DistanceMode.BOUNDING_BOXES if free else DistanceMode.REFERENCE_POINTS


def _system(element: XmlElement) -> str:
    """The coordinate system; `alongRoute` is how 1.0 asks for the road."""
    along = element.truth("alongRoute", default=False)
    return element.choice("coordinateSystem", _SYSTEMS, default="road" if along else "entity")


def _direction(element: XmlElement) -> Direction:
    if not element.has("relativeDistanceType") and element.truth("alongRoute", default=False):
        return Direction.LONGITUDINAL
    return element.choice("relativeDistanceType", _DISTANCES, default=Direction.EUCLIDEAN)


def _in_frame(element: XmlElement, direction: Direction, script: Script) -> Direction:
    """The direction as it is measured in the frame of the entity, whatever the system is, which is said."""
    system = _system(element)
    if direction is not Direction.EUCLIDEAN and system != "entity":
        script.note(
            element, f"a {direction.value} distance is measured in the frame of the entity, not of the {system}"
        )
    return direction


def _between(element: XmlElement, script: Script) -> Direction | None:
    """How the distance of two entities is measured; None: along the road."""
    direction = _direction(element)
    along = direction is Direction.LONGITUDINAL and _system(element) in _ALONG_ROAD
    return None if along else _in_frame(element, direction, script)


# Of entities.


def _distance(element: XmlElement, actor: str, script: Script) -> Condition:
    place = position(element.child("Position"), script)
    direction = _in_frame(element, _direction(element), script)
    return _compared(element, PointDistance(actor, place, direction, _mode(element)))


def _relative_distance(element: XmlElement, actor: str, script: Script) -> Condition:
    other, mode = script.entity(element), _mode(element)
    direction = _between(element, script)
    if direction is None:
        return _compared(element, RoadGap(actor, other, mode))
    return _compared(element, ObjectDistance(actor, other, direction, mode))


def _time_headway(element: XmlElement, actor: str, script: Script) -> Condition:
    return _compared(element, Headway(actor, script.entity(element), _mode(element), _between(element, script)))


def _time_to_collision(element: XmlElement, actor: str, script: Script) -> Condition:
    target, free = element.child("TimeToCollisionConditionTarget"), element.truth("freespace")
    if (_direction(element), _system(element)) != (Direction.EUCLIDEAN, "entity"):
        script.note(element, "is the time until both touch on their way, in whatever direction that is")
    reference = target.find("EntityRef")
    if reference is not None:
        meeting = TimeToCollision if free else TimeToMeet
        return _compared(element, meeting(actor, script.entity(reference)))
    if free:
        script.note(element, "freespace has no effect: the time to a place is that of the reference point")
    return _compared(element, TimeToPoint(actor, position(target.child("Position"), script)))


def _reach_position(element: XmlElement, actor: str, script: Script) -> Condition:
    place = position(element.child("Position"), script)
    quantity = PointDistance(actor, place, Direction.EUCLIDEAN, DistanceMode.REFERENCE_POINTS)
    return Compare(quantity, Relation.LESS_EQUAL, element.number("tolerance"), element.at)


def _longitudinal_alone(element: XmlElement) -> None:
    direction = element.text("direction", "longitudinal")
    if direction not in ("longitudinal", "total"):
        raise element.fault(f"direction is {direction!r}", "longitudinal", "direction")


def _speed(element: XmlElement, actor: str, script: Script) -> Condition:
    """Without a direction it is the total speed: that of one that reverses is above 0 too."""
    _longitudinal_alone(element)
    return _compared(element, Speed(actor, total=element.text("direction", "total") == "total"))


def _acceleration(element: XmlElement, actor: str, script: Script) -> Condition:
    _longitudinal_alone(element)
    return _compared(element, Acceleration(actor))


def _relative_speed(element: XmlElement, actor: str, script: Script) -> Condition:
    _longitudinal_alone(element)
    return _compared(element, RelativeSpeed(actor, script.entity(element)))


def _stand_still(element: XmlElement, actor: str, script: Script) -> Condition:
    slow = AllOf(
        (Compare(Speed(actor), Relation.LESS, STANDING, element.at), Compare(Speed(actor), Relation.GREATER, -STANDING))
    )
    return Lasting(slow, element.number("duration"))


def _traveled_distance(element: XmlElement, actor: str, script: Script) -> Condition:
    return Compare(TraveledDistance(actor), Relation.GREATER_EQUAL, element.number("value"), element.at)


def _end_of_road(element: XmlElement, actor: str, script: Script) -> Condition:
    return Lasting(AtEndOfRoad(actor), element.number("duration"))


def _off_road(element: XmlElement, actor: str, script: Script) -> Condition:
    return Lasting(OffRoad(actor), element.number("duration"))


def _collision(element: XmlElement, actor: str, script: Script) -> Condition:
    reference = element.find("EntityRef")
    if reference is not None:
        return Colliding(actor, script.entity(reference))
    kind = element.child("ByType").choice("type", OBJECT_TYPES)
    return AnyOf(tuple(Colliding(actor, name) for name in script.kinds if script.kinds[name] is kind and name != actor))


_BY_ENTITY: dict[str, Callable[[XmlElement, str, Script], Condition]] = {
    "DistanceCondition": _distance,
    "RelativeDistanceCondition": _relative_distance,
    "TimeHeadwayCondition": _time_headway,
    "TimeToCollisionCondition": _time_to_collision,
    "ReachPositionCondition": _reach_position,
    "SpeedCondition": _speed,
    "AccelerationCondition": _acceleration,
    "RelativeSpeedCondition": _relative_speed,
    "StandStillCondition": _stand_still,
    "TraveledDistanceCondition": _traveled_distance,
    "EndOfRoadCondition": _end_of_road,
    "OffroadCondition": _off_road,
    "CollisionCondition": _collision,
}


# By value.


def _simulation_time(element: XmlElement, script: Script) -> Condition:
    return SimulationTime(element.choice("rule", RULES), element.number("value"))


def _element_state(element: XmlElement, script: Script) -> Condition:
    wanted = element.reference("storyboardElementRef")
    state = element.choice("state", STATES)
    level = LEVELS.get(element.text("storyboardElementType", ""))
    labels = [
        label
        for label in script.labels
        if (label == wanted or label.endswith(f"::{wanted}")) and level in (None, label.count("::"))
    ]
    if not labels:
        script.note(element, f"no element {wanted!r} in the storyboard: this never holds")
        return NEVER
    members = tuple(InState(label, state) for label in labels)
    return members[0] if len(members) == 1 else AnyOf(members)


def _variable(element: XmlElement, script: Script, attribute: str) -> Condition:
    name = element.reference(attribute)
    if name not in script.variables:
        script.leave_out(element, f"nothing declares {name!r}: this never holds")
        return NEVER
    return VariableIs(name, *comparison(element, name, script.types.get(name, "string")))


def _parameter_is(element: XmlElement, script: Script) -> Condition:
    return _variable(element, script, "parameterRef")


def _variable_is(element: XmlElement, script: Script) -> Condition:
    return _variable(element, script, "variableRef")


def _signal_is(element: XmlElement, script: Script) -> Condition:
    return SignalIs(signal_number(element, "name"), light_of(element), element.at)


def _phase_is(element: XmlElement, script: Script) -> Condition:
    controller, phase = known_phase(element, script)
    return VariableIs(phase_of(controller), Relation.EQUAL, phase)


def _external(element: XmlElement, script: Script) -> Condition:
    script.note(element, "comes from outside of the simulation: this never holds")
    return NEVER


_BY_VALUE: dict[str, Callable[[XmlElement, Script], Condition]] = {
    "SimulationTimeCondition": _simulation_time,
    "StoryboardElementStateCondition": _element_state,
    "ParameterCondition": _parameter_is,
    "VariableCondition": _variable_is,
    "TrafficSignalCondition": _signal_is,
    "TrafficSignalControllerCondition": _phase_is,
    "UserDefinedValueCondition": _external,
}
