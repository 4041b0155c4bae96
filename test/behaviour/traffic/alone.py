"""One tick on a straight road for a single rule: the car, and others just where a test wants them.

Places are given as if the road ran along x; it may begin at the origin in any direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from world.no_objects import no_traffic

from tuling_fsm.behaviour.traffic.parameters import TrafficRuleParameters
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core.request import StopWall
from tuling_fsm.map.ahead import CrosswalkAhead
from tuling_fsm.map.lanes import Crosswalk, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world import objects as ob
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.lane_index import LaneIndex, lane_index
from tuling_fsm.world.traffic import PredictedLanes

from ..worlds import FAR_Y, NEAR_LANE, NEAR_Y, VEHICLE, Place, Thing, route_along

X = 50.0
FRONT = X + VEHICLE.front
NOW = 100.0


@dataclass(frozen=True)
class Other:
    """An agent: where and how fast, and for how long it has stood."""

    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0
    standing_for: float = 0.0
    kind: Kind = Kind.PEDESTRIAN
    length: float = 0.5
    id: int = 7


def traffic(others: Sequence[Other]) -> PredictedLanes:
    def column(name: str) -> Any:
        return np.array([getattr(other, name) for other in others], dtype=np.float64)

    body = np.zeros((len(others), ob.BODY))
    body[:, ob.X], body[:, ob.Y], body[:, ob.VX], body[:, ob.VY] = (column(name) for name in ("x", "y", "vx", "vy"))
    body[:, ob.SPEED], body[:, ob.LENGTH] = np.hypot(body[:, ob.VX], body[:, ob.VY]), column("length")
    ids, kinds = column("id").astype(np.uint32), column("kind").astype(np.uint8)
    return replace(no_traffic(), id=ids, kind=kinds, body=body, standing_for=column("standing_for"))


def turned(road_map: RoadMap) -> float:
    """The direction of the road, rad."""
    return float(road_map.lanes[NEAR_LANE].center.heading[0])


def turn(angle: float, x: float, y: float) -> tuple[float, float]:
    """A vector turned counter-clockwise."""
    c, s = math.cos(angle), math.sin(angle)
    return c * x - s * y, s * x + c * y


def _put(other: Other, angle: float) -> Other:
    (x, y), (vx, vy) = turn(angle, other.x, other.y), turn(angle, other.vx, other.vy)
    return replace(other, x=x, y=y, vx=vx, vy=vy)


def situation(
    road_map: RoadMap,
    *others: Other,
    v: float = 0.0,
    index: LaneIndex | None = None,
    parameters: TrafficRuleParameters | None = None,
    by_hand: bool = False,
    things: Sequence[Thing] = (),
    lane: LaneId = NEAR_LANE,
    **changes: Any,
) -> TrafficSituation:
    """The car at `X` on the near lane; `changes` are those of the World."""
    route, angle = route_along(road_map, lane), turned(road_map)
    changes.setdefault("traffic", traffic([_put(other, angle) for other in others]))
    x, y = turn(angle, X, NEAR_Y if lane == NEAR_LANE else FAR_Y)
    world = Place(road_map, x, y, angle, v, things=tuple(things)).world(NOW, route, **changes)
    index = index or lane_index(road_map)
    return TrafficSituation(world, route, road_map, index, VEHICLE, parameters or TrafficRuleParameters(), by_hand)


def crosswalk(
    road_map: RoadMap, s_from: float, s_to: float, corners: Sequence[tuple[float, float]] = ()
) -> CrosswalkAhead:
    """Across the road, or of another shape."""
    corners = corners or ((s_from, -7.0), (s_to, -7.0), (s_to, 7.0), (s_from, 7.0))
    outline = np.array([turn(turned(road_map), *corner) for corner in corners])
    return CrosswalkAhead(s_from, s_to, Crosswalk("c", "1", outline, ()))


def left_of_route(offset: float) -> float:
    """The y of a place beside the route."""
    return NEAR_Y + offset


def at(road_map: RoadMap, wall: StopWall) -> float:
    """Where a wall crosses the road."""
    one, other = (turn(-turned(road_map), *end) for end in ((wall.x0, wall.y0), (wall.x1, wall.y1)))
    assert abs(one[0] - other[0]) < 1e-6
    return one[0]
