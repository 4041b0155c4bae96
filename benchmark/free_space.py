"""Free-space planning on real parking cases and variations of them, against OMPL's RRT-Connect and rsplan."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

import numpy as np

from benchmark.common.parking import Variation, cases, question, variation
from benchmark.common.peers import ask, data
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.core.request import Reason
from tuling_fsm.planning.free_space.problem import full_steer
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, WORDS, words
from tuling_fsm.planning.free_space.solver import new_tree
from tuling_fsm.planning.free_space.tpcap import CAR, ParkingSolution, solve_once

REPEATS = 11
TRIES = 3
SECONDS = 1.0
"""What a peer is given for each case."""
VARIATIONS = 1000
POSES = 2000
SAME = 0.02
"""Paths whose lengths differ by less than this (m) are equally long."""

Numbers = list[float]


def run() -> Table:
    """First path, whole trajectory, quality and success."""
    real = cases(data("tpcap"))
    ours = [_timed(each) for each in real]
    rng = np.random.default_rng(1)
    poses = np.column_stack((rng.uniform(-6.0, 6.0, (POSES, 2)), rng.uniform(-3.1, 3.1, POSES)))
    peer = _ask(real, better=True, poses=poses.tolist())
    originals = [each for each in real if "mirrored" not in each.name]
    varied = [variation(originals, seed) for seed in range(VARIATIONS)]
    tree = new_tree()
    solved = [solve_once(each.case, time.process_time, tree) for each in varied]
    varied_peer = _ask(varied, better=False, poses=[])
    rows = (
        *_times(ours, peer["cases"]),
        *_without_calls(ours, peer["cases"], peer["call_us"]),
        *_quality(real, [runs[-1] for runs in ours], peer["cases"]),
        *_success(solved, varied_peer["cases"]),
        *_curves(poses, peer["lengths"], peer["rsplan_us"]),
    )
    versions = ", ".join(f"{name} {number}" for name, number in peer["versions"].items())
    return Table(
        "Free space",
        ("", "ours", "peer", "ratio", "goal"),
        rows,
        f"{REPEATS} of each of {len(real)} cases after one that does not count, {TRIES} of the peer; CPU time",
        (
            f"Peers: {versions}. RRT-Connect in Reeds-Shepp space with a compiled checker of the exact rectangle every "
            "5 cm; its path counts where the car, half a centimetre smaller, is free every centimetre.",
            "OMPL's package takes a checker of one's own in Python alone, no compiled function: the calls back are "
            "those of one more try of each case, times what one costs beyond OMPL's own checker that says yes, with "
            "getting the pose and calling the compiled function on no segments.",
            f"A peer's best: RRT-Connect with shortening, again and again for {SECONDS:g} s; BIT* for {SECONDS:g} s.",
            "The cases are ten of the Trajectory Planning Competition of Automated Parking (ITSC 2022), also mirrored; "
            "a variation is mirrored, turned, moved, squeezed and strewn with boxes by its seed.",
        ),
    )


def _ask(what: list[Variation], better: bool, poses: list[Numbers]) -> dict[str, Any]:
    return ask(
        "free_space.py",
        {
            "cases": [question(each) for each in what],
            "poses": poses,
            "radius": CAR.wheelbase / math.tan(full_steer(CAR)),
            "body": [CAR.rear_overhang, CAR.front, 0.5 * CAR.width],
            "seconds": SECONDS,
            "tries": TRIES if better else 1,
            "better": int(better),
        },
    )


def _timed(each: Variation) -> list[ParkingSolution]:
    tree = new_tree()
    solve_once(each.case, time.process_time, tree)
    return [solve_once(each.case, time.process_time, tree) for _ in range(REPEATS)]


def _row(name: str, ours: float, peer: float | None, goal: str) -> tuple[Cell, ...]:
    """With how many times as much the peer takes."""
    return (name, ours, peer, None if peer is None else peer / ours, goal)


def _times(ours: list[list[ParkingSolution]], peer: list[dict[str, Any]]) -> list[tuple[Cell, ...]]:
    first = [1e3 * statistics.median(run.first for run in runs) for runs in ours]
    whole = [1e3 * statistics.median(run.whole for run in runs) for runs in ours]
    theirs = [statistics.median(each["first_ms"]) for each in peer if each["first_ms"]]
    goals = (("median", 0.5, "0.5"), ("p95", 0.95, "5"), ("worst", 1.0, "20"))
    rows = [
        _row(f"first path, ms, {name}", percentile(first, share), percentile(theirs, share), f"<= {goal}")
        for name, share, goal in goals
    ]
    rows += [_row("whole trajectory, ms, median", percentile(whole, 0.5), None, "")]
    rows += [_row("whole trajectory, ms, worst", max(whole), None, "<= 50")]
    return rows


def _without_calls(
    ours: list[list[ParkingSolution]], peer: list[dict[str, Any]], call_us: float
) -> list[tuple[Cell, ...]]:
    """The peer's first paths without what it takes to call back into Python for every state, as if its package took a
    compiled checker.
    """
    first = [1e3 * statistics.median(run.first for run in runs) for runs in ours]
    shares = [min(1.0, 1e-3 * call_us * calls / took) for took, calls in (each["counted"] for each in peer)]
    native = [
        statistics.median(each["first_ms"]) * (1.0 - share)
        for each, share in zip(peer, shares, strict=True)
        if each["first_ms"]
    ]
    calls = statistics.median(each["counted"][1] for each in peer)
    return [
        ("calls back into Python, median of the cases", None, calls, None, ""),
        ("their cost, us each", None, call_us, None, ""),
        ("their share of the peer's time, %, median", None, 100.0 * statistics.median(shares), None, ""),
        _row("first path, ms, median, calls back taken off", percentile(first, 0.5), percentile(native, 0.5), ""),
        _row("first path, ms, p95, calls back taken off", percentile(first, 0.95), percentile(native, 0.95), ""),
    ]


def _quality(real: list[Variation], ours: list[ParkingSolution], peer: list[dict[str, Any]]) -> list[tuple[Cell, ...]]:
    solved = [run.reason is Reason.NONE for run in ours]
    all_tries = sum(len(each["first_ms"]) == TRIES for each in peer)
    longer = [
        statistics.median(length for length, _ in theirs["first"]) / run.length
        for run, theirs in zip(ours, peer, strict=True)
        if theirs["first"]
    ]
    beaten = [
        each.name
        for each, run, theirs in zip(real, ours, peer, strict=True)
        if any(dominates(length, changes, run) for length, changes in (*theirs["first"], *theirs["best"]))
    ]
    worst = max(run.cusps for each, run in zip(real, ours, strict=True) if each.name.startswith("Case7"))
    return [
        ("cases solved (peer: in all tries)", sum(solved), all_tries, None, str(len(real))),
        ("length of the peer's first path, in ours, median", 1.0, percentile(longer, 0.5), percentile(longer, 0.5), ""),
        ("gear changes in case 7", worst, None, None, "< 15"),
        ("cases in which a peer's best is as good and better", ", ".join(beaten) or 0, None, None, "0"),
    ]


def dominates(length: float, changes: int, run: ParkingSolution) -> bool:
    """Whether a path is no worse in length and gear changes, and better in one."""
    no_worse = length < run.length + SAME and changes <= run.cusps
    return no_worse and (length < run.length - SAME or changes < run.cusps)


def _success(ours: list[ParkingSolution], peer: list[dict[str, Any]]) -> list[tuple[Cell, ...]]:
    mine = [run.reason is Reason.NONE for run in ours]
    theirs = [bool(each["first"]) for each in peer]
    both = sum(a and b for a, b in zip(mine, theirs, strict=True))
    share = 100.0 * both / max(1, sum(theirs))
    first = [1e3 * run.first for run, done in zip(ours, mine, strict=True) if done]
    whole = [1e3 * run.whole for run, done in zip(ours, mine, strict=True) if done]
    other = [each["first_ms"][0] for each in peer if each["first_ms"]]
    return [
        (f"{len(ours)} variations, solved", sum(mine), sum(theirs), None, ""),
        ("of those that the peer solves, %", share, None, None, ">= 99.9"),
        _row("variations, first path, ms, median", percentile(first, 0.5), percentile(other, 0.5), ""),
        _row("variations, first path, ms, p95", percentile(first, 0.95), percentile(other, 0.95), ""),
        _row("variations, whole trajectory, ms, p95", percentile(whole, 0.95), None, ""),
    ]


def _curves(poses: np.ndarray, theirs: Numbers, peer_us: float) -> list[tuple[Cell, ...]]:
    """Lengths of Reeds-Shepp curves, and what one costs: all words here, the shortest there."""
    lengths, steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES))

    def shortest(pose: np.ndarray) -> float:
        return float(np.abs(lengths[: words(*pose, lengths, steers)]).sum(axis=1).min())

    apart = max(abs(shortest(pose) - other) for pose, other in zip(poses, theirs, strict=True))
    began = time.process_time()
    for pose in poses:
        words(*pose, lengths, steers)
    took = 1e6 * (time.process_time() - began) / len(poses)
    return [
        ("Reeds-Shepp length, radii, greatest difference from rsplan", apart, None, None, "0"),
        _row("Reeds-Shepp words of a pose, us", took, peer_us, ""),
    ]
