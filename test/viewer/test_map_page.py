"""The page of a map: what it says of a point, what is picked and found in it, and a route on it."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuling_fsm.cli import main
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.query import at
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.viewer.columns import unpacked
from tuling_fsm.viewer.map_page import map_data, write_map_page

from .drives import COURSE
from .tabs import Tab

pytestmark = pytest.mark.slow
MOST_BYTES = 10_000_000
ON_ROAD_1 = (60.0, -1.75)
"""A place on the course: road 1, lane -1, of which `map --at` knows."""


@pytest.fixture(scope="module")
def page(course: RoadMap, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("map") / "course.html"
    write_map_page(file, course)
    return file


def point(tab: Tab, x: float, y: float) -> tuple[float, float]:
    """Where on the screen a place of the map (m) is."""
    box = tab.page.locator("#map").bounding_box()
    px, py = tab.ask(f"atlas.camera.toScreen({x}, {y})")
    return box["x"] + px, box["y"] + py


def look(tab: Tab, x: float, y: float, half: float = 20.0) -> None:
    tab.ask(f"atlas.look([{x - half}, {y - half}, {x + half}, {y + half}])")
    tab.drawn()


def told(tab: Tab, part: str) -> dict[str, str]:
    """Names and values of the list in a part of the page."""
    names = tab.page.locator(f"{part} dt").all_inner_texts()
    return dict(zip(names, tab.page.locator(f"{part} dd").all_inner_texts(), strict=True))


def test_hovering_tells_what_map_at_says(tab: Tab, course: RoadMap) -> None:
    look(tab, *ON_ROAD_1)
    tab.page.mouse.move(*point(tab, *ON_ROAD_1))
    tab.drawn()
    x, y = tab.ask("[atlas.under.x, atlas.under.y]")
    said, known = told(tab, "#under"), at(course, x, y)
    assert said["road"] == known["road"] == "1"
    assert said["lane"] == f"{known['lane']} (section {known['section']})"
    assert said["type"] == "driving"
    assert said["s, offset"] == f"{known['s']:.2f} m, {known['offset']:.2f} m"
    assert said["width"] == f"{known['width']:.2f} m"
    assert (said["line left"], said["line right"]) == (known["line_left"], known["line_right"])
    assert said["speed limit"] == "40 km/h (11.11 m/s)"


def test_points_all_over_the_map_are_what_the_map_says(tab: Tab, course: RoadMap) -> None:
    draw = np.random.default_rng(7)
    lanes = [lane for lane in course.lanes.values() if lane.length > 1.0]
    places = []
    for number in draw.integers(0, len(lanes), 600):
        lane = lanes[number]
        pose = lane.center.at(float(draw.uniform(0.0, lane.length)))
        places.append((pose.x + float(draw.uniform(-3.0, 3.0)), pose.y + float(draw.uniform(-3.0, 3.0))))
    answers = tab.page.evaluate("places => places.map(([x, y]) => atlas.lanes.at(x, y))", places)
    compared = 0
    for (x, y), answer in zip(places, answers, strict=True):
        known = at(course, x, y)
        if known["road"] is None:
            assert answer is None or answer["lane"]["rank"] == 2, (x, y)
            continue
        if near_a_tie(course, x, y):
            continue
        compared += 1
        lane = answer["lane"]
        assert (lane["road"], lane["section"], lane["lane"]) == (known["road"], known["section"], known["lane"]), (x, y)
        assert (lane["junction"] or None) == known["junction"]
        assert answer["station"] == pytest.approx(known["s"], abs=0.01)
        assert answer["offset"] == pytest.approx(known["offset"], abs=0.01)
        assert math.remainder(answer["heading"] - known["heading"], math.tau) == pytest.approx(0.0, abs=0.004)
    assert compared > 300


def near_a_tie(course: RoadMap, x: float, y: float) -> bool:
    """Whether another lane fits as well, or would be said a centimetre away."""
    offsets = sorted(abs(place.offset) for place in course.positions(x, y))
    beside = {tuple(at(course, x + dx, y + dy)[name] for name in ("road", "section", "lane"))
              for dx in (-0.01, 0.01) for dy in (-0.01, 0.01)}  # fmt: skip
    return len(beside) > 1 or any(b - a < 0.01 for a, b in pairwise(offsets))


def test_a_click_gives_the_pose_within_a_centimetre(tab: Tab, course: RoadMap) -> None:
    look(tab, *ON_ROAD_1, half=6.0)
    tab.page.mouse.click(*point(tab, *ON_ROAD_1))
    tab.drawn()
    wanted = tab.ask("[atlas.picked.x, atlas.picked.y]")
    assert wanted == pytest.approx(ON_ROAD_1, abs=1.0 / tab.ask("atlas.camera.scale"))
    shown = [float(each.removesuffix(" m")) for each in told(tab, "#clicked")["x, y"].split(", ")]
    assert shown == pytest.approx(wanted, abs=0.001)


@pytest.mark.parametrize("number", [0, 1])
def test_what_is_pasted_into_a_scenario_is_the_place(tab: Tab, course: RoadMap, tmp_path: Path, number: int) -> None:
    look(tab, 230.0, -71.0, half=60.0)
    tab.page.mouse.click(*point(tab, 197.3, -30.0))
    tab.drawn()
    x, y = tab.ask("[atlas.picked.x, atlas.picked.y]")
    pasted = tab.page.locator("#clicked pre").nth(number).text_content()
    lines = "\n".join(f"    {line}" for line in pasted.splitlines())
    file = tmp_path / "pasted.osc"
    file.write_text(
        f'import osc.standard\n\nscenario pasted:\n    map.set_map_file("{COURSE}")\n    ego: vehicle\n{lines}\n'
        '    goal: odr_point = map.create_odr_point(road_id: "2", lane_id: "-1", s: 80m)\n'
        "    do serial:\n        ego.assign_position(here)\n"
        "        ego.drive() with:\n            along(map.create_route([goal]))\n",
        encoding="utf-8",
    )
    simulation = Simulation(course, load_scenario(file, {}), 1, Vehicle())
    pose = simulation.inputs().odometry.pose
    assert math.hypot(pose.x - x, pose.y - y) < 0.01
    assert math.remainder(pose.heading - at(course, x, y)["heading"], math.tau) == pytest.approx(0.0, abs=0.01)


def test_a_drag_is_no_click(tab: Tab) -> None:
    look(tab, *ON_ROAD_1)
    x, y = point(tab, *ON_ROAD_1)
    before = tab.ask("atlas.camera.x")
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 80, y, steps=5)
    tab.page.mouse.up()
    assert tab.ask("atlas.picked") is None
    assert tab.ask("atlas.camera.x") == pytest.approx(before - 80 / tab.ask("atlas.camera.scale"))


def test_keys_and_wheel_move_the_map(tab: Tab) -> None:
    x, scale = tab.ask("atlas.camera.x"), tab.ask("atlas.camera.scale")
    tab.page.keyboard.press("ArrowRight")
    assert tab.ask("atlas.camera.x") > x
    tab.page.keyboard.press("+")
    assert tab.ask("atlas.camera.scale") == pytest.approx(1.4 * scale)
    tab.page.keyboard.press("Home")
    assert tab.ask("atlas.camera.scale") == pytest.approx(scale)
    tab.page.mouse.move(*point(tab, *ON_ROAD_1))
    tab.page.mouse.wheel(0, -400)
    tab.page.wait_for_function(f"atlas.camera.scale > {1.2 * scale}")


@pytest.mark.parametrize(
    ("query", "said"),
    [("road 14", "road 14:"), ("14", "road 14:"), ("60 -1.75", "the point"), ("signal 1", "signal 1"),
     ("road 99", "nothing is called road 99 here")],
)  # fmt: skip
def test_the_search_leads_there(tab: Tab, course: RoadMap, query: str, said: str) -> None:
    tab.page.keyboard.press("/")
    tab.page.keyboard.type(query)
    tab.page.keyboard.press("Enter")
    tab.drawn()
    assert tab.page.locator("#found").inner_text().startswith(said)
    seen = tab.ask("atlas.camera.toMap(atlas.camera.width / 2, atlas.camera.height / 2)")
    if "14" in query:
        lanes = np.vstack([lane.center.xy for lane in course.lanes.values() if lane.id.road == "14"])
        assert seen == pytest.approx(0.5 * (lanes.min(axis=0) + lanes.max(axis=0)), abs=0.1)
    if query.startswith("60"):
        assert seen == pytest.approx(ON_ROAD_1)


def test_a_signal_under_the_pointer_is_named(tab: Tab, course: RoadMap) -> None:
    signal = next(signal for signal in course.signals.values() if signal.dynamic)
    look(tab, signal.pose.x, signal.pose.y)
    tab.page.mouse.move(*point(tab, signal.pose.x, signal.pose.y))
    tab.drawn()
    assert told(tab, "#under")["signal"].startswith(signal.id)


def test_a_route_is_on_the_page(browser: Any, course: RoadMap, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "way.html"
    ends = ["--from", "20", "-2", "--to", "150", "160"]
    assert main(["route", str(COURSE), *ends, "--html", str(file)]) == 0
    said = capsys.readouterr().out.splitlines()
    opened = Tab(browser, file)
    rows = opened.page.locator("#way li").all_inner_texts()
    assert [f"  {row.splitlines()[0]}" for row in rows] == said[1:]
    assert said[0].split()[1] in opened.page.locator("#way h2").inner_text()
    assert opened.ask("atlas.drawn.route") > 10
    assert opened.ask("atlas.header.ends") == [[20, -2], [150, 160]]
    assert opened.said == []
    opened.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen(browser: Any, page: Path, scheme: str) -> None:
    opened = Tab(browser, page, viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True)
    assert opened.ask("document.documentElement.dataset.theme") == scheme
    assert opened.ask("document.documentElement.scrollWidth") <= 390
    opened.page.touchscreen.tap(*point(opened, *ON_ROAD_1))
    opened.page.wait_for_function("atlas.picked !== null")
    assert opened.said == []
    opened.page.close()


@pytest.mark.parametrize("name", ["carla_Town01", "carla_Town07", "pyopendrive_chatt"])
def test_a_town_of_others_is_small_and_all_of_it(shared_data: Path, name: str) -> None:
    road_map = read_map(shared_data / "maps" / f"{name}.xodr")
    data = map_data(road_map)
    assert len(data) < MOST_BYTES / 10
    header, columns = unpacked(data)
    assert len(columns["lane.road"]) == len(road_map.lanes)
    assert columns["lane.n"].sum() == len(columns["sample.x"])
    assert len(header["signals"]) == len(road_map.signals)


@pytest.mark.parametrize("verb", [["map"], ["route", "--from", "20", "-2", "--to", "150", "160"]])
def test_what_cannot_be_written_is_one_line(verb: list[str], tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main([verb[0], str(COURSE), *verb[1:], "--html", str(tmp_path / "file" / "map.html")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "cannot be written" in said
