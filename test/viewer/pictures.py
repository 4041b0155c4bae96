"""Every picture of the documentation, driven, planned and taken anew: `cd test && python -m viewer.pictures [NAME]`.

Needs Chromium and playwright (`make browser`, `make check` install them); takes about five minutes, most of them for a
demo and four short runs.
"""

from __future__ import annotations

import io
import os
import re
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.cli import main
from tuling_fsm.viewer.timeline_picture import limit_bars
from viewer.chromium import OPTIONS, chromium

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
CONFIG = ROOT / "config"
COURSE = CONFIG / "course" / "course.xodr"
SIZE = {"width": 1280, "height": 860}
TALL = {"width": 1280, "height": 1100}
INTO_S = 2.6
"""So long after a pedestrian has begun to limit the car the film is shown."""
CAMPAIGN = ("roam", "rude")


class Studio:
    """A folder for what has to be driven and planned first, each of it once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def demo(self) -> Path:
        """A run of the demo."""
        do("sim", CONFIG / "scenarios" / "demo.osc", "--seed", 1, "--out", self.folder / "demo")
        return self.folder / "demo"

    @cached_property
    def case(self) -> Path:
        """The free-space case that docs/planning.md shows."""
        text = (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
        (numbers,) = re.findall(r"<!-- case -->\n```\n(.*?)\n```", text)
        file = self.folder / "case.csv"
        file.write_text(numbers, encoding="utf-8")
        return file

    def taken(self, page: Path, script: str, size: Mapping[str, int] = SIZE) -> Image.Image:
        """A page as it is after a script of it."""
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium(), args=OPTIONS)
            tab = browser.new_page(viewport=size, color_scheme="light")
            tab.goto(page.resolve().as_uri())
            tab.wait_for_selector("html[data-ready=true]")
            tab.evaluate(f"() => {{ {script} }}")
            tab.wait_for_timeout(500)
            found = Image.open(io.BytesIO(tab.screenshot()))
            browser.close()
        return found.convert("RGB")


def do(*command: Any) -> None:
    """A verb of the command line."""
    if main([str(word) for word in command]) != 0:
        raise SystemExit(f"did not hold: {' '.join(map(str, command))}")


def run_from_above(studio: Studio) -> Image.Image:
    """The first picture of a run's own."""
    text = (studio.demo / "pictures.html").read_text(encoding="utf-8")
    first = re.search(r'src="data:image/png;base64,([^"]+)"', text)
    assert first is not None
    return Image.open(io.BytesIO(b64decode(first.group(1)))).convert("RGB")


def film(studio: Studio) -> Image.Image:
    """The car brakes for a pedestrian."""
    bars = limit_bars(read_timeline(BagSource(studio.demo)), 0.0)
    since = max((bar for bar in bars if bar[2] == "PEDESTRIAN"), key=lambda bar: bar[1] - bar[0])[0]
    return studio.taken(studio.demo / "report.html", f"film.clock.seek({since + INTO_S}); film.zoom(1.6);", TALL)


def timeline(studio: Studio) -> Image.Image:
    """The same drive on one page."""
    png = studio.folder / "why.png"
    do("why", studio.demo, "--png", png)
    return Image.open(png).convert("RGB")


def map_page(studio: Studio) -> Image.Image:
    """A route on the map, with a pose that was picked."""
    page = studio.folder / "map.html"
    do("route", COURSE, "--from", 20, -2, "--to", 150, 160, "--html", page)
    return studio.taken(page, "atlas.look([60, -45, 225, 60]); atlas.pick(130, -5.2); atlas.pointer = [420, 380];")


def plan(studio: Studio) -> Image.Image:
    """Into a gap, half of the way."""
    page = studio.folder / "plan.html"
    do("plan", studio.case, "--html", page)
    return studio.taken(page, "film.clock.seek(0.5 * film.clock.end);")


def campaign(studio: Studio) -> Image.Image:
    """Four short runs."""
    files = [CONFIG / "scenarios" / f"{name}.osc" for name in CAMPAIGN]
    out = studio.folder / "campaign"
    main(["campaign", *map(str, files), "--seeds", "2", "--set", "length_m=150", "--out", str(out)])
    return studio.taken(out / "index.html", "", {"width": 1280, "height": 430})


def machine(studio: Studio) -> Image.Image:
    """Before a junction, while the dwell time of the way in runs."""
    page = studio.folder / "machine.html"
    do("machine", "--html", page, "--run", studio.demo)
    held = "page.run.data.dwells.find(each => each.guard === 'junction_ahead' && each.heldS > 0)"
    return studio.taken(page, f"page.seek({held}.t);", TALL)


PICTURES: Mapping[str, Callable[[Studio], Image.Image]] = {
    "run.png": run_from_above,
    "report.png": film,
    "why.png": timeline,
    "map.png": map_page,
    "plan.png": plan,
    "campaign.png": campaign,
    "machine.png": machine,
}
"""Every file of docs/images, and how it is made."""


def write(names: list[str], folder: Path = IMAGES) -> None:
    """Some of them, or all where none is named."""
    if chromium() is None:
        raise SystemExit("no Chromium; `make browser` brings that of the distribution")
    with TemporaryDirectory() as work:
        os.chdir(work)  # Pages and pictures name the bag as it was called.
        studio = Studio(Path("out"))
        studio.folder.mkdir()
        for name in names or PICTURES:
            PICTURES[name](studio).save(folder / name, optimize=True)
            print(folder / name)


if __name__ == "__main__":
    write(sys.argv[1:])
