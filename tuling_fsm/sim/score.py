"""How good a run was: two public scores, with their terms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

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
WEIGHTS = {"progress": 5.0, "speed_limit": 4.0, "comfort": 2.0}
"""Weights of nuPlan's closed-loop score; its time to collision is not measured."""
MAKING_PROGRESS = 0.2
PERSONS = ("pedestrian",)
STATIC = ("barrier", "cone", "debris", "unknown")


def score(infractions: Sequence[Infraction], completion: float, speeding_share: float) -> dict[str, float]:
    """Both scores, 0 to 1, and their terms.

    `driving` is the route completion times a factor for every infraction at fault (CARLA leaderboard). `closed_loop`
    is nuPlan's
    score: a weighted mean of progress, speed limit and comfort, which is nothing after a collision, off the road,
    against the traffic or without progress.

    Args:
        infractions: the referee's records.
        completion: share of the route that was driven, 0 to 1.
        speeding_share: share of the time above the speed limit, 0 to 1.
    """
    at_fault = Counter(_category(record) for record in infractions if record.at_fault)
    penalty = math.prod(PENALTIES[kind] ** count for kind, count in at_fault.items() if kind in PENALTIES)
    struck = any(kind.startswith("collision") for kind in at_fault)
    terms = {
        "progress": completion,
        "speed_limit": 1.0 - speeding_share,
        "comfort": 0.0 if any(record.kind == "comfort" for record in infractions) else 1.0,
    }
    mean = sum(WEIGHTS[name] * value for name, value in terms.items()) / sum(WEIGHTS.values())
    gates = not (struck or at_fault["off_road"] or at_fault["wrong_way"]) and completion >= MAKING_PROGRESS
    values = {"closed_loop": mean if gates else 0.0, "driving": completion * penalty, "route_completion": completion}
    return {name: round(value, 4) for name, value in (values | {"penalty": penalty} | terms).items()}


def _category(record: Infraction) -> str:
    if record.kind != "collision":
        return record.kind
    what = record.detail.split(" ", 1)[0]
    return "collision_person" if what in PERSONS else "collision_static" if what in STATIC else "collision_vehicle"
