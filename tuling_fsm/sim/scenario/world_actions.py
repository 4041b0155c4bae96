"""Actions of our own actor types: what closes roads, fills parking spaces, and spoils sensors and the route server's
answers.
"""

from __future__ import annotations

from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.action_types import ActionCall, ActionEffect, ActionType, without_arguments
from tuling_fsm.sim.scenario.choices import Material, PerceivedAs, Sensor, ServerBehaviour
from tuling_fsm.sim.scenario.values import FaultError

_WELL = commands.SetRouteServer(ServerBehaviour.WELL)


def _close_lane(call: ActionCall) -> ActionEffect:
    return _close(call, None)


def _close_road(call: ActionCall) -> ActionEffect:
    beyond = call.given.si("beyond")
    if beyond < 0.0:
        raise FaultError(call.at, f"a row that ends {-beyond:g} m inside the road", "beyond of 0 m or more")
    return _close(call, beyond)


def _close(call: ActionCall, beyond: float | None) -> ActionEffect:
    material = Material(call.given.member("material"))
    seen_as = PerceivedAs(call.given.member("seen_as"))
    closing = commands.CloseRoad(call.actor, call.given.position("position"), beyond, material, seen_as)
    return ActionEffect((closing,), end=(commands.OpenRoad(call.actor, closing),))


def _open_road(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.OpenRoad(call.actor),))


def _occupy(call: ActionCall) -> ActionEffect:
    spaces = call.given.texts("spaces")
    return ActionEffect((commands.OccupySpaces(spaces),), end=(commands.VacateSpaces(spaces, kept=True),))


def _occupy_all_but(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.OccupyAllBut(call.given.text("road_id"), call.given.texts("free")),))


def _vacate(call: ActionCall) -> ActionEffect:
    return ActionEffect((commands.VacateSpaces(call.given.texts("spaces")),))


def _slow_down(call: ActionCall) -> ActionEffect:
    slow = commands.SetRouteServer(ServerBehaviour.WELL, call.not_below_0("delay"))
    return ActionEffect((slow,), end=(_WELL,))


def _disturb(call: ActionCall) -> ActionEffect:
    given, sensor = call.given, Sensor(call.given.member("sensor"))
    noise, latency, drop_out = (
        given.si("noise"),
        given.si("latency"),
        given.number("drop_out"),
    )
    if min(noise, latency, drop_out) < 0.0 or drop_out > 1.0:
        raise FaultError(call.at, "a fault below 0, or a share above 1", "noise and latency from 0, drop_out 0 to 1")
    fault = commands.DisturbSensor(sensor, noise, latency, drop_out, given.truth("occlusion"))
    surplus = [name for name in FAULT_NAMES if getattr(fault, name) and name not in FAULTS[sensor]]
    if surplus:
        raise FaultError(call.at, f"{sensor.value!r} knows no {surplus[0]!r}", "one of " + ", ".join(FAULTS[sensor]))
    return ActionEffect((fault,), end=(commands.ResetSensor(sensor),))


_MOVED = ("noise", "latency", "drop_out")
FAULT_NAMES = (*_MOVED, "occlusion")
FAULTS: dict[Sensor, tuple[str, ...]] = {
    Sensor.ODOMETRY: _MOVED,
    Sensor.OBJECTS: FAULT_NAMES,
    Sensor.LANE_LINES: _MOVED,
    Sensor.TRAFFIC_LIGHTS: ("latency", "drop_out"),
    Sensor.PARKING_SLOTS: _MOVED,
    Sensor.OCCUPANCY: ("latency", "drop_out"),
    Sensor.LIDAR: FAULT_NAMES,
    Sensor.RADAR: FAULT_NAMES,
    Sensor.CAMERA: FAULT_NAMES,
}
"""What can be wrong with each sensor."""
WORLD_ACTIONS: dict[str, dict[str, ActionType]] = {
    "road_works": {
        "close_lane": ActionType(_close_lane),
        "close_road": ActionType(_close_road),
        "open": ActionType(_open_road),
    },
    "parking_area": {
        "occupy": ActionType(_occupy),
        "occupy_all_but": ActionType(_occupy_all_but),
        "vacate": ActionType(_vacate),
    },
    "sensor_suite": {"disturb": ActionType(_disturb)},
    "route_server": {
        "go_away": without_arguments(commands.SetRouteServer(ServerBehaviour.AWAY), _WELL),
        "refuse": without_arguments(commands.SetRouteServer(ServerBehaviour.REFUSES), _WELL),
        "slow_down": ActionType(_slow_down),
        "answer_opposite": without_arguments(commands.SetRouteServer(ServerBehaviour.OPPOSITE), _WELL),
        "come_back": without_arguments(_WELL),
    },
}
"""Every action by type of actor and name."""
