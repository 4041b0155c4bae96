"""What all parts of the town share: measures, the plain street, parking spaces, signals."""

from __future__ import annotations

import math

from pieces import LANE_WIDTH, NO_MARK, SOLID, Arm, LaneSpec, Mark, Section, Signal, Thing

LIGHTS_X, STOP_X, YIELD_X = 200.0, 330.0, 180.0
"""x of the middle of the three junctions of the ring."""
NORTH = 160.0
"""y of the ring's northern straight; the avenue runs along y = 0."""
CORNER = 40.0
"""Reach of the ring's corners, m."""
AVENUE_REACH, STREET_REACH = 16.0, 18.0
"""How far a junction with the avenue reaches along it and into the side street, m."""
HILL = 4.0
"""Height of the north road and of what lies behind it, m."""
SLOT_LENGTH, SLOT_WIDTH, SLOT_GAP = 5.3, 2.7, 0.4
"""Of a space across the aisle, and the gap between it and the driving lane, m."""
BAY_LENGTH, BAY_WIDTH = 7.0, 2.5
LIGHT, STOP_SIGN, YIELD_SIGN = "1000001", "206", "205"
"""Signal types of OpenDRIVE's own catalogue (light) and of the German one (signs), as CARLA reads them."""
EASTWARD, NORTHWARD, WESTWARD, SOUTHWARD = 0.0, math.pi / 2.0, math.pi, -math.pi / 2.0

FULL = (LANE_WIDTH, LANE_WIDTH)
WALK = LaneSpec("walk", "sidewalk", (2.0, 2.0), (NO_MARK,))
STREET_LANE = LaneSpec("d1", "driving", FULL, (SOLID,))
OPEN_LANE = LaneSpec("d1", "driving", FULL, (Mark("broken", "both"),))
"""A driving lane whose outer line may be crossed."""
STREET = (STREET_LANE, WALK)
BAY_LANE = LaneSpec("bay", "parking", (BAY_WIDTH, BAY_WIDTH), (SOLID,))
APRON = LaneSpec("slots", "parking", (SLOT_LENGTH + SLOT_GAP, SLOT_LENGTH + SLOT_GAP), (NO_MARK,))


def street(s: float, *center: Mark) -> Section:
    """One lane each way."""
    return Section(s, STREET, center, STREET)


def bays(first: int, s_from: float, count: int) -> list[Thing]:
    """Roadside bays on the right, one after the other; a car that stands in one faces along the road."""
    t = -(LANE_WIDTH + BAY_WIDTH / 2.0)
    return [
        Thing(str(first + place), "parkingSpace", s_from + (place + 0.5) * BAY_LENGTH, t, 0.0, BAY_LENGTH - 0.5,
              BAY_WIDTH - 0.2)
        for place in range(count)
    ]  # fmt: skip


def slot(number: int, s: float, t: float) -> Thing:
    """A space across the aisle, heading towards it: a car that has reversed in faces out."""
    heading = math.copysign(math.pi / 2.0, -t)
    return Thing(str(number), "parkingSpace", s, t, heading, SLOT_LENGTH, SLOT_WIDTH - 0.1)


def slots(right: int, left: int, s_from: float, count: int) -> list[Thing]:
    """Spaces on both sides of an aisle, numbered from `right` and `left` on."""
    t = LANE_WIDTH + SLOT_GAP + SLOT_LENGTH / 2.0
    found = []
    for place in range(count):
        s = s_from + (place + 0.5) * SLOT_WIDTH
        found += [slot(right + place, s, -t), slot(left + place, s, t)]
    return found


def crosswalk(number: int, s: float) -> Thing:
    """Across both lanes of a street."""
    return Thing(str(number), "crosswalk", s, 0.0, 0.0, 4.0, 2.0 * LANE_WIDTH)


def signal(arm: Arm, number: int, kind: str) -> None:
    """A signal beside the way into a junction; vehicles stop at its station."""
    into_right = arm.contact == "end"
    lanes = [lane for lane in (arm.section.right if into_right else arm.section.left) if lane.kind == "driving"]
    side = -1.0 if into_right else 1.0
    s = arm.road.pen.length - 1.0 if into_right else 1.0
    t = side * (LANE_WIDTH * len(lanes) + 1.0)
    validity = (int(side), int(side) * len(lanes))
    name = {LIGHT: "light", STOP_SIGN: "stop", YIELD_SIGN: "yield"}[kind] + f" {number}"
    arm.road.signals.append(Signal(number, name, s, t, "+" if into_right else "-", kind, kind == LIGHT, validity))
