"""Traffic with all its stages on a grid of streets, against SUMO (libsumo) on the same grid, and highway-env on its own
motorway.
"""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmark.common.peers import ask
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.traffic.fleet import path_index
from tuling_fsm.sim.traffic.lane_change import MIN_SPEED
from tuling_fsm.sim.traffic.lane_graph import TrafficLaneGraph, build_lane_graph
from tuling_fsm.sim.traffic.manager import NO_HERO, NO_REQUEST, TrafficManager

TOWNS = ((14, 100), (14, 1000), (14, 5000), (5, 100), (31, 5000))
"""Crossings along either side of a grid, and vehicles in it: first one town that fills up, then towns that are as full
as the one of 14 with 1000 is.
"""
STREET_M, STREET_LANES = 300, 2
"""Longer streets in the largest town would be more than a map may have."""
DT = 0.1
FRAMES, WARM = 200, 100
KEEP_RIGHT = 0.1
"""Chance of moving to the right where a vehicle may. Wished speeds are spread as those of the peer's vehicles."""
MOTORWAY, MOTORWAY_FRAMES, MOTORWAY_WARM = 200, 20, 5
"""Vehicles on the motorway of highway-env, and its frames."""
ALL_PHYSICAL = TrafficManagerParameters(hybrid_physics=False)


def run() -> Table:
    """Vehicle-steps a second of both."""
    with tempfile.TemporaryDirectory() as folder:
        question = {
            "folder": folder, "towns": TOWNS, "street": STREET_M,
            "lanes": STREET_LANES, "dt": DT, "frames": FRAMES, "warm": WARM,
        }  # fmt: skip
        theirs = ask("traffic.py", question)
        maps = {crossings: Path(theirs["xodr"][str(crossings)]) for crossings, _ in TOWNS}
        motorway = ask("highway.py", {"count": MOTORWAY, "dt": DT, "frames": MOTORWAY_FRAMES, "warm": MOTORWAY_WARM})
        graphs = {crossings: build_lane_graph(read_map(file), ())[0] for crossings, file in maps.items()}
    rows = [
        (f"{crossings} x {crossings}", *_row(graphs[crossings], count, rate, changes))
        for (crossings, count), rate, changes in zip(TOWNS, theirs["rates"], theirs["changes"], strict=True)
    ]
    first = TOWNS[0][0]
    rows.append((f"{first} x {first}, highway-env", *_row(graphs[first], MOTORWAY, motorway["rate"], None)))
    return Table(
        "Traffic",
        (
            "crossings",
            "vehicles",
            "ours, k vehicle-steps/s",
            "ns for each",
            "lane changes",
            "peer, k vehicle-steps/s",
            "its lane changes",
            "ratio",
            "ours without dynamics",
            "ratio",
        ),
        tuple(rows),
        f"median of {FRAMES} steps of {DT:g} s of each, after {WARM} that do not count; CPU time of one core",
        (
            f"A grid of crossings without lights, streets of {STREET_M} m, {STREET_LANES} lanes each way; both drive "
            "at random, with wished speeds of 1 +- 0.1 times the limit, and keep to the right.",
            "Lane changes are those begun in the steps that count. The peer changes lanes to turn, too; ours turn from "
            "the lane that they are in, so that vehicles drawn by lot are told to change as often as the peer's do. "
            "Telling them is not timed, and the peer's deciding is: that favours ours.",
            "Ours: all stages; dynamics (tyres' slip apart, a single-track model with lags) for every vehicle, which "
            "the peer does not have. The last two columns are as the product runs it far from an ego, where none has "
            "them.",
            "On 14 x 14 crossings hardly anybody of 100 has a leader, and nearly everybody of 5000; the towns of 5 x 5 "
            "and 31 x 31 are as full as that of 14 x 14 with 1000.",
            f"Peer: libsumo {theirs['version']}; in the last row highway-env {motorway['version']} with as many "
            "vehicles on a motorway of four lanes.",
            "Goals: at least 10 x libsumo at 1000 with dynamics for all, the same cost for each vehicle up to 5000.",
        ),
    )


def _row(graph: TrafficLaneGraph, count: int, theirs: float, their_changes: int | None) -> tuple[Cell, ...]:
    physical, changes = _rate(graph, count, ALL_PHYSICAL, their_changes or 0)
    simple, _ = _rate(graph, count, TrafficManagerParameters(), their_changes or 0)
    ratios = physical / theirs, simple / theirs
    return count, physical, 1e6 / physical, changes, theirs, their_changes, ratios[0], simple, ratios[1]


def _rate(graph: TrafficLaneGraph, count: int, parameters: TrafficManagerParameters, least: int) -> tuple[float, int]:
    """Thousands of vehicle-steps a second, and lane changes that are begun: the vehicles' own, and as many that they
    are told to between steps as are missing to `least`.
    """
    rng = np.random.default_rng(1)
    seeds = np.asarray(np.random.SeedSequence(1).generate_state(count, np.uint64), dtype=np.uint64)
    traffic = TrafficManager(graph, seeds, 0, parameters, 1)
    traffic.populate(np.zeros((0, 3)))
    traffic.fleet.car["share"] = np.clip(rng.normal(1.0, 0.1, count), 0.2, 2.0)
    traffic.fleet.rules["keep_right"] = KEEP_RIGHT
    no_boxes, lights = np.zeros((0, 10)), np.zeros(0, np.int32)
    rates, changes = [], 0
    for frame in range(WARM + FRAMES):
        before = traffic.fleet.car["offset_time"].copy()
        if frame >= WARM:
            _tell_to_change(traffic, rng, math.ceil(least * (frame - WARM + 1) / FRAMES) - changes)
        began = time.process_time()
        traffic.step(frame * DT, DT, no_boxes, lights, NO_REQUEST, NO_HERO)
        took = time.process_time() - began
        if frame >= WARM:
            rates.append(1e-3 * int(traffic.on_road.sum()) / took)
            changes += int((traffic.fleet.car["offset_time"] < before).sum())
    return percentile(rates, 0.5), changes


def _tell_to_change(traffic: TrafficManager, rng: np.random.Generator, missing: int) -> None:
    """Let vehicles drawn by lot move over into the lane beside theirs, as far as they have one."""
    fleet, graph = traffic.fleet, traffic.graph
    tries = rng.permutation(np.flatnonzero(traffic.on_road))
    for row in tries[: 20 * max(missing, 0)].tolist():
        lane = fleet.path_lane[row, path_index(fleet, row, fleet.car.arc[row])]
        if missing <= 0:
            return
        moves = fleet.car.v[row] >= MIN_SPEED and traffic.in_lane(row) and graph.lane.junction[lane] < 0
        if moves and any(traffic.change_lane(row, side) for side in (1, -1)):
            missing -= 1
