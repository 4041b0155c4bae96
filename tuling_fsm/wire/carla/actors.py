"""Spawning, placing and removing actors in CARLA by the services of carla-ros-bridge."""

from __future__ import annotations

import math
from typing import NamedTuple

from tuling_fsm.core.geometry import Pose
from tuling_fsm.wire.carla.messages import POSE, RUN_CONTROL, WEATHER, new, packed
from tuling_fsm.wire.cdr import TYPES, half_angle, unpack
from tuling_fsm.world.inputs import Kind

PLAY, PAUSE, STEP_ONCE = 0, 1, 2
"""`CarlaControl.command`."""
ODOMETRY_SENSOR, OBJECTS_SENSOR = "sensor.pseudo.odom", "sensor.pseudo.objects"
LIGHTS_SENSOR, PLACER = "sensor.pseudo.traffic_lights", "actor.pseudo.control"
RAIN_MM_PER_HOUR = 8.0
"""This much and more is CARLA's full precipitation."""
FOG_CLEAR_M = 300.0
WET, FOGGY = 20.0, 20.0
"""Precipitation and fog density (of 100) from which on the planner is told of rain or fog."""


class Blueprint(NamedTuple):
    """A type of CARLA's library and its length, m."""

    type: str
    length: float


BLUEPRINTS: dict[Kind, tuple[Blueprint, ...]] = {
    Kind.CAR: (
        Blueprint("vehicle.micro.microlino", 2.2),
        Blueprint("vehicle.audi.a2", 3.7),
        Blueprint("vehicle.tesla.model3", 4.8),
        Blueprint("vehicle.mercedes.sprinter", 5.9),
    ),
    Kind.TRUCK: (
        Blueprint("vehicle.carlamotors.carlacola", 5.2),
        Blueprint("vehicle.carlamotors.firetruck", 8.5),
    ),
    Kind.BUS: (Blueprint("vehicle.volkswagen.t2", 4.5), Blueprint("vehicle.mitsubishi.fusorosa", 10.3)),
    Kind.MOTORCYCLE: (Blueprint("vehicle.yamaha.yzf", 2.2),),
    Kind.BICYCLE: (Blueprint("vehicle.diamondback.century", 1.6),),
    Kind.PEDESTRIAN: (Blueprint("walker.pedestrian.0001", 0.4),),
    Kind.CONE: (Blueprint("static.prop.constructioncone", 0.3),),
    Kind.BARRIER: (Blueprint("static.prop.streetbarrier", 1.2),),
    Kind.DEBRIS: (Blueprint("static.prop.dirtdebris01", 1.0),),
}


def blueprint(kind: Kind, length: float) -> str:
    """The type of that kind whose length (m) is nearest; a car for a kind that CARLA has not."""
    return min(BLUEPRINTS.get(kind, BLUEPRINTS[Kind.CAR]), key=lambda each: abs(each.length - length)).type


def pack_spawn(type_name: str, name: str, pose: Pose | None = None, z: float = 0.0, attach_to: int = 0) -> bytes:
    """The request of `SpawnObject`; `name` becomes the role name, and so a part of topic names. Without a pose it is
    one of CARLA's own places, or where what it is attached to has its origin.
    """
    return packed(
        "carla_msgs/msg/SpawnObjectRequest",
        type=type_name,
        id=name,
        attributes=[],
        transform=_pose_message(pose or Pose(0.0, 0.0, 0.0), z),
        attach_to=attach_to,
        random_pose=pose is None and attach_to == 0,
    )


def unpack_spawned(raw: bytes) -> tuple[int, str]:
    """CARLA's number of the new actor and what went wrong; the number is -1 then."""
    message = unpack(raw, "carla_msgs/msg/SpawnObjectResponse", "spawn_object")
    return int(message.id), str(message.error_string)


def pack_destroy(number: int) -> bytes:
    """The request of `DestroyObject`."""
    return packed("carla_msgs/msg/DestroyObjectRequest", id=number)


def pack_pose(pose: Pose, z: float) -> bytes:
    """A `Pose` for `set_transform`."""
    point, turn = _parts(pose, z)
    return packed(POSE, position=point, orientation=turn)


def pack_run_control(command: int) -> bytes:
    """`CarlaControl`: one of `PLAY`, `PAUSE`, `STEP_ONCE`."""
    return packed(RUN_CONTROL, command=command)


def pack_weather(rain: float, visual_range: float) -> bytes:
    """`CarlaWeatherParameters` for rain (m/s of water) and fog (visual range in m, infinite for none) at noon."""
    precipitation = min(100.0 * rain * 3.6e6 / RAIN_MM_PER_HOUR, 100.0)
    fog = 100.0 * min(max(1.0 - visual_range / FOG_CLEAR_M, 0.0), 1.0) if math.isfinite(visual_range) else 0.0
    return packed(
        WEATHER,
        cloudiness=max(precipitation, 10.0),
        precipitation=precipitation,
        precipitation_deposits=precipitation,
        wind_intensity=10.0,
        fog_density=fog,
        fog_distance=0.0,
        wetness=precipitation,
        sun_azimuth_angle=0.0,
        sun_altitude_angle=60.0,
    )


def unpack_rain_fog(raw: bytes) -> bool:
    """Whether a `CarlaWeatherParameters` means rain or fog to the planner."""
    message = unpack(raw, WEATHER, "weather_control")
    return bool(message.precipitation >= WET or message.fog_density >= FOGGY)


def _parts(pose: Pose, z: float) -> tuple[object, object]:
    turn_z, turn_w = half_angle(pose.heading)
    point = TYPES["geometry_msgs/msg/Point"](pose.x, pose.y, z)
    return point, TYPES["geometry_msgs/msg/Quaternion"](0.0, 0.0, turn_z, turn_w)


def _pose_message(pose: Pose, z: float) -> object:
    point, turn = _parts(pose, z)
    return new(POSE, position=point, orientation=turn)
