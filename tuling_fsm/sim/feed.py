"""Puts together what the planner is told on a frame."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.astray import NOWHERE, Reckoning, Shift
from tuling_fsm.sim.environment import Environment
from tuling_fsm.sim.faults import Channels, hidden
from tuling_fsm.sim.fusion import Fusion
from tuling_fsm.sim.grid import occupancy
from tuling_fsm.sim.lights import TrafficLights
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.referee import Others
from tuling_fsm.sim.scenario.choices import Sensor
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.sensors import Sensors
from tuling_fsm.world.inputs import Flag, Inputs, Occupancy, Odometry, RouteAnswer, Table

LANE_LINES_EVERY, GRID_EVERY = 2, 5
"""Frames from one table of lane lines, or one occupancy grid, to the next."""


class Feed:
    """Keeps the messages that go on from frame to frame, and the answers that are under way."""

    def __init__(
        self,
        road_map: RoadMap,
        scenario: Scenario,
        route: Route | None,
        parameters: SensorParameters,
        seed: np.random.SeedSequence,
    ) -> None:
        self._sensors = Sensors(road_map, parameters)
        self.channels = Channels(seed, parameters)
        self._fusion = Fusion(self.channels)
        self._reckoning = Reckoning(parameters)
        self.mission = mission_of(scenario, route)
        """The mission message."""
        self._answers: list[tuple[int, RouteAnswer]] = []
        self._rain = Flag(0.0, False)
        self._stop: Flag | None = None
        self._tables: dict[Sensor, Table | None] = {}
        self._odometry: Odometry | None = None
        self._grid: Occupancy | None = None
        self._grid_begun = False

    def post(self, due: int, answer: RouteAnswer) -> None:
        """Let an answer of the route server arrive on a frame."""
        self._answers.append((due, answer))

    def in_map(self, plan: Trajectory | None) -> Trajectory | None:
        """A plan for the present frame as the wheels do it: it was made in the frame of the believed pose."""
        astray = self._reckoning.to_map is not NOWHERE
        return self._reckoning.to_map.trajectory(plan) if plan is not None and astray else plan

    def inputs(
        self,
        frame: int,
        stamp: float,
        pose: Pose,
        motion: tuple[float, float, float],
        position: LanePosition | None,
        way: frozenset[LaneId],
        others: Others,
        lights: TrafficLights,
        environment: Environment,
    ) -> Inputs:
        """All messages of one frame; to be asked once a frame.

        Args:
            frame: its number.
            stamp: its time, s.
            pose: of the rear axle.
            motion: height of the road (m, NaN: unknown), speed (m/s) and yaw rate (rad/s) of the car.
            position: the lane under the car.
            way: lanes of its route.
            others: everybody else.
            lights: the traffic lights.
            environment: the conditions.
        """
        z, v, yaw_rate = motion
        blind, sensors = environment.rain_or_fog, self._sensors
        believed = self._reckoning.look(stamp, pose, v, yaw_rate, environment.localized)
        shift = self._reckoning.from_map
        if blind != self._rain.value:
            self._rain = Flag(stamp, blind)
        if environment.emergency_link:
            self._stop = Flag(stamp, environment.emergency_stop)
        lines = sensors.lane_lines(pose, position, way) if frame % LANE_LINES_EVERY == 0 else None
        self._table(Sensor.LANE_LINES, stamp, lines)
        self._table(Sensor.TRAFFIC_LIGHTS, stamp, None if lights.silent else lights.table(stamp))
        self._table(Sensor.OBJECTS, stamp, shift.table(self._objects(stamp, pose, z, others, blind)))
        self._table(Sensor.PARKING_SLOTS, stamp, shift.table(sensors.slots(pose, others)))
        self._locate(stamp, environment, sensors.odometry(stamp, believed, v, yaw_rate, environment.localized))
        self._look_for_solid(stamp, believed, others, shift, frame % GRID_EVERY == 0 and not blind)
        calls: dict[str, Any] = dict.fromkeys(sorted(environment.calls), True)
        arrived = tuple(dataclasses.replace(answer, stamp=stamp) for due, answer in self._answers if due <= frame)
        self._answers = [(due, answer) for due, answer in self._answers if due > frame]
        return Inputs(
            stamp=stamp,
            odometry=self._odometry,
            objects=self._tables[Sensor.OBJECTS],
            occupancy=self._grid,
            lane_lines=self._tables[Sensor.LANE_LINES],
            traffic_lights=self._tables[Sensor.TRAFFIC_LIGHTS],
            parking_slots=self._tables[Sensor.PARKING_SLOTS],
            rain_fog=self._rain,
            emergency_stop=self._stop,
            route_answers=arrived,
            mission=self.mission,
            **calls,
        )

    def _table(self, sensor: Sensor, stamp: float, rows: npt.NDArray[np.void] | None) -> None:
        """Pass on what a sensor sees; None while no message of it is due."""
        channel = self.channels[sensor]
        table = None if rows is None else Table(stamp, channel.rows(rows))
        self._tables[sensor] = channel.send(stamp, table, self._tables.get(sensor))

    def _objects(self, stamp: float, pose: Pose, z: float, others: Others, blind: bool) -> npt.NDArray[np.void]:
        def behind() -> npt.NDArray[np.uint32]:
            return others.ids[hidden(pose.x, pose.y, others)]

        rows = self._fusion.objects(stamp, self._sensors.objects(pose, z, others, blind), behind)
        if not self.channels[Sensor.OBJECTS].fault.occlusion:
            return rows
        return rows[~np.isin(rows["id"], behind())]

    def _locate(self, stamp: float, environment: Environment, message: Odometry) -> None:
        channel = self.channels[Sensor.ODOMETRY]
        silent = not environment.odometry or channel.lost()
        self._odometry = channel.send(stamp, None if silent else channel.odometry(message), self._odometry)

    def _look_for_solid(self, stamp: float, believed: Pose, others: Others, shift: Shift, due: bool) -> None:
        """The grid, from when there is something that it shows; what is gone is free in the next one."""
        rows = [row for row, number in enumerate(others.ids.tolist()) if number in others.seen_as]
        self._grid_begun = self._grid_begun or bool(rows)
        channel = self.channels[Sensor.OCCUPANCY]
        comes = due and self._grid_begun and not channel.lost()
        grid = occupancy(stamp, believed, shift.boxes(others.boxes[rows])) if comes else None
        self._grid = channel.send(stamp, grid, self._grid)


def mission_of(scenario: Scenario, route: Route | None) -> dict[str, Any]:
    """The mission message: the scenario's file, or the end of its route as the goal.

    Raises:
        InputError: the file cannot be read or is no JSON object.
    """
    if scenario.mission_file is not None:
        file = Path(scenario.mission_file)
        try:
            mission = json.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(str(file), f"cannot be read: {error.strerror}", "a mission in JSON") from error
        except ValueError as error:
            raise InputError(str(file), f"no JSON: {error}", "a mission in JSON") from error
        if not isinstance(mission, dict):
            raise InputError(str(file), "no object", "a mission in JSON")
        return mission
    assert route is not None
    x, y, heading = route.poses()[-1].tolist()
    return {"goal": {"x": x, "y": y, "heading": heading}}
