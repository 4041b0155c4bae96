"""`config/foxglove.json` against Foxglove: its types of today, those of its open-source line that Lichtblick was forked
from, and that application itself with a bag in it.
"""

from __future__ import annotations

import copy
import csv
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from viewer.chromium import OPTIONS, chromium
from viewer.drives import END_S, TICK_S, record

from tuling_fsm.map.road_map import RoadMap

from .foxglove_app import FOLDERS, MODULES, FoxgloveServer
from .test_topics import CONFIG, panels, topic_of

TITLES = ("foxglovePanelTitle", "lichtblickPanelTitle")
"""The title of any panel: what the layout calls it for either application (`PANEL_TITLE_CONFIG_KEY` in both)."""
LAYOUT: dict[str, Any] = json.loads((CONFIG / "foxglove.json").read_text(encoding="utf-8"))
STRICT = ["--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler"]
PATIENCE_MS = 300_000
WEBGL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
"""The 3D panel without a graphics card."""
Fault = Callable[[dict[str, Any]], Any]
FAULTS: dict[str, Fault] = {
    "an unknown setting": lambda by: by["Plot!speed"].update(isXAxisSynced=True),
    "an unknown setting of a series": lambda by: by["Plot!speed"]["paths"][0].update(colour="red"),
    "an unknown word": lambda by: by["StateTransitions!states"]["paths"][0].update(timestampMethod="receivedTime"),
    "a text for a number": lambda by: by["DiagnosticSummary!health"].update(minLevel="0"),
    "an unknown setting of a topic": lambda by: by["3D!way"]["topics"]["/path"].update(width=0.3),
    "an unknown setting of a layer": lambda by: by["3D!way"]["layers"]["grid"].update(spacing=10),
    "a place of two numbers": lambda by: by["3D!way"]["cameraState"].update(target=[0, 0]),
    "an unknown setting of a table": lambda by: by["Table!why"].update(topic="/why"),
}


def with_fault(fault: Fault) -> dict[str, Any]:
    layout = copy.deepcopy(LAYOUT)
    fault(layout["configById"])
    return layout


def kind_of(panel: str) -> str:
    return panel.partition("!")[0]


# Today's application: the types of its own kit for programs.


def faults_today(layout: dict[str, Any]) -> list[str]:
    types = pytest.importorskip("layouts.foxglove_types", reason="foxglove-sdk, of the extra `test`, is not installed")
    found: list[str] = []
    for name, given in layout["configById"].items():
        settings = {key: value for key, value in given.items() if key not in TITLES}
        for topic, of_topic in settings.get("topics", {}).items():
            found += types.faults(of_topic, types.TOPICS[topic_of(topic).type], f"{name}.topics.{topic}")
        found += types.faults(settings, types.PANELS[kind_of(name)], name)
    return found


def test_every_setting_is_one_of_foxglove_as_it_is_today() -> None:
    assert faults_today(LAYOUT) == []


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_foxglove_of_today_finds(fault: Fault) -> None:
    assert len(faults_today(with_fault(fault))) >= 1


# The open-source line: the declarations of the application, and the compiler of TypeScript.

SOURCE = "@foxglove/studio-base/src"
DECLARED = {
    "3D": ("RendererConfig", "panels/ThreeDeeRender/Renderer"),
    "DiagnosticSummary": ("DiagnosticSummaryConfig", "panels/diagnostics/util"),
    "Plot": ("PlotConfig", "panels/Plot/types"),
    "StateTransitions": ("StateTransitionConfig", "panels/StateTransitions/types"),
    "layer": ("LayerSettingsGrid", "panels/ThreeDeeRender/renderables/Grids"),
    "nav_msgs/msg/OccupancyGrid": ("LayerSettingsOccupancyGrid", "panels/ThreeDeeRender/renderables/OccupancyGrids"),
    "nav_msgs/msg/Path": ("LayerSettingsPoseArray", "panels/ThreeDeeRender/renderables/PoseArrays"),
    "visualization_msgs/msg/MarkerArray": ("LayerSettingsMarker", "panels/ThreeDeeRender/renderables/Markers"),
    "layout": ("LayoutData", "context/CurrentLayoutContext/actions"),
}
"""Type and module of everything that is set; a table's only key stands in its component itself."""


def typescript(layout: dict[str, Any]) -> str:
    """The layout as constants of those types; what is left out has the defaults of the application."""
    lines = [f'import type {{ {name} }} from "{SOURCE}/{module}";' for name, module in DECLARED.values()]
    lines.append("type TableConfig = { topicPath: string };")

    def say(kind: str, value: object) -> None:
        name = DECLARED[kind][0] if kind in DECLARED else f"{kind}Config"
        lines.append(f"export const c{len(lines)}: Partial<{name}> = {json.dumps(value)};")

    for panel, given in layout["configById"].items():
        settings = {key: value for key, value in given.items() if key != "lichtblickPanelTitle"}
        for topic, of_topic in settings.pop("topics", {}).items():
            say(topic_of(topic).type, of_topic)
        for layer in settings.pop("layers", {}).values():
            say("layer", layer)
        say(kind_of(panel), settings)
    say("layout", {**layout, "configById": {}})
    return "\n".join(lines)


@pytest.fixture
def compiler(tmp_path: Path) -> Callable[[dict[str, Any]], str]:
    """What the compiler says of a layout."""
    program = MODULES / ".bin" / "tsc"
    if not program.exists() or not FOLDERS["studio"].is_dir():
        pytest.skip(f"no {MODULES}; `make testable` brings it where there is npm")
    (tmp_path / "node_modules").symlink_to(MODULES)

    def compile_(layout: dict[str, Any]) -> str:
        (tmp_path / "layout.ts").write_text(typescript(layout), encoding="utf-8")
        command = [str(program), *STRICT, "layout.ts"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    return compile_


@pytest.mark.medium
def test_every_setting_is_one_of_the_open_source_line(compiler: Callable[[dict[str, Any]], str]) -> None:
    assert compiler(LAYOUT) == ""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_open_source_line_finds(fault: Fault, compiler: Callable[[dict[str, Any]], str]) -> None:
    assert "error TS" in compiler(with_fault(fault))


# The application.

Application = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, course: RoadMap) -> Iterator[FoxgloveServer]:
    if not FOLDERS["studio"].is_dir():
        pytest.skip(f"no {FOLDERS['studio']}; `make testable` brings it where there is npm")
    bag = record(tmp_path_factory.mktemp("foxglove") / "drive", course)
    started = FoxgloveServer(bag / "run.mcap")
    yield started
    started.close()


@pytest.fixture(scope="module")
def application(server: FoxgloveServer) -> Iterator[Application]:
    """A page with the application in it, which has opened a layout and the bag."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright, of the extra `test`, is not installed")
    program = chromium()
    if program is None:
        pytest.skip("no Chromium; `make browser` brings that of the distribution")

    def opened(layout: dict[str, Any]) -> Any:
        page = started.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(PATIENCE_MS)
        page.goto(server.url(layout))
        page.get_by_text("0:00:11.950", exact=True).wait_for()  # how long the bag is
        page.locator(".mosaic-window").first.wait_for()
        return page

    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=[*OPTIONS, *WEBGL])
        yield opened
        started.close()


def series(page: Any, title: str, count: int) -> dict[str, list[float]]:
    """The values of a plot, as the application hands them out as soon as there are so many."""
    panel = page.locator(".mosaic-window").filter(has_text=title)
    found: dict[str, list[float]] = {}
    while sum(map(len, found.values())) < count:
        with page.expect_download() as download:
            panel.get_by_label("Download plot data as CSV").click()
        found = {}
        for row in csv.DictReader(download.value.path().read_text(encoding="utf-8").splitlines()):
            found.setdefault(row["topic"], []).append(float(row["value"]))
    return found


@pytest.mark.slow
def test_foxglove_opens_the_layout_and_every_panel_shows_the_bag(application: Application) -> None:
    page = application(LAYOUT)
    page.get_by_text("a vehicle ahead, car 7 in 12.0 m").wait_for()
    windows = page.locator(".mosaic-window").all_inner_texts()
    assert len(windows) == len(list(panels(LAYOUT["layout"])))
    assert not any("Unknown panel" in text for text in windows)
    for words in ("state\nindicators\nsensors", "level\tname\tmessage", "Waiting for /diagnostics messages"):
        assert sum(words in text for text in windows) == 1, words

    table = next(text for text in windows if "hardware_id" in text)
    for name in ("limit", "state", "supervisors", "candidates", "report"):
        assert f"\t{name}\t" in table, name

    ticks = round(END_S / TICK_S)
    speeds = series(page, "Speed, m/s", 2 * ticks)
    assert {name: len(values) for name, values in speeds.items()} == {"driven": ticks, "planned": ticks}
    assert set(speeds["driven"]) == {0.0, 5.0}
    assert set(speeds["planned"]) == {5.0}

    page.locator(".mosaic-window").filter(has_text="3D").first.get_by_label("Settings").click()
    page.get_by_text("Display frame").wait_for()
    said = page.inner_text("body")
    assert "Display frame\nmap\n" in said
    assert "/markers\n" in said
    assert "/route_blocked\n" in said


@pytest.mark.slow
def test_foxglove_says_what_it_does_not_know(application: Application) -> None:
    layout = json.loads(json.dumps(LAYOUT).replace("StateTransitions!", "StateTransition!"))
    by = layout["configById"]
    by["Table!why"]["topicPath"] = "/why.state"
    by["Plot!speed"]["paths"][0]["value"] = "/odometry.twist.linear.x"
    page = application(layout)
    page.get_by_text("Unknown panel type: StateTransition.").wait_for()
    ticks = round(END_S / TICK_S)
    assert {name: len(values) for name, values in series(page, "Speed, m/s", ticks).items()} == {"planned": ticks}
    assert page.get_by_text("a vehicle ahead").count() == 0
