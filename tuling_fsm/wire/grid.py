"""`nav_msgs/msg/OccupancyGrid`."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import GRID, MAP_FRAME
from tuling_fsm.wire.cdr import TYPES, check_frame, header, pack, pose_message, pose_value, time_message, unpack
from tuling_fsm.world.inputs import Occupancy


def pack_occupancy(ns: int, grid: Occupancy) -> bytes:
    """Row by row, from the corner at the grid's origin."""
    height, width = grid.cells.shape
    info = TYPES["nav_msgs/msg/MapMetaData"](
        time_message(ns), grid.resolution, width, height, pose_message(grid.origin)
    )
    return pack(GRID, TYPES[GRID](header(ns, MAP_FRAME), info, np.ascontiguousarray(grid.cells, np.int8).ravel()))


def unpack_occupancy(raw: bytes) -> Occupancy:
    """The cells are a view of the message.

    Raises:
        InputError: another frame, cells that do not add up, no positive resolution, a value outside -1 to 100.
    """
    message = unpack(raw, GRID, "occupancy")
    stamp = check_frame(message.header, MAP_FRAME, "occupancy")
    resolution, width, height = float(message.info.resolution), int(message.info.width), int(message.info.height)
    if not 0.0 < resolution < 100.0:
        raise InputError("occupancy", f"resolution {resolution}", "a positive one, m")
    if width * height != len(message.data):
        raise InputError("occupancy", f"{len(message.data)} cells for {width} x {height}", f"{width * height}")
    cells = np.asarray(message.data, np.int8).reshape(height, width)
    if cells.size and (cells.min() < -1 or cells.max() > 100):
        raise InputError("occupancy", f"cells from {cells.min()} to {cells.max()}", "-1 to 100")
    return Occupancy(stamp, resolution, pose_value(message.info.origin, "occupancy"), cells)
