"""What lies off the ring: the garage inside it, and the loop behind the hill.

verge road, 6 m of verge on the right
+-------------------------------------+
| crosswalk                           |           aisle, dead end
| bays                                |        +------------
+------------- T, yield ---- tunnel --+        |  aisle, dead end
                 |                             +------------
                 | hill road, bays             |
                 to the north road             to the avenue: the only way in
"""

from __future__ import annotations

from layout import (
    APRON,
    BAY_LANE,
    BAY_LENGTH,
    CORNER,
    EASTWARD,
    FULL,
    HILL,
    NORTH,
    NORTHWARD,
    OPEN_LANE,
    SLOT_WIDTH,
    STOP_X,
    STREET,
    STREET_LANE,
    STREET_REACH,
    WALK,
    YIELD_SIGN,
    YIELD_X,
    bays,
    crosswalk,
    signal,
    slots,
    street,
)
from pen import Pen, Pose
from pieces import BROKEN, NO_MARK, SOLID, Arm, Junction, LaneSpec, Mark, Road, Section, Tunnel

LOOP_REACH, GARAGE_REACH = 16.0, 12.0
"""How far the junctions reach into their arms, m."""
HILL_ROAD, LOOP_STRAIGHT, LOOP_SIDE = 60.0, 120.0, 26.0
"""Lengths of the road to the loop, of the loop's straights beside its junction, and of those between its corners."""
TUNNEL_FROM, TUNNEL_LENGTH = 20.0, 80.0
VERGE_WIDTH = 6.0
VERGE_FROM, VERGE_HALF = 110.0, 70.0
"""The edge line of the verge is broken on its first half and solid on the second."""
STEM, UPPER_STEM, AISLE = 32.0, 10.0, 58.0
"""Lengths of the garage's way in, of what leads on to the farther aisle, and of the aisles."""
SPACES, SPACES_FROM = 12, 8.0
STEM_SPACES, STEM_SPACES_FROM = 5, 12.0
"""Spaces on each side, and where they begin: of an aisle, of the stem."""


def hill_road() -> Road:
    """From the north road to the loop, with three bays on the right."""
    pen = Pen(Pose(YIELD_X, NORTH + STREET_REACH, NORTHWARD)).line(HILL_ROAD)
    count, s = 3, 22.0
    sections = [
        street(0.0, SOLID),
        Section(s, STREET, (BROKEN,), (OPEN_LANE, BAY_LANE, WALK)),
        street(s + count * BAY_LENGTH, SOLID),
    ]
    return Road(9, "hill road", pen, sections, 30.0, (HILL, HILL), things=bays(421, s, count))


def loop() -> list[Road]:
    """Counter-clockwise: through the tunnel, along the verge, past bays and a crosswalk."""
    y = NORTH + STREET_REACH + HILL_ROAD + LOOP_REACH
    pen = Pen(Pose(YIELD_X + LOOP_REACH, y, EASTWARD)).line(LOOP_STRAIGHT).corner(CORNER).line(LOOP_SIDE).corner(CORNER)
    tunnel = Road(10, "tunnel road", pen, [street(0.0, SOLID)], 30.0, (HILL, HILL))
    tunnel.tunnels.append(Tunnel(1, TUNNEL_FROM, TUNNEL_LENGTH))
    verge = _verge_road(pen.at)
    west = Pen(verge.pen.at).corner(CORNER).line(LOOP_SIDE).corner(CORNER)
    count, s = 4, west.length + 30.0
    west.line(LOOP_STRAIGHT)
    sections = [
        street(0.0, SOLID),
        Section(s, STREET, (BROKEN,), (OPEN_LANE, BAY_LANE, WALK)),
        street(s + count * BAY_LENGTH, SOLID),
    ]
    back = Road(15, "loop west", west, sections, 30.0, (HILL, HILL), things=bays(411, s, count))
    back.things.append(crosswalk(502, s - 12.0))
    return [tunnel, verge, back]


def _verge_road(start: Pose) -> Road:
    """The line in the middle may be crossed from the left lane alone, then by nobody; then comes the verge."""
    length = 2.0 * (LOOP_STRAIGHT + LOOP_REACH)
    pen = Pen(start).line(length)
    edge = (BROKEN, Mark("solid", "none", VERGE_HALF))
    beside = LaneSpec("d1", "driving", FULL, edge)
    verge = LaneSpec("verge", "shoulder", (VERGE_WIDTH, VERGE_WIDTH), (NO_MARK,))
    sections = [
        street(0.0, Mark("broken solid", "decrease"), Mark("solid", "none", 70.0)),
        Section(VERGE_FROM, STREET, (BROKEN,), (beside, verge)),
        street(VERGE_FROM + 2.0 * VERGE_HALF, SOLID),
    ]
    return Road(14, "verge road", pen, sections, 40.0, (HILL, HILL))


def garage() -> list[Road]:
    """An F: the stem from the avenue and two aisles that end blind, all with spaces on both sides; nothing else is
    painted.
    """
    stem = Pen(Pose(STOP_X, STREET_REACH, NORTHWARD)).line(STEM)
    middle = stem.at.moved(GARAGE_REACH)
    far = Pen(middle.moved(GARAGE_REACH)).line(UPPER_STEM).corner(14.0, left=False)
    before = far.length
    far.line(AISLE)
    near = Pen(middle.moved(0.0, -GARAGE_REACH)._replace(heading=EASTWARD)).line(AISLE)
    return [
        _aisle(11, "garage entrance", stem, STEM_SPACES_FROM, (681, 691), STEM_SPACES),
        _aisle(12, "far aisle", far, before + SPACES_FROM, (641, 661), SPACES),
        _aisle(13, "near aisle", near, SPACES_FROM, (601, 621), SPACES),
    ]


def _aisle(number: int, name: str, pen: Pen, s: float, first: tuple[int, int], count: int) -> Road:
    """Spaces on the right and on the left, numbered from `first` on."""
    lane = (STREET_LANE, WALK)
    beside = (OPEN_LANE, APRON)
    sections = [
        Section(0.0, lane, (NO_MARK,), lane),
        Section(s, beside, (NO_MARK,), beside),
        Section(s + count * SLOT_WIDTH, lane, (NO_MARK,), lane),
    ]
    return Road(number, name, pen, sections, 10.0, things=slots(*first, s, count))


def loop_junction(east: Arm, west: Arm, south: Arm) -> Junction:
    """The hill road meets the loop and gives way."""
    junction = Junction(104, "loop")
    junction.join(west, "d1", east, "d1", major=True)
    junction.join(east, "d1", west, "d1", major=True)
    junction.join(west, "d1", south, "d1", major=True)
    junction.join(east, "d1", south, "d1")
    junction.join(south, "d1", east, "d1")
    junction.join(south, "d1", west, "d1")
    signal(south, 8, YIELD_SIGN)
    return junction


def garage_junction(south: Arm, north: Arm, east: Arm) -> Junction:
    """Where the near aisle leaves the stem."""
    junction = Junction(105, "garage")
    for source, target in ((south, north), (north, south), (south, east), (east, south), (north, east), (east, north)):
        junction.join(source, "d1", target, "d1", major=east not in (source, target))
    return junction
