"""What lies east of the town, on the whole course only: a second lights junction with streets around it, and a long way
round through the country. Everything has one lane each way.

                        +------------- far north -------------+
                        |                                     |
                      north -- garden road --+                |
                        |                    |                |
    town -- market -- lights -- mill street - mill            | far east
    (east bend)         |                    |                |
                      south -- quarry road --+                |
                        |                                     |
                        +------------- far south -------------+
"""

from __future__ import annotations

from layout import (
    BAY_LANE,
    BAY_LENGTH,
    EASTWARD,
    HILL,
    LIGHT,
    NORTHWARD,
    OPEN_LANE,
    SOUTHWARD,
    STREET,
    STREET_LANE,
    STREET_REACH,
    WALK,
    YIELD_SIGN,
    bays,
    crosswalk,
    signal,
    street,
)
from pen import Pen, Pose
from pieces import BROKEN, NO_MARK, SOLID, Arm, Junction, LaneSpec, Mark, Road, Section

GATE_X, GATE_Y = 460.0, 80.0
"""Where the market street leaves the town's eastern straight."""
GATE_HEIGHT = HILL / 2.0
SECOND_X, MILL_X, FAR_X = 1160.0, 1560.0, 1960.0
"""x of the second lights and what lies north and south of them, of the mill, of the far east."""
UP, DOWN, FAR_UP, FAR_DOWN = 520.0, -360.0, 860.0, -700.0
"""y of the northern and the southern junction, and of the far roads."""
BEND = 60.0
"""Reach of the corners in the country, m."""
LINE = 40.0
"""Length of the solid line before a junction, m."""
MARKET_BAYS, MARKET_COUNT = 140.0, 8
MARKET_CROSSWALK = 270.0
COUNTRY_BAYS_COUNT = 9
PARADE_FROM, PARADE_LENGTH, PARADE_WIDTH = 420.0, 80.0, 4.0
"""Where the far south road has a wide pavement."""
PARADE = LaneSpec("walk", "sidewalk", (PARADE_WIDTH, PARADE_WIDTH), (NO_MARK,))
STREET_KMH, COUNTRY_KMH = 40.0, 50.0


def plain(length: float, *solid: tuple[float, float]) -> tuple[Mark, ...]:
    """A centre line that may be crossed, but not near its ends nor on the stretches named."""
    marks = [SOLID, Mark("broken", "both", LINE)]
    for begin, end in solid:
        marks += [Mark("solid", "none", begin), Mark("broken", "both", end)]
    return (*marks, Mark("solid", "none", length - LINE))


def with_bays(length: float, s: float, count: int, right: Section | None = None) -> list[Section]:
    """A street with roadside bays on its right from `s` on."""
    end = s + count * BAY_LENGTH
    return [
        street(0.0, SOLID, Mark("broken", "both", LINE)),
        Section(s, STREET, (BROKEN,), (OPEN_LANE, BAY_LANE, WALK)),
        *(
            [street(end, BROKEN, Mark("solid", "none", length - LINE - end))]
            if right is None
            else [street(end, BROKEN), right, street(right.s + PARADE_LENGTH, BROKEN, _late(length, right))]
        ),
    ]


def _late(length: float, before: Section) -> Mark:
    return Mark("solid", "none", length - LINE - before.s - PARADE_LENGTH)


def market() -> Road:
    """From the town to the second lights: bays, a crosswalk, and room to get past what stands on a lane."""
    pen = Pen(Pose(GATE_X + STREET_REACH, GATE_Y, EASTWARD)).line(SECOND_X - GATE_X - 2.0 * STREET_REACH)
    sections = with_bays(pen.length, MARKET_BAYS, MARKET_COUNT)
    height = (GATE_HEIGHT, GATE_HEIGHT)
    things = bays(431, MARKET_BAYS, MARKET_COUNT)
    road = Road(17, "market street", pen, sections, STREET_KMH, height, things=things)
    road.things.append(crosswalk(503, MARKET_CROSSWALK))
    return road


def cross_streets() -> list[Road]:
    """North, south and east of the second lights."""
    reach = STREET_REACH
    north = Pen(Pose(SECOND_X, GATE_Y + reach, NORTHWARD)).line(UP - GATE_Y - 2.0 * reach)
    south = Pen(Pose(SECOND_X, GATE_Y - reach, SOUTHWARD)).line(GATE_Y - DOWN - 2.0 * reach)
    mill = Pen(Pose(SECOND_X + reach, GATE_Y, EASTWARD)).line(MILL_X - SECOND_X - 2.0 * reach)
    return [
        _plain_road(number, name, pen, STREET_KMH)
        for number, name, pen in ((18, "north street", north), (19, "south street", south), (20, "mill street", mill))
    ]


def _plain_road(number: int, name: str, pen: Pen, limit_kmh: float) -> Road:
    marks = plain(pen.length)
    return Road(number, name, pen, [street(0.0, *marks)], limit_kmh, (GATE_HEIGHT, GATE_HEIGHT))


def inner_roads() -> list[Road]:
    """From the northern junction by the mill to the southern one; both in the sense of the clock."""
    reach = STREET_REACH
    garden = Pen(Pose(SECOND_X + reach, UP, EASTWARD)).line(MILL_X - SECOND_X - reach - BEND)
    garden.corner(BEND, left=False).line(UP - BEND - GATE_Y - reach)
    quarry = Pen(Pose(MILL_X, GATE_Y - reach, SOUTHWARD)).line(GATE_Y - reach - DOWN - BEND)
    quarry.corner(BEND, left=False).line(MILL_X - SECOND_X - reach - BEND)
    return [
        _plain_road(21, "garden road", garden, COUNTRY_KMH),
        _plain_road(22, "quarry road", quarry, COUNTRY_KMH),
    ]


def far_roads() -> list[Road]:
    """The long way round from the northern junction to the southern one, over a hill."""
    reach, high = STREET_REACH, GATE_HEIGHT + HILL
    north = Pen(Pose(SECOND_X, UP + reach, NORTHWARD)).line(FAR_UP - BEND - UP - reach).corner(BEND, left=False)
    corner = north.length
    north.line(240.0).swerve(120.0, 30.0).line(80.0).swerve(120.0, -30.0)
    north.line(FAR_X - BEND - north.at.x).corner(BEND, left=False)
    far_east = Pen(north.at).line(500.0).swerve(150.0, -60.0).line(120.0).swerve(150.0, 60.0)
    far_east.line(far_east.at.y - FAR_DOWN - BEND)
    south = Pen(far_east.at).corner(BEND, left=False)
    second = south.length
    south.line(FAR_X - SECOND_X - 2.0 * BEND).corner(BEND, left=False).line(DOWN - reach - FAR_DOWN - BEND)
    first_bays, last_bays = corner + 60.0, second + 140.0
    a = Road(
        23, "far north", north, with_bays(north.length, first_bays, COUNTRY_BAYS_COUNT), COUNTRY_KMH,
        (GATE_HEIGHT, high), things=bays(441, first_bays, COUNTRY_BAYS_COUNT),
    )  # fmt: skip
    b = Road(24, "far east", far_east, [street(0.0, *plain(far_east.length))], COUNTRY_KMH, (high, high))
    parade = Section(second + PARADE_FROM, STREET, (SOLID,), (STREET_LANE, PARADE))
    c = Road(
        25, "far south", south, with_bays(south.length, last_bays, COUNTRY_BAYS_COUNT, parade), COUNTRY_KMH,
        (high, GATE_HEIGHT), things=bays(451, last_bays, COUNTRY_BAYS_COUNT),
    )  # fmt: skip
    return [a, b, c]


def gate(south: Arm, north: Arm, east: Arm) -> Junction:
    """The market street meets the town's ring and gives way."""
    return _tee(Junction(106, "gate"), south, north, east, 10)


def country_junctions(market: Road, cross: list[Road], inner: list[Road], far: list[Road]) -> list[Junction]:
    """The second lights, and three places where the third road gives way."""
    north, south, mill = cross
    garden, quarry = inner
    lights = Junction(107, "second lights", controllers=(3, 4))
    arms = (Arm(market, "end"), Arm(mill, "start"), Arm(north, "start"), Arm(south, "start"))
    for source in arms:
        for target in arms:
            if source is not target:
                lights.join(source, "d1", target, "d1")
    for number, arm in enumerate(arms, start=11):
        signal(arm, number, LIGHT)
    return [
        lights,
        _tee(Junction(108, "north"), Arm(north, "end"), Arm(far[0], "start"), Arm(garden, "start"), 15),
        _tee(Junction(109, "south"), Arm(south, "end"), Arm(far[-1], "end"), Arm(quarry, "end"), 16),
        _tee(Junction(110, "mill"), Arm(garden, "end"), Arm(quarry, "start"), Arm(mill, "end"), 17),
    ]


def _tee(junction: Junction, one: Arm, other: Arm, minor: Arm, number: int) -> Junction:
    """Two arms of a road that has the right of way, and a third that gives way."""
    junction.join(one, "d1", other, "d1", major=True)
    junction.join(other, "d1", one, "d1", major=True)
    junction.join(one, "d1", minor, "d1", major=True)
    junction.join(other, "d1", minor, "d1", major=True)
    junction.join(minor, "d1", one, "d1")
    junction.join(minor, "d1", other, "d1")
    signal(minor, number, YIELD_SIGN)
    return junction
