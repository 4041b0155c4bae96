"""The node `carla_bridge`: carries between carla-ros-bridge and the planner, and plays a scenario there (CAR-1)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from rclpy.clock import Clock, ClockType
from std_srvs.srv import Trigger

from tuling_fsm.core.parameters import describe, load, nest
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.ros.carla.drive import CarlaDrive
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.ros.carla.play import Play
from tuling_fsm.ros.carla.topics import CarlaTopics
from tuling_fsm.ros.carla.types import CarlaTypes
from tuling_fsm.ros.loop import ServedNode
from tuling_fsm.ros.node_parameters import read_scenario, required_file
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.planner_link import PlannerLink
from tuling_fsm.wire.carla.actors import PAUSE, PLAY, STEP_ONCE, pack_run_control

RUN_SERVICES = {"play": PLAY, "pause": PAUSE, "step": STEP_ONCE}
"""Services of the node, and what they make CARLA do."""
_POLL_S = 0.02
_FLUSH_S = 0.05
"""CARLA waits meanwhile."""
_FAREWELL_S = 1.0
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
        self._topics = CarlaTopics(self, types, self._own.role, self._hear)
        self._link = PlannerLink(self, self._answered, _FLUSH_S)
        self._play = _play(self._own, road_map, self._topics, self._warn) if self._own.scenario else None
        self._drive = CarlaDrive(self._own, road_map, self._play, self._topics, self._link, self._warn)
        for name, command in RUN_SERVICES.items():
            self.create_service(Trigger, f"~/{name}", partial(self._run, command))
        self.create_timer(_POLL_S, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def stop(self) -> None:
        """Brake, and leave CARLA as it was found; every tick up to here has had its command."""
        deadline = time.monotonic() + _FAREWELL_S
        self._drive.end()
        while self._drive.driving and self._drive.ended_with is None and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=_POLL_S)
        self._drive.end_without_a_tick()
        self._topics.commanded(_FAREWELL_S)
        self._drive.dismiss()
        while self._topics.open_calls and self._topics.ready_to_spawn() and time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=_POLL_S)
        ticks = self._drive.ticks
        self.get_logger().info(
            f"{ticks.commands} commands, {self._drive.late} of them without a plan; {ticks.dropped} ticks without one"
        )

    def _load(self) -> CarlaParameters:
        self._settings.changed = False
        return load(CarlaParameters, nest(self._settings.values))

    def _warn(self, line: str) -> None:
        self.get_logger().warning(line)

    def _hear(self, name: str, raw: bytes) -> None:
        self._drive.hear(name, raw)

    def _answered(self, raw: bytes) -> None:
        self._drive.answered(raw)

    def _poll(self) -> None:
        if self._settings.changed:
            self._own = self._load()
            self._drive.take_parameters(self._own)
        self._drive.poll()
        if self._drive.finished and not self.finished:
            self.finished = True
            assert self._play is not None
            result = self._play.result(self._link.watch.log, self._own.out)
            self.get_logger().info(f"the scenario is over: {result['end']}")

    def _run(self, command: int, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._topics.run(pack_run_control(command))
        response.success, response.message = True, "sent to CARLA"
        return response


def _play(own: CarlaParameters, road_map: RoadMap, topics: CarlaTopics, report: Callable[[str], None]) -> Play:
    scenario = read_scenario(own.scenario, own.overrides)
    return Play(road_map, scenario, own.seed, own.vehicle, own.role, topics, report)
