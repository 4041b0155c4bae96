"""How fast a motion may lead towards what stands: never so fast that the car would be there within a second if it went
on as it goes.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.core.rectangles import Rectangle, rectangle, rectangles_apart
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import PCOS, PKAPPA, PSIN, PX, PY

KEEP_S = 1.25
"""Time to collision with what stands ahead that is kept, s: nuPlan's bound is 0.95 ([caesar2021][]), and the car
follows its plan a little late.
"""
TURNS = 0.8
"""A car as slow as this (m/s) turns where it is about to: out of a bay nobody goes straight on into the car ahead."""
SLOWEST = 0.1
"""No slower than this, m/s."""
FLAT = 1e-6
"""What turns by less (rad) goes straight on."""
TOUCHES_M = 0.01
"""Bodies so near to each other touch."""
BOX = 6
"""Columns of a box here: x, y (m), cosine and sine of its heading, half its length and width (m)."""


def limit_approach(limit: FloatArray, path: FloatArray, scene: Scene, body: Footprint) -> None:
    """Lower the speeds (n,), m/s, along a path (n, PATH) in directions of travel towards what the car would meet if it
    went straight on, or on as it turns, from there. `body` is as seen in the direction of travel.
    """
    boxes = _near(standing_boxes(scene), path, KEEP_S * float(limit.max()) + 2.0 * body.half_length)
    _limit_speeds(limit, path, body, boxes)


def _near(boxes: FloatArray, path: FloatArray, reach: float) -> FloatArray:
    """Those within reach (m) of the rectangle around a path."""
    low = path[:, [PX, PY]].min(axis=0) - reach
    high = path[:, [PX, PY]].max(axis=0) + reach
    half = (boxes[:, 4] + boxes[:, 5])[:, None]
    return boxes[np.all((boxes[:, :2] + half > low) & (boxes[:, :2] - half < high), axis=1)]


def standing_boxes(scene: Scene) -> FloatArray:
    """What stands around, (N, BOX)."""
    around = scene.obstacles
    rows = np.flatnonzero(np.abs(around.speed) < HELD)
    heading = around.heading[rows, 0]
    sine, cosine = elementwise.sin_cos(heading)
    return np.column_stack(
        (around.x[rows, 0], around.y[rows, 0], cosine, sine,
         0.5 * around.length[rows], 0.5 * around.width[rows])
    )  # fmt: skip


@array_kernel
def _limit_speeds(limit: FloatArray, path: FloatArray, body: Footprint, boxes: FloatArray) -> None:
    for i in range(len(path)):
        straight = turning = KEEP_S * limit[i]
        for b in range(len(boxes)):
            straight = _room_ahead(path[i], 0.0, body, boxes[b], straight)
            turning = _room_ahead(path[i], path[i, PKAPPA], body, boxes[b], turning)
        limit[i] = min(limit[i], max(straight / KEEP_S, TURNS), max(turning / KEEP_S, SLOWEST))


@kernel
def _room_ahead(point: FloatArray, kappa: float, body: Footprint, box: FloatArray, reach: float) -> float:
    """How far (m) a body with its rear axle at a point can go on an arc before it touches a box, up to `reach`."""
    farthest = abs(body.middle) + body.half_length + body.half_width
    if elementary.hypot(box[0] - point[PX], box[1] - point[PY]) > reach + farthest + box[4] + box[5]:
        return reach
    swings, gone = 1.0 + abs(kappa) * farthest, 0.0
    while gone < reach:
        half_turn = 0.5 * kappa * gone
        s, c = elementary.sin_cos(half_turn)
        cos, sin = point[PCOS] * c - point[PSIN] * s, point[PSIN] * c + point[PCOS] * s
        chord = gone if abs(half_turn) < FLAT else gone * s / half_turn
        x, y = point[PX] + chord * cos, point[PY] + chord * sin
        cos, sin = cos * c - sin * s, sin * c + cos * s
        cx, cy = x + body.middle * cos, y + body.middle * sin
        apart = rectangles_apart(Rectangle(cx, cy, cos, sin, body.half_length, body.half_width), rectangle(box))
        if apart < TOUCHES_M:
            break
        gone += apart / swings
    return float(min(gone, reach))
