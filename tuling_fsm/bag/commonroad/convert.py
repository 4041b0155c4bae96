"""A CommonRoad recording as a bag: one recorded car is the ego, and what the planner says to its drive is recorded too.

The car goes where the human drove it, whatever the planner plans.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.bag.commonroad.obstacles import Obstacle, object_rows
from tuling_fsm.bag.commonroad.roads import to_opendrive
from tuling_fsm.bag.commonroad.scenario import Recording, read_recording
from tuling_fsm.bag.replay import map_record
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import flatten
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.progress import Report, StampProgress
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.inputs import PUSHED
from tuling_fsm.wire.outputs import Outputs, trajectory_messages
from tuling_fsm.world.inputs import (
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Kind,
    Odometry,
    RouteAnswer,
    StampedRows,
)

TICK_S = 0.05
BEGIN_S = 100.0
"""Stamp of the first tick: 0 means never to a recorder."""
MAP_NAME = "map.xodr"
VEHICLES = (Kind.CAR, Kind.TRUCK, Kind.BUS)


class Converted(NamedTuple):
    """What has been written."""

    ego: str
    ticks: int
    lanes: int
    transitions: int
    route_m: float
    lost: tuple[str, ...]
    """What of the scenario cannot be kept, a line each."""


def convert(
    scenario: Path,
    out: Path,
    ego: str | None = None,
    parameters: Parameters | None = None,
    progress: Report | None = None,
) -> Converted:
    """Write `map.xodr` and `run.mcap` into a folder.

    Args:
        scenario: CommonRoad XML.
        out: the folder.
        ego: id of the recorded car that is the ego; the one that drives farthest if not given.
        parameters: of the planner.
        progress: told in a line how far it is, once a recorded second.

    Raises:
        InputError: no CommonRoad scenario, no such car, or no car drives in it.
    """
    recording, parameters = read_recording(scenario), parameters or Parameters()
    car = _ego(recording, ego)
    out.mkdir(parents=True, exist_ok=True)
    (out / MAP_NAME).write_bytes(to_opendrive(recording.name, recording.lanelets, recording.origin))
    road_map = read_map(out / MAP_NAME)
    agent, outputs = Agent(road_map, parameters), Outputs(road_map.left_hand)
    route = _route(road_map, car, parameters.vehicle)
    count = changes = 0
    run = {**map_record(out / MAP_NAME), "parameters": flatten(parameters), "source": recording.name}
    told = StampProgress(progress, _duration(car))
    with BagWriter(out, run) as bag:
        for inputs in _ticks(recording, car, route, parameters.vehicle):
            told.tell(inputs.stamp)
            tick, ns = agent.step(inputs), nanoseconds(inputs.stamp)
            bag.write_tick(inputs, [*trajectory_messages(tick.trajectory, ns), *outputs.messages(tick, ns)])
            count += 1
            changes += tick.decision.transition is not None
    return Converted(car.id, count, len(road_map.driving_lanes()), changes, _way(route), recording.lost)


def _ego(recording: Recording, wanted: str | None) -> Obstacle:
    moving = [each for each in recording.obstacles if each.kind in VEHICLES and _duration(each) > 2.0 * TICK_S]
    if wanted is not None:
        found = [each for each in moving if each.id == wanted]
        if not found:
            raise InputError(
                recording.name, f"no recorded drive of a car {wanted}", ", ".join(each.id for each in moving)
            )
        return found[0]
    if not moving:
        raise InputError(recording.name, "no recorded drive of a car", "a scenario with dynamic obstacles")
    return max(moving, key=lambda each: _way(each.states[:, 1:3]))


def _duration(each: Obstacle) -> float:
    return float(each.states[-1, 0] - each.states[0, 0])


def _way(points: FloatArray) -> float:
    return float(elementwise.hypot(*np.diff(points[:, :2], axis=0).T).sum())


def _rear(car: Obstacle, vehicle: Vehicle, t: FloatArray) -> FloatArray:
    """Rows x, y, heading of the rear axle, v, yaw rate at times; the recorded box is taken for the vehicle's."""
    columns = [np.interp(t, car.states[:, 0], car.states[:, i]) for i in range(1, 5)]
    x, y, heading, v = columns
    back = 0.5 * (vehicle.front - vehicle.rear_overhang)
    rate = np.gradient(heading, t)
    sine, cosine = elementwise.sin_cos(heading)
    return np.column_stack((x - back * cosine, y - back * sine, heading, v, rate))


def _route(road_map: RoadMap, car: Obstacle, vehicle: Vehicle) -> FloatArray:
    """Where the car is led: along lanes to where it drove; without such a way along its own track."""
    first, last = (Pose(*row[:3]) for row in _rear(car, vehicle, car.states[:, 0])[[0, -1]].tolist())
    planned = plan_route(road_map, first, last).route
    if planned is not None:
        return planned.poses()
    steps = np.concatenate(([True], elementwise.hypot(*np.diff(car.states[:, 1:3], axis=0).T) > 0.2))
    return np.asarray(car.states[steps][:, 1:4], dtype=np.float64)


def _ticks(recording: Recording, car: Obstacle, route: FloatArray, vehicle: Vehicle) -> Iterator[Inputs]:
    begin, end = float(car.states[0, 0]), float(car.states[-1, 0])
    times = np.asarray(np.linspace(begin, end, round((end - begin) / TICK_S) + 1), dtype=np.float64)
    others = [each for each in recording.obstacles if each is not car]
    flag, goal = BoolMessage(BEGIN_S, False), dict(zip(("x", "y", "heading"), route[-1].tolist(), strict=True))
    mission = {"goal": goal}
    for k, (t, row) in enumerate(zip(times.tolist(), _rear(car, vehicle, times).tolist(), strict=True)):
        stamp = BEGIN_S + k * TICK_S
        x, y, heading, v, rate = row
        answers = (RouteAnswer(stamp, PUSHED, route),) if k == 0 else ()
        yield Inputs(
            stamp,
            Odometry(stamp, Pose(x, y, heading), v, rate),
            StampedRows(stamp, object_rows(others, t)),
            traffic_lights=StampedRows(stamp, np.zeros(0, TRAFFIC_LIGHTS)),
            rain_fog=flag,
            route_answers=answers,
            mission=mission,
        )
