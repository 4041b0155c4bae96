"""The node `carla_map`: writes the OpenDRIVE map of the CARLA world to a file, and ends."""

from __future__ import annotations

import time
from pathlib import Path

from rclpy.clock import Clock, ClockType

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, load
from tuling_fsm.ros.carla.parameters import CarlaMapParameters
from tuling_fsm.ros.carla.types import CarlaTypes
from tuling_fsm.ros.loop import ServedNode
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.qos import profile
from tuling_fsm.wire.carla.messages import HEARD, WORLD_INFO, topic_name
from tuling_fsm.wire.cdr import unpack

_POLL_S = 0.2


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
        self._own = load(CarlaMapParameters, settings.values)
        if not self._own.map_file:
            raise InputError("map_file", "not set", "a file to write")
        topic = next(each for each in HEARD if each.type == WORLD_INFO)
        name = topic_name(topic, "")
        self.create_subscription(types.message(topic.type), name, self._save, profile(topic.qos), raw=True)
        self._began = time.monotonic()
        self.create_timer(_POLL_S, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _save(self, raw: bytes) -> None:
        try:
            world = unpack(raw, WORLD_INFO, "world_info")
            Path(self._own.map_file).parent.mkdir(parents=True, exist_ok=True)
            Path(self._own.map_file).write_text(str(world.opendrive), encoding="utf-8")
        except (InputError, OSError) as error:
            self._end(f"{self._own.map_file}: {error}", 1)
            return
        self._end(f"{world.map_name} is in {self._own.map_file}", 0)

    def _poll(self) -> None:
        if not self.finished and time.monotonic() - self._began > self._own.timeout:
            self._end(f"no /carla/world_info within {self._own.timeout:g} s: is carla-ros-bridge running?", 1)

    def _end(self, said: str, exit_code: int) -> None:
        self.finished, self.exit_code = True, exit_code
        if exit_code:
            self.get_logger().error(said)
        else:
            self.get_logger().info(said)
