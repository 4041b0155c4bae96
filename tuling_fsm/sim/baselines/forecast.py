"""Where agents will be at constant velocity: in the plane, and as seen from the route."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.sim.baselines.route_agents import RouteAgents
from tuling_fsm.sim.baselines.route_profile import RouteProfile

ANCHOR_STEPS = 5
"""Places along the route are looked up at every so many steps; they are linear between."""
WINDOW_BEHIND_M, WINDOW_AHEAD_M = 30.0, 110.0
"""The stretch of the route around the car on which agents are looked up."""


class AgentForecast(NamedTuple):
    """N agents at K steps: centres `x`, `y` (N, K) (m); arc length along the route and offset beside it (N, K) (m).
    Of each of them (N,): heading, length, width (m), speed along the route (m/s, >= 0), and how far its box reaches
    along and across the route (m).
    """

    x: FloatArray
    y: FloatArray
    s: FloatArray
    offset: FloatArray
    heading: FloatArray
    length: FloatArray
    width: FloatArray
    v_along: FloatArray
    half_along: FloatArray
    half_aside: FloatArray


def forecast(profile: RouteProfile, agents: RouteAgents, steps: int, step_s: float) -> AgentForecast:
    """All agents from now on.

    Args:
        profile: the route.
        agents: what there is now.
        steps: K, the first of which is now.
        step_s: between two, s.
    """
    rows, times = agents.rows, step_s * np.arange(steps, dtype=np.float64)
    x, y, vx, vy, heading, length, width = (
        rows[name].astype(np.float64) for name in ("x", "y", "vx", "vy", "heading", "length", "width")
    )
    at_x, at_y = x[:, None] + vx[:, None] * times, y[:, None] + vy[:, None] * times
    anchors = np.unique(np.append(np.arange(0, steps, ANCHOR_STEPS), steps - 1))
    s, offset = np.empty((len(rows), len(anchors))), np.empty((len(rows), len(anchors)))
    reference = profile.route.reference
    low, high = profile.s - WINDOW_BEHIND_M, profile.s + WINDOW_AHEAD_M
    for i, (xs, ys) in enumerate(zip(at_x[:, anchors].tolist(), at_y[:, anchors].tolist(), strict=True)):
        for k, (px, py) in enumerate(zip(xs, ys, strict=True)):
            s[i, k], offset[i, k], _ = reference.project(px, py, low, high)
    return AgentForecast(
        x=at_x,
        y=at_y,
        s=_between(s, anchors, steps),
        offset=_between(offset, anchors, steps),
        heading=heading,
        length=length,
        width=width,
        v_along=np.maximum(agents.v_along, 0.0),
        half_along=agents.half_along,
        half_aside=agents.half_aside,
    )


def _between(values: FloatArray, anchors: np.ndarray[tuple[int], np.dtype[np.int64]], steps: int) -> FloatArray:
    """Values at all steps from those at the anchors (N, A)."""
    at = np.arange(steps)
    i = np.minimum(np.searchsorted(anchors, at, side="right") - 1, len(anchors) - 2)
    share = (at - anchors[i]) / (anchors[i + 1] - anchors[i])
    return np.asarray(values[:, i] + share * (values[:, i + 1] - values[:, i]))


def boxes_apart(
    first: tuple[FloatArray, FloatArray, FloatArray], length: float, width: float,
    second: tuple[FloatArray, FloatArray, FloatArray], lengths: FloatArray, widths: FloatArray,
) -> FloatArray:  # fmt: skip
    """Largest gap (m) over the four axes that can separate two boxes, broadcast; negative where they overlap.

    Args:
        first: x, y (m) and heading (rad) of the centres of boxes that all have one size.
        length: of those, m.
        width: of those, m.
        second: the same of other boxes.
        lengths: of the others, m.
        widths: of the others, m.
    """
    (x, y, heading), (other_x, other_y, other_heading) = first, second
    sin, cos = elementwise.sin_cos(heading)
    other_sin, other_cos = elementwise.sin_cos(other_heading)
    dx, dy = other_x - x, other_y - y
    c, s = np.abs(cos * other_cos + sin * other_sin), np.abs(cos * other_sin - sin * other_cos)
    along = np.abs(dx * cos + dy * sin) - 0.5 * (length + lengths * c + widths * s)
    across = np.abs(dy * cos - dx * sin) - 0.5 * (width + lengths * s + widths * c)
    other_along = np.abs(dx * other_cos + dy * other_sin) - 0.5 * (lengths + length * c + width * s)
    other_across = np.abs(dy * other_cos - dx * other_sin) - 0.5 * (widths + length * s + width * c)
    return np.asarray(np.maximum(np.maximum(along, across), np.maximum(other_along, other_across)))
