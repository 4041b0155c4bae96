"""Puts together what the planner is told on a frame."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.environment import Environment
from tuling_fsm.sim.lights import TrafficLights
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.referee import Others
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.sensors import Sensors
from tuling_fsm.world.inputs import Flag, Inputs, RouteAnswer, Table

LANE_LINES_EVERY = 2
"""Frames from one table of lane lines to the next."""


class Feed:
    """Keeps the messages that go on from frame to frame, and the answers that are under way."""

    def __init__(
        self, road_map: RoadMap, scenario: Scenario, route: Route | None, parameters: SensorParameters
    ) -> None:
        self._sensors = Sensors(road_map, parameters)
        self._mission = mission_of(scenario, route)
        self._answers: list[tuple[int, RouteAnswer]] = []
        self._rain = Flag(0.0, False)
        self._stop: Flag | None = None
        self._lines: Table | None = None

    def post(self, due: int, answer: RouteAnswer) -> None:
        """Let an answer of the route server arrive on a frame."""
        self._answers.append((due, answer))

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
        rain, sensors = environment.rain_or_fog, self._sensors
        if rain != self._rain.value:
            self._rain = Flag(stamp, rain)
        if environment.emergency_link:
            self._stop = Flag(stamp, environment.emergency_stop)
        if frame % LANE_LINES_EVERY == 0:
            self._lines = Table(stamp, sensors.lane_lines(pose, position, way))
        arrived = tuple(dataclasses.replace(answer, stamp=stamp) for due, answer in self._answers if due <= frame)
        self._answers = [(due, answer) for due, answer in self._answers if due > frame]
        return Inputs(
            stamp=stamp,
            odometry=sensors.odometry(stamp, pose, v, yaw_rate, environment.localized),
            objects=Table(stamp, sensors.objects(pose, z, others, lidar=not rain)),
            lane_lines=self._lines,
            traffic_lights=Table(stamp, lights.table(stamp)),
            parking_slots=Table(stamp, sensors.slots(pose, others)),
            rain_fog=self._rain,
            emergency_stop=self._stop,
            clear_emergency_stop=environment.clear,
            route_answers=arrived,
            mission=self._mission,
        )


def mission_of(scenario: Scenario, route: Route | None) -> dict[str, Any]:
    """The mission message: the scenario's file, or the end of its route as the goal.

    Raises:
        InputError: the file cannot be read or is no JSON object.
    """
    if scenario.mission_file is not None:
        file = Path(scenario.mission_file)
        try:
            mission = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(str(file), f"cannot be read: {error}", "a mission in JSON") from error
        if not isinstance(mission, dict):
            raise InputError(str(file), "no object", "a mission in JSON")
        return mission
    assert route is not None
    x, y, heading = route.poses()[-1].tolist()
    return {"goal": {"x": x, "y": y, "heading": heading}}
