"""What the traffic expects of the ego: it comes no farther than to the tail of whoever is before it on its way."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.sim.traffic.collision import SAME_LEVEL_M
from tuling_fsm.sim.traffic.fleet import OFF
from tuling_fsm.sim.traffic.lane_graph import Records

SAME_WAY = 0.5
"""Cosine of the angle up to which two go the same way."""
BESIDE_M = 0.5
"""One is passed with this much room between the bodies; with less it is followed."""
_BODY = ["x", "y", "z", "heading", "length", "width", "v"]
_WHEN, _NUMBER, _PERSON = 7, 8, 9


def foresee(car: Records, boxes: FloatArray, number: int) -> tuple[FloatArray, IntArray]:
    """Leave out where the ego would have driven through somebody.

    Args:
        car: the vehicles of the traffic.
        boxes: (M, 10) as for `TrafficManager.step`.
        number: of the ego's boxes.

    Returns:
        Boxes that remain, and rows of the fleet that the ego is behind: it will not be before these.
    """
    own = (boxes[:, _NUMBER] == number) & (boxes[:, _PERSON] == 0.0)
    now, later = boxes[own & (boxes[:, _WHEN] == 0.0)], boxes[own & (boxes[:, _WHEN] > 0.0)]
    nobody = boxes, np.zeros(0, np.int64)
    if len(now) == 0 or len(later) == 0:
        return nobody
    table = np.asarray(car)
    rows = np.flatnonzero(table["mode"] != OFF)
    others = boxes[~own & (boxes[:, _WHEN] == 0.0)][:, : len(_BODY)]
    bodies = np.concatenate((np.column_stack([table[name][rows] for name in _BODY]), others))
    rows = np.concatenate((rows, np.full(len(others), -1)))
    near = _near(bodies, now[0], later)
    if not near.any():
        return nobody
    bodies, rows = bodies[near], rows[near]
    stands, moves = _met(bodies, now[0], later)
    before = stands.any(axis=1)
    if not before.any():
        return nobody
    met = later[moves[before].any(axis=0), _WHEN]
    beyond = own & (boxes[:, _WHEN] >= (met.min() if len(met) else np.inf))
    return boxes[~beyond], rows[before & (rows >= 0)]


def _near(bodies: FloatArray, now: FloatArray, later: FloatArray) -> BoolArray:
    """Which bodies the ego may come to."""
    reach = now[6] * later[-1, _WHEN] + now[4] + bodies[:, 4]
    dx, dy = bodies[:, 0] - now[0], bodies[:, 1] - now[1]
    return np.asarray(dx * dx + dy * dy < reach * reach)


def _met(bodies: FloatArray, now: FloatArray, later: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Which of N bodies that go its way the ego, now behind them, is in at each of K times: where they are now, and
    where they will be, both (N, K).
    """
    x, y, z, heading, length, width, v = (column[:, None] for column in bodies.T)
    sin, cos = elementwise.sin_cos(heading)
    dx, dy = later[:, 0] - x, later[:, 1] - y
    along, across = cos * dx + sin * dy, cos * dy - sin * dx
    behind = cos * (now[0] - x) + sin * (now[1] - y) < -0.5 * length
    same = behind & (elementwise.cos(later[:, 3] - heading) > SAME_WAY) & ~(np.abs(later[:, 2] - z) > SAME_LEVEL_M)
    in_way = same & (np.abs(across) < 0.5 * (width + now[5]) + BESIDE_M)
    # Nobody is jumped over between one time and the next.
    reach = np.maximum(0.5 * (length + now[4]), 0.5 * now[6] * later[0, _WHEN])
    return in_way & (np.abs(along) < reach), in_way & (np.abs(along - v * later[:, _WHEN]) < reach)
