"""A few seconds of made-up driving on a real map, so that every kernel is compiled before the first real tick."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import (
    OBJECTS,
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Kind,
    Light,
    Odometry,
    RouteAnswer,
    Source,
    StampedRows,
)

STEP_S = 0.05
TICKS = 40
"""Enough for the route to be taken and the first stretch in `on_road/normal`."""
ROUTE_M = 80.0


def warm_up_inputs(road_map: RoadMap) -> Iterator[Inputs]:
    """Inputs of a car that stands at the start of some route, with traffic ahead; none on a map without lanes."""
    try:
        route = random_route(road_map, np.random.default_rng(0), ROUTE_M)
    except InputError:
        return
    start, goal = route.reference.at(0.0), route.reference.at(route.length)
    mission = {"goal": goal._asdict()}
    for k in range(TICKS):
        stamp = k * STEP_S
        yield Inputs(
            stamp=stamp,
            odometry=Odometry(stamp, start, 0.0, 0.0),
            objects=StampedRows(stamp, _traffic(route, stamp)),
            traffic_lights=StampedRows(stamp, _red(road_map)),
            rain_fog=BoolMessage(0.0, False),
            route_answers=(RouteAnswer(stamp, -1, route.poses()),) if k == 1 else (),
            mission=mission,
        )


def _traffic(route: Route, stamp: float) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """A leader, a parked car beside the road and a pedestrian that crosses."""
    leader, side, kerb = route.reference.at(15.0 + 3.0 * stamp), route.reference.at(20.0), route.reference.at(30.0)
    rows = np.zeros(3, OBJECTS)
    _put(rows[0], 1, Kind.CAR, leader, 3.0, (4.5, 1.8))
    _put(rows[1], 2, Kind.CAR, Pose(side.x + 6.0, side.y + 6.0, side.heading), 0.0, (4.5, 1.8))
    _put(rows[2], 3, Kind.PEDESTRIAN, kerb._replace(heading=kerb.heading + 1.5), 1.2, (0.5, 0.5))
    return rows


def _put(row: np.void, number: int, kind: Kind, pose: Pose, v: float, size: tuple[float, float]) -> None:
    row["id"], row["kind"], row["source"], row["existence"] = number, kind, Source.LIDAR, 1.0
    row["x"], row["y"], row["heading"] = pose
    sine, cosine = elementwise.sin_cos(pose.heading)
    row["vx"], row["vy"] = v * cosine, v * sine
    row["length"], row["width"] = size


def _red(road_map: RoadMap) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    rows = np.zeros(len(road_map.signals), TRAFFIC_LIGHTS)
    rows["signal"], rows["state"], rows["confidence"] = list(road_map.signals), Light.RED, 1.0
    return rows
