"""RVO2 through pyrvo. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"places": [[x, y], ...], "goals": [[x, y], ...], "polygons": [[[x, y], ...], ...], "dt", "frames", "compared",
      "agent": [neighbour_dist, max_neighbours, horizon, horizon_obst, radius, max_speed]}
Out: {"step_s": [CPU time of each step, without setting the preferred velocities, ...],
      "places": [[x, y], ...] after `compared` steps, "build": how the library was compiled}

A step is one call, of `doStep` in C++.
"""

from __future__ import annotations

import json
import re
import sys
import time
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import numpy as np
import pyrvo


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Simulate and time."""
    simulator = pyrvo.RVOSimulator(question["dt"], *question["agent"])
    places, goals = np.array(question["places"]), np.array(question["goals"])
    for place in places.tolist():
        simulator.add_agent(tuple(place))
    for polygon in question["polygons"]:
        simulator.add_obstacle([tuple(point) for point in polygon])
    simulator.process_obstacles()
    step_s, compared = [], []
    agents = range(len(places))
    for frame in range(question["frames"]):
        way = goals - places
        wishes = (way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1.0)[:, None]).tolist()
        for i in agents:
            simulator.set_agent_pref_velocity(i, wishes[i])
        began = time.process_time()
        simulator.do_step()
        step_s.append(time.process_time() - began)
        places = np.array([simulator.get_agent_position(i).to_tuple() for i in agents])
        if frame + 1 == question["compared"]:
            compared = places.tolist()
    return {"step_s": step_s, "places": compared, "build": build()}


def build() -> str:
    """Version, and the options of the compiler that the library itself has a note of (`-frecord-gcc-switches`)."""
    files = [file for file in distribution("pyrvo").files or () if file.suffix == ".so" or ".so." in file.name]
    content = b"".join(Path(str(file.locate())).read_bytes() for file in files)
    options = [b"-O3", b"-O2", rb"-march=[\w-]+", b"-fltrans"]
    found = [match.group().decode() for each in options if (match := re.search(rb"(?<=[ \0])" + each, content))]
    names = {"-fltrans": "optimized across files"}
    how = ", ".join(names.get(each, each) for each in found)
    return f"{version('pyrvo')}, built here, {how}" if found else f"{version('pyrvo')}, the wheel of the registry"


json.dump(main(json.load(sys.stdin)), sys.stdout)
