"""A free-space case as a picture and as a film."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from tuling_fsm.cli import main
from tuling_fsm.planning.free_space.tpcap import CAR, solve_case
from tuling_fsm.viewer.parking_case import FORWARD, REVERSE, CaseResult, case_result
from tuling_fsm.viewer.plan_page import write_plan_page
from tuling_fsm.viewer.plan_picture import GEARS, plan_figure

from .tabs import Tab

CASE = "-8.0,4.5,0.0,0.0,0.0,0.0,2,4,4,-7.0,-1.2,-2.0,-1.2,-2.0,1.0,-7.0,1.0,5.2,-1.2,10.0,-1.2,10.0,1.0,5.2,1.0"
"""Beside a gap between two boxes, into which the car goes in reverse."""
FAR = 4.0e5
BLOCKED = "0,0,0,10,0,0,1,4,8,-2,12,-2,12,2,8,2"
"""The goal lies in a box."""


@pytest.mark.medium
def test_a_case_whose_name_looks_like_a_formula_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "gap$_{a$.csv"
    file.write_text(BLOCKED, encoding="utf-8")
    main(["plan", str(file), "--png", str(tmp_path / "plan.png")])
    assert (tmp_path / "plan.png").is_file()


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The case, far from the origin as those of surveyed places are."""
    numbers = [float(word) for word in CASE.split(",")]
    for place in (0, 1, 3, 4, *range(9, len(numbers))):
        numbers[place] += FAR
    file = tmp_path_factory.mktemp("plan") / "gap.csv"
    words = [repr(number) for number in numbers]
    words[6:9] = ["2", "4", "4"]
    file.write_text(",".join(words), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def answer(case: Path) -> dict[str, Any]:
    return solve_case(case, clock=lambda: 0.0)


@pytest.fixture(scope="module")
def result(case: Path, answer: dict[str, Any]) -> CaseResult:
    return case_result(case, answer)


def test_the_moves_are_the_gears_of_the_rows(result: CaseResult, answer: dict[str, Any]) -> None:
    moves = result.moves
    assert len(moves) == answer["cusps"] + 1
    assert sum(move.length for move in moves) == pytest.approx(answer["length_m"], abs=0.05)
    assert {move.gear for move in moves} == {FORWARD, REVERSE}
    assert (moves[0].first, moves[-1].last) == (0, len(result.rows) - 1)
    for move in moves:
        speeds = move.gear * result.rows[move.first : move.last, 4]
        assert speeds.min() >= -1e-6
        assert speeds.max() > 0.0


def test_the_picture_has_the_polygons_the_poses_and_the_path_by_gear(result: CaseResult, answer: Any) -> None:
    above, speed, steering = plan_figure(result, answer).axes
    drawn = [patch.get_xy()[:-1] for patch in above.patches if patch.get_gid() == "polygon"]
    assert [polygon.tolist() for polygon in drawn] == [polygon.tolist() for polygon in result.polygons]
    for name, pose in (("start", result.start), ("goal", result.goal)):
        (patch,) = (patch for patch in above.patches if patch.get_gid() == name)
        assert patch.get_xy()[:-1] == pytest.approx(CAR.footprint(pose))
    for gear, (words, colour) in GEARS.items():
        lines = [line for line in above.lines if line.get_gid() == words]
        assert len(lines) == sum(move.gear == gear for move in result.moves)
        assert {line.get_color() for line in lines} == {colour}
    path = np.vstack([line.get_xydata() for line in above.lines if line.get_gid()])
    assert path[0] == pytest.approx(result.start[:2], abs=0.01)
    assert path[-1] == pytest.approx(result.goal[:2], abs=0.1)
    swept = [each for each in above.collections if isinstance(each, PolyCollection)]
    assert sum(len(each.get_paths()) for each in swept) == pytest.approx(answer["length_m"] / 0.75, abs=2)
    assert max(line.get_xydata()[:, 1].max() for line in speed.lines) == pytest.approx(result.rows[:, 4].max())
    assert min(line.get_xydata()[:, 1].min() for line in steering.lines) == pytest.approx(result.rows[:, 5].min())


def test_a_case_without_a_plan_is_shown_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "box.csv"
    file.write_text(BLOCKED, encoding="utf-8")
    pages = ["--png", str(tmp_path / "box.png"), "--html", str(tmp_path / "box.html")]
    assert main(["plan", str(file), *pages]) == 1
    assert "GOAL_OCCUPIED" in capsys.readouterr().out
    assert (tmp_path / "box.png").read_bytes().startswith(b"\x89PNG")
    answer = solve_case(file, clock=lambda: 0.0)
    (above,) = plan_figure(case_result(file, answer), answer).axes
    assert {patch.get_gid() for patch in above.patches} == {"polygon", "start", "goal"}
    assert not [line for line in above.lines if line.get_gid()]


@pytest.mark.parametrize("option", ["--png", "--html"])
@pytest.mark.medium
def test_what_cannot_be_written_is_one_line(case: Path, tmp_path: Path, option: str, capsys: Any) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["plan", str(case), option, str(tmp_path / "file" / "plan")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "cannot be written" in said


@pytest.fixture
def tab(browser: Any, result: CaseResult, answer: Any, tmp_path: Path) -> Iterator[Tab]:
    write_plan_page(tmp_path / "plan.html", result, answer)
    opened = Tab(browser, tmp_path / "plan.html")
    yield opened
    opened.page.close()
    assert opened.said == []


@pytest.mark.slow
def test_the_slider_moves_the_car_along_the_path(tab: Tab, result: CaseResult) -> None:
    for t, x, y, heading, v, _ in result.rows[:: len(result.rows) // 20].tolist():
        tab.go(t)
        ego, origin = tab.ask("[film.ego, film.maneuver.header.origin]")
        assert max(abs(ego["x"]), abs(ego["y"])) < 100.0
        assert (ego["x"] + origin["x"], ego["y"] + origin["y"]) == pytest.approx((x, y), abs=0.01)
        assert f"{ego['x'] + origin['x']:.2f} m, " in tab.page.locator("#pose").inner_text()
        assert np.sin(ego["heading"] - heading) == pytest.approx(0.0, abs=1e-3)
        assert ego["v"] == pytest.approx(v, abs=0.01)
        gear = next((move.gear for move in result.moves if result.rows[move.last, 0] > t), result.moves[-1].gear)
        assert tab.page.locator("#gear").inner_text() == GEARS[gear][0]


@pytest.mark.slow
def test_it_plays_to_the_goal_and_its_moves_lead_there(tab: Tab, result: CaseResult) -> None:
    rows = tab.page.locator("#events button")
    assert rows.count() == len(result.moves)
    rows.nth(1).click()
    assert tab.t == pytest.approx(result.rows[result.moves[1].first, 0], abs=1e-3)
    tab.page.select_option("#speed", "32")
    tab.page.click("#play")
    tab.page.wait_for_function("!film.clock.playing && film.clock.t === film.clock.end")
    tab.drawn()
    end, origin = tab.ask("[film.ego, film.maneuver.header.origin]")
    assert (end["x"] + origin["x"], end["y"] + origin["y"]) == pytest.approx(tuple(result.rows[-1, 1:3]), abs=0.01)
    assert tab.ask("film.charts.plots.length") == 2


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_on_a_narrow_screen(
    browser: Any, result: CaseResult, answer: Any, tmp_path: Path, scheme: str
) -> None:
    write_plan_page(tmp_path / "plan.html", result, answer)
    opened = Tab(browser, tmp_path / "plan.html", viewport={"width": 390, "height": 844}, color_scheme=scheme)
    assert opened.ask("document.documentElement.dataset.theme") == scheme
    assert opened.ask("document.documentElement.scrollWidth") <= 390
    speed, buttons = (opened.page.locator(part).bounding_box() for part in ("#speedometer", ".over.right"))
    assert speed["y"] >= buttons["y"] + buttons["height"]
    assert opened.said == []
    opened.page.close()
