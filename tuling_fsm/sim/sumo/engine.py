"""SUMO in this process: everything that is asked of `libsumo` is asked here, in the map's frame and SI units.

`libsumo` has one simulation in a process; starting another ends the first.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.sim.sumo.installed import libsumo

EGO = "ego"
_FREE = 2
"""`keepRoute` of moveToXY: exactly where it was told, on the route's lanes where it is on them, else on any, else off
the road.
"""
_UNCHECKED = 0
"""Speed mode and lane change mode of a vehicle that does what it is told."""
_ANY_LANE = -1
LIGHT_REACH_M = 100.0
"""A vehicle that stands this near before a light waits for it, be it in a queue."""
HOLDS = "rRyYu"
"""Letters of a light that lets nobody by."""


class SumoVehicle(NamedTuple):
    """A vehicle: number, middle and heading, height (m), length and width (m), speed (m/s)."""

    number: int
    pose: Pose
    z: float
    length: float
    width: float
    v: float


class SumoCollision(NamedTuple):
    """Two vehicles whose bodies overlap for SUMO, and what it calls that: `collision`, `junction`, ..."""

    collider: str
    victim: str
    kind: str


class SumoEngine:
    """A running SUMO.

    Args:
        network: SUMO's file.
        types: file of the types of vehicles.
        dt: length of a step, s.
        stamp: time of the first one, s.
        seed: of all that SUMO draws.
        lane_change_time: that every change of lanes takes, s.

    Raises:
        InputError: SUMO is not installed.
    """

    def __init__(self, network: Path, types: Path, dt: float, stamp: float, seed: int, lane_change_time: float) -> None:
        self._sumo = libsumo()
        self.close()
        self._sizes: dict[str, tuple[float, float]] = {}
        self._type_of: dict[int, str] = {}
        self._egos = 0
        options = {
            "net-file": network, "additional-files": types, "step-length": dt, "begin": stamp, "seed": seed,
            "lanechange.duration": lane_change_time,
            # A body's own outline, and not the gap that its driver likes to keep.
            "collision.mingap-factor": 0.0, "collision.check-junctions": "true", "collision.action": "warn",
            # Nobody is taken out of a jam: it would vanish before the car's eyes.
            "time-to-teleport": -1,
            "no-step-log": "true", "no-warnings": "true", "duration-log.disable": "true",
            "xml-validation": "never",
        }  # fmt: skip
        self._sumo.start(["sumo", *(text for name, value in options.items() for text in (f"--{name}", str(value)))])

    def close(self) -> None:
        """End the simulation of this process, if there is one."""
        if self._sumo.isLoaded():
            self._sumo.close()

    def step(self) -> None:
        """Go on by a step."""
        self._sumo.simulationStep()

    # The road.

    def close_lanes(self, lanes: Iterable[str]) -> None:
        """Let nobody use lanes."""
        for lane in lanes:
            self._sumo.lane.setDisallowed(lane, ["all"])

    def show(self, states: Mapping[str, str]) -> None:
        """Set the links of traffic lights, a letter each."""
        for light, state in states.items():
            self._sumo.trafficlight.setRedYellowGreenState(light, state)

    # Everybody but the ego.

    def add(self, number: int, kind: str, route: Sequence[str], lane: int, at: float) -> bool:
        """Put a standing vehicle on the first edge of a route, with its front so far from the edge's beginning (m); it
        is there after the next step, if there is room. Returns whether SUMO takes the place for one.
        """
        name = str(number)
        try:
            self._sumo.route.add(name, list(route))
            self._sumo.vehicle.add(name, name, kind, "now", str(lane), f"{at:.2f}", "0")
        except self._sumo.TraCIException:
            return False
        self._type_of[number] = kind
        return True

    def remove(self, number: int) -> None:
        """Take a vehicle off the road."""
        with contextlib.suppress(self._sumo.TraCIException):
            self._sumo.vehicle.remove(str(number))

    def give_up_waiting(self) -> None:
        """Forget vehicles that have found no room yet: they would appear wherever there is some, whenever that is."""
        for name in self._sumo.simulation.getPendingVehicles():
            if name != EGO:
                self._sumo.vehicle.remove(name)

    def numbers(self) -> list[int]:
        """The vehicles on the road."""
        return [int(name) for name in self._sumo.vehicle.getIDList() if name != EGO]

    def vehicles(self) -> list[SumoVehicle]:
        """All of them, as they are."""
        return [self._seen(number) for number in self.numbers()]

    def _seen(self, number: int) -> SumoVehicle:
        name, of = str(number), self._sumo.vehicle
        length, width = self._size(self._type_of[number])
        x, y, z = of.getPosition3D(name)
        front = Pose(x, y, _heading(of.getAngle(name)))
        return SumoVehicle(number, shifted(front, -0.5 * length), z, length, width, of.getSpeed(name))

    def type_length(self, kind: str) -> float:
        """Length of the vehicles of a type, m."""
        return self._size(kind)[0]

    def _size(self, kind: str) -> tuple[float, float]:
        if kind not in self._sizes:
            types = self._sumo.vehicletype
            self._sizes[kind] = types.getLength(kind), types.getWidth(kind)
        return self._sizes[kind]

    def way_left(self, number: int) -> list[str]:
        """Edges of its route from the present one on."""
        return self._way_left(str(number))

    def _way_left(self, name: str) -> list[str]:
        of = self._sumo.vehicle
        return list(of.getRoute(name)[max(of.getRouteIndex(name), 0) :])

    def lengthen(self, number: int, route: Sequence[str]) -> None:
        """Give a vehicle another way on; it begins with the present edge."""
        self._sumo.vehicle.setRoute(str(number), list(route))

    def standing_s(self, number: int) -> float:
        """For how long it has not moved, s."""
        return float(self._sumo.vehicle.getWaitingTime(str(number)))

    def held_by_light(self, number: int) -> bool:
        """Whether the next light on its way is near and lets nobody by."""
        light = self._light_ahead(str(number))
        return light is not None and light[0] < LIGHT_REACH_M and light[1] in HOLDS

    def _light_ahead(self, name: str) -> tuple[float, str] | None:
        ahead = self._sumo.vehicle.getNextTLS(name)
        return (float(ahead[0][2]), str(ahead[0][3])) if ahead else None

    def kind(self, number: int) -> str:
        """Its type."""
        return self._type_of[number]

    # The ego.

    def add_ego(self, kind: str, route: Sequence[str]) -> None:
        """Have the ego come into being with a route (edges) where it is placed next."""
        self._egos += 1
        name = f"{EGO} {self._egos}"
        with contextlib.suppress(self._sumo.TraCIException):
            self._sumo.vehicle.remove(EGO)
        self._sumo.route.add(name, list(route))
        self._sumo.vehicle.add(EGO, name, kind)
        self._sumo.vehicle.setSpeedMode(EGO, _UNCHECKED)
        self._sumo.vehicle.setLaneChangeMode(EGO, _UNCHECKED)

    def place_ego(self, front: Pose, v: float) -> bool:
        """Have the ego's front at a pose after the next step, with a speed (m/s). Returns whether SUMO has a place for
        it.
        """
        of = self._sumo.vehicle
        try:
            of.setSpeed(EGO, max(v, 0.0))
            of.moveToXY(EGO, "", _ANY_LANE, front.x, front.y, 90.0 - math.degrees(front.heading), _FREE)
        except self._sumo.TraCIException:
            return False
        return True

    def ego_way_left(self) -> list[str]:
        """Edges of the ego's route from the present one on; none where it is not on the road."""
        try:
            return self._way_left(EGO)
        except self._sumo.TraCIException:
            return []

    def lengthen_ego(self, route: Sequence[str]) -> bool:
        """Give the ego another way on; False where SUMO has no such way."""
        try:
            self._sumo.vehicle.setRoute(EGO, list(route))
        except self._sumo.TraCIException:
            return False
        return True

    def ego_pose(self) -> tuple[Pose, float] | None:
        """Front and speed (m/s) of the ego as SUMO has it."""
        of = self._sumo.vehicle
        if EGO not in of.getIDList():
            return None
        x, y = of.getPosition(EGO)
        return Pose(x, y, _heading(of.getAngle(EGO))), float(of.getSpeed(EGO))

    def ego_light(self) -> tuple[float, str] | None:
        """Distance (m) and letter of the next light on the ego's way."""
        if EGO not in self._sumo.vehicle.getIDList():
            return None
        return self._light_ahead(EGO)

    def collisions(self) -> list[SumoCollision]:
        """What SUMO holds for a collision in the present step."""
        return [SumoCollision(each.collider, each.victim, each.type) for each in self._sumo.simulation.getCollisions()]


def _heading(angle: float) -> float:
    """From SUMO's degrees, clockwise from north, to radians counter-clockwise from x."""
    return math.radians(90.0 - angle)
