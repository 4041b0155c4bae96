"""Two junctions one behind the other, with a short link between them, and a road across the second."""

from __future__ import annotations

import math
from pathlib import Path

from map import xodr
from tuling_fsm.map.road_map import RoadMap

OUTER_M, INSIDE_M = 50.0, 20.0
FIRST, SECOND = "9", "8"


def joined(folder: Path, link: float, *more: str, controllers: tuple[str, str] = ("", ""), parts: int = 1) -> RoadMap:
    """Lanes from west to east over the roads 1 to 5 from the origin: 2 is in the first junction, 4 in the second, 3 is
    the link (m), in so many lane sections. From south to north run 6 to 8, 7 in the second junction. There are lights
    of their roads' numbers before the junctions: 1, 3 and 6.
    """
    lengths = (OUTER_M, INSIDE_M, link, INSIDE_M, OUTER_M)
    east = [_road(1 + k, (math.fsum(lengths[:k]), 0.0), 0.0, length, parts) for k, length in enumerate(lengths)]
    middle = OUTER_M + INSIDE_M + link + 0.5 * INSIDE_M
    starts = (-OUTER_M - 0.5 * INSIDE_M, -0.5 * INSIDE_M, 0.5 * INSIDE_M)
    north = [_road(6 + k, (middle, y), 0.5 * math.pi, (OUTER_M, INSIDE_M, OUTER_M)[k]) for k, y in enumerate(starts)]
    connections = [
        "".join(
            f'<connection id="{n}" incomingRoad="{n}" connectingRoad="{n + 1}" contactPoint="start">'
            '<laneLink from="-1" to="-1"/></connection>'
            for n in incoming
        )
        for incoming in ((1,), (3, 6))
    ]
    junctions = [
        f'<junction id="{name}">{ways}{named}</junction>'
        for name, ways, named in zip((FIRST, SECOND), connections, controllers, strict=True)
    ]
    return xodr.read(folder, *east, *north, *junctions, *more)


def _road(number: int, at: tuple[float, float], heading: float, length: float, parts: int = 1) -> str:
    inside, behind = number in (2, 4, 7), {1: FIRST, 3: SECOND, 6: SECOND}.get(number)
    before = {3: FIRST, 5: SECOND, 8: SECOND}.get(number)
    link = ""
    if before is not None:
        link += xodr.road_link("junction", before, which="predecessor")
    elif inside:
        link += xodr.road_link("road", str(number - 1), "end", "predecessor")
    if behind is not None:
        link += xodr.road_link("junction", behind)
    elif inside:
        link += xodr.road_link("road", str(number + 1))
    starts = [length * k / parts for k in range(parts if number == 3 else 1)]
    lanes = [xodr.section([xodr.lane(-1, links=((-1,), (-1,)))], s=start) for start in starts]
    light = (
        f'<signals><signal s="{length - 0.1!r}" t="-4" id="{number}" dynamic="yes" orientation="+" type="1000001" '
        'country="OpenDRIVE" subtype="-1"/></signals>'
    )
    junction = {2: FIRST, 4: SECOND, 7: SECOND}.get(number, "-1")
    plan = xodr.geometry(0.0, *at, heading, length)
    return xodr.road(lanes, str(number), plan, length, junction, link, inside=light if behind is not None else "")
