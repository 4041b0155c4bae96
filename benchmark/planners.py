"""This planner and the baselines on the same routes among the same traffic, in the closed loop.

`tuling-fsm bench planners` runs all rows; `python -m benchmark.planners --help` says how to run some, or denser ones.
"""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmark.common.peers import data
from benchmark.common.table import Cell, Table
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import PLANNERS, RunSettings
from tuling_fsm.share import share_file

SEEDS = (1, 2, 3)
SCENARIO = "roam"
GRAVE = ("collision", "off_road", "red_light", "stop_sign", "yield", "wrong_way")
"""Infractions that are told by name; the others are counted."""


@dataclass(frozen=True)
class Drive:
    """What every planner drives: a map, the length of the route (m), the population."""

    place: str
    map_file: Path
    length_m: float
    vehicles: int
    people: int


def drives() -> tuple[Drive, ...]:
    """The course, and two towns at the density of a busy hour."""
    return (
        Drive("course", share_file("config", "course", "course.xodr"), 1500.0, 18, 12),
        Drive("Town01", data("maps") / "carla_Town01.xodr", 1500.0, 60, 30),
        Drive("Town07", data("maps") / "carla_Town07.xodr", 1500.0, 60, 30),
    )


def run(chosen: Sequence[Drive] | None = None, seeds: Sequence[int] = SEEDS) -> Table:
    """Every planner on every drive, over the seeds."""
    rows = []
    for drive in drives() if chosen is None else chosen:
        for planner in PLANNERS:
            results = [_driven(drive, planner, seed) for seed in seeds]
            rows.append((drive.place, f"{drive.vehicles} + {drive.people}", planner, *_summary(results)))
    return Table(
        "Planners",
        (
            "place", "vehicles + people", "planner", "closed-loop score (nuPlan)", "driving score (CARLA)",
            "route completion", "at-fault infractions a km", "which", "time, s", "comfort, share of runs",
            "jerk and hard braking a km", "tick, ms, p50", "tick, ms, p99",
        ),
        tuple(rows),
        f"seeds {', '.join(map(str, seeds))}; means over them",
        (
            "`agent` is this planner; `idm` the Intelligent Driver Model with the rules of the road along the middle "
            "of the route; `pdm` PDM-Closed (Dauner et al., CoRL 2023) with the same rules.",
            f"`{SCENARIO}.osc`: a route drawn by the seed, the same for all three, as is the population. The referee "
            "knows nothing of who drives.",
            "The closed-loop score has no term for signs, lights and lines; the driving score has, solid lines and "
            "speeding by coefficients of this project.",
        ),
    )  # fmt: skip


def _driven(drive: Drive, planner: str, seed: int) -> dict[str, Any]:
    overrides = (
        ("length_m", f"{drive.length_m:g}"), ("vehicles", str(drive.vehicles)), ("pedestrians", str(drive.people)),
    )  # fmt: skip
    scenario = share_file("config", "scenarios", f"{SCENARIO}.osc")
    return run_scenario(RunSettings(scenario, seed, overrides, drive.map_file, planner=planner))


def _summary(results: Sequence[dict[str, Any]]) -> tuple[Cell, ...]:
    """The cells of a row after its name."""
    km = 1e-3 * sum(float(result["distance_m"]) for result in results)
    faults = Counter(each["kind"] for result in results for each in result["infractions"] if each["at_fault"])
    rough = sum(each["kind"] == "comfort" for result in results for each in result["infractions"])
    named = [f"{kind} {faults[kind]}" for kind in GRAVE if faults[kind]]
    others = sum(count for kind, count in faults.items() if kind not in GRAVE)
    return (
        *(_mean([result["score"][name] for result in results]) for name in ("closed_loop", "driving")),
        _mean([result["score"]["route_completion"] for result in results]),
        sum(faults.values()) / max(km, 1e-3),
        ", ".join(named + ([f"other {others}"] if others else [])) or "none",
        _mean([result["sim_s"] for result in results]),
        _mean([result["score"]["comfort"] for result in results]),
        rough / max(km, 1e-3),
        *(_mean([result["tick_ms"][name] for result in results]) for name in ("p50", "p99")),
    )


def _mean(values: Sequence[float]) -> float:
    return float(statistics.fmean(values))


def main() -> None:
    """Some rows, by options."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.planners", description=__doc__)
    parser.add_argument("--place", action="append", help="only this one, may be given again (default all)")
    parser.add_argument("--seed", type=int, action="append", help=f"may be given again (default {SEEDS})")
    for name, kind, text in (
        ("length-m", float, "of the routes, m"), ("vehicles", int, "in the traffic"), ("people", int, "on foot"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, help=f"{text} (default that of the place)")
    given = parser.parse_args()
    options = {name: getattr(given, name) for name in ("length_m", "vehicles", "people")}
    changed = {name: value for name, value in options.items() if value is not None}
    chosen = [replace(each, **changed) for each in drives() if given.place is None or each.place in given.place]
    print(run(chosen, given.seed or SEEDS).text())


if __name__ == "__main__":
    main()
