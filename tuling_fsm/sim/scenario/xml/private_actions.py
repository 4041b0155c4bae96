"""Private actions of OpenSCENARIO XML (1.3, 7.4.2): what one entity is asked to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tuling_fsm.sim.scenario.action_types import ActionEffect
from tuling_fsm.sim.scenario.commands import Place
from tuling_fsm.sim.scenario.conditions import ManeuverOver
from tuling_fsm.sim.scenario.maneuvers import (
    ApproachSpeed,
    DynamicsDimension,
    DynamicsShape,
    FollowSpeedProfile,
    FollowTrajectory,
    KeepDistance,
    KeepLateralDistance,
    ManeuverCommand,
    ShiftLane,
    ShiftOffset,
    StopManeuver,
    Synchronize,
    TakeRoute,
    Transition,
)
from tuling_fsm.sim.scenario.placements import FromPlace, OnTrajectory, Placement
from tuling_fsm.sim.scenario.road_places import OffsetFrom
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.positions import position, route_places
from tuling_fsm.sim.scenario.xml.script import Script
from tuling_fsm.sim.scenario.xml.trajectories import read_trajectory

SHAPES = {shape.value: shape for shape in DynamicsShape}
DIMENSIONS = {dimension.value: dimension for dimension in DynamicsDimension}
LATERAL_ACCELERATION = 1.0
"""Of a change of the offset whose greatest one the text does not say, m/s^2."""
PROFILE_RATE = 5.0
"""Of a speed profile that states neither a time nor a greatest acceleration, m/s^2."""
LATERAL_SPEED = 1.0
"""At which a distance to the side is kept where the text does not say one, m/s."""
NO_EFFECT = ActionEffect()
_RELATIVE_BY = {"delta": False, "factor": True}
_ABSOLUTE = {"absolute": True, "relative": False}
_EXACT = {"position": True, "follow": False}
_AHEAD = {"any": None, "trailingReferencedEntity": False, "leadingReferencedEntity": True}
_LEFT = {"any": None, "leftToReferencedEntity": True, "rightToReferencedEntity": False}
_IN_ROAD = {"entity": False, "lane": True, "road": True, "trajectory": True}


def private_action(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    """What a PrivateAction does to an actor that its default controller moves.

    Raises:
        InputError: an action that is not understood, or lacks something.
    """
    kind = action_kind(element)
    if kind.tag not in ACTIONS:
        raise kind.fault("this action is not understood", "one of " + ", ".join(ACTIONS))
    return ACTIONS[kind.tag](kind, actor, script)


def action_kind(element: XmlElement) -> XmlElement:
    """The element that says what is to be done: categories only group them.

    Raises:
        InputError: there is none.
    """
    kind = element.only()
    return action_kind(kind) if kind.tag in _CATEGORIES else kind


def transition(element: XmlElement) -> Transition:
    """Dynamics of a change.

    Raises:
        InputError: unknown words, or a value below 0.
    """
    shape = element.choice("dynamicsShape", SHAPES)
    value = element.number("value", 0.0) if shape is DynamicsShape.STEP else element.number("value")
    dimension = element.choice("dynamicsDimension", DIMENSIONS)
    if value < 0.0 and dimension is not DynamicsDimension.RATE:
        raise element.fault(f"value is {value:g}", "0 or more", "value")
    return Transition(shape, dimension, value)


def _lasting(command: ManeuverCommand, held: bool = False) -> ActionEffect:
    """Over when the maneuver is, or (`held`) when another takes its place; stopped before, the maneuver ends too."""
    actor, number = command.actor, command.number
    return ActionEffect((command,), ManeuverOver(actor, number, held), (StopManeuver(actor, number),))


def _teleport(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    return ActionEffect((Place(actor, position(element.child("Position"), script)),))


def approach_speed(element: XmlElement, actor: str, script: Script) -> ApproachSpeed:
    """The command of a SpeedAction.

    Raises:
        InputError: it lacks something.
    """
    dynamics = transition(element.child("SpeedActionDynamics"))
    target = element.child("SpeedActionTarget").only()
    if target.tag == "AbsoluteTargetSpeed":
        return ApproachSpeed(actor, script.number(), target.number("value"), dynamics)
    return ApproachSpeed(
        actor=actor,
        number=script.number(),
        value=target.number("value"),
        dynamics=dynamics,
        reference=script.entity(target),
        factor=target.choice("speedTargetValueType", _RELATIVE_BY),
        continuous=target.truth("continuous"),
    )


def _speed(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    return _lasting(approach_speed(element, actor, script))


def _speed_profile(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    entries = element.all("SpeedProfileEntry")
    speeds = tuple((each.number("speed"), each.number("time", math.inf)) for each in entries)
    reference = script.entity(element) if element.has("entityRef") else None
    if reference is not None:
        script.note(element, "the speed of the reference is that of the moment when the action begins")
    limits, timed = element.find("DynamicConstraints"), [math.isfinite(seconds) for _, seconds in speeds]
    if limits is not None and any(timed):
        script.note(limits, "has no effect on an entry with a time, which says how fast the speed changes")
    if all(timed):
        return _lasting(FollowSpeedProfile(actor, script.number(), speeds, reference))
    accelerate, brake = _limits(element, script, maxAcceleration=PROFILE_RATE, maxDeceleration=PROFILE_RATE)
    return _lasting(FollowSpeedProfile(actor, script.number(), speeds, reference, accelerate, brake))


def _limits(element: XmlElement, script: Script, **defaults: float) -> tuple[float, ...]:
    """Limits by their names in the DynamicConstraints of an action. What the text does not state (which means: without
    limit) has a default, and what is stated besides has no effect; both is said.
    """
    stated = element.find("DynamicConstraints")
    missing = [name for name in defaults if stated is None or not stated.has(name)]
    if missing:
        script.note(element, "has limits where it states none: " + ", ".join(f"{n} {defaults[n]:g}" for n in missing))
    spare = [name for name in stated.attributes if name not in defaults] if stated is not None else []
    if stated is not None and spare:
        script.note(stated, f"{', '.join(spare)}: without effect")
    return tuple(value if stated is None else stated.number(name, value) for name, value in defaults.items())


def _longitudinal_distance(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    in_time = element.has("timeGap") and not element.has("distance")
    accelerate, brake, fastest = _limits(element, script, maxAcceleration=5.0, maxDeceleration=10.0, maxSpeed=100.0)
    return _lasting(
        KeepDistance(
            actor=actor,
            number=script.number(),
            reference=script.entity(element),
            gap=element.number("timeGap" if in_time else "distance"),
            in_time=in_time,
            ahead=element.choice("displacement", _AHEAD) if element.has("displacement") else False,
            freespace=element.truth("freespace"),
            continuous=element.truth("continuous"),
            accelerate=accelerate,
            brake=brake,
            fastest=fastest,
        )
    )


def _lane_change(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    target = element.child("LaneChangeTarget").only()
    relative = target.tag == "RelativeTargetLane"
    return _lasting(
        ShiftLane(
            actor=actor,
            number=script.number(),
            lane=target.whole("value"),
            dynamics=transition(element.child("LaneChangeActionDynamics")),
            reference=script.entity(target) if relative else None,
            offset=script.mirrored(element.number("targetLaneOffset", 0.0)),
            required=True,
        )
    )


def _lane_offset(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    target, dynamics = element.child("LaneOffsetTarget").only(), element.child("LaneOffsetActionDynamics")
    relative, continuous = target.tag == "RelativeTargetLaneOffset", element.truth("continuous")
    if relative:
        script.note(dynamics, "has no effect on a relative offset, which is gone to at 1 m/s")
    elif not dynamics.has("maxLateralAcc") and dynamics.text("dynamicsShape") != DynamicsShape.STEP.value:
        script.note(dynamics, f"without maxLateralAcc it is {LATERAL_ACCELERATION:g} m/s^2")
    command = ShiftOffset(
        actor=actor,
        number=script.number(),
        offset=script.mirrored(target.number("value")),
        shape=dynamics.choice("dynamicsShape", SHAPES),
        acceleration=dynamics.number("maxLateralAcc", LATERAL_ACCELERATION),
        reference=script.entity(target) if relative else None,
        continuous=continuous,
    )
    return _lasting(command, held=continuous)


def _lateral_distance(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    (fastest,) = _limits(element, script, maxSpeed=LATERAL_SPEED)
    return _lasting(
        KeepLateralDistance(
            actor=actor,
            number=script.number(),
            reference=script.entity(element),
            gap=element.number("distance", 0.0),
            freespace=element.truth("freespace"),
            continuous=element.truth("continuous"),
            fastest=fastest,
            left=element.choice("displacement", _LEFT) if element.has("displacement") else None,
            in_road=element.choice("coordinateSystem", _IN_ROAD, default=False),
        )
    )


def _synchronize(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    final = element.find("FinalSpeed")
    speed = final.find("AbsoluteSpeed") if final is not None else None
    if final is not None and final.find("RelativeSpeedToMaster") is not None:
        script.note(final, "a final speed that is relative to the master's is left open")
    distance = speed.find("TargetDistanceSteadyState") if speed is not None else None
    time = speed.find("TargetTimeSteadyState") if speed is not None else None
    if [each for each in ("targetTolerance", "targetToleranceMaster") if element.has(each)]:
        script.note(element, "its tolerances have no effect: both come to their places")
    return _lasting(
        Synchronize(
            actor=actor,
            number=script.number(),
            master=script.entity(element, "masterEntityRef"),
            place=position(element.child("TargetPosition"), script),
            masters_place=position(element.child("TargetPositionMaster"), script),
            final_speed=None if speed is None else speed.number("value"),
            steady_m=0.0 if distance is None else distance.number("distance"),
            steady_s=0.0 if time is None else time.number("time"),
        )
    )


def initial_place(command: FollowTrajectory) -> Placement | None:
    """Where a trajectory of Init begins; None where that is wherever its actor is."""
    first, own = command.points[0], OffsetFrom(command.actor, 0.0, 0.0)
    if isinstance(first, FromPlace) and first.place == own:
        return None
    if command.skipped <= 0.0 and command.oriented[:1] == (True,):
        return first
    return OnTrajectory(command.points, command.skipped)


def _follow_trajectory(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    shape = read_trajectory(element, script, OffsetFrom(actor, 0.0, 0.0))
    timing, skipped = element.find("TimeReference", "Timing"), element.number("initialDistanceOffset", 0.0)
    mode = element.find("TrajectoryFollowingMode")
    exact = mode is None or mode.choice("followingMode", _EXACT)
    command = FollowTrajectory(
        actor, script.number(), shape.points, skipped=skipped, oriented=shape.oriented if exact else ()
    )
    if timing is None:
        return _lasting(command)
    if not shape.times:
        raise timing.fault(
            "the trajectory has no times: they fall, not every point has one, or it is closed",
            "times that grow from point to point, or <None/>",
        )
    if skipped > 0.0:
        what = "an offset into a trajectory that is followed by its times"
        raise element.fault(what, "an offset in <Timing>, or <None/>", "initialDistanceOffset")
    scale, offset = timing.number("scale", 1.0), timing.number("offset", 0.0)
    times = tuple(time * scale + offset for time in shape.times)
    absolute = timing.choice("domainAbsoluteRelative", _ABSOLUTE)
    return _lasting(replace(command, times=times, absolute=absolute))


def waypoints(element: XmlElement, script: Script) -> tuple[Placement, ...]:
    """The places that an AssignRouteAction or AcquirePositionAction sends its actor to.

    Raises:
        InputError: it has none.
    """
    if element.tag == "AcquirePositionAction":
        return (position(element.child("Position"), script),)
    return route_places(element, script)


def _route(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    return ActionEffect((TakeRoute(actor, script.number(), waypoints(element, script)),))


def no_effect(what: str) -> Callable[[XmlElement, str, Script], ActionEffect]:
    """An action that changes nothing here, which is said once."""

    def note(element: XmlElement, actor: str, script: Script) -> ActionEffect:
        script.note(element, what)
        return NO_EFFECT

    return note


_CATEGORIES = (
    "LongitudinalAction",
    "LateralAction",
    "RoutingAction",
    "ControllerAction",
    "AppearanceAction",
    "TrailerAction",
)
_CONTROLLER = "has no effect: the planner drives the ego, the default controller anything else"
ACTIONS: dict[str, Callable[[XmlElement, str, Script], ActionEffect]] = {
    "TeleportAction": _teleport,
    "SpeedAction": _speed,
    "SpeedProfileAction": _speed_profile,
    "LongitudinalDistanceAction": _longitudinal_distance,
    "LaneChangeAction": _lane_change,
    "LaneOffsetAction": _lane_offset,
    "LateralDistanceAction": _lateral_distance,
    "SynchronizeAction": _synchronize,
    "FollowTrajectoryAction": _follow_trajectory,
    "AssignRouteAction": _route,
    "AcquirePositionAction": _route,
    "RandomRouteAction": no_effect("has no effect: where no route says otherwise it goes straight on"),
    "AssignControllerAction": no_effect(_CONTROLLER),
    "ActivateControllerAction": no_effect(_CONTROLLER),
    "OverrideControllerValueAction": no_effect(_CONTROLLER),
    "VisibilityAction": no_effect("has no effect: everything can be seen"),
    "LightStateAction": no_effect("has no effect: scripted vehicles show no lights"),
    "AnimationAction": no_effect("has no effect: bodies do not move in themselves"),
    "ConnectTrailerAction": no_effect("has no effect: there are no trailers"),
    "DisconnectTrailerAction": no_effect("has no effect: there are no trailers"),
}
"""Every private action that is understood."""
