"""A free-space manoeuvre as a picture: polygons, what the car sweeps, its path by gear, and speed and steering over
time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.figures import as_written, new_figure, write_png
from tuling_fsm.viewer.parking_case import FORWARD, HEADING, REVERSE, STEER, CaseResult, T, V, X

WIDTH_IN, MOST_IN, LEAST_IN = 9.0, 10.0, 3.0
"""Width of the figure, and height of the view from above, inches."""
CURVES_IN = 2.6
EVERY_M = 0.75
"""Between two footprints of what the car sweeps."""
GEARS: Mapping[int, tuple[str, str]] = {FORWARD: ("forward", "#1668dc"), REVERSE: ("in reverse", "#d9480f")}
THING, GOAL, START = "#8d8577", "#2f8f5b", "#49566a"


def draw_plan(file: Path, result: CaseResult, answer: Mapping[str, Any]) -> None:
    """Write a PNG.

    Args:
        file: where to.
        result: what is shown; without a plan the places and the reason.
        answer: of `solve_case`, for its figures.

    Raises:
        InputError: the file cannot be written.
    """
    write_png(file, plan_figure(result, answer))


def plan_figure(result: CaseResult, answer: Mapping[str, Any]) -> Figure:
    """The figure of it."""
    x0, y0, x1, y1 = result.bounds
    above_in = min(max(WIDTH_IN * (y1 - y0) / (x1 - x0), LEAST_IN), MOST_IN)
    curves = len(result.rows) > 0
    figure = new_figure(WIDTH_IN, above_in + 0.9 + curves * CURVES_IN)
    heights = [above_in, 0.5 * CURVES_IN, 0.5 * CURVES_IN] if curves else [above_in]
    above, *rest = np.atleast_1d(figure.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights}))
    _draw_above(above, result)
    above.set(xlim=(x0, x1), ylim=(y0, y1), aspect="equal", xlabel="x, m", ylabel="y, m")
    above.set_title(_headline(result, answer), **as_written())
    for axes, column, words in zip(rest, (V, STEER), ("speed, m/s", "steering, rad"), strict=False):
        _draw_curve(axes, result, column, words)
    if rest:
        rest[0].sharex(rest[1])
        rest[1].set_xlabel("time, s")
    return figure


def _headline(result: CaseResult, answer: Mapping[str, Any]) -> str:
    if not result.solved:
        return f"{result.name}: no plan, {result.reason}"
    changes = f"{answer['cusps']} gear change{'' if answer['cusps'] == 1 else 's'}"
    driven = f"{answer['length_m']:.1f} m, {changes}, {float(result.rows[-1, T]):.1f} s"
    return f"{result.name}: {driven}; planned in {answer['elapsed_ms']:.0f} ms"


def _draw_above(axes: Axes, result: CaseResult) -> None:
    for polygon in result.polygons:
        axes.add_patch(Polygon(polygon, facecolor=THING, edgecolor="#5d574c", alpha=0.75, zorder=2, gid="polygon"))
    vehicle, moves = result.vehicle, result.moves
    for move in moves:
        words, colour = GEARS[move.gear]
        rows = result.rows[move.first : move.last + 1]
        swept = PolyCollection(_footprints(vehicle, rows, result.driven[move.first : move.last + 1]), zorder=3)
        swept.set(facecolor=colour, edgecolor=colour, alpha=0.13, linewidth=0.5, gid="swept")
        axes.add_collection(swept)
        axes.plot(rows[:, X], rows[:, X + 1], color=colour, linewidth=1.8, zorder=5, gid=words)
    for place, words, colour in ((result.start, "start", START), (result.goal, "goal", GOAL)):
        axes.add_patch(
            Polygon(vehicle.footprint(place), fill=False, edgecolor=colour, linewidth=1.8, zorder=6, gid=words)
        )
        front = vehicle.footprint(place)[[0, 3]].mean(axis=0)
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.4}
        axes.annotate("", tuple(front), (place.x, place.y), arrowprops=arrow, zorder=6)
    gears = [GEARS[gear] for gear in dict.fromkeys(move.gear for move in moves)]
    key = [Line2D([], [], color=colour, label=words) for words, colour in (*gears, ("start", START), ("goal", GOAL))]
    axes.legend(handles=key, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=len(key), frameon=False)
    axes.grid(color="#eeeeee", zorder=0)


def _footprints(vehicle: Vehicle, rows: FloatArray, driven: FloatArray) -> list[FloatArray]:
    """The body wherever another `EVERY_M` of the whole manoeuvre has been driven."""
    marks = np.arange(math.ceil(driven[0] / EVERY_M), math.floor(driven[-1] / EVERY_M) + 1) * EVERY_M
    shown = np.unique(np.searchsorted(driven, marks).clip(0, len(rows) - 1))
    return [vehicle.footprint(Pose(*pose)) for pose in rows[shown, X : HEADING + 1].tolist()]


def _draw_curve(axes: Axes, result: CaseResult, column: int, words: str) -> None:
    """Over time, in the colours of the gears."""
    for move in result.moves:
        rows = result.rows[move.first : move.last + 1]
        axes.plot(rows[:, T], rows[:, column], color=GEARS[move.gear][1])
    axes.axhline(0.0, color="#999999", linewidth=0.6)
    axes.set_ylabel(words, fontsize=8)
    axes.grid(alpha=0.3)
