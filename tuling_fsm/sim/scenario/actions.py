"""The actions of actors, by type: how each becomes commands."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.action_types import ActionCall, ActionEffect, ActionType, MissionFile
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Arrived, Reached
from tuling_fsm.sim.scenario.expressions import Param
from tuling_fsm.sim.scenario.model import EGO, Population, RandomRoute, RouteTo, RouteVia
from tuling_fsm.sim.scenario.placements import RelativeTo
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import PHYSICAL_TYPES, ActorName, FaultError, Physical, Symbol, Waypoints
from tuling_fsm.sim.scenario.world_actions import WORLD_ACTIONS
from tuling_fsm.world.inputs import Light

PATH_SPEED = 5.0
"""Of a vehicle on a path whose speed is not given, m/s."""
MAX_POPULATION = 10_000
"""Agents of a kind at most; the benchmarks go up to half of it."""
_AHEAD = {"ahead_of": 1, "behind": -1}
_LANES = {"same_as": 0, "left_of": 1, "right_of": -1}


def drive(call: ActionCall) -> ActionEffect:
    """Where it begins, if that is given, and how it goes on."""
    along, speed = "along" in call.modifiers, speed_of(call)
    begin: list[Command] = []
    if "position" in call.modifiers or "lane" in call.modifiers:
        begin.append(commands.Place(call.actor, _beside(call), speed or 0.0))
    if not along:
        return ActionEffect((*begin, commands.Drive(call.actor, speed)))
    waypoints = waypoints_of(call)
    if waypoints.type == "route":
        begin.append(commands.FollowRoute(call.actor, waypoints.placements, speed))
    else:
        begin.append(commands.FollowPath(call.actor, waypoints.placements, PATH_SPEED if speed is None else speed))
    return ActionEffect(tuple(begin), Arrived(call.actor))


def route_of_ego(call: ActionCall) -> ActionEffect:
    """The planner drives the ego: it is told where to, or just to drive."""
    surplus = sorted(set(call.modifiers) - {"along"})
    if surplus:
        raise FaultError(call.at, f"the planner drives the ego: no {surplus[0]!r}", "along(<route>) alone")
    if "along" not in call.modifiers:
        return ActionEffect((commands.ActivateController(call.actor, True, True),))
    waypoints = waypoints_of(call)
    if waypoints.type != "route":
        raise FaultError(call.at, "the ego follows no path", "along(map.create_route([...]))")
    return ActionEffect(
        setup=RouteTo(waypoints.placements[0]) if len(waypoints.placements) == 1 else RouteVia(waypoints.placements)
    )


def speed_of(call: ActionCall) -> float | None:
    """The speed of the modifier, m/s; None without one.

    Raises:
        FaultError: it leads nowhere.
    """
    if "speed" not in call.modifiers:
        return None
    speed = call.modifiers["speed"].si("speed")
    if speed < 0.0 or (speed == 0.0 and "along" in call.modifiers):
        raise FaultError(call.at, f"at {speed:g} m/s it never gets there", "a speed above 0")
    return speed


def waypoints_of(call: ActionCall) -> Waypoints:
    """The route or path of the modifier.

    Raises:
        FaultError: it has no places.
    """
    waypoints = call.modifiers["along"].waypoints("route")
    if not waypoints.placements:
        raise FaultError(call.at, f"a {waypoints.type} without places", "one place or more")
    return waypoints


def _beside(call: ActionCall) -> RelativeTo:
    """The place that `position` and `lane` state, both relative to one other actor."""
    ahead, lanes, actors = 0.0, 0, set[str]()
    if "position" in call.modifiers:
        actor, sign = _reference(call, "position", _AHEAD)
        actors.add(actor)
        ahead = sign * call.modifiers["position"].si("distance")
    if "lane" in call.modifiers:
        actor, lanes = _reference(call, "lane", _LANES)
        actors.add(actor)
    if len(actors) > 1:
        raise FaultError(call.at, "position and lane refer to different actors", "one actor in both")
    return RelativeTo(actors.pop(), ahead, lanes)


def _reference(call: ActionCall, modifier: str, signs: Mapping[str, int]) -> tuple[str, int]:
    """The actor that a modifier refers to, and the sign of the relation."""
    given = call.modifiers[modifier]
    named = [name for name in signs if given[name] is not None]
    if len(named) != 1:
        raise FaultError(call.at, f"{modifier!r} needs one actor to refer to", " or ".join(signs))
    actor = given.actor(named[0])
    if actor == call.actor:
        raise FaultError(call.at, f"{modifier!r} of {actor!r} to itself", "another actor")
    return actor, signs[named[0]]


WALKING_SPEED = 1.4
"""Of a person whose speed is not given, m/s (a usual value of pedestrian studies)."""
SPEED_RATE = Physical(2.0, PHYSICAL_TYPES["acceleration"])
"""Rate of a change of speed whose peak is not given."""


def _assign_position(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.Place(call.actor, call.given.position("position")),))


def _assign_speed(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.ChangeSpeed(call.actor, call.not_below_0("speed"), math.inf),))


def _change_speed(call: ActionCall) -> ActionEffect:
    target, rate = call.not_below_0("target"), abs(call.given.si("rate_peak"))
    if rate == 0.0:
        raise FaultError(call.at, "a change of speed at rate 0 never ends", "another rate_peak")
    if call.given.member("rate_profile") != "linear":
        raise FaultError(call.at, "speeds change linearly alone", "rate_profile: linear, or assign_speed for at once")
    return ActionEffect((commands.ChangeSpeed(call.actor, target, rate),), Reached(call.actor, target))


def _remain_stationary(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.ChangeSpeed(call.actor, 0.0, SPEED_RATE.value),))


def _stand(call: ActionCall) -> ActionEffect:
    """The planner would drive on from a speed of 0, so the car is taken from it."""
    off, on = (commands.ActivateController(call.actor, driven, driven) for driven in (False, True))
    return ActionEffect((off,), end=(on,))


def _change_lane(call: ActionCall) -> ActionEffect:
    lanes = call.given.whole("num_of_lanes")
    if lanes == 0:
        raise FaultError(call.at, "a change over 0 lanes", "num_of_lanes of 1 or more")
    sign = 1 if call.given.member("side") == "left" else -1
    return ActionEffect((commands.ChangeLane(call.actor, sign * lanes),), Arrived(call.actor))


def _activate_controller(call: ActionCall) -> ActionEffect:
    lateral, longitudinal = call.given.truth("lateral"), call.given.truth("longitudinal")
    if lateral is not longitudinal:
        raise FaultError(
            call.at, "one controller steers and drives", "lateral and longitudinal both true, or both false"
        )
    return ActionEffect((commands.ActivateController(call.actor, lateral, longitudinal),))


def _remove(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.Remove(call.actor),))


def _random_route(call: ActionCall) -> ActionEffect:
    length = call.given.si("length")
    if length <= 0.0:
        raise FaultError(call.at, f"a route of {length:g} m", "a length above 0")
    return ActionEffect(setup=RandomRoute(length))


def _perform_mission(call: ActionCall) -> ActionEffect:
    return ActionEffect(setup=MissionFile(call.given.text("file")))


def _lose_localization(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetLocalization(False),), end=(commands.SetLocalization(True),))


def _regain_localization(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetLocalization(True),))


def _lose_odometry(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetOdometry(False),), end=(commands.SetOdometry(True),))


def _regain_odometry(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetOdometry(True),))


def _walk(call: ActionCall) -> ActionEffect:
    if "along" not in call.modifiers:
        raise FaultError(call.at, "a walk needs its path", "with: along(map.create_path([...]))")
    waypoints, speed = waypoints_of(call), speed_of(call)
    if waypoints.type != "path":
        raise FaultError(call.at, "a person follows no lanes", "along(map.create_path([...]))")
    speed = WALKING_SPEED if speed is None else speed
    return ActionEffect((commands.Walk(call.actor, waypoints.placements, speed),), Arrived(call.actor))


def _rain(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetRain(call.not_below_0("intensity")),), end=(commands.SetRain(0.0),))


def _fog(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetFog(call.not_below_0("visual_range")),), end=(commands.SetFog(math.inf),))


def _populate(call: ActionCall) -> ActionEffect:
    rude = call.given.number("rude")
    if not 0.0 <= rude <= 1.0:
        raise FaultError(call.at, f"a rude share of {rude:g}", "0 to 1")
    counts = {name: call.given.whole(name) for name in ("vehicles", "pedestrians")}
    for name, count in counts.items():
        if count > MAX_POPULATION:
            raise FaultError(call.at, f"{count} {name}", f"at most {MAX_POPULATION}")
    return ActionEffect(setup=Population(counts["vehicles"], counts["pedestrians"], rude))


def _set_state(call: ActionCall) -> ActionEffect:
    signal = call.given.whole("signal")
    state = Light[call.given.member("state").upper()]
    return ActionEffect((commands.SetLight(signal, state),), end=(commands.SetLight(signal, None),))


def _set_all(call: ActionCall) -> ActionEffect:
    state = Light[call.given.member("state").upper()]
    return ActionEffect((commands.SetAllLights(state),), end=(commands.SetAllLights(None),))


def _release_all(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetAllLights(None),))


def _silence(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SilenceLights(True),), end=(commands.SilenceLights(False),))


def _be_heard(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SilenceLights(False),))


def _release_light(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetLight(call.given.whole("signal"), None),))


def _emergency_stop(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.EmergencyStop(True),), end=(commands.EmergencyStop(False),))


def _release_stop(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.EmergencyStop(False),))


def _lose_link(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.EmergencyLink(False),), end=(commands.EmergencyLink(True),))


def _clear_stop(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.ClearEmergencyStop(),))


def _reset(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.ResetPlanner(),))


def _skip_task(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SkipTask(),))


_PLACES = {"assign_position": ActionType(_assign_position, (Param("position", "position"),))}
_PLACED = {**_PLACES, "remove": ActionType(_remove)}
_SPEEDS = {
    "assign_speed": ActionType(_assign_speed, (Param("speed", "speed"),)),
    "change_speed": ActionType(
        _change_speed,
        (
            Param("target", "speed"),
            Param("rate_profile", "dynamics_shape", Symbol("dynamics_shape", "linear")),
            Param("rate_peak", "acceleration", SPEED_RATE),
        ),
    ),
}
_MOVABLE = {**_PLACED, **_SPEEDS, "remain_stationary": ActionType(_remain_stationary)}
_CONTROLLER = {
    "activate_controller": ActionType(_activate_controller, (Param("lateral", "bool"), Param("longitudinal", "bool")))
}
_DRIVE = ("speed", "along", "position", "lane")
ACTIONS: dict[str, dict[str, ActionType]] = {
    EGO: {
        **_PLACES,
        **_SPEEDS,
        "remain_stationary": ActionType(_stand),
        "drive": ActionType(route_of_ego, modifiers=_DRIVE),
        **_CONTROLLER,
        "random_route": ActionType(_random_route, (Param("length", "length"),)),
        "perform_mission": ActionType(_perform_mission, (Param("file", "string"),)),
        "lose_localization": ActionType(_lose_localization),
        "regain_localization": ActionType(_regain_localization),
        "lose_odometry": ActionType(_lose_odometry),
        "regain_odometry": ActionType(_regain_odometry),
    },
    "vehicle": {
        **_MOVABLE,
        "drive": ActionType(drive, modifiers=_DRIVE),
        "change_lane": ActionType(_change_lane, (Param("num_of_lanes", "uint", 1), Param("side", "lane_change_side"))),
        **_CONTROLLER,
    },
    "person": {**_MOVABLE, "walk": ActionType(_walk, modifiers=("speed", "along"))},
    "stationary_object": _PLACED,
    "environment": {
        "rain": ActionType(_rain, (Param("intensity", "speed"),)),
        "fog": ActionType(_fog, (Param("visual_range", "length"),)),
    },
    "traffic_source": {
        "populate": ActionType(
            _populate, (Param("vehicles", "uint", 0), Param("pedestrians", "uint", 0), Param("rude", "float", 0.0))
        )
    },
    "traffic_lights": {
        "set_state": ActionType(_set_state, (Param("signal", "uint"), Param("state", "traffic_light_state"))),
        "release": ActionType(_release_light, (Param("signal", "uint"),)),
        "set_all": ActionType(_set_all, (Param("state", "traffic_light_state"),)),
        "release_all": ActionType(_release_all),
        "fall_silent": ActionType(_silence),
        "be_heard": ActionType(_be_heard),
    },
    "remote_operator": {
        "emergency_stop": ActionType(_emergency_stop),
        "release": ActionType(_release_stop),
        "lose_link": ActionType(_lose_link),
        "clear": ActionType(_clear_stop),
        "reset": ActionType(_reset),
        "skip_task": ActionType(_skip_task),
    },
    "map": {},
    **WORLD_ACTIONS,
}
"""Every action by kind of actor (its type; the ego is a kind of its own) and name."""
_REFUSED = {
    "remove": ("the ego cannot be removed", "another actor"),
    "change_lane": ("the planner drives the ego, and changes lanes by itself", "another vehicle"),
}
"""Actions of a vehicle that the ego has not, and why."""


def action_type(actor: ActorName, name: str, at: SourceLocation) -> ActionType:
    """The action of an actor.

    Raises:
        FaultError: it does not understand it.
    """
    own = ACTIONS[kind_of(actor)]
    if name in own:
        return own[name]
    if actor.name == EGO and name in _REFUSED:
        raise FaultError(at, *_REFUSED[name])
    if actor.type == "vehicle" and name in ACTIONS[EGO]:
        raise FaultError(at, f"{actor.name!r} has no planner under test", "the actor named ego")
    expected = "one of " + ", ".join(own) if own else "an actor that acts"
    raise FaultError(at, f"{actor.type} {actor.name!r} has no action {name!r}", expected)


def kind_of(actor: ActorName) -> str:
    """Its type, or `EGO`."""
    return EGO if actor.name == EGO else actor.type
