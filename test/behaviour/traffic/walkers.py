"""A pedestrian on or beside a straight road, and whether the car stops for it."""

from __future__ import annotations

import math
from pathlib import Path

from tuling_fsm.behaviour.traffic.pedestrians import pedestrian_rules
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap

from ..worlds import write_road
from .alone import FRONT, Other, left_of_route

FAR = FRONT + 20.0


def askew_road(folder: Path) -> RoadMap:
    """The straight road in a direction in which no sine or cosine is 0 or 1."""
    file = write_road(folder)
    file.write_text(file.read_text().replace('hdg="0"', 'hdg="0.6"'))
    return read_map(file)


def walker(s: float, offset: float, towards: float = 0.0, **more: float) -> Other:
    """A pedestrian that walks across the route; `towards` it, m/s."""
    vy = -math.copysign(towards, towards * offset) if towards else 0.0
    return Other(s, left_of_route(offset), vy=vy, **more)


def stops(now: TrafficSituation, released: tuple[int, ...] = ()) -> bool:
    """Whether the car stops for somebody."""
    return bool(pedestrian_rules(now, released)[0])
