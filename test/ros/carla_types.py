"""CARLA's messages under the names of types that are installed.

carla_msgs and derived_object_msgs are in no package index. The serialized messages here are those of the real types,
byte for byte; only the name by which DDS knows a topic is that of a type which is installed, as is the service that
carries requests and answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.wire.carla.messages import new
from tuling_fsm.wire.cdr import TYPES, header, pose_message

CAR, BOX = 6, 1


class StandInTypes:
    """Installed types that carry the serialized messages of those that are not."""

    def message(self, name: str) -> Any:
        from std_msgs.msg import String

        from tuling_fsm.ros.qos import message_class

        return String if name.startswith(("carla_msgs/", "derived_object_msgs/")) else message_class(name)

    def service(self, name: str) -> Any:
        from diagnostic_msgs.srv import AddDiagnostics

        return AddDiagnostics

    def request(self, name: str, raw: bytes) -> Any:
        return self.service(name).Request(load_namespace=raw.hex())

    def response(self, name: str, response: Any) -> bytes:
        return bytes.fromhex(response.message)


def carla_object(ns: int, number: int, pose: Pose, velocity: tuple[float, float], kind: int = CAR) -> Any:
    """An object as CARLA describes it."""
    vector = TYPES["geometry_msgs/msg/Vector3"]
    nothing = vector(0.0, 0.0, 0.0)
    shape = TYPES["shape_msgs/msg/SolidPrimitive"](
        type=BOX, dimensions=np.array([4.8, 2.1, 1.5]), polygon=TYPES["geometry_msgs/msg/Polygon"]([])
    )
    return new(
        "derived_object_msgs/msg/Object", header=header(ns, "map"), id=number, detection_level=0,
        object_classified=True, pose=pose_message(pose),
        twist=TYPES["geometry_msgs/msg/Twist"](vector(*velocity, 0.0), nothing),
        accel=TYPES["geometry_msgs/msg/Accel"](nothing, nothing), polygon=TYPES["geometry_msgs/msg/Polygon"]([]),
        shape=shape, classification=kind, classification_certainty=255, classification_age=7,
    )  # fmt: skip
