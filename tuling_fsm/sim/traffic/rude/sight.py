"""What a rude driver sees of others, their poses and speeds, and how it judges by that whether it may go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.sim.traffic.fleet import OFF, Fleet
from tuling_fsm.sim.traffic.lane_graph import TrafficLaneGraph

NEAR_M = 50.0
STEP_M = 2.0
"""The own way through a junction is looked at every so many metres."""
BESIDE_M = 2.2
"""One that comes this near to a point of that way, going straight on, is expected there."""
BODY_M = 3.2
"""A body whose middle is this near to the way stands in it."""
SLOWEST = 3.0
"""Nobody expects to be slower in a junction than this, m/s."""


class SeenVehicles(NamedTuple):
    """N vehicles as they are seen: middle `x`, `y` (m), `heading` (rad), speed `v` (m/s), `length` (m), and the row of
    the fleet, -1 for the ego.
    """

    x: FloatArray
    y: FloatArray
    heading: FloatArray
    v: FloatArray
    length: FloatArray
    row: IntArray

    def near(self, x: float, y: float, but: int) -> SeenVehicles:
        """Those within `NEAR_M` of a point, but one row."""
        dx, dy = self.x - x, self.y - y
        keep = (dx * dx + dy * dy < NEAR_M * NEAR_M) & (self.row != but)
        return SeenVehicles(*(column[keep] for column in self))


def see(fleet: Fleet, ego: FloatArray) -> SeenVehicles:
    """All vehicles on the road and the ego.

    Args:
        fleet: the traffic.
        ego: x, y, z, heading, length, width, speed of its body (m, rad, m/s).
    """
    car = np.asarray(fleet.car)
    rows = np.flatnonzero(car["mode"] != OFF)
    own = dict(zip(("x", "y", "heading", "v", "length"), ego[[0, 1, 3, 6, 4]].tolist(), strict=True))
    columns = {name: np.append(car[name][rows], value) for name, value in own.items()}
    return SeenVehicles(**columns, row=np.append(rows, -1))


def way_through(graph: TrafficLaneGraph, fleet: Fleet, i: int, first: int, end: int) -> FloatArray:
    """Points (J, 3) of the path of vehicle `i` over its lanes `first` to `end`: x, y, and the arc of each (m)."""
    found = []
    for k in range(first, end):
        lane = int(fleet.path_lane[i, k])
        at, last = int(graph.lane.at[lane]), int(graph.lane.end[lane])
        every = max(round(STEP_M / max(float(graph.lane.step[lane]), 1e-3)), 1)
        rows = np.arange(at, last, every)
        arcs = float(fleet.path_at[i, k]) + (rows - at) * float(graph.lane.step[lane])
        found.append(np.column_stack((graph.sample.x[rows], graph.sample.y[rows], arcs)))
    return np.concatenate(found)


def blocked(points: FloatArray, others: SeenVehicles) -> bool:
    """Whether a body stands or drives on the way (J, 3) now."""
    dx, dy = others.x[:, None] - points[:, 0], others.y[:, None] - points[:, 1]
    return bool(np.any(dx * dx + dy * dy < BODY_M * BODY_M))


def gap_seen(points: FloatArray, front: float, v: float, others: SeenVehicles, gap: float) -> bool:
    """Whether none that goes straight on at the present speed comes to the way within a time (s) of oneself.

    Args:
        points: of the way (J, 3): x, y, arc (m).
        front: arc of the own bumper, m.
        v: own speed, m/s.
        others: those that are seen.
        gap: thought to be enough, s.
    """
    moving = others.v > AGENT_MOVES
    if not moving.any():
        return True
    x, y, heading, speed = (column[moving, None] for column in (others.x, others.y, others.heading, others.v))
    sin, cos = elementwise.sin_cos(heading)
    dx, dy = points[:, 0] - x, points[:, 1] - y
    along, aside = dx * cos + dy * sin, np.abs(dy * cos - dx * sin)
    theirs = along / speed
    own = np.maximum(points[:, 2] - front, 0.0) / max(v, SLOWEST)
    return not bool(np.any((along > 0.0) & (aside < BESIDE_M) & (np.abs(theirs - own) < gap)))
