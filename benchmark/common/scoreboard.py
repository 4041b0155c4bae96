"""Rows of scores from the records of many runs, one for each planner and condition, and what they say of the goals."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmark.common.table import Cell
from tuling_fsm.run import AGENT
from tuling_fsm.sim.sensors.perception_levels import CLEAN

LONG_STAND_S = 10.0
"""A stand without a reason that is longer is counted."""
SLOWER = {"mild": 0.15, "middle": 0.30}
"""Goal: so much more time than with clean perception at the most, by the level."""


class Condition(NamedTuple):
    """Who drives, in which traffic, with which perception."""

    planner: str
    traffic: str
    perception: str


class Driven(NamedTuple):
    """A run that is over: part of the benchmark, course, condition, record (the essence of `result.json`)."""

    part: str
    course: str
    condition: Condition
    record: Mapping[str, Any]


Group = tuple[str, Condition]
"""A row: part and condition."""


def rows(driven: Sequence[Driven]) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Names of the columns, and a row for each part and condition: planner by planner, traffic by traffic."""
    groups, order = _groups(driven), {planner: number for number, planner in enumerate(_planners(driven))}
    parts = list(dict.fromkeys(each.part for each in driven))
    keys = sorted(groups, key=lambda key: (parts.index(key[0]), order[key[1].planner]))
    columns = (
        "part", "planner", "traffic", "perception", *(name for name, _ in COLUMNS), "time against clean, %",
        "comfort, share of runs",
    )  # fmt: skip
    cells = []
    for part, condition in keys:
        own = groups[part, condition]
        slower = time_against_clean(groups, (part, condition))
        records = [each.record for each in own]
        percent = None if slower is None else f"{100.0 * slower:+.0f}"
        cells.append((part, *condition, *(cell(records) for _, cell in COLUMNS), percent, _score("comfort")(records)))
    return columns, tuple(cells)


def goals(driven: Sequence[Driven]) -> tuple[str, ...]:
    """A sentence for each goal of this planner: whether it is reached, and where it is not."""
    groups = {key: own for key, own in _groups(driven).items() if key[1].planner == AGENT}
    faults = [
        f"{_named(key)}: {', '.join(f'{kind} {count}' for kind, count in sorted(found.items()))}"
        for key, own in groups.items()
        if (found := faults_of(each.record for each in own))
    ]
    clean = f"reached in all {len(groups)} rows" if not faults else f"missed in {len(faults)} of {len(groups)} rows"
    sentences = [f"Goal, nothing of ours at fault: {clean}{_listed(faults)}."]
    for level, most in SLOWER.items():
        times = {key: time_against_clean(groups, key) for key in groups if key[1].perception == level}
        told = {key: slower for key, slower in times.items() if slower is not None}
        missed = sum(slower > most for slower in told.values())
        verdict = (
            "nothing to compare" if not told else f"missed in {missed} of {len(told)} rows" if missed else "reached"
        )
        values = _listed([f"{key[0]}, {key[1].traffic} {100.0 * slower:+.0f} %" for key, slower in told.items()])
        sentences.append(f"Goal, at {level} at most {100.0 * most:.0f} % more time than clean: {verdict}{values}.")
    return tuple(sentences)


def time_against_clean(groups: Mapping[Group, Sequence[Driven]], key: Group) -> float | None:
    """Share of time that the courses finished in both take more than with clean perception; None without any."""
    part, condition = key
    if condition.perception == CLEAN:
        return None
    before, after = (_times(groups.get((part, each), ())) for each in (condition._replace(perception=CLEAN), condition))
    both = before.keys() & after.keys()
    return sum(after[course] for course in both) / sum(before[course] for course in both) - 1.0 if both else None


def faults_of(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How many infractions at fault there are of each kind."""
    return Counter(each["kind"] for record in records for each in record["infractions"] if each["at_fault"])


def _groups(driven: Iterable[Driven]) -> dict[Group, list[Driven]]:
    groups: dict[Group, list[Driven]] = {}
    for each in driven:
        groups.setdefault((each.part, each.condition), []).append(each)
    return groups


def _planners(driven: Iterable[Driven]) -> list[str]:
    return list(dict.fromkeys(each.condition.planner for each in driven))


def _times(own: Iterable[Driven]) -> dict[str, float]:
    """Of the courses that were finished, s."""
    return {each.course: float(each.record["sim_s"]) for each in own if each.record["finished"]}


def _named(key: Group) -> str:
    return f"{key[0]}, {key[1].traffic}, {key[1].perception}"


def _listed(words: Sequence[str]) -> str:
    return f" ({'; '.join(words)})" if words else ""


Records = Sequence[Mapping[str, Any]]
OWN_COLUMN = ("collision", "red_light")


def _score(name: str) -> Callable[[Records], float]:
    """Mean of a score; a run that broke off has none, and counts as nothing."""
    return lambda records: float(statistics.fmean(record.get("score", {}).get(name, 0.0) for record in records))


def _fault(kind: str) -> Callable[[Records], int]:
    return lambda records: faults_of(records)[kind]


def _others(records: Records) -> str:
    found = {kind: count for kind, count in sorted(faults_of(records).items()) if kind not in OWN_COLUMN}
    return ", ".join(f"{kind} {count}" for kind, count in found.items()) or "none"


def _finished(records: Records) -> str:
    return f"{sum(bool(record['finished']) for record in records)} of {len(records)}"


def _time(records: Records) -> float | None:
    times = [float(record["sim_s"]) for record in records if record["finished"]]
    return float(statistics.fmean(times)) if times else None


def _long_stands(records: Records) -> int:
    return sum(record.get("longest_unexplained_stop_s", 0.0) > LONG_STAND_S for record in records)


COLUMNS: tuple[tuple[str, Callable[[Records], Cell]], ...] = (
    ("closed-loop score (nuPlan)", _score("closed_loop")),
    ("driving score (CARLA)", _score("driving")),
    ("collisions at fault", _fault("collision")),
    ("red lights", _fault("red_light")),
    ("other faults", _others),
    (f"runs with an unexplained stand > {LONG_STAND_S:.0f} s", _long_stands),
    ("finished", _finished),
    ("route done", _score("route_completion")),
    ("time, s", _time),
)
"""Of a row: name, and the cell of its records."""
