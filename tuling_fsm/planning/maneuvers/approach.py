"""How fast a motion may lead towards what stands beyond the end of a stretch: never so fast that the car would be there
within a second if it went on.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.rectangles import rectangles_apart
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import PCOS, PS, PSIN, PX, PY
from tuling_fsm.planning.speed.stopping import STANDS

KEEP_S = 1.25
"""Time to collision with what stands ahead that is kept, s: nuPlan's bound is 0.95 ([caesar2021][]), and the car
follows its plan a little late.
"""
SLOWEST = 0.1
"""Down to this speed (m/s) at the end."""
TOUCHES_M = 0.005
"""Bodies so near to each other touch."""
BOX = 6
"""Columns of a box here: x, y (m), cosine and sine of its heading, half its length and width (m)."""


def limit_approach(limit: FloatArray, path: FloatArray, stop_at: float, scene: Scene, body: Footprint) -> None:
    """Lower the speeds (n,), m/s, along a path (n, PATH) in directions of travel, which ends at a standstill at
    `stop_at` (m) or before, towards what stands straight ahead of its end. `body` is as seen in the direction of
    travel.
    """
    reach = KEEP_S * float(limit.max())
    end = path[min(int(np.searchsorted(path[:, PS], stop_at)), len(path) - 1)]
    room = room_ahead(end[PX], end[PY], end[PCOS], end[PSIN], body, standing_boxes(scene), reach)
    if room < reach:
        left = np.maximum(end[PS] + room - path[:, PS], 0.0)
        np.minimum(limit, np.maximum(left / KEEP_S, SLOWEST), out=limit)


def standing_boxes(scene: Scene) -> FloatArray:
    """What stands around, (N, BOX)."""
    around = scene.obstacles
    rows = np.flatnonzero(np.abs(around.speed) < STANDS)
    heading = around.heading[rows, 0]
    return np.column_stack(
        (around.x[rows, 0], around.y[rows, 0], elementwise.cos(heading), elementwise.sin(heading),
         0.5 * around.length[rows], 0.5 * around.width[rows])
    )  # fmt: skip


@kernel
def room_ahead(x: float, y: float, cos: float, sin: float, body: Footprint, boxes: FloatArray, reach: float) -> float:
    """How far (m) a body with its rear axle at a place can go straight on before it touches a box, up to `reach`."""
    room = reach
    for i in range(len(boxes)):
        box, gone = boxes[i], 0.0
        while gone < room:
            middle = body.middle + gone
            apart = rectangles_apart(
                x + middle * cos, y + middle * sin, cos, sin, body.half_length, body.half_width,
                box[0], box[1], box[2], box[3], box[4], box[5],
            )  # fmt: skip
            if apart < TOUCHES_M:
                break
            gone += apart
        room = min(room, gone)
    return float(max(room, 0.0))
