"""The planner node from its process being started to `active`, with nothing compiled and with everything."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmark.common.table import Table, percentile
from tuling_fsm.ros.environment import require_rclpy
from tuling_fsm.ros.processes import ProcessGroup, activate_planner, node_command
from tuling_fsm.share import share_file

WARM = 5


def run() -> Table:
    """Start the node once on an empty cache of kernels, then again on the filled one."""
    require_rclpy()
    with tempfile.TemporaryDirectory() as folder:
        cold, *warm = (_start(Path(folder)) for _ in range(1 + WARM))
    rows = (
        ("cold cache, s", cold, "<= 60"),
        ("warm, s, median", percentile(warm, 0.5), "<= 5"),
        ("warm, s, worst", max(warm), ""),
    )
    return Table(
        "Start of the node",
        ("process to active", "ours", "goal"),
        rows,
        f"1 cold, {WARM} warm; by the clock on the wall",
        (
            "The course's map is read and every kernel compiled or loaded, all while configuring; the caller's own "
            "node and finding the services by DDS count too.",
        ),
    )


def _start(cache: Path) -> float:
    """Seconds until the planner is active; its kernels are kept in a folder."""
    parameters = {"map_file": str(share_file("config", "course", "course.xodr"))}
    with ProcessGroup() as group:
        group.environment["NUMBA_CACHE_DIR"] = str(cache)
        began = time.perf_counter()
        group.start("planner", node_command(cache, "planner", parameters))
        activate_planner(group)
        return time.perf_counter() - began
