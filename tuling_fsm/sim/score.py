"""How good a run was: two public scores, with their terms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tuling_fsm.sim.gauges import Measures
from tuling_fsm.sim.referee import Infraction

PENALTIES = {
    "collision_person": 0.50,
    "collision_vehicle": 0.60,
    "collision_static": 0.65,
    "red_light": 0.70,
    "blocked": 0.70,
    "stop_sign": 0.80,
    "off_road": 0.80,
    "wrong_way": 0.80,
    "solid_line": 0.95,
}
"""Factors of the CARLA leaderboard for what is at fault; leaving the road, the wrong way and lines are our own."""
WEIGHTS = {"progress": 5.0, "time_to_collision": 5.0, "speed_limit": 4.0, "comfort": 2.0}
FACTORS = ("collisions", "drivable_area", "driving_direction", "making_progress")
"""Of nuPlan's closed-loop score: weights of the mean, and what that is multiplied by."""
MAKING_PROGRESS = 0.2
MAX_OVERSPEED = 2.23
"""This much above the limit all of the time leaves nothing of the speed limit's term, m/s."""
AGAINST_M = (2.0, 6.0)
"""So far against the traffic within a second is nothing, and up to so far half a fault."""
PERSONS = ("pedestrian",)
STATIC = ("barrier", "cone", "debris", "unknown")


def score(infractions: Sequence[Infraction], completion: float, measures: Measures) -> dict[str, float]:
    """Both scores, 0 to 1, and their terms.

    `driving` is the route completion times a factor for every infraction at fault (CARLA leaderboard 2.0).
    `closed_loop` is nuPlan's: a weighted mean of progress, time to collision, speed limit and comfort, times factors
    for collisions, leaving the road, driving against the traffic and hardly any progress. nuPlan compares progress
    with that of an expert; nobody has driven here before, so that it is measured against all of the route within the
    time limit of the run.

    Args:
        infractions: the referee's records.
        completion: share of the route (or of a mission's stops and its parking) that was done in time, 0 to 1.
        measures: what was measured beside them.
    """
    at_fault = Counter(_category(record) for record in infractions if record.at_fault)
    penalty = math.prod(PENALTIES[kind] for kind in at_fault.elements() if kind in PENALTIES)
    terms = {
        "progress": completion,
        "time_to_collision": 0.0 if measures.near_miss else 1.0,
        "speed_limit": max(1.0 - measures.overspeed / MAX_OVERSPEED, 0.0),
        "comfort": 0.0 if any(record.kind == "comfort" for record in infractions) else 1.0,
        "collisions": _collisions(at_fault),
        "drivable_area": 0.0 if at_fault["off_road"] else 1.0,
        "driving_direction": 1.0 - 0.5 * sum(measures.against_m >= metres for metres in AGAINST_M),
        "making_progress": 1.0 if completion >= MAKING_PROGRESS else 0.0,
    }
    mean = math.fsum(weight * terms[name] for name, weight in WEIGHTS.items()) / math.fsum(WEIGHTS.values())
    values = {
        "closed_loop": mean * math.prod(terms[name] for name in FACTORS),
        "driving": completion * penalty,
        "route_completion": completion,
        "penalty": penalty,
    }
    return {name: round(float(value), 4) for name, value in (values | terms).items()}


def _collisions(at_fault: Counter[str]) -> float:
    """Half for a single thing, nothing for anybody or more."""
    if at_fault["collision_person"] or at_fault["collision_vehicle"]:
        return 0.0
    return max(1.0 - 0.5 * at_fault["collision_static"], 0.0)


def _category(record: Infraction) -> str:
    if record.kind != "collision":
        return record.kind
    what = record.detail.split(" ", 1)[0]
    return "collision_person" if what in PERSONS else "collision_static" if what in STATIC else "collision_vehicle"
