"""highway-env in this process. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"count", "dt", "frames", "warm"}
Out: {"rate": median thousands of vehicle-steps a second on a motorway of four lanes, "version"}
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from importlib.metadata import version
from typing import Any

import gymnasium
import highway_env  # registers its environments


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Time the decisions and motions of all vehicles, without observation, reward and drawing."""
    gymnasium.register_envs(highway_env)
    settings = {"vehicles_count": question["count"] - 1, "lanes_count": 4}
    world = gymnasium.make("highway-v0", config=settings).unwrapped
    world.reset(seed=1)
    rates = []
    for frame in range(question["warm"] + question["frames"]):
        began = time.process_time()
        world.road.act()
        world.road.step(question["dt"])
        took = time.process_time() - began
        if frame >= question["warm"]:
            rates.append(1e-3 * len(world.road.vehicles) / took)
    return {"rate": statistics.median(rates), "version": version("highway-env")}


json.dump(main(json.load(sys.stdin)), sys.stdout)
