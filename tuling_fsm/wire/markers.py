"""What RViz and Foxglove show of a tick (`visualization_msgs/msg/MarkerArray`): path, targets, stop walls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, PlanningRequest, PullOver, Reason, StopWall
from tuling_fsm.core.topics import MAP_FRAME, MARKERS
from tuling_fsm.wire.cdr import TYPES, header, pack, pose_message
from tuling_fsm.wire.why import WORDS

_MARKER = "visualization_msgs/msg/Marker"
_POINT = "geometry_msgs/msg/Point"
_LIFETIME_NS = 1_000_000_000
"""A marker that is not sent again disappears after this time."""
_ORIGIN = Pose(0.0, 0.0, 0.0)
_NO_BYTES = np.zeros(0, np.uint8)


class MarkerShape(IntEnum):
    """`Marker.type`, those in use."""

    ARROW = 0
    LINE_STRIP = 4
    LINE_LIST = 5
    POINTS = 8
    TEXT = 9


@dataclass(frozen=True, eq=False)
class MarkerDrawing:
    """One marker in `map`: `points` (N, 2) m for lines and points, `pose` for arrows and words."""

    name: str
    shape: MarkerShape
    color: tuple[float, float, float]
    size: float
    points: FloatArray | None = None
    pose: Pose = _ORIGIN
    text: str = ""


def pack_markers(ns: int, drawings: tuple[MarkerDrawing, ...]) -> bytes:
    """Numbered in the order given, in a namespace for each name."""
    return pack(MARKERS, TYPES[MARKERS]([_marker(ns, number, drawing) for number, drawing in enumerate(drawings)]))


def _marker(ns: int, number: int, drawing: MarkerDrawing) -> Any:
    scale = TYPES["geometry_msgs/msg/Vector3"](drawing.size, drawing.size, drawing.size)
    if drawing.shape is MarkerShape.ARROW:
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


if TYPE_CHECKING:
    from tuling_fsm.agent import Tick

GREEN, GREY, RED, BLUE = (0.1, 0.8, 0.3), (0.6, 0.6, 0.6), (0.9, 0.1, 0.1), (0.2, 0.4, 1.0)
MAX_CANDIDATES = 200


def drawings(tick: Tick) -> tuple[MarkerDrawing, ...]:
    """The path first; what is not there is left out."""
    path = np.column_stack((tick.trajectory.x, tick.trajectory.y))
    drawn = [MarkerDrawing("path", MarkerShape.LINE_STRIP, GREEN, 0.3, path)]
    for name, color, won in (("candidates", GREY, False), ("winner", GREEN, True)):
        ends = [(c.x, c.y) for c in tick.result.candidates if (c.rejected is Reason.NONE) is won]
        if ends:
            drawn.append(MarkerDrawing(name, MarkerShape.POINTS, color, 0.3, np.array(ends[:MAX_CANDIDATES])))
    request = tick.decision.request
    drawn += [MarkerDrawing("target", MarkerShape.ARROW, BLUE, 0.5, pose=goal) for goal in _goals(request)]
    drawn += [drawing for wall in _walls(request) for drawing in _wall(wall)]
    return tuple(drawn)


def _goals(request: PlanningRequest) -> tuple[Pose, ...]:
    match request:
        case PullOver():
            return request.goals
        case FreeSpace():
            return (request.goal,)
        case FollowLanes() | Hold():
            return ()
        case _:
            assert_never(request)


def _walls(request: PlanningRequest) -> tuple[StopWall, ...]:
    match request:
        case FollowLanes() | FreeSpace() | PullOver():
            return request.walls
        case Hold():
            return ()
        case _:
            assert_never(request)


def _wall(wall: StopWall) -> tuple[MarkerDrawing, MarkerDrawing]:
    ends = np.array(((wall.x0, wall.y0), (wall.x1, wall.y1)))
    middle = Pose(0.5 * (wall.x0 + wall.x1), 0.5 * (wall.y0 + wall.y1), 0.0)
    words = ", ".join(filter(None, (WORDS[wall.reason], wall.detail)))
    return (
        MarkerDrawing("walls", MarkerShape.LINE_LIST, RED, 0.25, ends),
        MarkerDrawing("walls", MarkerShape.TEXT, RED, 0.8, pose=middle, text=words),
    )
