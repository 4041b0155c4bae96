"""The actions of every type of actor, and the commands that they become.

Names are those of the ASAM OpenSCENARIO DSL domain model where it has the action; `traffic_source`, `traffic_lights`,
`remote_operator` and the actions that docs/scenarios.md marks are our own.
"""

from __future__ import annotations

import math

from tuling_fsm.sim.scenario import bound, commands
from tuling_fsm.sim.scenario.conditions import Arrived, Reached
from tuling_fsm.sim.scenario.deeds import ActionType, Deed, MissionFile, Order
from tuling_fsm.sim.scenario.driving import drive, not_below_0, route_of_ego, speed_of, way_of
from tuling_fsm.sim.scenario.model import EGO, Population, RandomRoute
from tuling_fsm.sim.scenario.scope import Param
from tuling_fsm.sim.scenario.tree import At
from tuling_fsm.sim.scenario.units import PHYSICAL_TYPES
from tuling_fsm.sim.scenario.values import ActorName, FaultError, Physical, Symbol
from tuling_fsm.sim.scenario.world_actions import WORLD_ACTIONS
from tuling_fsm.world.inputs import Light

WALKING_SPEED = 1.4
"""Of a person whose speed is not given, m/s (a usual value of pedestrian studies)."""
SPEED_RATE = Physical(2.0, PHYSICAL_TYPES["acceleration"])
"""Rate of a change of speed whose peak is not given."""


def _assign_position(order: Order) -> Deed:
    return Deed((commands.Place(order.actor, bound.position(order.given, "position")),))


def _assign_speed(order: Order) -> Deed:
    return Deed((commands.ChangeSpeed(order.actor, not_below_0(order, "speed"), math.inf),))


def _change_speed(order: Order) -> Deed:
    target, rate = not_below_0(order, "target"), abs(bound.si(order.given, "rate_peak"))
    if rate == 0.0:
        raise FaultError(order.at, "a change of speed at rate 0 never ends", "another rate_peak")
    if bound.member(order.given, "rate_profile") != "linear":
        raise FaultError(order.at, "speeds change linearly alone", "rate_profile: linear, or assign_speed for at once")
    return Deed((commands.ChangeSpeed(order.actor, target, rate),), Reached(order.actor, target))


def _remain_stationary(order: Order) -> Deed:
    return Deed((commands.ChangeSpeed(order.actor, 0.0, SPEED_RATE.value),))


def _stand(order: Order) -> Deed:
    """The planner would drive on from a speed of 0, so the car is taken from it."""
    off, on = (commands.ActivateController(order.actor, driven, driven) for driven in (False, True))
    return Deed((off,), end=(on,))


def _change_lane(order: Order) -> Deed:
    lanes = bound.whole(order.given, "num_of_lanes")
    if lanes == 0:
        raise FaultError(order.at, "a change over 0 lanes", "num_of_lanes of 1 or more")
    sign = 1 if bound.member(order.given, "side") == "left" else -1
    return Deed((commands.ChangeLane(order.actor, sign * lanes),), Arrived(order.actor))


def _activate_controller(order: Order) -> Deed:
    lateral, longitudinal = bound.truth(order.given, "lateral"), bound.truth(order.given, "longitudinal")
    if lateral is not longitudinal:
        raise FaultError(
            order.at, "one controller steers and drives", "lateral and longitudinal both true, or both false"
        )
    return Deed((commands.ActivateController(order.actor, lateral, longitudinal),))


def _remove(order: Order) -> Deed:
    return Deed((commands.Remove(order.actor),))


def _random_route(order: Order) -> Deed:
    length = bound.si(order.given, "length")
    if length <= 0.0:
        raise FaultError(order.at, f"a route of {length:g} m", "a length above 0")
    return Deed(setup=RandomRoute(length))


def _perform_mission(order: Order) -> Deed:
    return Deed(setup=MissionFile(bound.text(order.given, "file")))


def _lose_localization(order: Order) -> Deed:
    return Deed((commands.SetLocalization(False),), end=(commands.SetLocalization(True),))


def _regain_localization(order: Order) -> Deed:
    return Deed((commands.SetLocalization(True),))


def _lose_odometry(order: Order) -> Deed:
    return Deed((commands.SetOdometry(False),), end=(commands.SetOdometry(True),))


def _regain_odometry(order: Order) -> Deed:
    return Deed((commands.SetOdometry(True),))


def _walk(order: Order) -> Deed:
    if "along" not in order.modifiers:
        raise FaultError(order.at, "a walk needs its way", "with: along(map.create_path([...]))")
    way, speed = way_of(order), speed_of(order)
    if way.type != "path":
        raise FaultError(order.at, "a person follows no lanes", "along(map.create_path([...]))")
    speed = WALKING_SPEED if speed is None else speed
    return Deed((commands.Walk(order.actor, way.placements, speed),), Arrived(order.actor))


def _rain(order: Order) -> Deed:
    return Deed((commands.SetRain(not_below_0(order, "intensity")),), end=(commands.SetRain(0.0),))


def _fog(order: Order) -> Deed:
    return Deed((commands.SetFog(not_below_0(order, "visual_range")),), end=(commands.SetFog(math.inf),))


def _populate(order: Order) -> Deed:
    return Deed(setup=Population(bound.whole(order.given, "vehicles"), bound.whole(order.given, "pedestrians")))


def _set_state(order: Order) -> Deed:
    signal = bound.whole(order.given, "signal")
    state = Light[bound.member(order.given, "state").upper()]
    return Deed((commands.SetLight(signal, state),), end=(commands.SetLight(signal, None),))


def _set_all(order: Order) -> Deed:
    state = Light[bound.member(order.given, "state").upper()]
    return Deed((commands.SetAllLights(state),), end=(commands.SetAllLights(None),))


def _release_all(order: Order) -> Deed:
    return Deed((commands.SetAllLights(None),))


def _silence(order: Order) -> Deed:
    return Deed((commands.SilenceLights(True),), end=(commands.SilenceLights(False),))


def _be_heard(order: Order) -> Deed:
    return Deed((commands.SilenceLights(False),))


def _release_light(order: Order) -> Deed:
    return Deed((commands.SetLight(bound.whole(order.given, "signal"), None),))


def _emergency_stop(order: Order) -> Deed:
    return Deed((commands.EmergencyStop(True),), end=(commands.EmergencyStop(False),))


def _release_stop(order: Order) -> Deed:
    return Deed((commands.EmergencyStop(False),))


def _lose_link(order: Order) -> Deed:
    return Deed((commands.EmergencyLink(False),), end=(commands.EmergencyLink(True),))


def _clear_stop(order: Order) -> Deed:
    return Deed((commands.ClearEmergencyStop(),))


def _reset(order: Order) -> Deed:
    return Deed((commands.ResetPlanner(),))


def _skip_task(order: Order) -> Deed:
    return Deed((commands.SkipTask(),))


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
        "populate": ActionType(_populate, (Param("vehicles", "uint", 0), Param("pedestrians", "uint", 0)))
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
"""Every action by kind of actor (its type; the ego is a kind of its own) and name: what is not here, nobody does."""
_REFUSED = {
    "remove": ("the ego cannot be removed", "another actor"),
    "change_lane": ("the planner drives the ego, and changes lanes by itself", "another vehicle"),
}
"""Actions of a vehicle that the ego has not, and why."""


def action_type(actor: ActorName, name: str, at: At) -> ActionType:
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
