"""`derived_object_msgs/msg/ObjectArray` as rows of the topic `objects`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import MAP_FRAME
from tuling_fsm.wire.carla.messages import OBJECT_ARRAY
from tuling_fsm.wire.cdr import check_frame, pose_value, unpack
from tuling_fsm.world.inputs import OBJECTS, Kind, Source, StampedRows

KINDS = {
    4: Kind.PEDESTRIAN,
    5: Kind.BICYCLE,
    6: Kind.CAR,
    7: Kind.TRUCK,
    8: Kind.MOTORCYCLE,
    9: Kind.CAR,
    10: Kind.BARRIER,
}
"""By `classification`; other vehicles count as cars, whatever else is unknown."""
BOX = 1
"""`shape_msgs/msg/SolidPrimitive`."""
LEAST_SIZE_M = 0.3
SOURCES = Source.LIDAR | Source.RADAR | Source.CAMERA
"""What CARLA tells is the truth, as if every sensor had seen it."""


def unpack_objects(raw: bytes) -> StampedRows:
    """Boxes by their centre, velocities in `map` as they are sent.

    Raises:
        InputError: another frame, a value that is not finite, a shape that is no box.
    """
    message = unpack(raw, OBJECT_ARRAY, "objects of CARLA")
    stamp = check_frame(message.header, MAP_FRAME, "objects of CARLA")
    rows = np.zeros(len(message.objects), OBJECTS)
    for row, item in zip(rows, message.objects, strict=True):
        where = f"objects of CARLA: {item.id}"
        pose, size = pose_value(item.pose, where), item.shape.dimensions
        if item.shape.type != BOX or len(size) < 2:
            raise InputError(where, f"shape {item.shape.type} of {len(size)} dimensions", "a box")
        row["id"], row["kind"] = item.id, KINDS.get(int(item.classification), Kind.UNKNOWN)
        row["x"], row["y"], row["heading"] = pose
        row["vx"], row["vy"] = item.twist.linear.x, item.twist.linear.y
        row["length"], row["width"] = max(size[0], LEAST_SIZE_M), max(size[1], LEAST_SIZE_M)
    _check(rows)
    rows["source"], rows["existence"] = SOURCES, 1.0
    return StampedRows(stamp, rows)


def _check(rows: npt.NDArray[np.void]) -> None:
    for name in ("vx", "vy", "length", "width"):
        if not np.isfinite(rows[name]).all():
            row = int(np.argmin(np.isfinite(rows[name])))
            raise InputError(f"objects of CARLA: {rows['id'][row]}", f"{name} is not finite", "a finite number")
