"""`nav_msgs/srv/GetPlan`: the question to the route server. Its answer is a Path; an empty one is a refusal."""

from __future__ import annotations

from typing import Any

from rosbags.typesys import get_types_from_msg

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import MAP_FRAME
from tuling_fsm.wire.cdr import STORE, TYPES, check_frame, header, pack, pose_message, pose_value, unpack

_STAMPED = "geometry_msgs/msg/PoseStamped"
_REQUEST = "nav_msgs/msg/GetPlanRequest"
STORE.register(get_types_from_msg(f"{_STAMPED} start\n{_STAMPED} goal\nfloat32 tolerance\n", _REQUEST))


def pack_plan_request(ns: int, start: Pose, goal: Pose) -> bytes:
    """The request part of the service, as its own message."""
    stamped = (TYPES[_STAMPED](header(ns, MAP_FRAME), pose_message(pose)) for pose in (start, goal))
    return pack(_REQUEST, STORE.types[_REQUEST](*stamped, 0.0))


def unpack_plan_request(raw: bytes) -> tuple[Pose, Pose]:
    """Start and goal in `map`.

    Raises:
        InputError: another frame, a pose that is not finite.
    """
    message = unpack(raw, _REQUEST, "plan_route")
    return _pose(message.start, "start"), _pose(message.goal, "goal")


def _pose(message: Any, name: str) -> Pose:
    where = f"plan_route: {name}"
    check_frame(message.header, MAP_FRAME, where)
    pose = pose_value(message.pose, where)
    if abs(pose.x) > 1e7 or abs(pose.y) > 1e7:
        raise InputError(where, f"{pose.x:g}, {pose.y:g}", "a point of the map, m")
    return pose
