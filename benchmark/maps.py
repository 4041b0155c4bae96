"""Reading maps: the course and real towns, from the file to what the planner drives on."""

from __future__ import annotations

import time
from pathlib import Path

from benchmark.common.peers import DATA
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.share import share_file

RUNS = 5
GOAL_MS = 1000.0
TOWNS = DATA / "maps"
"""Real maps that are kept beside the project; without them only the course is read."""


def run() -> Table:
    """Read every map some times, once before that for what is compiled and cached."""
    course = [share_file("config", "course", f"{name}.xodr") for name in ("course", "match")]
    rows = [_row(file) for file in (*course, *sorted(TOWNS.glob("*.xodr")))]
    return Table(
        "Maps",
        ("map", "MB", "lanes", "read, ms, median", "worst", "goal"),
        tuple(rows),
        f"{RUNS} of each; CPU time of one core",
        ("Lanes, junctions, routing graph, lights, crosswalks and slots: all that `read_map` gives.",),
    )


def _row(file: Path) -> tuple[Cell, ...]:
    lanes, times = len(read_map(file).lanes), []
    for _ in range(RUNS):
        began = time.process_time()
        read_map(file)
        times.append(1e3 * (time.process_time() - began))
    return file.stem, 1e-6 * file.stat().st_size, lanes, percentile(times, 0.5), max(times), f"<= {GOAL_MS:g}"
