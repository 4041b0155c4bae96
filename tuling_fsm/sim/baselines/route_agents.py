"""The objects of a tick as seen from the route: how far along it, how far beside it, how fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.sim.baselines.route_profile import SEEN_M, RouteProfile
from tuling_fsm.world.inputs import OBJECTS, Inputs

BEHIND_M = 15.0
"""Objects this far behind the car still count."""
AHEAD_M = 0.5
"""What is not this far ahead of the rear axle does not lead."""


@dataclass(frozen=True)
class RouteObstacle:
    """Something to keep behind: how far the front bumper may go (m from where it is), its speed (m/s), what it is."""

    room: float
    v: float
    limit: Limit


class RouteAgents(NamedTuple):
    """N objects: their rows, arc length along the route and offset beside it (N,) (m, + left), speeds along and across
    it (N,) (m/s), and how far their boxes reach along and across it (N,) (m).
    """

    rows: npt.NDArray[np.void]
    s: FloatArray
    offset: FloatArray
    v_along: FloatArray
    v_aside: FloatArray
    half_along: FloatArray
    half_aside: FloatArray


def agents_along(profile: RouteProfile, inputs: Inputs, pose: Pose) -> RouteAgents:
    """All objects within `SEEN_M` of the car, on the stretch of the route from `BEHIND_M` behind it on."""
    rows = np.zeros(0, OBJECTS) if inputs.objects is None else inputs.objects.rows
    rows = rows[elementwise.hypot(rows["x"] - pose.x, rows["y"] - pose.y) < SEEN_M]
    reference, s = profile.route.reference, profile.s
    places = [
        reference.project(x, y, s - BEHIND_M, s + SEEN_M)
        for x, y in zip(rows["x"].tolist(), rows["y"].tolist(), strict=True)
    ]
    at, offset, way = (np.array(column, dtype=np.float64) for column in zip(*places, strict=True)) if places else [
        np.zeros(0) for _ in range(3)
    ]  # fmt: skip
    turned = rows["heading"].astype(np.float64) - way
    sine, cosine = elementwise.sin_cos(turned)
    along, across = np.abs(cosine), np.abs(sine)
    sn, c = elementwise.sin_cos(way)
    vx, vy, length, width = (rows[name].astype(np.float64) for name in ("vx", "vy", "length", "width"))
    return RouteAgents(
        rows=rows,
        s=at,
        offset=offset,
        v_along=vx * c + vy * sn,
        v_aside=vy * c - vx * sn,
        half_along=0.5 * (along * length + across * width),
        half_aside=0.5 * (across * length + along * width),
    )


def leaders(profile: RouteProfile, agents: RouteAgents, standing_gap: float, side_room: float) -> list[RouteObstacle]:
    """Bodies that reach into the car's way along the middle of the route.

    Args:
        profile: the route.
        agents: what there is.
        standing_gap: kept behind a body that stands, m.
        side_room: what passes at this distance or less is in the way, m.
    """
    vehicle = profile.vehicle
    room = agents.s - agents.half_along - profile.s - vehicle.front
    in_way = np.abs(agents.offset) < agents.half_aside + 0.5 * vehicle.width + side_room
    found = list[RouteObstacle]()
    for i in np.flatnonzero(in_way & (agents.s > profile.s + AHEAD_M)).tolist():
        limit = Limit(Reason.LEADER, max(float(room[i]), 0.0), blocker=int(agents.rows["id"][i]))
        found.append(RouteObstacle(float(room[i]) - standing_gap, max(float(agents.v_along[i]), 0.0), limit))
    return found
