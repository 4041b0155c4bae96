"""SUMO in this process. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"folder", "towns": [[crossings, count], ...], "street", "lanes", "dt", "frames", "warm"}
Out: {"xodr": {crossings: the grid as OpenDRIVE}, "rates": [median thousands of vehicle-steps a second of each town],
      "changes": [how often a vehicle was in another lane of its street than a step before], "version"}
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import libsumo

BIN = Path(sys.executable).parent


def grid(folder: Path, crossings: int, street: int, lanes: int) -> tuple[Path, Path]:
    """A grid of streets as SUMO's network and as OpenDRIVE."""
    net, xodr = folder / f"grid{crossings}.net.xml", folder / f"grid{crossings}.xodr"
    if xodr.exists():
        return net, xodr
    sizes = [f"--grid.number={crossings}", f"--grid.length={street}", "--default.speed=13.89", "--no-turnarounds=true"]
    sizes += [f"--default.lanenumber={lanes}"]
    for command in (
        [str(BIN / "netgenerate"), "--grid", *sizes, "-o", str(net)],
        [str(BIN / "netconvert"), "-s", str(net), "--opendrive-output", str(xodr)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return net, xodr


def rate(net: Path, count: int, question: dict[str, Any]) -> tuple[float, int]:
    """Median thousands of vehicle-steps a second, and lane changes."""
    draw = random.Random(1)
    step = ["--step-length", str(question["dt"]), "--no-step-log", "--no-warnings", "--seed", "1"]
    with contextlib.redirect_stdout(io.StringIO()):
        libsumo.start([str(BIN / "sumo"), "-n", str(net), *step])
    edges = [edge for edge in libsumo.edge.getIDList() if not edge.startswith(":")]
    made = 0
    while made < count:
        first, last = draw.sample(edges, 2)
        found = libsumo.simulation.findRoute(first, last)
        if not found.edges:
            continue
        libsumo.route.add(f"r{made}", found.edges)
        libsumo.vehicle.add(f"v{made}", f"r{made}", departPos="random_free", departSpeed="0")
        made += 1
    rates, changes, before = [], 0, {}
    for frame in range(question["warm"] + question["frames"]):
        began = time.process_time()
        libsumo.simulationStep()
        took = time.process_time() - began
        lanes = {each: libsumo.vehicle.getLaneID(each).rpartition("_") for each in libsumo.vehicle.getIDList()}
        if frame >= question["warm"]:
            rates.append(1e-3 * len(lanes) / took)
            changes += sum(each in before and _changed(before[each], lane) for each, lane in lanes.items())
        before = lanes
    libsumo.close()
    return statistics.median(rates), changes


def _changed(before: tuple[str, str, str], now: tuple[str, str, str]) -> bool:
    """Whether two lanes are different ones of the same street."""
    return before[0] == now[0] and before[2] != now[2]


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Build the grids, and simulate and time each number of vehicles."""
    found, maps = [], {}
    for crossings, count in question["towns"]:
        net, xodr = grid(Path(question["folder"]), crossings, question["street"], question["lanes"])
        maps[str(crossings)] = str(xodr)
        found.append(rate(net, count, question))
    rates, changes = zip(*found, strict=True)
    return {"xodr": maps, "rates": rates, "changes": changes, "version": version("libsumo")}


json.dump(main(json.load(sys.stdin)), sys.stdout)
