"""Stands in for CARLA and its ROS bridge in synchronous mode: the same topics, services and loop, a car of its own."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from patience import PATIENCE_S

from ros.carla_car import MAX_STEER, REAR, WHEELBASE, Car, Thing
from ros.carla_types import StandInTypes, carla_object
from tuling_fsm.core.geometry import Pose
from tuling_fsm.wire.carla import messages
from tuling_fsm.wire.carla.actors import PAUSE, PLAY, STEP_ONCE
from tuling_fsm.wire.carla.messages import HEARD, new, packed, topic_name
from tuling_fsm.wire.cdr import TYPES, header, pose_message, pose_value, unpack

DT_NS = 50_000_000
FIRST_PATIENCE_S, MORE_PATIENCE = 0.2, 1.1
"""How long a command is waited for while not all nodes have found one another, and by how much longer the next time."""


@dataclass
class StandInCarla:
    """A CARLA world on a node: `tick` makes one frame, and waits for its command as carla-ros-bridge does.

    Args:
        node: whose topics these are.
        spin: serves the node for a moment.
        role: of the ego.
        ego: where its rear axle is; None where it will be spawned.
        lights: number, pole, centre of the trigger volume ahead of it (m).
    """

    node: Any
    spin: Any
    role: str = "ego_vehicle"
    ego: Pose | None = None
    lights: dict[int, Pose] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from tuling_fsm.ros.qos import profile

        types = StandInTypes()
        self.ns = 123_450_000_000
        self.car = None if self.ego is None else Car(self.ego)
        self.things: dict[int, Thing] = {}
        self.others: dict[int, tuple[Pose, float]] = {}
        self.light_states: dict[int, int] = dict.fromkeys(self.lights, 2)
        self.ticks: list[int] = []
        self.commands: list[Any] = []
        self.last: Any = None
        self.weather: list[Any] = []
        self.patience = PATIENCE_S
        self.alone: Callable[[], bool] = lambda: False
        """Whether there is no bridge any more to send a command."""
        self.running, self.steps = True, 0
        self.wanted: list[tuple[str, bytes]] = []
        self.publishers = {
            t.name: self.node.create_publisher(types.message(t.type), topic_name(t, self.role), profile(t.qos))
            for t in HEARD
            if t.name not in ("{role}/odometry", "{role}/objects", "weather_control")
        }
        if self.car is not None:
            self._make_sensors()
        for topic, take in ((messages.COMMAND, self._command), (messages.RUN, self._run)):
            name = topic_name(topic, self.role)
            self.node.create_subscription(types.message(topic.type), name, take, profile(topic.qos), raw=True)
        wishes = topic_name(messages.WEATHER_WISH, "")
        self.node.create_subscription(types.message(messages.WEATHER), wishes, self._weather, 10, raw=True)
        self.node.create_service(types.service(messages.SPAWN), "/carla/spawn_object", self._spawn)
        self.node.create_service(types.service(messages.DESTROY), "/carla/destroy_object", self._destroy)
        self._said_lights: dict[int, int] = {}
        if self.lights:
            self._say_lights_info()

    def tick(self) -> None:
        """One frame: move by the latest command, publish, wait for the command of this frame."""
        self.ns += DT_NS
        expected = self.car is not None
        if self.commands:
            self.last = self.commands[-1]
        if self.car is not None and self.last is not None:
            self.car.drive(self.last, DT_NS / 1e9)
        self.publish("status", messages.STATUS, frame=len(self.ticks), fixed_delta_seconds=0.05, synchronous_mode=True,
                     synchronous_mode_running=True)  # fmt: skip
        if self.light_states != self._said_lights:
            self._say_light_states()
        if not expected:
            self._wait(lambda: False, 0.002)
            return
        self.ticks.append(self.ns)
        self._say_ego()
        before = len(self.commands)
        self._wait(lambda: len(self.commands) > before or self.alone(), self.patience)

    def begin(self, speed: float = 0.0) -> None:
        """Tick until the bridge answers, as it has to find all nodes first, and the car has a speed; from then on
        everything counts.
        """
        self.patience = FIRST_PATIENCE_S
        while (
            not (answered := bool(self.ticks) and self.answered_stamps()[-1:] == self.ticks[-1:]) or self.car.v < speed
        ):
            if not answered:
                self.patience *= MORE_PATIENCE
                assert self.patience < PATIENCE_S, "it does not begin"
            self.tick()
        self.patience = PATIENCE_S
        self.tick()
        self.last, self.ticks, self.commands = self.commands[-1], [], []

    def has_ticked(self, count: int) -> bool:
        """Whether so many ticks have been counted."""
        return len(self.ticks) >= count

    def is_heard(self) -> bool:
        """Whether the bridge hears of the ego, and is heard."""
        heard = [p for name, p in self.publishers.items() if name.startswith("{role}/v") or name.endswith("metry")]
        commands = topic_name(messages.COMMAND, self.role)
        return all(p.get_subscription_count() for p in heard) and bool(self.node.count_publishers(commands))

    def answered_stamps(self) -> list[int]:
        return [c.header.stamp.sec * 1_000_000_000 + c.header.stamp.nanosec for c in self.commands]

    def poses(self) -> dict[str, Pose]:
        """Of all actors by role name."""
        return {thing.name: thing.pose for thing in self.things.values() if not thing.parent}

    def see_off(self, bridge: Any) -> str:
        """Go on ticking while the bridge is told to end; what it has said."""
        self.alone = lambda: bridge.poll() is not None
        bridge.send_signal(signal.SIGTERM)
        while not self.alone():
            self.tick()
        said, _ = bridge.communicate(timeout=PATIENCE_S)
        return str(said)

    def publish(self, name: str, type_name: str, **fields: Any) -> None:
        self.publishers[name].publish(packed(type_name, **fields))

    def say_info(self) -> None:
        def wheel(x: float, y: float) -> Any:
            vector = TYPES["geometry_msgs/msg/Vector3"](x, y, 0.0)
            return new("carla_msgs/msg/CarlaEgoVehicleInfoWheel", tire_friction=3.5, damping_rate=0.25,
                       max_steer_angle=MAX_STEER if x > 0.0 else 0.0, radius=0.35, max_brake_torque=1500.0,
                       max_handbrake_torque=3000.0, position=vector)  # fmt: skip

        wheels = [wheel(REAR + x, y) for x in (WHEELBASE, 0.0) for y in (0.8, -0.8)]
        numbers = dict.fromkeys(
            ("max_rpm", "moi", "damping_rate_full_throttle", "damping_rate_zero_throttle_clutch_engaged",
             "damping_rate_zero_throttle_clutch_disengaged", "gear_switch_time", "clutch_strength", "mass",
             "drag_coefficient"), 1.0,
        )  # fmt: skip
        self.publish("{role}/vehicle_info", messages.INFO, id=1, type="vehicle.tesla.model3", rolename=self.role,
                     wheels=wheels, use_gear_autobox=True, **numbers,
                     center_of_mass=TYPES["geometry_msgs/msg/Vector3"](0.0, 0.0, 0.0))  # fmt: skip

    def _make_sensors(self) -> None:
        from tuling_fsm.ros.qos import profile

        types = StandInTypes()
        for t in HEARD:
            if t.name in ("{role}/odometry", "{role}/objects"):
                name = topic_name(t, self.role)
                self.publishers[t.name] = self.node.create_publisher(types.message(t.type), name, profile(t.qos))
        self._placer(self.role, lambda pose: self.car.put(pose) if self.car else None)
        self.say_info()

    def _placer(self, name: str, put: Any) -> None:
        from tuling_fsm.ros.qos import profile

        def place(raw: bytes) -> None:
            put(pose_value(unpack(raw, messages.POSE, "set_transform"), "set_transform"))

        topic = messages.SET_TRANSFORM
        types = StandInTypes()
        self.node.create_subscription(
            types.message(topic.type), topic_name(topic, name), place, profile(topic.qos), raw=True
        )

    def _say_ego(self) -> None:
        assert self.car is not None
        status_header = header(self.ns, "map")
        vector, accel = TYPES["geometry_msgs/msg/Vector3"], TYPES["geometry_msgs/msg/Accel"]
        nothing = new(messages.CONTROL, header=header(0, ""), throttle=0.0, steer=0.0, brake=0.0, hand_brake=False,
                      reverse=False, gear=0, manual_gear_shift=False)  # fmt: skip
        self.publish("{role}/vehicle_status", messages.VEHICLE_STATUS, header=status_header, velocity=abs(self.car.v),
                     acceleration=accel(vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)),
                     orientation=pose_message(self.car.origin).orientation, control=nothing)  # fmt: skip
        if "{role}/odometry" not in self.publishers:
            return
        objects = [self._object(number, *other) for number, other in self.others.items()]
        objects += [self._object(n, t.pose, 0.0) for n, t in self.things.items() if t.type.startswith(("veh", "walk"))]
        self.publish("{role}/objects", messages.OBJECT_ARRAY, header=status_header, objects=objects)
        twist = TYPES["geometry_msgs/msg/Twist"](vector(self.car.v, 0.0, 0.0), vector(0.0, 0.0, self.car.yaw_rate))
        pose = TYPES["geometry_msgs/msg/PoseWithCovariance"](pose_message(self.car.origin), np.zeros(36))
        self.publish("{role}/odometry", "nav_msgs/msg/Odometry", header=status_header, child_frame_id=self.role,
                     pose=pose, twist=TYPES["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)))  # fmt: skip

    def _object(self, number: int, pose: Pose, v: float) -> Any:
        return carla_object(self.ns, number, pose, (v * math.cos(pose.heading), v * math.sin(pose.heading)))

    def _say_lights_info(self) -> None:
        vector = TYPES["geometry_msgs/msg/Vector3"]
        items = [
            new("carla_msgs/msg/CarlaTrafficLightInfo", id=number, transform=pose_message(pose),
                trigger_volume=new("carla_msgs/msg/CarlaBoundingBox", center=vector(0.0, 0.0, 0.0),
                                   size=vector(2.0, 3.0, 2.0)))
            for number, pose in self.lights.items()
        ]  # fmt: skip
        self.publish("traffic_lights/info", messages.LIGHT_INFO, traffic_lights=items)

    def _say_light_states(self) -> None:
        self._said_lights = dict(self.light_states)
        items = [new("carla_msgs/msg/CarlaTrafficLightStatus", id=n, state=s) for n, s in self._said_lights.items()]
        self.publish("traffic_lights/status", messages.LIGHT_STATUS, traffic_lights=items)

    def _command(self, raw: bytes) -> None:
        self.commands.append(unpack(raw, messages.CONTROL, "command"))

    def _weather(self, raw: bytes) -> None:
        self.weather.append(unpack(raw, messages.WEATHER, "weather_control"))

    def _run(self, raw: bytes) -> None:
        command = unpack(raw, messages.RUN_CONTROL, "control").command
        self.running = command == PLAY
        self.steps += command == STEP_ONCE
        assert command in (PLAY, PAUSE, STEP_ONCE)

    def run_until(self, done: Any) -> None:
        """The loop of carla-ros-bridge until something holds: ticks unless it is paused, one tick a step."""
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            assert time.monotonic() < deadline, "nothing came in time"
            if self.running or self.steps:
                self.steps = max(self.steps - 1, 0)
                self.tick()
            else:
                self.spin()

    def _spawn(self, request: Any, response: Any) -> Any:
        output = unpack(bytes.fromhex(request.load_namespace), "carla_msgs/msg/SpawnObjectRequest", "spawn")
        number, error = 100 + len(self.things), ""
        pose = pose_value(output.transform, "spawn")
        if output.attach_to and output.attach_to not in self.things:
            number, error = -1, f"Parent actor {output.attach_to} not found"
        else:
            self.things[number] = thing = Thing(output.type, output.id, pose, output.attach_to)
            if output.id == self.role:
                self.car = Car(pose)
                self.car.put(pose)
                del self.things[number]
                number = 99
                self.things[number] = Thing("ego", output.id, pose)
            if output.type == "actor.pseudo.control" and self.things[output.attach_to].type != "ego":
                parent = self.things[output.attach_to]
                self._placer(parent.name, lambda pose: setattr(parent, "pose", pose))
            if output.type == "sensor.pseudo.odom":
                self._make_sensors()
            assert thing
        raw = packed("carla_msgs/msg/SpawnObjectResponse", id=number, error_string=error)
        response.success, response.message = number >= 0, raw.hex()
        return response

    def _destroy(self, request: Any, response: Any) -> Any:
        output = unpack(bytes.fromhex(request.load_namespace), "carla_msgs/msg/DestroyObjectRequest", "destroy")
        gone = self.things.pop(output.id, None)
        response.success = gone is not None
        response.message = packed("carla_msgs/msg/DestroyObjectResponse", success=gone is not None).hex()
        return response

    def _wait(self, done: Any, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not done() and time.monotonic() < deadline:
            self.spin()
