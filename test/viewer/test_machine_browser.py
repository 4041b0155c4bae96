"""The page of the state machine in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.behaviour.tables import table
from tuling_fsm.viewer.machine_page import write_machine
from tuling_fsm.viewer.machine_run import run_data

from .tabs import Tab

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('#chart .leaf > rect:first-of-type, #chart .badge rect')]
    .map((each) => each.getBoundingClientRect());
  const before = (a, b) => a.right <= b.left + 0.5 || a.bottom <= b.top + 0.5;
  const apart = (a, b) => before(a, b) || before(b, a);
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => !apart(a, b)).map((b) => [a.x, a.y, b.x, b.y]));
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, bag: Path) -> tuple[Path, Path]:
    """To be played with, and with a run in it."""
    folder = tmp_path_factory.mktemp("machine")
    write_machine(folder / "play.html")
    write_machine(folder / "run.html", run_data(BagSource(bag)))
    return folder / "play.html", folder / "run.html"


@pytest.fixture
def tab(browser: Any, pages: tuple[Path, Path]) -> Iterator[Tab]:
    opened = Tab(browser, pages[0])
    yield opened
    opened.page.close()
    assert opened.said == []


def click(tab: Tab, *ids: str) -> None:
    for each in ids:
        tab.page.click(f"#{each}")
    tab.drawn()


def switch(tab: Tab, guard: str) -> None:
    """Of a row that is shown, as a hand does."""
    tab.page.click(f".row[data-guard={guard}] input.switch")
    tab.drawn()


def put(tab: Tab, path: str) -> None:
    """By the chart: a click on the state, then the button that goes there."""
    tab.page.click(f"#chart .leaf[data-path='{path}'] rect >> nth=0")
    tab.page.click("#looked button >> nth=0")
    tab.drawn()


def active(tab: Tab) -> list[str]:
    found: list[str] = tab.ask("[...document.querySelectorAll('#chart .leaf.active')].map(each => each.dataset.path)")
    return found


def sentence(tab: Tab) -> str:
    text: str = tab.page.locator("#sentence").inner_text()
    return text


def test_every_state_of_the_tables_is_drawn_inside_its_composite(tab: Tab) -> None:
    hierarchy = table()
    drawn = tab.ask(
        "[...document.querySelectorAll('#chart .leaf')].map(each => [each.dataset.machine, each.dataset.path])"
    )
    assert sorted(map(tuple, drawn)) == sorted(
        (machine.name, path) for machine in (hierarchy, *hierarchy.beside) for path in machine.leaves
    )
    outside = tab.ask("""() => [...document.querySelectorAll('#chart .leaf')].filter((leaf) => {
      const path = leaf.dataset.path.includes('/') ? leaf.dataset.path.split('/')[0] : leaf.dataset.machine;
      const around = document.querySelector(`#chart .composite[data-path='${path}'] rect`).getBoundingClientRect();
      const inner = leaf.querySelector('rect').getBoundingClientRect();
      const [left, right] = [inner.left - around.left, around.right - inner.right];
      return Math.min(left, right, inner.top - around.top, around.bottom - inner.bottom) < 0;
    }).map((leaf) => leaf.dataset.path)""")
    assert outside == []
    arrows = tab.ask("document.querySelectorAll('#chart .arrow').length")
    pairs = {(m.name, row.source, m.resolve(row.dest)) for m in (hierarchy, *hierarchy.beside) for row in m.rows}
    assert arrows == len(pairs)


@pytest.mark.clause("DWELL-1", "DWELL-2")
def test_a_guard_fires_its_row_after_its_dwell(tab: Tab) -> None:
    assert "departure/plan_once" in active(tab)
    assert "No guard of departure/plan_once holds" in sentence(tab)
    switch(tab, "route_found")
    click(tab, *["tick"] * 9)
    assert "route_found holds for 0.40 s of 0.30 s; the state itself is kept for 0.10 s more" in sentence(tab)
    width = "parseFloat(document.querySelector('.row[data-guard=route_found] .fill').style.width)"
    assert tab.ask(width) == pytest.approx(80.0)
    click(tab, "tick")
    assert "departure/plan_once" in active(tab)
    click(tab, "tick")
    assert "on_road/regression" in active(tab)
    assert "route_found held for 0.30 s, so departure/plan_once → on_road/regression (DEP-2)" in sentence(tab)
    click(tab, "back")
    assert "departure/plan_once" in active(tab)


@pytest.mark.clause("DWELL-4")
def test_of_two_that_are_ripe_the_first_wins_and_the_other_is_told(tab: Tab) -> None:
    put(tab, "on_road/normal")
    switch(tab, "no_path")
    switch(tab, "off_route")
    click(tab, "second")
    assert "on_road/regression" in active(tab)
    lost = tab.page.locator("#log .made .lost").inner_text()
    assert "no_path (on_road/solid_line_free, NOR-7)" in lost


def test_a_guard_for_one_tick(tab: Tab) -> None:
    put(tab, "parking/parked")
    click(tab, "second")
    tab.page.click(".row[data-guard=reset_called] .pulse")
    click(tab, "tick")
    assert "departure/plan_once" in active(tab)
    assert tab.ask("page.session.holding.size") == 0


@pytest.mark.clause("EST-1", "EST-2")
def test_an_emergency_stop_freezes_and_gives_back(tab: Tab) -> None:
    put(tab, "intersection/safe_driving")
    switch(tab, "no_path")
    click(tab, "second", "second", "second")
    before = tab.ask("page.session.behaviour.machine.rows.map(row => row.guard).indexOf('no_path')")
    held = "page.moment.machines.get('tuling').timers.map(({ heldS, remainingS }) => [heldS, remainingS])"
    ran = tab.ask(held)
    assert before >= 0
    assert ran[0][0] == pytest.approx(2.95)
    tab.page.keyboard.press("e")
    click(tab, "second", "second")
    assert "stopped" in active(tab)
    assert "intersection/safe_driving" in active(tab)
    assert "holds everything as it is (EST-1)" in sentence(tab)
    assert tab.ask("document.querySelectorAll('#chart .leaf.frozen').length") == len(table().leaves) + 4
    assert tab.ask(held) == ran, "no timer moves"
    tab.page.keyboard.press("e")
    click(tab, "tick")
    assert "armed" in active(tab)
    assert tab.ask(held)[0][0] == pytest.approx(3.0), "it goes on with the time that it had left"
    click(tab, *["tick"] * 39)
    assert "intersection/safe_driving" in active(tab)
    click(tab, "tick")
    assert "intersection/no_line_free" in active(tab)


@pytest.mark.clause("RFG-1")
def test_supervisors_have_rows_of_their_own(tab: Tab) -> None:
    switch(tab, "rain_or_fog")
    click(tab, *["tick"] * 8)
    assert "radar_and_history" in active(tab)
    assert "departure/plan_once" in active(tab)
    assert "rain_fog: clear → radar_and_history" in tab.page.locator("#log").inner_text()


def test_a_switch_that_has_the_focus_takes_the_space_bar(tab: Tab) -> None:
    box = tab.page.locator(".row[data-guard=route_found] input.switch")
    box.focus()
    tab.page.keyboard.press(" ")
    tab.drawn()
    assert tab.ask("[page.session.holding.has('route_found'), page.clock.playing]") == [True, False]
    box.click()
    tab.page.keyboard.press(" ")
    tab.drawn()
    assert tab.ask("[page.session.holding.has('route_found'), page.clock.playing]") == [False, True]


def test_time_runs_and_stands(tab: Tab) -> None:
    click(tab, "speed-5")
    tab.page.wait_for_function("page.session.ticks > 20")
    tab.page.keyboard.press(" ")
    tab.drawn()
    stood = tab.ask("page.session.ticks")
    tab.drawn()
    assert tab.ask("page.session.ticks") == stood
    for key, ticks in (("ArrowRight", 1), ("Shift+ArrowRight", 20), ("ArrowLeft", -1)):
        before = tab.ask("page.session.ticks")
        tab.page.keyboard.press(key)
        assert tab.ask("page.session.ticks") == before + ticks
    tab.page.keyboard.press("r")
    assert tab.ask("[page.session.ticks, page.session.made.length, page.session.holding.size]") == [0, 0, 0]


@pytest.mark.clause("EXPL-1")
def test_a_run_is_stepped_through_as_its_bag_has_it(browser: Any, pages: tuple[Path, Path], bag: Path) -> None:
    opened = Tab(browser, pages[1], "#t=5")
    assert opened.ask("page.replayed.t") == 5.0
    assert "intersection/safe_driving" not in active(opened)
    made = opened.ask(
        "[...document.querySelectorAll('#log-run .made')].map(({ dataset }) => dataset)"
        ".map((d) => [Number(d.t), d.machine, d.from, d.to, d.guard, d.clause])"
    )
    changes = read_timeline(BagSource(bag)).changes
    names = ["rain_fog" if change.supervisor else "tuling" for change in changes]
    wanted = [
        [c.t, name, c.source.removeprefix("rain_fog/"), c.dest.removeprefix("rain_fog/"), c.guard, c.clause]
        for name, c in zip(names, changes, strict=True)
    ]
    assert made == wanted
    current = opened.ask("[...document.querySelectorAll('#log-run .made.now')].map(({ dataset }) => Number(dataset.t))")
    assert current == [4.0], "the latest one"
    opened.page.keyboard.press("Home")
    opened.page.evaluate("page.seek(0)")
    for change in changes:
        opened.page.keyboard.press("n")
        opened.drawn()
        assert opened.ask("page.replayed.t") == change.t
        assert change.dest.removeprefix("rain_fog/") in active(opened)
    opened.page.keyboard.press("p")
    assert opened.ask("page.replayed.t") == changes[-2].t
    opened.page.wait_for_function(f"location.hash === '#t={changes[-2].t:g}'")
    opened.page.evaluate("page.seek(1.5)")
    opened.drawn()
    assert "LEADER" in opened.page.locator("#limit").inner_text()
    opened.page.click("#fork")
    opened.drawn()
    assert opened.ask("[page.recorded, page.session.behaviour.machine.record.path]") == [
        False,
        "intersection/safe_driving",
    ]
    assert opened.said == []
    opened.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, {"width": 820, "height": 1000}, {"width": 1380, "height": 900}])
def test_it_fits_and_nothing_lies_on_a_label(
    browser: Any, pages: tuple[Path, Path], size: dict[str, int], scheme: str
) -> None:
    opened = Tab(browser, pages[0], viewport=size, color_scheme=scheme)
    leaves = [path for path, leaf in table().leaves.items() if leaf.enabled]
    for path in leaves:
        opened.page.evaluate("path => { page.session.put('tuling', path); page.step(1); }", path)
        opened.drawn()
        assert opened.ask(OVERLAPS) == [], path
    assert opened.ask("document.documentElement.scrollWidth <= innerWidth")
    cut = opened.ask("""() => {
      const width = (leaf, part) => leaf.querySelector(part).getBoundingClientRect().width;
      const leaves = [...document.querySelectorAll('#chart .leaf')];
      return leaves.filter((leaf) => width(leaf, 'text') > width(leaf, 'rect') - 6).map((leaf) => leaf.dataset.path);
    }""")
    assert cut == []
    assert opened.said == []
    opened.page.close()
