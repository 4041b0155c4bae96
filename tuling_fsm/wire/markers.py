"""`visualization_msgs/msg/MarkerArray`: lines, points and words for RViz and Foxglove."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.wire.cdr import TYPES, header, pack, pose_message
from tuling_fsm.wire.topics import MAP_FRAME, MARKERS

_MARKER = "visualization_msgs/msg/Marker"
_POINT = "geometry_msgs/msg/Point"
_LIFETIME_NS = 1_000_000_000
"""A marker that is not sent again disappears after this time."""
_ORIGIN = Pose(0.0, 0.0, 0.0)
_NO_BYTES = np.zeros(0, np.uint8)


class Shape(IntEnum):
    """`Marker.type`, those in use."""

    ARROW = 0
    LINE_STRIP = 4
    LINE_LIST = 5
    POINTS = 8
    TEXT = 9


@dataclass(frozen=True, eq=False)
class Drawing:
    """One marker in `map`: `points` (N, 2) m for lines and points, `pose` for arrows and words."""

    name: str
    shape: Shape
    color: tuple[float, float, float]
    size: float
    points: FloatArray | None = None
    pose: Pose = _ORIGIN
    text: str = ""


def pack_markers(ns: int, drawings: tuple[Drawing, ...]) -> bytes:
    """Numbered in the order given, in a namespace for each name."""
    return pack(MARKERS, TYPES[MARKERS]([_marker(ns, number, drawing) for number, drawing in enumerate(drawings)]))


def _marker(ns: int, number: int, drawing: Drawing) -> Any:
    scale = TYPES["geometry_msgs/msg/Vector3"](drawing.size, drawing.size, drawing.size)
    if drawing.shape is Shape.ARROW:
        scale = TYPES["geometry_msgs/msg/Vector3"](3.0 * drawing.size, drawing.size, drawing.size)
    rows = [] if drawing.points is None else drawing.points.tolist()
    lifetime = TYPES["builtin_interfaces/msg/Duration"](*divmod(_LIFETIME_NS, 1_000_000_000))
    return TYPES[_MARKER](
        header=header(ns, MAP_FRAME),
        ns=drawing.name,
        id=number,
        type=int(drawing.shape),
        action=0,
        pose=pose_message(drawing.pose),
        scale=scale,
        color=TYPES["std_msgs/msg/ColorRGBA"](*drawing.color, 1.0),
        lifetime=lifetime,
        frame_locked=False,
        points=[TYPES[_POINT](x, y, 0.0) for x, y in rows],
        colors=[],
        texture_resource="",
        texture=TYPES["sensor_msgs/msg/CompressedImage"](header(0, ""), "", _NO_BYTES),
        uv_coordinates=[],
        text=drawing.text,
        mesh_resource="",
        mesh_file=TYPES["visualization_msgs/msg/MeshFile"]("", _NO_BYTES),
        mesh_use_embedded_materials=False,
    )
