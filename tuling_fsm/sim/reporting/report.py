"""`pictures.html` of a run, to be printed: the bird's-eye picture, the timeline and the tables on one page."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from tuling_fsm.core.request import Reason
from tuling_fsm.core.time_loss import ALL, by_loss, summed
from tuling_fsm.figures import bands_height, draw_bands, new_figure, png
from tuling_fsm.map.draw import draw_on
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.output_file import write_file
from tuling_fsm.sim.reporting.run_log import RunLog
from tuling_fsm.wire.why import WORDS

SPEED_HEIGHT = 1.8
"""Of the speed curve, inches."""
MARGIN_M = 25.0
ROUTINE = "route_refresh/"
"""A supervisor that asks and is answered every ten seconds, of which nothing is to be learnt."""
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25em .8em .25em 0; border-bottom: 1px solid #ddd; }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; } img { max-width: 100%; }
.good { color: #2a7d2a; } .bad { color: #b3261e; }
"""


def write_report(file: Path, road_map: RoadMap, log: RunLog, result: Mapping[str, Any]) -> None:
    """Write the page.

    Args:
        file: where to.
        road_map: what the run was driven on.
        log: its ticks.
        result: the content of `result.json`.
    """
    body = [
        _headline(result),
        "<h2>The run from above</h2>",
        _image(birds_eye(road_map, log, result), "the driven path on the map, coloured by speed"),
        "<h2>State, speed and what limited it</h2>",
        _image(timeline(log), "states, speed and reasons over time"),
        "<h2>Where the time went</h2>",
        _table(("state", "limited by", "time", "mean speed", "lost against the limit"), _time_rows(road_map, log), ""),
        "<h2>Stops</h2>",
        _table(("from", "for", "reason", "detail"), _stop_rows(log), "The car never stood for more than a second."),
        "<h2>Infractions</h2>",
        _table(("t", "kind", "at fault", "detail"), _infraction_rows(result), "None."),
        "<h2>Transitions</h2>",
        _table(("t", "from", "to", "clause"), _transition_rows(log), "None."),
        "<h2>Figures</h2>",
        _table(("", ""), _figure_rows(result), ""),
    ]
    title = html.escape(f"{result['scenario']} on {result['map']}, seed {result['seed']}")
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    page = f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><h1>{title}</h1>{"".join(body)}</body></html>'
    write_file(file, page + "\n")


def birds_eye(road_map: RoadMap, log: RunLog, result: Mapping[str, Any]) -> Figure:
    """The driven path on the map, coloured by speed, with start, end and infractions."""
    xy = np.array([(row.pose.x, row.pose.y) for row in log.rows])
    low, high = xy.min(axis=0) - MARGIN_M, xy.max(axis=0) + MARGIN_M
    width, height = high - low
    figure = new_figure(11.0, min(max(11.0 * height / width, 3.0), 11.0))
    axes = figure.add_subplot()
    draw_on(axes, road_map)
    speed = np.array([row.v for row in log.rows])
    lines = LineCollection(
        list(np.stack((xy[:-1], xy[1:]), axis=1)), array=speed[:-1], cmap="viridis", linewidths=2.5, zorder=8
    )
    axes.add_collection(lines)
    figure.colorbar(lines, ax=axes, label="speed, m/s", shrink=0.7)
    axes.plot(*xy[0], "o", color="#2a7d2a", zorder=9, label="start")
    axes.plot(*xy[-1], "s", color="#222222", zorder=9, label="end")
    _mark_infractions(axes, log, result)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=3, fontsize=8)
    for text in axes.texts:
        text.set_in_layout(False)  # What is written on the map takes no room beside it, and asking each takes long.
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x, m", ylabel="y, m", aspect="equal")
    return figure


def _mark_infractions(axes: Axes, log: RunLog, result: Mapping[str, Any]) -> None:
    stamps = [row.t for row in log.rows]
    label: str | None = "at fault"
    for infraction in result["infractions"]:
        if infraction["at_fault"]:
            pose = log.rows[min(int(np.searchsorted(stamps, infraction["t"])), len(stamps) - 1)].pose
            axes.plot(pose.x, pose.y, "X", color="#b3261e", markersize=10, zorder=10, label=label)
            label = None


def timeline(log: RunLog) -> Figure:
    """States as bands, speed as a curve, and what limited it as bands below."""
    state_spans = log.state_spans()
    limit_spans = [
        span for span in log.spans(row.limit.reason.value for row in log.rows) if span.label != Reason.NONE.value
    ]
    heights = (bands_height(state_spans), SPEED_HEIGHT, bands_height(limit_spans))
    figure = new_figure(11.0, math.fsum(heights) + 0.8)
    states, speed, limits = figure.subplots(3, 1, sharex=True, gridspec_kw={"height_ratios": heights})
    draw_bands(states, state_spans)
    speed.plot([row.t for row in log.rows], [row.v for row in log.rows], color="#4e79a7")
    speed.set_ylabel("speed, m/s")
    speed.grid(alpha=0.3)
    draw_bands(limits, limit_spans)
    limits.set_xlabel("time, s")
    return figure


def _image(figure: Figure, alt: str) -> str:
    data = base64.b64encode(png(figure)).decode("ascii")
    return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{data}">'


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> str:
    lines = ["<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    if not lines:
        return f"<p>{html.escape(empty)}</p>"
    titles = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    return f"<table><tr>{titles}</tr>{''.join(lines)}</table>"


def _headline(result: Mapping[str, Any]) -> str:
    faults = sum(1 for infraction in result["infractions"] if infraction["at_fault"])
    colour = "good" if result["finished"] and not faults else "bad"
    verdict = f"{'finished' if result['finished'] else 'not finished'} ({html.escape(str(result['end']))})"
    driven = f"{result['sim_s']:.1f} s and {result['distance_m']:.0f} m"
    many = "" if faults == 1 else "s"
    closed_loop, driving = (result["score"][name] for name in ("closed_loop", "driving"))
    scores = f"<p>Closed loop (nuPlan) {closed_loop:.2f}, driving (CARLA leaderboard 2.1) {driving:.2f}.</p>"
    return f'<p class="{colour}">{verdict} after {driven}; {faults} infraction{many} at fault.</p>{scores}'


def _time_rows(road_map: RoadMap, log: RunLog) -> Iterable[Sequence[object]]:
    losses = log.time_losses(road_map)
    for key in by_loss(losses):
        loss = summed(losses, key)
        state = "total" if key.state == ALL else key.state
        yield state, key.code, f"{loss.time_s:.1f} s", f"{loss.mean_speed:.1f} m/s", f"{loss.lost_s:.1f} s"


def _stop_rows(log: RunLog) -> Iterable[Sequence[object]]:
    for stop in log.stops():
        primary = stop.primary
        reason = f"{WORDS[Reason(primary.code)]} ({primary.code})"
        yield f"{stop.t_from:.2f} s", f"{stop.t_to - stop.t_from:.1f} s", reason, primary.words


def _infraction_rows(result: Mapping[str, Any]) -> Iterable[Sequence[object]]:
    for item in result["infractions"]:
        yield f"{item['t']:.2f} s", item["kind"], "yes" if item["at_fault"] else "no", item["detail"]


def _transition_rows(log: RunLog) -> Iterable[Sequence[object]]:
    beside = (row for row in log.supervisors if not row.dest.startswith(ROUTINE))
    for row in sorted((*log.transitions, *beside), key=lambda row: row.t):
        yield f"{row.t:.2f} s", row.source, row.dest, row.clause


def _figure_rows(result: Mapping[str, Any]) -> Iterable[Sequence[object]]:
    for name in ("version", "trace_sha256", "wall_s", "longest_unexplained_stop_s", "flaps", "services"):
        yield name, result[name]
    for group in ("tick_ms", "score", "state_s"):
        for name, value in result[group].items():
            yield f"{group} {name}", "-" if value is None else value
