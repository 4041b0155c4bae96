"""The page in a real browser: headless Chromium, as Debian has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.film_page import write_film
from tuling_fsm.viewer.recording import FilmSource

from .drives import limit_at, pose_at, record
from .tabs import Tab

pytestmark = pytest.mark.slow

NARROW = {"width": 400, "height": 800}


@pytest.fixture(scope="module")
def page(film: Path) -> Path:
    return film


def test_the_slider_moves_the_car_to_the_pose_of_the_bag(tab: Tab, bag: Path) -> None:
    motion = read_timeline(BagSource(bag)).motion
    for sample in motion[:: len(motion) // 25]:
        tab.go(sample.t)
        ego = tab.ask("film.stages[0].ego")
        assert abs(ego["x"] - sample.pose.x) < 0.01
        assert abs(ego["y"] - sample.pose.y) < 0.01
        assert abs(ego["heading"] - sample.pose.heading) < 0.001
        assert abs(ego["v"] - sample.v) < 0.01


def test_between_two_samples_the_car_is_between_them(tab: Tab) -> None:
    tab.go(3.325)
    ego = tab.ask("film.stages[0].ego")
    assert abs(ego["x"] - pose_at(3.325).x) < 0.01
    assert abs(ego["y"] - pose_at(3.325).y) < 0.01


def test_every_layer_is_seen_and_can_be_put_out(tab: Tab) -> None:
    tab.go(5.0)
    names = tab.ask("[...document.querySelectorAll('#layers input')].map(box => box.dataset.layer)")
    assert set(names) == set(tab.ask("Object.keys(film.stages[0].drawn)"))
    tab.ask("film.zoom(0.3)")  # The lights of the junctions beside come into view.
    tab.page.click("#scene summary")
    picture = "film.stages[0].canvas.toDataURL()"
    for name in names:
        box = tab.page.locator(f"#layers input[data-layer={name}]")
        box.set_checked(True)
        tab.drawn()
        shown, count = tab.ask(picture), tab.ask(f"film.stages[0].drawn[{name!r}]")
        box.set_checked(False)
        tab.drawn()
        assert count > 0, name
        assert tab.ask(f"film.stages[0].drawn[{name!r}]") == 0, name
        assert tab.ask(picture) != shown, name
        box.set_checked(True)


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("t", [2.0, 6.4, 10.0])
def test_the_panel_says_what_why_says(tab: Tab, t: float) -> None:
    tab.go(t)
    said = tab.page.locator("#moment").inner_text()
    code, words = limit_at(t)
    rows = [code, f"{words} in {12.0 - 0.5 * t:.1f} m", f"{t % 5.0:.2f} of 5.00 s", "no_progress (NLF-2)",
            "→ on_road/replan", "1 lost by OBSTACLE", "1 lost by TARGET", "1 won", "object 7",
            "report: objects: a row was left out", f"--at {t:.2f}"]  # fmt: skip
    for row in rows:
        assert row in said, row
    assert ("Stands from 0:09.0 to 0:11.5" in said) is (t == 10.0)
    assert tab.ask("document.querySelector('#moment .fill').style.width") == f"{20 * (t % 5.0):g}%"


def test_marks_of_infractions_stops_and_changes_lead_there(tab: Tab) -> None:
    tab.go(0.0)
    rows = tab.page.locator("#events button")
    texts = rows.all_inner_texts()
    wanted = {"solid line, at fault": 5.0, "stands for 2.5 s": 9.0, "on_road/normal → intersection/safe_driving": 1.0,
              "rain_fog/clear": 6.0}  # fmt: skip
    for text, t in wanted.items():
        (number,) = (i for i, each in enumerate(texts) if text in each)
        rows.nth(number).click()
        assert tab.t == pytest.approx(t, abs=1e-6)
    tab.go(0.0)
    strip = tab.page.locator("#marks")
    strip.click(position={"x": tab.ask("film.marks.pixel(5.0)") + 3.0, "y": 10.0})
    assert tab.t == pytest.approx(5.0, abs=1e-6)


def test_a_click_on_a_chart_or_a_band_leads_there(tab: Tab) -> None:
    chart = tab.page.locator("#charts .u-over").first
    box = chart.bounding_box()
    chart.click(position={"x": 0.5 * box["width"], "y": 10.0})
    assert tab.t == pytest.approx(0.5 * (tab.ask("film.axis.from") + tab.ask("film.axis.to")), abs=0.05)
    tab.page.locator("#bands").click(position={"x": tab.ask("film.axis.pixel(3.0)"), "y": 10.0})
    assert tab.t == pytest.approx(3.0, abs=0.05)


def test_a_stretch_of_a_chart_can_be_looked_at_closely(tab: Tab) -> None:
    chart = tab.page.locator("#charts .u-over").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    tab.page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 20)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 20, steps=4)
    tab.page.mouse.up()
    tab.drawn()
    end = tab.ask("film.clock.end")
    assert tab.ask("film.axis.from") == pytest.approx(0.25 * end, abs=0.1)
    assert tab.ask("film.axis.to") == pytest.approx(0.5 * end, abs=0.1)
    assert tab.ask("film.charts.plots.map(plot => plot.scales.x.max)") == [tab.ask("film.axis.to")] * 4
    tab.page.click("#whole")
    assert tab.ask("film.axis.to") == end


def test_keys_do_what_the_line_of_help_says(tab: Tab) -> None:
    tab.go(4.0)
    press = tab.page.keyboard.press
    for key, t in (
        ("ArrowRight", 5.0),
        ("ArrowLeft", 4.0),
        ("Shift+ArrowLeft", 0.0),
        ("n", 1.0),
        ("End", 11.95),
        ("p", 9.0),
    ):
        press(key)
        assert tab.t == pytest.approx(t, abs=1e-6), key
    scale = tab.ask("film.stages[0].camera.scale")
    press("+")
    assert tab.ask("film.stages[0].camera.scale") == pytest.approx(1.25 * scale)
    press("-")
    assert tab.ask("film.stages[0].camera.scale") == pytest.approx(scale)
    press("ArrowUp")
    assert tab.ask("film.clock.speed") == 2
    press("f")
    assert tab.ask("film.stages[0].camera.follow") is False
    assert [key in tab.page.locator("#help").inner_text() for key in ("space", "→", "↑", "+")] == [True] * 4


def test_it_plays_to_the_end_and_can_be_stopped(tab: Tab) -> None:
    tab.go(1.0)
    tab.page.keyboard.press("Space")
    tab.page.wait_for_function("film.clock.t > 1.2")
    tab.page.keyboard.press("Space")
    assert tab.ask("film.clock.playing") is False
    tab.page.select_option("#speed", "32")
    tab.page.click("#play")
    tab.page.wait_for_function("!film.clock.playing && film.clock.t === film.clock.end")


def test_the_map_is_dragged_and_wheeled(tab: Tab) -> None:
    box = tab.page.locator("#stages canvas").bounding_box()
    x, y = box["x"] + 300, box["y"] + 200
    before = tab.ask("film.stages[0].camera.toMap(300, 200)")
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 60, y + 30, steps=3)
    tab.page.mouse.up()
    assert tab.ask("film.stages[0].camera.toMap(360, 230)") == pytest.approx(before, abs=1e-6)
    assert tab.ask("film.stages[0].camera.follow") is False
    kept = tab.ask("film.stages[0].camera.toMap(360, 230)")
    tab.page.mouse.wheel(0, -300)
    tab.page.wait_for_function("film.stages[0].camera.scale > 9")
    assert tab.ask("film.stages[0].camera.toMap(360, 230)") == pytest.approx(kept, abs=1e-6)


def test_a_link_leads_to_a_moment_and_the_address_follows(browser: Any, film: Path) -> None:
    opened = Tab(browser, film, "#t=7.25")
    assert opened.t == pytest.approx(7.25)
    opened.go(3.5)
    opened.page.wait_for_function("location.hash === '#t=3.5'")
    opened.page.evaluate("location.hash = '#t=8'")
    opened.page.wait_for_function("film.clock.t === 8")
    assert opened.said == []
    opened.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_and_both_themes(browser: Any, film: Path, scheme: str) -> None:
    opened = Tab(browser, film, viewport=NARROW, color_scheme=scheme)
    assert opened.ask("document.documentElement.dataset.theme") == scheme
    assert opened.ask("document.documentElement.scrollWidth") <= NARROW["width"]
    for part in ("#stages canvas", "#slider", "#moment", "#bands", "#charts .uplot"):
        box = opened.page.locator(part).first.bounding_box()
        assert box["width"] > 150, part
        assert box["x"] + box["width"] <= NARROW["width"] + 8, part
    ground = opened.ask("getComputedStyle(document.body).backgroundColor")
    opened.page.click("#theme")
    opened.drawn()
    assert opened.ask("getComputedStyle(document.body).backgroundColor") != ground
    assert opened.said == []
    opened.page.close()


def test_two_runs_over_each_other_and_side_by_side(browser: Any, bag: Path, course: RoadMap, tmp_path: Path) -> None:
    other = record(tmp_path / "other", course, shift_s=1.7e9, without=("markers",))
    write_film(tmp_path / "two.html", [FilmSource(BagSource(bag)), FilmSource(BagSource(other))])
    opened = Tab(browser, tmp_path / "two.html", "#t=5")
    assert opened.ask("film.stages.length") == 1
    assert opened.ask("film.stages[0].drawn.ego") == 2
    assert opened.ask("film.charts.plots[0].series.length") == 5
    assert {row[:2] for row in opened.ask("film.bands.rows.map(row => row.label)")} == {"A ", "B "}
    opened.page.click("#beside")
    opened.drawn()
    assert opened.ask("film.stages.map(stage => stage.drawn.ego)") == [1, 1]
    shown = "film.stages.map(stage => [stage.camera.width, stage.canvas.getBoundingClientRect().width])"
    assert [taken == there for taken, there in opened.ask(shown)] == [True, True]
    first, second = opened.ask("film.stages.map(stage => stage.ego.x)")
    assert first == pytest.approx(second, abs=0.01)
    opened.page.click("#which")
    opened.drawn()
    assert "--at 1700000005.00" in opened.page.locator("#moment").inner_text()
    assert opened.said == []
    opened.page.close()


def test_a_drive_without_a_map_or_anything_said(browser: Any, course: RoadMap, tmp_path: Path) -> None:
    silent = ("run", "state", "why", "transition", "markers", "sensors", "indicators")
    write_film(tmp_path / "bare.html", [FilmSource(BagSource(record(tmp_path / "bare", course, without=silent)))])
    opened = Tab(browser, tmp_path / "bare.html")
    opened.go(4.0)
    assert opened.ask("film.stages[0].drawn.objects") == 2
    assert "nothing was said of why" in opened.page.locator("#moment").inner_text()
    assert opened.said == []
    opened.page.close()
