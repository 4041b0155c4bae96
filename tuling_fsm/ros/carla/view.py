"""What CARLA has told of the present tick, message by message. No ROS here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.wire.carla.actors import unpack_rain_fog
from tuling_fsm.wire.carla.lights import lights_table, match_lights, unpack_lights, unpack_states
from tuling_fsm.wire.carla.messages import STATUS
from tuling_fsm.wire.carla.objects import unpack_objects
from tuling_fsm.wire.carla.vehicle import AxleOffsets, EgoMotion, nominal_axles, unpack_axles, unpack_motion
from tuling_fsm.wire.cdr import stamp_ns, unpack
from tuling_fsm.wire.paths import unpack_path
from tuling_fsm.world.inputs import Light, RouteAnswer, StampedRows

PUSHED = -1
DEFAULT_DELTA_S, LONGEST_DELTA_S = 0.05, 1.0
WHEELBASE_OFF_M = 0.1


class CarlaView:
    """Keeps the latest of each topic.

    Args:
        road_map: its signals are looked for among CARLA's lights.
        vehicle: the planner's, until CARLA has told of the ego's wheels.
        report: told of what does not fit.
    """

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, report: Callable[[str], None]) -> None:
        self._map = road_map
        self._vehicle = vehicle
        self._report = report
        self.axles: AxleOffsets = nominal_axles(vehicle)
        self.motion: EgoMotion | None = None
        self.motion_ns = self.objects_ns = -1
        self.objects: StampedRows | None = None
        self.rain_fog = False
        self.delta = DEFAULT_DELTA_S
        """Length of a tick, s."""
        self.waypoints: RouteAnswer | None = None
        """A new way, until it is taken."""
        self._states: dict[int, Light] = {}
        self._numbers: dict[int, int] = {}
        self._take = {
            "status": self._status,
            "traffic_lights/info": self._light_info,
            "traffic_lights/status": self._light_states,
            "weather_control": self._weather,
            "{role}/vehicle_info": self._vehicle_info,
            "{role}/waypoints": self._waypoints,
            "{role}/objects": self._objects,
            "{role}/odometry": self._odometry,
        }
        self._reported_asynchronous = False

    def take(self, name: str, raw: bytes) -> None:
        """One message of a topic of `messages.HEARD`.

        Raises:
            InputError: it cannot be used.
        """
        if name in self._take:
            self._take[name](raw)

    def complete(self, ns: int) -> bool:
        """Whether all that a tick needs has come."""
        return self.motion_ns == ns and self.objects_ns == ns

    def lights(self) -> npt.NDArray[np.void]:
        """Rows of the topic `traffic_lights`, as of now: CARLA tells of changes only."""
        return lights_table(self._states, self._numbers)

    def _status(self, raw: bytes) -> None:
        status = unpack(raw, STATUS, "status")
        if 0.0 < status.fixed_delta_seconds < LONGEST_DELTA_S:
            self.delta = round(float(status.fixed_delta_seconds), 6)
        if not status.synchronous_mode and not self._reported_asynchronous:
            self._reported_asynchronous = True
            self._report("CARLA is not in synchronous mode: it does not wait for commands, and no run repeats")

    def _vehicle_info(self, raw: bytes) -> None:
        self.axles = unpack_axles(raw)
        real, planned = self.axles.wheelbase, self._vehicle.wheelbase
        if abs(real - planned) > WHEELBASE_OFF_M:
            what = f"the ego's wheelbase is {real:.2f} m, vehicle.wheelbase {planned:.2f} m"
            self._report(f"{what}: give planner and bridge the dimensions of this car")

    def _light_info(self, raw: bytes) -> None:
        lights = unpack_lights(raw)
        signals = list(self._map.signals.values())
        self._numbers = match_lights(lights, signals, self._map.stop_lines)
        dynamic = {signal.number for signal in signals if signal.dynamic}
        without = sorted(dynamic - set(self._numbers.values()))
        unknown = sorted({light.id for light in lights} - set(self._numbers))
        if without:
            self._report(f"CARLA has no light for the signals {without} of the map: the car takes them for red")
        if unknown:
            self._report(f"the map has no signal for the lights {unknown} of CARLA: the car does not see them")

    def _light_states(self, raw: bytes) -> None:
        self._states = unpack_states(raw)

    def _weather(self, raw: bytes) -> None:
        self.rain_fog = unpack_rain_fog(raw)

    def _waypoints(self, raw: bytes) -> None:
        stamp, points = unpack_path(raw, "waypoints")
        if len(points) > 1:
            self.waypoints = RouteAnswer(stamp, PUSHED, points)

    def _objects(self, raw: bytes) -> None:
        self.objects = unpack_objects(raw)
        self.objects_ns = stamp_ns(raw)

    def _odometry(self, raw: bytes) -> None:
        self.motion = unpack_motion(raw, self.axles)
        self.motion_ns = stamp_ns(raw)
