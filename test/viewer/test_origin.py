"""On a map far from zero, as in UTM, pages draw as near zero: a canvas has 32 bits for a coordinate."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.viewer.columns import joined, unpacked
from tuling_fsm.viewer.live.patches import LiveFilm, LiveSource
from tuling_fsm.viewer.map_page import write_map_page
from tuling_fsm.viewer.recording import FilmSource, record

from .tabs import Tab

LAYERS = ("road", "ego", "plan", "object", "candidate", "predicted")
LISTS = ("xy", "ends", "numbers", "x", "y")
FAR_M = 10_000.0
FarMap = tuple[Path, tuple[float, float]]


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory, utm_course: FarMap) -> Path:
    """The bag of a run on the course in UTM."""
    folder, settings = tmp_path_factory.mktemp("utm") / "drive", (("length_m", "150"), ("vehicles", "40"))
    roam = share_file("config", "scenarios", "roam.osc")
    run_scenario(RunSettings(roam, map_file=utm_course[0], seed=1, overrides=settings), out=folder, film=False)
    return folder


def coordinates(header: object) -> Iterator[float]:
    """Every coordinate in a header, at whatever depth."""
    if isinstance(header, Mapping):
        for name, value in header.items():
            if name in LISTS:
                yield from np.ravel(value).tolist()
            elif name != "origin":
                yield from coordinates(value)
    elif isinstance(header, list | tuple):
        for each in header:
            yield from coordinates(each)


def is_near(header: Mapping[str, Any], columns: Mapping[str, Any]) -> bool:
    places = [values for name, values in columns.items() if name.endswith((".x", ".y"))]
    found = np.concatenate([*places, np.array(list(coordinates(header)))])
    return bool((np.abs(found) < FAR_M).all())


@pytest.mark.slow
def test_a_film_is_near_zero_and_knows_where_that_is(drive: Path) -> None:
    header, columns = unpacked(record(FilmSource(BagSource(drive))).data)
    assert is_near(header, columns)
    assert [layer for layer in LAYERS if not len(columns[f"{layer}.x"])] == []
    assert all(header[name] for name in ("routes", "spans", "roads"))
    origin = header["origin"]
    begin = read_timeline(BagSource(drive)).motion[0].pose
    assert (columns["ego.x"][0] + origin["x"], columns["ego.y"][0] + origin["y"]) == pytest.approx(
        (begin.x, begin.y), abs=1e-3
    )


@pytest.mark.slow
def test_two_runs_over_each_other_have_one_origin(drive: Path, bag: Path) -> None:
    first = record(FilmSource(BagSource(bag)))
    assert first.origin[1:] == (0.0, 0.0)
    assert record(FilmSource(BagSource(drive)), beside=first).origin[1:] == (0.0, 0.0)


@pytest.mark.slow
def test_a_drive_that_goes_on_is_near_zero_too(drive: Path, utm_course: FarMap) -> None:
    film = LiveFilm(LiveSource("drive", road_map=read_map(utm_course[0])))
    for message in read_messages(BagSource(drive)):
        film.take(message.topic, message.data)
    patch = film.patch()
    assert patch is not None
    header, columns = unpacked(joined([patch]))
    assert is_near(header, columns)
    assert len(columns["ego.x"])


@pytest.mark.slow
def test_a_map_is_drawn_as_near_zero_and_told_where_it_is(browser: Any, utm_course: FarMap, tmp_path: Path) -> None:
    pictures = []
    for file, (dx, dy) in ((share_file("config", "course", "course.xodr"), (0.0, 0.0)), utm_course):
        page = tmp_path / f"{file.stem}.html"
        write_map_page(page, read_map(file))
        tab = Tab(browser, page)
        tab.page.keyboard.press("/")
        tab.page.keyboard.type(f"{60.0 + dx} {-1.75 + dy}")
        tab.page.keyboard.press("Enter")
        tab.drawn()
        pictures.append(np.asarray(Image.open(io.BytesIO(tab.page.locator("#map").screenshot())).convert("L"), float))
        tab.page.locator("#map").click()
        tab.drawn()
        shown = tab.page.locator("#clicked dd").first.inner_text().replace(" m", "").split(", ")
        assert [float(each) for each in shown] == pytest.approx((60.0 + dx, -1.75 + dy), abs=0.1)
        tab.page.close()
    here, there = pictures
    assert np.abs(here - there).mean() < 0.02
