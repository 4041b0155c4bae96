"""Kilometres of a campaign, what happened on them, and how often it may happen at most."""

from __future__ import annotations

from typing import Any

import pytest

from tuling_fsm.verbs.campaign_exposure import exposure_lines, exposure_of, upper_bound

HIT = {"t": 1.0, "kind": "collision", "detail": "car 3, front contact", "at_fault": True}
STRUCK = {"t": 1.0, "kind": "collision", "detail": "car 3, rear contact", "at_fault": False}
RED = {"t": 2.0, "kind": "red_light", "detail": "signal 1", "at_fault": True}


def run(km: float, *infractions: dict[str, Any], **traffic: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"distance_m": 1e3 * km, "sim_s": 180.0, "infractions": list(infractions)}
    return {**found, "traffic": traffic} if traffic else found


@pytest.mark.parametrize("km", [1.0, 12.5, 300.0])
def test_where_nothing_happened_the_bound_is_three_by_the_kilometres(km: float) -> None:
    assert upper_bound(0, km) == pytest.approx(3.0 / km, rel=0.002)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 40, 900])
def test_at_the_bound_so_few_events_come_once_in_twenty_times(count: int) -> None:
    from scipy.special import pdtr  # Here and not above: every process of pytest would load SciPy to gather the tests.

    assert pdtr(count, upper_bound(count, 25.0) * 25.0) == pytest.approx(0.05)


def test_events_are_counted_over_the_runs_that_tell_of_them() -> None:
    touched = [{"t": 3.0, "other": 7}]
    runs = [
        run(2.0, HIT, STRUCK),
        run(3.0, RED, RED, contacts=touched, collisions=[], standstills=[]),
        run(5.0, contacts=[], collisions=touched, standstills=[{"t": 1.0, "s": 61.0}]),
        {"infractions": [], "error": "killed"},
    ]
    found = exposure_of(runs)
    assert (found["runs"], found["km"], found["hours"]) == (3, 10.0, 0.15)
    rates = {name: (event["count"], event["per_km"]) for name, event in found["events"].items()}
    assert rates == {
        "contacts at fault": (1, 0.1),
        "contacts (footprints)": (1, 0.125),
        "collisions (SUMO)": (1, 0.125),
        "red lights run": (2, 0.2),
        "standstills over 60 s, no queue": (1, 0.125),
    }


def test_runs_that_are_one_and_the_same_drive_count_once() -> None:
    """Seeds of a script in which nothing is drawn but lights that the car never meets say no more than one of them."""

    def drive(motion: str, *infractions: dict[str, Any], town: str = "a") -> dict[str, Any]:
        return run(10.0, *infractions) | {"file": "cut_in.xosc", "map": town, "motion_sha256": motion}

    found = exposure_of([drive("1", HIT)] * 4)
    once = exposure_of([drive("1", HIT)])
    assert (found["runs"], found["different"]) == (4, 1)
    assert (found["km"], found["hours"], found["events"]) == (once["km"], once["hours"], once["events"])
    assert next(exposure_lines(found)) == (
        "10.0 km in 0.05 h of 4 runs, 1 of them different: what is the same drive counts once"
    )
    others = [drive("1"), drive("2"), drive("1", town="b"), drive("1", RED), drive("1") | {"file": "b.xosc"}]
    assert exposure_of(others)["different"] == 5
    assert exposure_of([run(10.0)] * 4)["different"] == 4, "results that do not tell of their motion"


def test_the_lines_name_kilometres_rates_and_bounds() -> None:
    lines = list(exposure_lines(exposure_of([run(30.0)])))
    assert lines == [
        "30.0 km in 0.05 h of 1 runs",
        "  contacts at fault: 0, 0.0000 per km, below 0.0999 with 95 % confidence",
        "  red lights run: 0, 0.0000 per km, below 0.0999 with 95 % confidence",
    ]
    assert list(exposure_lines(exposure_of([]))) == []
