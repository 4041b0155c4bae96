"""The content of `result.json`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tuling_fsm.sim.reporting.run_log import RunLog
from tuling_fsm.sim.scoring.score import score
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.version import __version__

SHARES = {"p50": 50.0, "p99": 99.0, "max": 100.0}
"""Percentiles of the times of ticks."""


def result_of(simulation: Simulation, log: RunLog, wall_s: float) -> dict[str, Any]:
    """What a run has come to, as plain data.

    Args:
        simulation: after its last frame.
        log: of its ticks.
        wall_s: how long it took, s.
    """
    return {
        "finished": simulation.end in ("goal", "parked", "scenario"),
        "end": simulation.end,
        "sim_s": simulation.stamp,
        "wall_s": round(wall_s, 3),
        "distance_m": round(simulation.distance_m, 3),
        "services": simulation.services.count,
        "score": score(simulation.infractions, simulation.scored_completion, simulation.referee.measures),
        "infractions": [
            {"t": record.t, "kind": record.kind, "detail": record.detail, "at_fault": record.at_fault}
            for record in simulation.infractions
        ],
        "transitions": [
            {"t": row.t, "from": row.source, "to": row.dest, "clause": row.clause} for row in log.transitions
        ],
        "state_s": log.state_seconds(),
        "line_free_s": log.line_free_seconds(),
        "unexplained_stops": log.unexplained_stops(),
        "longest_unexplained_stop_s": log.longest_unexplained_stop_s(),
        "flaps": log.flaps,
        "tick_ms": tick_ms(log),
        "trace_sha256": simulation.trace_sha256(),
        "motion_sha256": simulation.motion_sha256(),
        "seed": simulation.seed,
        "map": simulation.road_map.name,
        "scenario": simulation.scenario.name,
        "notes": list(simulation.notes),
        "version": __version__,
        **(
            {"population": population_of(simulation)}
            if simulation.foreign is None
            else {"traffic": dict(simulation.foreign.verdict())}
        ),
    }


def population_of(simulation: Simulation) -> dict[str, Any]:
    """How many of those that nobody scripts there were when the run began, and how many the scenario asked for."""
    there, asked = (
        {"vehicles": each.vehicles, "pedestrians": each.pedestrians}
        for each in (simulation.populated, simulation.wanted)
    )
    return {**there, "asked": asked}


def tick_ms(log: RunLog) -> dict[str, float]:
    """Median, 99th percentile and longest time of a tick, ms."""
    ticks = [row.tick_ms for row in log.rows] or [0.0]
    return {name: round(float(np.percentile(ticks, share)), 3) for name, share in SHARES.items()}
