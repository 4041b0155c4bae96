"""A run that is shown while it drives: `sim --view` in a process of its own, and headless Chromium."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.share import share_file
from tuling_fsm.viewer.live.patches import LiveFilm, LiveSource
from tuling_fsm.viewer.live.server import LiveServer

from .live_drive import patches
from .tabs import READY, OpenPage

pytestmark = pytest.mark.slow

OVER = "html[data-feed=over]"
ROAM = str(share_file("config", "scenarios", "roam.osc"))
PATIENCE_MS = 300_000
"""A page waits for the run that it shows, on however slow a machine."""


class Run:
    """`sim --view` on a short way, and its folder."""

    def __init__(self, out: Path, length_m: float) -> None:
        self.out = out
        command = [sys.executable, "-m", "tuling_fsm.cli", "sim", ROAM, "--set", f"length_m={length_m:g}"]
        self.process = subprocess.Popen(
            [*command, "--out", str(out), "--no-film", "--view"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stderr is not None
        self.url = next(found[1] for line in self.process.stderr if (found := re.search(r"view: (http\S+)", line)))

    def end(self) -> str:
        """Wait for it; the rest of what it said."""
        return self.process.communicate()[1]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    started = Run(tmp_path / "out", 250.0)
    yield started
    started.process.kill()
    started.process.wait()


@pytest.mark.clause("EXPL-1")
def test_a_page_shows_the_run_while_it_drives_and_plays_it_afterwards(browser: Any, run: Run) -> None:
    tab = OpenPage(browser, run.url, PATIENCE_MS)
    tab.page.wait_for_selector(READY)
    assert run.process.poll() is None
    tab.page.wait_for_function("film.clock.atEdge && film.stages[0].ego.v > 1")
    before = tab.ask("film.stages[0].ego")
    tab.page.wait_for_function("x => Math.abs(film.stages[0].ego.x - x[0]) + Math.abs(film.stages[0].ego.y - x[1]) > 3",
                               arg=[before["x"], before["y"]])  # fmt: skip
    assert tab.page.locator("#feed").inner_text() == "live"
    tab.go(1.0)
    assert tab.ask("film.clock.atEdge") is False
    gone_on = tab.ask("film.clock.end")
    second = OpenPage(browser, run.url, PATIENCE_MS)
    second.page.wait_for_selector(READY)
    tab.page.wait_for_function(
        "end => film.clock.end > end || document.documentElement.dataset.feed === 'over'", arg=gone_on
    )
    assert tab.ask("film.clock.t") == 1.0
    vanishing = OpenPage(browser, run.url, PATIENCE_MS)
    vanishing.page.close()
    assert "the drive is over" in run.end()
    assert run.process.returncode == 0
    motion = read_timeline(BagSource(run.out)).motion
    for each in (tab, second):
        each.page.wait_for_selector(OVER)
        assert each.ask("film.recordings[0].columns.get('ego.t').length") == len(motion)
        for sample in motion[:: len(motion) // 12]:
            each.go(sample.t)
            ego = each.ask("film.stages[0].ego")
            assert abs(ego["x"] - sample.pose.x) < 0.01
            assert abs(ego["y"] - sample.pose.y) < 0.01
        assert "finished" in each.page.locator("#headline").inner_text()
        assert each.said == []
        each.page.close()


def test_a_browser_that_is_stopped_does_not_stop_the_run(run: Run) -> None:
    address = run.url.removeprefix("http://").rstrip("/")
    reader = subprocess.Popen([sys.executable, "-c", STREAM_READER, address], stdout=subprocess.PIPE)
    assert reader.stdout is not None
    assert reader.stdout.readline() == b"200\n"
    reader.send_signal(signal.SIGSTOP)
    try:
        assert "the drive is over" in run.end()
        assert run.process.returncode == 0
    finally:
        reader.kill()
        reader.wait()


STREAM_READER = """
import http.client, sys
connection = http.client.HTTPConnection(sys.argv[1])
connection.request("GET", "/stream")
response = connection.getresponse()
print(response.status, flush=True)
while response.read(100):
    pass
"""


@pytest.fixture
def server() -> Iterator[LiveServer]:
    made = LiveServer("drive on course, seed 4")
    yield made
    made.close(0.0)


def test_scrubbing_back_and_the_key_that_leads_to_what_happens_now(
    browser: Any, server: LiveServer, bag: Path, course: RoadMap
) -> None:
    parts = list(patches(LiveFilm(LiveSource("drive on course, seed 4", str(bag), course)), bag))
    half = len(parts) // 2
    for part in parts[:half]:
        server.log.append(part)
    tab = OpenPage(browser, server.url, PATIENCE_MS)
    tab.page.wait_for_selector(READY)
    tab.page.wait_for_function("film.clock.t === film.clock.end && film.clock.end > 5")
    tab.go(2.0)
    assert tab.ask("document.getElementById('live').ariaPressed") == "false"
    assert "LEADER" in tab.page.locator("#moment").inner_text()
    tab.page.keyboard.press("l")
    tab.page.wait_for_function("film.clock.atEdge && film.clock.t === film.clock.end")
    tab.page.keyboard.press("Space")
    tab.page.click("#live")
    for part in parts[half:]:
        server.log.append(part)
    server.log.close()
    tab.page.wait_for_selector(OVER)
    assert tab.ask("film.clock.t") == tab.ask("film.clock.end") == pytest.approx(11.95, abs=1e-3)
    assert tab.page.locator("#live").is_hidden()
    rows = tab.page.locator("#events button").all_inner_texts()
    for text in ("solid line, at fault", "stands for 2.5 s", "on_road/normal → intersection/safe_driving"):
        assert any(text in row for row in rows), text
    tab.go(5.0)
    drawn = tab.ask("film.stages[0].drawn")
    assert {name for name, count in drawn.items() if not count} <= {"labels"}
    tab.page.keyboard.press("Space")
    tab.page.wait_for_function("film.clock.t > 5.2")
    assert tab.said == []
    tab.page.close()
