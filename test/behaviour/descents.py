"""Drives that have come down the ladder of `on_road` to one of its states."""

from __future__ import annotations

from tuling_fsm.behaviour import states
from tuling_fsm.map.road_map import RoadMap

from .worlds import (
    NEAR_Y,
    Drive,
    Place,
    Thing,
    in_normal,
    plan,
    route_along,
)


def clauses(drive: Drive) -> list[str]:
    return [decision.transition.clause for decision in drive.decisions if decision.transition]


def solid_line_free(road: RoadMap, *things: Thing) -> Drive:
    drive = in_normal(Place(road, things=things), route_along(road))
    drive.result = plan(False)
    drive.until(states.SOLID_LINE_FREE, 2.0)
    drive.result = plan(reverse=True)
    return drive


def no_line_free(road: RoadMap) -> Drive:
    drive = solid_line_free(road, Thing(62.0, NEAR_Y))
    drive.result = plan(False)
    drive.until(states.NO_LINE_FREE, 3.0)
    drive.result = plan()
    return drive
