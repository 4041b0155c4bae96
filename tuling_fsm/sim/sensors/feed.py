"""Puts together what the planner is told on a frame."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.input_file import read_text
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.actors.agent_states import AgentBoxes, EgoState
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.environment.weather import Environment
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.scenario.choices import Sensor
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.sensors.faults import SensorChannels, SensorFusion
from tuling_fsm.sim.sensors.localization import NOWHERE, DeadReckoning
from tuling_fsm.sim.sensors.occlusion import hidden
from tuling_fsm.sim.sensors.perception import Sensors, occupancy
from tuling_fsm.sim.sensors.tracking_errors import TrackingErrors
from tuling_fsm.wire.text import parse_json
from tuling_fsm.world.inputs import BoolMessage, Inputs, Occupancy, Odometry, RouteAnswer, StampedRows
from tuling_fsm.world.mission import parse_mission

LANE_LINES_EVERY, GRID_EVERY = 2, 5
"""Frames from one table of lane lines, or one occupancy grid, to the next."""


class InputFeed:
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
        self.channels = SensorChannels(seed, parameters)
        self._fusion = SensorFusion(self.channels)
        self.tracker = TrackingErrors(seed.spawn(1)[0], parameters.tracking_errors)
        self.reckoning = DeadReckoning(parameters)
        self.mission, self.mission_sha256 = mission_of(scenario, route)
        """The mission message, and what tells the file that it was read from, if it was, from others."""
        self._answers: list[tuple[int, RouteAnswer]] = []
        self._rain = BoolMessage(0.0, False)
        self._stop: BoolMessage | None = None
        self._radar: BoolMessage | None = None
        self._tables: dict[Sensor, StampedRows | None] = {}
        self._odometry: Odometry | None = None
        self._grid: Occupancy | None = None
        self._grid_started = False

    def post(self, due: int, answer: RouteAnswer) -> None:
        """Let an answer of the route server arrive on a frame."""
        self._answers.append((due, answer))

    def in_map(self, plan: Trajectory | None) -> Trajectory | None:
        """A plan for the present frame as the wheels do it: it was made in the frame of the believed pose."""
        shifted = self.reckoning.to_map is not NOWHERE
        return self.reckoning.to_map.trajectory(plan) if plan is not None and shifted else plan

    def inputs(
        self,
        frame: int,
        stamp: float,
        ego: EgoState,
        route_lanes: frozenset[LaneId],
        agents: AgentBoxes,
        lights: TrafficLights,
        environment: Environment,
    ) -> Inputs:
        """All messages of one frame; to be asked once a frame.

        Args:
            frame: its number.
            stamp: its time, s.
            ego: the ego as it really is.
            route_lanes: lanes of its route.
            agents: all other agents.
            lights: the traffic lights.
            environment: the conditions.
        """
        blind = environment.rain_or_fog
        believed = self.reckoning.update(stamp, ego.pose, ego.v, ego.yaw_rate, environment.localized)
        self._set_flags(stamp, blind, environment)
        lines = self._sensors.lane_lines(ego.pose, ego.position, route_lanes) if frame % LANE_LINES_EVERY == 0 else None
        self._table(Sensor.LANE_LINES, stamp, lines)
        in_view = self._sensors.lights_in_view(ego.pose, lights.table(stamp), environment.visual_range)
        self._table(Sensor.TRAFFIC_LIGHTS, stamp, None if lights.silent else in_view)
        self._update_objects(stamp, ego, agents, environment)
        self._update_odometry(stamp, believed, ego, environment)
        self._update_grid(stamp, believed, agents, frame % GRID_EVERY == 0 and not blind)
        calls: dict[str, Any] = dict.fromkeys(sorted(environment.calls), True)
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
            radar_health=self._radar,
            route_answers=self._arrived(frame, stamp),
            mission=self.mission,
            **calls,
        )

    def _set_flags(self, stamp: float, blind: bool, environment: Environment) -> None:
        """Rain and fog are told of when they change, the emergency stop as long as its link is up, and the radar tells
        that it works unless it is dead.
        """
        if blind != self._rain.value:
            self._rain = BoolMessage(stamp, blind)
        if environment.emergency_link:
            self._stop = BoolMessage(stamp, environment.emergency_stop)
        if self.channels[Sensor.RADAR].fault.drop_out < 1.0:
            self._radar = BoolMessage(stamp, True)

    def _arrived(self, frame: int, stamp: float) -> tuple[RouteAnswer, ...]:
        """Answers of the route server that are due, each given out once."""
        due = tuple(dataclasses.replace(answer, stamp=stamp) for at, answer in self._answers if at <= frame)
        self._answers = [(at, answer) for at, answer in self._answers if at > frame]
        return due

    def _update_objects(self, stamp: float, ego: EgoState, agents: AgentBoxes, environment: Environment) -> None:
        """Objects and parking slots, which are told of in the frame of the believed pose."""
        shift, blind = self.reckoning.from_map, environment.rain_or_fog
        lidar = not blind and self.channels[Sensor.LIDAR].fault.drop_out < 1.0
        tracked = self.tracker.apply(stamp, ego.pose, self._objects(stamp, ego, agents, blind), lidar)
        self._table(Sensor.OBJECTS, stamp, shift.table(tracked))
        slots = self._sensors.slots(ego.pose, agents, environment.visual_range)
        self._table(Sensor.PARKING_SLOTS, stamp, shift.table(slots))

    def _table(self, sensor: Sensor, stamp: float, rows: npt.NDArray[np.void] | None) -> None:
        """Pass on what a sensor sees; None while no message of it is due."""
        channel = self.channels[sensor]
        table = None if rows is None else StampedRows(stamp, channel.rows(rows))
        self._tables[sensor] = channel.send(stamp, table, self._tables.get(sensor))

    def _objects(self, stamp: float, ego: EgoState, agents: AgentBoxes, blind: bool) -> npt.NDArray[np.void]:
        def behind() -> npt.NDArray[np.uint32]:
            return agents.ids[hidden(ego.pose.x, ego.pose.y, agents)]

        rows = self._fusion.objects(stamp, self._sensors.objects(ego.pose, ego.z, agents, blind), behind)
        if self.channels[Sensor.OBJECTS].fault.occlusion:
            rows = rows[~np.isin(rows["id"], behind())]
        self._sensors.remember(agents, rows)
        return rows

    def _update_odometry(self, stamp: float, believed: Pose, ego: EgoState, environment: Environment) -> None:
        channel = self.channels[Sensor.ODOMETRY]
        message = self._sensors.odometry(stamp, believed, ego.v, ego.yaw_rate, environment.localized)
        silent = not environment.odometry or channel.lost()
        self._odometry = channel.send(stamp, None if silent else channel.odometry(message), self._odometry)

    def _update_grid(self, stamp: float, believed: Pose, agents: AgentBoxes, due: bool) -> None:
        """The grid, from when there is something that it shows; what is gone is free in the next one."""
        rows = [row for row, number in enumerate(agents.ids.tolist()) if number in agents.seen_as]
        self._grid_started = self._grid_started or bool(rows)
        channel, grid = self.channels[Sensor.OCCUPANCY], None
        if due and self._grid_started and not channel.lost():
            grid = occupancy(stamp, believed, self.reckoning.from_map.boxes(agents.boxes[rows]))
        self._grid = channel.send(stamp, grid, self._grid)


def mission_of(scenario: Scenario, route: Route | None) -> tuple[dict[str, Any], str | None]:
    """The mission message: the scenario's file, or the end of its route as the goal; and the SHA-256 of the file.

    Raises:
        InputError: the file cannot be read or is no mission.
    """
    if scenario.mission_file is not None:
        return _read_mission(Path(scenario.mission_file))
    assert route is not None
    x, y, heading = route.poses()[-1].tolist()
    return {"goal": {"x": x, "y": y, "heading": heading}}, None


def _read_mission(file: Path) -> tuple[dict[str, Any], str]:
    if file.is_char_device():
        raise InputError(str(file), "is a device", "a mission in JSON")
    try:
        text, sha256 = read_text(file)
    except OSError as error:
        raise InputError(str(file), f"cannot be read: {error.strerror}", "a mission in JSON") from error
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"no UTF-8: {error}", "a mission in JSON") from error
    mission = parse_json(text, str(file))
    try:
        parse_mission(mission, 0.0)
    except InputError as error:
        raise InputError(f"{file}: {error.where}", error.what, error.expected) from error
    return mission, sha256
