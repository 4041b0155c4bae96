"""SUMO in this process. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"folder", "towns": [[crossings, count], ...], "street", "dt", "frames", "warm"}
Out: {"xodr": {crossings: the grid as OpenDRIVE}, "rates": [median thousands of vehicle-steps a second of each town],
      "version"}
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


def grid(folder: Path, crossings: int, street: int) -> tuple[Path, Path]:
    """A grid of streets as SUMO's network and as OpenDRIVE."""
    net, xodr = folder / f"grid{crossings}.net.xml", folder / f"grid{crossings}.xodr"
    if xodr.exists():
        return net, xodr
    sizes = [f"--grid.number={crossings}", f"--grid.length={street}", "--default.speed=13.89", "--no-turnarounds=true"]
    for command in (
        [str(BIN / "netgenerate"), "--grid", *sizes, "-o", str(net)],
        [str(BIN / "netconvert"), "-s", str(net), "--opendrive-output", str(xodr)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return net, xodr


def rate(net: Path, count: int, question: dict[str, Any]) -> float:
    """Median thousands of vehicle-steps a second."""
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
    rates = []
    for frame in range(question["warm"] + question["frames"]):
        began = time.process_time()
        libsumo.simulationStep()
        took = time.process_time() - began
        if frame >= question["warm"]:
            rates.append(1e-3 * libsumo.vehicle.getIDCount() / took)
    libsumo.close()
    return statistics.median(rates)


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Build the grids, and simulate and time each number of vehicles."""
    rates, maps = [], {}
    for crossings, count in question["towns"]:
        net, xodr = grid(Path(question["folder"]), crossings, question["street"])
        maps[str(crossings)] = str(xodr)
        rates.append(rate(net, count, question))
    return {"xodr": maps, "rates": rates, "version": version("libsumo")}


json.dump(main(json.load(sys.stdin)), sys.stdout)
