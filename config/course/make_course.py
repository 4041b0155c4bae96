"""Writes the embedded course, course.xodr: a small town on a ring road of about 1.3 km.

    python config/course/make_course.py [FILE]

    north road (1 + 1 lanes, hill)
    +--------------- T, yield ---------------+
    | bays             |                     |
    | crosswalk        | middle street       | east bend
    +---- avenue ---- lights ----- T, stop --+       avenue: 2 + 2 lanes
                        |             |
                        +-- car park -+

Right-hand traffic. Roads of the ring run counter-clockwise, so the outer carriageway is that of the right lanes.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from opendrive_file import to_bytes
from pen import Pen, Pose
from pieces import (
    BROKEN,
    DOUBLE,
    LANE_WIDTH,
    NO_MARK,
    SOLID,
    Arm,
    Controller,
    Course,
    Junction,
    LaneSpec,
    Mark,
    Road,
    Section,
    Signal,
    Thing,
    chain,
)

WEST, EAST, NORTH = -40.0, 460.0, 160.0
"""Where the straights of the ring run: x of the western and eastern, y of the northern; the avenue runs along y = 0."""
CORNER = 40.0
"""Reach of the ring's corners, m."""
LIGHTS_X, STOP_X, YIELD_X = 200.0, 330.0, 180.0
"""x of the middle of the three junctions."""
AVENUE_REACH, STREET_REACH = 16.0, 18.0
"""How far a junction with the avenue reaches along it and into the side street, m."""
HILL = 4.0
"""Height of the north road, m."""
TAPER = 34.0
"""Length over which the avenue gains or loses its second lane, m."""
APPROACH = 30.0
"""Length of the solid line before the lights, m."""
CAR_PARK_Y = -70.0
SLOT_LENGTH, SLOT_WIDTH = 5.3, 2.7
BAY_LENGTH, BAY_WIDTH = 7.0, 2.5
LIGHT, STOP_SIGN, YIELD_SIGN = "1000001", "206", "205"
"""Signal types of OpenDRIVE's own catalogue (light) and of the German one (signs), as CARLA reads them."""
EASTWARD, NORTHWARD, WESTWARD, SOUTHWARD = 0.0, math.pi / 2.0, math.pi, -math.pi / 2.0

FULL = (LANE_WIDTH, LANE_WIDTH)
WALK = LaneSpec("walk", "sidewalk", (2.0, 2.0), (NO_MARK,))
STREET_LANE = LaneSpec("d1", "driving", FULL, (SOLID,))
STREET = (STREET_LANE, WALK)


def street(s: float, *center: Mark) -> Section:
    """One lane each way."""
    return Section(s, STREET, center, STREET)


def avenue(
    s: float,
    second: tuple[float, float] = FULL,
    inner_right: tuple[Mark, ...] = (BROKEN,),
    inner_left: tuple[Mark, ...] = (BROKEN,),
) -> Section:
    """Two lanes each way, the second of this width from begin to end; the inner marks are between the two."""
    outer = LaneSpec("d2", "driving", second, (SOLID,))
    left = (LaneSpec("d1", "driving", FULL, inner_left), outer, WALK)
    right = (LaneSpec("d1", "driving", FULL, inner_right), outer, WALK)
    return Section(s, left, (DOUBLE,), right)


def ring() -> list[Road]:
    """The six roads of the ring, from the west corner eastwards and round."""
    avenue_west = Pen(Pose(WEST + CORNER, 0.0, EASTWARD)).line(LIGHTS_X - AVENUE_REACH - WEST - CORNER)
    approach = avenue_west.length - APPROACH
    a = Road(
        1,
        "avenue west",
        avenue_west,
        [avenue(0.0, (0.0, LANE_WIDTH)), avenue(TAPER), avenue(approach, inner_right=(SOLID,))],
        40.0,
    )
    middle = Pen(Pose(LIGHTS_X + AVENUE_REACH, 0.0, EASTWARD)).line(STOP_X - LIGHTS_X - 2.0 * AVENUE_REACH)
    from_lights = (SOLID, Mark("broken", "both", APPROACH))
    b = Road(2, "avenue middle", middle, [avenue(0.0, inner_left=from_lights)], 40.0)
    east = Pen(Pose(STOP_X + AVENUE_REACH, 0.0, EASTWARD)).line(EAST - CORNER - STOP_X - AVENUE_REACH)
    c = Road(3, "avenue east", east, [avenue(0.0), avenue(east.length - TAPER, (LANE_WIDTH, 0.0))], 40.0)
    return [a, b, c, east_bend(), north_road(), west_road()]


def east_bend() -> Road:
    """Two corners and a climb; no overtaking in the corners."""
    pen = Pen(Pose(EAST - CORNER, 0.0, EASTWARD)).corner(CORNER)
    first = pen.length
    pen.line(NORTH - 2.0 * CORNER)
    second = pen.length
    pen.corner(CORNER)
    marks = (SOLID, Mark("broken", "both", first), Mark("solid", "none", second))
    return Road(4, "east bend", pen, [street(0.0, *marks)], 30.0, (0.0, HILL))


def north_road() -> Road:
    """Straight on the hill; before the junction the line may be crossed from the left lane alone."""
    pen = Pen(Pose(EAST - CORNER, NORTH, WESTWARD)).line(EAST - CORNER - YIELD_X - AVENUE_REACH)
    late = pen.length - APPROACH
    marks = (BROKEN, Mark("broken solid", "decrease", late - 40.0), Mark("solid", "none", late))
    return Road(5, "north road", pen, [street(0.0, *marks)], 30.0, (HILL, HILL))


def west_road() -> Road:
    """Roadside bays on the right, two corners and a descent, the crosswalk between the corners."""
    pen = Pen(Pose(YIELD_X - AVENUE_REACH, NORTH, WESTWARD)).line(YIELD_X - AVENUE_REACH - WEST - CORNER)
    corner = pen.length
    pen.corner(CORNER)
    straight = pen.length
    pen.line(NORTH - 2.0 * CORNER)
    second = pen.length
    pen.corner(CORNER)
    bays_from, bays = 40.0, 8
    bays_to = bays_from + bays * BAY_LENGTH
    bay_lane = LaneSpec("bay", "parking", (BAY_WIDTH, BAY_WIDTH), (SOLID,))
    beside = LaneSpec("d1", "driving", FULL, (BROKEN,))
    sections = [
        street(0.0, SOLID, Mark("broken", "both", 20.0)),
        Section(bays_from, STREET, (BROKEN,), (beside, bay_lane, WALK)),
        street(bays_to, BROKEN, Mark("solid", "none", corner - bays_to), Mark("broken", "both", straight - bays_to)),
        street(second - 50.0, SOLID),
    ]
    road = Road(6, "west road", pen, sections, 30.0, (HILL, 0.0))
    for place in range(bays):
        s = bays_from + (place + 0.5) * BAY_LENGTH
        t = -(LANE_WIDTH + BAY_WIDTH / 2.0)
        road.things.append(Thing(str(401 + place), "parkingSpace", s, t, 0.0, BAY_LENGTH - 0.5, BAY_WIDTH - 0.2))
    crossing = straight + (second - straight) / 2.0
    road.things.append(Thing("501", "crosswalk", crossing, 0.0, 0.0, 4.0, 2.0 * LANE_WIDTH))
    return road


def middle_street() -> Road:
    """From the lights up to the north road, with a swerve to the left."""
    pen = Pen(Pose(LIGHTS_X, STREET_REACH, NORTHWARD))
    swerve = Pen(pen.at).swerve(60.0, LIGHTS_X - YIELD_X).at.y - STREET_REACH
    straight = NORTH - 2.0 * STREET_REACH - swerve
    pen.line(0.5 * straight).swerve(60.0, LIGHTS_X - YIELD_X).line(0.5 * straight)
    marks = (SOLID, Mark("broken", "both", APPROACH), Mark("solid", "none", pen.length - APPROACH))
    return Road(7, "middle street", pen, [street(0.0, *marks)], 30.0, (0.0, HILL))


def car_park() -> Road:
    """From the lights south, along the parking aisle, and back north to the avenue."""
    leg = 14.0
    pen = Pen(Pose(LIGHTS_X, -STREET_REACH, SOUTHWARD)).line(-CAR_PARK_Y - STREET_REACH - leg).corner(leg)
    aisle = pen.length
    pen.line(STOP_X - LIGHTS_X - 2.0 * leg).corner(leg).line(-CAR_PARK_Y - STREET_REACH - leg)
    slots, gap = 14, 0.4
    slots_from = aisle + 24.0
    slots_to = slots_from + slots * SLOT_WIDTH
    apron = LaneSpec("slots", "parking", (SLOT_LENGTH + gap, SLOT_LENGTH + gap), (NO_MARK,))
    beside = LaneSpec("d1", "driving", FULL, (BROKEN,))
    sections = [
        street(0.0, SOLID, Mark("broken", "both", APPROACH)),
        Section(slots_from, (beside, apron), (NO_MARK,), (beside, apron)),
        street(slots_to, BROKEN, Mark("solid", "none", pen.length - APPROACH - slots_to)),
    ]
    road = Road(8, "car park", pen, sections, 15.0)
    for place in range(slots):
        s = slots_from + (place + 0.5) * SLOT_WIDTH
        t = LANE_WIDTH + gap + SLOT_LENGTH / 2.0
        road.things.append(_slot(301 + place, s, -t))
        road.things.append(_slot(321 + place, s, t))
    return road


def _slot(number: int, s: float, t: float) -> Thing:
    """A space across the aisle, heading towards it: a car that has reversed in faces out."""
    heading = math.copysign(math.pi / 2.0, -t)
    return Thing(str(number), "parkingSpace", s, t, heading, SLOT_LENGTH, SLOT_WIDTH - 0.1)


def lights(west: Arm, east: Arm, north: Arm, south: Arm) -> Junction:
    """The four arms with lights: inner lanes turn left, outer ones right, streets go anywhere."""
    junction = Junction(101, "lights", controllers=(1, 2))
    for source, target, left, right in ((west, east, north, south), (east, west, south, north)):
        junction.join(source, "d1", target, "d1")
        junction.join(source, "d2", target, "d2")
        junction.join(source, "d1", left, "d1")
        junction.join(source, "d2", right, "d1")
    for source, target, left, right in ((south, north, west, east), (north, south, east, west)):
        junction.join(source, "d1", target, "d1")
        junction.join(source, "d1", left, "d1")
        junction.join(source, "d1", right, "d2")
    for number, arm in enumerate((west, east, north, south), start=1):
        _signal(arm, number, LIGHT)
    return junction


def stop_junction(west: Arm, east: Arm, south: Arm) -> Junction:
    """The car park's way out to the avenue, with a stop sign."""
    junction = Junction(102, "stop")
    for source, target in ((west, east), (east, west)):
        junction.join(source, "d1", target, "d1", major=True)
        junction.join(source, "d2", target, "d2", major=True)
    junction.join(west, "d2", south, "d1", major=True)
    junction.join(east, "d1", south, "d1")
    junction.join(south, "d1", east, "d2")
    junction.join(south, "d1", west, "d1")
    _signal(south, 5, STOP_SIGN)
    return junction


def yield_junction(east: Arm, west: Arm, south: Arm) -> Junction:
    """The middle street meets the north road and gives way."""
    junction = Junction(103, "yield")
    junction.join(east, "d1", west, "d1", major=True)
    junction.join(west, "d1", east, "d1", major=True)
    junction.join(west, "d1", south, "d1", major=True)
    junction.join(east, "d1", south, "d1")
    junction.join(south, "d1", east, "d1")
    junction.join(south, "d1", west, "d1")
    _signal(south, 6, YIELD_SIGN)
    return junction


def _signal(arm: Arm, number: int, kind: str) -> None:
    """A signal beside the way into a junction; vehicles stop at its station."""
    into_right = arm.contact == "end"
    lanes = [lane for lane in (arm.section.right if into_right else arm.section.left) if lane.kind == "driving"]
    side = -1.0 if into_right else 1.0
    s = arm.road.pen.length - 1.0 if into_right else 1.0
    t = side * (LANE_WIDTH * len(lanes) + 1.0)
    validity = (int(side), int(side) * len(lanes))
    name = {LIGHT: "light", STOP_SIGN: "stop", YIELD_SIGN: "yield"}[kind] + f" {number}"
    arm.road.signals.append(Signal(number, name, s, t, "+" if into_right else "-", kind, kind == LIGHT, validity))


def course() -> Course:
    """The whole town."""
    roads = ring()
    a, b, c, bend, north, west = roads
    middle, park = middle_street(), car_park()
    chain(c, bend, north)
    chain(west, a)
    junctions = [
        lights(Arm(a, "end"), Arm(b, "start"), Arm(middle, "start"), Arm(park, "start")),
        stop_junction(Arm(b, "end"), Arm(c, "start"), Arm(park, "end")),
        yield_junction(Arm(north, "end"), Arm(west, "start"), Arm(middle, "end")),
    ]
    controllers = [Controller(1, "avenue", (1, 2)), Controller(2, "streets", (3, 4))]
    return Course("course", [*roads, middle, park], junctions, controllers)


def main(arguments: list[str]) -> int:
    """Write the file and say where."""
    target = Path(arguments[0]) if arguments else Path(__file__).with_name("course.xodr")
    target.write_bytes(to_bytes(course()))
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
