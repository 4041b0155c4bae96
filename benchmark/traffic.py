"""Traffic with all its stages on a grid of streets, against SUMO (libsumo) on the same grid."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from benchmark.common.peers import ask
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.sim.parameters import TrafficParameters
from tuling_fsm.sim.traffic.lane_graph import LaneGraph, build_lane_graph
from tuling_fsm.sim.traffic.manager import NO_EGO, NO_HERO, TrafficManager

COUNTS = (100, 1000, 5000)
CROSSINGS, STREET_M = 14, 400
DT = 0.1
FRAMES, WARM = 200, 100
ALL_PHYSICAL = TrafficParameters(hybrid_physics=False)


def run() -> Table:
    """Vehicle-steps a second of both."""
    with tempfile.TemporaryDirectory() as folder:
        question = {
            "folder": folder, "crossings": CROSSINGS, "street": STREET_M, "counts": COUNTS, "dt": DT,
            "frames": FRAMES, "warm": WARM,
        }  # fmt: skip
        theirs = ask("traffic.py", question)
        road_map = read_map(Path(theirs["xodr"]))
    graph, _ = build_lane_graph(road_map, ())
    rows = [_row(graph, count, theirs["rates"][str(count)]) for count in COUNTS]
    return Table(
        "Traffic",
        ("vehicles", "ours, k vehicle-steps/s", "with dynamics for all", "libsumo", "ratio", "ratio with dynamics"),
        tuple(rows),
        f"median of {FRAMES} steps of {DT:g} s of each, after {WARM} that do not count; CPU time of one core",
        (
            f"A grid of {CROSSINGS} x {CROSSINGS} crossings without lights, streets of {STREET_M} m, one lane each "
            "way; both drive at random.",
            f"Peer: libsumo {theirs['version']}. Ours runs all stages; without an ego nobody has dynamics.",
            "Goals: at least 5 x libsumo at 1000, the same cost for each vehicle up to 5000.",
        ),
    )


def _row(graph: LaneGraph, count: int, theirs: float) -> tuple[Cell, ...]:
    simple, physical = (_rate(graph, count, each) for each in (TrafficParameters(), ALL_PHYSICAL))
    return count, simple, physical, theirs, simple / theirs, physical / theirs


def _rate(graph: LaneGraph, count: int, parameters: TrafficParameters) -> float:
    """Thousands of vehicle-steps a second."""
    seeds = np.asarray(np.random.SeedSequence(1).generate_state(count, np.uint64), dtype=np.uint64)
    traffic = TrafficManager(graph, seeds, 0, parameters, 1)
    traffic.populate(np.zeros((0, 3)))
    nobody, lights = np.zeros((0, 10)), np.zeros(0, np.int32)
    rates = []
    for frame in range(WARM + FRAMES):
        began = time.process_time()
        traffic.step(frame * DT, DT, nobody, lights, NO_EGO, NO_HERO)
        if frame >= WARM:
            rates.append(1e-3 * int(traffic.on_road.sum()) / (time.process_time() - began))
    return percentile(rates, 0.5)
