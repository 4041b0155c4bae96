"""What a campaign has seen by the kilometre: events, their rate, and how large the rate may be with 95 % confidence.

The bound is that of a Poisson process (Garwood, Fiducial limits for the Poisson distribution, Biometrika 1936). Where
nothing has happened in n kilometres it is 3 / n, the rule of three (Hanley and Lippman-Hand, JAMA 1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tuling_fsm.core import elementary
from tuling_fsm.viewer.campaign_page import faults

CONFIDENCE = 0.95
_HALVINGS = 60
"""Of an interval: as many as a float has digits."""
Result = Mapping[str, Any]
"""The content of a `result.json`."""


def _at_fault(kind: str) -> Callable[[Result], int]:
    return lambda run: sum(item["kind"] == kind for item in faults(run))


def _judged(name: str) -> Callable[[Result], int]:
    return lambda run: len(run.get("traffic", {}).get(name, ()))


EVENTS: Mapping[str, Callable[[Result], int]] = {
    "contacts at fault": _at_fault("collision"),
    "contacts (footprints)": _judged("contacts"),
    "collisions (SUMO)": _judged("collisions"),
    "red lights run": _at_fault("red_light"),
    "standstills over 60 s, no queue": _judged("standstills"),
}
"""Counted in a run: the first and the fourth by the referee, the others by the judges of foreign traffic."""
_FOREIGN = frozenset({"contacts (footprints)", "collisions (SUMO)", "standstills over 60 s, no queue"})
"""Of these only runs in foreign traffic tell."""


def upper_bound(count: int, km: float) -> float:
    """The rate (1/km) that is larger than the true one with `CONFIDENCE`, of a number of events in some kilometres."""
    low, high = float(count), count + 10.0 * math.sqrt(count + 1.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _at_most(count, middle) > 1.0 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high / km


def _at_most(count: int, mean: float) -> float:
    """Probability of at most so many events where so many are expected (Poisson); by logarithms, as the terms of large
    numbers are none that a float has.
    """
    total, term = 0.0, -mean
    for k in range(count + 1):
        if k > 0:
            term += elementary.log(mean / k)
        total += elementary.exp(term)
    return total


def exposure_of(runs: Sequence[Result]) -> dict[str, Any]:
    """Kilometres, hours, and of every kind of event its number, rate and bound (1/km), as plain data. Runs that broke
    off do not count, and runs that are one and the same drive count once; no rate where nothing was driven.
    """
    ended = [run for run in runs if "distance_m" in run]
    driven = list({_drive(number, run): run for number, run in enumerate(ended)}.values())
    foreign = [run for run in driven if "traffic" in run]
    events: dict[str, Any] = {}
    for name, count in EVENTS.items():
        told = foreign if name in _FOREIGN else driven
        km, total = _km(told), sum(count(run) for run in told)
        if km > 0.0:
            events[name] = {"count": total, "per_km": total / km, "upper_95_per_km": upper_bound(total, km)}
    hours = sum(run["sim_s"] for run in driven) / 3600.0
    return {
        "runs": len(ended),
        "different": len(driven),
        "km": round(_km(driven), 3),
        "hours": round(hours, 3),
        "events": events,
    }


def _drive(number: int, run: Result) -> tuple[object, ...]:
    """What is equal in runs that are one and the same drive: scenario, map, all motion, and what came of it. Older
    results do not tell of their motion, and each is taken for a drive of its own.
    """
    if "motion_sha256" not in run:
        return (number,)
    return run["file"], run["map"], run["motion_sha256"], *(count(run) for count in EVENTS.values())


def _km(runs: Sequence[Result]) -> float:
    return 1e-3 * sum(float(run["distance_m"]) for run in runs)


def exposure_lines(exposure: Mapping[str, Any]) -> Iterator[str]:
    """The same in words; nothing where nothing was driven."""
    if not exposure["events"]:
        return
    runs, different = exposure["runs"], exposure["different"]
    once = "" if different == runs else f", {different} of them different: what is the same drive counts once"
    yield f"{exposure['km']:.1f} km in {exposure['hours']:.2f} h of {runs} runs{once}"
    for name, found in exposure["events"].items():
        rate, bound = found["per_km"], found["upper_95_per_km"]
        yield f"  {name}: {found['count']}, {rate:.4f} per km, below {bound:.4f} with 95 % confidence"
