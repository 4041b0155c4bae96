"""A map as a picture of its own, to read it from: coordinates, numbers of roads, and what the colours mean."""

from __future__ import annotations

import math
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tuling_fsm.core.errors import InputError
from tuling_fsm.figures import as_written, png
from tuling_fsm.map.draw import BROKEN, COLOURS, CROSSWALK, JUNCTION, SOLID, SPACE, STOPS, THING, draw_on
from tuling_fsm.map.lanes import Lane
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route

SIZE_IN = 14.0
"""Longer side of the map, inches."""
LEAST_IN = 4.0
"""Shorter side of the map at the least, inches."""
MARGIN_M = 5.0
ROOM_IN = 0.6
"""Room for coordinates on every side, inches."""
ENTRY_IN, ROW_IN = 1.35, 0.18
"""Width of an entry of the key, and height of a row of it, inches."""
DPI = 120
MOST_NUMBERS = 400
"""With more roads than this their numbers would only hide the map."""
ROUTE = "#1f5fd0"


def draw_map(road_map: RoadMap, png_path: str | Path, route: Route | None = None) -> None:
    """Write a PNG of the whole map, north up, with a route on it if one is given.

    Raises:
        InputError: the file cannot be written.
    """
    x0, y0, x1, y1 = road_map.bounds
    width, height = x1 - x0 + 2.0 * MARGIN_M, y1 - y0 + 2.0 * MARGIN_M
    scale = SIZE_IN / max(width, height)
    wide, high = max(width * scale, LEAST_IN), max(height * scale, LEAST_IN)
    key, abreast = _key(route is not None), int((wide + 2.0 * ROOM_IN) / ENTRY_IN)
    below = ROOM_IN + ROW_IN * math.ceil(len(key) / abreast)
    across, up = wide + 2.0 * ROOM_IN, high + below + ROOM_IN
    figure = Figure(figsize=(across, up), dpi=DPI)
    axes = figure.add_axes((ROOM_IN / across, below / up, wide / across, high / up))
    axes.set(xlim=(x0 - MARGIN_M, x1 + MARGIN_M), ylim=(y0 - MARGIN_M, y1 + MARGIN_M), aspect="equal")
    axes.set_title(f"{road_map.name}: x and y in m, numbers of roads", fontsize=9, **as_written())
    axes.tick_params(labelsize=7)
    axes.grid(color="#eeeeee", zorder=0)
    draw_on(axes, road_map)
    _number_roads(axes, road_map)
    if route is not None:
        axes.plot(*route.reference.xy.T, color=ROUTE, linewidth=2.5, alpha=0.8, zorder=8)
        for i, mark in ((0, "o"), (-1, "s")):
            axes.plot(*route.reference.xy[i], mark, color=ROUTE, markersize=7, zorder=9)
    figure.legend(handles=key, loc="lower center", ncol=abreast, fontsize=7, frameon=False)
    content = png(figure)
    try:
        Path(png_path).write_bytes(content)
    except OSError as error:
        raise InputError(str(png_path), f"cannot be written: {error.strerror}", "a writable PNG file") from error


def _number_roads(axes: Axes, road_map: RoadMap) -> None:
    """The number of every road outside junctions, in the middle of its longest driving lane."""
    longest: dict[str, Lane] = {}
    for number in road_map.driving_lanes():
        lane = road_map.lanes[number]
        if lane.junction is None and (number.road not in longest or longest[number.road].length < lane.length):
            longest[number.road] = lane
    if len(longest) <= MOST_NUMBERS:
        for road, lane in longest.items():
            place = lane.center.at(0.5 * lane.length)
            axes.text(
                place.x, place.y, road, fontsize=6, color="#333333", ha="center", va="center", zorder=10,
                **as_written(),
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.75, "linewidth": 0.0},
            )  # fmt: skip


def _key(with_route: bool) -> list[Artist]:
    """What each colour is."""
    lanes = (("driving", "driving lane"), ("parking", "parking lane"), ("sidewalk", "pavement"))
    areas = [*((name, COLOURS[kind]) for kind, name in lanes), ("junction", JUNCTION)]
    key: list[Artist] = [Patch(facecolor=colour, label=name) for name, colour in (*areas, ("parking space", SPACE))]
    key.append(Patch(facecolor="none", edgecolor=CROSSWALK, hatch="///", label="crosswalk"))
    crossed = (("not to be crossed", SOLID, "-", 1.0), ("may be crossed", BROKEN, "--", 1.0))
    lines = (*crossed, ("solid thing", THING, "-", 1.0))
    stops = tuple((f"stop line: {name}", colour, "-", 2.5) for name, colour in STOPS.items())
    way = (("route", ROUTE, "-", 2.5),) if with_route else ()
    for name, colour, style, thick in (*lines, *stops, *way):
        key.append(Line2D([], [], color=colour, linestyle=style, linewidth=thick, label=name))
    return key
