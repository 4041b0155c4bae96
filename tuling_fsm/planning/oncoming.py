"""Who comes towards a motion that has not begun: the gap has to last until the car is out of the way again.

Predictions end long before a slow motion on the other side of the road does. Beyond them everybody goes straight on,
and keeps the distance of definition 2 of `rss`.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.rectangles import rectangles_apart
from tuling_fsm.core.request import Manoeuvre
from tuling_fsm.core.scene import PREDICTION_STEP_S, Scene
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.continuity import StartState
from tuling_fsm.planning.rss import Rss, oncoming_distance

_STEP_S = 0.5
_LONGEST_S = 40.0
"""So far ahead a motion is looked at."""
_SLOWER = 1.2
"""A motion takes longer than it was planned to by this factor."""
_COMES = 1.0
"""Who is slower than this (m/s) does not come."""
_AGAINST = -0.5
"""Cosine of the angle to the motion's goal from which on somebody comes the other way."""


def who_comes(kept: Manoeuvre, row: int, scene: Scene, start: StartState, body: Body, gap: float, rss: Rss) -> int:
    """Row of an object in whose way the rest of a motion would still be when it comes, and a car that waits is not; -1
    for nobody. `gap` (m) is kept to its sides.
    """
    around = scene.obstacles
    against = elementwise.cos(around.heading[:, 0] - kept.goal.heading) < _AGAINST
    rows = np.flatnonzero(around.moving & (around.speed > _COMES) & against)
    if len(rows) == 0:
        return -1
    whole = kept.whole
    t = _SLOWER * (whole.t[row:] - whole.t[row])
    at = np.searchsorted(t, np.arange(0.0, min(float(t[-1]), _LONGEST_S) + _STEP_S, _STEP_S))
    at = row + np.minimum(at, len(t) - 1)
    motion = np.column_stack((whole.x[at], whole.y[at], whole.heading[at], np.abs(whole.v[at])))
    for i in rows.tolist():
        track = np.column_stack((around.x[i], around.y[i], around.heading[i]))
        other = (float(around.speed[i]), 0.5 * float(around.length[i]), 0.5 * float(around.width[i]) + gap)
        if _meets(motion, (start.pose.x, start.pose.y, start.pose.heading), track, other, body, rss):
            return int(i)
    return -1


@kernel
def _apart(
    x: float, y: float, heading: float, body: Body, ox: float, oy: float, turn: float, half: float, wide: float
) -> float:
    """Gap (m) between the car with its rear axle at a pose and a box."""
    cos, sin = elementary.cos(heading), elementary.sin(heading)
    cx, cy = x + body.middle * cos, y + body.middle * sin
    c, s = elementary.cos(turn), elementary.sin(turn)
    return float(rectangles_apart(cx, cy, cos, sin, body.half_length, body.half_width, ox, oy, c, s, half, wide))


@kernel
def _meets(
    motion: FloatArray,
    waits: tuple[float, float, float],
    track: FloatArray,
    other: tuple[float, float, float],
    body: Body,
    rss: Rss,
) -> bool:
    """Whether a car on a motion (K, 4: x, y, heading, speed every `_STEP_S`) is in the way of one who drives a track
    (T, 3) and then straight on; not so where a car that `waits` is in its way too.
    """
    v, half, wide = other
    end, met = (len(track) - 1) * PREDICTION_STEP_S, False
    for k in range(len(motion)):
        t = k * _STEP_S
        j = min(len(track) - 1, int(t / PREDICTION_STEP_S + 1e-9))
        beyond, turn = v * max(0.0, t - end), track[j, 2]
        x, y = track[j, 0] + beyond * elementary.cos(turn), track[j, 1] + beyond * elementary.sin(turn)
        if _apart(waits[0], waits[1], waits[2], body, x, y, turn, half + 0.5 * v * _STEP_S, wide) <= 0.0:
            return False
        ahead = 0.5 * oncoming_distance(v, motion[k, 3], rss.brake, rss)
        x, y = x + ahead * elementary.cos(turn), y + ahead * elementary.sin(turn)
        met |= _apart(motion[k, 0], motion[k, 1], motion[k, 2], body, x, y, turn, half + ahead, wide) <= 0.0
    return met
