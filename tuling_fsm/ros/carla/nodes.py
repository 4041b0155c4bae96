"""The nodes `carla_bridge`, between carla-ros-bridge and the planner (CAR-1), and `carla_map`, which saves the map."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from rclpy.clock import Clock, ClockType
from std_srvs.srv import Trigger

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, load, nest
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.output_file import write_file
from tuling_fsm.ros.carla.drive import CarlaDrive
from tuling_fsm.ros.carla.parameters import CarlaMapParameters, CarlaParameters
from tuling_fsm.ros.carla.scenario_runner import ScenarioRunner
from tuling_fsm.ros.carla.topics import CarlaTopics, CarlaTypes
from tuling_fsm.ros.node_parameters import in_home, required_file
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.planner_link import PlannerLink
from tuling_fsm.ros.qos import profile
from tuling_fsm.ros.scenario_parameter import read_scenario
from tuling_fsm.ros.served_node import ServedNode
from tuling_fsm.wire.carla.actors import PAUSE, PLAY, STEP_ONCE, pack_run_control
from tuling_fsm.wire.carla.messages import HEARD, WORLD_INFO, topic_name
from tuling_fsm.wire.cdr import unpack

RUN_SERVICES = {"play": PLAY, "pause": PAUSE, "step": STEP_ONCE}
"""Services of the node, and what they make CARLA do."""
_POLL_S = 0.02
_FLUSH_S = 0.05
"""CARLA waits meanwhile."""
_SHUTDOWN_S = 1.0
"""Longest wait for CARLA to take the actors away."""


class CarlaBridge(ServedNode):
    """Everything is done by `CarlaDrive`; here it only meets DDS.

    Args:
        types: CARLA's message packages.

    Raises:
        InputError: map or scenario cannot be used, or a parameter is bad.
    """

    def __init__(self, types: CarlaTypes) -> None:
        super().__init__("carla_bridge", automatically_declare_parameters_from_overrides=True)
        self._settings = ParameterServer(self, describe(CarlaParameters))
        self._own = self._load()
        road_map = read_map(required_file("map_file", self._own.map_file))
        self.interruptible = False
        self._topics = CarlaTopics(self, types, self._own.role, self._receive_from_carla)
        self._link = PlannerLink(self, self._answered, _FLUSH_S)
        self._runner = _runner(self._own, road_map, self._topics, self._warn) if self._own.scenario else None
        self._drive = CarlaDrive(self._own, road_map, self._runner, self._topics, self._link, self._warn)
        for name, command in RUN_SERVICES.items():
            self.create_service(Trigger, f"~/{name}", partial(self._run, command))
        self.create_timer(_POLL_S, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def stop(self) -> None:
        """Brake, and leave CARLA as it was found; every tick up to here has had its command."""
        deadline = time.monotonic() + _SHUTDOWN_S
        self._drive.end()
        while self._drive.driving and self._drive.ended_with is None and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=_POLL_S)
        self._drive.end_without_a_tick()
        self._topics.commanded(_SHUTDOWN_S)
        self._drive.destroy_all()
        while self._topics.open_calls and self._topics.ready_to_spawn() and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=_POLL_S)
        ticks = self._drive.ticks
        self.get_logger().info(
            f"{ticks.commands} commands, {self._drive.late} of them without a plan; {ticks.dropped} ticks without one"
        )

    def _load(self) -> CarlaParameters:
        self._settings.changed = False
        return in_home(load(CarlaParameters, nest(self._settings.values)))

    def _warn(self, line: str) -> None:
        self.get_logger().warning(line)

    def _receive_from_carla(self, name: str, raw: bytes) -> None:
        self._drive.receive(name, raw)

    def _answered(self, raw: bytes) -> None:
        self._drive.answered(raw)

    def _poll(self) -> None:
        if self._settings.changed:
            self._own = self._load()
            self._drive.update_parameters(self._own)
        self._drive.poll()
        if self._drive.finished and not self.finished:
            self.finished = True
            assert self._runner is not None
            result = self._runner.result(self._link.watch.log, self._own.out)
            self.get_logger().info(f"the scenario is over: {result['end']}")

    def _run(self, command: int, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._topics.run(pack_run_control(command))
        response.success, response.message = True, "sent to CARLA"
        return response


def _runner(
    parameters: CarlaParameters, road_map: RoadMap, topics: CarlaTopics, report: Callable[[str], None]
) -> ScenarioRunner:
    scenario = read_scenario(parameters.scenario, parameters.overrides)
    return ScenarioRunner(
        road_map=road_map,
        scenario=scenario,
        seed=parameters.seed,
        vehicle=parameters.vehicle,
        role=parameters.role,
        client=topics,
        report=report,
    )


_MAP_POLL_S = 0.2


class MapSaver(ServedNode):
    """Waits for `/carla/world_info`.

    Args:
        types: CARLA's message packages.

    Raises:
        InputError: a parameter is bad.
    """

    def __init__(self, types: CarlaTypes) -> None:
        super().__init__("carla_map", automatically_declare_parameters_from_overrides=True)
        settings = ParameterServer(self, describe(CarlaMapParameters))
        self._own = in_home(load(CarlaMapParameters, settings.values))
        if not self._own.map_file:
            raise InputError("map_file", "not set", "a file to write")
        topic = next(each for each in HEARD if each.type == WORLD_INFO)
        name = topic_name(topic, "")
        self.create_subscription(types.message(topic.type), name, self._save, profile(topic.qos), raw=True)
        self._began = time.monotonic()
        self.create_timer(_MAP_POLL_S, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _save(self, raw: bytes) -> None:
        try:
            world = unpack(raw, WORLD_INFO, "world_info")
            write_file(self._own.map_file, str(world.opendrive))
        except InputError as error:
            self._end(f"{self._own.map_file}: {error}", 1)
            return
        self._end(f"{world.map_name} is in {self._own.map_file}", 0)

    def _poll(self) -> None:
        if not self.finished and time.monotonic() - self._began > self._own.timeout:
            self._end(f"no /carla/world_info within {self._own.timeout:g} s: is carla-ros-bridge running?", 1)

    def _end(self, message: str, exit_code: int) -> None:
        self.finished, self.exit_code = True, exit_code
        if exit_code:
            self.get_logger().error(message)
        else:
            self.get_logger().info(message)
