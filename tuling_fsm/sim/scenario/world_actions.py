"""Actions of our own actor types: what closes roads, fills parking spaces, and spoils sensors and the route server's
answers.
"""

from __future__ import annotations

from tuling_fsm.sim.scenario import bound, commands
from tuling_fsm.sim.scenario.choices import Material, SeenAs, Sensor, ServerMood
from tuling_fsm.sim.scenario.deeds import ActionType, Deed, Order
from tuling_fsm.sim.scenario.driving import not_below_0
from tuling_fsm.sim.scenario.scope import Param
from tuling_fsm.sim.scenario.units import PHYSICAL_TYPES
from tuling_fsm.sim.scenario.values import FaultError, Physical, Symbol

_WELL = commands.SetRouteServer(ServerMood.WELL)


def _close_lane(order: Order) -> Deed:
    return _close(order, None)


def _close_road(order: Order) -> Deed:
    beyond = bound.si(order.given, "beyond")
    if beyond < 0.0:
        raise FaultError(order.at, f"a row that ends {-beyond:g} m inside the road", "beyond of 0 m or more")
    return _close(order, beyond)


def _close(order: Order, beyond: float | None) -> Deed:
    material = Material(bound.member(order.given, "material"))
    seen_as = SeenAs(bound.member(order.given, "seen_as"))
    closing = commands.CloseRoad(order.actor, bound.position(order.given, "position"), beyond, material, seen_as)
    return Deed((closing,), end=(commands.OpenRoad(order.actor),))


def _open_road(order: Order) -> Deed:
    return Deed((commands.OpenRoad(order.actor),))


def _occupy(order: Order) -> Deed:
    spaces = bound.texts(order.given, "spaces")
    return Deed((commands.OccupySpaces(spaces),), end=(commands.VacateSpaces(spaces),))


def _occupy_all_but(order: Order) -> Deed:
    return Deed((commands.OccupyAllBut(bound.text(order.given, "road_id"), bound.texts(order.given, "free")),))


def _vacate(order: Order) -> Deed:
    return Deed((commands.VacateSpaces(bound.texts(order.given, "spaces")),))


def _go_away(order: Order) -> Deed:
    return _moody(ServerMood.AWAY)


def _refuse(order: Order) -> Deed:
    return _moody(ServerMood.REFUSES)


def _answer_opposite(order: Order) -> Deed:
    return _moody(ServerMood.OPPOSITE)


def _slow_down(order: Order) -> Deed:
    return _moody(ServerMood.WELL, not_below_0(order, "delay"))


def _moody(mood: ServerMood, delay: float = 0.0) -> Deed:
    return Deed((commands.SetRouteServer(mood, delay),), end=(_WELL,))


def _come_back(order: Order) -> Deed:
    return Deed((_WELL,))


def _disturb(order: Order) -> Deed:
    given, sensor = order.given, Sensor(bound.member(order.given, "sensor"))
    noise, latency, drop_out = bound.si(given, "noise"), bound.si(given, "latency"), bound.number(given, "drop_out")
    if min(noise, latency, drop_out) < 0.0 or drop_out > 1.0:
        raise FaultError(order.at, "a fault below 0, or a share above 1", "noise and latency from 0, drop_out 0 to 1")
    fault = commands.DisturbSensor(sensor, noise, latency, drop_out, bound.truth(given, "occlusion"))
    surplus = [name for name in FAULT_NAMES if getattr(fault, name) and name not in FAULTS[sensor]]
    if surplus:
        raise FaultError(order.at, f"{sensor.value!r} knows no {surplus[0]!r}", "one of " + ", ".join(FAULTS[sensor]))
    return Deed((fault,), end=(commands.DisturbSensor(sensor),))


_CLOSING = (
    Param("position", "position"),
    Param("material", "object_kind", Symbol("object_kind", "barrier")),
    Param("seen_as", "seen_as", Symbol("seen_as", "objects")),
)
_BEYOND = Param("beyond", "length", Physical(8.0, PHYSICAL_TYPES["length"]))
"""How far a row goes on beyond the pavements of a whole road, so that nobody drives round it."""
_SPACES = (Param("spaces", "list of id"),)
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
_FAULTS = (
    Param("sensor", "sensor"),
    Param("noise", "length", Physical(0.0, PHYSICAL_TYPES["length"])),
    Param("latency", "time", Physical(0.0, PHYSICAL_TYPES["time"])),
    Param("drop_out", "float", 0.0),
    Param("occlusion", "bool", False),
)
WORLD_ACTIONS: dict[str, dict[str, ActionType]] = {
    "road_works": {
        "close_lane": ActionType(_close_lane, _CLOSING),
        "close_road": ActionType(_close_road, (*_CLOSING, _BEYOND)),
        "open": ActionType(_open_road),
    },
    "parking_area": {
        "occupy": ActionType(_occupy, _SPACES),
        "occupy_all_but": ActionType(_occupy_all_but, (Param("road_id", "id"), Param("free", "list of id", ()))),
        "vacate": ActionType(_vacate, _SPACES),
    },
    "sensor_suite": {"disturb": ActionType(_disturb, _FAULTS)},
    "route_server": {
        "go_away": ActionType(_go_away),
        "refuse": ActionType(_refuse),
        "slow_down": ActionType(_slow_down, (Param("delay", "time"),)),
        "answer_opposite": ActionType(_answer_opposite),
        "come_back": ActionType(_come_back),
    },
}
"""Every action by type of actor and name."""
