"""What a map looks like from above: lanes by type, markings, stop lines, signals, crosswalks, parking spaces."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.lanes import Lane
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.segments import edge_line

JUNCTION = "#c9cfdd"
"""Fill of driving lanes in junctions."""

COLOURS = {
    "driving": "#d9d9d9",
    "parking": "#cfe3f5",
    "shoulder": "#e6dccb",
    "border": "#e3e3d5",
    "stop": "#e6dccb",
    "biking": "#f0d3d3",
    "sidewalk": "#efe9f5",
}
"""Fill by lane type; others are left white."""

SPACE, CROSSWALK = "#9ec9f0", "#008844"
"""Parking spaces and crosswalks."""

SOLID, BROKEN, THING = "#000000", "#000000", "#6a1b9a"
"""Lines that may not be crossed, those that may, and outlines of solid things."""

STOPS = {"light": "#d62728", "stop": "#9a0f4d", "yield": "#e08a00"}
"""Stop lines by what makes one stop there."""


def draw_on(axes: Axes, road_map: RoadMap) -> None:
    """Draw the map below z-order 8 on given axes, whose limits and aspect stay the caller's."""
    _draw_lanes(axes, road_map)
    _draw_lines(axes, road_map)
    _draw_objects(axes, road_map)
    _draw_signals(axes, road_map)


def _surface(lane: Lane) -> FloatArray:
    return np.vstack((edge_line(lane, left=True), edge_line(lane, left=False)[::-1]))


def _draw_lanes(axes: Axes, road_map: RoadMap) -> None:
    for lane_type, colour in reversed(COLOURS.items()):
        lanes = [lane for lane in road_map.lanes.values() if lane.type == lane_type]
        inside = [_surface(lane) for lane in lanes if lane.junction is not None]
        outside = [_surface(lane) for lane in lanes if lane.junction is None]
        fill = JUNCTION if lane_type == "driving" else colour
        axes.add_collection(PolyCollection(outside, facecolors=colour, edgecolors="none", zorder=1))
        axes.add_collection(PolyCollection(inside, facecolors=fill, edgecolors="none", zorder=1.5, alpha=0.8))
    driving = [road_map.lanes[n].center.xy for n in road_map.driving_lanes()]
    axes.add_collection(LineCollection(driving, colors="#8899bb", linewidths=0.3, zorder=2))
    for lane_id in road_map.driving_lanes():
        pose = road_map.lanes[lane_id].center.at(0.5 * road_map.lanes[lane_id].length)
        sine, cosine = elementary.sin_cos(pose.heading)
        step = (0.01 * cosine, 0.01 * sine)
        axes.annotate(
            "",
            (pose.x + step[0], pose.y + step[1]),
            (pose.x, pose.y),
            arrowprops={"arrowstyle": "->", "color": "#667799", "lw": 0.5},
            zorder=2,
        )


def _draw_lines(axes: Axes, road_map: RoadMap) -> None:
    x0, y0, x1, y1 = road_map.bounds
    where = (0.5 * (x0 + x1), 0.5 * (y0 + y1), float(elementwise.hypot(x1 - x0, y1 - y0)))
    styles = (
        (road_map.boundary_segments(*where), "#7a5c3e", "solid", 0.5),
        (road_map.line_segments(*where, crossable=False), SOLID, "solid", 0.7),
        (road_map.line_segments(*where, crossable=True), BROKEN, (0, (4, 4)), 0.5),
        (road_map.static_segments(*where), THING, "solid", 1.0),
    )
    for segments, colour, style, thick in styles:
        lines = list(segments.reshape(-1, 2, 2))
        axes.add_collection(LineCollection(lines, colors=colour, linestyles=[style], linewidths=thick, zorder=3))


def _draw_objects(axes: Axes, road_map: RoadMap) -> None:
    walks = [walk.outline for walk in road_map.crosswalks]
    slots = [slot.outline for slot in road_map.slots]
    axes.add_collection(PolyCollection(walks, facecolors="none", edgecolors=CROSSWALK, hatch="///", zorder=4))
    axes.add_collection(PolyCollection(slots, facecolors=SPACE, edgecolors="#1f5fd0", linewidths=0.5, zorder=4))
    for slot in road_map.slots:
        nose = 0.5 * slot.length
        sine, cosine = elementary.sin_cos(slot.pose.heading)
        ahead = (
            slot.pose.x + nose * cosine,
            slot.pose.y + nose * sine,
        )
        axes.annotate(
            "", ahead, slot.pose[:2], arrowprops={"arrowstyle": "->", "color": "#1f5fd0", "lw": 0.6}, zorder=5
        )


def _draw_signals(axes: Axes, road_map: RoadMap) -> None:
    for kind, colour in STOPS.items():
        lines = [((line.x0, line.y0), (line.x1, line.y1)) for line in road_map.stop_lines if line.kind == kind]
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=2.5, zorder=6))
    for signal in road_map.signals.values():
        axes.plot(
            signal.pose.x,
            signal.pose.y,
            "s",
            markersize=2.5,
            color="#d62728" if signal.dynamic else "#e08a00",
            zorder=7,
        )
