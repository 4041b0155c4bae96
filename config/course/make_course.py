"""Writes the embedded course, course.xodr: a small town on a ring road of about 1.3 km, a garage, and a loop behind it.

    python config/course/make_course.py [FILE]

    north road      loop (see outskirts.py)
    (1 + 1 lanes,      |
    hill)              |
    +--------------- yield ------------------+
    | bays             |           garage    |
    | crosswalk        | middle      |       | east bend
    +---- avenue ---- lights ----- stop -----+       avenue: 2 + 2 lanes
                        |             |
                        +-- car park -+

Right-hand traffic. Roads of the ring run counter-clockwise, so the outer carriageway is that of the right lanes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from layout import (
    APRON,
    AVENUE_REACH,
    BAY_LANE,
    BAY_LENGTH,
    CORNER,
    EASTWARD,
    FULL,
    HILL,
    LIGHT,
    LIGHTS_X,
    NORTH,
    NORTHWARD,
    OPEN_LANE,
    SLOT_WIDTH,
    SOUTHWARD,
    STOP_SIGN,
    STOP_X,
    STREET,
    STREET_REACH,
    WALK,
    WESTWARD,
    YIELD_SIGN,
    YIELD_X,
    bays,
    crosswalk,
    signal,
    slots,
    street,
)
from opendrive_file import write
from outskirts import garage, garage_junction, hill_road, loop, loop_junction
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
    chain,
)

WEST, EAST = -40.0, 460.0
"""x of the western and eastern straights of the ring."""
TAPER = 34.0
"""Length over which the avenue gains or loses its second lane, m."""
APPROACH = 30.0
"""Length of the solid line before the lights, m."""
CAR_PARK_Y = -70.0


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
    bays_from, count = 40.0, 8
    bays_to = bays_from + count * BAY_LENGTH
    sections = [
        street(0.0, SOLID, Mark("broken", "both", 20.0)),
        Section(bays_from, STREET, (BROKEN,), (OPEN_LANE, BAY_LANE, WALK)),
        street(bays_to, BROKEN, Mark("solid", "none", corner - bays_to), Mark("broken", "both", straight - bays_to)),
        street(second - 50.0, SOLID),
    ]
    road = Road(6, "west road", pen, sections, 30.0, (HILL, 0.0), things=bays(401, bays_from, count))
    road.things.append(crosswalk(501, straight + (second - straight) / 2.0))
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
    count, slots_from = 14, aisle + 24.0
    slots_to = slots_from + count * SLOT_WIDTH
    beside = (OPEN_LANE, APRON)
    sections = [
        street(0.0, SOLID, Mark("broken", "both", APPROACH)),
        Section(slots_from, beside, (NO_MARK,), beside),
        street(slots_to, BROKEN, Mark("solid", "none", pen.length - APPROACH - slots_to)),
    ]
    return Road(8, "car park", pen, sections, 15.0, things=slots(301, 321, slots_from, count))


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
        signal(arm, number, LIGHT)
    return junction


def stop_junction(west: Arm, east: Arm, south: Arm, north: Arm) -> Junction:
    """The ways of the car park and of the garage out to the avenue, with stop signs."""
    junction = Junction(102, "stop")
    for source, target in ((west, east), (east, west)):
        junction.join(source, "d1", target, "d1", major=True)
        junction.join(source, "d2", target, "d2", major=True)
    junction.join(west, "d2", south, "d1", major=True)
    junction.join(east, "d1", south, "d1")
    junction.join(south, "d1", east, "d2")
    junction.join(south, "d1", west, "d1")
    junction.join(east, "d2", north, "d1", major=True)
    junction.join(west, "d1", north, "d1")
    junction.join(south, "d1", north, "d1")
    junction.join(north, "d1", south, "d1")
    junction.join(north, "d1", west, "d2")
    junction.join(north, "d1", east, "d1")
    signal(south, 5, STOP_SIGN)
    signal(north, 7, STOP_SIGN)
    return junction


def yield_junction(east: Arm, west: Arm, south: Arm, north: Arm) -> Junction:
    """The middle street and the hill road meet the north road and give way."""
    junction = Junction(103, "yield")
    junction.join(east, "d1", west, "d1", major=True)
    junction.join(west, "d1", east, "d1", major=True)
    junction.join(west, "d1", south, "d1", major=True)
    junction.join(east, "d1", south, "d1")
    junction.join(south, "d1", east, "d1")
    junction.join(south, "d1", west, "d1")
    junction.join(east, "d1", north, "d1", major=True)
    junction.join(west, "d1", north, "d1")
    junction.join(south, "d1", north, "d1")
    junction.join(north, "d1", south, "d1")
    junction.join(north, "d1", west, "d1")
    junction.join(north, "d1", east, "d1")
    signal(south, 6, YIELD_SIGN)
    signal(north, 9, YIELD_SIGN)
    return junction


def course() -> Course:
    """The whole town."""
    roads = ring()
    a, b, c, bend, north, west = roads
    middle, park, hill = middle_street(), car_park(), hill_road()
    around, house = loop(), garage()
    tunnel, _, back = around
    entrance, far, near = house
    chain(c, bend, north)
    chain(west, a)
    chain(*around)
    junctions = [
        lights(Arm(a, "end"), Arm(b, "start"), Arm(middle, "start"), Arm(park, "start")),
        stop_junction(Arm(b, "end"), Arm(c, "start"), Arm(park, "end"), Arm(entrance, "start")),
        yield_junction(Arm(north, "end"), Arm(west, "start"), Arm(middle, "end"), Arm(hill, "start")),
        loop_junction(Arm(tunnel, "start"), Arm(back, "end"), Arm(hill, "end")),
        garage_junction(Arm(entrance, "end"), Arm(far, "start"), Arm(near, "start")),
    ]
    controllers = [Controller(1, "avenue", (1, 2)), Controller(2, "streets", (3, 4))]
    return Course("course", [*roads, middle, park, hill, *around, *house], junctions, controllers)


if __name__ == "__main__":
    sys.exit(write(course(), Path(__file__).with_name("course.xodr"), sys.argv[1:]))
