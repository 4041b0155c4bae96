"""Writes the whole course, match.xodr: the town of course.xodr with all its numbers, and the country (country.py).

    python config/course/make_match.py [FILE]

Of the town only the east bend is another: it ends at the gate, a junction in the middle of its straight, and goes on
behind it as the upper bend.
"""

from __future__ import annotations

import sys
from pathlib import Path

from country import GATE_HEIGHT, GATE_Y, country_junctions, cross_streets, far_roads, gate, inner_roads, market
from layout import CORNER, HILL, NORTH, STREET_REACH, street
from make_course import course
from opendrive_file import write
from pen import Pen
from pieces import SOLID, Arm, Controller, Course, Road, chain


def bends(east_bend: Road) -> list[Road]:
    """The town's east bend in two parts, with a gap for the gate."""
    lower = Pen(east_bend.pen.start).corner(CORNER).line(GATE_Y - STREET_REACH - CORNER)
    upper = Pen(lower.at.moved(2.0 * STREET_REACH)).line(NORTH - CORNER - GATE_Y - STREET_REACH).corner(CORNER)
    limit = east_bend.limit_kmh
    return [
        Road(4, "east bend", lower, [street(0.0, SOLID)], limit, (0.0, GATE_HEIGHT)),
        Road(16, "upper bend", upper, [street(0.0, SOLID)], limit, (GATE_HEIGHT, HILL)),
    ]


def whole_course() -> Course:
    """The town and the country."""
    town = course()
    roads = {road.id: road for road in town.roads}
    lower, upper = bends(roads[4])
    chain(roads[3], lower)
    chain(upper, roads[5])
    roads[4] = lower
    street_to_lights, cross, inner, far = market(), cross_streets(), inner_roads(), far_roads()
    chain(*far)
    junctions = [
        *town.junctions,
        gate(Arm(lower, "end"), Arm(upper, "start"), Arm(street_to_lights, "start")),
        *country_junctions(street_to_lights, cross, inner, far),
    ]
    controllers = [*town.controllers, Controller(3, "market", (11, 12)), Controller(4, "cross streets", (13, 14))]
    return Course("match", [*roads.values(), upper, street_to_lights, *cross, *inner, *far], junctions, controllers)


if __name__ == "__main__":
    sys.exit(write(whole_course(), Path(__file__).with_name("match.xodr"), sys.argv[1:]))
