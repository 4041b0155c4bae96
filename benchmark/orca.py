"""Reciprocal avoidance on a circle and between blocks, against the RVO2 library in C++."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from benchmark.common.peers import ask
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.sim.orca.crowd import Crowd, new_crowd
from tuling_fsm.sim.orca.step import Avoidance

COUNTS = (100, 1000, 5000)
DT = 0.25
FRAMES, WARM, COMPARED = 200, 20, 40
ROUNDS = 3
HORIZON, SPACING = 10.0, 5.0
Scene = tuple[FloatArray, FloatArray, list[FloatArray]]


def run() -> Table:
    """Agent-steps a second of both, and how far they are apart."""
    measured = [
        _measure(name, *scene(count)) for name, scene in (("circle", circle), ("blocks", blocks)) for count in COUNTS
    ]
    return Table(
        "Reciprocal avoidance",
        ("", "ours, M agent-steps/s", "RVO2", "ratio", "goal", "apart, mm"),
        tuple(row for row, _ in measured),
        f"median of {FRAMES - WARM} steps of each, after {WARM} that do not count, in {ROUNDS} runs of each by turns; "
        "CPU time of one core",
        (
            f"RVO2: pyrvo {measured[0][1]}.",
            "A step is one call from Python and finds neighbours, velocities and places of all agents; the preferred "
            "velocities are set before. Both simulate the same start by themselves.",
            f"Apart: greatest distance of the same agents after {COMPARED} steps; the library has single precision.",
        ),
    )


def circle(count: int) -> Scene:
    """Everybody wants to the opposite place."""
    angle = np.arange(count) * 2.0 * math.pi / count
    places = max(40.0, count * SPACING / (2.0 * math.pi)) * np.column_stack((np.cos(angle), np.sin(angle)))
    return places, -places, []


def blocks(count: int) -> Scene:
    """Four squads in the corners that want through between four blocks."""
    side = round(math.sqrt(count / 4))
    i, j, sx, sy = (axis.ravel() for axis in np.meshgrid(range(side), range(side), (1, -1), (1, -1), indexing="ij"))
    places = np.column_stack((sx * (55.0 + i * 10.0), sy * (55.0 + j * 10.0)))
    corners = np.array([(10.0, 10.0), (40.0, 10.0), (40.0, 40.0), (10.0, 40.0)])
    return places, np.column_stack((-sx, -sy)) * 75.0, [corners - (50.0 * (k % 2), 50.0 * (k // 2)) for k in range(4)]


def wish(crowd: Crowd, goals: FloatArray) -> None:
    """1 m/s towards the goal."""
    dx, dy = goals[:, 0] - crowd.x, goals[:, 1] - crowd.y
    length = np.maximum(np.hypot(dx, dy), 1.0)
    crowd.preferred_vx[:], crowd.preferred_vy[:] = dx / length, dy / length


def _measure(
    name: str, places: FloatArray, goals: FloatArray, polygons: list[FloatArray]
) -> tuple[tuple[Cell, ...], str]:
    """A row, and what the peer says of how it was built."""
    ours: list[float] = []
    peers: list[float] = []
    for _ in range(ROUNDS):
        costs, compared = _simulate(places, goals, polygons)
        theirs = _ask(places, goals, polygons)
        ours += costs[WARM:]
        peers += theirs["step_s"][WARM:]
    mine, other = (1e-6 * len(places) / percentile(each, 0.5) for each in (ours, peers))
    apart = 1e3 * float(np.hypot(*(compared - np.array(theirs["places"])).T).max())
    return (f"{name}, {len(places)}", mine, other, mine / other, ">= 2", apart), theirs["build"]


def _simulate(places: FloatArray, goals: FloatArray, polygons: list[FloatArray]) -> tuple[list[float], FloatArray]:
    """CPU time (s) of each step, and where all are after those that are compared."""
    crowd = new_crowd(places, radius=1.5, horizon=HORIZON, horizon_obst=HORIZON)
    avoidance = Avoidance(crowd, polygons)
    costs, compared = [], places
    for frame in range(FRAMES):
        wish(crowd, goals)
        began = time.process_time()
        avoidance.step(DT)
        costs.append(time.process_time() - began)
        if frame + 1 == COMPARED:
            compared = np.column_stack((crowd.x, crowd.y))
    return costs, compared


def _ask(places: FloatArray, goals: FloatArray, polygons: list[FloatArray]) -> dict[str, Any]:
    question = {
        "places": places.tolist(), "goals": goals.tolist(), "polygons": [each.tolist() for each in polygons],
        "dt": DT, "agent": [15.0, 10, HORIZON, HORIZON, 1.5, 2.0], "frames": FRAMES, "compared": COMPARED,
    }  # fmt: skip
    return ask("orca.py", question)
