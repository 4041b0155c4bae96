"""A client's own traffic manager: the settings of its vehicles under the names that CARLA's Traffic Manager has
([dosovitskiy2017][], TM-2).

Several of them may drive vehicles in one world, each with a seed of its own (TM-4). Vehicles go by their published
number; None stands for all. What is set for all counts for those that are there and those that come in
their places; later calls for one vehicle change that one alone, and end with it.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.traffic.collision import PAIR
from tuling_fsm.sim.traffic.fleet import ANY, OFF, TURNS, path_index
from tuling_fsm.sim.traffic.given_routes import shortest_way
from tuling_fsm.sim.traffic.lane_graph import TrafficLaneGraph
from tuling_fsm.sim.traffic.manager import EGO_NUMBER, TrafficManager
from tuling_fsm.sim.traffic.population import HybridPhysics, hybrid_physics

NEAR_M = 3.0
"""A lane whose centre comes this near passes a point."""


def lanes_along(
    graph: TrafficLaneGraph, start: int, points: Sequence[tuple[float, float]], s: float = 0.0
) -> list[int]:
    """The shortest way over lanes from `s` (m) of `start` past points (m) in their order, without the first lane.

    Raises:
        InputError: no lane leads from one to the next.
    """
    way, lane = list[int](), start
    for point in points:
        places = _passing(graph, point)
        found = shortest_way(graph, lane, s, places)
        if found is None:
            raise InputError("traffic.set_path", f"no lane leads to ({point[0]:.1f}, {point[1]:.1f})", "points ahead")
        way += found
        lane = way[-1] if way else start
        s = places[lane]
    return way


def _passing(graph: TrafficLaneGraph, point: tuple[float, float]) -> dict[int, float]:
    """Lanes whose centre passes a point, and up to where on each (m)."""
    apart = elementwise.hypot(graph.sample.x - point[0], graph.sample.y - point[1])
    samples = np.flatnonzero(apart < NEAR_M)
    lanes = np.searchsorted(graph.lane["at"], samples, side="right") - 1
    places = (samples - graph.lane["at"][lanes]) * graph.lane["step"][lanes]
    return dict(zip(lanes.tolist(), places.tolist(), strict=True))


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return _whole(value) or (isinstance(value, float) and math.isfinite(value))


def _point(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_number, value))


FITTING: dict[str, tuple[Callable[[Any], bool], str]] = {
    "int": (_whole, "a whole number"),
    "int | None": (lambda value: value is None or _whole(value), "the number of a vehicle, none for all"),
    "float": (_number, "a finite number"),
    "float | None": (lambda value: value is None or _number(value), "a finite number or none"),
    "bool": (lambda value: value in (False, True), "true or false"),
    "Sequence[str]": (lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value), "words"),
    "Sequence[tuple[float, float]]": (lambda value: isinstance(value, list) and all(map(_point, value)), "points x, y"),
}
"""By the annotation of a parameter: whether a value fits, and what would."""


def check_arguments(name: str, given: Sequence[Any]) -> None:
    """Look whether arguments fit a command of `Autopilot`.

    Raises:
        InputError: there are too few or too many, or one is of another kind.
    """
    signature = inspect.signature(getattr(Autopilot, name))
    try:
        bound = signature.bind(None, *given)
    except TypeError as error:
        raise InputError(f"traffic.{name}", str(error), "the arguments that it has") from error
    for parameter, value in list(bound.arguments.items())[1:]:
        fits, expected = FITTING[str(signature.parameters[parameter].annotation)]
        if not fits(value):
            raise InputError(f"traffic.{name}", f"{parameter} is {value!r}", expected)


TURN_NAMES = {"Left": 1, "Straight": 0, "Right": -1}
NOBODY = 0
"""Number of a vehicle that has never been on the road."""
NO_CIRCLES = np.zeros((0, 3))


class Autopilot:
    """Vehicles of one owner in the traffic. The world's own population has number 0; others are made with `join`."""

    def __init__(self, traffic: TrafficManager, number: int = 0) -> None:
        self.traffic = traffic
        self.number = number

    @classmethod
    def join(cls, traffic: TrafficManager, seed: int, vehicles: int, circles: FloatArray = NO_CIRCLES) -> Autopilot:
        """A further traffic manager in the same world, with vehicles drawn from its own seed.

        Args:
            traffic: the world's traffic.
            seed: of all that is random about its vehicles.
            vehicles: how many it wants; those that find no place come when there is one.
            circles: (K, 3) of x, y, radius (m): no vehicle is spawned there, near an ego, or on another agent.
        """
        number = len(traffic.hybrid)
        traffic.register(_seeds(seed, vehicles), hybrid_physics(traffic.parameters), circles)
        return cls(traffic, number)

    @property
    def vehicles(self) -> list[int]:
        """Numbers of its vehicles on the road."""
        return [int(self.traffic.ids[row]) for row in np.flatnonzero(self.rows & self.traffic.on_road)]

    @property
    def rows(self) -> BoolArray:
        """Which rows of the fleet are its own."""
        return np.asarray(self.traffic.fleet.car.owner == self.number)

    def _row(self, vehicle: int) -> int:
        """Row of a vehicle of its own.

        Raises:
            InputError: it has no such vehicle.
        """
        rows = np.flatnonzero(self.rows & (self.traffic.ids == vehicle))
        if len(rows) == 0 or vehicle == NOBODY:
            raise InputError("traffic", f"no vehicle {vehicle} of this traffic manager", "one of its vehicles")
        return int(rows[-1])

    def _row_on_road(self, vehicle: int) -> int:
        """Row of a vehicle of its own that drives now.

        Raises:
            InputError: it has no such vehicle, or that is off the road.
        """
        row = self._row(vehicle)
        if not self.traffic.on_road[row]:
            raise InputError("traffic", f"vehicle {vehicle} is off the road", "one of its vehicles on the road")
        return row

    def _chosen(self, vehicle: int | None) -> list[int]:
        """Rows of one vehicle, or of all of its own."""
        return np.flatnonzero(self.rows).tolist() if vehicle is None else [self._row(vehicle)]

    def _set(self, vehicle: int | None, name: str, value: float) -> None:
        self.traffic.set_rule(self._chosen(vehicle), name, value, own=vehicle is not None)

    def register_vehicles(self, seed: int, vehicles: int) -> None:
        """Take so many more, drawn from a seed of their own; those that find no place come when there is one."""
        count = int(_within("vehicles", vehicles, 0, 100_000))
        self.traffic.register(_seeds(seed, count), self._hybrid, NO_CIRCLES, self.number)

    def set_random_device_seed(self, seed: int) -> None:
        """Draw everything from another seed from now on."""
        car, mine = self.traffic.fleet.car, self.rows
        seeds = _seeds(seed, int(mine.sum()))
        car["random"][mine], car["key"][mine] = seeds, seeds

    # Distance, speed and place.

    def distance_to_leading_vehicle(self, vehicle: int | None, distance: float) -> None:
        """Gap at standstill, m; it adds to that in motion."""
        self._set(vehicle, "gap", _within("distance", distance, 0.0, 1000.0))

    def global_distance_to_leading_vehicle(self, distance: float) -> None:
        """The same for all."""
        self.distance_to_leading_vehicle(None, distance)

    def vehicle_percentage_speed_difference(self, vehicle: int | None, percentage: float) -> None:
        """How far below the limit it drives, %; negative: above."""
        share = 1.0 - 0.01 * _within("percentage", percentage, -1000.0, 100.0)
        self._set(vehicle, "share", share)

    def global_percentage_speed_difference(self, percentage: float) -> None:
        """The same for all; 30 unless set, give or take the spread."""
        self.vehicle_percentage_speed_difference(None, percentage)

    def set_desired_speed(self, vehicle: int | None, speed: float | None) -> None:
        """Drive at a speed (m/s) whatever the limit is; None: by the limit again."""
        self._set(vehicle, "wanted", math.nan if speed is None else _within("speed", speed, 0.0, 100.0))

    def vehicle_lane_offset(self, vehicle: int | None, offset: float) -> None:
        """Keep beside the middle of the lane, m, + left."""
        self._set(vehicle, "offset", _within("offset", offset, -5.0, 5.0))
        for row in self._chosen(vehicle):
            self.traffic.set_offset(row, offset)

    def global_lane_offset(self, offset: float) -> None:
        """The same for all."""
        self.vehicle_lane_offset(None, offset)

    # What is ignored.

    def ignore_lights_percentage(self, vehicle: int | None, percentage: float) -> None:
        """Share of the red and yellow lights that it drives through, %; drawn anew for each."""
        self._set(vehicle, "ignore_lights", _share(percentage))

    def ignore_signs_percentage(self, vehicle: int | None, percentage: float) -> None:
        """Share of the stop signs that it does not stop at, %."""
        self._set(vehicle, "ignore_signs", _share(percentage))

    def ignore_vehicles_percentage(self, vehicle: int | None, percentage: float) -> None:
        """Share of the other vehicles that it does not brake for, %."""
        self._set(vehicle, "ignore_vehicles", _share(percentage))

    def ignore_walkers_percentage(self, vehicle: int | None, percentage: float) -> None:
        """Share of the pedestrians that it does not brake for, %."""
        self._set(vehicle, "ignore_walkers", _share(percentage))

    def collision_detection(self, vehicle: int, other: int, detect: bool) -> None:
        """Whether a vehicle and another agent (0: the ego) brake for each other."""
        pairs = {(self._row(vehicle), int(_within("other", other, 0, PAIR - 1)))}
        rows = np.flatnonzero((self.traffic.ids == other) & (self.traffic.fleet.car.mode != OFF))
        pairs |= {(int(row), vehicle) for row in rows if other != EGO_NUMBER}
        self.traffic.detect_collisions(pairs, detect)

    # Lanes and ways.

    def auto_lane_change(self, vehicle: int | None, enable: bool) -> None:
        """Whether it changes lanes by itself."""
        self._set(vehicle, "auto_change", enable)

    def force_lane_change(self, vehicle: int, left: bool) -> bool:
        """Change lanes now, whatever is in the way; False where there is no lane."""
        return self.traffic.change_lane(self._row_on_road(vehicle), 1 if left else -1)

    def keep_right_rule_percentage(self, vehicle: int | None, percentage: float) -> None:
        """How likely it moves to the right where it can, %, asked once a second."""
        self._set(vehicle, "keep_right", _share(percentage))

    def set_path(self, vehicle: int, points: Sequence[tuple[float, float]]) -> None:
        """Drive past points (m), then on at random.

        Raises:
            InputError: no lane leads there.
        """
        row = self._row_on_road(vehicle)
        fleet, graph = self.traffic.fleet, self.traffic.graph
        k = path_index(fleet, row, fleet.car.arc[row])
        s = float(fleet.car.arc[row] - fleet.path_at[row, k])
        self.traffic.set_path(row, lanes_along(graph, int(fleet.path_lane[row, k]), points, s))

    def set_route(self, vehicle: int, turns: Sequence[str]) -> None:
        """Take these turns at the next junctions, each `Left`, `Straight` or `Right`, where there is such a way.

        Raises:
            InputError: another word, or too many.
        """
        unknown = [turn for turn in turns if turn not in TURN_NAMES]
        if unknown or len(turns) > TURNS:
            said = f"unknown turn {unknown[0]!r}" if unknown else f"{len(turns)} turns"
            raise InputError("traffic.set_route", said, f"at most {TURNS} of " + ", ".join(TURN_NAMES))
        row, fleet = self._row_on_road(vehicle), self.traffic.fleet
        fleet.turns[row], fleet.car.turn_at[row] = ANY, 0
        fleet.turns[row, : len(turns)] = [TURN_NAMES[turn] for turn in turns]
        self.traffic.drop_path(row)

    # Lights, dynamics, dormant vehicles.

    def update_vehicle_lights(self, vehicle: int | None, update: bool) -> None:
        """Whether its lights are updated; else they stay as they are."""
        self._set(vehicle, "show_lights", update)

    def reset_traffic_lights(self, lights: TrafficLights, stamp: float) -> None:
        """Begin all light programs anew, as at the start of the run."""
        lights.reset(stamp)

    def set_hybrid_physics_mode(self, enabled: bool) -> None:
        """Whether vehicles far from any ego do without dynamics."""
        self._set_hybrid(dataclasses.replace(self._hybrid, hybrid=enabled))

    def set_hybrid_physics_radius(self, radius: float) -> None:
        """How far is far, m."""
        self._set_hybrid(dataclasses.replace(self._hybrid, radius=_within("radius", radius, 0.0, 1e6)))

    def set_respawn_dormant_vehicles(self, enabled: bool) -> None:
        """Whether dormant vehicles come back near an ego."""
        self._set_hybrid(dataclasses.replace(self._hybrid, respawn=enabled))

    def set_boundaries_respawn_dormant_vehicles(self, lower: float, upper: float) -> None:
        """Between which distances from it, m; at least 20."""
        self._set_hybrid(dataclasses.replace(self._hybrid, nearest=lower, farthest=upper))

    @property
    def _hybrid(self) -> HybridPhysics:
        return self.traffic.hybrid[self.number]

    def _set_hybrid(self, hybrid: HybridPhysics) -> None:
        self.traffic.hybrid[self.number] = hybrid


def _seeds(seed: int, count: int) -> npt.NDArray[np.uint64]:
    if seed < 0:
        raise InputError("traffic.seed", f"{seed} is negative", "0 or more")
    return np.asarray(np.random.SeedSequence(seed).generate_state(count, np.uint64), dtype=np.uint64)


def _within(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise InputError(f"traffic.{name}", f"{value} is out of range", f"{low:g} to {high:g}")
    return value


def _share(percentage: float) -> float:
    return 0.01 * _within("percentage", percentage, 0.0, 100.0)
