"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import random
import signal
from collections.abc import Generator
from itertools import groupby
from pathlib import Path

import pytest
from crossroads import LIGHT, crossroads
from hypothesis import HealthCheck, settings
from lxml import etree

from tuling_fsm.garbage import collect_seldom
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.share import share_file

# Neither compiling on first use nor a slow machine is a reason to fail, and a failure has to come again.
settings.register_profile("repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")

# `nohup make test` has it ignored, also by all that tests start.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest first in each of the parts that the workers begin with: none is left to one of them at the end.

    The tests of a file stay together, and so do the fixtures that they share. With `TEST_ORDER` (a seed) all are
    shuffled instead: none may need what another has left behind.
    """
    if seed := os.environ.get("TEST_ORDER"):
        random.Random(seed).shuffle(items)
        return
    parts = getattr(config, "workerinput", {"workercount": 1})["workercount"]

    shorter = {path: not path.is_relative_to(DRIVES) for path in {item.path for item in items}}

    def length(item: pytest.Item) -> tuple[bool, bool]:
        return shorter[item.path], item.get_closest_marker("slow") is None

    files = [list(found) for _, found in groupby(sorted(items, key=length), key=lambda item: (length(item), item.path))]
    items[:] = [item for part in range(parts) for file in files[part::parts] for item in file]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests stay to the end: looking for garbage among a million objects took a twentieth of the CPU, and a
    tenth of that of gathering them. What the tests load then stays as well, maps and kernels: they look for garbage as
    seldom as the programs do, which takes another 3 % less.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
        collect_seldom()


DRIVES = Path(__file__).resolve().parent / "run"
"""Whole scenarios, half a minute each."""
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real maps, parking cases and scenarios that are kept beside the project; tests that read them are skipped
    without.
    """
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no folder {SHARED_DATA.name} beside the project")
    return SHARED_DATA


@pytest.fixture(scope="session")
def lit(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Crossroads with traffic lights from everywhere."""
    return crossroads(tmp_path_factory.mktemp("maps"), "lit", dict.fromkeys("ENWS", LIGHT))


@pytest.fixture(scope="session")
def course() -> RoadMap:
    """The town of the course, on which nearly all scenarios are."""
    return read_map(share_file("config", "course", "course.xodr"))


@pytest.fixture(scope="session")
def utm_course(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[float, float]]:
    """The map of the course in coordinates as those of surveyors, as a file, and how far (m) it is shifted."""
    shifts = 695_000.0, 5_346_000.0
    file = tmp_path_factory.mktemp("utm") / "utm.xodr"
    course = etree.parse(share_file("config", "course", "course.xodr"))
    for geometry in course.iter("geometry"):
        for name, shift in zip(("x", "y"), shifts, strict=True):
            geometry.set(name, repr(float(geometry.get(name)) + shift))
    course.write(file)
    return file, shifts


@pytest.fixture(scope="session")
def whole_course() -> RoadMap:
    """The course of the 90-minute match: the town, and the country around it."""
    return read_map(share_file("config", "course", "match.xodr"))
