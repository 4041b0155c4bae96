"""CARLA's messages as bytes and as values."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ros.carla_types import carla_object

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.wire.carla import actors, messages
from tuling_fsm.wire.carla.messages import new, packed
from tuling_fsm.wire.carla.objects import SOURCES, unpack_objects
from tuling_fsm.wire.carla.pedals import Pedals, pack_pedals
from tuling_fsm.wire.carla.vehicle import AxleOffsets, nominal_axles, unpack_axles, unpack_motion
from tuling_fsm.wire.cdr import TYPES, header, pose_message, pose_value, unpack
from tuling_fsm.world.inputs import Kind

pytestmark = pytest.mark.clause("CAR-1")

NS = 1_234_567_890
VECTOR = TYPES["geometry_msgs/msg/Vector3"]


def odometry(pose: Pose, v: float = 3.0, yaw_rate: float = 0.1, frame: str = "map", pitch: float = 0.0) -> bytes:
    message = pose_message(pose)
    half_yaw, half_pitch = 0.5 * pose.heading, 0.5 * pitch
    message.orientation = TYPES["geometry_msgs/msg/Quaternion"](
        -math.sin(half_pitch) * math.sin(half_yaw), math.sin(half_pitch) * math.cos(half_yaw),
        math.cos(half_pitch) * math.sin(half_yaw), math.cos(half_pitch) * math.cos(half_yaw),
    )  # fmt: skip
    message.position.z = 12.5
    twist = TYPES["geometry_msgs/msg/Twist"](VECTOR(v, 0.2, 0.0), VECTOR(0.0, 0.0, yaw_rate))
    return packed(
        "nav_msgs/msg/Odometry", header=header(NS, frame), child_frame_id="ego_vehicle",
        pose=TYPES["geometry_msgs/msg/PoseWithCovariance"](message, np.zeros(36)),
        twist=TYPES["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)),
    )  # fmt: skip


def objects(*items: object, frame: str = "map") -> bytes:
    return packed(messages.OBJECT_ARRAY, header=header(NS, frame), objects=list(items))


def wheels(*places: tuple[float, float], steer: float = 1.22) -> bytes:
    def wheel(x: float, y: float) -> object:
        return new(
            "carla_msgs/msg/CarlaEgoVehicleInfoWheel", tire_friction=3.5, damping_rate=0.25,
            max_steer_angle=steer if x > 0.0 else 0.0, radius=0.3, max_brake_torque=1.0, max_handbrake_torque=2.0,
            position=VECTOR(x, y, 0.3),
        )  # fmt: skip

    numbers = dict.fromkeys(
        ("max_rpm", "moi", "damping_rate_full_throttle", "damping_rate_zero_throttle_clutch_engaged",
         "damping_rate_zero_throttle_clutch_disengaged", "gear_switch_time", "clutch_strength", "mass",
         "drag_coefficient"), 1.0,
    )  # fmt: skip
    return packed(messages.INFO, id=7, type="vehicle.tesla.model3", rolename="ego_vehicle",
                  wheels=[wheel(*place) for place in places], use_gear_autobox=True,
                  center_of_mass=VECTOR(0.0, 0.0, 0.0), **numbers)  # fmt: skip


def test_a_command_is_laid_out_as_carla_lays_it_out():
    raw = pack_pedals(NS, Pedals(0.25, 0.0, -0.5, True))
    stamp = struct.pack("<iI", 1, 234_567_890)
    frame = struct.pack("<I", 1) + b"\0" + b"\0\0\0"
    body = struct.pack("<fff??xxi?", 0.25, -0.5, 0.0, False, True, -1, False)
    assert raw == b"\0\1\0\0" + stamp + frame + body


def test_a_light_and_the_run_control_are_laid_out_as_carla_lays_them_out():
    item = new("carla_msgs/msg/CarlaTrafficLightStatus", id=5, state=2)
    assert packed(messages.LIGHT_STATUS, traffic_lights=[item]) == b"\0\1\0\0" + struct.pack("<IIB", 1, 5, 2)
    assert actors.pack_run_control(actors.STEP_ONCE) == b"\0\1\0\0\2"
    assert actors.pack_destroy(-3) == b"\0\1\0\0" + struct.pack("<i", -3)


@given(
    x=st.floats(-1e4, 1e4), y=st.floats(-1e4, 1e4), heading=st.floats(-3.1, 3.1), v=st.floats(-5, 20),
    pitch=st.floats(-0.2, 0.2),
)  # fmt: skip
def test_the_odometry_of_the_origin_becomes_that_of_the_rear_axle(x, y, heading, v, pitch):
    axles = AxleOffsets(-1.4, 2.9, 1.2)
    motion = unpack_motion(odometry(Pose(x, y, heading), v, 0.1, pitch=pitch), axles)
    pose = motion.odometry.pose
    assert pose == pytest.approx((x - 1.4 * math.cos(heading), y - 1.4 * math.sin(heading), heading), abs=1e-6)
    assert shifted(pose, 1.4)[:2] == pytest.approx((x, y), abs=1e-6)
    assert (motion.odometry.stamp, motion.odometry.v, motion.odometry.yaw_rate, motion.z) == (NS / 1e9, v, 0.1, 12.5)
    assert motion.pitch == pytest.approx(-pitch, abs=1e-6)
    assert motion.odometry.position_std == 0.0


def test_axles_are_read_off_the_wheels():
    axles = unpack_axles(wheels((1.5, 0.8), (1.5, -0.8), (-1.4, 0.8), (-1.4, -0.8)))
    assert axles == pytest.approx((-1.4, 2.9, 1.22), abs=1e-6)
    vehicle = Vehicle()
    assert nominal_axles(vehicle).rear == pytest.approx(-(vehicle.length / 2.0 - vehicle.rear_overhang))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (wheels(), "wheels at"),
        (wheels((0.0, 0.0), (0.0, 0.0)), "two axles"),
        (wheels((1.5, 0.0), (-1.4, 0.0), steer=70.0), "radians"),
    ],
)
def test_wheels_that_say_nothing_are_refused(raw, said):
    with pytest.raises(InputError, match=said):
        unpack_axles(raw)


def test_odometry_in_another_frame_or_without_a_number_is_refused():
    axles = AxleOffsets(-1.4, 2.9, 1.2)
    with pytest.raises(InputError, match="frame_id 'odom'"):
        unpack_motion(odometry(Pose(0, 0, 0), frame="odom"), axles)
    with pytest.raises(InputError, match="v is nan"):
        unpack_motion(odometry(Pose(0, 0, 0), v=float("nan")), axles)


def test_objects_are_boxes_by_their_centre_with_velocities_in_the_map():
    near, walker = Pose(10.0, -3.0, 2.0), Pose(-4.0, 5.0, -1.0)
    table = unpack_objects(
        objects(carla_object(NS, 31, near, (-2.0, 1.5)), carla_object(NS, 32, walker, (0.0, -1.0), kind=4))
    )
    assert table.stamp == NS / 1e9
    car, person = table.rows
    assert (car["id"], car["kind"], person["kind"]) == (31, Kind.CAR, Kind.PEDESTRIAN)
    assert (car["x"], car["y"], car["heading"]) == pytest.approx(near)
    assert (car["vx"], car["vy"], person["vy"]) == (-2.0, 1.5, -1.0)
    assert (car["length"], car["width"]) == pytest.approx((4.8, 2.1))
    assert set(table.rows["source"]) == {SOURCES} and set(table.rows["existence"]) == {1.0}


@pytest.mark.parametrize("kind", range(13))
def test_every_classification_has_a_kind(kind):
    row = unpack_objects(objects(carla_object(NS, 1, Pose(0, 0, 0), (0.0, 0.0), kind))).rows[0]
    assert Kind(row["kind"]) is not Kind.UNKNOWN or kind in (0, 1, 2, 3, 11, 12)


def test_no_objects_are_an_empty_table_and_bad_ones_are_refused():
    assert len(unpack_objects(objects()).rows) == 0
    bad = carla_object(NS, 9, Pose(0.0, 0.0, 0.0), (float("inf"), 0.0))
    with pytest.raises(InputError, match="9: vx is not finite"):
        unpack_objects(objects(bad))
    round_one = carla_object(NS, 9, Pose(0.0, 0.0, 0.0), (0.0, 0.0))
    round_one.shape.type = 2
    with pytest.raises(InputError, match="a box"):
        unpack_objects(objects(round_one))
    with pytest.raises(InputError, match="frame_id"):
        unpack_objects(objects(frame="odom"))


def test_requests_for_actors_say_what_and_where():
    output = unpack(actors.pack_spawn("vehicle.audi.tt", "van", Pose(1.0, 2.0, 0.5), 3.0), SPAWN, "spawn")
    assert (output.type, output.id, output.attach_to, output.random_pose) == ("vehicle.audi.tt", "van", 0, False)
    assert pose_value(output.transform, "spawn") == pytest.approx((1.0, 2.0, 0.5))
    assert output.transform.position.z == 3.0
    assert unpack(actors.pack_spawn("vehicle.audi.tt", "van"), SPAWN, "spawn").random_pose
    assert not unpack(actors.pack_spawn("sensor.pseudo.odom", "odometry", attach_to=7), SPAWN, "spawn").random_pose
    answer = packed("carla_msgs/msg/SpawnObjectResponse", id=-1, error_string="no room")
    assert actors.unpack_spawned(answer) == (-1, "no room")
    assert pose_value(unpack(actors.pack_pose(Pose(1.0, 2.0, 0.5), 0.0), messages.POSE, "p"), "p")[2] == 0.5


SPAWN = "carla_msgs/msg/SpawnObjectRequest"


def test_a_blueprint_is_of_the_kind_and_the_nearest_length():
    assert actors.blueprint(Kind.CAR, 4.6) == "vehicle.tesla.model3"
    assert actors.blueprint(Kind.CAR, 7.0) == "vehicle.mercedes.sprinter"
    assert actors.blueprint(Kind.PEDESTRIAN, 0.5).startswith("walker.")
    assert actors.blueprint(Kind.CONE, 0.4).startswith("static.prop.")
    assert actors.blueprint(Kind.ANIMAL, 1.0).startswith("vehicle.")


def test_weather_goes_there_and_back():
    dry, wet = actors.pack_weather(0.0, math.inf), actors.pack_weather(8.0 / 3.6e6, math.inf)
    assert not actors.unpack_rain_fog(dry)
    assert actors.unpack_rain_fog(wet) and unpack(wet, messages.WEATHER, "w").precipitation == pytest.approx(100.0)
    assert actors.unpack_rain_fog(actors.pack_weather(0.0, 50.0))
    assert not actors.unpack_rain_fog(actors.pack_weather(0.0, 400.0))
