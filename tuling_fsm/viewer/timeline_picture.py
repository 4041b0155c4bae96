"""Why a car did what it did, on one page: its states, its speed with what limited it, and its stops with their
reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from tuling_fsm.bag.timeline import Timeline
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.request import Reason
from tuling_fsm.figures import PALETTE, Bar, as_written, bands_height, draw_bands, new_figure, write_png

WIDTH_IN, SPEED_IN, ROW_IN = 11.0, 2.4, 0.14
"""Width of the page, height of the speed curve and of a line of the list of stops, inches."""
MOST_STOPS = 40
"""Stops that are listed, the longest of them; all are marked."""
MOST_LETTERS = 105
UNKNOWN = "unknown"
UNEXPLAINED = "no reason was given"
CODE_COLOURS: Mapping[str, str] = {
    "NONE": "#93a1b0", "SPEED_LIMIT": "#93a1b0", "CURVATURE": "#a9b4bf", "PASSING": "#7f93a8", "LEADER": "#f28e2b",
    "QUEUE": "#d97b1c", "CROSSING": "#d4a72c", "OBSTACLE": "#b5651d", "RED_LIGHT": "#e15759", "STOP_SIGN": "#c2413b",
    "PEDESTRIAN": "#d9480f", "JUNCTION_OCCUPIED": "#d4a72c", "ROUTE_END": "#59a14f", "TARGET": "#3a9aa3",
    "ARRIVED": "#59a14f", "GEAR_CHANGE": "#b07aa1", "STEERING": "#b07aa1", "EMERGENCY_STOP": "#b3261e",
    "PLAN_REJECTED": "#b3261e",
}  # fmt: skip
"""Of what limits the car, as in the film (`page/palette.js`): grey for what limits any car that drives."""


def draw_timeline(file: Path, timeline: Timeline, title: str) -> None:
    """Write a PNG.

    Raises:
        InputError: the file cannot be written.
    """
    write_png(file, timeline_figure(timeline, title))


def timeline_figure(timeline: Timeline, title: str) -> Figure:
    """The figure: axes of states, of the speed, of what limited it, and of the list of stops where there is one.

    Times are the bag's own where it begins near zero, else seconds from its beginning.
    """
    origin = timeline.origin
    states, limits = list(state_bars(timeline, origin)), list(limit_bars(timeline, origin))
    stops = list(_stop_lines(timeline, origin))
    heights = [bands_height(states), SPEED_IN, bands_height(limits), 0.3 + ROW_IN * max(len(stops), 1)]
    figure = new_figure(WIDTH_IN, sum(heights) + 1.0)
    figure.suptitle(title, fontsize=11, **as_written())
    above, speed, below, listed = figure.subplots(4, 1, gridspec_kw={"height_ratios": heights})
    colours = _colours(limits)
    draw_bands(above, states)
    _draw_speed(speed, timeline, origin, colours, limits)
    draw_bands(below, limits, colours)
    for axes in (above, speed, below):
        axes.set_xlim(timeline.begin - origin, timeline.end - origin)
        axes.set_ylabel({above: "state", speed: "speed, m/s", below: "limited by"}[axes], fontsize=8)
    below.set_xlabel("time, s" if not origin else f"time after {origin:.3f} s, s", fontsize=8)
    figure.align_ylabels((above, speed, below))
    none = "The car never stood for more than a second." if timeline.motion else "How the car moved is not in the bag."
    _list(listed, stops or [none])
    return figure


def state_bars(timeline: Timeline, origin: float) -> Iterator[Bar]:
    """The states of the machine itself one after the other."""
    own = [change for change in timeline.changes if not change.supervisor]
    first = own[0].source if own else timeline.words_at(timeline.end).get("state", UNKNOWN)
    yield from _until_next(
        [(timeline.begin, first), *((change.t, change.dest) for change in own)], timeline.end, origin
    )


def limit_bars(timeline: Timeline, origin: float) -> Iterator[Bar]:
    """What limited the car, by its code; nothing where nothing did."""
    said = [(why.t, why.code) for why in timeline.whys]
    runs = [next(group) for _, group in groupby(said, key=lambda each: each[1])]
    bars = _until_next(runs, timeline.end, origin)
    yield from (bar for bar in bars if bar[2] not in ("", Reason.NONE.value))


def _until_next(changes: Sequence[tuple[float, str]], end: float, origin: float) -> Iterator[Bar]:
    for (t, label), following in zip(changes, [*(t for t, _ in changes[1:]), end], strict=False):
        yield t - origin, following - origin, label


def _colours(limits: Iterable[Bar]) -> dict[str, str]:
    codes = sorted({code for *_, code in limits})
    others = [code for code in codes if code not in CODE_COLOURS]
    return {code: CODE_COLOURS.get(code) or PALETTE[others.index(code) % len(PALETTE)] for code in codes}


def _draw_speed(axes: Axes, timeline: Timeline, origin: float, colours: dict[str, str], limits: Sequence[Bar]) -> None:
    """The curve in the colours of what limited the car, its stops shaded and numbered."""
    rows = np.array([(sample.t - origin, sample.v) for sample in timeline.motion]).reshape(-1, 2)
    axes.plot(rows[:, 0], rows[:, 1], color="#b5bcc5", linewidth=1.0, zorder=2, gid="speed")
    for code, colour in colours.items():
        parts = (_part(rows, t_from, t_to) for t_from, t_to, label in limits if label == code)
        lines = LineCollection([part for part in parts if len(part) > 1], colors=colour, linewidths=2.0, zorder=3)
        lines.set_gid(code)
        axes.add_collection(lines)
    top = max(float(rows[:, 1].max(initial=0.0)), 1.0)
    for number, stop in enumerate(timeline.stops, start=1):
        t_from, t_to = stop.t_from - origin, stop.t_to - origin
        axes.axvspan(
            t_from, t_to, color="#1d2733" if stop.primary.words else "#b3261e", alpha=0.12, gid="stop", zorder=1
        )
        axes.text(0.5 * (t_from + t_to), 1.08 * top, str(number), fontsize=7, ha="center", va="center", gid="number")
    axes.set_ylim(min(float(rows[:, 1].min(initial=0.0)) - 0.3, -0.3), 1.18 * top)
    axes.grid(alpha=0.3)


def _part(rows: FloatArray, t_from: float, t_to: float) -> FloatArray:
    """Of the curve, with the first sample after it, so that nothing is missing between two of them."""
    first, last = np.searchsorted(rows[:, 0], (t_from, t_to))
    return rows[first : last + 1]


def _stop_lines(timeline: Timeline, origin: float) -> Iterator[str]:
    """A line for each stop by time; of many only the longest."""
    numbered = list(enumerate(timeline.stops, start=1))
    longest = sorted(numbered, key=lambda each: each[1].t_from - each[1].t_to)[:MOST_STOPS]
    for number, stop in sorted(longest, key=lambda each: each[0]):
        length, words = stop.t_to - stop.t_from, stop.primary.words or UNEXPLAINED
        line = (
            f"{number:3d}  {stop.t_from - origin:9.2f} s  for {length:7.2f} s  {stop.primary.code or '-':<18} {words}"
        )
        yield line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 3]}..."
    if len(numbered) > MOST_STOPS:
        yield f"     and {len(numbered) - MOST_STOPS} shorter ones"


def _list(axes: Axes, lines: Sequence[str]) -> None:
    axes.set_axis_off()
    axes.text(
        0.0, 1.0, "\n".join(("Stops", *lines)), transform=axes.transAxes, va="top", fontsize=7.5,
        linespacing=1.35, gid="stops", **as_written("monospace"),
    )  # fmt: skip
