"""The actions of actors, by type: how each becomes commands. Their parameters are in `standard.osc`."""

from __future__ import annotations

import math

from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.action_types import ActionCall, ActionEffect, ActionType, MissionFile, without_arguments
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Arrived, InLane, Reached
from tuling_fsm.sim.scenario.ego_script import drive_ego
from tuling_fsm.sim.scenario.model import EGO, Population, RandomRoute
from tuling_fsm.sim.scenario.movement import move, needs_controller
from tuling_fsm.sim.scenario.relations import beginning
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import ActorName, FaultError, Waypoints
from tuling_fsm.sim.scenario.world_actions import WORLD_ACTIONS
from tuling_fsm.world.inputs import Light

PATH_SPEED = 5.0
"""Of a vehicle on a path whose speed is not given, m/s."""
MAX_POPULATION = 10_000
"""Agents of a kind at most; the benchmarks go up to half of it."""


def drive(call: ActionCall) -> ActionEffect:
    """Where it begins, if that is given, and how it goes on."""
    if needs_controller(call):
        call.script.wanted.add(call.actor)
        return move(call)
    along, speed = "along" in call.modifiers, speed_of(call)
    begin: list[Command] = []
    placed = beginning(call)
    if placed is not None:
        begin.append(commands.Place(call.actor, placed, speed))
    if not along:
        return ActionEffect((*begin, commands.Drive(call.actor, speed)))
    waypoints = waypoints_of(call)
    if waypoints.type == "route":
        begin.append(commands.FollowRoute(call.actor, waypoints.placements, speed))
    else:
        begin.append(commands.FollowPath(call.actor, waypoints.placements, PATH_SPEED if speed is None else speed))
    return ActionEffect(tuple(begin), Arrived(call.actor))


def speed_of(call: ActionCall) -> float | None:
    """The speed of the modifier, m/s; None without one.

    Raises:
        FaultError: it leads nowhere.
    """
    if "speed" not in call.modifiers:
        return None
    modifier = call.modifiers["speed"]
    if modifier.given["speed"] is None:
        raise FaultError(modifier.at, "'speed' needs 'speed'", "speed(<speed>)")
    speed = modifier.given.si("speed")
    if speed < 0.0 or (speed == 0.0 and "along" in call.modifiers):
        raise FaultError(call.at, f"at {speed:g} m/s it never gets there", "a speed above 0")
    return speed


def waypoints_of(call: ActionCall) -> Waypoints:
    """The route or path of the modifier.

    Raises:
        FaultError: it has no places.
    """
    modifier = call.modifiers["along"]
    if modifier.given["route"] is None:
        raise FaultError(modifier.at, "'along' needs 'route'", "map.create_route([...]) or map.create_path([...])")
    waypoints = modifier.given.waypoints("route")
    if not waypoints.placements:
        raise FaultError(call.at, f"a {waypoints.type} without places", "one place or more")
    return waypoints


WALKING_SPEED = 1.4
"""Of a person whose speed is not given, m/s (a usual value of pedestrian studies)."""
STANDING_RATE = 2.0
"""At which something comes to a stand, m/s^2."""


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
    return ActionEffect((commands.ChangeSpeed(call.actor, 0.0, STANDING_RATE),))


def _stand(call: ActionCall) -> ActionEffect:
    """The planner would drive on from a speed of 0, so the car is taken from it."""
    off, on = (commands.ActivateController(call.actor, driven, driven) for driven in (False, True))
    return ActionEffect((off,), end=(on,))


def _change_lane(call: ActionCall) -> ActionEffect:
    lanes = call.given.whole("num_of_lanes")
    if lanes == 0:
        raise FaultError(call.at, "a change over 0 lanes", "num_of_lanes of 1 or more")
    sign = 1 if call.given.member("side") == "left" else -1
    return ActionEffect((commands.ChangeLane(call.actor, sign * lanes),), InLane(call.actor))


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


def _release_light(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.SetLight(call.given.whole("signal"), None),))


_PLACES = {"assign_position": ActionType(_assign_position)}
_PLACED = {**_PLACES, "remove": ActionType(_remove)}
_SPEEDS = {"assign_speed": ActionType(_assign_speed), "change_speed": ActionType(_change_speed)}
_MOVABLE = {**_PLACED, **_SPEEDS, "remain_stationary": ActionType(_remain_stationary)}
_CONTROLLER = {"activate_controller": ActionType(_activate_controller)}
_DRIVE = (
    "speed",
    "along",
    "position",
    "lane",
    "acceleration",
    "change_speed",
    "change_lane",
    "keep_lane",
    "keep_speed",
    "follow_trajectory",
)
ACTIONS: dict[str, dict[str, ActionType]] = {
    EGO: {
        **_PLACES,
        **_SPEEDS,
        "remain_stationary": ActionType(_stand),
        "drive": ActionType(drive_ego, _DRIVE),
        **_CONTROLLER,
        "random_route": ActionType(_random_route),
        "perform_mission": ActionType(_perform_mission),
        "lose_localization": without_arguments(commands.SetLocalization(False), commands.SetLocalization(True)),
        "regain_localization": without_arguments(commands.SetLocalization(True)),
        "lose_odometry": without_arguments(commands.SetOdometry(False), commands.SetOdometry(True)),
        "regain_odometry": without_arguments(commands.SetOdometry(True)),
    },
    "vehicle": {**_MOVABLE, "drive": ActionType(drive, _DRIVE), "change_lane": ActionType(_change_lane), **_CONTROLLER},
    "person": {**_MOVABLE, "walk": ActionType(_walk, ("speed", "along"))},
    "stationary_object": _PLACED,
    "environment": {"rain": ActionType(_rain), "fog": ActionType(_fog)},
    "traffic_source": {"populate": ActionType(_populate)},
    "traffic_lights": {
        "set_state": ActionType(_set_state),
        "release": ActionType(_release_light),
        "set_all": ActionType(_set_all),
        "release_all": without_arguments(commands.SetAllLights(None)),
        "fall_silent": without_arguments(commands.SilenceLights(True), commands.SilenceLights(False)),
        "be_heard": without_arguments(commands.SilenceLights(False)),
    },
    "remote_operator": {
        "emergency_stop": without_arguments(commands.EmergencyStop(True), commands.EmergencyStop(False)),
        "release": without_arguments(commands.EmergencyStop(False)),
        "lose_link": without_arguments(commands.EmergencyLink(False), commands.EmergencyLink(True)),
        "clear": without_arguments(commands.ClearEmergencyStop()),
        "reset": without_arguments(commands.ResetPlanner()),
        "skip_task": without_arguments(commands.SkipTask()),
    },
    "map": {},
    "Path": {},
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
