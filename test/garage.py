"""A car park in the shape of an F for tests: a way in, and two aisles that are dead ends, with slots on both sides."""

from __future__ import annotations

import math
from pathlib import Path

from crossroads import HALF_M, LANE_M, SIDES, Arm, Town

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap

WAY_IN, LOWER, SPINE, UPPER = 1, 2, 3, 4
"""Roads: from the street to the first crossing, the lower aisle, on to the second crossing, the upper aisle."""
SPINE_M, AISLE_M, WAY_IN_M = 16.0, 34.0, 60.0
UPPER_Y = 2.0 * HALF_M + SPINE_M
SLOTS_PER_ROW, FIRST_S = 8, 8.0
SLOT_LENGTH, SLOT_WIDTH, GAP_M = 5.3, 2.6, 0.4
LOWER_IN, LOWER_OUT = LaneId("2", 0, -1), LaneId("2", 0, 1)
UPPER_IN, UPPER_OUT = LaneId("4", 0, -1), LaneId("4", 0, 1)


def garage(folder: Path, slots: bool = True) -> RoadMap:
    """The map. The lower aisle runs along y = 0, the upper one along y = `UPPER_Y`, both from x = `HALF_M` on."""
    town, (east, north, south) = Town(), (SIDES[side] for side in "ENS")
    link = '<{} elementType="junction" elementId="{}"/>'
    town.road(WAY_IN, 0.0, -HALF_M, south, WAY_IN_M, (link.format("predecessor", 8), ""))
    town.road(LOWER, HALF_M, 0.0, east, AISLE_M, (link.format("predecessor", 8), ""), objects=_aisle(LOWER, slots))
    town.road(SPINE, 0.0, HALF_M, north, SPINE_M, (link.format("predecessor", 8), link.format("successor", 9)))
    objects = _aisle(UPPER, slots)
    town.road(UPPER, HALF_M, UPPER_Y, east, AISLE_M, (link.format("predecessor", 9), ""), objects=objects)
    town.cross(8, 0.0, 0.0, [Arm(WAY_IN, "start", south), Arm(LOWER, "start", east), Arm(SPINE, "start", north)])
    town.cross(9, 0.0, UPPER_Y, [Arm(SPINE, "end", south), Arm(UPPER, "start", east)])
    return town.read(folder, "garage" if slots else "no_slots")


def slot_pose(row: int, place: int) -> Pose:
    """Centre and heading of a slot; rows count from 0: right and left of the lower aisle, right and left of the
    upper.
    """
    side = -1.0 if row % 2 == 0 else 1.0
    y = (UPPER_Y if row > 1 else 0.0) + side * (LANE_M + GAP_M + 0.5 * SLOT_LENGTH)
    return Pose(HALF_M + FIRST_S + place * SLOT_WIDTH, y, -side * 0.5 * math.pi)


def _aisle(road: int, slots: bool) -> str:
    """Both rows, and a wall across the end."""
    texts = [_object(f"{road}99", "wall", AISLE_M + 0.6, 0.0, 0.2, 2.0 * LANE_M)]
    for side in (-1.0, 1.0) if slots else ():
        t = side * (LANE_M + GAP_M + 0.5 * SLOT_LENGTH)
        for place in range(SLOTS_PER_ROW):
            number = f"{road}{int(side > 0)}{place}"
            texts.append(_object(number, "parkingSpace", FIRST_S + place * SLOT_WIDTH, t, SLOT_WIDTH, SLOT_LENGTH))
    return "".join(texts)


def _object(number: str, kind: str, s: float, t: float, length: float, width: float) -> str:
    return (
        f'<object id="{number}" type="{kind}" name="" s="{s}" t="{t}" zOffset="0" hdg="0" orientation="none" '
        f'length="{length}" width="{width}" height="1.5"/>'
    )
