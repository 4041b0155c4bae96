"""The messages and services of carla-ros-bridge that are used, by their fields (`carla_msgs` and `derived_object_msgs`
of its ROS 2 branch), and its topics.

Nothing of those packages is imported here: a message is read and written as its serialized bytes.
"""

from __future__ import annotations

from typing import Any

from rosbags.typesys import get_types_from_msg

from tuling_fsm.core.topics import ODOMETRY, PATH, Qos, Topic
from tuling_fsm.wire.cdr import STORE, pack

INFO = "carla_msgs/msg/CarlaEgoVehicleInfo"
CONTROL = "carla_msgs/msg/CarlaEgoVehicleControl"
VEHICLE_STATUS = "carla_msgs/msg/CarlaEgoVehicleStatus"
LIGHT_STATUS = "carla_msgs/msg/CarlaTrafficLightStatusList"
LIGHT_INFO = "carla_msgs/msg/CarlaTrafficLightInfoList"
WORLD_INFO = "carla_msgs/msg/CarlaWorldInfo"
STATUS = "carla_msgs/msg/CarlaStatus"
RUN_CONTROL = "carla_msgs/msg/CarlaControl"
WEATHER = "carla_msgs/msg/CarlaWeatherParameters"
OBJECT_ARRAY = "derived_object_msgs/msg/ObjectArray"
POSE = "geometry_msgs/msg/Pose"
SPAWN = "carla_msgs/srv/SpawnObject"
DESTROY = "carla_msgs/srv/DestroyObject"

_VECTOR, _HEADER = "geometry_msgs/msg/Vector3", "std_msgs/msg/Header"
_DEFINITIONS = {
    "carla_msgs/msg/CarlaEgoVehicleInfoWheel": "float32 tire_friction\nfloat32 damping_rate\nfloat32 max_steer_angle\n"
    f"float32 radius\nfloat32 max_brake_torque\nfloat32 max_handbrake_torque\n{_VECTOR} position",
    INFO: "uint32 id\nstring type\nstring rolename\ncarla_msgs/msg/CarlaEgoVehicleInfoWheel[] wheels\n"
    "float32 max_rpm\nfloat32 moi\nfloat32 damping_rate_full_throttle\n"
    "float32 damping_rate_zero_throttle_clutch_engaged\nfloat32 damping_rate_zero_throttle_clutch_disengaged\n"
    "bool use_gear_autobox\nfloat32 gear_switch_time\nfloat32 clutch_strength\nfloat32 mass\n"
    f"float32 drag_coefficient\n{_VECTOR} center_of_mass",
    CONTROL: f"{_HEADER} header\nfloat32 throttle\nfloat32 steer\nfloat32 brake\nbool hand_brake\nbool reverse\n"
    "int32 gear\nbool manual_gear_shift",
    VEHICLE_STATUS: f"{_HEADER} header\nfloat32 velocity\ngeometry_msgs/msg/Accel acceleration\n"
    f"geometry_msgs/msg/Quaternion orientation\n{CONTROL} control",
    "carla_msgs/msg/CarlaTrafficLightStatus": "uint32 id\nuint8 state",
    LIGHT_STATUS: "carla_msgs/msg/CarlaTrafficLightStatus[] traffic_lights",
    "carla_msgs/msg/CarlaBoundingBox": f"{_VECTOR} center\n{_VECTOR} size",
    "carla_msgs/msg/CarlaTrafficLightInfo": f"uint32 id\n{POSE} transform\n"
    "carla_msgs/msg/CarlaBoundingBox trigger_volume",
    LIGHT_INFO: "carla_msgs/msg/CarlaTrafficLightInfo[] traffic_lights",
    WORLD_INFO: "string map_name\nstring opendrive",
    STATUS: "uint64 frame\nfloat32 fixed_delta_seconds\nbool synchronous_mode\nbool synchronous_mode_running",
    RUN_CONTROL: "int8 command",
    WEATHER: "float32 cloudiness\nfloat32 precipitation\nfloat32 precipitation_deposits\nfloat32 wind_intensity\n"
    "float32 fog_density\nfloat32 fog_distance\nfloat32 wetness\nfloat32 sun_azimuth_angle\nfloat32 sun_altitude_angle",
    "derived_object_msgs/msg/Object": f"{_HEADER} header\nuint32 id\nuint8 detection_level\nbool object_classified\n"
    f"{POSE} pose\ngeometry_msgs/msg/Twist twist\ngeometry_msgs/msg/Accel accel\ngeometry_msgs/msg/Polygon polygon\n"
    "shape_msgs/msg/SolidPrimitive shape\nuint8 classification\nuint8 classification_certainty\n"
    "uint32 classification_age",
    OBJECT_ARRAY: f"{_HEADER} header\nderived_object_msgs/msg/Object[] objects",
    "carla_msgs/msg/SpawnObjectRequest": "string type\nstring id\ndiagnostic_msgs/msg/KeyValue[] attributes\n"
    f"{POSE} transform\nuint32 attach_to\nbool random_pose",
    "carla_msgs/msg/SpawnObjectResponse": "int32 id\nstring error_string",
    "carla_msgs/msg/DestroyObjectRequest": "int32 id",
    "carla_msgs/msg/DestroyObjectResponse": "bool success",
}
for _name, _text in _DEFINITIONS.items():
    STORE.register(get_types_from_msg(_text, _name))

TEN = Qos(depth=10)
LATEST = Qos(latched=True, depth=10)

HEARD = (
    Topic("world_info", WORLD_INFO, LATEST, "/carla/world_info: the map in OpenDRIVE"),
    Topic("status", STATUS, TEN, "/carla/status: frame, length of a frame, whether it runs"),
    Topic("traffic_lights/info", LIGHT_INFO, LATEST, "/carla/traffic_lights/info: where the lights stand"),
    Topic("traffic_lights/status", LIGHT_STATUS, LATEST, "/carla/traffic_lights/status: only on change"),
    Topic("weather_control", WEATHER, TEN, "/carla/weather_control: what the weather is set to"),
    Topic("{role}/vehicle_status", VEHICLE_STATUS, TEN, "/carla/{role}/vehicle_status: the ego is there"),
    Topic("{role}/vehicle_info", INFO, LATEST, "/carla/{role}/vehicle_info: wheels"),
    Topic("{role}/waypoints", PATH, Qos(latched=True), "/carla/{role}/waypoints: a route"),
    Topic("{role}/objects", OBJECT_ARRAY, TEN, "/carla/{role}/objects: all agents but the ego"),
    Topic("{role}/odometry", ODOMETRY, TEN, "/carla/{role}/odometry: the ego; every message is a tick"),
)
"""Below `/carla/`, in the order in which they have to be served: what the odometry needs comes before it."""

COMMAND = Topic("{role}/vehicle_control_cmd", CONTROL, TEN, "one command a tick")
RUN = Topic("control", RUN_CONTROL, TEN, "play, pause, step once")
WEATHER_WISH = Topic("weather_control", WEATHER, TEN, "a scenario's rain and fog")
SET_TRANSFORM = Topic("{role}/control/set_transform", POSE, TEN, "puts an actor somewhere")


def topic_name(topic: Topic, role: str) -> str:
    """The absolute name of a topic for the ego or an actor of that role name."""
    return "/carla/" + topic.name.format(role=role)


def new(type_name: str, **fields: Any) -> Any:
    """A message object with all its fields."""
    return STORE.types[type_name](**fields)


def packed(type_name: str, **fields: Any) -> bytes:
    """A serialized message with all its fields."""
    return pack(type_name, new(type_name, **fields))
