"""Bodies of objects on a map's lanes, and what is expected of their drivers."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.objects import BODY, HEADING, LENGTH, SPEED, VX, VY, WIDTH, X, Y

MAX_HEADING = 0.8
"""Between a body and a lane that it is on, rad."""
REACH_M, LATERAL, DECEL = 60.0, 3.0, 3.0


def scattered(road_map: RoadMap, many: int, seed: int) -> FloatArray:
    """Bodies beside, before and behind points of driving lanes, some askew, some far away."""
    draw, body = np.random.default_rng(seed), np.zeros((many, BODY))
    lanes = [road_map.lanes[lane] for lane in road_map.driving_lanes()]
    for i in range(many):
        center = lanes[draw.integers(len(lanes))].center
        at = int(draw.integers(len(center.s)))
        heading = center.heading[at] + draw.uniform(-1.1, 1.1)
        along, aside = draw.uniform(-1.0, 1.0), draw.uniform(-3.0, 3.0)
        direction = center.heading[at]
        body[i, X] = center.xy[at, 0] + along * math.cos(direction) - aside * math.sin(direction)
        body[i, Y] = center.xy[at, 1] + along * math.sin(direction) + aside * math.cos(direction)
        body[i, HEADING], body[i, SPEED] = wrap_angle(heading), draw.uniform(0.0, 16.0)
        body[i, VX], body[i, VY] = (body[i, SPEED] * f(heading) for f in (math.cos, math.sin))
        body[i, LENGTH], body[i, WIDTH] = 4.5, 1.9
    return body
