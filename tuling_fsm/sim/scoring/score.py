"""How good a run was: what is measured frame by frame beside infractions, and the two public scores made of both."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

AGAINST_S = 1.0
"""Metres against the traffic are counted over this time."""


@dataclass(frozen=True)
class MetricValues:
    """Of a run so far: mean speed above the limit (m/s, over all of the time), most metres in a second against the
    traffic, and the share of the driven way that lay off the road or on lanes that are not of the route.
    """

    overspeed: float = 0.0
    against_m: float = 0.0
    outside_route_lanes: float = 0.0


class Metrics:
    """Adds up frame by frame."""

    def __init__(self) -> None:
        self._time = self._above = self._most_against = self._way = self._outside = 0.0
        self._against: deque[tuple[float, float]] = deque()
        """Time (s) and metres of the frames against the traffic within the last second."""

    def measures(self) -> MetricValues:
        """What there is to say so far."""
        return MetricValues(
            overspeed=self._above / max(self._time, 1e-9),
            against_m=self._most_against,
            outside_route_lanes=self._outside / max(self._way, 1e-9),
        )

    def note_speed(self, dt: float, above: float) -> None:
        """A frame of `dt` s at so much (m/s) above the limit, negative below it."""
        self._time += dt
        self._above += max(above, 0.0) * dt

    def note_way(self, metres: float, outside: bool) -> None:
        """So far was driven in a frame, off the road or the lanes of the route or not."""
        self._way += metres
        self._outside += metres if outside else 0.0

    def note_against(self, stamp: float, metres: float) -> None:
        """So far was driven in the frame at `stamp` (s) against the traffic of the lane."""
        self._against.append((stamp, metres))
        while stamp - self._against[0][0] > AGAINST_S - 1e-6:
            self._against.popleft()
        self._most_against = max(self._most_against, math.fsum(each for _, each in self._against))


@dataclass(frozen=True)
class Infraction:
    """One event: when (s), what, in words, and whether the car is to blame."""

    t: float
    kind: str
    detail: str
    at_fault: bool


COEFFICIENTS = {
    "collision_person": 1.00,
    "collision_vehicle": 0.70,
    "collision_static": 0.60,
    "red_light": 0.40,
    "stop_sign": 0.25,
}
"""Of the CARLA leaderboard 2.1 ([leaderboard2][]), for what is at fault. Its terms for a scenario that takes too
long and for an emergency vehicle that is not let through are not here; being slower than the traffic around is
recorded by its program, and costs nothing there either.
"""
OWN_COEFFICIENTS = {
    "blocked": 0.40,
    "yield": 0.40,
    "dark_light": 0.40,
    "wrong_way": 0.40,
    "queue_overtaken": 0.25,
    "solid_line": 0.10,
    "speeding": 0.10,
}
"""Our own additions to them. Leaving the road takes its way out of the completion instead, as there."""
WEIGHTS = {"progress": 5.0, "time_to_collision": 5.0, "speed_limit": 4.0, "comfort": 2.0}
FACTORS = ("collisions", "drivable_area", "driving_direction", "making_progress")
"""Of nuPlan's closed-loop score: weights of the mean, and what that is multiplied by."""
MAKING_PROGRESS = 0.2
MAX_OVERSPEED = 2.23
"""This much above the limit all of the time leaves nothing of the speed limit's term, m/s."""
AGAINST_M = (2.0, 6.0)
"""So far against the traffic within a second is nothing, and up to so far half a fault."""
PERSONS = ("pedestrian", "bicycle")
STATIC = ("animal", "barrier", "cone", "debris", "unknown", "thing")
"""Neither vehicles nor persons; an animal is one of nuPlan's generic objects."""


def score(
    infractions: Sequence[Infraction], completion: float | None, measures: MetricValues
) -> dict[str, float | None]:
    """Both scores, 0 to 1, and their terms; terms that were not measured are None, and in neither score.

    `closed_loop` is nuPlan's ([caesar2021][]): a weighted mean of progress, time to collision, speed
    limit and comfort, times factors for collisions, leaving the road, driving against the traffic and hardly any
    progress. nuPlan compares progress with that of an expert; no expert has driven here, so that it is measured against
    all of the route within the time limit of the run.

    `driving` is that of the CARLA leaderboard 2.1: the route completion, less the share of the way off the road or the
    lanes of the route, times 1 / (1 + the sum of a coefficient for every infraction at fault).

    Args:
        infractions: the referee's records.
        completion: share of the route (or of a mission's stops and its parking) that was done in time, 0 to 1; None
            where no route was asked for.
        measures: what was measured beside them.
    """
    at_fault = Counter(_category(record) for record in infractions if record.at_fault)
    kinds = {record.kind for record in infractions}
    known = COEFFICIENTS | OWN_COEFFICIENTS
    penalty = 1.0 / (1.0 + math.fsum(known[kind] * count for kind, count in at_fault.items() if kind in known))
    terms: dict[str, float | None] = {
        "progress": completion,
        "time_to_collision": 0.0 if "near_miss" in kinds else 1.0,
        "speed_limit": max(1.0 - measures.overspeed / MAX_OVERSPEED, 0.0),
        "comfort": 0.0 if "comfort" in kinds else 1.0,
        "collisions": _collisions(at_fault),
        "drivable_area": 0.0 if at_fault["off_road"] else 1.0,
        "driving_direction": 1.0 - 0.5 * sum(measures.against_m >= metres for metres in AGAINST_M),
        "making_progress": None if completion is None else float(completion >= MAKING_PROGRESS),
    }
    values = {
        "closed_loop": _closed_loop({name: value for name, value in terms.items() if value is not None}),
        "driving": (1.0 if completion is None else completion) * (1.0 - measures.outside_route_lanes) * penalty,
        "route_completion": completion,
        "outside_route_lanes": measures.outside_route_lanes,
        "penalty": penalty,
    }
    return {name: None if value is None else round(float(value), 4) for name, value in (values | terms).items()}


def _closed_loop(terms: Mapping[str, float]) -> float:
    """nuPlan's score, of the terms that were measured."""
    weights = {name: weight for name, weight in WEIGHTS.items() if name in terms}
    mean = math.fsum(weight * terms[name] for name, weight in weights.items()) / math.fsum(weights.values())
    return mean * math.prod(terms[name] for name in FACTORS if name in terms)


def _collisions(at_fault: Counter[str]) -> float:
    """Half for a single static object, nothing for more, a person or a vehicle."""
    if at_fault["collision_person"] or at_fault["collision_vehicle"]:
        return 0.0
    return max(1.0 - 0.5 * at_fault["collision_static"], 0.0)


def _category(record: Infraction) -> str:
    if record.kind != "collision":
        return record.kind
    what = record.detail.split(" ", 1)[0]
    return "collision_person" if what in PERSONS else "collision_static" if what in STATIC else "collision_vehicle"
