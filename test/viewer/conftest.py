"""The drive that the tests look at, recorded and made into a page once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.film_page import write_film
from tuling_fsm.viewer.recording import FilmSource

from .chromium import OPTIONS, chromium
from .drives import END_S, TICK_S, record
from .tabs import Tab

INFRACTIONS = [
    {"t": 5.0, "kind": "solid_line", "detail": "the left wheels", "at_fault": True},
    {"t": 7.5, "kind": "comfort", "detail": "jerk 4.6 m/s^3", "at_fault": False},
]


@pytest.fixture(scope="session")
def bag(tmp_path_factory: pytest.TempPathFactory, course: RoadMap) -> Path:
    """A bag with the result of a simulated run beside it."""
    folder = record(tmp_path_factory.mktemp("film") / "drive", course)
    result = {"finished": True, "end": "goal", "scenario": "drive", "map": "course", "seed": 4,
              "infractions": INFRACTIONS, "score": {"closed_loop": 0.5, "driving": 0.75}}  # fmt: skip
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def film(bag: Path) -> Path:
    """Its page."""
    ticks = [(k * TICK_S, 2.0 + k % 3) for k in range(round(END_S / TICK_S))]
    write_film(bag / "report.html", [FilmSource(BagSource(bag), tick_ms=ticks)])
    return bag / "report.html"


@pytest.fixture
def node() -> str:
    """The program that runs JavaScript; its tests are skipped without."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node; the package nodejs of the distribution brings one")
    return program


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, as Debian has it; its tests are skipped without."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright, of the extra `test`, is not installed")
    program = chromium()
    if program is None:
        pytest.skip("no Chromium; `make browser` brings that of the distribution")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=OPTIONS)
        yield started
        started.close()


@pytest.fixture
def tab(browser: Any, page: Path) -> Iterator[Tab]:
    """A page that is open, in which nothing goes wrong until the end of the test."""
    opened = Tab(browser, page)
    yield opened
    opened.page.close()
    assert opened.said == []
