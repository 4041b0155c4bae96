"""RVO2 through pyrvo. Runs in the peers' environment: JSON on standard input, JSON on standard output.

In:  {"places": [[x, y], ...], "goals": [[x, y], ...], "polygons": [[[x, y], ...], ...], "dt", "frames", "compared",
      "agent": [neighbour_dist, max_neighbours, horizon, horizon_obst, radius, max_speed]}
Out: {"step_s": [seconds of the step alone, ...], "all_s": [with setting the preferred velocities, ...],
      "places": [[x, y], ...] after `compared` steps}
"""

from __future__ import annotations

import json
import sys
import time
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
    step_s, all_s, compared = [], [], []
    agents = range(len(places))
    for frame in range(question["frames"]):
        way = goals - places
        wishes = (way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1.0)[:, None]).tolist()
        began = time.process_time()
        for i in agents:
            simulator.set_agent_pref_velocity(i, wishes[i])
        stepping = time.process_time()
        simulator.do_step()
        done = time.process_time()
        step_s.append(done - stepping)
        all_s.append(done - began)
        places = np.array([simulator.get_agent_position(i).to_tuple() for i in agents])
        if frame + 1 == question["compared"]:
            compared = places.tolist()
    return {"step_s": step_s, "all_s": all_s, "places": compared}


json.dump(main(json.load(sys.stdin)), sys.stdout)
